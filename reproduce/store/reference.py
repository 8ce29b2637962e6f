"""The committed results: checked tables of records, a folder an experiment, and the store that reads and fills them.

    <root>/reference/<paper>/<figure>/{runs.jsonl, settings.json, scores.csv, metrics.csv, keys.csv}
    <root>/reference/<paper>/<figure>/<variant>/<profile>/seed-<k>/{attention.npz, arrays.npz, model.safetensors}

Runs enter from a local store (`Reference.adopt`). A variant has at most one run for each profile and seed.
"""

import csv
import hashlib
import io
import json
import os
from collections import UserDict, UserList
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, final

import msgspec

from lengen.results.records import Counts, Grid, KeyCount, Run, read_count, to_table
from reproduce.store.files import StoreError, one_line, read_bytes, readable, write_bytes, write_text
from reproduce.store.lease import leased
from reproduce.store.run_folder import ARRAYS, ATTENTION, WEIGHTS, Known, arrays_from_bytes, attention_from_bytes
from reproduce.store.store import WEIGHTS_SUM, Store

#     runs.jsonl      a run a line: commit, command, machine, times, hash of its specification, sums of its rows
#     settings.json   hash -> specification
#     scores.csv      a row for each tested cell and mode, a column for each count
#     metrics.csv     a row for each step of training at which something was measured, a column for each name
#     keys.csv        the keys that attention needs, if attention was recorded
#
# A run is named by variant, profile and seed. runs.jsonl is written last: rows without a line are left from a writer
# that was killed, and are ignored. A writer killed while it replaced a run leaves rows that are refused: git restores
# them.


class LazySequence(UserList[Any]):
    """A sequence that ``read`` returns."""

    def __init__(self, read: Callable[[], Sequence[Any]]) -> None:
        self._read = read

    @cached_property
    def data(self) -> list[Any]:  # type: ignore[override]
        """The records."""
        return list(self._read())


class LazyMapping(UserDict[str, Any]):
    """A mapping that ``read`` returns."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read

    @cached_property
    def data(self) -> dict[str, Any]:  # type: ignore[override]
        """The records."""
        return dict(self._read())


RUNS, SETTINGS, SCORES, METRICS, KEYS = "runs.jsonl", "settings.json", "scores.csv", "metrics.csv", "keys.csv"
NAMES = ("variant", "profile", "seed")
CELL, STEP = ("length", "count", "mode"), ("step",)
FIRST = ("n", "correct")
"""Counts of every cell: the first columns of scores.csv, before those that some runs have."""
BESIDE = ("spec", "overrides")
"""Fields of a run that its line leaves out: the specification is in settings.json, overrides there are none."""
LARGEST = 2**28
"""Bytes of the longest table that is read."""

Key = tuple[str, str, int]
"""Variant, profile, seed."""
Rows = list[list[str]]
Named = dict[tuple[str, ...], dict[str, str]]
"""First fields of a row -> name of a further column -> text; a run need not have every column."""


class RunLine(Known, frozen=True, kw_only=True):
    """Fields of a line of runs.jsonl."""

    experiment: str
    profile: str
    seed: int
    rows: dict[str, str]
    finished: str
    scalars: dict[str, Any] = msgspec.field(default_factory=dict)


_line = msgspec.json.Decoder(RunLine).decode


class Records(NamedTuple):
    """The rows of one run in each table, as text."""

    scores: Named
    """(length, count, mode) -> name of a count -> the count."""
    metrics: Named
    """(step,) -> name -> value."""
    keys: Rows

    def digests(self) -> dict[str, str]:
        """Return the sha256 of the run's rows by table, whatever the order of columns and whatever other runs count."""
        named = (self.scores, self.metrics)
        scores, metrics = (
            [[*row, *sorted(map("=".join, cells.items()))] for row, cells in table.items()] for table in named
        )
        tables = ((SCORES, scores), (METRICS, metrics), (KEYS, self.keys))
        texts = {name: "\n".join(map(",".join, rows)) for name, rows in tables if rows}
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}

    def grid(self) -> Grid:
        """Return the counts of the tested cells; raises `ValueError` for a bad row."""
        curve = any(not count for _, count, _ in self.scores)
        grid = Grid(("length",) if curve else ("length", "count"))
        for (length, count, mode), counts in self.scores.items():
            cell = (int(length),) if curve else (int(length), int(count))
            grid.scores.setdefault(cell, {})[mode] = Counts({name: read_count(text) for name, text in counts.items()})
        return grid


def records(run: Run) -> Records:
    """Return the rows of a run."""
    scored = sorted(run.grid.entries(), key=lambda entry: entry[:2])
    scores = {(*map(str, (*cell, "")[:2]), mode): _texts(counts) for cell, mode, counts in scored}
    metrics: Named = {(str(step),): {} for step in sorted({step for step, *_ in run.metrics})}
    for step, name, value in run.metrics:
        metrics[str(step),][name] = str(value)
    return Records(scores, metrics, [list(map(str, row)) for row in sorted(run.key_counts)])


def _texts(counts: Counts) -> dict[str, str]:
    return {name: str(counts[name]) for name in sorted(counts)}


class Tables:
    """The tables in a folder, each read when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loaded: dict[Key, Run] = {}
        """Runs that the store has read with everything."""

    @cached_property
    def runs(self) -> dict[Key, dict[str, Any]]:
        """Return the fields of each run with its specification, sorted."""
        if not (self.folder / RUNS).is_file():
            return {}
        try:
            settings = msgspec.json.decode(self._text(SETTINGS), type=dict[str, dict[str, Any]])
        except msgspec.MsgspecError as error:
            raise self._bad(SETTINGS, str(error)) from None
        runs = {}
        for place, text, variant, who in self._lines():
            if who.spec_hash not in settings:
                raise self._bad(RUNS, f"line {place}: {SETTINGS} has no specification {who.spec_hash}")
            fields = msgspec.json.decode(text)
            runs[variant, who.profile, who.seed] = {**fields, "spec": settings[who.spec_hash], "overrides": []}
        return dict(sorted(runs.items()))

    @cached_property
    def made(self) -> Mapping[tuple[str, str], Sequence[RunLine]]:
        """The runs of each variant and profile, from runs.jsonl alone: quick, for counting."""
        lines: dict[tuple[str, str], list[RunLine]] = {}
        for *_, variant, who in self._lines() if (self.folder / RUNS).is_file() else ():
            lines.setdefault((variant, who.profile), []).append(who)
        return lines

    def _lines(self) -> Iterator[tuple[int, str, str, RunLine]]:
        """Yield number, text, variant and fields of each line of runs.jsonl."""
        for place, text in enumerate(self._text(RUNS).splitlines(), start=1):
            try:
                who = _line(text)
                *figure, variant = who.experiment.split("/")
                if figure != [*self.folder.parts[-2:]]:
                    raise ValueError(f"{who.experiment} belongs to another figure")
            except ValueError as error:
                raise self._bad(RUNS, f"line {place}: {error}") from None
            yield place, text, variant, who

    def load(self, key: Key) -> dict[str, Any]:
        """Return the records of a run, as keyword arguments of `Run`.

        Raises `StoreError` if rows are not those that its line in runs.jsonl names, for training curves when they are
        first read.
        """
        rows = Records(self._scores.get(key, {}), {}, self._keys.get(key, []))
        self._check(key, rows, (SCORES, KEYS))
        try:
            grid, keys = rows.grid(), [KeyCount(*map(int, row)) for row in rows.keys]
        except (ValueError, TypeError) as error:
            raise self._bad(SCORES, f"{' '.join(map(str, key))}: {error}") from None
        return {"grid": grid, "key_counts": keys, "metrics": LazySequence(partial(self._curves, key))}

    def records(self, key: Key) -> Records:
        """Return the rows of a run."""
        return Records(self._scores.get(key, {}), self._metrics.get(key, {}), self._keys.get(key, []))

    def _curves(self, key: Key) -> Sequence[tuple[int, str, float]]:
        rows = Records({}, self._metrics.get(key, {}), [])
        self._check(key, rows, (METRICS,))
        try:
            curves = [(int(step), named.items()) for (step,), named in rows.metrics.items()]
            return [(step, name, float(text)) for step, named in curves for name, text in named]
        except ValueError as error:
            raise self._bad(METRICS, f"{' '.join(map(str, key))}: {error}") from None

    def _check(self, key: Key, rows: Records, names: Sequence[str]) -> None:
        digests, expected = rows.digests(), self.runs[key]["rows"]
        for name in names:
            if digests.get(name) != expected.get(name):
                raise self._bad(name, f"the rows of {' '.join(map(str, key))} are not those that its run wrote")

    def write(self, runs: Mapping[Key, tuple[Mapping[str, Any], Records]]) -> None:
        """Write all tables anew: fields and rows of every run."""
        runs = dict(sorted(runs.items()))
        scores = {key: rows.scores for key, (_, rows) in runs.items()}
        self._write_named(SCORES, CELL, (*FIRST, *sorted({*_columns(scores)} - {*FIRST})), scores)
        metrics = {key: rows.metrics for key, (_, rows) in runs.items()}
        self._write_named(METRICS, STEP, _columns(metrics), metrics)
        self._write(KEYS, KeyCount._fields, {key: rows.keys for key, (_, rows) in runs.items()})
        settings = {fields["spec_hash"]: fields["spec"] for fields, _ in runs.values()}
        write_text(self.folder / SETTINGS, json.dumps(settings, indent=1, sort_keys=True) + "\n")
        fields_of = ({name: fields[name] for name in fields if name not in BESIDE} for fields, _ in runs.values())
        write_text(self.folder / RUNS, "".join(json.dumps(line, sort_keys=True) + "\n" for line in fields_of))

    def _write_named(self, name: str, first: Sequence[str], columns: Sequence[str], runs: Mapping[Key, Named]) -> None:
        rows = {
            key: [[*row, *(named.get(column, "") for column in columns)] for row, named in named_rows.items()]
            for key, named_rows in runs.items()
        }
        self._write(name, (*first, *columns), rows)

    def _write(self, name: str, columns: Iterable[str], rows: Mapping[Key, Rows]) -> None:
        if name == KEYS and not any(rows.values()):
            (self.folder / name).unlink(missing_ok=True)
            return
        lines = ((*key, *row) for key, table in rows.items() for row in table)
        write_text(self.folder / name, to_table((*NAMES, *columns), lines))

    @cached_property
    def _scores(self) -> dict[Key, Named]:
        return self._read_named(SCORES, CELL)

    @cached_property
    def _metrics(self) -> dict[Key, Named]:
        return self._read_named(METRICS, STEP)

    @cached_property
    def _keys(self) -> dict[Key, Rows]:
        return self._read(KEYS, KeyCount._fields)[1] if (self.folder / KEYS).is_file() else {}

    def _read_named(self, name: str, first: tuple[str, ...]) -> dict[Key, Named]:
        columns, rows = self._read(name, first)
        names, start = columns[len(first) :], len(first)

        def counted(row: Sequence[str]) -> dict[str, str]:
            return {column: text for column, text in zip(names, row[start:], strict=True) if text}

        return {key: {tuple(row[:start]): counted(row) for row in table} for key, table in rows.items()}

    def _read(self, name: str, expected: tuple[str, ...]) -> tuple[list[str], dict[Key, Rows]]:
        """Return the columns after the name of the run, which begin as expected, and the rows of each run."""
        reader, rows = csv.reader(io.StringIO(self._text(name))), dict[Key, Rows]()
        try:
            columns = next(reader, [])
            if columns[: len(expected) + 3] != [*NAMES, *expected]:
                raise ValueError(f"expected columns {','.join((*NAMES, *expected))}")
            for row in reader:
                if len(row) != len(columns):
                    raise ValueError(f"expected {len(columns)} columns")
                rows.setdefault((row[0], row[1], int(row[2])), []).append(row[3:])
        except (ValueError, csv.Error) as error:
            raise self._bad(name, f"line {reader.line_num}: {error}") from None
        return columns[3:], rows

    def _text(self, name: str) -> str:
        try:
            return read_bytes(self.folder / name, LARGEST).decode()
        except OSError as error:
            raise self._bad(name, str(error.strerror)) from None
        except UnicodeDecodeError:
            raise self._bad(name, "expected UTF-8 text") from None

    def _bad(self, name: str, reason: str) -> StoreError:
        path = readable(self.folder / name)
        return StoreError(f"{path}: {one_line(reason)}; restore it with git checkout -- {path}")


def _columns(runs: Mapping[Key, Named]) -> list[str]:
    """Return the names of all rows, in the order of their first row."""
    return list(dict.fromkeys(name for rows in runs.values() for named in rows.values() for name in named))


LEFT = ("sum", "status", "schema_version", "files")
"""Fields of run.json that the tables leave out: sums of files that are tables now."""
LARGEST_WEIGHTS = 4 * 2**20
"""Bytes of a model that may be promoted: bigger ones do not belong in a repository."""


@final
class Reference(Store):
    """The committed runs below ``root/reference``."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "reference")
        self._figures: dict[str, tuple[tuple[int, int], Tables]] = {}

    def headers(self, paper: str = "*", holding: str | None = None) -> list[Run]:
        """Return runs without their records, sorted; ``holding``: those that have this file."""
        folders = sorted(path.parent for path in self.path.glob(f"{paper}/*/{RUNS}"))
        runs = (_run(key, fields) for folder in folders for key, fields in self._at(folder).runs.items())
        return [run for run in runs if holding is None or holding in run.info["files"]]

    def made(self, experiment: str, profile: str) -> Iterator[Run]:
        """Yield the runs of one experiment at one profile with hash, overrides, kernels and scalars alone."""
        for line in self._of(experiment).made.get((experiment.rpartition("/")[2], profile), ()):
            info = {"spec_hash": line.spec_hash, "overrides": [], "kernels": line.kernels, "scalars": line.scalars}
            yield Run(experiment, profile, line.seed, 1, self.name, info, Grid(("length",)))

    def load(self, header: Run) -> Run:
        """Return a run of `headers` with its records."""
        return self._read_run(self._of(header.experiment), _key(header))

    def of(self, experiment: str, profile: str) -> list[Run]:
        """Return the runs of one experiment at one profile with their records; reads its figure alone."""
        tables, variant = self._of(experiment), experiment.rpartition("/")[2]
        return [self._read_run(tables, key) for key in tables.runs if key[:2] == (variant, profile)]

    def folder(self, run: Run) -> Path:
        """Return the folder of a run's arrays and weights."""
        return self.path / run.experiment / run.profile / f"seed-{run.seed}"

    def adopt(
        self, runs: Sequence[Run], source: Store, weights: bool = False, tell: Callable[[str], None] | None = None
    ) -> list[Run]:
        """Add finished runs of a local store to the tables; return those that were not there.

        Of two runs with the same variant, profile and seed the one that ended later is kept. Weights are copied if
        ``weights`` is set, else only their sha256; weights above 4 MB raise `StoreError`. ``tell`` as in `leased`: two
        commands may promote at once.
        """
        figures: dict[str, list[Run]] = {}
        for run in runs:
            if run.info["overrides"]:
                folder = readable(source.folder(run))
                raise StoreError(f"{folder} was made with --set: it is no run of a declared setting")
            if weights:
                _check_size(source.folder(run) / WEIGHTS)
            figures.setdefault(run.experiment.rpartition("/")[0], []).append(run)
        adopted = []
        for figure, group in figures.items():
            with leased(self.path / figure, tell):
                tables = self._at(self.path / figure)
                new = {_key(run): run for run in group if _is_new(run, tables.runs.get(_key(run)), weights)}
                if new:
                    everything = {key: (fields, tables.records(key)) for key, fields in tables.runs.items()}
                    made = {key: (self._copied(run, source, weights), records(run)) for key, run in new.items()}
                    tables.write(everything | made)
                adopted += [self._read_run(self._at(self.path / figure), key) for key in new]
        return adopted

    def _copied(self, run: Run, source: Store, weights: bool) -> dict[str, Any]:
        """Copy the files of a run that are no tables; return its line."""
        files, sums = {}, dict(run.info["files"])
        for name in (ATTENTION, ARRAYS, WEIGHTS):
            path = self.folder(run) / name
            if name in sums and (weights or name != WEIGHTS):
                write_bytes(path, source.whole(run, name).read_bytes())
                files[name] = sums[name]
            else:
                path.unlink(missing_ok=True)
        info = {name: value for name, value in run.info.items() if name not in LEFT}
        if WEIGHTS in sums:
            info[WEIGHTS_SUM] = sums[WEIGHTS]
        return {**info, "files": files, "rows": records(run).digests()}

    def _of(self, experiment: str) -> Tables:
        return self._at(f"{self.path}/{experiment.rpartition('/')[0]}")

    def _at(self, folder: Path | str) -> Tables:
        """Return the tables in a folder, read anew after another process has written them."""
        folder = str(folder)  # asked for hundreds of times, and pathlib takes five times as long
        try:
            status = os.stat(f"{folder}/{RUNS}")
            state = (status.st_mtime_ns, status.st_ino)
        except OSError:
            state = (0, 0)
        if folder not in self._figures or self._figures[folder][0] != state:
            self._figures[folder] = state, Tables(Path(folder))
        return self._figures[folder][1]

    def _read_run(self, tables: Tables, key: Key) -> Run:
        if key not in tables.loaded:
            header = _run(key, tables.runs[key])
            records: dict[str, Any] = {}
            if ATTENTION in tables.runs[key]["files"]:
                records["attention"] = attention_from_bytes(self.whole(header, ATTENTION).read_bytes())
            if ARRAYS in tables.runs[key]["files"]:
                records["arrays"] = LazyMapping(lambda: arrays_from_bytes(self.whole(header, ARRAYS).read_bytes()))
            tables.loaded[key] = replace(header, **records, **tables.load(key))
        return tables.loaded[key]


def _run(key: Key, fields: Mapping[str, Any]) -> Run:
    """Return a run without its records."""
    return Run(fields["experiment"], *key[1:], 1, "reference", fields, Grid(("length",)))


def _key(run: Run) -> Key:
    return run.experiment.rpartition("/")[2], run.profile, run.seed


def _is_new(run: Run, stored: Mapping[str, Any] | None, weights: bool) -> bool:
    """Return True for a run that the tables lack, that ended after the stored one, or brings its weights along."""
    if stored is None:
        return True
    if (run.info["spec_hash"], records(run).digests()) == (stored["spec_hash"], stored["rows"]):
        return bool(weights and WEIGHTS in run.info["files"] and WEIGHTS not in stored["files"])
    return str(run.info["finished"]) > str(stored["finished"])


def _check_size(path: Path) -> None:
    """Raise `StoreError` for weights that do not belong in a repository."""
    if path.is_file() and (size := path.stat().st_size) > LARGEST_WEIGHTS:
        size_told = f"{readable(path)} has {size / 2**20:.1f} MB, more than the 4 MB a committed model may have"
        raise StoreError(f"{size_told}: promote without --weights")

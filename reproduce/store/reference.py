"""The store of committed runs: the tables of every figure, and what does not fit into a table beside them.

    <root>/reference/<paper>/<figure>/{runs.jsonl, settings.json, scores.csv, metrics.csv, keys.csv}
    <root>/reference/<paper>/<figure>/<variant>/<profile>/seed-<k>/{attention.npz, arrays.npz, model.safetensors}

Runs enter from a local store (`Reference.adopt`). A variant has at most one run for each profile and seed.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from lengen.results.records import Grid, Run
from reproduce.store.files import StoreError, leased, readable, write_bytes
from reproduce.store.run_folder import ARRAYS, ATTENTION, arrays_from_bytes, attention_from_bytes
from reproduce.store.store import WEIGHTS, WEIGHTS_SUM, Store
from reproduce.store.tables import RUNS, Key, LazyMapping, Tables, records

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

    def headers(self, paper: str | None = None, profile: str | None = None, holding: str | None = None) -> list[Run]:
        """Return runs without their records, sorted; ``holding``: those that have this file."""
        folders = sorted(path.parent for path in self.path.glob(f"{paper or '*'}/*/{RUNS}"))
        return [
            _run(key, fields)
            for folder in folders
            for key, fields in self._at(folder).runs.items()
            if profile in (None, key[1]) and (holding is None or holding in fields["files"])
        ]

    def made(self, experiment: str, profile: str) -> Iterator[Run]:
        """Yield the runs of one experiment at one profile with hash, overrides and kernels alone."""
        for line in self._of(experiment).made.get((experiment.rpartition("/")[2], profile), ()):
            info = {"spec_hash": line.spec_hash, "overrides": [], "kernels": line.kernels}
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
                raise StoreError(
                    f"{readable(source.folder(run))} was made with --set: it is no run of a declared setting"
                )
            if weights:
                _check_size(source.folder(run) / WEIGHTS)
            figures.setdefault(run.experiment.rpartition("/")[0], []).append(run)
        adopted = []
        for figure, some in figures.items():
            with leased(self.path / figure, tell):
                tables = self._at(self.path / figure)
                new = {_key(run): run for run in some if _is_new(run, tables.runs.get(_key(run)), weights)}
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
                records["arrays"] = LazyMapping(lambda: self._arrays(header))
            tables.loaded[key] = replace(header, **records, **tables.load(key))
        return tables.loaded[key]

    def _arrays(self, run: Run) -> dict[str, Any]:
        return arrays_from_bytes(self.whole(run, ARRAYS).read_bytes())


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
        raise StoreError(
            f"{readable(path)} has {size / 2**20:.1f} MB, more than the 4 MB a committed model may have: promote "
            "without --weights"
        )

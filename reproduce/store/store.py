"""The results store: the only writer of run folders, and the only reader.

What enters is what a run measured (`lengen.results.records`) with its run.json; what leaves is `Run` objects. A
finished version is never written again. A run grows in a hidden folder ``.work`` under a lease and gets its name
``v<N>`` by one rename, after everything in it is on the disk: whoever is killed at any moment leaves either all or
nothing.

    <root>/<store>/<paper>/<figure>/<variant>/<profile>/seed-<k>/{.lease, .work/, v1/, v2/, ...}
"""

import abc
import contextlib
import datetime
import glob
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from lengen.results.records import METRIC_COLUMNS, Grid, Run, key_counts_to_csv, to_table
from reproduce.store import run_folder
from reproduce.store.files import StoreError, readable, sync, write_bytes, write_text, writing
from reproduce.store.lease import Held, leased
from reproduce.store.run_folder import CHECKPOINT, RECORDS, SCHEMA, SCORES, WEIGHTS, damaged, load_info

WEIGHTS_SUM = "weights_sha256"
"""Field of run.json with the sha256 of weights that stayed behind when a run was promoted: what repeats it can tell."""
LOGGERS = "loggers"
"""Folder for what other loggers write beside metrics.csv: it stays with its run, has no checksum, is not adopted."""
WHO = ("experiment", "profile", "seed")
"""Fields of run.json that the place of its folder says as well."""
_MARK = ".spec"
"""File in ``.work`` which holds the hash of the specification that is running there."""
BEGINNING = ".beginning"
"""File in ``.work`` which says who began the run there (`reproduce.runs.worker.begin`)."""


class Workspace:
    """The folder in which one run grows, with its lease held; `publish` gives it its final name."""

    def __init__(self, store: "LocalStore", key: tuple[str, str, int, str], folder: Path, held: Held) -> None:
        self._store, self._key = store, key
        self.held = held
        """The right to write here: a process that was stopped for long may have lost it."""
        self.folder = folder
        """Folder of metrics.csv, last.ckpt and model.safetensors while the run is made; survives a kill."""

    def publish(self, info: Mapping[str, object], outcome: Any) -> Run:
        """Write the records of ``outcome`` (grid, key_counts, attention, arrays, info) and name the folder ``v<N>``.

        ``info`` is what the conductor knows (spec, overrides, provenance); ``outcome.info`` what the run found out.
        run.json is written last, with the sha256 of every other file and of itself.
        """
        self.held.check()
        folder = self.folder
        for name in [*RECORDS][1:]:
            with writing(folder / name):
                (folder / name).unlink(missing_ok=True)
        if not (folder / "metrics.csv").exists():
            write_text(folder / "metrics.csv", to_table(METRIC_COLUMNS, ()))
        write_text(folder / SCORES, outcome.grid.to_csv())
        if outcome.key_counts:
            write_text(folder / "keys.csv", key_counts_to_csv(outcome.key_counts))
        if outcome.attention is not None:
            write_bytes(folder / "attention.npz", run_folder.attention_to_bytes(outcome.attention))
        if outcome.arrays:
            write_bytes(folder / "arrays.npz", run_folder.arrays_to_bytes(outcome.arrays))
        files = [name for name in (*RECORDS, WEIGHTS, CHECKPOINT) if (folder / name).is_file()]
        content: dict[str, Any] = dict(zip((*WHO, "spec_hash"), self._key, strict=True))
        content |= {"schema_version": SCHEMA, "status": "finished", "overrides": [], **info, **outcome.info}
        content["finished"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        content["files"] = {name: _sha256(folder / name) for name in files}
        if len(content.get("steps_on", ())) < 2:  # on one device, which is named already
            content.pop("steps_on", None)
        return self._store._name(self, content)


class Store(abc.ABC):
    """Finished runs below ``root/name``, to be read; a name is ``reference`` or that of a folder of local runs."""

    def __init__(self, root: Path, name: str) -> None:
        self.root, self.name = Path(root), name
        self.path = self.root / name
        self.mine = False
        """Whatever is newest of a seed represents its experiment, also if it was made with ``--set``."""

    @abc.abstractmethod
    def headers(self, paper: str = "*", holding: str | None = None) -> list[Run]:
        """Return finished runs with their fields only, records left empty, sorted: quick, for counting.

        ``holding``: those that have this file; weights are kept of few, and not of the newest always.
        """

    @abc.abstractmethod
    def made(self, experiment: str, profile: str) -> Iterator[Run]:
        """Yield the finished runs of one experiment at one profile as `headers`, each read when it is asked for."""

    @abc.abstractmethod
    def of(self, experiment: str, profile: str) -> list[Run]:
        """Return the runs of one experiment at one profile with their records; reads nothing else."""

    @abc.abstractmethod
    def load(self, header: Run) -> Run:
        """Return a run of `headers` with its records."""

    @abc.abstractmethod
    def folder(self, run: Run) -> Path:
        """Return the folder of a run of this store."""

    def runs(self, paper: str = "*") -> list[Run]:
        """Return the runs of `headers` with their records."""
        return [self.load(run) for run in self.headers(paper)]

    def find(self, experiment: str, profile: str, seed: int, spec_hash: str) -> Run | None:
        """Return the newest finished version of exactly this run, or None."""
        made = (run for run in self.made(experiment, profile) if run.seed == seed)
        versions = (run for run in made if run.info["spec_hash"] == spec_hash)
        newest = max(versions, key=lambda run: run.version, default=None)
        return None if newest is None else self.load(newest)

    def whole(self, run: Run, name: str) -> Path:
        """Return a file of a run that is no record, such as its weights.

        Raises `StoreError` where it is not there, or is not the file its run wrote.
        """
        path = self.folder(run) / name
        if not path.is_file():
            raise StoreError(f"{readable(path)} is missing: restore it, or run it again")
        if _sha256(path) != dict(run.info["files"]).get(name):
            raise StoreError(damaged(path))
        return path


@final
class LocalStore(Store):
    """Run folders: the local runs of a checkout, or of another.

    Of each (experiment, profile, seed, spec hash) the newest version counts.
    """

    def __init__(self, root: Path, name: str = "local", mine: bool = False) -> None:
        super().__init__(root, name)
        self.mine = mine
        self._read: dict[Path, Run] = {}

    def headers(self, paper: str = "*", holding: str | None = None) -> list[Run]:
        """Return finished runs with their run.json only; ``holding``: the newest versions that have this file."""
        folders = self._versions(f"{paper}/*/*/*/seed-*")
        folders = [folder for folder in folders if holding is None or (folder / holding).is_file()]
        return _newest_of_each([self._header(folder) for folder in folders])

    def made(self, experiment: str, profile: str) -> Iterator[Run]:
        """Yield all versions of the runs of one experiment at one profile with their run.json only."""
        if os.path.isdir(self.path / experiment / profile):
            yield from map(self._header, self._versions(f"{experiment}/{profile}/seed-*"))

    def of(self, experiment: str, profile: str) -> list[Run]:
        """Return the runs of one experiment at one profile with their records; reads nothing else."""
        return _newest_of_each([self.at(folder) for folder in self._versions(f"{experiment}/{profile}/seed-*")])

    def load(self, header: Run) -> Run:
        """Return a run of `headers` with its records."""
        return self.at(self.folder(header))

    def folder(self, run: Run) -> Path:
        """Return the version folder of a run."""
        return self.path / run.experiment / run.profile / f"seed-{run.seed}" / f"v{run.version}"

    def at(self, folder: Path) -> Run:
        """Return the run in one version folder with its records, every file checked; the newest of its kind or not.

        It is read once, since a version never changes.
        """
        if folder not in self._read:
            header = self._header(folder)
            self._read[folder] = replace(header, **run_folder.load_records(folder, header.info))
        return self._read[folder]

    @contextlib.contextmanager
    def workspace(
        self, experiment: str, profile: str, seed: int, spec_hash: str, *, fresh: bool = False,
        tell: Callable[[str], None] | None = None,
    ) -> Iterator[Workspace]:  # fmt: skip
        """Yield the work folder of one run, with its lease held; what another specification left is discarded.

        ``fresh`` discards what the same specification left too. Where another process holds the lease, ``tell``
        gets one sentence and the call waits; without ``tell`` it raises `BusyError`.
        """
        home = self.path / experiment / profile / f"seed-{seed}"
        with leased(home, tell) as held:
            work = home / ".work"
            mark = work / _MARK
            with writing(work):
                if work.exists() and (fresh or not mark.is_file() or mark.read_bytes() != spec_hash.encode()):
                    shutil.rmtree(work)
                work.mkdir(exist_ok=True)
            write_text(mark, spec_hash)
            yield Workspace(self, (experiment, profile, seed, spec_hash), work, held)

    def _name(self, space: Workspace, content: Mapping[str, object]) -> Run:
        """Write run.json, put everything on the disk and give the work folder its version name."""
        folder, home = space.folder, space.folder.parent
        version = 1 + max((_number(path) for path in home.glob("v*")), default=0)
        write_text(folder / "run.json", json.dumps(run_folder.sealed(content), indent=1, sort_keys=True) + "\n")
        target = home / f"v{version}"
        with writing(target):
            for name in content["files"]:  # type: ignore[attr-defined]
                sync(folder / name)
            for path in folder.iterdir():
                if path.name not in (*content["files"], "run.json", LOGGERS, _MARK, BEGINNING):  # type: ignore[misc]
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            sync(folder)
            space.held.check()
            os.rename(folder, target)
            sync(home)
            for name in (_MARK, BEGINNING):  # needed until the rename: who is killed before it resumes
                (target / name).unlink(missing_ok=True)
        return self.at(target)

    def _versions(self, pattern: str) -> list[Path]:
        """Return the version folders with a run.json below ``pattern``, in order of name and number."""
        files = glob.glob(f"{pattern}/v*/run.json", root_dir=self.path)  # pathlib takes twice as long
        folders = [path.parent for path in map(self.path.joinpath, files) if _number(path.parent)]
        return sorted(folders, key=lambda path: (path.parent, _number(path)))

    def _header(self, folder: Path) -> Run:
        """Return a run without its records; run.json must be that of its place: a copied run is no further seed."""
        *parts, profile, number, _ = folder.relative_to(self.path).parts
        info = load_info(folder)
        try:
            experiment, seed = "/".join(parts), int(number.removeprefix("seed-"))
        except ValueError:
            raise StoreError(f"{readable(folder.parent)}: expected a folder name such as seed-0") from None
        names = [info.get(name, here) for name, here in zip(WHO, (experiment, profile, seed), strict=True)]
        if names != [experiment, profile, seed]:
            raise StoreError(
                f"{readable(folder / 'run.json')} is that of {names[0]}, {names[1]} profile, seed {names[2]}: expected "
                "the run of its folder; move it back, or delete its folder"
            )
        return Run(experiment, profile, seed, _number(folder), self.name, info, Grid(("length",)))


def _newest_of_each(runs: list[Run]) -> list[Run]:
    """Return only the highest version of each (experiment, profile, seed, spec hash), sorted."""
    newest = {}
    for run in sorted(runs, key=lambda run: run.version):
        newest[run.experiment, run.profile, run.seed, run.info["spec_hash"]] = run
    return sorted(newest.values(), key=lambda run: (run.experiment, run.profile, run.seed, run.version))


def _number(folder: Path) -> int:
    """Return the N of a folder named ``v<N>``, 0 of any other."""
    digits = folder.name.removeprefix("v")
    return int(digits) if folder.name.startswith("v") and digits.isdecimal() else 0


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

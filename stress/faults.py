"""Faults of storage: a disk that is full after so many pages, folders that cannot be written, files that are damaged.

A small chain of commands (train, promote, draw, compare, report) meets each of them; what leaves is how many faults
there were. Every command has to end with its work done, or with one sentence; none may touch another run, or delete
what it could not use; and with the fault mended the same command does its work.
"""

import contextlib
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from lengen.callbacks.resuming import CHECKPOINT, CheckpointError
from lengen.results.progress import Progress
from lengen.results.records import AttentionMap, KeyCount
from lengen.training.run import WEIGHTS, execute
from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from reproduce.store.run_folder import SCHEMA
from stress.kills import copy
from tests.fixtures.settings import Killed, kill_at
from tests.fixtures.toy_paper import Instant, toy
from tests.lengen.test_execute import SPEC
from tests.lengen.test_execute import run as train

PAGE = 4096
ROOM = 64 * 2**20
"""Bytes of a disk that is not full."""
CHAIN: tuple[list[str], ...] = (
    ["run", "toy/fig1/alpha", "--seeds", "0..1", "--jobs", "1"],
    ["promote", "toy/fig1", "--weights"],
    ["figures", "toy"],
    ["compare", "toy"],
    ["report", "toy"],
)
READING: tuple[list[str], ...] = (
    ["list"],
    ["compare", "toy"],
    ["solve", "toy/fig1/alpha", "1", "2"],
    ["run", "toy/fig1/alpha", "--seeds", "0", "--jobs", "1"],
    ["promote", "toy/fig1", "--seeds", "0", "--weights"],
    ["rerun", "toy/fig1/alpha", "--seed", "0"],
)
"""Commands that read the files of a run."""
TIMES = ("run.json", "last.ckpt", "drawn.json")
"""Files whose bytes are others in every run, or name some that are."""


class Rich(Instant):
    """A run of an instant that leaves every kind of file."""

    def run(self, seed: int, folder: Path, report: Any, loggers: Any = ()) -> Any:
        result = super().run(seed, folder, report, loggers)
        save_file({"weights": torch.arange(2000.0) + seed}, folder / "model.safetensors")
        result.key_counts = [KeyCount(2, 2, 0, 0, 10, 20 + seed)]
        result.attention = AttentionMap(tuple("1+2"), np.full((1, 1, 3, 3), 0.5, np.float32), 4)
        result.arrays = {"bias": np.arange(6.0) + seed}
        return result


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    said: str
    """What it wrote to stderr."""


def command(words: Sequence[str]) -> Ended:
    """One command in this process; an error with a traceback is one of the test."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return Ended(code, err.getvalue())


def refused(ended: Ended, *expected: str) -> bool:
    """Whether a command ended in a sentence, whose form is asserted, with one of the expected words in it."""
    if ended.code == 0:
        return False
    *_, last = ended.said.rstrip("\n").split("\n")
    assert ended.code in (1, 2) and "Traceback" not in ended.said, ended
    assert 10 < len(last) < 1200 and last.isprintable(), ended
    assert not expected or any(word in ended.said for word in expected), ended
    return True


@contextlib.contextmanager
def toys(root: Path, papers: Path) -> Iterator[None]:
    """The toy paper with runs that leave every kind of file, and its results below ``root``."""
    before = os.environ.get("LENGEN_RESULTS")
    CATALOGUE.fill(toy(papers / "toy", Rich))
    os.environ["LENGEN_RESULTS"] = str(root)
    (root / "reference").mkdir(parents=True, exist_ok=True)  # else the checkout's is used
    try:
        yield
    finally:
        CATALOGUE.fill()
        if before is None:
            del os.environ["LENGEN_RESULTS"]
        else:
            os.environ["LENGEN_RESULTS"] = before


def content(root: Path) -> dict[str, str]:
    """File -> sha256 of what has to be the same bytes."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and ".work" not in path.parts]
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.name not in TIMES and not path.name.startswith(".") and "runs" not in path.parts
    }


# ------------------------------------------------------------------ a disk that is full


def why_no_disk() -> str:
    """Why no small disk can be mounted here; empty where one can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "only root mounts a small disk (tmpfs); run the tests as root"
    if not shutil.which("mount"):
        return "there is no mount here; install util-linux"
    with tempfile.TemporaryDirectory() as place:
        tried = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", place], capture_output=True, text=True)
        if tried.returncode:
            return f"no small disk can be mounted here ({tried.stderr.strip()}); give the container CAP_SYS_ADMIN"
        subprocess.run(["umount", place], check=True)
    return ""


class Disk:
    """A small file system in memory, whose size can be changed while files lie on it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.place.mkdir(parents=True, exist_ok=True)
        self._mount("-t", "tmpfs", "-o", f"size={ROOM}", "none")

    def _mount(self, *options: str) -> None:
        subprocess.run(["mount", *options, str(self.place)], check=True, capture_output=True, text=True)

    def used(self) -> int:
        """Pages that are taken."""
        found = os.statvfs(self.place)
        return (found.f_blocks - found.f_bfree) * found.f_frsize // PAGE

    def leave(self, pages: int) -> None:
        """Leave room for so many pages more; a disk of no page at all is one without bounds."""
        self._mount("-o", f"remount,rw,size={max(1, self.used() + pages) * PAGE}")

    def enlarge(self) -> None:
        self._mount("-o", f"remount,rw,size={ROOM}")

    def read_only(self) -> None:
        self._mount("-o", "remount,ro")

    def close(self) -> None:
        subprocess.run(["umount", "-l", str(self.place)], check=False, capture_output=True)


def steps(most: int, number: int) -> list[int]:
    """At most so many whole numbers from 0 to below ``most``, the small ones among them, where most is decided.

    >>> steps(3, 10), steps(100, 6)
    ([0, 1, 2], [0, 1, 2, 25, 50, 75])
    """
    if most <= number:
        return list(range(most))
    first = number // 2
    return [*range(first), *(round(most * part / (number - first + 1)) for part in range(1, number - first + 1))]


class Full(NamedTuple):
    """What a full disk did: by command, how many sizes were tried and how many of them ended in a sentence."""

    tried: dict[str, int]
    refused: dict[str, int]
    read_only: int


def full_disk(place: Path, number: int, chain: Sequence[list[str]] = CHAIN) -> Full:
    """Run every command of the chain on disks that are full after so and so many pages, then with room again."""
    disk = Disk(place / "disk")
    tried, ended_so, read_only = {}, {}, 0
    try:
        root = disk.place / "results"
        for words in chain:
            before, after = place / "before", place / "after"
            copy(root, before)
            start = disk.used()
            with toys(root, place / "papers"):
                assert not refused(command(words)), "with room it works"
                needed = disk.used() - start
                expected = content(root)
                copy(root, after)
                for pages in steps(needed + 1, number):
                    copy(before, root)
                    disk.leave(pages)
                    hit = refused(command(words), "is full", "No space left")
                    tried[words[0]] = tried.get(words[0], 0) + 1
                    ended_so[words[0]] = ended_so.get(words[0], 0) + hit
                    disk.enlarge()
                    assert not refused(command(words)), "with room again it goes on"
                    assert content(root) == expected, words
                copy(before, root)
                disk.read_only()
                refused(command(words), "Read-only file system")
                read_only += 1
                disk.enlarge()
                copy(after, root)
    finally:
        disk.close()
    return Full(tried, ended_so, read_only)


# ------------------------------------------------------------------ files that are damaged


def truncated(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"")


def flipped(path: Path, chance: random.Random) -> None:
    """One bit of it is another."""
    whole = bytearray(path.read_bytes())
    whole[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(whole))


def missing(path: Path, chance: random.Random) -> None:
    path.unlink()


def a_folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


def older(path: Path, chance: random.Random) -> None:
    _of_schema(path, SCHEMA - 1)


def newer(path: Path, chance: random.Random) -> None:
    _of_schema(path, SCHEMA + 1)


def _of_schema(path: Path, version: int) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": version}))


Damage = Callable[[Path, random.Random], None]
DAMAGES: tuple[Damage, ...] = (truncated, emptied, flipped, missing, a_folder)
RECORDED = ("metrics.csv", "scores.csv", "keys.csv", "attention.npz", "arrays.npz")


def damaged_files(
    place: Path, seed: int, commands: Sequence[list[str]] = READING, damages: Sequence[Damage] = DAMAGES
) -> dict[str, int]:
    """Damage every file of a finished run in every way, and ask every command for it; file -> damages x commands.

    Nothing of other runs changes, and what is damaged stays as it is.
    """
    chance, root, whole = random.Random(seed), place / "results", place / "whole"
    counted: dict[str, int] = {}
    with toys(root, place / "papers"):
        assert not refused(command(CHAIN[0]))
        home = root / "local/toy/fig1/alpha/cpu/seed-0/v1"
        names = sorted(path.name for path in home.iterdir())
        copy(root, whole)
        for name in names:
            for damage in [*damages, *((older, newer) if name == "run.json" else ())]:
                for words in commands:
                    copy(whole, root)
                    damage(home / name, chance)
                    kept = _files(root)
                    ended = command(words)
                    counted[name] = counted.get(name, 0) + 1
                    told = refused(ended)
                    if _asked(name, damage, words):
                        assert told and name in ended.said.splitlines()[-1], (name, damage.__name__, words, ended)
                    changed = [path for path, held in kept.items() if _state(path) != held]
                    assert not changed, (name, damage.__name__, words, changed)
    return counted


def _asked(name: str, damage: Damage, words: Sequence[str]) -> bool:
    """Whether a command needs a file that is damaged, so that it has to say so.

    A folder without run.json is no run, and one without weights answers no problem.
    """
    if name == "run.json":
        return damage is not missing
    if name == "model.safetensors":
        return words[0] == "promote" or (words[0] == "solve" and damage not in (missing, a_folder))
    return name in RECORDED and words[0] in ("compare", "run", "promote", "rerun")


def damaged_leftovers(place: Path, seed: int, number: int) -> dict[str, int]:
    """Kill a run while it trains and while it measures, damage what it left, and let it go on; file -> how often.

    It ends with the weights and scores of one that was not disturbed, or says which file to delete, and then does.
    """
    chance, counted = random.Random(seed), dict[str, int]()
    finished, training, measuring = (place / name for name in ("finished", "training", "measuring"))
    place.mkdir(parents=True, exist_ok=True)
    wanted = train(finished)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lengen.callbacks.accuracy_grid.WORTH_KEEPING", 0)
        kill_at(7, patch, train, training)
        measuring.mkdir()
        with pytest.raises(Killed):
            execute(SPEC, 0, measuring, _killed_at_attention)
    left = [(folder, path.name) for folder in (measuring, training) for path in sorted(folder.iterdir())]
    for turn in range(number):
        (leftover, name), damage = left[turn % len(left)], DAMAGES[(turn + turn // len(left)) % 4]
        copy(leftover, place / "hurt")
        damage(place / "hurt" / name, chance)
        try:
            found = train(place / "hurt")
        except CheckpointError as error:
            assert name == CHECKPOINT and str(place / "hurt" / name) in str(error) and "delete it" in str(error)
            (place / "hurt" / name).unlink()
            found = train(place / "hurt")
        assert found.grid == wanted.grid, (name, damage.__name__)
        assert (place / "hurt" / WEIGHTS).read_bytes() == (finished / WEIGHTS).read_bytes(), (name, damage.__name__)
        counted[name] = counted.get(name, 0) + 1
    return counted


def _killed_at_attention(progress: Progress) -> None:
    if progress.stage == "attention":
        raise Killed


def _files(root: Path) -> dict[Path, bytes | None]:
    """Files of finished runs with what they hold; None of a folder."""
    found = [path for path in root.rglob("seed-*/v*/*") if path.name not in (".spec", ".beginning")]
    return {path: _state(path) for path in found}


def _state(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None

"""Kills at random moments of every stage, and what is left after starting again: the bytes that nobody disturbed.

Two small runs are trained, measured, promoted, drawn and compared in a folder of their own, by commands that note what
they are doing (`stress.staged`). One or two of them at a time are killed by SIGKILL, SIGTERM or SIGINT while
they do one thing or the other, several times in a row, then let run to the end; weights, CSV files, figures and the
comparison are then those of a folder that nobody disturbed.
"""

import contextlib
import hashlib
import itertools
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stress.staged import BETWEEN
from stress.staged import main as staged

SELECTOR = "coupling/fig3/nope-plain"


class Command(NamedTuple):
    """A command, and the stages in which it is killed, one after another, before it may come to its end."""

    words: Sequence[str]
    stages: Sequence[str]


CHAIN = (
    Command(
        ["run", SELECTOR, "--profile", "smoke", "--seeds", "0..1", "--jobs", "1"],
        ["training", "measuring", "training", "writing"],
    ),
    Command(["promote", SELECTOR, "--profile", "smoke", "--weights"], ["promoting", "promoting", "drawing"]),
    Command(["figures", "coupling/fig3"], ["drawing", BETWEEN, "drawing"]),
    Command(["compare", "coupling/fig3"], ["comparing", BETWEEN]),
)
EQUAL = (".csv", ".safetensors", ".npz", ".svg", ".png", ".md")
"""Files that have to be byte-equal; run.json and checkpoints hold times."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
GLANCE = 0.002
"""Seconds between two looks at what a command is doing."""


class Killed(NamedTuple):
    """What was done, and what differed in the end: file -> what is wrong with it."""

    by_stage: dict[str, int]
    by_signal: dict[str, int]
    of_two: int
    """Those of them that were killed while another process worked on the same."""
    restarts: int
    """Times that a command which had been killed was run to its end."""
    files: int
    """Files that were compared after every restart."""
    differing: dict[str, str]
    seconds: float

    @property
    def kills(self) -> int:
        return sum(self.by_stage.values())


class Forked:
    """A child of this process that runs the program, which is loaded already: what takes seconds is done once."""

    def __init__(self, root: Path, words: Sequence[str], notes: Path) -> None:
        self._said = notes.with_suffix(".err")
        self.returncode: int | None = None
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._be(root, words, notes)
        with contextlib.suppress(OSError):  # as the child does: who comes first
            os.setpgid(self.pid, self.pid)

    def _be(self, root: Path, words: Sequence[str], notes: Path) -> None:
        code = 1
        try:
            os.setpgid(0, 0)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(self._said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            os.environ["LENGEN_RESULTS"] = str(root)
            code = staged(notes, list(words))
            sys.stderr.flush()
        except BaseException as error:
            os.write(2, repr(error).encode())
        finally:
            os._exit(code)

    def poll(self, options: int = os.WNOHANG) -> int | None:
        """How it ended; None if it has not."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def communicate(self) -> tuple[None, str]:
        """Wait for its end; what it said to stderr."""
        self.poll(0)
        return None, self._said.read_text() if self._said.exists() else ""


class Started(NamedTuple):
    process: Forked
    notes: Path

    def stages(self) -> list[tuple[float, str]]:
        """When what began, so far; a line that is being written is left out."""
        if not self.notes.exists():
            return []
        lines = self.notes.read_text().split("\n")[:-1]
        return [(float(when), stage) for when, _, stage in (line.partition(" ") for line in lines)]


def load() -> None:
    """Load all that the commands load, so that what is forked from this process has it; starts no thread."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import lengen.plotting
    import lengen.training.run
    import reproduce.commands.compare
    import reproduce.commands.promote
    import reproduce.commands.run
    from reproduce.catalogue import CATALOGUE

    assert lengen.plotting and lengen.training.run and reproduce.commands.run and reproduce.commands.promote
    assert CATALOGUE.papers() and reproduce.commands.compare


def forked(root: Path, words: Sequence[str], notes: Path) -> Started:
    """One command in a child of this process and a group of its own: a signal reaches it and its workers."""
    notes.unlink(missing_ok=True)
    return Started(Forked(root, words, notes), notes)


def complete(root: Path, words: Sequence[str], notes: Path) -> dict[str, float]:
    """One command to its end: stage -> the seconds of its longest time; raises `RuntimeError` where it fails."""
    started = forked(root, words, notes)
    said = started.process.communicate()[1]
    if started.process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {started.process.returncode}: {said[-2000:]}")
    marks = [*started.stages(), (time.monotonic(), "")]
    lasted: dict[str, float] = {}
    for (began, stage), (ended, _) in itertools.pairwise(marks):
        lasted[stage] = max(lasted.get(stage, 0.0), ended - began)
    return lasted


def content(root: Path) -> dict[str, str]:
    """Place below the folder -> sha256, of every file that has to be byte-equal."""
    files = (path for path in root.rglob("*") if path.suffix in EQUAL and ".work" not in path.parts)
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def compared(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """File -> how the second folder differs from the first."""
    found = dict.fromkeys(one.keys() - other.keys(), "missing") | dict.fromkeys(other.keys() - one.keys(), "too many")
    return found | {name: "other bytes" for name in one.keys() & other.keys() if one[name] != other[name]}


def reach(started: Started, stage: str, patience: float = 60.0) -> bool:
    """Wait until a command does this; False where it ends before, or never does."""
    end = time.monotonic() + patience
    while started.process.poll() is None and time.monotonic() < end:
        marks = started.stages()
        if marks and marks[-1][1] == stage:
            return True
        time.sleep(GLANCE)
    return False


def kill(kills: int, seed: int, place: Path, chain: Sequence[Command] = CHAIN) -> Killed:
    """Kill so many processes, or a few more, by turns of all commands; ``place`` gets the results folders."""
    began, chance = time.monotonic(), random.Random(seed)
    whole, hurt, before = place / "whole", place / "hurt", place / "before"
    counts: Counter[str] = Counter()
    stages: Counter[str] = Counter()
    signals: Counter[str] = Counter()
    differing: dict[str, str] = {}
    files = 0
    weight = sum(len(command.stages) for command in chain)
    for command in chain:
        usual = complete(whole, command.words, place / "notes")
        expected = content(whole)
        copy(hurt, before)
        wanted, done = -(-kills * len(command.stages) // weight), 0
        for _ in range(5 * wanted):
            if done >= wanted:
                break
            copy(before, hurt)
            for stage in command.stages:
                many = chance.choice((1, 2))
                started = [forked(hurt, command.words, place / f"notes-{number}") for number in range(many)]
                reach(started[0], stage)
                time.sleep(chance.uniform(0, usual.get(stage, 0.5)))
                hit = 0
                for one in started[: chance.choice((1, many))]:
                    sent = chance.choice(SIGNALS)
                    if one.process.poll() is None:
                        os.killpg(one.process.pid, sent)
                        marks = one.stages()
                        stages[marks[-1][1] if marks else BETWEEN] += 1
                        signals[sent.name] += 1
                        hit += 1
                for one in started:
                    one.process.communicate()
                done += hit
                counts["of_two"] += hit * (many == 2)
                if done >= wanted:
                    break
            complete(hurt, command.words, place / "notes")
            counts["restarts"] += 1
            found = content(hurt)
            files += len(found)
            differing |= {f"{command.words[0]}: {name}": what for name, what in compared(expected, found).items()}
    seconds = round(time.monotonic() - began, 1)
    return Killed(dict(stages), dict(signals), counts["of_two"], counts["restarts"], files, differing, seconds)


def copy(one: Path, other: Path) -> None:
    """Make a folder what another one is."""
    shutil.rmtree(other, ignore_errors=True)
    if one.exists():
        shutil.copytree(one, other)

"""Two checkouts side by side: the same commands, in turns, and what the newer one gained or lost.

What enters is a base, another checkout's folder or a revision of this repository; what leaves are entries: how many
times faster this checkout is, turn by turn, and processor time or tokens per second of both beside it. Trainings run
in two processes that take turns of a few steps over the same batches; what is shorter or cannot be halted is run whole,
in turns. Both sides have the same interpreter and libraries, results folders of their own, and no GPU.
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from lengen.timing import Entry, Workload, entry, fixed
from reproduce.bench.usage import usage
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.provenance import checkout

WORKER = Path(__file__).with_name("worker.py")
COMMANDS = {
    "help": ("--help",),
    "list": ("list",),
    "compare": ("compare",),
    "figures": ("figures",),
    "report": ("report",),
}
"""What else is timed, over all committed results: arguments of ``python -m reproduce``."""


class AgainstError(ValueError):
    """A base that is none, or a side that failed; one sentence."""


class Side(NamedTuple):
    """A checkout, and where its results go."""

    name: str
    root: Path
    scratch: Path

    def environment(self, results: Path) -> dict[str, str]:
        """What makes this checkout's code the one that runs."""
        own = {"PYTHONPATH": str(self.root), "LENGEN_RESULTS": str(results), "CUDA_VISIBLE_DEVICES": ""}
        return {**os.environ, **own}

    def start(self, arguments: Sequence[str], results: Path, **pipes: Any) -> "subprocess.Popen[str]":
        """``python ARGUMENTS`` in this checkout."""
        with open(self.scratch / "stderr", "a+", encoding="utf-8") as errors:
            return subprocess.Popen(
                [sys.executable, "-P", *arguments],
                cwd=self.root,
                env=self.environment(results),
                stderr=errors,
                text=True,
                **pipes,
            )

    def failed(self, what: str) -> AgainstError:
        """A sentence of what this side could not do, with the last line of what it said."""
        said = (self.scratch / "stderr").read_text(encoding="utf-8").strip().splitlines()
        return AgainstError(f"{self.name} cannot {what}: {said[-1] if said else 'it ended without a word'}")


class Effort(NamedTuple):
    """How much is measured."""

    turns: int = 25
    seconds: float = 0.4
    """Of a training's turn, about."""
    unmeasured: int = 24
    """Steps before a training's first turn."""
    enough: float = 90.0
    """Seconds after which something that is run whole is not repeated any more."""
    least: int = 3
    profile: str = "cpu"
    sets: tuple[str, ...] = ()
    """Arguments of ``--set`` for the trainings of this checkout alone: what the base has no word for."""


FULL = Effort()
TINY = Effort(turns=2, seconds=0.01, unmeasured=2, enough=0.0, least=1, profile="smoke")


@contextlib.contextmanager
def sides(base: str) -> Iterator[tuple[Side, Side]]:
    """The base and this checkout; of a revision a work tree is made, and taken away at the end."""
    here = checkout()
    if here is None:
        raise AgainstError("--against needs a clone of the repository to compare: this is an installed package")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        scratch = Path(name)
        folder = Path(base)
        if not folder.is_dir():
            folder = stack.enter_context(work_tree(here, base, scratch / "tree"))
        elif not (folder / "reproduce" / "__main__.py").is_file():
            raise AgainstError(f"--against {base}: no reproduce/__main__.py in it; name a checkout or a git revision")
        found = (
            Side(revision(folder) or folder.resolve().name, folder.resolve(), scratch / "base"),
            Side("now", here, scratch / "now"),
        )
        for side in found:
            side.scratch.mkdir()
        yield found


@contextlib.contextmanager
def work_tree(here: Path, base: str, folder: Path) -> Iterator[Path]:
    """A checkout of a revision, its modules compiled as those of a checkout that has been used."""
    made = _git(here, "worktree", "add", "--detach", "--quiet", str(folder), base)
    if made.returncode:
        raise AgainstError(f"--against {base}: neither a folder nor a git revision; name a checkout or a revision")
    try:
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], stdout=subprocess.DEVNULL, check=False)
        yield folder
    finally:
        _git(here, "worktree", "remove", "--force", str(folder))


def revision(folder: Path) -> str:
    """Short name of the commit of a checkout; empty where it is not under git."""
    return _git(folder, "rev-parse", "--short=7", "HEAD").stdout.strip()


def _git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)


def comparisons(effort: Effort) -> "dict[str, dict[str, Callable[[Side, Side], list[Entry]]]]":
    """Group -> name -> what compares two sides: every paper's workloads, then the commands."""
    declared = [workload for name in CATALOGUE.papers() for workload in CATALOGUE.paper(name).workloads()]
    trained = [workload for workload in declared if not workload.measures]
    measured = [workload for workload in declared if workload.measures]
    return {
        "training": {workload.name: partial(training, workload, effort) for workload in trained},
        "measuring": {workload.name: partial(measuring, workload, effort) for workload in measured},
        "commands": {name: partial(command, name, words, effort) for name, words in COMMANDS.items()},
    }


def training(workload: Workload, effort: Effort, base: Side, now: Side) -> list[Entry]:
    """Steps of one setting, the same batches on both sides."""
    name = " with ".join([f"training/{workload.name}", *effort.sets])
    pair = [base, now]
    with contextlib.ExitStack() as stack:
        own = [(), effort.sets]
        both = [stack.enter_context(paused(*each, workload, effort)) for each in zip(pair, own, strict=True)]
        hellos = [told(side, process) for side, process in zip(pair, both, strict=True)]

        def stretch(steps: int) -> list[dict[str, float]]:
            found = []
            for side, process in zip(pair, both, strict=True):
                ask(process, steps)
                found.append(told(side, process))
            return found

        first = stretch(1)
        warm = stretch(effort.unmeasured)
        slowest = max(one["seconds"] for one in warm) / effort.unmeasured
        room = (min(one["steps"] for one in hellos) - effort.unmeasured - 2) // effort.turns
        steps = max(1, min(int(effort.seconds / slowest), int(room)))
        rows = [stretch(steps) for _ in range(effort.turns)]
    tokens = [row[0]["tokens"] for row in rows]  # of the base: what both trained on, padded as it pads
    rates = [[tokens[i] / rows[i][side]["seconds"] for i in range(len(rows))] for side in (0, 1)]
    what = f"training steps of {_typed(workload)}"
    starts = [hello["started"] + one["seconds"] for hello, one in zip(hellos, first, strict=True)]
    until = f"until the first step of {_typed(workload)} has ended, all that is loaded and built included"
    return [
        entry(name, what, [row[0]["seconds"] / row[1]["seconds"] for row in rows], "times faster", base.name),
        entry(f"{name}/base", what, rates[0], "tokens/s"),
        entry(f"{name}/now", what, rates[1], "tokens/s"),
        fixed(f"{name}/start/base", until, starts[0], "s"),
        fixed(f"{name}/start/now", until, starts[1], "s"),
    ]


@contextlib.contextmanager
def paused(side: Side, sets: Sequence[str], workload: Workload, effort: Effort) -> "Iterator[subprocess.Popen[str]]":
    """A training of one side that waits to be asked for steps; ended when it is left, with what it wrote."""
    results = Path(tempfile.mkdtemp(dir=side.scratch))
    words = _run_words(workload, effort, "train.evaluations=1", *sets)
    arguments = [str(WORKER), "train", "", *words]
    process = side.start(arguments, results, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        shutil.rmtree(results)


def ask(process: "subprocess.Popen[str]", steps: int) -> None:
    """Let a paused training go on for so many steps."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # `told` says why
        process.stdin.write(f"{steps}\n")
        process.stdin.flush()


def told(side: Side, process: "subprocess.Popen[str]") -> dict[str, float]:
    """The next line that a worker says."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise side.failed("run it")
    found: dict[str, float] = json.loads(line)
    return found


def measuring(workload: Workload, effort: Effort, base: Side, now: Side) -> list[Entry]:
    """What is asked of the trained model of one setting, as a whole."""

    def seconds(side: Side) -> tuple[float]:
        place = side.root / "results" / "reference" / workload.selector / effort.profile
        weights = sorted(place.glob("seed-0/v*/model.safetensors"))
        words = _run_words(workload, effort, "train.steps=2", "train.evaluations=1")
        arguments = [str(WORKER), "measure", str(weights[-1]) if weights else "", *words]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
        with tempfile.TemporaryDirectory(dir=side.scratch) as results:
            process = side.start(arguments, Path(results), **pipes)
            found = told(side, process)["seconds"]
            process.communicate()
        return (found,)

    rows = in_turns(seconds, effort, base, now)
    return of_both(
        f"measuring/{workload.name}", f"all that is asked of the trained model of {_typed(workload)}", rows, 0, base
    )


def command(name: str, words: Sequence[str], effort: Effort, base: Side, now: Side) -> list[Entry]:
    """A command over the committed results of its checkout: processor time with that of its workers, and elapsed."""

    def seconds(side: Side) -> tuple[float, float]:
        with tempfile.TemporaryDirectory(dir=side.scratch) as folder:
            results = Path(folder) / "results"
            shutil.copytree(side.root / "results" / "reference", results / "reference")
            before, start = usage().getrusage(usage().RUSAGE_CHILDREN), monotonic()
            code = side.start(["-m", "reproduce", *words], results, stdout=subprocess.DEVNULL).wait()
            elapsed, after = monotonic() - start, usage().getrusage(usage().RUSAGE_CHILDREN)
        if code:
            raise side.failed(f"answer {name}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed

    rows = in_turns(seconds, effort, base, now)
    what = f"python -m reproduce {shlex.join(words)}"
    return [
        *of_both(f"command/{name}", f"{what}: processor time", rows, 0, base),
        *of_both(f"command/{name}/elapsed", f"{what}: elapsed time", rows, 1, base),
    ]


def in_turns(
    seconds: Callable[[Side], tuple[float, ...]], effort: Effort, base: Side, now: Side
) -> list[list[tuple[float, ...]]]:
    """Both sides in turns, until that has taken long enough: turn, side, what was timed."""
    rows: list[list[tuple[float, ...]]] = []
    start = monotonic()
    while len(rows) < effort.least or (monotonic() - start < effort.enough and len(rows) < effort.turns):
        rows.append([seconds(base), seconds(now)])
    return rows


def of_both(name: str, what: str, rows: Sequence[Sequence[tuple[float, ...]]], which: int, base: Side) -> list[Entry]:
    """The ratio of seconds, turn by turn, and the seconds of both sides."""
    seconds = [[row[side][which] for row in rows] for side in (0, 1)]
    ratios = [old / new for old, new in zip(*seconds, strict=True)]
    return [
        entry(name, what, ratios, "times faster", base.name),
        entry(f"{name}/base", what, seconds[0], "s"),
        entry(f"{name}/now", what, seconds[1], "s"),
    ]


def _run_words(workload: Workload, effort: Effort, *overrides: str) -> list[str]:
    """Arguments of ``python -m reproduce``; what comes later wins."""
    sets = [word for change in (*workload.overrides, *overrides) for word in ("--set", change)]
    return ["run", workload.selector, "--profile", effort.profile, "--jobs", "1", *sets]


def _typed(workload: Workload) -> str:
    return " ".join((workload.selector, *workload.overrides))

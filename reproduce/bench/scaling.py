"""How time and memory of a training step grow with the problems and the model: points, and fitted exponents.

Each point is measured in a process of its own, because the highest memory that a process ever held is what counts: a
batch of the longest problems, forward, backward and optimizer. What leaves are the points and, for each axis, the
exponents of the power laws through them.
"""

import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import process_time as clock
from typing import NamedTuple

from lengen.config import Coupled
from lengen.config.spec import Spec, change
from lengen.timing import Entry, entry, exponent, fixed
from reproduce.bench import speed
from reproduce.bench.speed import Sizes
from reproduce.bench.usage import usage

AXES: dict[str, tuple[int, ...]] = {
    "digits": (5, 10, 20, 40),
    "operands": (5, 10, 20, 40),
    "width": (64, 128, 256, 512),
    "depth": (1, 2, 4, 8),
    "batch": (16, 32, 64, 128),
}
"""Axis -> what is tried; of the other axes every point has what `reproduce.bench.speed.SPEC` has."""
SMALL: dict[str, tuple[int, ...]] = {"digits": (1, 2), "batch": (1, 2)}
MIB = 2**20


class Point(NamedTuple):
    """A training step, measured."""

    tokens: int
    """Of the batch."""
    parameters: int
    memory: int
    """Bytes: the highest that the process held, less what it held when the libraries were loaded."""
    seconds: tuple[float, ...]
    """Processor time of each step but the first."""


def setting(axis: str, size: int) -> Spec:
    """The bench's own setting with one size changed; position ids reach as far as its problems do."""
    spec = speed.SPEC
    if axis == "digits":
        return problems(spec, size, spec.data.task.most)
    if axis == "operands":
        return problems(spec, spec.data.task.longest, size)
    if axis == "width":
        heads = spec.model.heads
        return change(spec, model={"width": size, "head_dim": size // heads, "ff_width": 2 * size})
    return spec.override(f"model.layers={size}" if axis == "depth" else f"train.batch={size}")


def problems(spec: Spec, digits: int, operands: int) -> Spec:
    """The setting with numbers of so many digits, so many of them, and position ids for both."""
    changed = spec.override(f"data.task.digits={digits}", f"data.task.operands={operands}")
    room = (max(40, 2 * digits), max(40, 2 * operands))
    return change(changed, data={"position_ids": Coupled(room)})


def measure(spec: Spec, steps: int, limit: int = 0) -> Point:
    """Train for ``steps`` steps on the longest problems of the setting, in this process, on one thread.

    Args:
        limit: Bytes of memory of its own that the process may hold; 0 for no limit. What asks for more gets an error.
    """
    import torch

    from lengen.data.batch import TrainBatch
    from lengen.data.datamodule import ArithmeticData
    from reproduce.bench.trainer import BareLoop

    torch.set_num_threads(1)
    if limit:
        usage().setrlimit(usage().RLIMIT_DATA, (limit, limit))

    def ready(spec: Spec) -> tuple[BareLoop, TrainBatch]:
        data, loop = ArithmeticData(spec, 0), BareLoop(spec, torch.device("cpu"))
        written = data.writer.write(data.test(spec.data.task.longest, spec.data.task.most, spec.train.batch))
        return loop, TrainBatch(written.tokens, written.ids, written.loss, written.loss.sum().float())

    loop, batch = ready(speed.SPEC.override("model.width=8", "model.head_dim=2", "model.ff_width=8", "train.batch=1"))
    loop.train_on(batch)  # what the libraries load when they are first used is not the model's
    before = held()
    loop, batch = ready(spec)
    seconds = []
    for _ in range(steps):
        start = clock()
        loop.train_on(batch)
        seconds.append(clock() - start)
    parameters = sum(parameter.numel() for parameter in loop.module.model.parameters())
    return Point(batch.tokens.numel(), parameters, highest() - before, tuple(seconds[1:]))


def held() -> int:
    """Bytes of memory that this process holds; where the system does not say, the most it ever held."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * usage().getpagesize() if statm.exists() else highest()


def highest() -> int:
    """The most bytes of memory that this process ever held."""
    most: int = usage().getrusage(usage().RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def apart(spec: Spec, steps: int, limit: int = 0) -> Point:
    """`measure` in a process of its own; raises what went wrong there, `BrokenProcessPool` where it was ended."""
    usage()  # says so where there is none, before a process is started
    # A server that has loaded everything forks it: loading takes longer than most points.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "reproduce.bench.trainer"])
    with ProcessPoolExecutor(1, mp_context=context, initializer=_first_to_end) as one:
        return one.submit(measure, spec, steps, limit).result()


def _first_to_end() -> None:
    """Where memory runs out, this process is ended, and no other."""
    score = Path("/proc/self/oom_score_adj")
    if score.exists() and os.access(score, os.W_OK):
        score.write_text("1000")


def scaling(sizes: Sizes) -> list[Entry]:
    """Time and memory of a step along each axis, and their exponents."""
    found = []
    steps = 1 + sizes.turns
    for axis, tried in (AXES if sizes.turns > 1 else SMALL).items():
        points = [apart(setting(axis, size), steps) for size in tried]
        what = f"a training step, {axis} {tried[0]} to {tried[-1]}, else {_described(axis)}"
        for size, point in zip(tried, points, strict=True):
            milliseconds = [1000 * seconds for seconds in point.seconds]
            found.append(entry(f"step_time/{axis}/{size}", f"{what}; {point.tokens} tokens", milliseconds, "ms"))
            memory = point.memory / MIB
            found.append(fixed(f"step_memory/{axis}/{size}", f"{what}; {point.tokens} tokens", memory, "MiB"))
        each = [exponent(tried, turn) for turn in zip(*(point.seconds for point in points), strict=True)]
        found.append(entry(f"step_time/{axis}", f"exponent of the time of {what}", each, "exponent"))
        power = exponent(tried, [max(point.memory, 1) for point in points])
        found.append(fixed(f"step_memory/{axis}", f"exponent of the highest memory of {what}", power, "exponent"))
    return found


def _described(axis: str) -> str:
    """The bench's own setting but for one axis."""
    spec = speed.SPEC
    own = {
        "digits": f"{spec.data.task.longest} digits",
        "operands": f"{spec.data.task.most} operands",
        "width": f"width {spec.model.width}",
        "depth": f"{spec.model.layers} layer",
        "batch": f"batch {spec.train.batch}",
    }
    return ", ".join(words for name, words in own.items() if name != axis)

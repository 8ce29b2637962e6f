"""The longest sequence and the largest model whose training step fits a memory: tried, and computed for larger ones.

Small sizes are measured first; memory is a polynomial of the size (of degree 1 in tokens, because attention is never
held whole, and 2 in width), and its root is where the memory ends. For what this machine can have, steps near that size
are then really made, in a process that may not hold more.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

import numpy as np

from lengen.config.spec import Spec, change
from lengen.timing import Entry, fixed
from reproduce.bench import speed
from reproduce.bench.scaling import Point, apart, problems
from reproduce.bench.speed import Sizes

GIB = 2**30
MEMORIES = (24, 80)
"""GiB of the graphics cards that people have."""
SHARE = 0.8
"""Of this machine's memory that is tried where it has less than the smallest of them: the rest is the system's."""
STEP = 0.04
"""Between two sizes that are tried, as a part of them: so near the limit is found."""


class Question(NamedTuple):
    """What is made larger until it does not fit."""

    name: str
    what: str
    unit: str
    spec: Callable[[int], Spec]
    sizes: str
    """What the sizes are."""
    small: tuple[int, ...]
    multiple: int
    """Sizes are multiples of it."""
    degree: int
    """Of memory as a polynomial of the size."""
    result: Callable[[Point], int]


def longest(size: int) -> Spec:
    """Numbers of so many digits, six layers: with one layer a CPU would take many minutes for a step that fills it."""
    deep = change(speed.SPEC, model={"layers": 6, "heads": 8, "width": 256, "ff_width": 512})
    return problems(deep, size, speed.SPEC.data.task.most)


def largest(size: int) -> Spec:
    """Six layers of this width, as published, on the bench's own problems."""
    model = {"layers": 6, "heads": 8, "width": size, "head_dim": size // 8, "ff_width": 2 * size}
    return change(speed.SPEC, model=model)


def questions(tiny: bool) -> tuple[Question, Question]:
    """Both; where ``tiny``, at sizes that take no time."""
    shape = f"batch {speed.SPEC.train.batch}"
    digits, widths = ((2, 3), (16, 32, 48)) if tiny else ((10, 20, 40), (256, 512, 768, 1024))
    return (
        Question(
            "longest_sequence",
            f"tokens of one sequence, {speed.SPEC.data.task.most} operands, 6 layers, width 256, {shape}",
            "tokens",
            longest,
            "digits",
            digits,
            1,
            1,
            lambda point: point.tokens // speed.SPEC.train.batch,
        ),
        Question(
            "largest_model",
            f"parameters, 6 layers, S_A({speed.SPEC.data.task.longest},{speed.SPEC.data.task.most}), {shape}",
            "parameters",
            largest,
            "wide",
            widths,
            8,
            2,
            lambda point: point.parameters,
        ),
    )


def fitting(sizes: Sequence[float], memory: Sequence[float], degree: int, budget: float, multiple: int = 1) -> int:
    """The largest size, a multiple of ``multiple``, whose memory is within the budget by the polynomial through these.

    Memory is fitted relative to itself, so that small sizes count as much as large ones.

    >>> fitting([1, 2, 4], [11, 12, 14], 1, 110)
    100
    """
    law = np.polyfit(sizes, memory, degree, w=1 / np.asarray(memory, dtype=float))
    law[-1] -= budget
    real = [complex(root).real for root in np.roots(law) if abs(complex(root).imag) < 1e-9]
    return int((max([0.0, *real]) + 1e-6) // multiple * multiple)


def edge(start: int, multiple: int, fits: Callable[[int], bool], ratio: float = STEP) -> int:
    """A size that fits where one larger by ``ratio`` does not; 0 where none fits.

    From ``start`` on in steps that double, then by halving what is left between: few tries, because each takes long.

    >>> edge(100, 1, lambda size: size < 130, 0.1)
    121
    """

    def rounded(size: float) -> int:
        return round(size / multiple) * multiple

    fitting, beyond, step = 0, 0, 1 + ratio
    size = max(start, multiple)
    while not (fitting and beyond):
        if fits(size):
            fitting, size = size, max(rounded(size * step), size + multiple)
        elif size <= multiple:
            return 0
        else:
            beyond, size = size, max(min(rounded(size / step), size - multiple), multiple)
        step *= step
    while beyond > max(fitting * (1 + ratio), fitting + multiple):
        size = min(max(rounded((fitting * beyond) ** 0.5), fitting + multiple), beyond - multiple)
        fitting, beyond = (size, beyond) if fits(size) else (fitting, size)
    return fitting


def limits(sizes: Sizes) -> list[Entry]:
    """Longest sequence and largest model: tried for 24 GiB or what this machine has, computed for what is larger."""
    tiny = sizes.turns == 1
    return [found for question in questions(tiny) for found in answered(question, 0 if tiny else triable())]


def triable() -> int:
    """GiB that are tried: 24 where this machine has them to spare."""
    has = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIB
    return min(MEMORIES[0], int(SHARE * has))


def answered(question: Question, gib: int) -> list[Entry]:
    """The size for ``gib`` GiB, tried, unless it is 0, and those for larger memories by all that was measured."""
    points = {size: apart(question.spec(size), 2) for size in question.small}

    def fits(size: int) -> bool:
        point = within(question.spec(size), gib * GIB)
        if point is not None:
            points[size] = point
        return point is not None

    def predicted(gib: int) -> int:
        # the largest alone: below some 100 MiB an allocator keeps more than it needs
        known = sorted(points)[-question.degree - 2 :]
        memory = [points[size].memory for size in known]
        return fitting(known, memory, question.degree, gib * GIB, question.multiple)

    def entry(gib: int, size: int, how: str, said: str) -> Entry:
        known = sorted(points)
        law = np.polyfit(known, [question.result(points[one]) for one in known], question.degree)
        what = f"{question.what}: {said} {gib} GiB ({size} {question.sizes})"
        return fixed(f"{question.name}/{gib}", what, round(float(np.polyval(law, size))), question.unit, how)

    found = []
    if gib:
        size = edge(predicted(gib), question.multiple, fits)
        found.append(entry(gib, size, "tried", "two steps were made within"))
    larger = [memory for memory in MEMORIES if memory > gib]
    return [*found, *(entry(memory, predicted(memory), "computed", "would need") for memory in larger)]


def within(spec: Spec, limit: int) -> Point | None:
    """Two steps of a training in so many bytes of memory; None where they do not fit."""
    try:
        return apart(spec, 2, limit)
    except (RuntimeError, MemoryError, BrokenProcessPool):
        return None

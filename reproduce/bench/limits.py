"""The longest sequence and the largest model whose training step fits a memory: tried, and computed for a larger one.

Small sizes are measured first; memory is a polynomial of the size (of degree 1 in tokens, because attention is never
held whole, and 2 in width), and its root is where the memory ends. For what this machine can have, steps near that size
are then really made, in a process that may not hold more.
"""

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
TRIED, COMPUTED = 24, 80
"""GiB."""
STEP = 0.04
"""Between two sizes that are tried, as a part of them: so near the limit is found."""


class Question(NamedTuple):
    """What is made larger until it does not fit."""

    name: str
    what: str
    unit: str
    spec: Callable[[int], Spec]
    small: tuple[int, ...]
    multiple: int
    """Sizes are multiples of it."""
    degree: int
    """Of memory as a polynomial of the size."""
    result: Callable[[Point], int]


def longest(size: int) -> Spec:
    """Numbers of so many digits in the bench's own setting."""
    return problems(speed.SPEC, size, speed.SPEC.data.task.most)


def largest(size: int) -> Spec:
    """Six layers of this width, as published, on the bench's own problems."""
    model = {"layers": 6, "heads": 8, "width": size, "head_dim": size // 8, "ff_width": 2 * size}
    return change(speed.SPEC, model=model)


def questions(tiny: bool) -> tuple[Question, Question]:
    """Both; where ``tiny``, at sizes that take no time."""
    shape = f"batch {speed.SPEC.train.batch}"
    layers, width = speed.SPEC.model.layers, speed.SPEC.model.width
    digits, widths = ((2, 3), (16, 32, 48)) if tiny else ((40, 80, 160), (256, 512, 768, 1024))
    return (
        Question(
            "longest_sequence",
            f"tokens of one sequence, {speed.SPEC.data.task.most} operands, {layers} layer, width {width}, {shape}",
            "tokens",
            longest,
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
    """The largest size that fits of those that are ``start`` times powers of 1 + ``ratio``, found from there on.

    >>> edge(100, 1, lambda size: size < 130, 0.1)
    121
    """

    def moved(size: int, up: bool) -> int:
        far = size * (1 + ratio) if up else size / (1 + ratio)
        near = size + multiple if up else size - multiple
        rounded = round(far / multiple) * multiple
        return max(rounded, near) if up else min(rounded, near)

    size = start
    if fits(size):
        while fits(further := moved(size, True)):
            size = further
        return size
    while (size := moved(size, False)) > 0:
        if fits(size):
            return size
    return 0


def limits(sizes: Sizes) -> list[Entry]:
    """Longest sequence and largest model for 24 GiB, tried, and for 80 GiB, computed."""
    tiny = sizes.turns == 1
    found = []
    for question in questions(tiny):
        points = [apart(question.spec(size), 2) for size in question.small]
        results = [question.result(point) for point in points]
        memory = [point.memory for point in points]

        def at(gib: int, question: Question = question, memory: Sequence[float] = memory) -> int:
            return fitting(question.small, memory, question.degree, gib * GIB, question.multiple)

        def tokens_or_parameters(size: int, question: Question = question, results: Sequence[int] = results) -> int:
            return round(float(np.polyval(np.polyfit(question.small, results, question.degree), size)))

        if not tiny:
            size = edge(at(TRIED), question.multiple, lambda size, question=question: fits(question.spec(size)))  # type: ignore[misc]
            what = f"{question.what}: made two steps within {TRIED} GiB ({_named(question, size)})"
            found.append(fixed(f"{question.name}/{TRIED}", what, tokens_or_parameters(size), question.unit, "tried"))
        size = at(COMPUTED)
        what = f"{question.what}: would need {COMPUTED} GiB ({_named(question, size)})"
        found.append(fixed(f"{question.name}/{COMPUTED}", what, tokens_or_parameters(size), question.unit, "computed"))
    return found


def _named(question: Question, size: int) -> str:
    return f"{size} digits" if question.name == "longest_sequence" else f"width {size}"


def fits(spec: Spec) -> bool:
    """Whether two steps of a training can be made within `TRIED` GiB."""
    try:
        apart(spec, 2, TRIED * GIB)
    except (RuntimeError, MemoryError, BrokenProcessPool):
        return False
    return True

"""Measures that only statements of this paper name."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from lengen.metrics.run_measures import Family, Measure, Missing, OfRun, short, stored
from lengen.results.records import Run

STRETCHES = {
    "trained": "up to the trained length",
    "beyond": "from there to twice the trained length",
    "far": "beyond twice the trained length",
}
"""Digits of a probe, units first, that a share of attention is averaged over."""
NEAR = 1
"""Places to both sides of a digit that count as looking at it."""


def shares_near(cross: np.ndarray, units: list[int], digits: range) -> np.ndarray:
    """Return (heads,) share of cross-attention within one place of the digits to be written, averaged over them.

    Figures 2, 8 and 9 of "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic
    Transformers" show heads whose attention follows the anti-diagonal; here that is a number. Row i of an attention
    matrix writes the digit of significance i, which stands i places left of the units of every operand.

    Args:
        cross: (heads, rows, source places), softmax weights.
        units: source places of the operands' units.
        digits: significances to be written, from 0.

    >>> cross = np.zeros((1, 2, 4))  # source $ 1 2 $
    >>> cross[0, 0, 2], cross[0, 1, 3] = 1.0, 1.0  # the units are read when they are written, the tens are not
    >>> shares_near(cross, [2], range(1)).tolist(), shares_near(cross, [2], range(2)).tolist()
    ([1.0], [0.5])
    """
    _, _, columns = cross.shape
    rows = np.array(digits)
    places = np.arange(columns)
    near = np.zeros((len(rows), columns), dtype=bool)
    for unit in units:
        near |= np.abs(places - (unit - rows[:, None])) <= NEAR
    shares: np.ndarray = (cross[:, rows].astype(float) * near).sum(axis=2).mean(axis=1)
    return shares


def follows(stretch: str) -> Measure:
    """Return `shares_near` over one of `STRETCHES` of the head with the largest share in the first.

    KeyError for another.
    """
    words = STRETCHES[stretch]

    def value(run: Run) -> tuple[float, int]:
        return followed(run, stretch), 1

    return OfRun(f"attention within {NEAR} place of the digit to be written, {words}", value)


def followed(run: Run, stretch: str) -> float:
    """Return `shares_near` over one of `STRETCHES`, of the head with the largest share in the first.

    It is measured on the probe with the longest operand; zeros that pad it are no digits to be written. Raises
    `Missing` without such a probe.
    """
    numbers = [int(name[5:].partition(".")[0]) for name in run.arrays if name.startswith("probe")]
    if not numbers:
        raise Missing(f"{short(run.experiment)} recorded no attention on a printed example")
    probes = {number: _operands(stored(run, f"probe{number}.source")) for number in sorted(set(numbers))}
    chosen = max(probes, key=lambda number: max(size for _, size in probes[number]))
    trained, longest = run.spec.data.task.longest, max(size for _, size in probes[chosen])
    edges = {"trained": (0, trained), "beyond": (trained, min(2 * trained, longest)), "far": (2 * trained, longest)}
    start, end = edges[stretch]
    if end <= start:
        raise Missing(f"{short(run.experiment)}: its probes have {longest} digits, none {STRETCHES[stretch]}")
    cross, units = stored(run, f"probe{chosen}.cross"), [unit for unit, _ in probes[chosen]]
    best = int(shares_near(cross, units, range(trained)).argmax())
    return float(shares_near(cross, units, range(start, end))[best])


def operands(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return first place and one past the last of every operand: the runs of digits.

    >>> operands(list("$07+15$"))
    [(1, 3), (4, 6)]
    """
    return [match.span() for match in re.finditer(r"[^\W_]+", "".join(tokens))]


def _operands(source: np.ndarray) -> list[tuple[int, int]]:
    """Return (place of the units, digits without leading zeros) of every number of a source."""
    text = "".join(source.tolist())
    return [(stop - 1, len(text[start:stop].lstrip("0"))) for start, stop in operands(text)]


MEASURES: Mapping[str, Measure | Family] = {"follows": follows}

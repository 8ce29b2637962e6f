"""Intervals that cover both what was tested and what was trained: examples and seeds together; plain numbers, no torch.

Values of trainings enter, one 95 % interval for a weighted sum of them leaves: a level is a sum of one term, a
difference one of two, a difference of differences one of four. The two sources of chance are independent, so the
distances of the ends from the value add in squares (the method of variance estimates recovery of Zou and Donner 2008,
of which Newcombe's interval for two proportions is the case of one training each).
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from lengen.intervals import Interval

LEVEL = 0.95
"""Confidence of every interval here."""


class Deviation(NamedTuple):
    """Standard deviation between seeds of one kind of measure, pooled over experiments."""

    of: float
    degrees: int
    """Degrees of freedom: seeds less experiments."""


class Term(NamedTuple):
    """One value in a weighted sum."""

    weight: float
    value: float
    examples: Interval
    """The 95 % interval over the examples tested, which says nothing of other seeds; of width zero where nothing was
    drawn."""
    seeds: Sequence[float]
    """The value of each seed; their mean is ``value`` up to the weight of examples."""
    runs: int = 0
    """Trainings behind the value where they are more than seeds (several experiments together); 0: as many."""
    pooled: Deviation | None = None
    """What is known of the spread of seeds from other experiments; None: only the seeds themselves."""


def combined(terms: Sequence[Term]) -> Interval:
    """The 95 % interval of the sum of weighted values, over examples and seeds.

    What the seeds add is the wider of two: Student's interval of the terms' own seeds, with the degrees of freedom of
    Welch and Satterthwaite, and that of the pooled deviation, with its own. Three seeds that happen to agree do not
    make an interval narrow, nor do other experiments without any spread; and no width jumps where the one passes the
    other, so a run of another experiment never moves an interval by more than it moves the pool. A term of a single
    seed without a pooled deviation adds nothing for seeds: its interval covers its examples only.

    >>> low, high = combined([Term(1, 0.5, Interval(0.5, 0.5), (0.4, 0.5, 0.6))])
    >>> round(low, 3), round(high, 3)
    (0.252, 0.748)
    """
    value = math.fsum(term.weight * term.value for term in terms)
    below, above = [], []
    for term in terms:
        down, up = term.value - term.examples.low, term.examples.high - term.value
        below.append(abs(term.weight) * (down if term.weight > 0 else up))
        above.append(abs(term.weight) * (up if term.weight > 0 else down))
    seeds = _half_of_seeds(terms)
    return Interval(value - math.hypot(*below, seeds), value + math.hypot(*above, seeds))


def _half_of_seeds(terms: Sequence[Term]) -> float:
    """Half of the interval that the spread between seeds alone would have."""
    parts = [(term.weight**2 * variance(term.seeds) / len(term.seeds), len(term.seeds) - 1) for term in terms]
    own = math.fsum(part for part, _ in parts)
    halves = [0.0]
    if own:
        halves.append(t95(own**2 / math.fsum(part**2 / degrees for part, degrees in parts if part)) * math.sqrt(own))
    known = [(term, term.pooled) for term in terms if term.pooled is not None]
    if known:
        pooled = math.fsum(term.weight**2 * pool.of**2 / (term.runs or len(term.seeds)) for term, pool in known)
        degrees = max(sum(degrees for _, degrees in parts), min(pool.degrees for _, pool in known))
        halves.append(t95(degrees) * math.sqrt(pooled))
    return max(halves)


def variance(values: Sequence[float]) -> float:
    """Sample variance; exactly 0 of equal values, and of a single one, of which nothing is known."""
    if len(set(values)) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def pool(groups: Sequence[Sequence[float]]) -> Deviation | None:
    """The deviation between seeds over several experiments, each around its own mean; None where none has two.

    >>> pool([(0.1, 0.3), (0.9, 0.7), (0.5,), ()])
    Deviation(of=0.1414..., degrees=2)
    """
    several = [values for values in groups if len(values) > 1]
    degrees = sum(len(values) - 1 for values in several)
    squares = math.fsum(variance(values) * (len(values) - 1) for values in several)
    return Deviation(math.sqrt(squares / degrees), degrees) if degrees > 0 else None


def t95(degrees: float) -> float:
    """Quantile of Student's t for a two-sided interval of 95 %; between whole degrees of freedom, in which it has a
    closed form, linear in their inverse, which is at most 0.06 above it from two degrees on.

    >>> round(t95(2), 3), round(t95(2.5), 3), round(t95(30), 3)
    (4.303, 3.631, 2.042)

    Raises:
        ValueError: without a degree of freedom.
    """
    if degrees < 1:
        raise ValueError(f"t95: expected at least one degree of freedom, got {degrees}")
    below = math.floor(degrees)
    if below == degrees:
        return _quantile(below)
    nearness = below * (below + 1 - degrees) / degrees  # of 1 / degrees to 1 / below, on the way from 1 / (below + 1)
    return _quantile(below + 1) + nearness * (_quantile(below) - _quantile(below + 1))


@cache
def _quantile(degrees: int) -> float:
    """By bisection of the distribution."""
    low, high = 1.9, 13.0  # beyond the normal quantile 1.96 and that of one degree of freedom, 12.71
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < LEVEL else (low, middle)
    return (low + high) / 2


def _within(t: float, degrees: int) -> float:
    """P(-t < T < t) for Student's T with whole degrees of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    term, total = (math.cos(angle), 0.0) if odd else (1.0, 0.0)
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= math.cos(angle) ** 2 * k / (k + 1)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total

"""Measures of this paper alone: next-token statistics, when and in which order things are learned."""

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from lengen.metrics.measures import ByLength, Family, Measure, Missing, OfRun, short, stored, trained
from lengen.results.records import Run

ENDS = {"allowed": "end token allowed", "suppressed": "end token suppressed"}
TOKENS = {
    "entropy": "entropy of the next token, nats",
    "end": "probability of the end token",
    "correct": "probability of the correct token",
}


def _uncertainty(name: str) -> Measure:
    """``<end>.<what>``: mean over the places of an answer, each weighted by the prompts still being answered there."""
    end, _, what = name.partition(".")
    words = f"{TOKENS[what]}, {ENDS[end]}"
    row, column = list(ENDS).index(end), list(TOKENS).index(what)

    def value(run: Run, length: int) -> tuple[float, int]:
        prompts = stored(run, f"uncertainty_prompts.{length}")[row]
        means = stored(run, f"uncertainty.{length}")[row, column, 0].astype(float)
        return float((means[prompts > 0] * prompts[prompts > 0]).sum()), int(prompts.sum())

    return ByLength(words, value)


FALLEN = math.log(10) / 2
"""A digit's loss counts as fallen at half of what a blind guess among ten digits costs, in nats."""


def crossed_at(curve: Sequence[tuple[float, float]], level: float, *, falling: bool = False) -> float:
    """First step at which a curve was at least ``level``, or ``falling`` at most, interpolated between evaluations;
    infinite where it never was.

    >>> crossed_at([(100, 0.5), (200, 1.0)], 0.9), crossed_at([(100, 0.5)], 0.9)
    (180.0, inf)
    >>> round(crossed_at([(100, 2.0), (200, 1.0)], FALLEN, falling=True), 1)
    184.9
    """

    def there(value: float) -> bool:
        return value <= level if falling else value >= level

    if curve and there(curve[0][1]):
        return curve[0][0]
    for (a, before), (b, after) in itertools.pairwise(curve):
        if there(after):
            return a + (b - a) * (level - before) / (after - before)
    return math.inf


def most_significant_first(falls: Mapping[int, float]) -> tuple[float, int]:
    """Pairs of places of which the more significant fell first (a tie counts half), and the pairs of which one fell.

    ``falls`` gives the step at which each place fell, 1 for units. Their ratio is 1 where digits are learned from the
    most significant down, 0 from the least significant up, and 0.5 where the order has nothing to do with the place
    (it is (1 + tau) / 2 of Kendall's tau).
    """
    places = sorted(falls)
    pairs = [(falls[a], falls[b]) for i, a in enumerate(places) for b in places[i + 1 :]]
    told = [(low, high) for low, high in pairs if min(low, high) < math.inf]
    return sum(1.0 if high < low else 0.5 if high == low else 0.0 for low, high in told), len(told)


def digit_order(family: str) -> OfRun:
    """``order.<family>``: whether losses ``<family>.<place>`` of metrics.csv fall most significant place first.

    Of a sum only the places that operands have: the one that a last carry adds is always 1, and learned at once.
    """

    def value(run: Run) -> tuple[float, int]:
        curves: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for step, name, loss in run.metrics:
            head, _, place = name.rpartition(".")
            if head == family and int(place) <= trained(run).length:
                curves[int(place)].append((step, loss))
        falls = {place: crossed_at(sorted(curve), FALLEN, falling=True) for place, curve in curves.items()}
        right, pairs = most_significant_first(falls)
        if not pairs:
            raise Missing(f"{short(run.experiment)}, seed {run.seed}, learned no digit: {family} did not fall")
        return right, pairs

    words = f"pairs of places of which the more significant is learned first ({family.replace('_', ' ')})"
    return OfRun(words, value)


MASTERED = 0.9
"""Exact match from which on a sub-task counts as learned."""


def learned_at(name: str) -> OfRun:
    """``learned_at.<sub-task>``: steps until it was learned at the longest trained length; all steps where it never
    was."""

    def value(run: Run) -> tuple[float, int]:
        curve = [(step, accuracy) for step, found, accuracy in run.metrics if found == f"subtask.{name}"]
        if not curve:
            raise Missing(f"{short(run.experiment)}, seed {run.seed}, followed no sub-task {name}")
        return min(crossed_at(sorted(curve), MASTERED), max(step for step, _ in curve)), 1

    return OfRun(f"steps until {name} is learned", value)


MEASURES: Mapping[str, Measure | Family] = {
    "uncertainty": _uncertainty,
    "order": digit_order,
    "learned_at": learned_at,
}

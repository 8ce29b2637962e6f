"""Measures named by a family and what runs stored: ``hits.early_end``, ``values.entropy``, ``order.digit_loss``.

A name enters, a `Measure` leaves. Runs name their arrays and scalars themselves, so a mistyped name shows only when a
run that lacks it is measured, as `Missing`.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lengen.records import Run
from reproduce.comparison.measures import MEASURES, Measure, Missing, short
from reproduce.comparison.regions import Cell, trained


def _scalar(name: str) -> Measure:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        scalars: Any = run.info.get("scalars", {})
        value = scalars.get(name)
        if value is None:
            raise Missing(
                f"run.json of {short(run.experiment)}, seed {run.seed}, holds no scalar {name}: "
                "left out where it has no meaning, as after a training that never converged"
            )
        return float(value), 1

    return Measure(name.replace("_", " "), counts, proportion=False, by_cell=False)


def _array(family: str, proportion: bool) -> Callable[[str], Measure]:
    """One value per test example, stored by length; a value that is not a number belongs to no example."""

    def measure(name: str) -> Measure:
        def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
            found = [_stored(run, f"{family}.{name}.{cell[0]}") for cell in cells]
            kept = [values[~np.isnan(values)] for values in found]
            return sum(float(values.sum(dtype=float)) for values in kept), sum(map(len, kept))

        return Measure(name.replace("_", " ").replace(".", ", "), counts, proportion, by_mode=False)

    return measure


def _stored(run: Run, name: str) -> np.ndarray:
    if name not in run.arrays:
        raise Missing(f"{short(run.experiment)} holds no array {name}")
    return run.arrays[name]


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

    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        top, n = 0.0, 0
        for cell in cells:
            prompts = _stored(run, f"uncertainty_prompts.{cell[0]}")[row]
            means = _stored(run, f"uncertainty.{cell[0]}")[row, column, 0].astype(float)
            top += float((means[prompts > 0] * prompts[prompts > 0]).sum())
            n += int(prompts.sum())
        return top, n

    return Measure(words, counts, proportion=False, by_mode=False)


FALLEN = math.log(10) / 2
"""A digit's loss counts as fallen at half of what a blind guess among ten digits costs, in nats."""


def fallen_at(curve: Sequence[tuple[float, float]]) -> float:
    """First step at which a loss was at most `FALLEN`, interpolated between evaluations; infinite where it never was.

    >>> round(fallen_at([(100, 2.0), (200, 1.0)]), 1), fallen_at([(100, 2.0)])
    (184.9, inf)
    """
    if curve and curve[0][1] <= FALLEN:
        return curve[0][0]
    for (a, high), (b, low) in itertools.pairwise(curve):
        if low <= FALLEN:
            return a + (b - a) * (high - FALLEN) / (high - low)
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


def _order(family: str) -> Measure:
    """``order.<family>``: whether losses ``<family>.<place>`` of metrics.csv fall most significant place first.

    Of a sum only the places that operands have: the one that a last carry adds is always 1, and learned at once.
    """

    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        curves: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for step, name, value in run.metrics:
            head, _, place = name.rpartition(".")
            if head == family and int(place) <= trained(run).length:
                curves[int(place)].append((step, value))
        right, pairs = most_significant_first({place: fallen_at(sorted(curve)) for place, curve in curves.items()})
        if not pairs:
            raise Missing(f"{short(run.experiment)}, seed {run.seed}, learned no digit: {family} did not fall")
        return right, pairs

    words = f"pairs of places of which the more significant is learned first ({family.replace('_', ' ')})"
    return Measure(words, counts, proportion=False, by_cell=False)


FAMILIES: Mapping[str, Callable[[str], Measure]] = {
    "scalar": _scalar,
    "hits": _array("hits", True),
    "values": _array("values", False),
    "uncertainty": _uncertainty,
    "order": _order,
}
"""What they read: numbers of run.json (scalar); from arrays.npz, by length, 0 or 1 (hits) or a number (values) per
example, and next-token statistics (uncertainty); losses of metrics.csv (order)."""


def measure_of(name: str) -> Measure:
    """The measure of that name; raises KeyError where there is none."""
    family, dot, rest = name.partition(".")
    return FAMILIES[family](rest) if dot else MEASURES[name]

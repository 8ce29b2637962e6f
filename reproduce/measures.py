"""What is measured on a finished run, and on which test cells.

A `Run` enters, a `Sample` leaves: one value per seed and, for proportions, the pooled counts. Regions are predicates on
(trained range, cell); the trained range is read from the run's own specification, never from a name.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lengen.records import KeyCount, Run
from lengen.spec import Spec
from lengen.statistics import Interval, wilson

Cell = tuple[int, ...]


class Missing(Exception):
    """A measure that the runs at hand cannot give; the message says what is not there."""

    def __init__(self, reason: str, absent: bool = False) -> None:
        super().__init__(reason)
        self.absent = absent
        """The experiment has no size at this profile at all, so nothing can be run."""


class Trained(NamedTuple):
    """Trained range: operand length and second axis (operands, digits of the second factor; 1 for parity)."""

    length: int
    second: int


def trained(run: Run) -> Trained:
    """The trained range of a run, from its own specification."""
    data: Mapping[str, Any] = run.info["spec"]["data"]  # type: ignore[index]
    return Trained(int(data["length"]), int(data["count"]))


def _count(cell: Cell) -> int:
    return cell[1] if len(cell) > 1 else 1


REGIONS: Mapping[str, Callable[[Trained, Cell], bool]] = {
    "all": lambda t, c: True,
    "in_range": lambda t, c: c[0] <= t.length and _count(c) <= t.second,
    "outside": lambda t, c: c[0] > t.length or _count(c) > t.second,
    "longer": lambda t, c: c[0] > t.length and _count(c) <= t.second,
    "more": lambda t, c: c[0] <= t.length and _count(c) > t.second,
    "both": lambda t, c: c[0] > t.length and _count(c) > t.second,
    "far": lambda t, c: c[0] >= 2 * t.length or _count(c) >= 2 * max(t.second, 2),
    "one_short": lambda t, c: (c[0] > t.length and _count(c) <= 2) or (_count(c) > t.second and c[0] <= 2),
    "trained_length": lambda t, c: c[0] == t.length and _count(c) <= t.second,
    "just_beyond": lambda t, c: t.length + 2 <= c[0] <= t.length + 4 and _count(c) <= t.second,
    "longest": lambda t, c: c[0] > t.length,
}
"""Test cells by the trained range: longer operands only, more operands only, both, twice as far on either axis, beyond
it on one axis with at most 2 on the other, at its longest operand, or a little beyond that. One digit beyond is left
out there: training numbers drawn up to 2^20 include some of 7 digits. Of "longest" `cells_of` keeps the longest."""

REGION_WORDS = {
    "all": "all tested cells",
    "in_range": "cells in the trained range",
    "outside": "cells outside the trained range",
    "longer": "longer than trained, count in range",
    "more": "more than trained, length in range",
    "both": "beyond the trained range on both axes",
    "far": "at least twice the trained range",
    "one_short": "beyond the trained range on one axis, at most 2 on the other",
    "trained_length": "at the longest trained length",
    "just_beyond": "two to four longer than trained",
    "longest": "at the longest tested length",
}


@dataclass(frozen=True)
class Measure:
    """``counts`` gives (numerator, denominator) of a run over cells; their ratio is the value."""

    words: str
    counts: Callable[[Run, Iterable[Cell], str], tuple[float, int]]
    proportion: bool = True
    """The numerator counts successes among the denominator, so Wilson intervals hold."""
    by_cell: bool = True
    """Depends on the region; other measures see the whole run."""


def _sum(name: str, per: str) -> Callable[[Run, Iterable[Cell], str], tuple[int, int]]:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[int, int]:
        top = bottom = 0
        for cell in cells:
            score = run.grid.scores[cell].get(mode)
            if score is None:
                raise Missing(f"{short(run.experiment)} was not scored {mode.replace('_', '-')} at {cell}")
            top += getattr(score, name)
            bottom += getattr(score, per)
        return top, bottom

    return counts


def _mean_keys(rows: Sequence[KeyCount]) -> float:
    return sum(row.keys_sum for row in rows) / max(1, sum(row.steps for row in rows))


def keys_growth(rows: Sequence[KeyCount], focused: bool = False) -> tuple[float, int]:
    """Growth exponent of the keys a step attends to, as operands are added, and the steps it rests on.

    ``keys(m)`` is the number of keys that hold 90 % of the attention of a prediction step, averaged over steps and
    heads of all layers at operand count m. The exponent is log(keys(M) / keys(m)) / log(M / m) between the smallest
    count m and the largest M measured at one operand length (the length with the widest span of counts, then the
    smallest): 0 when the number of keys is constant, 1 when it grows in proportion to the operands.
    ``focused`` keeps the half of the heads (rounded up) that need the fewest keys at M.
    """
    cells: dict[int, dict[int, list[KeyCount]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[row.length][row.count].append(row)
    spans = [(max(counts) / min(counts), -length) for length, counts in cells.items() if len(counts) > 1]
    if not spans:
        raise Missing("keys were not counted at two operand counts of one length")
    counts = cells[-max(spans)[1]]
    few, many = counts[min(counts)], counts[max(counts)]
    if focused:
        by_head = sorted(many, key=lambda row: (row.keys_sum / max(1, row.steps), row.layer, row.head))
        kept = {(row.layer, row.head) for row in by_head[: (len(by_head) + 1) // 2]}
        few, many = ([row for row in side if (row.layer, row.head) in kept] for side in (few, many))
    if not _mean_keys(few) or not _mean_keys(many):
        raise Missing("keys were counted over no step")
    exponent = math.log(_mean_keys(many) / _mean_keys(few)) / math.log(max(counts) / min(counts))
    return exponent, sum(row.steps for row in [*few, *many])


def _keys(focused: bool) -> Callable[[Run, Iterable[Cell], str], tuple[float, int]]:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        try:
            exponent, steps = keys_growth(run.key_counts, focused)
        except Missing as missing:
            raise Missing(f"{short(run.experiment)}: {missing}") from None
        return exponent * steps, steps

    return counts


def _info(name: str, unit: float) -> Callable[[Run, Iterable[Cell], str], tuple[float, int]]:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        value = run.info.get(name)
        if not isinstance(value, (int, float)):
            raise Missing(f"run.json of {short(run.experiment)} holds no {name}")
        return value / unit, 1

    return counts


MEASURES: Mapping[str, Measure] = {
    "exact": Measure("whole response right", _sum("correct", "n")),
    "answer": Measure("final answer right", _sum("answer_correct", "n")),
    "edit": Measure("edits per token", _sum("edit_sum", "reference_tokens"), proportion=False),
    "response_tokens": Measure("tokens of a true response", _sum("reference_tokens", "n"), proportion=False),
    "keys_growth": Measure("growth exponent of keys per step", _keys(False), proportion=False, by_cell=False),
    "focused_keys_growth": Measure(
        "growth exponent of keys per step, focused half of the heads", _keys(True), proportion=False, by_cell=False
    ),
    "parameters": Measure("trainable parameters", _info("parameters", 1), proportion=False, by_cell=False),
    "training_hours": Measure("hours of training", _info("seconds_training", 3600), False, False),
}


SCALAR = "scalar."


def measure_of(name: str) -> Measure:
    """The measure of that name; ``scalar.<name>`` is a number of the whole run, from the scalars of its run.json."""
    if not name.startswith(SCALAR):
        return MEASURES[name]
    scalar = name.removeprefix(SCALAR)
    return Measure(scalar.replace("_", " "), _scalar(scalar), proportion=False, by_cell=False)


def _scalar(name: str) -> Callable[[Run, Iterable[Cell], str], tuple[float, int]]:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        scalars: Any = run.info.get("scalars", {})
        value = scalars.get(name)
        if value is None:
            raise Missing(
                f"run.json of {short(run.experiment)}, seed {run.seed}, holds no scalar {name}: "
                "left out where it has no meaning, as after a training that never converged"
            )
        return float(value), 1

    return counts


@dataclass(frozen=True)
class Sample:
    """One measure of one experiment: a value per seed, and pooled counts where it is a proportion."""

    name: str
    seeds: tuple[float, ...]
    top: float
    n: int
    proportion: bool

    @property
    def value(self) -> float:
        """Pooled over seeds: they have equal test cells, so this is also the mean over seeds."""
        return self.top / self.n if self.n else math.nan

    @property
    def interval(self) -> Interval:
        """Wilson over the pooled examples; for other measures the smallest and largest seed."""
        if self.proportion:
            return wilson(int(self.top), self.n)
        return Interval(min(self.seeds), max(self.seeds))

    def words(self) -> str:
        """``name 0.931 (seeds 0.900 to 0.950)``."""
        spread = f" (seeds {min(self.seeds):.3f} to {max(self.seeds):.3f})" if len(self.seeds) > 1 else ""
        return f"{self.name} {self.value:.3f}{spread}"


def take(name: str, runs: Sequence[Run], measure: str, mode: str, cells: Iterable[Cell]) -> Sample:
    """Measure the runs (one per seed) of one experiment over the given cells; `Missing` where they lack something.

    ``name`` is the experiment asked for; its runs may be stored under another one with the same specification.
    """
    kind = measure_of(measure)
    chosen = list(cells)
    counts = [kind.counts(run, chosen, mode) for run in runs]
    seeds = tuple(top / bottom if bottom else math.nan for top, bottom in counts)
    top, n = sum(top for top, _ in counts), sum(bottom for _, bottom in counts)
    if not n:
        raise Missing(f"{short(name)} was tested on no example there")
    return Sample(short(name), seeds, top, n, kind.proportion)


def cells_of(
    runs: Sequence[Run], region: str, lengths: Sequence[int] = (), counts: Sequence[int] = ()
) -> frozenset[Cell]:
    """Cells that every run tested, inside the region of each run's trained range and the explicit bounds."""
    if not runs:
        return frozenset()
    tested = set(runs[0].grid.scores).intersection(*(run.grid.scores for run in runs[1:]))
    inside, spans = REGIONS[region], {trained(run) for run in runs}
    found = frozenset(
        cell
        for cell in tested
        if all(inside(span, cell) for span in spans)
        and (not lengths or lengths[0] <= cell[0] <= lengths[1])
        and (not counts or counts[0] <= _count(cell) <= counts[1])
    )
    if region == "longest":
        return frozenset(cell for cell in found if cell[0] == max(cell[0] for cell in found))
    return found


def short(experiment: str) -> str:
    """``figure/variant`` of ``paper/figure/variant``."""
    return experiment.split("/", 1)[-1]


def same_spec(run: Run, spec: Spec) -> bool:
    """Whether a run was made with exactly this specification."""
    return run.info.get("spec_hash") == _hash(spec)


@functools.cache
def _hash(spec: Spec) -> str:
    return spec.hash()  # a walk over four dataclasses and JSON: asked for thousands of times in one comparison

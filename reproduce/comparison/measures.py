"""What is measured on a finished run: measures with names of their own.

A run and test cells enter, a numerator and a denominator leave; their ratio is the value. Measures that read what a run
stored under a name of its own stand in `comparison.families`; what becomes of the counts, in `comparison.samples`.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengen.records import KeyCount, Run
from reproduce.comparison.regions import Cell

Counts = Callable[[Run, Iterable[Cell], str], tuple[float, int]]


class Missing(Exception):
    """A measure that the runs at hand cannot give; the message says what is not there."""

    def __init__(self, reason: str, absent: bool = False) -> None:
        super().__init__(reason)
        self.absent = absent
        """The experiment has no size at this profile at all, so nothing can be run."""


@dataclass(frozen=True)
class Measure:
    """``counts`` gives (numerator, denominator) of a run over cells; their ratio is the value."""

    words: str
    counts: Counts
    proportion: bool = True
    """The numerator counts successes among the denominator, so Wilson intervals hold."""
    by_cell: bool = True
    """Depends on the region; other measures see the whole run."""
    by_mode: bool = True
    """Read from scores, so that the mode matters."""


def _sum(name: str, per: str) -> Counts:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[int, int]:
        top = bottom = 0
        for cell in cells:
            score = run.grid.scores[cell].get(mode)
            if score is None or name not in score:
                raise Missing(f"{short(run.experiment)} was not scored {mode.replace('_', '-')} at {cell}")
            top += int(score[name])
            bottom += int(score[per])
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


def _keys(focused: bool) -> Counts:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        try:
            exponent, steps = keys_growth(run.key_counts, focused)
        except Missing as missing:
            raise Missing(f"{short(run.experiment)}: {missing}") from None
        return exponent * steps, steps

    return counts


def _info(name: str, unit: float) -> Counts:
    def counts(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
        value = run.info.get(name)
        if not isinstance(value, (int, float)):
            raise Missing(f"run.json of {short(run.experiment)} holds no {name}")
        return value / unit, 1

    return counts


def _attention_entropy(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
    """Entropy (nats) of softmax rows from "=" on, summed over layers, heads and rows, and their number.

    The rows before "=" are left out: in the last layer nothing reads them, so no loss has shaped them.
    """
    if run.attention is None:
        raise Missing(f"{short(run.experiment)} recorded no attention")
    tokens, weights = run.attention.tokens, run.attention.weights.astype(float)
    rows = weights[:, :, tokens.index("=") if "=" in tokens else 0 :]
    entropy = -(rows * np.log(np.where(rows > 0, rows, 1))).sum(axis=-1)
    return float(entropy.sum()), entropy.size


def _construction_overlap(run: Run, cells: Iterable[Cell], mode: str) -> tuple[float, int]:
    """`papers.coupling.overlap.digit_heads` of the recorded map."""
    from papers.coupling.overlap import digit_heads  # of one paper: nothing else needs it

    if run.attention is None:
        raise Missing(f"{short(run.experiment)} recorded no attention")
    return digit_heads(run.attention), 1


MEASURES: Mapping[str, Measure] = {
    "exact": Measure("whole response right", _sum("correct", "n")),
    "answer": Measure("final answer right", _sum("answer_correct", "n")),
    "edit": Measure("edits per token", _sum("edit_sum", "reference_tokens"), proportion=False),
    "response_tokens": Measure("tokens of a true response", _sum("reference_tokens", "n"), proportion=False),
    "keys_growth": Measure("growth exponent of keys per step", _keys(False), proportion=False, by_cell=False),
    "focused_keys_growth": Measure(
        "growth exponent of keys per step, focused half of the heads", _keys(True), proportion=False, by_cell=False
    ),
    "attention_entropy": Measure("entropy of attention, nats", _attention_entropy, proportion=False, by_cell=False),
    "construction_overlap": Measure(
        "overlap of attention with Theorem 4.1", _construction_overlap, proportion=False, by_cell=False
    ),
    "parameters": Measure("trainable parameters", _info("parameters", 1), proportion=False, by_cell=False),
    "training_hours": Measure("hours of training", _info("seconds_training", 3600), False, False),
}


def short(experiment: str) -> str:
    """``figure/variant`` of ``paper/figure/variant``."""
    return experiment.split("/", 1)[-1]

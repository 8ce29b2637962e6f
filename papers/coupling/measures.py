"""Measures of this paper alone."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from lengen.metrics.measures import Measure, Missing, OfRun, short
from lengen.results.records import AttentionMap, KeyCount, Run
from papers.coupling.overlap import digit_heads, operands_read


def _mean_keys(rows: Sequence[KeyCount]) -> float:
    return sum(row.keys_sum for row in rows) / max(1, sum(row.steps for row in rows))


def keys_growth(rows: Sequence[KeyCount]) -> tuple[float, int]:
    """Return growth exponent of the keys a step attends to, as operands are added, and the steps it rests on.

    ``keys(m)`` is the number of keys that hold 90 % of the attention of a prediction step, averaged over steps and
    heads of all layers at operand count m. The exponent is log(keys(M) / keys(m)) / log(M / m) between the smallest
    count m and the largest M measured at one operand length (the length with the widest span of counts, then the
    smallest): 0 when the number of keys is constant, 1 when it grows in proportion to the operands.
    """
    cells: dict[int, dict[int, list[KeyCount]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[row.length][row.count].append(row)
    spans = [(max(counts) / min(counts), -length) for length, counts in cells.items() if len(counts) > 1]
    if not spans:
        raise Missing("keys were not counted at two operand counts of one length")
    counts = cells[-max(spans)[1]]
    few, many = counts[min(counts)], counts[max(counts)]
    if not _mean_keys(few) or not _mean_keys(many):
        raise Missing("keys were counted over no step")
    exponent = math.log(_mean_keys(many) / _mean_keys(few)) / math.log(max(counts) / min(counts))
    return exponent, sum(row.steps for row in [*few, *many])


def _keys(run: Run) -> tuple[float, int]:
    try:
        exponent, steps = keys_growth(run.key_counts)
    except Missing as missing:
        raise Missing(f"{short(run.experiment)}: {missing}") from None
    return exponent * steps, steps


def _mapped(measured: Callable[[AttentionMap], float]) -> Callable[[Run], tuple[float, int]]:
    """Return a number of the recorded map; `Missing` if no row of it is measured, as without a scratchpad."""

    def value(run: Run) -> tuple[float, int]:
        if run.attention is None:
            raise Missing(f"{short(run.experiment)} recorded no attention")
        if math.isnan(found := measured(run.attention)):
            raise Missing(f"the attention map of {short(run.experiment)} has no row that this is measured on")
        return found, 1

    return value


MEASURES: Mapping[str, Measure] = {
    "keys_growth": OfRun("growth exponent of keys per step", _keys),
    "construction_overlap": OfRun("overlap of attention with Theorem 4.1", _mapped(digit_heads)),
    "operands_read": OfRun("share of the operands that one head reads at once", _mapped(operands_read)),
}

"""Seeds that have learned what they were trained on; only then what they do beyond it counts."""

from collections.abc import Sequence

from lengen.metrics.learned import has_learned, most_have_learned
from lengen.metrics.measures import LEARNED
from lengen.results.records import Run


def learned(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have learned their trained range; all of them if more than half have not."""
    return [run for run in runs if has_learned(run)] if most_have_learned(runs) else list(runs)


RULE = f"Learned: the 95 % interval of exact match at the edge of the trained range reaches {100 * LEARNED:.0f} %."
"""The rule, for captions."""

"""Seeds that have learned what they were trained on; only then what they do beyond it counts."""

from collections.abc import Sequence

from lengen.metrics.learned import has_learned as one_has_learned
from lengen.metrics.measures import LEARNED
from lengen.results.records import Run


def has_learned(runs: Sequence[Run]) -> bool:
    """Return whether any of the seeds has learned its trained range."""
    return any(map(one_has_learned, runs))


def learned(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have learned their trained range; all of them if none has."""
    return [run for run in runs if one_has_learned(run)] or list(runs)


RULE = f"Not learned: below {LEARNED:.0%} exact match at the edge of the trained range."
"""The rule, for captions."""

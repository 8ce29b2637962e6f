"""Exact match of a run in and outside the range it was trained on."""

import math

from lengen.metrics.measures import shares
from lengen.results.records import Run


def accuracies(done: Run) -> tuple[str, str]:
    """Return `shares` as percentages."""
    inside, outside = ("not tested" if math.isnan(rate) else f"{100 * rate:.1f} %" for rate in shares(done))
    return inside, outside

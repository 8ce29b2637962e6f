"""How well a run did, in two figures: exact match in and outside the range it was trained on."""

import math

import numpy as np

from lengen.measures import trained
from lengen.metrics import EXACT_MATCH
from lengen.records import Run


def accuracies(done: Run) -> tuple[str, str]:
    """Exact match in and outside the trained range over all examples of the tested cells, as percentages."""
    span, cells = trained(done), list(done.grid.scores)
    within = [
        cell for cell in cells if span.holds(np.array(cell[0])).item() and (len(cell) == 1 or cell[1] <= span.second)
    ]
    beyond = [cell for cell in cells if cell not in set(within)]
    rates = [done.grid.total(some, "teacher_forced").rate(EXACT_MATCH.numerator) for some in (within, beyond)]
    inside, outside = ("not tested" if math.isnan(rate) else f"{100 * rate:.1f} %" for rate in rates)
    return inside, outside

"""How well a run did, in two figures: exact match in and outside the range it was trained on."""

import math

from lengen.measures import trained
from lengen.metrics import EXACT_MATCH
from lengen.records import Run


def accuracies(done: Run) -> tuple[str, str]:
    """`shares` as percentages."""
    inside, outside = ("not tested" if math.isnan(rate) else f"{100 * rate:.1f} %" for rate in shares(done))
    return inside, outside


def shares(done: Run) -> tuple[float, float]:
    """Exact match in and outside the trained range over all examples of the tested cells; NaN where none is tested."""
    span, cells = trained(done), list(done.grid.scores)
    within = [cell for cell in cells if span.has(cell)]
    beyond = [cell for cell in cells if not span.has(cell)]
    inside, outside = (done.grid.total(some, "teacher_forced").rate(EXACT_MATCH.numerator) for some in (within, beyond))
    return inside, outside

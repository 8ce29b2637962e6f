"""How well a run did, in two figures: exact match in and outside the range it was trained on."""

import math

from lengen.metrics import EXACT_MATCH
from lengen.records import Run


def accuracies(done: Run) -> tuple[str, str]:
    """Exact match in and outside the trained range over all examples of the tested cells, as percentages."""
    data = done.info["spec"]["data"]  # type: ignore[index]
    cells = list(done.grid.scores)
    lengths = data.get("lengths") or range(1, data["length"] + 1)
    trained = [cell for cell in cells if cell[0] in lengths and (len(cell) == 1 or cell[1] <= data["count"])]
    beyond = [cell for cell in cells if cell not in set(trained)]
    totals = [done.grid.total(some, "teacher_forced") for some in (trained, beyond)]
    rates = [total.rate(EXACT_MATCH.numerator) for total in totals]
    inside, outside = ("not tested" if math.isnan(rate) else f"{100 * rate:.1f} %" for rate in rates)
    return inside, outside

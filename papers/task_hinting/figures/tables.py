"""Tables 1 to 3 as lines by length, and as CSV text: standard and tempered softmax; runs go in, a Figure or text
leaves."""

import csv
import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen.intervals import median
from papers.task_hinting.figures import panels
from papers.task_hinting.figures import words as titles
from papers.task_hinting.figures.panels import EXACT, Runs

HEADER = ("variant", "length", "median_percent", "lowest_percent", "highest_percent", "seeds")
PRINTED = (2.5, 5.0)
"""Lengths of Tables 1 and 2 over the trained one: 50 and 100 of 20."""
TEMPERED = "Tempered softmax: attention logits times β ln n, β learned in every layer, n the tokens a query sees."


def table1(runs: Runs) -> Figure:
    """Table 1: standard and tempered softmax without hints."""
    return _sorting(runs)


def table2(runs: Runs) -> Figure:
    """Table 2: standard and tempered softmax with successor hints."""
    return _sorting(runs)


def table3(runs: Runs) -> Figure:
    """Table 3: increment, standard, with carry hints, and with tempered softmax."""
    points = {name: panels.exact(some) for name, some in runs.items()}
    labels = titles.labels(runs, "hints", "softmax")
    return panels.by_length(runs, points, labels, EXACT, "Numbers plus 1, the answer's units first.", TEMPERED)


def table_csv(runs: Runs) -> str:
    """What a table draws, as CSV text under `HEADER`.

    Rows in the order of the experiments, then by length; per cent with three decimals.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for name, some in runs.items():
        for length, shares in sorted(panels.exact(some).items()):
            values = [100 * share.value for share in shares]
            numbers = [f"{value:.3f}" for value in (median(values), min(values), max(values))]
            writer.writerow([name.rpartition("/")[2], length, *numbers, len(values)])
    return out.getvalue()


def _sorting(runs: Runs) -> Figure:
    points = {name: panels.exact(some) for name, some in runs.items()}
    labels = titles.labels(runs, "softmax", "hints", "size")
    words = dict.fromkeys(titles.hints(some[0]) for some in runs.values() if some)
    hints = f"{' or '.join(words).capitalize()}."
    figure = panels.by_length(runs, points, labels, EXACT, hints, TEMPERED, "Dotted: lengths of the printed table.")
    if any(points.values()):
        tested = {length for some in points.values() for length in some}
        _mark(figure.axes[0], titles.trained(panels.first(runs))[1], tested)
    return figure


def _mark(axes: Axes, longest: int, tested: set[int]) -> None:
    """Vertical lines at the tested lengths that stand to the trained one as the printed ones do."""
    for times in PRINTED:
        length = round(times * longest)
        if length in tested and length == times * longest:
            axes.axvline(length, color="0.4", linestyle=":", linewidth=1, zorder=0.6)
            panels.above(axes, length, f"{times:g} × trained")

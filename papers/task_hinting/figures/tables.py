"""Tables 1 to 3 as lines by length, and as CSV text: standard and tempered softmax."""

from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen.plotting import NONE, Published, Runs, first
from lengen.records import to_table
from papers.task_hinting.figures import panels, words
from papers.task_hinting.figures.panels import EXACT

HEADER = ("variant", "length", "median_percent", "lowest_percent", "highest_percent", "seeds")
PRINTED = (2.5, 5.0)
"""Lengths of Tables 1 and 2 over the trained one: 50 and 100 of 20."""
TEMPERED = "Tempered softmax: attention logits times β ln n, β learned in every layer, n the tokens a query sees."


def table1(runs: Runs, published: Published = NONE) -> Figure:
    """Table 1: standard and tempered softmax without hints."""
    return _sorting(runs, published)


def table2(runs: Runs, published: Published = NONE) -> Figure:
    """Table 2: standard and tempered softmax with successor hints."""
    return _sorting(runs, published)


def table3(runs: Runs, published: Published = NONE) -> Figure:
    """Table 3: increment, standard, with carry hints, and with tempered softmax."""
    labels = words.labels(runs, "hints", "softmax")
    order = "Numbers plus 1, the answer's units first."
    return panels.by_length(runs, panels.exact, labels, EXACT, order, TEMPERED, published=published)


def table_csv(runs: Runs) -> str:
    """What a table draws, as CSV text under `HEADER`.

    Rows in the order of the experiments, then by length; per cent with three decimals.
    """
    rows = []
    for name, some in runs.items():
        for length, values in panels.exact(some).groupby("length")["value"]:
            percents = [100 * value for value in values]
            numbers = [f"{value:.3f}" for value in (median(percents), min(percents), max(percents))]
            rows.append((name.rpartition("/")[2], length, *numbers, len(percents)))
    return to_table(HEADER, rows)


def _sorting(runs: Runs, published: Published) -> Figure:
    labels = words.labels(runs, "softmax", "hints", "size")
    hints = f"{words.said_once(runs, 'hints').capitalize()}."
    printed = "Dotted: lengths of the printed table."
    figure = panels.by_length(runs, panels.exact, labels, EXACT, hints, TEMPERED, printed, published=published)
    tested = panels.lengths({name: panels.exact(some) for name, some in runs.items()})
    if tested:
        _mark(figure.axes[0], words.trained(first(runs))[1], tested)
    return figure


def _mark(axes: Axes, longest: int, tested: list[int]) -> None:
    """Vertical lines at the tested lengths that stand to the trained one as the printed ones do."""
    for times in PRINTED:
        length = round(times * longest)
        if length in tested and length == times * longest:
            axes.axvline(length, color="0.4", linestyle=":", linewidth=1, zorder=0.6)

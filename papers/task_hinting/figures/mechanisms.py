"""Figures 4.15 and 4.16: how often the residual stream shows the two operations, by length; runs go in, a Figure
leaves."""

from matplotlib.figure import Figure

from papers.task_hinting.figures import panels
from papers.task_hinting.figures import words as titles
from papers.task_hinting.figures.panels import Runs


def fig4_15(runs: Runs) -> Figure:
    """Figure 4.15: the delimiter finds the minimum after the first attention."""
    points = {name: panels.hits(some, "minimum") for name, some in runs.items()}
    words = "Hit: the delimiter's largest projection on the decoder basis is the minimum."
    label = "Share of sequences whose\nminimum is found (attention 1)"
    return panels.by_length(runs, points, titles.labels(runs, "hints"), label, words)


def fig4_16(runs: Runs) -> Figure:
    """Figure 4.16: an output token shows itself and its successor after the second attention."""
    points = {name: panels.hits(some, "identity_successor") for name, some in runs.items()}
    words = (
        "Hit: the two largest projections of an output token on the decoder basis are itself and the next larger "
        "number of the sequence. Tokens of one sequence are no independent samples: one seed has no band."
    )
    label = "Share of output tokens that show\nthemselves and the next (attention 2)"
    labels = titles.labels(runs, "hints")
    return panels.by_length(runs, points, labels, label, words, interval=False)

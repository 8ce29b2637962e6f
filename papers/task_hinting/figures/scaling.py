"""Figures 3.2, 3.3 and 3.5: exact match by length, a line a training-set size or a depth; runs go in, a Figure
leaves."""

import matplotlib as mpl
from matplotlib.figure import Figure

from lengen import plotting
from papers.task_hinting.figures import panels
from papers.task_hinting.figures import words as titles
from papers.task_hinting.figures.panels import Look, Runs

ORDERED = mpl.colormaps["viridis"]
"""Sizes and depths have an order: from dark to light."""


def fig3_2(runs: Runs) -> Figure:
    """Figure 3.2: a line a training-set size, without hints."""
    return _scaling(runs, "size", "Training sets by the paper's names.")


def fig3_3(runs: Runs) -> Figure:
    """Figure 3.3: a line a depth, without hints."""
    return _scaling(runs, "depth", _shared_size(runs))


def fig3_5(runs: Runs) -> Figure:
    """Figure 3.5: a line a training-set size, with successor hints."""
    words = "Training sets by the paper's names, split equally among the tasks."
    return _scaling(runs, "size", words)


def _scaling(runs: Runs, fact: str, words: str) -> Figure:
    points = {name: panels.exact(some) for name, some in runs.items()}
    looks = {name: _look(number, len(runs)) for number, name in enumerate(runs)}
    note = f"{_told(runs)} {words}"
    return panels.by_length(runs, points, titles.labels(runs, fact), panels.EXACT, note, looks=looks)


def _look(number: int, of: int) -> Look:
    colour = ORDERED(0.85 * number / max(of - 1, 1))
    return Look(colour, plotting.MARKERS[number % len(plotting.MARKERS)])


def _told(runs: Runs) -> str:
    """The hints that the runs have."""
    words = dict.fromkeys(titles.hints(some[0]) for some in runs.values() if some)
    return f"{' or '.join(words).capitalize()}."


def _shared_size(runs: Runs) -> str:
    words = dict.fromkeys(titles.examples(some[0]) for some in runs.values() if some)
    return f"Training set (1M in the paper): {' or '.join(words)}."

"""Figures 3.2, 3.3, 3.5 and Appendix B: exact match by length, a line a training-set size, a depth, an encoding."""

import matplotlib as mpl
from matplotlib.figure import Figure

from lengen.plotting import MARKERS, METHODS, NONE, Look, Published, Runs, setting
from papers.task_hinting.figures import panels, words

ORDERED = mpl.colormaps["viridis"]
"""Sizes and depths have an order: from dark to light."""


def fig3_2(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 3.2: a line a training-set size, without hints."""
    return _scaling(runs, published, "size", "Training sets by the paper's names.")


def fig3_3(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 3.3: a line a depth, without hints."""
    sizes = dict.fromkeys(words.examples(some[0]) for some in runs.values() if some)
    return _scaling(runs, published, "depth", f"Training set (1M in the paper): {' or '.join(sizes)}.")


def fig3_5(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 3.5: a line a training-set size, with successor hints."""
    return _scaling(runs, published, "size", "Training sets by the paper's names, split equally among the tasks.")


def _scaling(runs: Runs, published: Published, fact: str, note: str) -> Figure:
    last = max(len(runs) - 1, 1)
    looks = {name: Look(ORDERED(0.85 * k / last), MARKERS[k % len(MARKERS)]) for k, name in enumerate(runs)}
    hints = f"{words.said_once(runs, 'hints').capitalize()}."
    labels = words.labels(runs, fact)
    return panels.by_length(runs, panels.exact, labels, panels.EXACT, hints, note, looks=looks, published=published)


def positions(runs: Runs) -> Figure:
    """Appendix B: a line a kind of position embedding, without hints."""
    hints = f"{words.said_once(runs, 'hints').capitalize()}."
    looks = {
        name: METHODS[str(setting(some[0], "encoding"))].look._replace(line=("-", "--", ":")[k % 3])
        for k, (name, some) in enumerate(runs.items())
        if some
    }
    return panels.by_length(runs, panels.exact, words.labels(runs, "positions"), panels.EXACT, hints, looks=looks)

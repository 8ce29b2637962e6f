"""What stands around the panels: legends, footnotes, what is not there and why."""

import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen.records import Run

Runs = Mapping[str, Sequence[Run]]
"""Name of an experiment -> its runs, one per seed; none where it did not run."""
NOT_RUN = "not run at this profile"
MANY = 8
"""Names of missing experiments that a footnote spells out."""


def missing(axes: Axes, name: str, reason: str = NOT_RUN) -> Axes:
    """An empty panel that says whose place it is and why it is empty."""
    axes.set(xticks=[], yticks=[], facecolor="0.97")
    for spine in axes.spines.values():
        spine.set(linestyle=(0, (4, 4)), color="0.6")
    axes.text(0.5, 0.5, f"{name}\n{reason}", ha="center", va="center", color="0.4", size=7, transform=axes.transAxes)
    return axes


def empty(names: Collection[str], reason: str = NOT_RUN) -> Figure:
    """A figure without anything to draw: the experiments it wants, and why they are not here."""
    figure = Figure(figsize=(5.0, 0.16 * len(names) + 1.2), layout="constrained")
    missing(figure.subplots(), "\n".join(names), reason)
    return figure


def first(runs: Runs) -> Run:
    """The first run there is."""
    return next(run for some in runs.values() for run in some)


def distinct(runs: Runs) -> list[Run]:
    """Every run once: experiments with equal specifications share theirs."""
    found = {(run.experiment, run.seed, run.version, run.store): run for some in runs.values() for run in some}
    return list(found.values())


def legend(figure: Figure, lines: Iterable[Axes | Artist], title: str = "", *, wrap: int = 0, columns: int = 1) -> None:
    """Every line, or every labelled line of panels, once, at the right; labels wrapped at ``wrap`` characters."""
    found: dict[str, Artist] = {}
    for item in lines:
        handles = item.get_legend_handles_labels()[0] if isinstance(item, Axes) else [item]
        found |= {str(handle.get_label()): handle for handle in handles if str(handle.get_label()) not in found}
    words = ["\n".join(textwrap.wrap(label, wrap)) if wrap else label for label in found]
    if found:
        figure.legend(
            list(found.values()), words, loc="outside right center", frameon=False, title=title, title_fontsize=7,
            ncols=columns,
        )  # fmt: skip


def outer_labels(grid: np.ndarray) -> None:
    """Leave axis labels at the left and bottom of a grid of panels only; panels without a picture count as absent."""
    for column in grid.T:
        for axes in [axes for axes in column if axes.has_data()][:-1]:
            axes.set_xlabel("")
    for row in grid:
        for axes in [axes for axes in row if axes.has_data()][1:]:
            axes.set_ylabel("")


def footnote(figure: Figure, *notes: str) -> None:
    """Write notes below a figure, wrapped to its width; empty ones are left out."""
    width = int(figure.get_figwidth() * 19)  # characters of 7 points that fit
    lines = [line for note in notes if note for line in textwrap.wrap(note, width)]
    if lines:
        figure.supxlabel("\n".join(lines), fontsize=7, color="0.3")


def absent(runs: Runs) -> list[str]:
    """The notes that name experiments without a run: one, or one a group in braces where there are many."""
    names = [name for name, some in runs.items() if not some]
    if len(names) <= MANY:
        return [not_run(names)]
    start, *rest = braces(name.split("/", 1)[1] for name in names)  # without the paper: some figures are narrow
    return [not_run([start]), *rest]


def not_run(names: Sequence[str]) -> str:
    """The note that names experiments without a run; empty where there are none."""
    return "Not run at this profile: " + ", ".join(names) if names else ""


def not_recorded(runs: Runs, shown: Collection[str], what: str) -> str:
    """The note that names experiments whose runs did not record what is drawn of the ``shown`` ones."""
    names = [name for name, some in runs.items() if some and name not in shown]
    return f"{what}: " + ", ".join(names) if names else ""


def braces(names: Iterable[str]) -> list[str]:
    """The same names, those that differ in one part between hyphens or slashes put together as a shell would.

    >>> braces(["a/1m-add", "a/1m-mix", "a/10m-add", "a/10m-mix", "b/x"])
    ['a/{1m,10m}-{add,mix}', 'b/x']
    """
    found: list[tuple[tuple[str, ...], ...]] = [tuple((part,) for part in re.split("([-/])", name)) for name in names]
    for place in reversed(range(max(map(len, found), default=0))):
        merged: dict[tuple[object, ...], tuple[tuple[str, ...], ...]] = {}
        for parts in found:
            others = (parts[:place], parts[place + 1 :])
            known = merged.get(others)
            if known is not None and place < len(parts):
                parts = (*parts[:place], known[place] + parts[place], *parts[place + 1 :])
            merged[others] = parts
        found = list(merged.values())
    return ["".join(part[0] if len(part) == 1 else f"{{{','.join(part)}}}" for part in parts) for parts in found]

"""Common parts of all drawings: sizes, the experiments that ran and their settings, words of axes, one legend."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from lengen.experiment import Experiment, Runs
from lengen.experiment import Figure as Picture
from lengen.results.records import Run
from lengen.settings.spec import Spec

LENGTHS = {
    "parity": "Bits",
    "running_xor": "Bits",
    "n_by_one": "Digits of first operand",
    **dict.fromkeys(("listops_sm", "listops_max", "listops_min"), "Arguments"),
    "listops": "Digits of the expression",
    "sorting": "Numbers",
    "copy": "Symbols",
    "reverse": "Symbols",
}
"""Label of a length axis by task; else it is digits."""


def length_axis(run: Run) -> str:
    """Return the label of the axis of a run's lengths."""
    return LENGTHS.get(run.spec.data.task.name, "Digits")


def blocks(values: Iterable[int]) -> list[tuple[int, int]]:
    """Return first and last of every block of consecutive whole numbers.

    >>> blocks((1, 2, 3, 4, 6))
    [(1, 4), (6, 6)]
    """
    ranges: list[tuple[int, int]] = []
    for value in sorted(values):
        if ranges and value == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], value)
        else:
            ranges.append((value, value))
    return ranges


def spans(values: Iterable[int]) -> str:
    """Return whole numbers in words, as short as they can be.

    >>> spans((1, 2, 3, 4, 6))
    '1–4, 6'
    """
    pairs = [(low, high, "–" if high > low + 1 else ", ") for low, high in blocks(values)]
    return ", ".join(str(low) if low == high else f"{low}{dash}{high}" for low, high, dash in pairs)


COLUMN, PAGE = 3.3, 6.75
"""Inches of a picture: a column of a paper, or its text."""
LETTER = 7.0
"""Points of the smallest letter."""

FIELD = re.compile(r"\{([\w.]+)\}")


def shown(picture: Picture, runs: Runs) -> list[tuple[Experiment, Sequence[Run]]]:
    """Return the experiments of a picture that have runs, each with them."""
    return [(item, runs[item.name]) for item in picture.experiments if runs.get(item.name)]


def labels(item: Experiment, runs: Sequence[Run]) -> dict[str, str]:
    """Return a dictionary from axis to label of an experiment, with what its runs have for the fields in it."""
    spec = runs[0].spec
    fields = {name: FIELD.sub(lambda field: _read(spec, field[1]), text) for name, text in item.at.items()}
    return {name: ONE.sub(r"1 \1", text) for name, text in fields.items()}


ONE = re.compile(r"\b1 (layer|head)s\b")


def _read(spec: Spec, path: str) -> str:
    value: Any = spec
    for name in path.split("."):
        value = getattr(value, name, None)
    return f"{value:,}" if isinstance(value, int) else str(value)


def label(item: Experiment, runs: Sequence[Run]) -> str:
    """Return the name of an experiment in a picture: the labels of its axes, or else its variant."""
    return ", ".join(filter(None, labels(item, runs).values())) or item.variant.replace("-", " ")


def sheet(width: float, height: float) -> Figure:
    """Return an empty figure."""
    return Figure(figsize=(width, height), layout="constrained")


def titled(drawing: Figure, title: str) -> Figure:
    """Write a title above a picture, in lines of its width."""
    drawing.suptitle(textwrap.fill(title, int(drawing.get_figwidth() * 14.5)))
    return drawing


def empty() -> Figure:
    """Return a picture of which nothing has run."""
    figure = sheet(COLUMN, 1.0)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0.5, 0.5, "no runs", ha="center", va="center", color="0.4", transform=axes.transAxes)
    return figure


def percent(axes: Axes) -> None:
    """Make the vertical axis one from 0 to 100 %, with room for marks at both ends."""
    axes.set_ylim(-0.05, 1.05)
    axes.set_yticks((0, 0.25, 0.5, 0.75, 1))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def lengths_axis(axes: Axes, tested: Sequence[int], runs: Sequence[Run]) -> None:
    """Shade the trained lengths, and put few ticks."""
    made = [run for run in runs if not run.constructed]
    if made:
        for low, high in blocks(made[0].trained.every):
            axes.axvspan(low - 0.4, high + 0.4, color="0.9", zorder=0, linewidth=0)
    if len(tested) <= 6:
        axes.set_xticks(sorted(tested))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def legend_height(names: Sequence[str], width: float) -> float:
    """Return the inches that a legend of these names takes below a figure of this width."""
    return 0.16 * -(-len(names) // _columns(names, width)) + 0.1


def _columns(names: Sequence[str], width: float) -> int:
    return max(1, min(len(names), int((width - 0.1) / (0.46 + 0.056 * max(map(len, names), default=1)))))


def legend(figure: Figure, handles: Sequence[Artist], title: str = "") -> None:
    """Put the one legend below all panels, in as many columns as fit."""
    names = [str(handle.get_label()) for handle in handles]
    if names:
        figure.legend(
            handles, names, loc="outside lower center", ncols=_columns(names, figure.get_figwidth()), frameon=False,
            title=title or None, title_fontsize=7, columnspacing=1.2, handlelength=2.2, borderaxespad=0.2,
        )  # fmt: skip

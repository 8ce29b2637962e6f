"""Figures that no shared drawing makes: projections of one position on two bases, numbers sorted by bits.

A run's arrays hold ``probe0.tokens`` (the text of the prompt and of the sorted output), ``probe0.vocabulary``, and
``probe0.encoder`` and ``probe0.decoder`` (layers, 2, tokens, vocabulary): dot products of the residual stream before
and after the MLP of a layer with the rows of the embedding and with the columns of the output head.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter

from lengen import plotting
from lengen.experiment import Figure as Picture
from lengen.plotting import Published, Runs
from lengen.results.records import Run, to_table
from lengen.settings.sections import NUMBER_FORMATS
from papers.task_hinting.theorem_spec import largest_length

HEADER = ("variant", "length", "median_percent", "lowest_percent", "highest_percent", "seeds")


def table_csv(runs: Runs) -> str:
    """Return exact match by variant and length as CSV text under `HEADER`; per cent with three decimals."""
    rows = []
    for name, group in runs.items():
        for length, values in plotting.values(group, "exact", 1).groupby("length")["value"] if group else ():
            percents = [100 * value for value in values]
            numbers = [f"{value:.3f}" for value in (median(percents), min(percents), max(percents))]
            rows.append((name.rpartition("/")[2], length, *numbers, len(percents)))
    return to_table(HEADER, rows)


# ------------------------------------------------------------------ Figures 4.12 to 4.14: projections

DELIMITER = "⊥"
COLUMNS = (("encoder", 0), ("encoder", 1), ("decoder", 0), ("decoder", 1))
"""Basis and stage of the published plots, from left to right."""
STAGES = ("before MLP", "after MLP")
BLUE, ORANGE, GREEN, *_ = plotting.COLOURS
LOOKS = {"itself": (ORANGE, "o"), "its successor": (BLUE, "^"), "the minimum": (GREEN, "D")}


class Probe(NamedTuple):
    """A probed sequence."""

    tokens: tuple[str, ...]
    vocabulary: tuple[str, ...]
    bases: Mapping[str, np.ndarray]
    """encoder and decoder: (layers, 2, tokens, vocabulary), float32."""

    @property
    def length(self) -> int:
        """Numbers of the input, which is the position of the delimiter."""
        return self.tokens.index(DELIMITER)

    @property
    def ordered(self) -> list[str]:
        """The input, sorted."""
        return sorted(self.tokens[: self.length], key=int)

    def written(self, token: str) -> int:
        """Return the position at which the output has a number for the last time."""
        return self.length + 1 + max(place for place, known in enumerate(self.ordered) if known == token)

    def successor(self, token: str) -> str:
        """Return the next larger number of the input; empty if there is none."""
        return next((known for known in self.ordered if int(known) > int(token)), "")


class View(NamedTuple):
    """A position of a probe, and what is marked there."""

    position: int
    marked: Mapping[str, str]
    """Key of `LOOKS` -> token."""
    framed: tuple[int, int]
    """Layer and column of the plot in which the paper reads the operation."""


def _input(probe: Probe) -> View:
    """Return the third number of the input."""
    place = min(2, probe.length - 1)
    return View(place, {"itself": probe.tokens[place]}, (0, 0))


def _output(probe: Probe) -> View:
    """Return the same number in the output."""
    token = probe.tokens[min(2, probe.length - 1)]
    marked = {"itself": token, "its successor": probe.successor(token)}
    return View(probe.written(token), {word: known for word, known in marked.items() if known}, (1, 2))


def _delimiter(probe: Probe) -> View:
    return View(probe.length, {"itself": DELIMITER, "the minimum": probe.ordered[0]}, (0, 2))


VIEWS = {"fig4.12": _input, "fig4.13": _output, "fig4.14": _delimiter}
"""Figure -> the position that it shows."""


def probed(run: Run) -> Probe | None:
    """Return the first probe of a run, if it has one."""
    names = ("tokens", "vocabulary", "encoder", "decoder")
    if not all(f"probe0.{name}" in run.arrays for name in names):
        return None
    tokens, vocabulary, encoder, decoder = (run.arrays[f"probe0.{name}"] for name in names)
    bases = {"encoder": encoder.astype(np.float32), "decoder": decoder.astype(np.float32)}
    return Probe(tuple(map(str, tokens)), tuple(map(str, vocabulary)), bases)


def projections(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the projections at one position of the first probe that was recorded."""
    probe = next((probe for group in runs.values() for run in group if (probe := probed(run)) is not None), None)
    if probe is None:
        return plotting.empty()
    view = VIEWS[picture.name](probe)
    layers = len(probe.bases["encoder"])
    figure = plotting.sheet(plotting.PAGE, 1.4 * layers + 0.9)
    grid = figure.subplots(layers, len(COLUMNS), squeeze=False, sharex=True)
    places, ticks = _across(probe.vocabulary)
    for layer, row in enumerate(grid):
        for column, (axes, (basis, stage)) in enumerate(zip(row, COLUMNS, strict=True)):
            _plot(axes, places, probe, probe.bases[basis][layer, stage, view.position], view)
            axes.set_xticks(list(ticks), labels=list(ticks.values()))
            axes.set_title(f"{basis} basis,\n{STAGES[stage]}" if layer == 0 else "")
            axes.set_xlabel("Number" if layer == layers - 1 else "")
            if (layer, column) == view.framed:
                for spine in axes.spines.values():
                    spine.set(color=plotting.BLACK, linewidth=2.2)
        row[0].set_ylabel(f"layer {layer + 1}\nDot product")
        for pair in (row[:2], row[2:]):
            _level(pair)
    looks = {f"{token}: {word}": LOOKS[word] for word, token in view.marked.items()}
    handles = [Line2D([], [], color=colour, marker=marker, label=label) for label, (colour, marker) in looks.items()]
    other = Line2D([], [], color="0.35", marker="o", markerfacecolor="white", ls="", label="other inputs")
    plotting.legend(figure, [*handles, other])
    return figure


def _across(vocabulary: Sequence[str]) -> tuple[np.ndarray, dict[int, str]]:
    """Return the place of each symbol: numbers at their value, all others behind a gap, ⊥ first.

    And the labelled places.
    """
    most = max(int(symbol) for symbol in vocabulary if symbol.isdigit())
    others = sorted((symbol for symbol in vocabulary if not symbol.isdigit()), key=lambda symbol: symbol != DELIMITER)
    start, step = most + max(2, round(0.16 * most)), max(1, round(0.05 * most))
    where = {symbol: start + step * place for place, symbol in enumerate(others)}
    every = next(every for every in (1, 2, 5, 10, 20, 50, 100) if most / every <= 4)
    ticks = {tick: str(tick) for tick in range(every, most + 1, every)}
    places = np.array([int(symbol) if symbol.isdigit() else where[symbol] for symbol in vocabulary])
    return places, {**ticks, **{where[symbol]: symbol for symbol in others[:1]}}


def _plot(axes: Axes, places: np.ndarray, probe: Probe, values: np.ndarray, view: View) -> None:
    axes.axhline(0, color="0.6", linewidth=0.6, zorder=1)
    axes.vlines(places, 0, values, color="0.65", linewidth=0.9, zorder=2)
    inputs = [probe.vocabulary.index(token) for token in probe.ordered if token not in view.marked.values()]
    axes.plot(places[inputs], values[inputs], "o", color="0.35", markerfacecolor="white", markersize=2.8, zorder=3)
    for word, token in view.marked.items():
        colour, marker = LOOKS[word]
        at = probe.vocabulary.index(token)
        axes.vlines(places[at], 0, values[at], color=colour, linewidth=1.6, zorder=3)
        axes.plot(places[at], values[at], marker, color=colour, markersize=5, zorder=4)


def _level(pair: Sequence[Axes]) -> None:
    """Give all one vertical scale."""
    low = min(axes.get_ylim()[0] for axes in pair)
    high = max(axes.get_ylim()[1] for axes in pair)
    for axes in pair:
        axes.set_ylim(low, high)


# ------------------------------------------------------------------ Theorem 5.1: numbers sorted, by bits

SOLVED = 0.99
"""Exact match from which on a length counts as sorted."""


def formats(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Return the longest input that the construction sorts, by the bits of its numbers, beside its bound."""
    solved = [
        (getattr(spec.data.task, "alphabet", 0), NUMBER_FORMATS[spec.train.precision].bits, longest)
        for group in runs.values()
        if group and (longest := longest_sorted(group))
        for spec in (group[0].spec,)
    ]
    if not solved:
        return plotting.empty()
    figure = plotting.sheet(plotting.COLUMN, 2.9)
    axes = figure.subplots()
    bound = sorted((held.bits, largest_length(precision)) for precision, held in NUMBER_FORMATS.items())
    handles = axes.plot(*zip(*bound, strict=True), "--", color="0.4", marker="_", label="bound")
    for k, alphabet in enumerate(dict.fromkeys(alphabet for alphabet, *_ in solved)):
        bits, reached = zip(*sorted((b, n) for a, b, n in solved if a == alphabet), strict=True)
        size, colour = max(8 - 3 * k, 2), plotting.COLOURS[k]
        look: Mapping[str, Any] = {"marker": plotting.MARKERS[k], "ls": "", "color": colour, "markersize": size}
        handles += axes.plot(bits, reached, **look, label=f"numbers 1 to {alphabet}")
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    names = {held.bits: held.name for held in NUMBER_FORMATS.values()}
    axes.set_xticks(sorted(names), labels=[f"{value}\n{names[value]}" for value in sorted(names)])
    axes.set(xlabel="Significant bits", ylabel="Numbers sorted")
    plotting.legend(figure, handles)
    return figure


def longest_sorted(runs: Sequence[Run]) -> int:
    """Return the longest tested length that is sorted; 0 if none is."""
    cells = plotting.values(runs, "exact", 1)
    return max((int(length) for length in cells["length"][cells["value"] >= SOLVED]), default=0)

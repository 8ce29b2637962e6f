"""Figures 4.12 to 4.14: one position of a sorted sequence, projected on the two bases.

A run's arrays hold ``probe0.tokens`` (the text of the prompt and of the sorted output), ``probe0.vocabulary``, and
``probe0.encoder`` and ``probe0.decoder`` (layers, 2, tokens, vocabulary): dot products of the residual stream before
and after the MLP of a layer with the rows of the embedding and with the columns of the output head.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengen import plotting
from lengen.plotting import Runs
from lengen.records import Run
from papers.task_hinting.figures import panels, words

DELIMITER = "⊥"
COLUMNS = (("encoder", 0), ("encoder", 1), ("decoder", 0), ("decoder", 1))
"""Basis and stage of the published plots, from left to right."""
STAGES = ("before the MLP", "after the MLP")
LOOKS = {
    "itself": (plotting.COLOURS[1], "o"),
    "its successor": (plotting.COLOURS[0], "^"),
    "the minimum": (plotting.COLOURS[2], "D"),
}
"""Colour and marker of what is marked; black is the frame."""
FRAME = plotting.BLACK


@dataclasses.dataclass(frozen=True)
class Probe:
    """A probed sequence, and the position of it that a figure looks at."""

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
        """Position at which the output has a number for the last time."""
        return self.length + 1 + max(place for place, known in enumerate(self.ordered) if known == token)

    def successor(self, token: str) -> str:
        """The next larger number of the input; empty where there is none."""
        return next((known for known in self.ordered if int(known) > int(token)), "")


@dataclasses.dataclass(frozen=True)
class View:
    """What a figure looks at."""

    position: int
    marked: Mapping[str, str]
    """Key of `LOOKS` -> token."""
    framed: tuple[int, int]
    """Layer and column of the plot in which the paper reads the operation."""
    operation: str
    """How it calls it."""


def fig4_12(runs: Runs) -> Figure:
    """Figure 4.12: the third number of the input."""
    return _projections(runs, _input)


def fig4_13(runs: Runs) -> Figure:
    """Figure 4.13: the same number in the output."""
    return _projections(runs, _output)


def fig4_14(runs: Runs) -> Figure:
    """Figure 4.14: the delimiter."""
    return _projections(runs, _delimiter)


def _input(probe: Probe) -> View:
    place = min(2, probe.length - 1)
    return View(place, {"itself": probe.tokens[place]}, (0, 0), "a noisy copy")


def _output(probe: Probe) -> View:
    token = probe.tokens[min(2, probe.length - 1)]
    marked = {"itself": token, "its successor": probe.successor(token)}
    place = probe.written(token)
    return View(place, {word: known for word, known in marked.items() if known}, (1, 2), "identity + successor")


def _delimiter(probe: Probe) -> View:
    marked = {"itself": DELIMITER, "the minimum": probe.ordered[0]}
    return View(probe.length, marked, (0, 2), "a noisy minimum")


def probed(run: Run) -> Probe | None:
    """The first probe of a run, if it has one."""
    names = ("tokens", "vocabulary", "encoder", "decoder")
    if not all(f"probe0.{name}" in run.arrays for name in names):
        return None
    tokens, vocabulary, encoder, decoder = (run.arrays[f"probe0.{name}"] for name in names)
    bases = {"encoder": encoder.astype(np.float32), "decoder": decoder.astype(np.float32)}
    return Probe(tuple(map(str, tokens)), tuple(map(str, vocabulary)), bases)


def _projections(runs: Runs, look: Callable[[Probe], View]) -> Figure:
    found = [(run, probe) for some in runs.values() for run in some for probe in [probed(run)] if probe is not None]
    if not found:
        return plotting.empty(runs, panels.reason(runs), words.SLUGS)
    run, probe = found[0]
    view = look(probe)
    layers = probe.bases["encoder"].shape[0]
    figure = Figure(figsize=(10.2, 1.75 * layers + 1.3), layout="constrained")
    grid = figure.subplots(layers, len(COLUMNS), squeeze=False, sharex=True)
    places, ticks = _across(probe.vocabulary)
    for layer, row in enumerate(grid):
        for column, (axes, (basis, stage)) in enumerate(zip(row, COLUMNS, strict=True)):
            _plot(axes, places, probe, probe.bases[basis][layer, stage, view.position], view)
            axes.set_xticks(list(ticks), labels=list(ticks.values()))
            if layer == 0:
                axes.set_title(f"{basis.capitalize()} basis,\n{STAGES[stage]}")
            if (layer, column) == view.framed:
                for spine in axes.spines.values():
                    spine.set(color=FRAME, linewidth=2.2)
        row[0].set_ylabel(f"Layer {layer + 1}\nDot product")
        for pair in (row[:2], row[2:]):
            _level(pair)
    for axes in grid[-1]:
        axes.set_xlabel("Number of the vocabulary")
    _legend(figure, probe, view)
    token = probe.tokens[view.position]
    note = (
        f"Token {token} at position {view.position} of {' '.join(probe.tokens)}. Black frame: where the paper reads "
        f"{view.operation}. Right of the numbers: ⊥ and symbols that are no numbers. Seed {run.seed}, the first that "
        f"was recorded. Model: {words.model({'': [run]})}. The plots before and after an MLP share their scale."
    )
    plotting.found(figure, _found(probe, view))
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _found(probe: Probe, view: View) -> str:
    """Where the marked tokens stand among all projections in the plot in which the paper reads the operation."""
    layer, column = view.framed
    basis, stage = COLUMNS[column]
    if layer >= len(probe.bases[basis]):
        return f"The paper reads {view.operation} in layer {layer + 1}, which this model does not have"
    values = probe.bases[basis][layer, stage, view.position]
    order = [probe.vocabulary[place] for place in np.argsort(-values, kind="stable")]
    places = [f"{word} ({token}) number {order.index(token) + 1}" for word, token in view.marked.items()]
    return (
        f"Where the paper reads {view.operation}, of {len(order)} projections on the {basis} basis the largest are "
        f"those on {plotting.listed(order[:2])}; {plotting.listed(places)}"
    )


def _across(vocabulary: Sequence[str]) -> tuple[np.ndarray, dict[int, str]]:
    """Where each symbol stands: numbers at their value, all others behind a gap, ⊥ first; and the labelled places."""
    numbers = [int(symbol) for symbol in vocabulary if symbol.isdigit()]
    most = max(numbers)
    others = sorted((symbol for symbol in vocabulary if not symbol.isdigit()), key=lambda symbol: symbol != DELIMITER)
    start, step = most + max(2, round(0.16 * most)), max(1, round(0.05 * most))
    where = {symbol: start + step * place for place, symbol in enumerate(others)}
    every = next(every for every in (1, 2, 5, 10, 20, 50, 100) if most / every <= 6)
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
        above = values[at] >= 0
        axes.annotate(
            token, (places[at], values[at]), (0, 4 if above else -4), textcoords="offset points", ha="center",
            va="bottom" if above else "top", color=colour, size=7, zorder=5,
        )  # fmt: skip


def _level(pair: Sequence[Axes]) -> None:
    """One vertical scale, with room for the labels at the markers."""
    low = min(axes.get_ylim()[0] for axes in pair)
    high = max(axes.get_ylim()[1] for axes in pair)
    room = 0.12 * (high - low)
    for axes in pair:
        axes.set_ylim(low - room, high + room)


def _legend(figure: Figure, probe: Probe, view: View) -> None:
    handles = []
    for word, token in view.marked.items():
        colour, marker = LOOKS[word]
        handles.append(Line2D([], [], color=colour, marker=marker, label=f"{token}: {word}"))
    handles.append(
        Line2D([], [], color="0.35", marker="o", markerfacecolor="white", markersize=3, ls="", label="other inputs")
    )
    plotting.legend(figure, handles)

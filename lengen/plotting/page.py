"""What stands around the panels: legends, footnotes, what is not there and why."""

import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen.config.experiment import Runs
from lengen.plotting.labels import plural
from lengen.plotting.methods import METHODS
from lengen.plotting.words import alternatives, unbroken
from lengen.records import Run

NOT_RUN = "not run at this profile"
MOST = 60
"""Experiments without a run that a footnote names; of more it says the number."""
Words = Mapping[str, str]
"""Part of the name of an experiment, or a whole variant -> what it means."""
NO_WORDS: Words = {}


def missing(axes: Axes, name: str, reason: str = NOT_RUN) -> Axes:
    """An empty panel that says whose place it is and why it is empty."""
    axes.set(xticks=[], yticks=[], facecolor="0.97")
    for spine in axes.spines.values():
        spine.set(linestyle=(0, (4, 4)), color="0.6")
    axes.text(0.5, 0.5, f"{name}\n{reason}", ha="center", va="center", color="0.4", size=7, transform=axes.transAxes)
    return axes


def empty(names: Iterable[str], reason: str = NOT_RUN, words: Words = NO_WORDS) -> Figure:
    """A figure without anything to draw: the experiments it wants, in words, and why they are not here."""
    wanted = wanted_in_words(names, words)
    figure = Figure(figsize=(5.0, 0.16 * len(wanted) + 1.2), layout="constrained")
    missing(figure.subplots(), "\n".join("\n".join(textwrap.wrap(line, 80)) for line in wanted), reason)
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
    words = ["\n".join(textwrap.wrap(unbroken(label), wrap)) if wrap else label for label in found]
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


def found(figure: Figure, sentence: str) -> None:
    """Say what a figure shows, as its title."""
    if sentence:
        figure.suptitle(f"{sentence[0].upper()}{sentence[1:].rstrip('.')}.")


def footnote(figure: Figure, *notes: str) -> None:
    """Write notes below a figure, wrapped to its width; empty ones are left out."""
    width = int(figure.get_figwidth() * 19)  # characters of 7 points that fit
    lines = [line for note in notes if note for line in textwrap.wrap(unbroken(" ".join(note.split())), width)]
    if lines:
        figure.supxlabel("\n".join(lines), fontsize=7, color="0.3")


def absent(runs: Runs, words: Words = NO_WORDS) -> list[str]:
    """The note that names experiments without a run, in words; none where all have one."""
    return not_run([name for name, some in runs.items() if not some], words)


def not_run(names: Sequence[str], words: Words = NO_WORDS) -> list[str]:
    """The note that names these experiments as not run; none where there are none."""
    if not names:
        return []
    told = "; ".join(wanted_in_words(names, words)) if len(names) <= MOST else f"{len(names)} experiments"
    return [f"Not run at this profile: {told}."]


def not_recorded(runs: Runs, shown: Collection[str], what: str, words: Words = NO_WORDS) -> str:
    """The note that names experiments whose runs did not record what is drawn of the ``shown`` ones."""
    names = [name for name, some in runs.items() if some and name not in shown]
    return f"{what}: {'; '.join(wanted_in_words(names, words))}." if names else ""


def wanted_in_words(names: Iterable[str], words: Words = NO_WORDS) -> list[str]:
    """Experiments in words, those of one figure together, and those that differ in one part as alternatives.

    >>> wanted_in_words(["p/fig3/rope-plain", "p/table4.3/10m-w64", "p/table4.3/10m-w128"], {"plain": "as it is"})
    ['RoPE as it is (Figure 3)', '10M examples, width 64 or 128 (Table 4.3)']
    """
    found: dict[str, list[str]] = {}
    for name in names:
        _, figure, variant = name.split("/")
        found.setdefault(figure, []).append(variant)
    told = []
    for figure, variants in found.items():
        others = [variant for variant in variants if variant not in words]
        some = [words[variant] for variant in variants if variant in words]
        some += [_spoken(parts, words) for parts in merged(others)]
        told.append(f"{', '.join(some)} ({spoken_place(figure) or in_words(figure, words)})")
    return told


def _spoken(parts: "Parts", words: Words) -> str:
    """One variant, or several that differ in some parts."""
    told = [[in_words(one, words) for one in part] for part in parts if part[0] not in ("-", "/")]
    several = any(len(part) > 1 for part in told)
    return (", " if several else " ").join(map(alternatives, told))


def in_words(slug: str, words: Words = NO_WORDS) -> str:
    """A part of the name of an experiment: by these ``words``, as a method, as a size, or as it is.

    >>> in_words("rope"), in_words("10k"), in_words("2L4H"), in_words("w64"), in_words("max", {"max": "largest"})
    ('RoPE', '10K examples', '2 layers, 4 heads', 'width 64', 'largest')
    """
    if slug in words:
        return words[slug]
    if slug in METHODS:
        return METHODS[slug].name.replace("\n", " ")
    if match := re.fullmatch(r"(\d+)([km])", slug, re.IGNORECASE):
        return f"{match[1]}{match[2].upper()} examples"
    if match := re.fullmatch(r"(\d+)L(\d+)H", slug):
        return f"{plural(int(match[1]), 'layer')}, {plural(int(match[2]), 'head')}"
    if match := re.fullmatch(r"[wd](\d+)", slug):
        return f"width {match[1]}"
    return slug.replace("_", " ")


def spoken_place(figure: str) -> str:
    """How a paper calls the place that an experiment is named after; nothing where it has no such name.

    >>> spoken_place("fig4.1"), spoken_place("table2"), spoken_place("thm5.1"), spoken_place("looped")
    ('Figure 4.1', 'Table 2', 'Theorem 5.1', '')
    """
    match = re.fullmatch(r"(fig|table|thm)([A-Z0-9][\w.]*)", figure)
    return f"{ {'fig': 'Figure', 'table': 'Table', 'thm': 'Theorem'}[match[1]] } {match[2]}" if match else ""


Parts = tuple[tuple[str, ...], ...]
"""A name in parts, each with its alternatives, hyphens and slashes among them."""


def merged(names: Iterable[str]) -> list[Parts]:
    """The same names, those that differ in one part between hyphens or slashes put together."""
    found: list[Parts] = [tuple((part,) for part in re.split("([-/])", name)) for name in names]
    for place in reversed(range(max(map(len, found), default=0))):
        together: dict[tuple[object, ...], Parts] = {}
        for parts in found:
            others = (parts[:place], parts[place + 1 :])
            known = together.get(others)
            if known is not None and place < len(parts):
                parts = (*parts[:place], known[place] + parts[place], *parts[place + 1 :])
            together[others] = parts
        found = list(together.values())
    return found

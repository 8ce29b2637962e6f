"""The committed runs of all papers, compared, and the picture of their main statements.

Comparisons enter, SVG text and its alternative text leave. The lines on the right are those of the first
``headline`` that a published.toml has.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengen import __version__
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.compare import Comparison, compare
from reproduce.comparison.last_comparison import HOLDS, MET, WORDS
from reproduce.comparison.setting_distance import SHORTER
from reproduce.comparison.statement_answers import Answer
from reproduce.pages import sentences as say
from reproduce.pages.terminal import LOOKS
from reproduce.store.reference import Reference

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Facts:
    """The committed runs of a checkout, compared."""

    repository: Path
    version: str
    """Of the suite."""
    reference: Reference
    compared: Mapping[str, Comparison]
    """Paper -> its comparison."""
    runs: Mapping[str, Sequence[Run]]
    """Paper -> its runs, without their records."""


def gather(repository: Path) -> Facts:
    """Return the facts of a checkout; raises `StoreError` for a damaged run."""
    reference = Reference(repository / "results")
    papers = CATALOGUE.papers()
    compared = {name: compare(name, [reference]) for name in papers}
    return Facts(repository, __version__, reference, compared, {name: reference.headers(name) for name in papers})


FILE = "overview.svg"
"""Its name in results/."""
WIDTH, HEIGHT = 7.2, 3.9
EASIER = f"holds, {SHORTER}"
SQUARES: Mapping[str, tuple[str, str]] = {
    HOLDS: (LOOKS[HOLDS].fill, LOOKS[HOLDS].sign),
    EASIER: ("#b9dcef", f"({LOOKS[HOLDS].sign})"),
    **{word: (LOOKS[word].fill, LOOKS[word].sign) for word in WORDS if word != HOLDS},
}
"""Answer -> colour and sign of its square."""
DARK = "@media (prefers-color-scheme: dark){svg{filter: invert(.9) hue-rotate(180deg)}}"
"""On a dark page the picture is dark, and its colours are the same."""
BASELINE: Mapping[str, Any] = {"facecolor": "none", "edgecolor": "#333333", "linestyle": "--", "linewidth": 1.2}
"""Around a square whose statement is that baselines fail."""
LETTERS = 11
"""Of a line in a square."""


@dataclass(frozen=True)
class Headline:
    """Lines of published values beside ours."""

    title: str
    lines: Mapping[str, Sequence[tuple[int, float, float]]]
    """Name -> (length, published, ours), shares in percent."""


def look(answer: Answer) -> str:
    """Return the answer, and the distance if it holds on shorter problems alone."""
    return EASIER if (answer.word, answer.distance) == (HOLDS, SHORTER) else answer.word


def shades(answer: Answer) -> list[str]:
    """Return the look of every part of an answer, or that of the whole if all parts have it."""
    return [finding.word for finding in answer.findings] if answer.mixed else [look(answer)]


def headline(compared: Sequence[Comparison]) -> Headline | None:
    """Return the lines of the first paper that declares a headline, with those values that stand beside ours."""
    for comparison in compared:
        for entry in CATALOGUE.published(comparison.paper).get("headline", []):
            lines = {name: _values(comparison, experiment) for name, experiment in entry["lines"]}
            return Headline(entry["title"], {name: values for name, values in lines.items() if values})
    return None


def _values(comparison: Comparison, experiment: str) -> list[tuple[int, float, float]]:
    lines = [line for line in comparison.beside if line.value.experiments == (experiment,) and line.compared]
    return sorted((line.value.lengths[0], line.value.published, line.ours or 0.0) for line in lines)


def shown(compared: Mapping[str, Comparison]) -> list[Comparison]:
    """Return the comparisons with publications; a study of this suite stands apart."""
    return [
        comparison for name, comparison in compared.items() if comparison.answers and not CATALOGUE.paper(name).apart
    ]


def alternative_text(compared: Sequence[Comparison]) -> str:
    """Return the title for those who do not see the picture: every square with its answer, the end of every line."""
    looks = [", ".join(f"{say.name(answer)} ({look(answer)})" for answer in each.answers) for each in compared]
    rows = [f"{numbered(comparison)}: {words}" for comparison, words in zip(compared, looks, strict=True)]
    return f"{'; '.join(rows)}. {right(compared)}".strip()


def right(compared: Sequence[Comparison]) -> str:
    """Return the title of the lines, and the end of each beside the published value."""
    drawn = headline(compared)
    if drawn is None:
        return ""
    last = [(name, *values[-1]) for name, values in drawn.lines.items()]
    ends = [f"{name} at {length}: {ours:.0f} % (published {published:.0f})" for name, length, published, ours in last]
    return f"{drawn.title}: {'; '.join(ends)}."


def numbered(comparison: Comparison) -> str:
    """Return a paper with its number, as ``3 random spaces``."""
    return f"{CATALOGUE.paper(comparison.paper).number} {comparison.paper.replace('_', ' ')}"


def picture(compared: Sequence[Comparison]) -> str:
    """Return the picture as SVG text."""
    from matplotlib.patches import Patch

    from lengen import plotting

    beside = headline(compared)
    with plotting.style():
        figure = plotting.sheet(WIDTH, HEIGHT)
        left, lines = figure.subplots(1, 2, width_ratios=(5.9, 1.9))
        _squares(left, compared)
        lines.set_visible(beside is not None)
        if beside is not None:
            _lines(lines, beside)
        there = {word for comparison in compared for answer in comparison.answers for word in shades(answer)}
        words = [word for word in SQUARES if word in there]
        handles = [Patch(facecolor=SQUARES[word][0], label=f"{SQUARES[word][1]} {word}") for word in words]
        handles.append(Patch(**BASELINE, label="the paper says that a baseline fails"))
        figure.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False)
        drawn = plotting.pictures(figure, ("svg",), alternative_text(compared))["svg"].decode("utf-8")
        return drawn.replace("</style>", f"{DARK}</style>", 1)


def _squares(axes: "Axes", compared: Sequence[Comparison]) -> None:
    """Draw a row of squares per paper, each divided among the parts of its statement."""
    from matplotlib.patches import Rectangle

    most = max(len(comparison.answers) for comparison in compared)
    for row, comparison in enumerate(compared):
        for column, answer in enumerate(comparison.answers):
            looks = [SQUARES[word] for word in shades(answer)]
            width = 0.88 / len(looks)
            for part, (colour, _) in enumerate(looks):
                place = (column - 0.44 + part * width, row - 0.42)
                axes.add_patch(Rectangle(place, width, 0.84, facecolor=colour, edgecolor="none"))
            if answer.statement.baseline:
                axes.add_patch(Rectangle((column - 0.44, row - 0.42), 0.88, 0.84, **BASELINE))
            sign = " ".join(dict.fromkeys(sign for _, sign in looks))
            words = textwrap.fill(say.name(answer), LETTERS)
            axes.text(column, row - 0.28, sign, ha="center", va="center", fontsize=9, weight="bold")
            axes.text(column, row + 0.12, words, ha="center", va="center", fontsize=7, linespacing=1.05)
    axes.set(xlim=(-0.5, most - 0.5), ylim=(len(compared) - 0.5, -0.5))
    axes.set_yticks(range(len(compared)), [textwrap.fill(numbered(comparison), 12) for comparison in compared])
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.set_title("Main statements of four papers" if len(compared) == 4 else "Main statements", loc="left")
    for spine in axes.spines.values():
        spine.set_visible(False)


def _lines(axes: "Axes", drawn: Headline) -> None:
    """Draw ours as lines, published values as hollow marks at the same lengths, dotted in between."""
    from lengen import plotting

    for place, (name, values) in enumerate(drawn.lines.items()):
        lengths, published, ours = zip(*values, strict=True)
        colour, marker = plotting.COLOURS[(7, 0, 1)[place % 3]], plotting.MARKERS[place]
        hollow = {"markersize": 7, "linestyle": "none", "markerfacecolor": "none"}
        for values_of, look in ((ours, {"markersize": 3}), (published, hollow)):
            axes.plot(lengths, values_of, color=colour, marker=marker, clip_on=False, **look)
        for length, there, here in values:
            if abs(there - here) > MET:
                axes.plot((length, length), (there, here), color=colour, linewidth=0.8, linestyle=":")
        level = max(ours[-1], ours[-2]) - min(ours[-1], ours[-2]) < 10 if len(ours) > 1 else True
        axes.text(
            lengths[-1], ours[-1] + (6 if level else -5), name, color=colour, ha="right",
            va="bottom" if level else "top", fontsize=7,
        )  # fmt: skip
    axes.set(ylim=(-6, 118), xlabel="digits (hollow: published)", ylabel="exact match, %")
    axes.set_yticks((0, 25, 50, 75, 100))
    axes.set_title(drawn.title, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)

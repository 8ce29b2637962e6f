"""Every committed picture of a paper on one page: the picture, its caption, and published values beside ours.

Committed SVG files and a comparison enter, Markdown leaves, for a page in docs/ and for the site.
"""

from collections.abc import Sequence
from pathlib import Path

from lengen.experiment import CURVES, GRID, TABLE, Figure
from lengen.metrics.measures import short
from reproduce.comparison.compare import Comparison
from reproduce.comparison.values import Line, Value, number, score
from reproduce.pages.facts import Facts
from reproduce.pages.markdown import folded, table
from reproduce.runs.catalogue import CATALOGUE


def gallery(paper: str, facts: Facts) -> str:
    """Return a section for each figure that has a committed picture."""
    folder = facts.reference.path / paper / "figures"
    found = facts.compared[paper]
    sections = [
        section(path, f"../{path.relative_to(facts.repository).as_posix()}", figure, found, "###")
        for figure in CATALOGUE.figures(paper)
        for path in sorted(folder.glob(f"{figure.name}-*.svg"))
        if path.stem.rpartition("-")[0] == figure.name
    ]
    return "\n\n".join(sections)


def section(path: Path, link: str, figure: Figure, found: Comparison, level: str) -> str:
    """Return a picture under a heading, its caption, and the published values of what it draws beside ours."""
    title, shown, caption = picture(path, link)
    homes = CATALOGUE.homes(found.paper, path.stem.rpartition("-")[2])
    drawn = {homes[name] for name in figure.reads}
    mine = [
        line
        for line in found.beside
        if {homes[name] for name in line.value.experiments} <= drawn and _draws(figure, line.value)
    ]
    parts = [f"{level} {title}", shown, caption or "Nothing has run."]
    if mine:
        met = score(mine)
        summary = f"Published beside ours: {met.within_5} of {met.compared} within 5 points"
        parts.append(folded(summary, values(mine), "markdown"))
    return "\n\n".join(parts)


def picture(path: Path, link: str) -> tuple[str, str, str]:
    """Return the title of a drawn picture, the picture as Markdown and its caption."""
    from lengen.plotting import said

    title, _, caption = said(path.read_bytes()).partition(". ")
    sentences = [f"{sentence.removesuffix('.')}." for sentence in caption.split(". ")]
    mean = next((sentence for sentence in sentences if sentence.startswith("Mean exact match")), "")
    alternative = f"{title}. {mean}".strip().replace("[", "").replace("]", "")
    return title, f"![{alternative}]({link})", caption


def _draws(figure: Figure, value: Value) -> bool:
    """Return True if a figure shows the measure of a published value: exact match, or those of its curves."""
    from lengen.plotting.frames import published_kinds

    measures = {measure for measure, _ in published_kinds(figure.options)}
    if figure.how == CURVES:
        return value.measure in measures
    return bool(measures) and (figure.how in (GRID, TABLE) or "exact_match" in figure.options.get("shares", ()))


def values(lines: Sequence[Line]) -> str:
    """Return a row per experiment and place, and in it published and ours at each length."""
    rows: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        names = ", ".join(map(short, line.value.experiments))
        rows.setdefault((names, line.value.place), []).append(_pair(line))
    return table(
        ["experiment", "where", "length: published, ours (median of all seeds)"],
        ([name, place, "; ".join(pairs)] for (name, place), pairs in rows.items()),
    )


def _pair(line: Line) -> str:
    value = line.value
    return f"{value.at}: {value.printed}, {number(line.ours or 0)} {value.unit}".rstrip()

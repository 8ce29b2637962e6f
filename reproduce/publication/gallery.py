"""Every committed picture of a paper on one page: the picture, its caption, and published values beside ours.

Committed SVG files and a comparison enter, Markdown for a page in docs/ leaves.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from lengen.metrics.measures import short
from lengen.paper.experiment import CURVES, GRID, TABLE, Figure
from reproduce.comparison.compare import Comparison
from reproduce.comparison.values import Line, Value, number, score
from reproduce.markdown import table
from reproduce.publication.facts import Facts
from reproduce.runs.catalogue import CATALOGUE


def gallery(paper: str, facts: Facts) -> str:
    """Return a section for each figure that has a committed picture."""
    folder = facts.reference.path / paper / "figures"
    found = facts.compared[paper]
    sections = [
        _section(path, figure, found, facts.repository)
        for figure in CATALOGUE.figures(paper)
        for path in sorted(folder.glob(f"{figure.name}-*.svg"))
        if path.stem.rpartition("-")[0] == figure.name
    ]
    return "\n\n".join(sections)


def _section(path: Path, figure: Figure, found: Comparison, repository: Path) -> str:
    from lengen.plotting import said

    title, _, caption = said(path.read_bytes()).partition(". ")
    place = path.relative_to(repository).as_posix()
    seen = next((one for one in re.split(r"(?<=\.) ", caption) if one.startswith("Mean exact match")), "")
    alternative = re.sub(r"[\[\]]", "", f"{title}. {seen}".strip())
    parts = [f"### {title}", f"![{alternative}](../{place})", caption or "Nothing has run."]
    homes = CATALOGUE.homes(found.paper, path.stem.rpartition("-")[2])
    drawn = {homes[name] for name in figure.reads}
    mine = [
        line
        for line in found.beside
        if {homes[name] for name in line.value.experiments} <= drawn and _draws(figure, line.value)
    ]
    if mine:
        met = score(mine)
        parts.append(
            f"<details markdown><summary>Published beside ours: {met.within_5} of {met.compared} within 5 points"
            f"</summary>\n\n{values(mine)}\n\n</details>"
        )
    return "\n\n".join(parts)


def _draws(figure: Figure, value: Value) -> bool:
    """Return whether a figure shows what a published value is of: exact match, or the measures of its curves."""
    from lengen.plotting.measured import published_kinds

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

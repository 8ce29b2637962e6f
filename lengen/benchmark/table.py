"""The table of all committed submissions, in docs/benchmark.md."""

import re
from collections.abc import Iterable
from pathlib import Path

from lengen.benchmark.measures import measures, over_seeds
from lengen.benchmark.submission import HEADER, read_submission
from lengen.benchmark.tasks import TASKS

FOLDER, PAGE = Path("results/benchmark"), Path("docs/benchmark.md")
"""Committed submissions, a folder each, and the page with the table, in a checkout."""
BLOCK = re.compile(r"(<!-- submissions: begin [^\n]*-->\n).*?(<!-- submissions: end -->)", re.DOTALL)
COLUMNS = [
    "task",
    "size",
    "model",
    "kind",
    "reach",
    "in_range",
    "1.5x",
    "2x",
    "3x",
    "area",
    "edits",
    "absent",
    "seeds",
    "parameters",
    "examples",
]


Place = tuple[int, int, float]


def row(folder: Path) -> tuple[Place, str]:
    """Return the line of a submission, after its place: tasks in their order, sizes, the largest area first."""
    header, grids = read_submission(folder)
    found = [measures(grid, header.size) for grid in grids.values()]
    numbers = [over_seeds(values).text() for values in zip(*(one.at for one in found), strict=True)]
    cells = (
        header.task,
        header.size,
        header.model,
        header.kind,
        over_seeds([one.reach for one in found]).text(0),
        over_seeds([one.in_range for one in found]).text(),
        *numbers,
        over_seeds([one.area for one in found]).text(),
        over_seeds([one.edits for one in found]).text(),
        max(one.absent for one in found),
        len(found),
        f"{header.parameters:,}",
        f"{header.trained.examples:,}" if header.trained else "-",
    )
    place = (list(TASKS).index(header.task), header.size, -over_seeds([one.area for one in found]).median)
    return place, f"| {' | '.join(map(str, cells))} |"


def table_of(rows: Iterable[tuple[Place, str]]) -> str:
    """Return a table in Markdown."""
    lines = [line for _, line in sorted(rows)]
    head = f"| {' | '.join(COLUMNS).replace('_', ' ')} |"
    return "\n".join([head, "|" + "---|" * len(COLUMNS), *lines]) + "\n"


def table(folder: Path) -> str:
    """Return the table of all submissions of a folder."""
    return table_of(row(path.parent) for path in sorted(folder.glob(f"*/{HEADER}")))


def page(text: str, folder: Path) -> str:
    """Return a page with its table written anew."""
    return BLOCK.sub(lambda found: f"{found[1]}{table(folder)}{found[2]}", text)

"""Which tricks carry each task furthest, as lines of Markdown for a page: a task a line."""

from collections import Counter
from collections.abc import Mapping, Sequence

from lengen.config.experiment import Runs
from papers.matrix.measures import RIGHT
from papers.matrix.scores import Cell, cells
from papers.matrix.tasks import TASKS

PROFILE = "night"
LEVELS = 2
"""So many of the largest multiples are listed, each with its tricks."""
NAMED = 3
"""Tricks that are named at one multiple; the others are counted."""


def summary(runs: Runs, refused: Sequence[str]) -> str:
    """A table of the tasks: how many tricks learned the trained range, and which went furthest beyond it; below it how
    much of the matrix has run."""
    found = {place: cell for place, cell in cells(runs, refused).items() if cell.state != "refused"}
    lines = ["| task, trained to | learned by | furthest, in trained lengths |", "|---|---|---|"]
    for task, row in TASKS.items():
        tricks = {trick: cell for (name, trick), cell in found.items() if name == task}
        ran = {trick: cell for trick, cell in tricks.items() if cell.seeds}
        learned = {trick: cell for trick, cell in ran.items() if cell.state == "tested"}
        left = f", {len(tricks) - len(ran)} to run" * (len(ran) < len(tricks))
        by = f"{len(learned)} of {len(ran)} tricks{left}"
        lines.append(f"| {row.name}, {row.trained[PROFILE]} | {by} | {furthest(learned) if ran else 'not run'} |")
    solved = f"exact match of at least {RIGHT:g}, median over seeds"
    return "\n".join([*lines, "", f"Furthest: {solved}; {coverage(found)}."])


def coverage(found: Mapping[tuple[str, str], Cell]) -> str:
    """How many of the cells have run, with how many seeds.

    >>> cell = Cell("tested", 1.0, 3, False)
    >>> once, never = cell._replace(seeds=1), cell._replace(seeds=0)
    >>> coverage({("copy", "abc"): cell, ("copy", "rope"): once, ("copy", "fire"): never})
    '2 of 3 cells have run (1 with 1 seed, 1 with 3 seeds)'
    """
    seeds = sorted(Counter(cell.seeds for cell in found.values() if cell.seeds).items())
    told = ", ".join(f"{number} with {count} seed{'s' * (count > 1)}" for count, number in seeds)
    return f"{sum(number for _, number in seeds)} of {len(found)} cells have run" + f" ({told})" * bool(told)


def furthest(learned: Mapping[str, Cell]) -> str:
    """The largest solved multiples beyond the trained length, each with its tricks.

    >>> reached = {"abc": 5.0, "fire": 1.5, "rope": 1.5, "alibi": 1.0}
    >>> furthest({trick: Cell("tested", reach, 3, False) for trick, reach in reached.items()})
    '5 abc; 1.5 fire, rope'
    >>> furthest({})
    'none goes beyond it'
    """
    by_reach: dict[float, list[str]] = {}
    for trick, cell in learned.items():
        if cell.reach > 1:
            by_reach.setdefault(cell.reach, []).append(trick)
    best = sorted(by_reach, reverse=True)[:LEVELS]
    return "; ".join(f"{reach:.3g} {_listed(by_reach[reach])}" for reach in best) or "none goes beyond it"


def _listed(tricks: Sequence[str]) -> str:
    more = f" and {len(tricks) - NAMED} more" * (len(tricks) > NAMED)
    return ", ".join(tricks[:NAMED]) + more

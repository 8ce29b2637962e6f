"""Which tricks carry each task furthest, as lines of Markdown for a page: a task a line."""

from collections.abc import Mapping, Sequence

from lengen.config.experiment import Runs
from papers.matrix.measures import RIGHT
from papers.matrix.scores import Cell, cells, seeds_told
from papers.matrix.tasks import TASKS

PROFILE = "night"
LEVELS = 2
"""So many of the largest multiples are listed, each with its tricks."""
NAMED = 3
"""Tricks that are named at one multiple; the others are counted."""


def summary(runs: Runs, refused: Sequence[str]) -> str:
    """A table of the tasks: how many tricks learned the trained range, and which went furthest beyond it."""
    found = cells(runs, refused)
    lines = ["| task, trained to | learned by | furthest, in trained lengths |", "|---|---|---|"]
    for task, row in TASKS.items():
        ran = {trick: cell for (name, trick), cell in found.items() if name == task and cell.seeds}
        learned = {trick: cell for trick, cell in ran.items() if cell.state == "tested"}
        told = furthest(learned) if ran else "not run"
        lines.append(f"| {row.name}, {row.trained[PROFILE]} | {len(learned)} of {len(ran)} tricks | {told} |")
    return "\n".join([*lines, "", f"Furthest: exact match of at least {RIGHT:g}, median of {seeds_told(found)}."])


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

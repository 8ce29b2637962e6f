"""Tricks that carry each task furthest, and tricks that help over all tasks, as lines of Markdown for a page."""

from collections.abc import Mapping, Sequence

from lengen.metrics.learned import RIGHT
from lengen.paper.experiment import Runs
from papers.matrix.aggregates import BASELINE, Aggregate, aggregates
from papers.matrix.scores import Cell, cells, multiple, seeds_told
from papers.matrix.tasks import TASKS

PROFILE = "night"
LEVELS = 2
"""So many of the largest multiples are listed, each with its tricks."""
EVEN = 0.5
"""Probability of improvement of what is neither better nor worse."""
NAMED = 3
"""Tricks that are named at one multiple; the others are counted."""


def summary(runs: Runs, refused: Sequence[str]) -> str:
    """Return a table of the tasks: how many tricks learned the trained range, and which went furthest beyond it.

    Below it how much of the matrix has run, and which tricks help over tasks.
    """
    found = {place: cell for place, cell in cells(runs, refused).items() if cell.state != "refused"}
    lines = ["| task, trained to | learned by, of plain and tricks | furthest, in trained lengths |", "|---|---|---|"]
    for task, row in TASKS.items():
        tricks = {trick: cell for (name, trick), cell in found.items() if name == task}
        ran = {trick: cell for trick, cell in tricks.items() if cell.seeds}
        learned = {trick: cell for trick, cell in ran.items() if cell.state == "tested"}
        left = f", {len(tricks) - len(ran)} to run" * (len(ran) < len(tricks))
        by = f"{len(learned)} of {len(ran)}{left}"
        lines.append(f"| {row.name}, {row.trained[PROFILE]} | {by} | {furthest(learned) if ran else 'not run'} |")
    solved = f"exact match of at least {RIGHT:g}, median over all seeds (brackets: least to most)"
    told = f"Furthest: {solved}; {coverage(found)}. {beside_plain(aggregates(runs))}"
    return "\n".join([*lines, "", told.rstrip()])


def beside_plain(found: Sequence[Aggregate]) -> str:
    """List the tricks that beat the plain decoder beyond the trained lengths, and those below it.

    They are compared over the tasks that both learned: the whole interval of the probability of improvement lies on one
    side of a half.

    >>> from math import nan
    >>> from lengen.results.intervals import Interval
    >>> unknown = Interval(nan, nan)
    >>> plain = Aggregate("plain", 8, frozenset(("copy", "sorting")), 3, 0.2, unknown, 0, nan, unknown)
    >>> abc = plain._replace(trick="abc", beside=2, improves=1.0, improves_between=Interval(1.0, 1.0))
    >>> rope = abc._replace(trick="rope", improves=0.2, improves_between=Interval(0.1, 0.3))
    >>> once = abc._replace(trick="fire", improves_between=unknown)
    >>> beside_plain([plain, abc, rope, once]).partition("): ")[2]
    'more often above plain abc (2); more often below rope (2); neither 1.'
    >>> beside_plain([plain, once]).partition("): ")[2]
    'neither 1.'
    >>> beside_plain([plain])
    ''
    """
    others = sorted((one for one in found if one.beside), key=lambda one: (-one.beside, -one.improves))
    better = [one for one in others if one.improves_between[0] > EVEN]
    worse = [one for one in others if one.improves_between[1] < EVEN]
    left = len(others) - len(better) - len(worse)
    parts = [
        f"more often above {BASELINE} {_with_tasks(better)}" * bool(better),
        f"more often below {_with_tasks(worse)}" * bool(worse),
        f"neither {left}" * bool(left),
    ]
    told = "; ".join(filter(None, parts))
    by = f"pairs of seeds on the tasks that both learned, in brackets; no test, no correction for {len(others)} tricks"
    return f"Beyond the trained lengths ({by}): {told}." if told else ""


def _with_tasks(some: Sequence[Aggregate]) -> str:
    """Return all, each with the number of tasks it is compared on: beating one task is not helping everywhere."""
    return ", ".join(f"{one.trick} ({one.beside})" for one in some)


def coverage(found: Mapping[tuple[str, str], Cell]) -> str:
    """Return the share of cells that have run, with their seeds.

    >>> cell = Cell("tested", 1.0, 3, False)
    >>> once, never = cell._replace(seeds=1), cell._replace(seeds=0)
    >>> coverage({("copy", "abc"): cell, ("copy", "rope"): once, ("copy", "fire"): never})
    '2 of 3 cells have run, with 1 to 3 seeds'
    """
    return f"{sum(cell.seeds > 0 for cell in found.values())} of {len(found)} cells have run, with {seeds_told(found)}"


def furthest(learned: Mapping[str, Cell]) -> str:
    """Return the largest solved multiples beyond the trained length, each with its tricks.

    >>> reached = {"abc": 5.0, "fire": 1.5, "rope": 1.5, "alibi": 1.0}
    >>> found = {trick: Cell("tested", reach, 3, False, (reach, reach)) for trick, reach in reached.items()}
    >>> furthest({**found, "abc": found["abc"]._replace(span=(1.5, 5.0))})
    '5 abc (1.5 to 5); 1.5 fire, rope'
    >>> furthest({})
    'none goes beyond it'
    """
    by_reach: dict[float, list[str]] = {}
    for trick, cell in learned.items():
        if cell.reach > 1:
            low, high = cell.span
            spread = f" ({multiple(low)} to {multiple(high)})" if low < high else ""
            by_reach.setdefault(cell.reach, []).append(f"{trick}{spread}")
    best = sorted(by_reach, reverse=True)[:LEVELS]
    return "; ".join(f"{multiple(reach)} {_listed(by_reach[reach])}" for reach in best) or "none goes beyond it"


def _listed(tricks: Sequence[str]) -> str:
    more = f" and {len(tricks) - NAMED} more" * (len(tricks) > NAMED)
    return ", ".join(tricks[:NAMED]) + more

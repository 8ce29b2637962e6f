"""Whether the models of a panel have learned what they were trained on; only then what they do beyond it counts.

Runs of one experiment enter, their exact match at the edge of the trained range leaves.
"""

from collections.abc import Sequence
from statistics import median

from lengen.measures import LEARNED, trained
from lengen.records import Run


def edge(runs: Sequence[Run]) -> float:
    """Return exact match on the hardest trained cells, median over seeds: at the longest trained length and, of a grid
    that was trained up to several operands, at the most of them, whichever is lower; nan if no such cell was tested.

    Weights set by hand have nothing to learn and give 1.
    """
    if not runs or runs[0].constructed:
        return 1.0 if runs else float("nan")
    rates = [rate for run in runs if (rate := _edge(run)) == rate]
    return median(rates) if rates else float("nan")


def _edge(run: Run) -> float:
    span, cells = trained(run), list(run.grid.scores)
    if span.second == 1 and any(cell[1:] == (1,) for cell in cells):
        cells = [cell for cell in cells if cell[1] == 1]  # the second axis is of kinds of problems, 1 the trained one
    inside = [cell for cell in cells if span.has(cell if span.second > 1 else cell[:1])]
    if not inside:
        return float("nan")
    longest, most = max(cell[0] for cell in inside), max(cell[-1] for cell in inside)
    edges = [[cell for cell in inside if cell[0] == longest]]
    if span.second > 1 and len(inside[0]) > 1:
        edges.append([cell for cell in inside if cell[1] == most])
    return min(run.grid.total(cells, "teacher_forced").rate("correct") for cells in edges)


def has_learned(runs: Sequence[Run]) -> bool:
    """Return whether `edge` reaches `LEARNED`; runs that were not tested there count as learned."""
    return not edge(runs) < LEARNED


def learned(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have learned their trained range; all of them if none has."""
    return [run for run in runs if has_learned([run])] or list(runs)


def unlearned(runs: Sequence[Run]) -> str:
    """Return a note on models that have not learned their trained range; empty if they have."""
    return "" if has_learned(runs) else f"not learned: {100 * edge(runs):.0f} % at its edge"


RULE = f"Not learned: below {LEARNED:.0%} exact match at the edge of the trained range."
"""The rule, for captions."""

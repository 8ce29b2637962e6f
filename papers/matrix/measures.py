"""Reach of a model, shown in every cell of the matrix and named by its claims."""

from collections.abc import Mapping

from lengen.metrics.learned import along
from lengen.metrics.learned import reach as furthest
from lengen.metrics.measures import Family, Measure, Missing, OfRun, exact_at_longest, short, trained
from lengen.results.records import Run
from lengen.tasks.parity import Parity


def reach(run: Run) -> tuple[float, int]:
    """Return the reach of a run, as a multiple of its trained length."""
    return furthest(along(run, 0)) / trained(run).length, 1


def reach_in_count(run: Run) -> tuple[float, int]:
    """Return the reach of a run in operands, as a multiple of the most trained."""
    values = along(run, 1)
    if not values:
        raise Missing(f"{short(run.experiment)} was tested on one count of operands")
    return furthest(values) / trained(run).second, 1


def accuracy_beyond(run: Run) -> float:
    """Return mean exact match over the tested lengths beyond the trained ones."""
    right, problems = beyond(run)
    return right / problems


def beyond(run: Run) -> tuple[float, int]:
    """Return the same as a share of problems: those of one count, so that tasks count alike if they are pooled."""
    longest = trained(run).length
    values = [value for length, value in along(run, 0).items() if length > longest]
    examples = run.info["spec"]["test"]["examples"]
    return sum(values) * examples, len(values) * examples


def guessing(run: Run) -> float:
    """Return exact match of guessing: an answer of one bit is right half the time, longer ones hardly ever.

    A parity that is written out bit by bit, as a scratchpad does, is a long one.
    """
    data = trained(run).data
    assert data is not None
    return 0.5 if isinstance(data.task, Parity) and not data.format.scratchpad else 0.0


def above_guessing(run: Run) -> float:
    """Return `accuracy_beyond` above what guessing gives, as a share of what lies above it.

    It is 0 for a guess, 1 for no error.
    """
    guess = guessing(run)
    return max(0.0, accuracy_beyond(run) - guess) / (1 - guess)


def learned(run: Run) -> float:
    """Return exact match at the longest trained length."""
    return exact_at_longest(run.grid, trained(run))


MEASURES: Mapping[str, Measure | Family] = {
    "reach": OfRun("largest solved length, as a multiple of the trained one", reach),
    "reach_in_count": OfRun("most operands solved, as a multiple of the most trained", reach_in_count),
    "beyond": OfRun("mean exact match over the lengths beyond the trained ones", beyond, proportion=True),
}

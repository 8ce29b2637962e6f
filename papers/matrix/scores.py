"""Finished runs of the matrix: reach, the state of each cell, aggregates over tasks, lines of Markdown."""

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any, Literal, NamedTuple

import numpy as np

from lengen.benchmark.scoring import Range, over_seeds
from lengen.experiment import Runs
from lengen.metrics import measures
from lengen.metrics.measures import RIGHT, Family, Measure, Missing, OfRun, along, most_have_learned, reached
from lengen.results.across_tasks import Scores, interquartile_mean, probability_of_improvement, stratified_interval
from lengen.results.records import Interval, Run, to_table
from lengen.settings.spec import from_dict
from lengen.tasks.strings import Parity
from papers.matrix.experiments import REFUSED
from papers.matrix.settings import TASKS, CalibratedChoice, ChosenSpec, step_tokens


def accuracy_beyond(run: Run) -> float:
    """Return the mean exact match over the tested lengths beyond the trained ones."""
    right, problems = beyond(run)
    return right / problems


def beyond(run: Run) -> tuple[float, int]:
    """Return `accuracy_beyond` as a share of problems of one count, so that tasks count alike if they are pooled."""
    longest = run.trained.length
    values = [value for length, value in along(run, 0).items() if length > longest]
    examples = run.info["spec"]["test"]["examples"]
    return sum(values) * examples, len(values) * examples


def guessing(run: Run) -> float:
    """Return the exact match of guessing: an answer of one bit is right half the time, longer ones hardly ever.

    A parity that is written out bit by bit, as a scratchpad does, is a long one.
    """
    data = run.spec.data
    return 0.5 if isinstance(data.task, Parity) and not data.format.scratchpad else 0.0


def above_guessing(run: Run) -> float:
    """Return `accuracy_beyond` above guessing, as a share of what lies above it: 0 for a guess, 1 for no error."""
    guess = guessing(run)
    return max(0.0, accuracy_beyond(run) - guess) / (1 - guess)


def tokens(run: Run) -> float:
    """Return the number of tokens that the model of a run was trained on.

    Those count of the training that was kept, of a calibrated bias of both its models, and not those of rates that were
    tried and left.
    """
    values = run.info["spec"]
    assert isinstance(values, dict)
    spec = from_dict(values, CalibratedChoice if "calibration" in values else ChosenSpec)
    return run.scalar("budgets", 1.0) * spec.train.steps * step_tokens(spec)


MEASURES: Mapping[str, Measure | Family] = {
    "reach": OfRun("largest solved length, as a multiple of the trained one", partial(reached, axis=0)),
    "reach_in_count": OfRun("most operands solved, as a multiple of the most trained", partial(reached, axis=1)),
    "beyond": OfRun("mean exact match over the lengths beyond the trained ones", beyond, proportion=True),
}

State = Literal["refused", "not run", "not learned", "tested"]
"""Of a cell: tested where at least half of its seeds have learned their trained range, not learned where fewer have."""


class Cell(NamedTuple):
    """Result of a trick on a task."""

    state: State
    seeds: int = 0
    reach: Range = Range(math.nan, math.nan, math.nan)
    """Multiple of the trained length that is solved, over seeds; nan if it is not tested."""
    learned: float = math.nan
    """Median over seeds of exact match at the longest trained length; nan if it has not run."""
    in_count: float = math.nan
    """Median over seeds of the multiple of the most trained operands that is solved; nan if there is no such axis,
    or the cell is not tested."""


def multiple(value: float) -> str:
    """Return a multiple of the trained length in three digits.

    >>> multiple(9 / 8), multiple(5.0)
    ('1.13', '5')
    """
    return f"{value + 1e-9:.3g}"  # 1.125 would round to an even digit


def named(experiment: str) -> tuple[str, str]:
    """Return task and trick of ``matrix/task/trick``."""
    _, task, trick = experiment.split("/")
    return task, trick


def seeds_told(known: Mapping[tuple[str, str], Cell]) -> str:
    """Return the number of seeds of the cells that ran: ``3 seeds``, ``1 to 3 seeds``, ``no seeds``."""
    seeds = sorted({cell.seeds for cell in known.values() if cell.seeds})
    of = " to ".join(str(count) for count in (*seeds[:1], *seeds[1:][-1:])) or "no"
    return f"{of} seed{'s' * (of != '1')}"


def cells(runs: Runs, refused: Sequence[str]) -> Mapping[tuple[str, str], Cell]:
    """Return every cell by task and trick; ``refused``: names of experiments that make no sense."""
    return {named(name): Cell("refused") if name in refused else _cell(group) for name, group in runs.items()}


def _cell(runs: Sequence[Run]) -> Cell:
    """Return the cell of a trick on a task by its runs."""
    if not runs:
        return Cell("not run")
    at_longest = median([measures.exact_at_longest(run.grid, run.trained) for run in runs])
    if not most_have_learned(runs):
        return Cell("not learned", len(runs), learned=at_longest)
    in_count = math.nan
    with contextlib.suppress(Missing):  # one count of operands alone was tested
        in_count = median([reached(run, 1)[0] for run in runs])
    return Cell("tested", len(runs), over_seeds([reached(run, 0)[0] for run in runs]), at_longest, in_count)


def csv(runs: Runs) -> str:
    """Return a line of CSV for every cell: what was found, and what its trainings took (medians over seeds)."""
    rows = []
    for (task, trick), cell in cells(runs, REFUSED).items():
        group = runs[f"matrix/{task}/{trick}"] if cell.seeds else []
        took = [median([value(run) for run in group]) if group else math.nan for value in TOOK.values()]
        beyond = [accuracy_beyond(run) for run in group] or [math.nan]
        numbers = (cell.learned, *cell.reach, cell.in_count, *over_seeds(beyond))
        rows.append((task, trick, cell.state, cell.seeds, *map(shown, (*numbers, *took))))
    head = ("task", "trick", "state", "seeds", "at_longest_trained", "reach", "least_reach", "largest_reach")
    return to_table((*head, "reach_in_count", "beyond", "least_beyond", "largest_beyond", *TOOK), rows)


def shown(value: float) -> str:
    """Return a number in six digits, all of a whole number; nothing for what is not known."""
    return "" if math.isnan(value) else f"{value:.0f}" if float(value).is_integer() else f"{value:.6g}"


TOOK: Mapping[str, Callable[[Run], float]] = {
    "lr": lambda run: run.scalar("lr", math.nan),
    "budgets": lambda run: run.scalar("budgets", 1.0),
    "parameters": lambda run: float(run.info["parameters"]),
    "tokens_of_kept_training": tokens,
    "seconds_of_all_trainings": lambda run: run.scalar("seconds_of_all_trainings", math.nan),
}
"""Columns of `table` for the cost of a cell; seconds are those of one core by the clock."""


# Finished runs enter; what leaves is drawn by `papers.matrix.figures`, written as a table beside the picture, and named
# in the lines of Markdown of `summary`.


BASELINE = "plain"
SEED = 0
"""Of the bootstrap."""
UNKNOWN = Interval(np.nan, np.nan)
PROFILE = "night"
LEVELS = 2
"""So many of the largest multiples are listed, each with its tricks."""
EVEN = 0.5
"""Probability of improvement of what is neither better nor worse."""
NAMED = 3
"""Tricks that are named at one multiple; the others are counted."""


class Aggregate(NamedTuple):
    """Aggregates of a trick that has learned some task."""

    trick: str
    ran: int
    """Tasks that it has runs of."""
    learned: frozenset[str]
    """Those whose trained range it has learned; only these count."""
    seeds: int
    """Of every one of them."""
    mean: float
    """Interquartile mean over tasks and seeds of accuracy beyond the trained lengths, above what guessing gives."""
    between: Interval
    """Its stratified bootstrap interval; unknown with one seed."""
    beside: int = 0
    """Tasks that the plain decoder has learned, too."""
    improves: float = math.nan
    """Probability to beat the plain decoder on these; nan for itself, and if there are none."""
    improves_between: Interval = UNKNOWN
    """Its interval; unknown if one of them has one seed."""


def scored(runs: Runs, measure: Callable[[Run], float], *tricks: str) -> list[Scores]:
    """Return scores (tasks, seeds) of each trick on the tasks whose trained range all of them have learned.

    Of seeds as many as every one of these cells has; empty if no task is left.
    """
    first, *others = by_trick = [learned_by(runs, trick) for trick in tricks]
    tasks = [task for task in first if all(task in other for other in others)]
    cells = [known[task] for known in by_trick for task in tasks]
    seeds = min(map(len, cells), default=0)
    values = np.array([[measure(run) for run in group[:seeds]] for group in cells])
    return [*values.reshape(len(tricks), len(tasks), seeds)]


def learned_by(runs: Runs, trick: str) -> Mapping[str, Sequence[Run]]:
    """Return the runs of a trick by task, if it has learned the trained range."""
    by_task = {named(name)[0]: group for name, group in runs.items() if group and named(name)[1] == trick}
    return {task: group for task, group in by_task.items() if most_have_learned(group)}


def aggregates(runs: Runs) -> list[Aggregate]:
    """Return a line for every trick that has learned some task, fewest tasks first, then the lowest mean."""
    names = dict.fromkeys(named(name)[1] for name in runs)
    tables = {trick: scored(runs, above_guessing, trick)[0] for trick in names}
    ran = Counter(named(name)[1] for name, group in runs.items() if group)
    generator = np.random.default_rng(SEED)
    tricks = [_aggregate(runs, trick, table, ran[trick], generator) for trick, table in tables.items() if table.size]
    return sorted(tricks, key=lambda row: (len(row.learned), row.mean))


def _aggregate(runs: Runs, trick: str, table: Scores, ran: int, generator: np.random.Generator) -> Aggregate:
    def interval(statistic: Callable[..., Any], *tables: Scores) -> Interval:
        several = tables[0].shape[1] > 1
        return stratified_interval(statistic, *tables, generator=generator) if several else UNKNOWN

    mean, learned = float(interquartile_mean(table)), frozenset(learned_by(runs, trick))
    row = Aggregate(trick, ran, learned, table.shape[1], mean, interval(interquartile_mean, table))
    left, right = scored(runs, above_guessing, trick, BASELINE)
    if trick == BASELINE or not left.size:
        return row
    around = interval(probability_of_improvement, left, right)
    improves = float(probability_of_improvement(left, right))
    return row._replace(beside=len(left), improves=improves, improves_between=around)


def aggregate_table(runs: Runs) -> str:
    """Return a line of CSV for every trick that has learned some task, the highest mean first."""
    head = ("trick", "tasks_run", "tasks_learned", "seeds", "interquartile_mean", "low", "high", "tasks_compared")
    tricks = sorted(aggregates(runs), key=lambda row: -row.mean)
    rows = [
        (row.trick, row.ran, len(row.learned), row.seeds, *map(shown, (row.mean, *row.between)), row.beside,
         *map(shown, (row.improves, *row.improves_between)))
        for row in tricks
    ]  # fmt: skip
    return to_table((*head, "probability_of_improvement", "improvement_low", "improvement_high"), rows)


def summary(runs: Runs) -> str:
    """Return a table of the tasks, and what the whole matrix says.

    Of a task: how many tricks learned the trained range, and which went furthest beyond it. Below it: how much of the
    matrix has run, and which tricks help over tasks.
    """
    known = {place: cell for place, cell in cells(runs, REFUSED).items() if cell.state != "refused"}
    lines = ["| task, trained to | learned by, of plain and tricks | furthest, in trained lengths |", "|---|---|---|"]
    for task, row in TASKS.items():
        tricks = {trick: cell for (name, trick), cell in known.items() if name == task}
        ran = {trick: cell for trick, cell in tricks.items() if cell.seeds}
        learned = {trick: cell for trick, cell in ran.items() if cell.state == "tested"}
        left = f", {len(tricks) - len(ran)} to run" * (len(ran) < len(tricks))
        by = f"{len(learned)} of {len(ran)}{left}"
        lines.append(f"| {row.name}, {row.trained[PROFILE]} | {by} | {furthest(learned) if ran else 'not run'} |")
    solved = f"exact match of at least {RIGHT:g}, median over all seeds (brackets: least to most)"
    sentence = f"Furthest: {solved}; {coverage(known)}. {beside_plain(aggregates(runs))}"
    return "\n".join([*lines, "", sentence.rstrip()])


def beside_plain(tricks: Sequence[Aggregate]) -> str:
    """List the tricks that beat the plain decoder beyond the trained lengths, and those below it.

    They are compared over the tasks that both learned: the whole interval of the probability of improvement lies on one
    side of a half.

    >>> from math import nan
    >>> from lengen.results.records import Interval
    >>> unknown = Interval(nan, nan)
    >>> plain = Aggregate("plain", 8, frozenset(("copy", "sorting")), 3, 0.2, unknown)
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
    others = sorted((trick for trick in tricks if trick.beside), key=lambda trick: (-trick.beside, -trick.improves))
    better = [trick for trick in others if trick.improves_between[0] > EVEN]
    worse = [trick for trick in others if trick.improves_between[1] < EVEN]
    left = len(others) - len(better) - len(worse)
    parts = [
        f"more often above {BASELINE} {_with_tasks(better)}" * bool(better),
        f"more often below {_with_tasks(worse)}" * bool(worse),
        f"neither {left}" * bool(left),
    ]
    sentence = "; ".join(filter(None, parts))
    by = f"pairs of seeds on the tasks that both learned, in brackets; no test, no correction for {len(others)} tricks"
    return f"Beyond the trained lengths ({by}): {sentence}." if sentence else ""


def _with_tasks(tricks: Sequence[Aggregate]) -> str:
    """Return all tricks, each with the number of tasks it is compared on: one task is not all of them."""
    return ", ".join(f"{trick.trick} ({trick.beside})" for trick in tricks)


def coverage(known: Mapping[tuple[str, str], Cell]) -> str:
    """Return the share of cells that have run, with their seeds.

    >>> cell = Cell("tested", 3)
    >>> once, never = cell._replace(seeds=1), cell._replace(seeds=0)
    >>> coverage({("copy", "abc"): cell, ("copy", "rope"): once, ("copy", "fire"): never})
    '2 of 3 cells have run, with 1 to 3 seeds'
    """
    return f"{sum(cell.seeds > 0 for cell in known.values())} of {len(known)} cells have run, with {seeds_told(known)}"


def furthest(learned: Mapping[str, Cell]) -> str:
    """Return the largest solved multiples beyond the trained length, each with its tricks.

    >>> reached = {"abc": 5.0, "fire": 1.5, "rope": 1.5, "alibi": 1.0}
    >>> found = {trick: Cell("tested", 3, over_seeds([reach])) for trick, reach in reached.items()}
    >>> furthest({**found, "abc": Cell("tested", 3, over_seeds([1.5, 5.0, 5.0]))})
    '5 abc (1.5 to 5); 1.5 fire, rope'
    >>> furthest({})
    'none goes beyond it'
    """
    by_reach: dict[float, list[str]] = {}
    for trick, cell in learned.items():
        reach, low, high = cell.reach
        if reach > 1:
            spread = f" ({multiple(low)} to {multiple(high)})" if low < high else ""
            by_reach.setdefault(reach, []).append(f"{trick}{spread}")
    best = sorted(by_reach, reverse=True)[:LEVELS]
    return "; ".join(f"{multiple(reach)} {_listed(by_reach[reach])}" for reach in best) or "none goes beyond it"


def _listed(tricks: Sequence[str]) -> str:
    more = f" and {len(tricks) - NAMED} more" * (len(tricks) > NAMED)
    return ", ".join(tricks[:NAMED]) + more

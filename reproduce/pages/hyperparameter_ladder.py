"""The ladders of a paper: published hyper-parameters put back one at a time, and what is left for each missed value.

A paper and facts enter, Markdown for docs/ladder.md leaves. A ladder is a list ``ladder`` of published.toml: its title,
its experiments from the bottom up, and the lengths that are shown.
"""

import fnmatch
from collections.abc import Collection, Sequence
from statistics import median

from lengen.experiment import Experiment
from lengen.metrics.run_measures import short
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.last_comparison import MET
from reproduce.comparison.published_values import Line, printed, span
from reproduce.comparison.region_measures import tested
from reproduce.comparison.setting_distance import in_words
from reproduce.pages.overview_picture import Facts
from reproduce.pages.sentences import grouped, table
from reproduce.runs.costs import cost, cost_on
from reproduce.runs.costs import in_words as time_in_words

PROFILE = "night"


def ladders(paper: str, facts: Facts) -> str:
    """Return a table for each ladder, then one of the values that are missed beyond the trained range."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}
    parts = []
    for entry in CATALOGUE.published(paper).get("ladder", []):
        names = [name for pattern in entry["experiments"] for name in fnmatch.filter(known, pattern)]
        rows = [_rung(known[name], entry["lengths"], facts) for name in names]
        head = ["setting", "trainings", "longest trained length", *(f"at {length}" for length in entry["lengths"])]
        parts.append(f"**{entry['title']}**\n\n{table(head, rows)}")
    return "\n\n".join([*parts, _missed(facts.compared[paper].lines)])


def _rung(experiment: Experiment, lengths: list[int], facts: Facts) -> list[str]:
    """Return a row: label, number of trainings, medians in the trained range and at each length, lowest and highest."""
    label = f"{', '.join(experiment.at.values())} ({short(experiment.name)})"
    runs = CATALOGUE.declared_runs(facts.reference, experiment, PROFILE)
    if not runs:
        spec = experiment.specs[PROFILE]
        time = time_in_words(cost_on(spec, gpu=False, natively=True).total)  # a page is the same on all machines
        return [label, f"to be run: {time} a training on one core", *[""] * (1 + len(lengths))]
    cells = tested(runs)
    longest = runs[0].trained.length
    return [label, str(len(runs)), *(_at(runs, length, cells) for length in (longest, *lengths))]


def _at(runs: Sequence[Run], length: int, cells: Collection[tuple[int, int]]) -> str:
    """Return the median over trainings of all problems of a length, with the lowest and the highest."""
    there = [cell for cell in cells if cell[0] == length]
    return spread(accuracies(runs, there)) if there else "-"


def accuracies(runs: Sequence[Run], cells: Collection[tuple[int, int]]) -> list[float]:
    """Return the exact match of each run over all problems of these cells, in percent."""
    totals = (run.grid.total([cell[: len(run.grid.axes)] for cell in cells], "teacher_forced") for run in runs)
    return [100 * total.rate("correct") for total in totals]


def spread(rates: Sequence[float]) -> str:
    """Return the median, with the lowest and the highest if they differ.

    >>> spread([100.0, 99.0, 20.0]), spread([7.0, 7.0])
    ('99 (20 to 100)', '7')
    """
    low, high = min(rates), max(rates)
    return f"{median(rates):.3g}" + f" ({low:.3g} to {high:.3g})" * (low < high)


def _missed(lines: tuple[Line, ...]) -> str:
    """Return the experiments with values more than `MET` points apart beyond the range, and what each would cost."""
    missed = [line for line in printed(lines) if line.compared and line.beyond and line.apart > MET]
    rows = []
    for names, group in grouped(missed, lambda line: line.value.experiments).items():
        worst = max(group, key=lambda line: line.apart)
        spec = CATALOGUE.select_one(names[0]).specs["paper"]
        rows.append([
            short(worst.of or names[0]), span([length for line in group for length in line.value.lengths[-1:]]),
            f"{worst.value.printed}, {worst.ours:.3g} %", f"published but for {in_words([worst.differs])}",
            time_in_words(cost(spec, "paper").total),
        ])  # fmt: skip
    head = ["experiment", "missed at", "largest gap: published, ours", "ours is as", "published setting, one training"]
    title = "**Missed by more than 5 points beyond the trained range**"
    return f"{title}\n\n{table(head, rows)}" if rows else ""

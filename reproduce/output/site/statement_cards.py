"""Card of one statement: its answer, numbers, seeds as dots, the comparisons behind it, its runs.

Comparisons enter; text, numbers and names of pages leave.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lengen.results.records import Run
from reproduce.comparison.answers import Answer, Finding, Side, numbers_of
from reproduce.comparison.compare import Comparison
from reproduce.comparison.pages import command, mark, probability


class Dots(NamedTuple):
    """The seeds of one experiment on a line from the left (0) to the right (1)."""

    name: str
    value: str
    places: tuple[float, ...]
    hollow: tuple[float, ...]
    """Seeds that did not learn their trained range, which are left out."""
    seeds: str
    """The same in words."""
    ends: tuple[str, str] = ("0", "100 %")
    """Of the axis."""


class Part(NamedTuple):
    """One comparison of trainings."""

    words: str
    """Its difference from the words of the statement; empty if it is the whole statement."""
    outcome: str
    numbers: str
    p: str
    dots: Sequence[Dots]


class Standing(NamedTuple):
    """The answer by the runs of one store."""

    store: str
    word: str
    reason: str
    numbers: str
    distance: str
    younger: bool
    parts: Sequence[Part]
    details: Sequence[Part]
    command: str
    runs: Sequence[tuple[str, str]]
    """Words and page of every run it rests on."""


class StatementCard(NamedTuple):
    """One statement; its standings, that of the reference runs first."""

    id: str
    words: str
    place: str
    quote: str
    remark: str
    names: Sequence[str]
    standings: Sequence[Standing]

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"statement-{slug(self.id)}"


def slug(text: str) -> str:
    """A text as a name of a file or of a place on a page.

    >>> slug("toy/fig1/no positions")
    'toy.fig1.no-positions'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text.replace("/", "."))


def run_page(run: Run) -> str:
    """The page of a run, seen from the page of its paper."""
    return f"runs/{slug(f'{run.experiment}/{run.profile}/seed-{run.seed}/v{run.version}/{run.store}')}.html"


def statement_cards(compared: Mapping[str, Comparison]) -> list[StatementCard]:
    """A card per statement; comparisons by the name of a store, the reference first."""
    (first, reference), *others = compared.items()
    found = []
    for place, answer in enumerate(reference.answers):
        rest = [(store, one.answers[place]) for store, one in others if one.answers[place].distance]
        standings = [_standing(store, one) for store, one in [(first, answer), *rest]]
        told = answer.statement
        found.append(
            StatementCard(told.id, told.words, told.place, told.quote, told.remark, told.names, tuple(standings))
        )
    return found


def _standing(store: str, answer: Answer) -> Standing:
    runs = {run_page(run): f"{run.experiment.split('/', 1)[1]} seed {run.seed}" for run in answer.runs}
    return Standing(
        store=store,
        word=answer.word,
        reason=_beyond(answer.statement.words, answer.reason),
        numbers=answer.numbers,
        distance=answer.distance,
        younger=bool(mark(answer)),
        parts=tuple(_part(answer, finding) for finding in answer.findings),
        details=tuple(_part(answer, finding) for finding in answer.details),
        command=command(answer),
        runs=tuple((words, page) for page, words in runs.items()),
    )


def _beyond(said: str, words: str) -> str:
    """Words without those that the heading says already.

    >>> _beyond("It helps", "It helps (copy): 2 more are needed"), _beyond("It helps", "It helps")
    ('copy: 2 more are needed', '')
    """
    left = words.removeprefix(said)
    return words if left == words else left.lstrip(": ").removeprefix("(").replace(")", "", 1)


def _part(answer: Answer, finding: Finding) -> Part:
    outcome = f"{finding.word}: {finding.reason}" if finding.reason else finding.word
    sides = (*finding.left, *finding.right)
    words = _beyond(answer.statement.words, finding.part.words)
    return Part(words, outcome, finding.numbers, probability(finding.p), _dots(sides, finding.unit))


def _dots(sides: Sequence[Side], unit: str) -> tuple[Dots, ...]:
    values = [value for side in sides for value in (*side.seeds, *side.hollow)]
    low, high = (0.0, 100.0) if unit == "%" or not values else (min(0.0, *values), max(values))
    width = high - low or 1.0
    ends = numbers_of([low], unit), numbers_of([high], unit)
    return tuple(
        Dots(
            side.experiment.split("/", 1)[1],
            numbers_of([side.median], unit) if side.seeds else "",
            tuple(round((value - low) / width, 4) for value in side.seeds),
            tuple(round((value - low) / width, 4) for value in side.hollow),
            "; left out: ".join(filter(None, (numbers_of(side.seeds, unit), numbers_of(side.hollow, unit)))),
            ends,
        )
        for side in sides
    )

"""Card of one statement: its answers by the runs of each store; seeds as dots, and names of pages.

Comparisons enter; cards, numbers and names of pages leave.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lengen.metrics.measures import short
from lengen.results.records import Run
from reproduce.comparison.answers import Answer, Finding, numbers_of, of_median
from reproduce.comparison.compare import Comparison
from reproduce.comparison.statements import Statement


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
    interval: tuple[float, ...] = ()
    """Ends of the seeds that decide a level: all of them, of eight and more all but the extremes."""
    required: tuple[float, ...] = ()
    """Least and most value of a level."""


class StatementCard(NamedTuple):
    """One statement; its answers by the name of a store, that of the reference runs first."""

    statement: Statement
    standings: Sequence[tuple[str, Answer]]

    @property
    def answer(self) -> Answer:
        """Its answer by the runs of the first store."""
        return self.standings[0][1]

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"statement-{slug(self.statement.id)}"


def slug(text: str) -> str:
    """A text as a name of a file or of a place on a page.

    >>> slug("toy/fig1/no positions")
    'toy.fig1.no-positions'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text.replace("/", "."))


def run_page(run: Run) -> str:
    """The page of a run, seen from the page of its paper."""
    return f"runs/{slug(f'{run.experiment}/{run.profile}/seed-{run.seed}/v{run.version}/{run.store}')}.html"


def run_links(answer: Answer) -> dict[str, str]:
    """Page -> words of every run that an answer rests on."""
    return {run_page(run): f"{short(run.experiment)} seed {run.seed}" for run in answer.runs}


def statement_cards(compared: Mapping[str, Comparison]) -> list[StatementCard]:
    """A card per statement; comparisons by the name of a store, the reference first."""
    (first, reference), *others = compared.items()
    found = []
    for place, answer in enumerate(reference.answers):
        rest = [(store, one.answers[place]) for store, one in others if one.answers[place].distance]
        found.append(StatementCard(answer.statement, [(first, answer), *rest]))
    return found


def beyond(said: str, words: str) -> str:
    """Words without those that the heading says already.

    >>> beyond("It helps", "It helps (copy): 2 more are needed"), beyond("It helps", "It helps")
    ('copy: 2 more are needed', '')
    """
    left = words.removeprefix(said)
    return words if left == words else left.lstrip(": ").removeprefix("(").replace(")", "", 1)


def dots(finding: Finding) -> list[Dots]:
    """Return the seeds of every experiment of a comparison on one axis."""
    sides, unit = (*finding.left, *finding.right), finding.unit
    required = tuple(bound for bound in (finding.part.least, finding.part.most) if bound is not None)
    values = [*required, *(value for side in sides for value in (*side.seeds, *side.hollow))]
    low, high = (0.0, 100.0) if unit == "%" or not values else (min(0.0, *values), max(values))
    width = high - low or 1.0

    def places(found: Sequence[float]) -> tuple[float, ...]:
        return tuple(round((value - low) / width, 4) for value in found)

    ends = numbers_of([low], unit), numbers_of([high], unit)
    return [
        Dots(
            short(side.experiment),
            numbers_of([side.median], unit) if side.seeds else "",
            places(side.seeds),
            places(side.hollow),
            "; left out: ".join(filter(None, (numbers_of(side.seeds, unit), numbers_of(side.hollow, unit)))),
            ends,
            places([inner[0], inner[-1]]) if len(inner := of_median(side.seeds)) > 1 else (),
            places(required),
        )
        for side in sides
    ]

"""Published values, statements and hyper-parameters of a paper beside ours, compared once.

A paper and stores enter, a `Comparison` leaves, which every page, table and command shows.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lengen.experiment import Experiment
from reproduce.comparison.last_comparison import WORDS
from reproduce.comparison.published_settings import Setting, settings
from reproduce.comparison.published_values import Line, Score, lines, printed, score
from reproduce.comparison.region_measures import reader
from reproduce.comparison.statement_answers import Answer, Finding, answers
from reproduce.store.store import Store


@dataclass(frozen=True)
class Comparison:
    """The comparison of one paper with the runs of one store or several."""

    paper: str
    lines: tuple[Line, ...]
    answers: tuple[Answer, ...]
    settings: tuple[Setting, ...]
    details: tuple[Finding, ...] = ()
    """Details about the chosen experiments, of statements that rest on others."""

    @property
    def beside(self) -> list[Line]:
        """Published values that have one of ours beside them."""
        return [line for line in self.lines if line.ours is not None]

    @property
    def score(self) -> Score:
        """Number of printed published shares that are met."""
        return score(printed(self.lines))

    @property
    def counts(self) -> Counter[str]:
        """Number of statements by answer."""
        return Counter({word: sum(answer.word == word for answer in self.answers) for word in WORDS})

    @property
    def measured(self) -> bool:
        """True if any run is behind it."""
        findings = [finding for answer in self.answers for finding in (*answer.findings, *answer.details)]
        return any(line.trained for line in self.lines) or any(part.distance for part in (*findings, *self.details))

    def of(self, experiments: Iterable[Experiment], statement: str = "") -> "Comparison":
        """Return the comparison of these experiments alone; of the statements the one with this id, if one is named."""
        names = {item.name for item in experiments}
        chosen = [answer for answer in self.answers if statement in ("", answer.statement.id)]
        resting = tuple(answer for answer in chosen if names & set(answer.statement.counted))
        details = (detail for answer in chosen if answer not in resting for detail in answer.details)
        lines = tuple(line for line in self.lines if names & set(line.value.experiments))
        settings = tuple(setting for setting in self.settings if names & set(setting.experiments))
        below = tuple(detail for detail in details if names & set(detail.part.names))
        return Comparison(self.paper, lines, resting, settings, below)


def compare(paper: str, stores: Sequence[Store]) -> Comparison:
    """Compare a paper with stored runs; of several stores the first with runs of an experiment is read."""
    stored = reader(paper, stores)
    return Comparison(paper, tuple(lines(paper, stored)), tuple(answers(paper, stored)), tuple(settings(paper)))

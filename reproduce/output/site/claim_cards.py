"""What a page says of one claim: verdict, effect, seeds as dots, whether its models have learned, its runs.

Claims, comparison rows and the evidence they rest on enter; text, numbers and names of pages leave.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lengen.measures import Missing
from lengen.records import Run
from reproduce.comparison.checks import Claim, Compare, Level, Ordered, Paired, Sides
from reproduce.comparison.effects import asked_of, compared, effect, scale_of, seeds, span
from reproduce.comparison.evidence import Evidence, Sample
from reproduce.comparison.learning import unlearned
from reproduce.comparison.regions import shared
from reproduce.comparison.rows import NOT_RUN, Row
from reproduce.comparison.score_card import LARGEST, decisive


class Dots(NamedTuple):
    """The seeds of one experiment on a line from the left (0) to the right (1)."""

    name: str
    value: str
    places: tuple[float, ...]
    seeds: str
    """The same in words."""


class Standing(NamedTuple):
    """How a claim stands by the runs of one store at one profile."""

    store: str
    profile: str
    verdict: str
    effect: str
    interval: str
    size: str
    dots: Sequence[Dots]
    fewer: bool
    """The dots are of the test cells that all these experiments share, not of all that each one tested."""
    learned: str
    why: str
    decide: str
    deviations: Sequence[str]
    """Their numbers."""
    remarks: str
    frozen: str
    command: str
    runs: Sequence[tuple[str, str]]
    """Words and page of every run it rests on."""


class ClaimCard(NamedTuple):
    """One claim; its standings, the deciding one first."""

    id: str
    statement: str
    place: str
    asked: str
    headline: bool
    names: Sequence[str]
    standings: Sequence[Standing]

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"claim-{slug(self.id)}"


def slug(text: str) -> str:
    """A text as a name of a file or of a place on a page.

    >>> slug("toy/fig1/no positions")
    'toy.fig1.no-positions'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text.replace("/", "."))


def run_page(run: Run) -> str:
    """The page of a run, seen from the page of its paper."""
    return f"runs/{slug(f'{run.experiment}/{run.profile}/seed-{run.seed}/v{run.version}/{run.store}')}.html"


def claim_cards(
    claims: Sequence[Claim], rows: Mapping[str, Sequence[Row]], evidence: Mapping[str, Mapping[str, Evidence]]
) -> list[ClaimCard]:
    """A card per claim; rows and evidence by the name of a store, the reference first."""
    found = []
    for claim in claims:
        standing: list[tuple[str, Row]] = []
        for number, (store, some) in enumerate(rows.items()):
            mine = sorted((row for row in some if row.id == claim.id), key=lambda row: LARGEST.index(row.profile))
            first = decisive(mine).get(claim.id)
            order = [first, *(row for row in mine if row is not first)] if first else []
            standing += [(store, row) for row in order if not number or row.verdict != NOT_RUN]
        if standing:
            row = standing[0][1]
            cards = tuple(_standing(claim, store, row, evidence[store]) for store, row in standing)
            found.append(
                ClaimCard(claim.id, claim.statement, claim.place, asked_of(row), claim.headline, claim.names, cards)
            )
    return found


def _standing(claim: Claim, store: str, row: Row, evidence: Mapping[str, Evidence]) -> Standing:
    sides: Sides | None = None
    samples: list[tuple[Sample, bool]] = []
    fewer = False
    learned, runs = "", []
    if row.verdict != NOT_RUN:
        try:
            sides = claim.sides(evidence[row.profile])
            samples, fewer = _samples(claim, sides)
        except Missing:
            samples = []
        if sides is not None:
            learned = _learned(claim, sides)
            runs = [(f"{run.experiment.split('/', 1)[1]} seed {run.seed}", run_page(run)) for run in _runs(sides)]
    numbers, _, remarks = row.deviations.partition("; ")
    if not re.fullmatch(r"(D\d+\b ?)+", numbers):
        numbers, remarks = "", row.deviations
    shares = bool(samples) and all(sample.proportion for sample, _ in samples)
    difference = not isinstance(claim, Level)
    return Standing(
        store=store,
        profile=row.profile,
        verdict=row.verdict,
        effect=compared(row),
        interval=_interval(row, difference),
        size=_size(row, [sample for sample, _ in samples]),
        dots=_dots([sample for sample, _ in samples], shares),
        fewer=fewer,
        learned=learned,
        why=row.why,
        decide=row.decide,
        deviations=numbers.split(),
        remarks=remarks,
        frozen=row.frozen,
        command=row.command,
        runs=list(dict.fromkeys(runs)),
    )


def _runs(sides: Sides) -> list[Run]:
    return [run for tested in sides.all() for run in tested.runs]


def _samples(claim: Claim, sides: Sides) -> tuple[list[tuple[Sample, bool]], bool]:
    """What was measured of every experiment, and whether it is on the left; and whether some cells were left out.

    Comparisons of two are made on the cells that both tested, all others on an experiment's own: so are these values.
    """
    both = [(tested, claim.one, True) for tested in sides.left] + [(t, claim.other, False) for t in sides.right]
    if not isinstance(claim, Compare | Paired | Ordered) or claim.one.region != claim.other.region:
        return [(tested.sample(side), left) for tested, side, left in both], False
    cells = [tested.cells(side.region, side.lengths, side.counts) for tested, side, _ in both]
    common = functools.reduce(shared, cells)
    if not common:
        return [(tested.sample(side), left) for tested, side, left in both], False
    return [(t.sample(side, common), left) for t, side, left in both], any([*some] != [*common] for some in cells)


def _interval(row: Row, difference: bool) -> str:
    if row.ci_low is None or row.ci_high is None:
        return ""
    return f"95 % interval {'of the difference ' * difference}{span(row.ci_low, row.ci_high, row.scale)}"


def _size(row: Row, samples: Sequence[Sample]) -> str:
    """Examples and seeds behind a verdict; of seeds the fewest where sides have unlike many."""
    examples = f"{row.n:,} examples" if row.n and row.n > 1 else ""
    trained = seeds(row.seeds)
    if trained and len({len(sample.seeds) for sample in samples}) > 1:
        trained += " on the side with fewest"
    return ", ".join(filter(None, [examples, trained]))


def _dots(samples: Sequence[Sample], shares: bool) -> list[Dots]:
    scale = scale_of(shares)
    values = [value for sample in samples for value in sample.seeds if value == value]
    low, high = (0.0, 1.0) if shares or not values else (min(0.0, *values), max(values))
    width = high - low or 1.0
    return [
        Dots(
            sample.name,
            effect(sample.value, scale),
            tuple(round((value - low) / width, 4) for value in sample.seeds if value == value),
            ", ".join(effect(value, scale) for value in sample.seeds),
        )
        for sample in samples
    ]


def _learned(claim: Claim, sides: Sides) -> str:
    """Whether the models behind a claim have learned, in words."""
    if claim.learned is not None and not claim.learned.asks:
        return f"not asked: {claim.learned.why}"
    if all(tested.spec.constructed for tested in sides.all()):
        return "weights set by hand: nothing to learn"
    lacking = [name for names in unlearned(claim, sides).values() for name in names]
    return f"no: {', '.join(lacking)}" if lacking else "yes, every model it rests on"

"""The numbers and hyper-parameters that a paper prints, one class per kind: measured on runs, read off settings, or
said to be neither.

Entries of a published.toml like `comparison.checks`: experiments enter, a `Finding`, or a verdict with our value,
leaves.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any, Literal, get_args

from lengen.config.experiment import Experiment
from lengen.config.model import ModelSpec
from lengen.config.part import SettingError
from lengen.config.paths import read
from lengen.intervals import Interval, seed_interval, wilson
from lengen.measures import Missing, OfRun, short
from lengen.seed_intervals import Term, combined
from reproduce.comparison import effects
from reproduce.comparison.checks import Entry, EntryError, Mode, Relation, Span, needs_band
from reproduce.comparison.effects import effect, scale_of, span
from reproduce.comparison.evidence import ACROSS, Finding, Side, Sources, Tested, favour, level, together
from reproduce.comparison.multiples import scaled
from reproduce.comparison.rows import DIFFERS, REPRODUCED


class _Number(Entry, frozen=True, kw_only=True, tag_field="kind"):
    relation: Relation
    """Between ours and the published value; '~' uses the band ``low`` to ``high``, '=' the value +- ``tolerance``."""
    how_read: str = "printed"
    """printed, read off plot, or in words (then the value is ours and says so)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Experiments that are compared with it, with shell wildcards; none for a remark."""
        return tuple(getattr(self, "experiments", ()))


class Measured(_Number, frozen=True, kw_only=True, tag="measured"):
    """A number that runs of the published setting are compared with.

    It is taken as the paper took it: first the median over seeds in every cell, then the smallest, the largest or the
    mean over cells. Its interval covers the examples of one seed (of that cell, or of all cells for a mean) and the
    seeds.
    """

    experiments: tuple[str, ...]
    """Names, with shell wildcards; with several, the least favourable one is shown."""
    value: int | float | None = None
    low: float | None = None
    high: float | None = None
    tolerance: float = 0.0
    aggregation: str = ""
    """How the published value was aggregated, in words."""
    statistic: Literal["minimum", "mean", "maximum"] = "minimum"
    """What is taken over the cells, each first reduced to its median over seeds."""
    across: Literal["", "mean", "deviation"] = ""
    """Taken over the runs of all experiments at once, each run first reduced over its cells; its interval is the
    jackknife's over runs."""
    measure: str = "exact"
    mode: Mode = "teacher_forced"
    region: str = "all"
    lengths: Span = None
    counts: Span = None
    seeds: int = 1
    """Seeds behind the published value."""

    def __post_init__(self) -> None:
        needs_band(self)
        if self.value is None and self.relation != "~":
            raise ValueError("'value' is missing; every measured number without a band needs it")

    def find(self, tested: Sequence[Tested]) -> Finding:
        """Measured on the runs of a profile; raises `Missing` where runs or cells are missing."""
        if self.across:
            return self._across(tested)
        found = [(short(each.name), self._one(each)) for each in tested]
        low, high = band(self)
        worst = min((finding for _, finding in found), key=lambda f: favour(f.ours, self.relation, low, high))
        scale = scale_of(*(each.vocabulary.measure(self.measure).proportion for each in tested))
        notes = [f"{name} {effect(finding.ours, scale)}" for name, finding in found] if len(found) > 1 else []
        seeds = min(finding.seeds for _, finding in found)
        if seeds < self.seeds:
            notes.append(f"{effects.seeds(seeds)} instead of {self.seeds}")
        verdict = together(finding.verdict for _, finding in found)
        return worst._replace(verdict=verdict, seeds=seeds, notes=(*notes, *worst.notes))

    def _across(self, tested: Sequence[Tested]) -> Finding:
        """The mean or deviation over all runs; ``n`` counts runs."""
        values = [self._one(run).ours for each in tested for run in each.alone]
        value, interval = ACROSS[self.across].of(values)
        verdict = level(interval, self.relation, *band(self))
        seeds = min(len(each.runs) for each in tested)
        words = f"{len(values)} runs of {len(tested)} experiments"
        return Finding(verdict, value, interval, len(values), seeds, (words,), sources=Sources(seeds=interval))

    def _one(self, tested: Tested) -> Finding:
        """Of one experiment; at another size than the published one, at the same multiples of its trained range."""
        measure, side = tested.vocabulary.measure(self.measure), Side(self.measure, self.mode, self.region)
        if isinstance(measure, OfRun):
            sample = tested.sample(side)
            verdict = level(sample.interval, self.relation, *band(self))
            found, count, parts = median(sample.seeds), len(sample.seeds), Sources(seeds=sample.interval)
            return Finding(verdict, found, sample.interval, count, count, (), sources=parts)
        lengths, counts, sizes = scaled(tested, self.region, self.lengths, self.counts)
        value, n, place, seeds = self._over_cells(tested, side, lengths, counts)
        examples = wilson(round(value * n), n) if measure.proportion else None
        told = examples or (Interval(value, value) if len(set(seeds)) > 1 else None)
        interval = combined([Term(1, value, told, seeds)]) if told else None
        if interval and measure.proportion:
            interval = Interval(max(0.0, interval.low), min(1.0, interval.high))
        verdict = level(interval, self.relation, *band(self))
        notes = tuple(filter(None, (sizes, place)))
        parts = Sources(examples, seed_interval(seeds) if len(seeds) > 1 else None)
        return Finding(verdict, value, interval, n, len(tested.runs), notes, sources=parts)

    def _over_cells(
        self, tested: Tested, side: Side, lengths: Span, counts: Span
    ) -> tuple[float, int, str, Sequence[float]]:
        """Value, the examples of one seed behind it, where it was found, and what each seed has there."""
        cells = tested.cells(self.region, lengths, counts)
        bounds = [(axis, span[1]) for axis, span in enumerate((lengths, counts)) if span]
        if not cells or any(max(cell[axis] for cell in cells) != most for axis, most in bounds):
            where = " x ".join(str(most) for _, most in bounds) or tested.vocabulary.regions[self.region].words
            raise Missing(f"{short(tested.name)} was not tested up to {where} at this profile")
        rows = tested.rows(side, cells)
        for row in rows:
            if not row.bottom:
                raise Missing(f"{short(tested.name)} was tested on no example at {row.cell[0]} x {row.cell[1]}")
        rates: dict[tuple[int, int], list[float]] = {cell: [] for cell in sorted(cells)}
        for row in rows:
            rates[row.cell].append(row.top / row.bottom)
        medians = {cell: median(found) for cell, found in rates.items()}
        sizes = {row.cell: int(row.bottom) for row in reversed(rows)}  # of the first seed
        if self.statistic == "mean":
            each = [sum(seed) / len(seed) for seed in zip(*rates.values(), strict=True)]
            return sum(medians.values()) / len(medians), sum(sizes.values()), "", each
        cell = (min if self.statistic == "minimum" else max)(medians, key=lambda cell: medians[cell])
        words = ""
        if len(cells) > 1:
            words = f"at {' x '.join(map(str, cell[:1] if tested.curve else cell))}"
        if len(tested.runs) > 1:
            scale = scale_of(tested.vocabulary.measure(side.measure).proportion)
            words += f"{' ' if words else ''}seeds {span(*seed_interval(rates[cell]), scale)}"
        return medians[cell], sizes[cell], words, rates[cell]


class Setting(_Number, frozen=True, kw_only=True, tag="setting"):
    """A hyper-parameter, checked against the paper-profile specifications, which needs no run."""

    experiments: tuple[str, ...]
    field: str
    """``section.field``, then ``len``, ``last`` or an index for lists; or seeds, experiments, parameters."""
    value: bool | int | float | str | list[int | float | str]
    tolerance: float = 0.0

    def find(self, experiments: Sequence[Experiment]) -> tuple[str, object, list[str]]:
        """Verdict, our value and notes, of the experiments that have a paper profile."""
        if self.field == "experiments":
            found: list[tuple[str, object]] = [(self.experiments[0], len(experiments))]
        else:
            found = [(each.name, self._read(each)) for each in experiments if "paper" in each.specs]
        wrong = [(name, value) for name, value in found if not self._holds(value)]
        notes = [f"{short(name)} has {value}" for name, value in wrong[:3]]
        return (DIFFERS if wrong else REPRODUCED), (wrong or found)[0][1], notes

    def _holds(self, ours: object) -> bool:
        if isinstance(self.value, (bool, str, list)) or isinstance(ours, (bool, str, list)):
            return type(ours) is type(self.value) and ours == self.value
        low, high = band(self)
        value, slack = float(ours), 1e-9 * max(abs(low), abs(high))  # type: ignore[arg-type]
        sides = {
            ">": value > low + slack,
            ">=": value >= low - slack,
            "<": value < high - slack,
            "<=": value <= high + slack,
        }
        return sides.get(self.relation, low - slack <= value <= high + slack)

    def _read(self, experiment: Experiment) -> object:
        spec = experiment.specs["paper"]
        if self.field == "seeds":
            return experiment.seeds
        if self.field == "parameters":
            return block_parameters(spec.model)
        try:
            return read(spec, self.field)
        except SettingError as error:
            raise EntryError(str(error)) from None


class Remark(_Number, frozen=True, kw_only=True, tag="remark"):
    """What can never be compared, and why."""

    remark: str
    value: bool | int | float | str | list[int | float | str] | None = None
    low: float | None = None
    high: float | None = None
    aggregation: str = ""


Number = Measured | Setting | Remark


def band(number: Measured | Setting) -> tuple[float, float]:
    """Lower and upper end that a number is compared with."""
    if isinstance(number, Measured) and number.low is not None and number.high is not None:
        return number.low, number.high
    value = float(number.value)  # type: ignore[arg-type]
    return value - number.tolerance, value + number.tolerance


def block_parameters(model: ModelSpec) -> int:
    """Weights of the blocks.

    Embeddings, position tables and norms are left out: below 0.5 % at the published sizes, printed in millions.
    """
    return model.layers * model.block_weights


NUMBERS: dict[str, type[Any]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Number)}

"""What verdicts rest on: the runs that count at one profile, and the one rule that turns intervals into a verdict.

Experiments and a way to their runs enter; samples come from `comparison.samples`. A relation is *reproduced* when it
holds with the 95 % intervals apart and with every seed on the same side, *differs* when its opposite holds in the same
sense, and is *undecided* otherwise.
"""

import fnmatch
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lengen.config.experiment import Experiment
from lengen.config.spec import Spec
from lengen.intervals import Interval
from lengen.records import Run
from reproduce.comparison.measures import Missing, short
from reproduce.comparison.regions import Cell, cells_of
from reproduce.comparison.samples import Sample, same_spec

REPRODUCED, DIFFERS, UNDECIDED = "reproduced", "differs", "undecided"


class Quantity(NamedTuple):
    """A number made of several samples, such as a difference, that is compared like a sample."""

    name: str
    value: float
    interval: Interval
    seeds: tuple[float, ...]
    n: int

    def words(self) -> str:
        """``name 0.931``."""
        return f"{self.name} {self.value:.3f}"


class Finding(NamedTuple):
    """What one check found: the least favourable of its comparisons, and remarks."""

    verdict: str
    ours: float
    interval: Interval
    n: int
    seeds: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """The runs of one store at one profile, as claims ask for them."""

    profile: str
    experiments: Mapping[str, Experiment]
    declared: Callable[[Experiment, str], Sequence[Run]]
    """Runs that count for an experiment at a profile, one per seed."""
    _runs: dict[str, Sequence[Run]] = field(default_factory=dict)
    _cells: dict[tuple[object, ...], frozenset[Cell]] = field(default_factory=dict)

    def names(self, patterns: Sequence[str]) -> list[str]:
        """Experiments meant by names and wildcards; wildcards mean those that have this profile.

        An extra that has not been run is not meant by a wildcard: a suite without its extras still gets a verdict.
        """
        found: list[str] = []
        for pattern in patterns:
            matches = fnmatch.filter(self.experiments, pattern)
            if not matches:
                raise Missing(f"there is no experiment {pattern}", absent=True)
            if matches == [pattern] and self.profile not in self.experiments[pattern].specs:
                raise Missing(f"{short(pattern)} has no {self.profile} size", absent=True)
            there = [name for name in matches if self.profile in self.experiments[name].specs]
            found += [name for name in there if name not in found and (matches == [pattern] or not self.left_out(name))]
        if not found:
            raise Missing(f"{' '.join(short(pattern) for pattern in patterns)} has no {self.profile} size", absent=True)
        return found

    def left_out(self, name: str) -> bool:
        """Whether an experiment is extra at this profile and has not been run."""
        experiment = self.experiments[name]
        possible = self.profile in experiment.specs and self.profile in experiment.extra
        return possible and not self.declared(experiment, self.profile)

    def runs(self, name: str) -> Sequence[Run]:
        """Runs of one experiment, all of one specification: the declared one where there is any; else `Missing`."""
        if name not in self._runs:
            self._runs[name] = self._choose(name)
        return self._runs[name]

    def cells(
        self, name: str, region: str, lengths: tuple[int, ...] = (), counts: tuple[int, ...] = ()
    ) -> frozenset[Cell]:
        """Cells that every run of an experiment tested, in a region of its trained range and within bounds."""
        key = (name, region, lengths, counts)
        if key not in self._cells:
            self._cells[key] = cells_of(self.runs(name), region, lengths, counts)
        return self._cells[key]

    def _choose(self, name: str) -> Sequence[Run]:
        experiment = self.experiments[name]
        runs = self.declared(experiment, self.profile)
        if not runs:
            raise Missing(f"no {self.profile} run of {short(name)}")
        exact = [run for run in runs if same_spec(run, experiment.specs[self.profile])]
        hashes = [run.info.get("spec_hash") for run in runs]
        common = max(hashes, key=hashes.count)
        return exact or [run for run in runs if run.info.get("spec_hash") == common]

    def spec(self, name: str) -> Spec:
        """The declared specification at this profile."""
        return self.experiments[name].specs[self.profile]


def level(interval: Interval, seeds: Sequence[float], relation: str, low: float, high: float) -> str:
    """Verdict on a value against a threshold (``low`` for > and >=, ``high`` for < and <=) or a band (both)."""
    if relation in (">", ">="):
        inside, outside = interval.low >= low and min(seeds) >= low, interval.high < low and max(seeds) < low
    elif relation in ("<", "<="):
        inside, outside = interval.high <= high and max(seeds) <= high, interval.low > high and min(seeds) > high
    else:
        inside = low <= interval.low and interval.high <= high and low <= min(seeds) and max(seeds) <= high
        below, above = interval.high < low and max(seeds) < low, interval.low > high and min(seeds) > high
        outside = below or above
    return REPRODUCED if inside else DIFFERS if outside else UNDECIDED


def apart(
    left: Sample | Quantity, right: Sample | Quantity, relation: str, threshold: float, matched: bool = False
) -> str:
    """Verdict on left - right > threshold (or <): intervals apart, and every seed of one against every other seed.

    ``matched`` sides are two measures of the same runs: then each seed is held against itself.
    """
    a, b = left.interval, right.interval
    pairs = zip(left.seeds, right.seeds, strict=True) if matched else itertools.product(left.seeds, right.seeds)
    differences = [one - other for one, other in pairs]
    above = a.low - b.high > threshold and min(differences) > threshold
    below = a.high - b.low < threshold and max(differences) < threshold
    holds, opposite = (above, below) if relation == ">" else (below, above)
    return REPRODUCED if holds else DIFFERS if opposite else UNDECIDED


def favour(value: float, relation: str, low: float, high: float) -> float:
    """How favourable a value is for a relation: the least favourable of several stands for all."""
    if relation in (">", ">="):
        return value
    return -value if relation in ("<", "<=") else -abs(value - (low + high) / 2)


def together(verdicts: Iterable[str]) -> str:
    """Reproduced when all are, differs when one does, else undecided."""
    found = set(verdicts)
    return DIFFERS if DIFFERS in found else REPRODUCED if found == {REPRODUCED} else UNDECIDED

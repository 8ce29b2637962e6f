"""One measure of one experiment: a value per seed, and for proportions the pooled counts.

Runs of one specification and test cells enter, a `Sample` with its interval leaves.
"""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lengen.config.spec import Spec
from lengen.intervals import Interval, wilson
from lengen.records import Run
from reproduce.comparison.families import measure_of
from reproduce.comparison.measures import Missing, short
from reproduce.comparison.regions import Cell


@dataclass(frozen=True)
class Sample:
    """One measure of one experiment: a value per seed, and pooled counts where it is a proportion."""

    name: str
    seeds: tuple[float, ...]
    top: float
    n: int
    proportion: bool

    @property
    def value(self) -> float:
        """Pooled over seeds: they have equal test cells, so this is also the mean over seeds."""
        return self.top / self.n if self.n else math.nan

    @property
    def interval(self) -> Interval:
        """Wilson over the pooled examples; for other measures the smallest and largest seed."""
        if self.proportion:
            return wilson(int(self.top), self.n)
        return Interval(min(self.seeds), max(self.seeds))

    def words(self) -> str:
        """``name 0.931 (seeds 0.900 to 0.950)``."""
        spread = f" (seeds {min(self.seeds):.3f} to {max(self.seeds):.3f})" if len(self.seeds) > 1 else ""
        return f"{self.name} {self.value:.3f}{spread}"


def take(name: str, runs: Sequence[Run], measure: str, mode: str, cells: Iterable[Cell]) -> Sample:
    """Measure the runs (one per seed) of one experiment over the given cells; `Missing` where they lack something.

    ``name`` is the experiment asked for; its runs may be stored under another one with the same specification.
    """
    kind = measure_of(measure)
    chosen = list(cells)
    counts = [kind.counts(run, chosen, mode) for run in runs]
    seeds = tuple(top / bottom if bottom else math.nan for top, bottom in counts)
    top, n = sum(top for top, _ in counts), sum(bottom for _, bottom in counts)
    if not n:
        raise Missing(f"{short(name)} was tested on no example there")
    return Sample(short(name), seeds, top, n, kind.proportion)


def same_spec(run: Run, spec: Spec) -> bool:
    """Whether a run was made with exactly this specification."""
    return run.info.get("spec_hash") == _hash(spec)


@functools.cache
def _hash(spec: Spec) -> str:
    return spec.hash()  # a walk over four dataclasses and JSON: asked for thousands of times in one comparison

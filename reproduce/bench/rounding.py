"""What rounding the operands of products changes: committed runs of settings in both precisions, seed by seed.

What enters are the finished runs of a store; what leaves are rows of a table. A pair is two groups of runs of one
setting on one commit, one with ``--set train.precision=bf16-products`` and one without.
"""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from reproduce.runs.accuracy import shares
from reproduce.store.store import Store

OVERRIDE = "train.precision=bf16-products"


class Pair(NamedTuple):
    """Exact match of one setting, one value per seed, in the order of the seeds."""

    experiment: str
    profile: str
    region: str
    plain: tuple[float, ...]
    rounded: tuple[float, ...]

    @property
    def difference(self) -> float:
        """Mean of the rounded runs less that of the others."""
        return statistics.fmean(self.rounded) - statistics.fmean(self.plain)

    @property
    def deviation(self) -> float:
        """Standard deviation of the difference of two such means, from the spread of the seeds of both."""
        variances = [statistics.variance(some) / len(some) for some in (self.plain, self.rounded)]
        return float(sum(variances) ** 0.5)

    @property
    def alike(self) -> bool:
        """Whether the difference lies within two deviations, or is below a tenth of a percent."""
        return abs(self.difference) <= max(2 * self.deviation, 0.001)


def pairs(store: Store) -> list[Pair]:
    """Every setting that two seeds and more trained in both precisions on one commit, inside and outside its range."""
    found = []
    headers = store.headers()
    for experiment, profile in dict.fromkeys((run.experiment, run.profile) for run in headers):
        here = [run for run in headers if (run.experiment, run.profile) == (experiment, profile)]
        rounded = [run for run in here if run.info.get("overrides") == [OVERRIDE]]
        commits = {run.info["commit"] for run in rounded}
        plain = [run for run in here if not run.info.get("overrides") and run.info["commit"] in commits]
        seeds = {run.seed for run in plain} & {run.seed for run in rounded}
        if len(seeds) < 2:
            continue
        both = [[store.load(run) for run in some if run.seed in seeds] for some in (plain, rounded)]
        for place, region in enumerate(("in the trained range", "outside")):
            values = [tuple(shares(run)[place] for run in some) for some in both]
            found.append(Pair(experiment, profile, region, *values))
    return found


def as_cells(found: Sequence[Pair]) -> list[tuple[str, ...]]:
    """The cells of a table, one row a pair."""
    return [
        (
            pair.experiment,
            pair.region,
            _shares(pair.plain),
            _shares(pair.rounded),
            f"{100 * pair.difference:+.1f} ± {100 * pair.deviation:.1f}",
            "alike" if pair.alike else "**different**",
        )
        for pair in found
    ]


def _shares(values: Sequence[float]) -> str:
    return " ".join(f"{100 * value:.1f}" for value in values)

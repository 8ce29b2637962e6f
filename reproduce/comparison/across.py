"""One value for many runs: mean or sample deviation over runs of several experiments, with a jackknife interval.

A value per run enters (experiments x seeds, each once), the statistic and its interval leave.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lengen.intervals import Z95, Interval
from reproduce.comparison.measures import Missing


@dataclass(frozen=True)
class Across:
    words: str
    statistic: Callable[[Sequence[float]], float]
    least: int
    """Runs that the jackknife needs: with one run left out, the statistic must still exist."""

    def of(self, values: Sequence[float]) -> tuple[float, Interval]:
        """The statistic and its 95 % jackknife interval; `Missing` where there are too few runs.

        The standard error is sqrt((n - 1) / n * sum((t_i - mean t)^2)) over the statistics t_i with one run left out
        (Efron and Stein 1981); for the mean that is exactly the deviation over sqrt(n). No distribution is assumed:
        accuracies outside the trained range lie mostly near 0 and 1.
        """
        n = len(values)
        if n < self.least:
            raise Missing(f"{n} run{'' if n == 1 else 's'}; the {self.words} over runs needs {self.least}")
        value = self.statistic(values)
        left_out = [self.statistic([*values[:k], *values[k + 1 :]]) for k in range(n)]
        centre = statistics.fmean(left_out)
        half = Z95 * math.sqrt((n - 1) / n * sum((one - centre) ** 2 for one in left_out))
        return value, Interval(value - half, value + half)


MEAN = Across("mean", statistics.fmean, 2)
DEVIATION = Across("sample deviation", statistics.stdev, 3)
ACROSS: Mapping[str, Across] = {"mean": MEAN, "deviation": DEVIATION}

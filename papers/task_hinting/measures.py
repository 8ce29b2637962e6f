"""Measures and regions that only the claims of this paper name."""

from collections.abc import Mapping

from lengen.measures import Measure, Region

MEASURES: Mapping[str, Measure] = {}
REGIONS: Mapping[str, Region] = {
    "twice": Region(
        "at twice the longest trained length, count in range", lambda t, n, m: (n == 2 * t.length) & (m <= t.second)
    ),
    "thrice": Region(
        "at three times the longest trained length, count in range",
        lambda t, n, m: (n == 3 * t.length) & (m <= t.second),
    ),
    "two_to_three": Region(
        "two to three times the longest trained length, count in range",
        lambda t, n, m: (n >= 2 * t.length) & (n <= 3 * t.length) & (m <= t.second),
    ),
}

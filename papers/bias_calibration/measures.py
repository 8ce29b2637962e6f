"""Measures and regions that only the claims of this paper name."""

from collections.abc import Mapping

from lengen.measures import Measure, Region

MEASURES: Mapping[str, Measure] = {}
REGIONS: Mapping[str, Region] = {
    "just_beyond": Region(
        "two to four longer than trained",
        lambda t, n, m: (n >= t.length + 2) & (n <= t.length + 4) & (m <= t.second),
    ),
}
"""A little beyond the trained range. One digit beyond is left out: training numbers drawn up to 2^20 include some of 7
digits."""

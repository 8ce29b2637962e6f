"""Regions that only the claims of this paper name."""

from collections.abc import Mapping

from lengen.measures import Region

REGIONS: Mapping[str, Region] = {
    "two_and_a_half": Region(
        "at 2.5 times the longest trained length, count in range",
        lambda t, n, m: (2 * n == 5 * t.length) & (m <= t.second),
    ),
}
"""50 numbers where 20 are trained; 5 times is the region "longest"."""

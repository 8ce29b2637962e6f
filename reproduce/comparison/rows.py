"""One line of a comparison: what every table, page and file of it is made of. The columns of the CSV are a contract."""

import dataclasses
from dataclasses import dataclass

CHECKED = ("cpu", "night", "paper")
"""Profiles whose runs count, from the smallest on; smoke shows nothing but that the program runs."""
SETTING = "hyper-parameter"
SHARE, DIFFERENCE = "share", "difference of shares"
REPRODUCED, DIFFERS, UNDECIDED, FLOOR = "reproduced", "differs", "undecided", "floor"
UNTESTED, NOT_RUN, NOT_COMPARABLE = "untested", "not run", "not comparable"
EQUAL, UNEQUAL = "settings equal", "settings differ"
ORDER = (DIFFERS, UNTESTED, FLOOR, UNDECIDED, NOT_RUN, REPRODUCED)
"""Verdicts on claims from the worst on: claims that count as one have the worst verdict of them all."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the comparison; the fields are the columns of comparison.csv, in order."""

    kind: str
    """number or claim."""
    id: str
    place: str
    statement: str
    relation: str
    published: object
    aggregation: str
    ours: object = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None
    seeds: int | None = None
    profile: str
    verdict: str
    """reproduced, differs, undecided, untested, floor or not run; of numbers also not comparable, of settings settings
    equal or settings differ."""
    deviations: str = ""
    """Numbers of the deviations, then remarks on this comparison."""
    command: str = ""
    by: str = ""
    """Of a claim: published where its threshold is printed, required where it is ours; of a number: required where the
    paper says it in words, else empty."""
    headline: bool = False
    """Among the claims that the paper opens with, in its abstract and contributions."""
    counts_as: str = ""
    """The claim as which this one counts: itself, or the one that it is a part of."""
    why: str = ""
    """Why it is not decided."""
    decide: str = ""
    """What would decide it."""
    frozen: str = ""
    """Whether the claim is older than its runs: yes, no or unknown."""
    scale: str = ""
    """What ours and the published value are: a share, a difference of shares; empty for any other number."""
    examples_low: float | None = None
    examples_high: float | None = None
    """What the interval would be if other seeds gave the same: over the examples tested alone."""
    seeds_low: float | None = None
    seeds_high: float | None = None
    """What it would be with examples without end: over the seeds trained alone."""
    left: float | None = None
    right: float | None = None
    """The two values whose difference ours is; None where it is none."""
    left_at: str = ""
    right_at: str = ""
    """The length that each of them was tested at, where that is one: "the longest tested" is another one in every
    task."""


COLUMNS = tuple(item.name for item in dataclasses.fields(Row))

"""The entries of a published.toml: numbers and claims, as plain frozen dataclasses.

`comparison.published` makes them from the file; `comparison.numbers` and `comparison.checks` measure them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

RELATIONS = (">=", "<=", ">", "<", "=", "~")
KINDS = ("measured", "setting", "remark")
STATISTICS = ("minimum", "mean", "maximum")
CHECKS = ("level", "compare", "paired", "pooled", "ordered", "spread", "gain", "varied")


@dataclass(frozen=True, kw_only=True)
class Number:
    id: str
    place: str
    """Where it stands in the paper: section, figure or table."""
    statement: str
    relation: str
    """Between ours and the published value; '~' uses the band ``low`` to ``high``, '=' the value +- ``tolerance``."""
    how_read: str = "printed"
    """printed, read off plot, or in words (then the value is ours and says so)."""
    kind: str = "measured"
    """measured (needs a run), setting (checked against the paper-profile specification), remark (never comparable)."""
    value: bool | int | float | str | list[int] | None = None
    low: float | None = None
    high: float | None = None
    tolerance: float = 0.0
    experiments: tuple[str, ...] = ()
    """Names, with shell wildcards; with several, the least favourable one is shown."""
    aggregation: str = ""
    """How the published value was aggregated, in words."""
    statistic: str = "minimum"
    """What is taken over the cells, each first reduced to its median over seeds."""
    across: str = ""
    """mean or deviation: taken over the runs of all experiments at once, each run first reduced over its cells."""
    measure: str = "exact"
    mode: str = "teacher_forced"
    region: str = "all"
    lengths: tuple[int, ...] = ()
    """Smallest and largest first axis compared; empty for all of the region."""
    counts: tuple[int, ...] = ()
    """Smallest and largest second axis compared; empty for all of the region."""
    seeds: int = 1
    """Seeds behind the published value."""
    field: str = ""
    """Specification field of a setting: section.field, with .len or an index for tuples; or a derived one."""
    remark: str = ""
    """Why a remark is not comparable."""
    deviations: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim:
    id: str
    place: str
    statement: str
    check: str
    """Name of the predicate, see `reproduce.comparison.checks`."""
    relation: str
    left: tuple[str, ...]
    """Experiments the claim is about; shell wildcards stand for those that have the profile."""
    right: tuple[str, ...] = ()
    """Experiments compared with; those also on the left are left out of wildcards."""
    threshold: float = 0.0
    """Level, or least difference left - right."""
    low: float | None = None
    high: float | None = None
    measure: str = "exact"
    mode: str = "teacher_forced"
    region: str = "outside"
    right_measure: str = ""
    """Measure of the right side where it is another one."""
    right_mode: str = ""
    right_region: str = ""
    lengths: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    pick: str = ""
    """'largest': of the right side only the experiment with most heads in all (then most layers)."""
    by: str = ""
    """Specification field that sorts the left side of an ordered check, or whose ends a gain is compared at."""
    how_read: str = "in words"
    """in words (the threshold is ours) or printed."""
    deviations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Published:
    """All entries of one paper, in the order of the file."""

    numbers: tuple[Number, ...]
    claims: tuple[Claim, ...]
    deviations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Profile -> numbers of the deviations that concern every row of that profile."""

"""How many claims got which verdict: headline claims and all, those that say one thing counted as one.

Rows enter, counts leave. Of the profiles that a claim was checked at the largest one counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from reproduce.comparison.rows import CHECKED, DIFFERS, FLOOR, NOT_RUN, ORDER, REPRODUCED, UNDECIDED, UNTESTED, Row

LARGEST = CHECKED[::-1]
"""Profiles at which claims are checked, the one that counts first."""
SHOWN = (REPRODUCED, DIFFERS, UNDECIDED, UNTESTED, FLOOR, NOT_RUN)


def decisive(rows: Sequence[Row]) -> Mapping[str, Row]:
    """Claim -> its row at the largest profile that has a verdict; a row that is not run where none has.

    Claims keep the order of the rows.
    """
    found: dict[str, Row] = {}
    for row in sorted((row for row in rows if row.kind == "claim"), key=_rank):
        found.setdefault(row.id, row)
    return {row.id: found[row.id] for row in rows if row.kind == "claim"}


def _rank(row: Row) -> tuple[bool, int]:
    return row.verdict == NOT_RUN, LARGEST.index(row.profile)


def judged(rows: Sequence[Row], headline: bool = False) -> list[Row]:
    """One row for every claim that counts, in their order: of the parts of one claim that with the worst verdict.

    From the worst on: differs, untested, floor, undecided, not run, reproduced. ``headline``: only of the claims that
    the paper opens with.
    """
    groups: dict[str, list[Row]] = {row.counts_as: [] for row in rows if row.kind == "claim"}
    for row in decisive(rows).values():
        groups[row.counts_as].append(row)
    return [
        min(group, key=lambda row: (ORDER.index(row.verdict), not row.headline))
        for group in groups.values()
        if not headline or any(row.headline for row in group)
    ]


def counted_as(rows: Sequence[Row]) -> Mapping[str, str]:
    """Claim -> the verdict with which it counts: the worst one of all its parts."""
    whole = {row.counts_as: row.verdict for row in judged(rows)}
    return {row.id: whole[row.counts_as] for row in rows if row.kind == "claim"}


def score(rows: Sequence[Row], headline: bool = False) -> Counter[str]:
    """Verdict -> number of claims (`judged`)."""
    return Counter(row.verdict for row in judged(rows, headline))


def card(rows: Sequence[Row]) -> list[tuple[str, Counter[str]]]:
    """The two lines of the score card: headline claims, all claims."""
    return [("headline claims", score(rows, headline=True)), ("all claims", score(rows))]

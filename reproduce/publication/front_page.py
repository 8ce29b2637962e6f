"""What the front page says of claims: a line per paper, and a sentence about one paper's headline claims.

Rows enter, Markdown leaves.
"""

from collections import Counter
from collections.abc import Sequence

from reproduce.comparison import score_card
from reproduce.comparison.effects import compared, seeds
from reproduce.comparison.rows import CHECKED, DIFFERS, FLOOR, NOT_RUN, REPRODUCED, UNDECIDED, Row
from reproduce.output.markdown import table
from reproduce.runs.catalogue import CATALOGUE

NAMED = 1
"""Claims that an answer names for a verdict; the others it counts, for a page that is read in a minute."""


def scores(papers: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """The score card of several papers: a line each, headline claims first, then the sizes they were measured at."""
    lines = []
    for paper, rows in papers:
        counted = [_counted(counts) for _, counts in score_card.card(rows)]
        lines.append([f"{CATALOGUE.paper(paper).number} {paper.replace('_', ' ')}", *counted, sizes(rows)])
    return table(["paper", "headline claims", "all claims", "measured at (claims)"], lines)


def _counted(counts: Counter[str]) -> str:
    """Every verdict that some claim has, with its number; how many are reproduced is always said."""
    rest = (_number(verdict, counts[verdict]) for verdict in score_card.SHOWN[1:] if counts[verdict])
    return ", ".join([f"**{counts[REPRODUCED]} of {counts.total()} reproduced**", *rest])


def _number(verdict: str, count: int) -> str:
    """How many claims have a verdict: ``1 differs``, ``2 differ``, ``2 undecided``."""
    return f"{count} {'differ' if verdict == DIFFERS and count != 1 else verdict}"


def sizes(rows: Sequence[Row]) -> str:
    """The profiles at which claims got their verdict, the smallest first, each with the number of claims."""
    found = Counter(row.profile for row in score_card.judged(rows) if row.verdict != NOT_RUN)
    return ", ".join(f"{profile} ({found[profile]})" for profile in CHECKED if found[profile])


def answer(rows: Sequence[Row]) -> str:
    """A sentence about the headline claims by verdict, then at most `NAMED` of those that hold, do not, or might, each
    in its own words, with what was measured.

    >>> blank = dict(kind="claim", place="", relation=">", published=0, aggregation="", profile="cpu", headline=True)
    >>> one = Row(id="a", statement="It adds", verdict="reproduced", counts_as="a", **blank)
    >>> other = Row(id="b", statement="It sorts", verdict="untested", counts_as="b", **blank)
    >>> print(answer([one, other]))
    Of 2 headline claims, 1 is reproduced and 1 is untested (measured at cpu). Reproduced: *It adds*.
    """
    headline = score_card.judged(rows, headline=True)
    counts = Counter(row.verdict for row in headline)
    if set(counts) <= {NOT_RUN}:
        return f"None of its {counts.total()} headline claims has a verdict yet: each lacks runs that it needs."
    said = [_said(verdict, counts[verdict]) for verdict in score_card.SHOWN if counts[verdict]]
    listed = " and ".join(filter(None, [", ".join(said[:-1]), said[-1]]))
    found = [f"Of {counts.total()} headline claims, {listed} (measured at {_profiles(headline)})."]
    for verdict in (REPRODUCED, DIFFERS, UNDECIDED):
        told = [f"*{row.statement}*{_measured(row)}" for row in headline if row.verdict == verdict]
        if told:
            more = [f"and {len(told) - NAMED} more"] * (len(told) > NAMED)
            found.append(f"{verdict.capitalize()}: {'; '.join([*told[:NAMED], *more])}.")
    return " ".join(found)


def _measured(row: Row) -> str:
    """What was measured, in brackets after a space; nothing where nothing was."""
    trained = f", {seeds(row.seeds)}" if row.seeds and row.seeds > 1 else ""
    return f" ({compared(row)}{trained})" if row.ours is not None else ""


def _said(verdict: str, count: int) -> str:
    one = count == 1
    if verdict == DIFFERS:
        return _number(verdict, count)
    if verdict == NOT_RUN:
        return f"{count} {'lacks' if one else 'lack'} runs"
    return f"{count} {'is' if one else 'are'} {'at the floor' if verdict == FLOOR else verdict}"


def _profiles(rows: Sequence[Row]) -> str:
    found = {row.profile for row in rows if row.verdict != NOT_RUN}
    return " and ".join(profile for profile in CHECKED if profile in found)

"""claims.csv: every claim of every paper under an id that stays, with its verdict; the one file that others import.

An id is ``paper/claim``: the name of the paper's folder and the id of the claim in its published.toml. Of the profiles
that a claim was checked at the largest counts, as in the score card.
"""

from collections.abc import Iterator

from lengen.records import to_table
from reproduce.comparison.effects import show
from reproduce.comparison.score_card import decisive
from reproduce.publication.facts import Facts
from reproduce.runs.catalogue import CATALOGUE

SAME = ("place", "statement", "headline", "relation", "by", "profile", "verdict", "ci_low", "ci_high", "n", "seeds")
"""Columns that are those of comparison.csv."""
LAST = ("frozen", "why", "decide", "command")
COLUMNS = ("claim", "paper", "arxiv", "openreview", "counts_as", "threshold", "measured", *SAME, *LAST)


def to_csv(facts: Facts) -> str:
    """The table, in the order of the papers and of their claims."""
    return to_table(COLUMNS, ([show(cell) for cell in line] for line in _lines(facts)))


def _lines(facts: Facts) -> Iterator[list[object]]:
    for name, rows in facts.rows.items():
        paper = CATALOGUE.paper(name)
        for row in decisive(rows).values():
            yield [
                f"{name}/{row.id}",
                name,
                paper.arxiv,
                paper.openreview,
                f"{name}/{row.counts_as}",
                row.published,
                row.ours,
                *(getattr(row, column) for column in (*SAME, *LAST)),
            ]

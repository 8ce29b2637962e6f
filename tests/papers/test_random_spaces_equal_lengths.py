"""Abacus is right on operands of equal length and wrong on all others: the committed table, and the stored model."""

from papers.random_spaces import equal_lengths


def rate(rows, equal):
    chosen = [row for row in rows if (row["first"] == row["second"]) is equal]
    return sum(row["correct"] for row in chosen) / sum(row["n"] for row in chosen)


def test_the_committed_table_has_every_pair_of_lengths():
    rows = equal_lengths.FINDING.counts()
    assert {(row["first"], row["second"]) for row in rows} == {(a, b) for a in range(1, 13) for b in range(1, 13)}
    assert rate(rows, True) > 0.95 and rate(rows, False) < 0.01


def test_the_stored_model_gives_the_committed_counts_of_a_few_problems_each():
    rows = equal_lengths.measure(examples=2)
    assert rate(rows, True) > 0.9 and rate(rows, False) < 0.01

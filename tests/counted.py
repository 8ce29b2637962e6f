"""The counts that most tests need, by place instead of by name."""

from lengen.results.records import Counts

NAMES = ("n", "correct", "answer_correct", "edit_sum", "reference_tokens")


def counted(*values: float) -> Counts:
    """The counts of `NAMES`, as far as given."""
    return Counts(zip(NAMES, values, strict=False))

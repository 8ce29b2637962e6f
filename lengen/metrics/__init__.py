"""Metrics: each one file with a pure function and what it counts, and its place in the table below.

What a metric counts is stored under its name, so a new one is a file and an entry of `METRICS`: the accuracy grid keeps
it from then on, and claims and figures can name it. Loading this loads no torch; the classes in `counted` do.
"""

from typing import TYPE_CHECKING

from lengen.formats.vocab import PAD, Vocab
from lengen.metrics.answer_match import ANSWER_MATCH, answer_match
from lengen.metrics.answer_token import ANSWER_TOKEN, answer_token
from lengen.metrics.edit_distance import EDIT_DISTANCE, edit_distances
from lengen.metrics.exact_match import EXACT_MATCH, exact_match
from lengen.metrics.metric import Metric, Responses
from lengen.results.records import Counts

if TYPE_CHECKING:
    from torch import Tensor

    from lengen.formats.base import Written

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (EXACT_MATCH, ANSWER_MATCH, ANSWER_TOKEN, EDIT_DISTANCE)
}
"""Every metric by its name, which scores, claims and figures use."""

__all__ = [
    "ANSWER_TOKEN",
    "EXACT_MATCH",
    "METRICS",
    "Metric",
    "Responses",
    "answer_match",
    "answer_token",
    "count",
    "edit_distances",
    "exact_match",
]


def count(written: "Tensor", reference: "Tensor", format: "Written", vocab: "Vocab", *, own_text: bool) -> Counts:
    """Return counts of all metrics over the responses of a test cell; see `Responses` for shapes.

    Args:
        own_text: whether the model wrote the responses itself; metrics that ask for that are left out otherwise.
    """
    counts = Counts(n=len(reference), reference_tokens=int((reference != PAD).sum()))
    for metric in METRICS.values():
        if own_text or not metric.own_text:
            counts.update(metric.counts(Responses(written, reference, format, vocab)))
    return counts

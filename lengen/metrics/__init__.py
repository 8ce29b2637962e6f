"""Metrics: each a pure function and what it counts, and its place in the table below.

What a metric counts is stored under its name, so a new one is a file and an entry of `METRICS`: the accuracy grid keeps
it from then on, and claims and figures can name it. Loading this loads no torch; the classes in `counted` do.
"""

from lengen.digits import Tensor
from lengen.formats.base import PAD, Vocab, Written
from lengen.metrics.response_metrics import ANSWER_MATCH, ANSWER_TOKEN, EDIT_DISTANCE, EXACT_MATCH, Responses
from lengen.results.records import Counts

METRICS = {metric.name: metric for metric in (EXACT_MATCH, ANSWER_MATCH, ANSWER_TOKEN, EDIT_DISTANCE)}
"""Every metric by its name, which scores, claims and figures use."""


def count(written: "Tensor", reference: "Tensor", format: "Written", vocab: "Vocab", *, own_text: bool) -> Counts:
    """Return the counts of all metrics over the responses of a test cell; see `Responses` for shapes.

    Args:
        own_text: whether the model wrote the responses itself; metrics that ask for that are left out otherwise.
    """
    counts = Counts(n=len(reference), reference_tokens=int((reference != PAD).sum()))
    for metric in METRICS.values():
        if own_text or not metric.own_text:
            counts.update(metric.counts(Responses(written, reference, format, vocab)))
    return counts

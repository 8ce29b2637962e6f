"""Any metric of ours as a torchmetrics class: its counts are the state, summed over batches and devices."""

import torch
from torch import Tensor
from torchmetrics import Metric as TorchMetric

from lengen.formats.base import Written
from lengen.metrics.answer_match import ANSWER_MATCH
from lengen.metrics.edit_distance import EDIT_DISTANCE
from lengen.metrics.exact_match import EXACT_MATCH
from lengen.metrics.metric import Metric, Responses
from lengen.vocab import PAD, Vocab


class Counted(TorchMetric):
    """Keeps the counts of a metric; `compute` gives their rate.

    Args:
        metric: one of `lengen.metrics.METRICS`, or one of your own.
        format: how responses are written, for metrics that ask for their parts.
        vocab: the symbols they are written with.
    """

    full_state_update = False
    counted: Tensor
    per: Tensor

    def __init__(self, metric: Metric, format: Written | None = None, vocab: Vocab | None = None) -> None:
        super().__init__()
        self.metric, self.format, self.vocab = metric, format, vocab
        for state in ("counted", "per"):
            self.add_state(state, torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, written: Tensor, reference: Tensor) -> None:
        """Count a batch; see `Responses` for shapes. Raises `ValueError` for responses that the metric is not for."""
        always = {"n": len(reference), "reference_tokens": int((reference != PAD).sum())}
        counts = always | dict(self.metric.counts(Responses(written, reference, self.format, self.vocab)))
        if self.metric.numerator not in counts or self.metric.denominator not in counts:
            raise ValueError(
                f"{self.metric.name}: nothing of it is counted of these responses; expected the format and vocabulary "
                "of responses that it is for, as in Counted(metric, format, vocab)"
            )
        self.counted += counts[self.metric.numerator]
        self.per += counts[self.metric.denominator]

    def compute(self) -> Tensor:
        return (self.counted / self.per).float()


class ExactMatch(Counted):
    """Share of responses that are right as a whole."""

    higher_is_better = EXACT_MATCH.higher_is_better

    def __init__(self) -> None:
        super().__init__(EXACT_MATCH)


class AnswerMatch(Counted):
    """Share of responses whose final answer is right."""

    higher_is_better = ANSWER_MATCH.higher_is_better

    def __init__(self, format: Written, vocab: Vocab) -> None:
        super().__init__(ANSWER_MATCH, format, vocab)


class EditDistance(Counted):
    """Edit distance per reference token: 0 is perfect."""

    higher_is_better = EDIT_DISTANCE.higher_is_better

    def __init__(self) -> None:
        super().__init__(EDIT_DISTANCE)

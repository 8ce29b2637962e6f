"""Any metric of ours as a torchmetrics class: its counts are the state, summed over batches and devices."""

from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric as TorchMetric

from lengen.formats.base import PAD, Vocab, Written
from lengen.metrics.responses import ANSWER_MATCH, EDIT_DISTANCE, EXACT_MATCH, Metric, Responses, check_responses


class Counted(TorchMetric):
    """Keeps the counts of a metric; `compute` gives their rate.

    Args:
        metric: one of `lengen.metrics.METRICS`, or one of your own.
        format: how responses are written, for metrics that ask for their parts.
        vocab: the symbols they are written with.
        **kwargs: options of every `torchmetrics.Metric`, such as ``dist_sync_on_step``.

    Example:
        >>> import lengen
        >>> import torch
        >>> from lengen.metrics import EXACT_MATCH
        >>> metric = lengen.Counted(EXACT_MATCH)
        >>> metric.update(torch.tensor([[3, 1]]), torch.tensor([[3, 1]]))
        >>> metric.compute()
        tensor(1.)
    """

    full_state_update = False
    is_differentiable = False
    plot_lower_bound = 0.0
    counted: Tensor
    per: Tensor

    def __init__(
        self, metric: Metric, format: Written | None = None, vocab: Vocab | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.metric, self.format, self.vocab = metric, format, vocab
        for state in ("counted", "per"):
            # Whole numbers are exact at any size, and some devices have no double precision.
            self.add_state(state, torch.tensor(0, dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, written: Tensor, reference: Tensor) -> None:
        """Count a batch; see `Responses` for shapes. Raises `ValueError` for responses that the metric is not for."""
        check_responses(written, reference)
        always = {"n": len(reference), "reference_tokens": int((reference != PAD).sum())}
        counts = always | dict(self.metric.counts(Responses(written, reference, self.format, self.vocab)))
        if self.metric.numerator not in counts or self.metric.denominator not in counts:
            raise ValueError(
                f"{self.metric.name}: nothing of it is counted of these responses; expected the format and vocabulary "
                "of responses that it is for, as in Counted(metric, format, vocab)"
            )
        self.counted += whole(self.metric, counts[self.metric.numerator])
        self.per += whole(self.metric, counts[self.metric.denominator])

    def compute(self) -> Tensor:
        return (self.counted / self.per).float()

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Return figure and axis with the value, or with several values, as torchmetrics draws them."""
        return self._plot(val, ax)


def whole(metric: Metric, count: float) -> int:
    """Return a count as a whole number; raises `ValueError` for a part of one."""
    if int(count) != count:
        raise ValueError(f"{metric.name}: counted {count}: expected whole numbers, so that sums are exact")
    return int(count)


class ExactMatch(Counted):
    """Share of responses that are right as a whole.

    Args:
        **kwargs: Options of every `torchmetrics.Metric`.

    Example:
        >>> import lengen
        >>> import torch
        >>> metric = lengen.ExactMatch()
        >>> metric.update(torch.tensor([[3, 4, 1], [3, 1, 0]]), torch.tensor([[3, 4, 1], [3, 4, 1]]))
        >>> metric.compute()
        tensor(0.5000)
    """

    higher_is_better = EXACT_MATCH.higher_is_better
    plot_upper_bound = 1.0

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(EXACT_MATCH, **kwargs)


class AnswerMatch(Counted):
    """Share of responses whose final answer is right.

    Args:
        format: How responses are written (`TaskData.format`).
        vocab: The symbols they are written with (`TaskData.vocab`).
        **kwargs: Options of every `torchmetrics.Metric`.

    Example:
        >>> import lengen
        >>> import torch
        >>> data = lengen.TaskData(lengen.setting("copy", digits=2), seed=0)
        >>> metric = lengen.AnswerMatch(data.format, data.vocab)
        >>> metric.update(torch.tensor([[3, 4, 1]]), torch.tensor([[3, 4, 1]]))
        >>> metric.compute()
        tensor(1.)
    """

    higher_is_better = ANSWER_MATCH.higher_is_better
    plot_upper_bound = 1.0

    def __init__(self, format: Written, vocab: Vocab, **kwargs: Any) -> None:
        super().__init__(ANSWER_MATCH, format, vocab, **kwargs)


class EditDistance(Counted):
    """Edit distance per reference token: 0 is perfect.

    Args:
        **kwargs: Options of every `torchmetrics.Metric`.

    Example:
        >>> import lengen
        >>> import torch
        >>> metric = lengen.EditDistance()
        >>> metric.update(torch.tensor([[5, 6, 7, 1]]), torch.tensor([[5, 7, 1, 0]]))
        >>> metric.compute()
        tensor(0.3333)
    """

    higher_is_better = EDIT_DISTANCE.higher_is_better

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(EDIT_DISTANCE, **kwargs)

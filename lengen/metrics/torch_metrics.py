"""Any metric of ours as a torchmetrics class: its counts are the state, summed over batches and devices."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torchmetrics import Metric as TorchMetric

from lengen.formats.base import PAD, Vocab, Written
from lengen.metrics.response_metrics import ANSWER_MATCH, EDIT_DISTANCE, EXACT_MATCH, Metric, Responses, check_responses

Given = Tensor | str | Sequence[str]
"""Responses of a batch: token ids, or texts."""


def without(preds: Tensor, target: Tensor, ignored: int, first: int) -> tuple[Tensor, Tensor]:
    """Return both without the places that the target ignores, and without rows in which it ignores all.

    Args:
        preds: (B, S) token ids.
        target: (B, S) token ids, ``ignored`` where nothing is asked.
        ignored: The label of such places.
        first: What is added to ids, so that 0 pads alone.
    """
    shapes = [tuple(getattr(ids, "shape", ())) for ids in (preds, target)]
    if shapes[0] != shapes[1] or len(shapes[0]) != 2:
        fault = f"preds are {shapes[0]} and target is {shapes[1]}: expected token ids of one shape (B, S)"
        raise ValueError(f"{fault}, since ignore_index={ignored} marks places of both")
    counted = target != ignored
    rows = counted.any(dim=1)
    order = (~counted).int().argsort(dim=1, stable=True)  # what is asked comes first
    both = [((ids + first) * counted).gather(1, order)[rows] for ids in (preds, target)]
    return both[0], both[1]


class Counted(TorchMetric):
    """Keeps the counts of a metric; `compute` gives their rate.

    Args:
        metric: one of `lengen.metrics.METRICS`, or one of your own.
        format: how responses are written, for metrics that ask for their parts.
        vocab: the symbols they are written with.
        ignore_index: a label of the target where nothing is asked, such as -100: such places count in neither.
        **kwargs: options of every `torchmetrics.Metric`, such as ``dist_sync_on_step``.

    Raises:
        ValueError: What is no label, and, in `update`, tensors that the metric cannot count.

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
        self, metric: Metric, format: Written | None = None, vocab: Vocab | None = None, *,
        ignore_index: int | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        if not isinstance(ignore_index, int | None):
            raise ValueError(f"ignore_index={ignore_index!r}: expected a label, such as -100")
        self.metric, self.format, self.vocab, self.ignore_index = metric, format, vocab, ignore_index
        for state in ("counted", "per"):
            # Whole numbers are exact at any size, and some devices have no double precision.
            self.add_state(state, torch.tensor(0, dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, preds: Given, target: Given) -> None:
        """Count a batch: token ids (B, R) and (B, S), padded on the right with 0, or texts.

        Raises `ValueError` for responses that the metric is not for.
        """
        ids: list[Any] = [[part] if isinstance(part, str) else part for part in (preds, target)]
        if all(isinstance(part, list | tuple) and all(isinstance(text, str) for text in part) for part in ids):
            ids = [self._tokens(part) for part in ids]
        if self.ignore_index is not None:
            ids = [*without(ids[0], ids[1], self.ignore_index, first=0 if self.vocab else 1)]
        check_responses(*ids)
        always = {"n": len(ids[1]), "reference_tokens": int((ids[1] != PAD).sum())}
        counts = always | dict(self.metric.counts(Responses(ids[0], ids[1], self.format, self.vocab)))
        if self.metric.numerator not in counts or self.metric.denominator not in counts:
            raise ValueError(
                f"{self.metric.name}: nothing of it is counted of these responses; expected the format and vocabulary "
                "of responses that it is for, as in Counted(metric, format, vocab)"
            )
        self.counted += whole(self.metric, counts[self.metric.numerator])
        self.per += whole(self.metric, counts[self.metric.denominator])

    def _tokens(self, texts: Sequence[str]) -> Tensor:
        """Return the ids of texts, (B, R): of the vocabulary, or else those of Unicode."""
        encode = self.vocab.encode if self.vocab else lambda text: [ord(letter) for letter in text]
        rows = [torch.as_tensor(encode(text), dtype=torch.int64) for text in texts]
        return pad_sequence(rows, batch_first=True, padding_value=PAD) if rows else torch.zeros(0, 0, dtype=torch.int64)

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
        **kwargs: ``ignore_index`` of `Counted`, and options of every `torchmetrics.Metric`.

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
        **kwargs: ``ignore_index`` of `Counted`, and options of every `torchmetrics.Metric`.

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
        **kwargs: ``ignore_index`` of `Counted`, and options of every `torchmetrics.Metric`.

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

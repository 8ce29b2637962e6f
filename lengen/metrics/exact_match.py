"""Exact match of whole responses, and of the final answer alone."""

import torch
from torch import Tensor
from torchmetrics import Metric

from lengen.data.reading import final_answer
from lengen.formats import Format
from lengen.vocab import PAD, Vocab


def exact_match(written: Tensor, reference: Tensor) -> Tensor:
    """(B,) bool: the response equals the reference token by token, end included.

    >>> exact_match(torch.tensor([[3, 4, 1], [3, 1, 0]]), torch.tensor([[3, 4, 1], [3, 4, 1]])).tolist()
    [True, False]

    Args:
        written: (B, R) token ids, padded on the right.
        reference: (B, S) token ids, padded on the right; R and S may differ.
    """
    size = max(written.shape[1], reference.shape[1])
    return (_widen(written, size) == _widen(reference, size)).all(dim=1)


def answer_match(format: Format, vocab: Vocab, written: Tensor, reference: Tensor) -> Tensor:
    """(B,) bool: the final answers are equal, whatever the scratchpads say (Figure 15; Figure 3 for parity)."""
    return exact_match(final_answer(format, vocab, written), final_answer(format, vocab, reference))


def _widen(tokens: Tensor, size: int) -> Tensor:
    return torch.nn.functional.pad(tokens, (0, size - tokens.shape[1]), value=PAD)


class ExactMatch(Metric):
    """Share of responses that are right as a whole."""

    higher_is_better = True
    full_state_update = False
    correct: Tensor
    total: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("correct", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("total", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, written: Tensor, reference: Tensor) -> None:
        """Count a batch; see `exact_match` for shapes."""
        self._count(exact_match(written, reference))

    def _count(self, correct: Tensor) -> None:
        self.correct += correct.sum()
        self.total += correct.numel()

    def compute(self) -> Tensor:
        return self.correct / self.total


class AnswerMatch(ExactMatch):
    """Share of responses whose final answer is right."""

    def __init__(self, format: Format, vocab: Vocab) -> None:
        super().__init__()
        self.format = format
        self.vocab = vocab

    def update(self, written: Tensor, reference: Tensor) -> None:
        """Count a batch; see `answer_match` for shapes."""
        self._count(answer_match(self.format, self.vocab, written, reference))

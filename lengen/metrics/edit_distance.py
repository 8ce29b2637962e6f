"""Levenshtein distance between token sequences: exact for any length."""

import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor
from torchmetrics import Metric

from lengen.vocab import PAD


def edit_distances(written: Tensor, reference: Tensor) -> Tensor:
    """(B,) insertions, deletions and substitutions that turn each written response into its reference.

    Padding does not count. Exact, where torchmetrics 1.9's own edit distance is a beam search of width 25 that is
    wrong for longer sequences.

    >>> edit_distances(torch.tensor([[5, 6, 7, 1]]), torch.tensor([[5, 7, 1, 0]])).tolist()
    [1]
    """
    pairs = zip(_rows(written), _rows(reference), strict=True)
    return torch.tensor([Levenshtein.distance(a, b) for a, b in pairs], dtype=torch.long)


def _rows(tokens: Tensor) -> list[list[int]]:
    return [[token for token in row if token != PAD] for row in tokens.tolist()]


class EditDistance(Metric):
    """Edit distance per reference token: 0 is perfect."""

    higher_is_better = False
    full_state_update = False
    edits: Tensor
    tokens: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("edits", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("tokens", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, written: Tensor, reference: Tensor) -> None:
        """Count a batch; see `edit_distances` for shapes."""
        self.edits += edit_distances(written, reference).sum()
        self.tokens += (reference != PAD).sum()

    def compute(self) -> Tensor:
        return self.edits / self.tokens

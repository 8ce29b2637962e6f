"""Exact match of whole responses."""

from typing import TYPE_CHECKING

from lengen.formats.vocab import PAD
from lengen.metrics.metric import Metric, Responses, check_responses

if TYPE_CHECKING:
    from torch import Tensor


def exact_match(written: "Tensor", reference: "Tensor") -> "Tensor":
    """Return (B,) bool: the response equals the reference token by token, end included.

    Args:
        written: (B, R) token ids, padded on the right.
        reference: (B, S) token ids, padded on the right; R and S may differ.

    Raises:
        ValueError: What are no two batches of as many responses.

    Example:
        >>> import torch
        >>> exact_match(torch.tensor([[3, 4, 1], [3, 1, 0]]), torch.tensor([[3, 4, 1], [3, 4, 1]])).tolist()
        [True, False]
    """
    check_responses(written, reference)
    size = max(written.shape[1], reference.shape[1])
    return (widen(written, size) == widen(reference, size)).all(dim=1)


def widen(tokens: "Tensor", size: int) -> "Tensor":
    """Return (B, size) the (B, R) token ids, R at most ``size``, with padding on the right."""
    wide = tokens.new_full((len(tokens), size), PAD)
    wide[:, : tokens.shape[1]] = tokens
    return wide


def _counts(responses: Responses) -> dict[str, float]:
    return {"correct": int(exact_match(responses.written, responses.reference).sum())}


EXACT_MATCH = Metric("exact", "whole response right", _counts, "correct")

"""Levenshtein distance between token sequences: exact for any length."""

from typing import TYPE_CHECKING

from lengen.formats.vocab import PAD
from lengen.metrics.exact_match import exact_match
from lengen.metrics.metric import Metric, Responses, check_responses

if TYPE_CHECKING:
    from torch import Tensor


def edit_distances(written: "Tensor", reference: "Tensor") -> "Tensor":
    """Return (B,) int64 insertions, deletions and substitutions that turn each written response into its reference.

    Padding on the right does not count; inside a response it is a token that the model wrote. Exact, where torchmetrics
    1.9's own edit distance is a beam search of width 25 that is wrong for longer sequences.

    Args:
        written: (B, R) token ids, padded on the right.
        reference: (B, S) token ids, padded on the right; R and S may differ.

    Raises:
        ValueError: What are no two batches of as many responses.

    Example:
        >>> import torch
        >>> edit_distances(torch.tensor([[5, 6, 7, 1]]), torch.tensor([[5, 7, 1, 0]])).tolist()
        [1]
    """
    check_responses(written, reference)
    from rapidfuzz.distance import Levenshtein  # what only reads metrics by name needs none

    pairs = zip(_rows(written), _rows(reference), strict=True)
    return written.long().new_tensor([Levenshtein.distance(a, b) for a, b in pairs])  # ids may be bytes


def _rows(tokens: "Tensor") -> list[list[int]]:
    """Return token ids of each row without the padding on its right."""
    rows = tokens.tolist()
    for row in rows:
        while row and row[-1] == PAD:
            row.pop()
    return rows


def _counts(responses: Responses) -> dict[str, float]:
    wrong = ~exact_match(responses.written, responses.reference)  # all others are no edit away
    return {"edit_sum": int(edit_distances(responses.written[wrong], responses.reference[wrong]).sum())}


EDIT_DISTANCE = Metric(
    "edit",
    "edits per token",
    _counts,
    "edit_sum",
    denominator="reference_tokens",
    proportion=False,
    higher_is_better=False,
    own_text=True,
)

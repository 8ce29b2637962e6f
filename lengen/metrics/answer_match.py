"""Exact match of the final answer, whatever the scratchpad before it."""

from typing import TYPE_CHECKING

from lengen.metrics.exact_match import exact_match, widen
from lengen.metrics.metric import Metric, Responses, check_responses

if TYPE_CHECKING:
    from torch import Tensor

    from lengen.formats.base import Written
    from lengen.formats.vocab import Vocab


def answer_match(format: "Written", vocab: "Vocab", written: "Tensor", reference: "Tensor") -> "Tensor":
    """Return (B,) bool: the final answers are equal, whatever the scratchpads (Figure 15; Figure 3 for parity).

    Args:
        format: How responses are written (`TaskData.format`).
        vocab: The symbols they are written with (`TaskData.vocab`).
        written: (B, R) token ids, padded on the right.
        reference: (B, S) token ids, padded on the right; R and S may differ.

    Raises:
        ValueError: What are no two batches of as many responses.

    Example:
        >>> import lengen
        >>> import torch
        >>> data = lengen.TaskData(lengen.setting("copy", digits=2), seed=0)
        >>> lengen.answer_match(data.format, data.vocab, torch.tensor([[3, 4, 1]]), torch.tensor([[3, 5, 1]])).tolist()
        [False]
    """
    from lengen.data.reading import final_answer

    check_responses(written, reference)
    size = max(1, written.shape[1], reference.shape[1])
    said, true = (final_answer(format, vocab, widen(tokens, size)) for tokens in (written, reference))
    return exact_match(said, true)


def _counts(responses: Responses) -> dict[str, float]:
    written, reference, format, vocab = responses
    if format is None or vocab is None:
        raise ValueError("answer: expected format and vocabulary of the responses: they tell where answers stand")
    return {"answer_correct": int(answer_match(format, vocab, written, reference).sum())}


ANSWER_MATCH = Metric("answer", "final answer right", _counts, "answer_correct")

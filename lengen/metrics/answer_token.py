"""The answer of one token, looked up at the place of the true one, wherever the model ends its response.

With the true prefix in the context only this token is scored; `lengen.metrics.answer_match` reads the token before
the first end that the model writes, so an early or a missing end makes a right answer wrong there.
"""

from typing import TYPE_CHECKING

from lengen.formats.vocab import END
from lengen.metrics.exact_match import widen
from lengen.metrics.metric import Metric, Responses, check_responses

if TYPE_CHECKING:
    from torch import Tensor


def answer_token(written: "Tensor", reference: "Tensor") -> "Tensor":
    """Return (B,) bool: the token before the end of the reference is written in the same place (Figure 3).

    >>> import torch
    >>> written, reference = torch.tensor([[3, 4, 4], [3, 1, 1]]), torch.tensor([[4, 4, 1], [3, 4, 1]])
    >>> answer_token(written, reference).tolist()
    [True, False]

    Args:
        written: (B, R) token ids, padded on the right.
        reference: (B, S) token ids with one end each, which is not the first; R and S may differ.
    """
    check_responses(written, reference)
    size = max(1, written.shape[1], reference.shape[1])
    found, true = widen(written, size), widen(reference, size)
    place = (true == END).int().argmax(dim=1, keepdim=True) - 1
    if bool((place < 0).any()):
        raise ValueError(f"reference responses lack an answer: expected a token, then the end ({END}), in each of them")
    return (found.gather(1, place) == true.gather(1, place))[:, 0]


def _counts(responses: Responses) -> dict[str, float]:
    if responses.format is None or not responses.format.last_token_only or not responses.format.ends:
        return {}  # several tokens, or no end to count back from
    return {"answer_token_correct": int(answer_token(responses.written, responses.reference).sum())}


ANSWER_TOKEN = Metric("answer_token", "answer right in its place", _counts, "answer_token_correct")

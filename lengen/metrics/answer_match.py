"""Exact match of the final answer, whatever the scratchpad before it says."""

from typing import TYPE_CHECKING

from lengen.metrics.exact_match import exact_match
from lengen.metrics.metric import Metric, Responses

if TYPE_CHECKING:
    from torch import Tensor

    from lengen.formats import Format


def answer_match(format: "Format", written: "Tensor", reference: "Tensor") -> "Tensor":
    """(B,) bool: the final answers are equal, whatever the scratchpads say (Figure 15; Figure 3 for parity)."""
    from lengen.formats import final_answer

    return exact_match(final_answer(format, written), final_answer(format, reference))


def _counts(responses: Responses) -> dict[str, float]:
    if responses.format is None:
        raise ValueError("answer: expected the format of the responses, which tells where the final answer stands")
    return {"answer_correct": int(answer_match(responses.format, responses.written, responses.reference).sum())}


ANSWER_MATCH = Metric("answer", "final answer right", _counts, "answer_correct")

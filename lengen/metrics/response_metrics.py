"""Metrics of responses: exact match of the whole or of the answer, edits; each a pure function and its counts.

No torch here nor in the files of the metrics, which only call methods of the tensors they are given: what compares and
draws asks for names and words alone. `lengen.metrics.torch_metrics` makes a torchmetrics class of any metric.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from lengen.digits import Tensor
from lengen.formats.base import END, PAD, Vocab, Written


class Responses(NamedTuple):
    """Responses of one test cell in one mode, beside the true ones."""

    written: "Tensor"
    """(B, R) token ids, padded on the right."""
    reference: "Tensor"
    """(B, S) token ids, padded on the right; R and S may differ."""
    format: "Written | None" = None
    """Format of the responses, for metrics that need parts of them."""
    vocab: "Vocab | None" = None
    """The symbols they are written with."""


def check_responses(preds: Any, target: Any) -> None:
    """Raise `ValueError` unless both are token ids of equally many responses."""
    for name, tokens in (("preds", preds), ("target", target)):
        if getattr(tokens, "ndim", None) != 2 or not hasattr(tokens, "is_floating_point"):
            shape = tuple(tokens.shape) if hasattr(tokens, "shape") else repr(tokens)[:60]
            fault = f"{name} are {type(tokens).__name__} {shape}: expected a tensor (B, R) of token ids"
            raise ValueError(f"{fault}, padded on the right; TaskData.vocab.encode makes them of text")
        if tokens.is_floating_point():
            raise ValueError(f"{name} are {tokens.dtype}: expected token ids, not logits or probabilities")
        if (tokens < 0).any():
            least = int(tokens.min())
            raise ValueError(f"{name} hold {least}: expected token ids from 0 on; pad with 0, or name ignore_index")
    if len(preds) != len(target):
        both = f"preds are {len(preds)} responses and target has {len(target)}"
        raise ValueError(f"{both}: expected equal numbers")


@dataclass(frozen=True)
class Metric:
    """A rate over examples or tokens: ``numerator`` per ``denominator``, both names of counts."""

    name: str
    words: str
    """Name for tables and axes."""
    counts: Callable[[Responses], Mapping[str, float]]
    """The counts that this metric adds, by name; `n` and `reference_tokens` are always there."""
    numerator: str
    denominator: str = "n"
    proportion: bool = True
    """The numerator counts successes among the denominator, so intervals for proportions hold."""
    higher_is_better: bool = True
    own_text: bool = False
    """Counted only of text that the model wrote itself, without the true prefix in the context."""


def exact_match(preds: "Tensor", target: "Tensor") -> "Tensor":
    """Return (B,) bool, True if the response equals the target token by token, end included.

    Args:
        preds: (B, R) token ids, padded on the right.
        target: (B, S) token ids, padded on the right; R and S may differ.

    Raises:
        ValueError: What are no two batches of as many responses.

    Example:
        >>> import torch
        >>> exact_match(torch.tensor([[3, 4, 1], [3, 1, 0]]), torch.tensor([[3, 4, 1], [3, 4, 1]])).tolist()
        [True, False]
    """
    check_responses(preds, target)
    size = max(preds.shape[1], target.shape[1])
    return (widen(preds, size) == widen(target, size)).all(dim=1)


def widen(tokens: "Tensor", size: int) -> "Tensor":
    """Return (B, size) the (B, R) token ids, R at most ``size``, with padding on the right."""
    wide = tokens.new_full((len(tokens), size), PAD)
    wide[:, : tokens.shape[1]] = tokens
    return wide


def _exact_counts(responses: Responses) -> dict[str, float]:
    return {"correct": int(exact_match(responses.written, responses.reference).sum())}


EXACT_MATCH = Metric("exact", "whole response right", _exact_counts, "correct")


def answer_match(format: "Written", vocab: "Vocab", preds: "Tensor", target: "Tensor") -> "Tensor":
    """Return (B,) bool, True if the final answers are equal, whatever the scratchpads (Figure 15; Figure 3 for parity).

    Args:
        format: How responses are written (`TaskData.format`).
        vocab: The symbols they are written with (`TaskData.vocab`).
        preds: (B, R) token ids, padded on the right.
        target: (B, S) token ids, padded on the right; R and S may differ.

    Raises:
        ValueError: What are no two batches of as many responses.

    Example:
        >>> import lengen
        >>> import torch
        >>> data = lengen.TaskData(lengen.setting("copy", digits=2), seed=0)
        >>> lengen.answer_match(data.format, data.vocab, torch.tensor([[3, 4, 1]]), torch.tensor([[3, 5, 1]])).tolist()
        [False]
    """
    from lengen.data.reading_responses import final_answer

    check_responses(preds, target)
    size = max(1, preds.shape[1], target.shape[1])
    answers, expected = (final_answer(format, vocab, widen(tokens, size)) for tokens in (preds, target))
    return exact_match(answers, expected)


def _answer_counts(responses: Responses) -> dict[str, float]:
    written, reference, format, vocab = responses
    if format is None or vocab is None:
        raise ValueError("answer: expected format and vocabulary of the responses: they tell where answers stand")
    return {"answer_correct": int(answer_match(format, vocab, written, reference).sum())}


ANSWER_MATCH = Metric("answer", "final answer right", _answer_counts, "answer_correct")


# With the true prefix in the context only this token is scored; `lengen.metrics.exact_match` reads the token before
# the first end that the model writes, so an early or a missing end makes a right answer wrong there.


def answer_token(preds: "Tensor", target: "Tensor") -> "Tensor":
    """Return (B,) bool, True if the token before the end of the target is written in its place (Figure 3).

    >>> import torch
    >>> preds, target = torch.tensor([[3, 4, 4], [3, 1, 1]]), torch.tensor([[4, 4, 1], [3, 4, 1]])
    >>> answer_token(preds, target).tolist()
    [True, False]

    Args:
        preds: (B, R) token ids, padded on the right.
        target: (B, S) token ids with one end each, which is not the first; R and S may differ.
    """
    check_responses(preds, target)
    size = max(1, preds.shape[1], target.shape[1])
    wide, true = widen(preds, size), widen(target, size)
    place = (true == END).int().argmax(dim=1, keepdim=True) - 1
    if bool((place < 0).any()):
        raise ValueError(f"target responses lack an answer: expected a token, then the end ({END}), in each of them")
    return (wide.gather(1, place) == true.gather(1, place))[:, 0]


def _token_counts(responses: Responses) -> dict[str, float]:
    if responses.format is None or not responses.format.last_token_only or not responses.format.ends:
        return {}  # several tokens, or no end to count back from
    return {"answer_token_correct": int(answer_token(responses.written, responses.reference).sum())}


ANSWER_TOKEN = Metric("answer_token", "answer right in its place", _token_counts, "answer_token_correct")


def edit_distances(preds: "Tensor", target: "Tensor") -> "Tensor":
    """Return (B,) int64 insertions, deletions and substitutions that turn each written response into its target.

    Padding on the right does not count; inside a response it is a token that the model wrote. Exact, where torchmetrics
    1.9's own edit distance is a beam search of width 25 that is wrong for longer sequences.

    Args:
        preds: (B, R) token ids, padded on the right.
        target: (B, S) token ids, padded on the right; R and S may differ.

    Raises:
        ValueError: What are no two batches of as many responses.

    Example:
        >>> import torch
        >>> edit_distances(torch.tensor([[5, 6, 7, 1]]), torch.tensor([[5, 7, 1, 0]])).tolist()
        [1]
    """
    check_responses(preds, target)
    from rapidfuzz.distance import Levenshtein  # what only reads metrics by name needs none

    pairs = zip(_rows(preds), _rows(target), strict=True)
    return preds.long().new_tensor([Levenshtein.distance(a, b) for a, b in pairs])  # ids may be bytes


def _rows(tokens: "Tensor") -> list[list[int]]:
    """Return token ids of each row without the padding on its right."""
    rows = tokens.tolist()
    for row in rows:
        while row and row[-1] == PAD:
            row.pop()
    return rows


def _edit_counts(responses: Responses) -> dict[str, float]:
    wrong = ~exact_match(responses.written, responses.reference)  # all others are no edit away
    return {"edit_sum": int(edit_distances(responses.written[wrong], responses.reference[wrong]).sum())}


_OF_EDITS = {"proportion": False, "higher_is_better": False, "own_text": True}
EDIT_DISTANCE = Metric("edit", "edits per token", _edit_counts, "edit_sum", "reference_tokens", **_OF_EDITS)

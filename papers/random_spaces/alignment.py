"""Attention to the two digits that are added, as a number for the maps of Figure 4.4 of the thesis.

The maps show the largest weight over heads, and Section 4.3.2 says that those of Abacus positions select the right
digits at untrained lengths too. For a digit of the answer the digits to select are those of the same significance in
both operands. Its alignment is the largest share of one head, of any layer, on the two together, in the row that
predicts it: 1 where a head looks at nothing else.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lengen.data.task_data import TaskData
from lengen.digits.problems import Problems
from lengen.formats.linear import Linear
from lengen.models import Transformer


class Aligned(NamedTuple):
    """Attention of one test cell."""

    shares: np.ndarray
    """(N,) float32: alignment of each problem, the mean over the digits of its answer that operands have."""
    largest: np.ndarray
    """(layers, T - 1, T - 1) float16: the first problem's weights, the largest over the heads of each layer."""
    tokens: np.ndarray
    """(T,) int16: its tokens."""


def added(text: str, *, reverse_query: bool, reverse_response: bool) -> list[tuple[int, int, int]]:
    """List the row that predicts a digit of the answer, and columns of the two digits that it is the sum of.

    Units first.

    A last carry has no digits of its own and is left out.

    >>> added("$12+34=46$", reverse_query=False, reverse_response=False)
    [(7, 2, 5), (6, 1, 4)]
    >>> added("$12+34=64$", reverse_query=False, reverse_response=True)
    [(6, 2, 5), (7, 1, 4)]
    """
    plus, equals = text.index("+"), text.index("=")
    first = _units_first(1, plus, reverse_query)
    second = _units_first(plus + 1, equals, reverse_query)
    answer = _units_first(equals + 1, text.index("$", equals), reverse_response)
    return [(digit - 1, a, b) for digit, a, b in zip(answer, first, second, strict=False)]


def _units_first(start: int, stop: int, reverse: bool) -> range:
    return range(start, stop) if reverse else range(stop - 1, start - 1, -1)


def alignments(layers: Tensor, rows: list[tuple[int, int, int]]) -> Tensor:
    """Return alignment (R,) of each digit, from attention weights (layers, heads, T, T) of one problem."""
    return torch.stack([(layers[:, :, row, a] + layers[:, :, row, b]).max() for row, a, b in rows])


@torch.no_grad()
def aligned(model: Transformer, data: TaskData, problems: Problems) -> Aligned:
    """Return alignment of problems without a scratchpad, their true answers given."""
    format = data.spec.data.format
    assert isinstance(format, Linear)
    shares: list[float] = []
    first: tuple[Tensor, Tensor] | None = None
    for part in problems.parts():
        batch = data.writer.write(part)
        weights = torch.stack([layer["self"] for layer in model.attention(batch.to(model.device))], dim=1).cpu()
        for tokens, layers in zip(batch.tokens.cpu(), weights, strict=True):
            text = "".join(data.vocab.decode([int(token)]) for token in tokens)
            rows = added(text, reverse_query=format.reverse_query, reverse_response=format.reverse_response)
            shares.append(float(alignments(layers, rows).mean()))
            first = first or (tokens, layers)
    assert first is not None
    tokens, layers = first
    return Aligned(
        np.array(shares, np.float32), layers.amax(dim=1).numpy().astype(np.float16), tokens.numpy().astype(np.int16)
    )

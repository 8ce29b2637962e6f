"""A string of digits from its end to its beginning.

    string  0412      answer  2140

One of the string tasks of Deletang et al. 2023 ("Neural Networks and the Chomsky Hierarchy").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengen.digits.lazy import torch
from lengen.digits.problems import Problems
from lengen.tasks.strings import Strings

if TYPE_CHECKING:
    from torch import Tensor


class Reverse(Strings, tag="reverse", frozen=True):
    """A string of digits from its end to its beginning: 0412=2140.

    Example:
        >>> import lengen
        >>> task = lengen.Reverse(digits=3)
        >>> task.text(task.parse(["041"]))
        ['140']
    """

    def place(self, place: int, size: int) -> int:
        return size + 1 - place

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        place = problems.lengths - 1 - torch.arange(problems.operands.shape[2])
        return problems.operands[:, 0].gather(1, place.clamp(min=0)) * (place >= 0)

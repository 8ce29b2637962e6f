"""A string of digits from its end to its beginning.

    string  0412      answer  2140

One of the string tasks of Deletang et al. 2023 ("Neural Networks and the Chomsky Hierarchy").
"""

import torch
from torch import Tensor

from lengen.config import tasks as parts
from lengen.problems import Problems
from lengen.tasks.strings import StringTask


class Reverse(StringTask):
    """Strings of 1 to ``digits`` digits of the base."""

    part: parts.Reverse

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        place = problems.lengths - 1 - torch.arange(problems.operands.shape[2])
        return problems.operands[:, 0].gather(1, place.clamp(min=0)) * (place >= 0)

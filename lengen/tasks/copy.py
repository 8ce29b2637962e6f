"""A string of digits, again: can a model of its trained lengths copy longer ones?

    string  0412      answer  0412

Jelassi et al. 2024 ("Repeat After Me") and Zhou et al. 2024 ("What Algorithms can Transformers Learn?") test it.
"""

from torch import Tensor

from lengen.config import tasks as parts
from lengen.problems import Problems
from lengen.tasks.strings import StringTask


class Copy(StringTask):
    """Strings of 1 to ``digits`` digits of the base."""

    part: parts.Copy

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return problems.operands[:, 0]

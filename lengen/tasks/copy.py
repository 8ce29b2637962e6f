"""A string of digits, again, longer than those that were trained.

    string  0412      answer  0412

Jelassi et al. 2024 ("Repeat After Me") and Zhou et al. 2024 ("What Algorithms can Transformers Learn?") test it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengen.digits.problems import Problems
from lengen.tasks.strings import Strings

if TYPE_CHECKING:
    from torch import Tensor


class Copy(Strings, tag="copy", frozen=True):
    """A string of digits again: 0412=0412.

    Example:
        >>> import lengen
        >>> task = lengen.Copy(digits=4)
        >>> task.text(task.parse(["0412"]))
        ['0412']
    """

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return problems.operands[:, 0]

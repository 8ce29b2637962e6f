"""What tasks on strings of digits share: how strings are drawn and read."""

import torch

from lengen import digits
from lengen.problems import OperandError, Problems
from lengen.tasks.base import Task


class StringTask(Task):
    """A task on one string of digits, zeros at its beginning included."""

    def train(self, n: int, generator: torch.Generator) -> Problems:
        """Length uniform on 1 to the longest trained, then uniform digits."""
        longest = self.part.longest
        return self._drawn(torch.randint(1, longest + 1, (n, 1), generator=generator), longest, generator)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """Uniform digits of exactly the given length."""
        return self._drawn(torch.full((n, 1), length), length, generator)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 1:
            raise OperandError(f"{self.part.name} takes one string of digits, got {len(operands)}")
        text, allowed = operands[0].lower(), self.part.symbols
        if not text or set(text) - set(allowed):
            raise OperandError(
                f"operand '{operands[0]}' is not a string of digits: expected characters 0 to {allowed[-1]} only"
            )
        return Problems(digits.from_strings([text], len(text)).flip(1)[None], torch.tensor([[len(text)]]))

    def _drawn(self, lengths: torch.Tensor, width: int, generator: torch.Generator) -> Problems:
        values = torch.randint(0, len(self.part.symbols), (*lengths.shape, width), generator=generator)
        return Problems(values * (torch.arange(width) < lengths[..., None]), lengths)

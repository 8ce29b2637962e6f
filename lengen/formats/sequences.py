"""How sorting and its auxiliary tasks are written, Figures 3.1, 3.4 and 3.10 of "Improving Length-Generalization in
Transformers via Task Hinting".

    sorting        5 3 1 4 2 ⊥ 1 2 3 4 5      all after ⊥ is trained: exactly as many tokens as were read, no end
    successor      5 3 1 4 2 ⊥ 4 5            5
    count          5 5 5 4 5 ⊥ 4              4
    fill           5 5 5 ⊥ 5 ⊥ 5 5            what follows the second ⊥
    fill_as_drawn  5 5 5 ⊥ 5 ⊥ 5 5 PAD PAD    the printed mask also trains two PAD

Nothing begins a sequence, and no token carries coordinates.
"""

import torch
from torch import Tensor

from lengen.formats.base import Format
from lengen.formats.layout import UNUSED, Layout
from lengen.tasks.base import Problems
from lengen.tasks.occurrences import rarer
from lengen.tasks.sorting import ascending, successors
from lengen.vocab import Vocab

DELIMITER = "⊥"


class SequenceFormat(Format):
    """``sequence ⊥ response``, for numbers 1 to ``alphabet``, one token each."""

    levels = 1
    minimal = False
    separators = ""
    last_token_only = False
    ends = False

    def __init__(self, alphabet: int) -> None:
        self.vocab = Vocab((*map(str, range(1, alphabet + 1)), DELIMITER))

    def numbers(self, problems: Problems) -> Tensor:
        """The operands, then what `results` says, each number as its place in the vocabulary."""
        rows = torch.cat([problems.operands, self.results(problems)[:, None]], dim=1)
        return (rows - 1).clamp(min=0)

    def results(self, problems: Problems) -> Tensor:
        """(B, W) numbers of the response, 0 beyond it."""
        raise NotImplementedError

    def shapes(self, problems: Problems) -> Tensor:
        """Numbers of each operand."""
        return problems.lengths

    def _sequence(self, length: int) -> Layout:
        """A layout that begins with the first ``length`` numbers of row 0 and the delimiter."""
        layout = Layout(self.levels, opening=0)
        write(layout, 0, 0, length)
        layout.symbol(DELIMITER)
        return layout


def write(layout: Layout, row: int, first: int, last: int) -> None:
    """Append the numbers from ``first`` up to ``last`` of a row."""
    layout.number(row, range(first, last), lambda place: (UNUSED,))


class SortingFormat(SequenceFormat):
    """``5 3 1 4 2 ⊥ 1 2 3 4 5``."""

    def results(self, problems: Problems) -> Tensor:
        return ascending(problems.operands[:, 0], problems.lengths[:, 0])

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        layout = self._sequence(shape[0])
        layout.respond()
        write(layout, 1, 0, shape[0])
        return layout


class SuccessorFormat(SequenceFormat):
    """``5 3 1 4 2 ⊥ 4 5``: the last number is the response."""

    def results(self, problems: Problems) -> Tensor:
        return _single(problems, successors(problems.operands[:, 0], problems.operands[:, 1, :1])[:, 0])

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        layout = self._sequence(shape[0])
        write(layout, 1, 0, 1)
        layout.respond()
        write(layout, 2, 0, 1)
        return layout


class CountFormat(SequenceFormat):
    """``5 5 5 4 5 ⊥ 4``."""

    def results(self, problems: Problems) -> Tensor:
        return _single(problems, rarer(problems.operands[:, 0]))

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        layout = self._sequence(shape[0])
        layout.respond()
        write(layout, 1, 0, 1)
        return layout


class FillFormat(SequenceFormat):
    """``5 5 5 ⊥ 5 ⊥ 5 5``; ``padding`` more targets that are PAD, which the printed mask has."""

    def __init__(self, alphabet: int, padding: int = 0) -> None:
        super().__init__(alphabet)
        self.padding = padding

    def results(self, problems: Problems) -> Tensor:
        return problems.operands[:, 0]

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        copies, begun = shape
        layout = self._sequence(copies)
        write(layout, 1, 0, begun)
        layout.symbol(DELIMITER)
        layout.respond()
        write(layout, 2, begun, copies)
        for _ in range(self.padding):
            layout.symbol("PAD")
        return layout


def _single(problems: Problems, results: Tensor) -> Tensor:
    """Results (B,) as the only number of a row."""
    row = torch.zeros_like(problems.operands[:, 0])
    row[:, 0] = results
    return row

"""Sums by the length of the first and of the second operand: the test that equal lengths leave out.

`TwoOperandAddition` draws operands of equal length alone, in training and in tests. A model can be right on all of
these and on no other sum.
"""

from collections.abc import Sequence

import torch

from lengen.callbacks.accuracy_grid import Measurement, score_cell
from lengen.data.task_data import TaskData
from lengen.digits import OperandError, Problems, cells, generator, sample, whole
from lengen.models import Transformer
from lengen.part import SettingError
from lengen.results.progress import Report
from lengen.results.records import Grid


def problems(first: int, second: int, examples: int, base: int = 10) -> Problems:
    """Return pairs of numbers with exactly ``first`` and ``second`` digits, the same for every model of a base."""
    lengths = torch.tensor([[first, second]]).repeat(examples, 1)
    drawn = sample(lengths, max(first, second), generator("operand lengths", first, second), base)
    return Problems(drawn, lengths)


@torch.no_grad()
def operand_lengths(model: Transformer, data: TaskData, lengths: Sequence[int], examples: int = 100) -> Grid:
    """Return the counts of all metrics over a grid of first by second operand length, of a model that adds two numbers.

    Raises `SettingError` for another task, `OperandError` for lengths that the format or the position ids cannot take.
    """
    task = data.spec.data.task
    if task.SIGNS.operator != "+" or task.counts != (2,) or getattr(task, "subtasks", False):
        raise SettingError(f"data.task: {task.name}: expected a task that adds two numbers")
    grid, lengths = Grid(("first", "second")), list(lengths)
    for first, second in cells(lengths, lengths):
        pairs = problems(first, second, whole("examples", examples), len(task.symbols))
        for mode, counts in score_cell(model, data.writer, pairs, free_running=False).items():
            grid.add((first, second), mode, counts)
    return grid


EXAMPLES = 20
"""Problems of each cell at the end of a training."""


class OperandLengths(Measurement):
    """The grid of every trained model that adds two numbers: four trained lengths, and four that are tested beyond.

    ``info`` is the grid; ``scalars`` are exact match over trained lengths, of equal and of unequal ones.
    """

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        span = data.spec.data.trained
        trained = four(span.every)
        lengths = [*trained, *four(sorted({length for length in data.spec.test.lengths if length > span.length}))]
        try:
            grid = operand_lengths(model, data, lengths, EXAMPLES)
        except (SettingError, OperandError):  # another task, or a format of equal lengths alone
            return
        correct = [[grid.scores[first, second][grid.mode]["correct"] for second in lengths] for first in lengths]
        self.info = {"operand_lengths": {"lengths": lengths, "examples": EXAMPLES, "correct": correct}}
        for name, equal in (("equal", True), ("unequal", False)):
            if chosen := [cell for cell in cells(trained, trained) if (cell[0] == cell[1]) is equal]:
                self.scalars[f"exact_match_{name}_lengths"] = grid.total(chosen, grid.mode).rate("correct")


def four(lengths: Sequence[int]) -> list[int]:
    """Return at most four of some lengths, evenly spaced, the first and the last among them.

    >>> four([1, 2, 3, 4, 5, 6, 7]), four([8, 9]), four([])
    ([1, 3, 5, 7], [8, 9], [])
    """
    return sorted({lengths[round(i * (len(lengths) - 1) / 3)] for i in range(4)}) if lengths else []

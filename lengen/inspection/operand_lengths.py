"""Sums by the length of the first and of the second operand: the test that equal lengths leave out.

`TwoOperandAddition` draws operands of equal length alone, in training and in tests. A model can be right on all of
these and on no other sum.
"""

from collections.abc import Sequence

import torch

from lengen.callbacks.scoring import score_cell
from lengen.data.task_data import TaskData
from lengen.digits.digits import sample
from lengen.digits.problems import Problems, cells, whole
from lengen.digits.randomness import generator
from lengen.models import Transformer
from lengen.part import SettingError
from lengen.results.records import Grid


def problems(first: int, second: int, examples: int) -> Problems:
    """Pairs of numbers with exactly ``first`` and ``second`` digits, the same for every model."""
    lengths = torch.tensor([[first, second]]).repeat(examples, 1)
    drawn = sample(lengths, max(first, second), generator("operand lengths", first, second))
    return Problems(drawn, lengths)


@torch.no_grad()
def operand_lengths(model: Transformer, data: TaskData, lengths: Sequence[int], examples: int = 100) -> Grid:
    """Counts of all metrics over a grid of first by second operand length, of a model that adds two numbers.

    Raises `SettingError` for another task, `OperandError` for lengths that the format or the position ids cannot take.
    """
    task = data.spec.data.task
    if task.SIGNS.operator != "+" or task.counts != (2,) or getattr(task, "subtasks", False):
        raise SettingError(f"data.task: {task.name}: expected a task that adds two numbers")
    grid = Grid(("first", "second"))
    for first, second in cells(lengths, lengths):
        asked = problems(first, second, whole("examples", examples))
        for mode, counts in score_cell(model, data.writer, asked, free_running=False).items():
            grid.add((first, second), mode, counts)
    return grid

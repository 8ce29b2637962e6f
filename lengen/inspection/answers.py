"""Answers of a model of this suite to many problems, as plain text."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from lengen.data.reading import can_run_free
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import generate
from lengen.digits.problems import OperandError, Problems
from lengen.inspection.problem import read
from lengen.models import Transformer
from lengen.part import SettingError

AT_ONCE = 500
"""Problems of one batch."""


class Answers(NamedTuple):
    """Answers in the order of the problems."""

    texts: list[str | None]
    """None for a problem that the model cannot be given."""
    why: str = ""
    """The sentence of the first of those."""


def answers(
    data: TaskData,
    model: Transformer,
    rows: Sequence[Sequence[str]],
    report: Callable[[int, int], None] = lambda done, of: None,
) -> Answers:
    """Let a model answer problems, given by their operands, token by token; ``report`` gets their number so far."""
    task, writer = data.trained(data.spec.data.task.name)
    texts: list[str | None] = [None] * len(rows)
    why = "" if can_run_free(data.spec.data) else "this format cannot be written without its true answer"
    groups: dict[tuple[int, ...], list[tuple[int, Problems]]] = {}
    done = 0
    for place, row in enumerate(rows):
        try:
            problem = task.parse(list(row))
            shape = tuple(problem.lengths[0].tolist())
            data.spec.admit(shape)
            groups.setdefault(shape, []).append((place, problem))
        except (OperandError, SettingError) as error:
            why, done = why or str(error), done + 1
    for group in groups.values() if can_run_free(data.spec.data) else ():
        for start in range(0, len(group), AT_ONCE):
            places, some = zip(*group[start : start + AT_ONCE], strict=True)
            problems = Problems(torch.cat([one.operands for one in some]), torch.cat([one.lengths for one in some]))
            try:
                for place, text in zip(places, read(writer, task, generate(model, writer, problems)), strict=True):
                    texts[place] = text
            except (OperandError, SettingError) as error:
                why = why or str(error)
            done += len(some)
            report(done, len(rows))
    return Answers(texts, why)

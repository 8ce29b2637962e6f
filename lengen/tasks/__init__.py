"""The mathematics: one file per task, or per family of tasks."""

from collections.abc import Callable

from lengen.spec import DataSpec, SpecError, nearest
from lengen.tasks.addition import Addition
from lengen.tasks.arithmetic import OPERATIONS, Arithmetic
from lengen.tasks.base import OperandError, Problems, Task
from lengen.tasks.multiplication import Multiplication
from lengen.tasks.n_by_n import NByN
from lengen.tasks.parity import Parity

TASKS: dict[str, Callable[[], Task]] = {"addition": Addition, "multiplication": Multiplication, "parity": Parity}
"""Tasks on numbers as long as they are; those at a fixed length are `lengen.tasks.arithmetic.OPERATIONS`."""


def build_task(data: DataSpec) -> Task:
    """The task a specification names; raises `SpecError` for an unknown one."""
    if data.fixed_length and data.task in OPERATIONS:
        return Arithmetic(OPERATIONS[data.task], data.base, data.limit)
    if data.task == "n_by_n" and not data.fixed_length:
        return NByN(data.lengths or tuple(range(1, data.length + 1)), len(data.subtasks))
    if data.task in TASKS and not data.fixed_length:
        return TASKS[data.task]()
    if data.task in OPERATIONS:
        raise SpecError(f"data.fixed_length=0: the task {data.task} needs the digits that its numbers are padded to")
    names = list(OPERATIONS) if data.fixed_length else [*TASKS, "n_by_n"]
    raise SpecError(f"data.task={data.task}: unknown task{nearest(data.task, names)}")


__all__ = [
    "OPERATIONS",
    "TASKS",
    "Addition",
    "Arithmetic",
    "Multiplication",
    "NByN",
    "OperandError",
    "Parity",
    "Problems",
    "Task",
    "build_task",
]

"""The mathematics: one file per task."""

from collections.abc import Callable

from lengen.tasks.addition import Addition
from lengen.tasks.base import OperandError, Problems, Task
from lengen.tasks.multiplication import Multiplication
from lengen.tasks.parity import Parity

TASKS: dict[str, Callable[[], Task]] = {"addition": Addition, "multiplication": Multiplication, "parity": Parity}

__all__ = ["TASKS", "Addition", "Multiplication", "OperandError", "Parity", "Problems", "Task"]

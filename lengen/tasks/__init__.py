"""The mathematics of the tasks: one file per task, or per family of tasks; `lengen.config.tasks` names them."""

from lengen.tasks.base import OperandError, Problems, Task

__all__ = ["OperandError", "Problems", "Task"]

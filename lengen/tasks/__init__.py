"""The mathematics of the tasks: one file per task, or per family of tasks; `lengen.config.tasks` names them."""

from lengen.problems import OperandError, Problems
from lengen.tasks.base import Task

__all__ = ["OperandError", "Problems", "Task"]

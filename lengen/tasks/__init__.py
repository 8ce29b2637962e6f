"""The mathematics of the tasks: one file per task, or per family of tasks."""

from lengen.tasks.addition import Addition
from lengen.tasks.arithmetic import Arithmetic
from lengen.tasks.base import OperandError, Problems, Task
from lengen.tasks.copy import Copy
from lengen.tasks.counting import Counting
from lengen.tasks.filling import Filling
from lengen.tasks.increment import Carries, Increment
from lengen.tasks.length_distribution import Skew
from lengen.tasks.multiplication import Multiplication
from lengen.tasks.parity import Parity
from lengen.tasks.reverse import Reverse
from lengen.tasks.sequences import SkewedTask
from lengen.tasks.sorting import NextLarger, Sorting
from lengen.tasks.two_operand_addition import TwoOperandAddition

__all__ = [
    "Addition",
    "Arithmetic",
    "Carries",
    "Copy",
    "Counting",
    "Filling",
    "Increment",
    "Multiplication",
    "NextLarger",
    "OperandError",
    "Parity",
    "Problems",
    "Reverse",
    "Skew",
    "SkewedTask",
    "Sorting",
    "Task",
    "TwoOperandAddition",
]

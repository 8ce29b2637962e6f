"""Rows of digits: their kinds, and the names of those that tasks compute and formats write."""

from enum import Enum, auto
from typing import NamedTuple


class Row(Enum):
    """Kind of a row of digits."""

    SEQUENCE = auto()
    """As long as it is, in reading order: neither padded nor reversed."""
    NUMBER = auto()
    """A number of exactly as many digits as the shape of a problem says."""
    BOUND = auto()
    """A number of at most so many digits: its leading zeros need not be written."""


class Rows(NamedTuple):
    """Kinds of the rows of a task."""

    operands: tuple[Row, ...] = (Row.NUMBER,)
    """Kind of each operand; further ones are like the last."""
    answer: Row = Row.NUMBER
    stages: Row = Row.NUMBER
    """Kind of the intermediate results."""

    def operand(self, i: int) -> Row:
        return self.operands[min(i, len(self.operands) - 1)]

    @property
    def numbers(self) -> bool:
        """Digits have significance: zeros may be padded, and order reversed."""
        return self.operands[0] is not Row.SEQUENCE


SEQUENCES = Rows((Row.SEQUENCE,), Row.SEQUENCE, Row.SEQUENCE)
"""Rows of a task without numbers."""
BOUNDS = Rows((Row.BOUND,), Row.BOUND, Row.BOUND)
"""Rows of a task whose shapes contain the digits of the longest number alone."""

OPERANDS = "operands"
ANSWER = "answer"

# of products, in two stages
PRODUCTS = "partial products"
SUMS = "sums of products"

# of sums of two operands, digit by digit
CARRIES_IN = "carries in"
SUM_DIGITS = "sum digits"
MODULAR = "sums modulo 10"
PAIR_CARRIES = "pairs that carry"
DOWNWARD_CARRIES = "carries downward"
CARRIES_OUT = "carries out"
TRAILING = "behind a carry"
"""A row that is written only where the units carry."""

"""Tasks of the benchmark in plain Python: their problems, prompts and answers.

    addition 4501+98=4599      sums 12+34+5=51     n_by_1 4501*7=31507     multiplication 12*34=408
    parity 0110=0              successor 1299=1300 copy 0450=0450          reverse 0450=0540
    sorting 53 7 12=7 12 53

A cell is (length, count). The second axis is the length of the second operand (addition, multiplication), the number of
operands (sums), or 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

from lengen.data.lines import parted

TENTHS = (11, 15, 20, 30, 50)
"""Tested lengths beyond the trained range, in tenths of the longest trained length."""
ALPHABET = 100
"""Largest number of a sequence to sort."""
LONGEST = 2000
"""Most digits of an operand: Python writes no number of 4,300 digits, as a product can have."""


class TaskError(ValueError):
    """A task, size or line that the benchmark does not have; one sentence."""


@dataclass(frozen=True)
class Task:
    """A task, its trained sizes and its frozen problems."""

    name: str
    sizes: tuple[int, int, int]
    """Longest trained lengths; both axes are trained up to it."""
    papers: int
    """The size that the papers train."""
    answer: Callable[[Sequence[str]], str]
    operator: str = ""
    second: str = ""
    """Meaning of the second axis: "digits" of the second operand, number of "operands", or empty."""
    numbers: bool = True
    """Answers are numbers: leading zeros mean nothing and units may come first."""
    symbols: int = 10
    """Values of a digit, or of an element of a sequence."""
    examples: int = 100
    """Frozen problems of a cell."""
    fixed: int = 0
    """Digits of the second operand, if all have as many."""

    def lengths(self, size: int) -> tuple[int, ...]:
        """Return frozen lengths of a trained size: four in the trained range, five beyond it.

        >>> TASKS["addition"].lengths(6)
        (2, 3, 5, 6, 7, 9, 12, 18, 30)
        """
        if size not in self.sizes:
            raise TaskError(f"{self.name}: no size {size!r}; expected one of {', '.join(map(str, self.sizes))}")
        return tuple(sorted({*(ceil(size * k / 4) for k in (1, 2, 3, 4)), *(ceil(size * m / 10) for m in TENTHS)}))

    def cells(self, size: int) -> list[tuple[int, int]]:
        """Return frozen cells of a trained size."""
        lengths = self.lengths(size)
        if not self.second:
            return [(length, 1) for length in lengths]
        least = 2 if self.second == "operands" else 1
        return sorted({(length, max(count, least)) for length in lengths for count in lengths})

    def draw(self, random: Random, length: int, count: int) -> tuple[str, ...]:
        """Return operands of one problem of a cell."""
        if self.name == "sorting":
            return tuple(str(1 + int(random.random() * ALPHABET)) for _ in range(length))
        if not self.numbers:
            return ("".join(str(int(random.random() * self.symbols)) for _ in range(length)),)
        if self.second == "operands":
            return tuple(number(random, length) for _ in range(count))
        others = (count,) if self.second else (self.fixed,) * bool(self.fixed)
        return tuple(number(random, digits) for digits in (length, *others))

    def possible(self, length: int, count: int) -> int:
        """Return the number of possible problems of a cell, up to zeros in front."""
        places = length * count if self.second == "operands" else length + (count if self.second else self.fixed)
        return int(self.symbols**places)

    def prompt(self, operands: Sequence[str]) -> str:
        """Return the problem as plain text."""
        return (self.operator or " ").join(operands) + "="

    def read_prompt(self, text: str) -> tuple[str, ...]:
        """Return the operands of a prompt such as ``12+34=``; raises `TaskError`."""
        operands, answer = parted(text, self.operator, table=False)
        return self.checked([] if answer else operands, text)

    def checked(self, given: Sequence[str], text: str) -> tuple[str, ...]:
        """Return operands without leading zeros; raises `TaskError` for those that make no problem, as in a text."""
        operands = tuple(given)
        any_number = self.second == "operands" or self.name == "sorting"
        wanted = len(operands) if any_number else 1 + bool(self.second or self.fixed)
        numerals = "01" if self.symbols == 2 else "0123456789"
        right = operands and len(operands) == wanted and all(one and set(one) <= set(numerals) for one in operands)
        if not right or (self.fixed and len(operands[1].lstrip("0")) > self.fixed):
            raise TaskError(f"'{text[:60]}' is no problem of {self.name}; expected one such as {EXAMPLES[self.name]}")
        if (longest := max(map(len, operands))) > LONGEST:
            raise TaskError(f"'{text[:60]}': an operand has {longest} digits; expected at most {LONGEST}")
        if self.numbers:
            operands = tuple(one.lstrip("0") or "0" for one in operands)
        return operands


def number(random: Random, digits: int) -> str:
    """Return a number of exactly so many digits; of one digit 0 to 9.

    Only `Random.random`, which no version changes.
    """
    first = int(random.random() * 9) + 1 if digits > 1 else int(random.random() * 10)
    return str(first) + "".join(str(int(random.random() * 10)) for _ in range(digits - 1))


def _sum(operands: Sequence[str]) -> str:
    return str(sum(map(int, operands)))


def _product(operands: Sequence[str]) -> str:
    return str(int(operands[0]) * int(operands[1]))


TASKS = {
    task.name: task
    for task in (
        Task("addition", (6, 10, 20), 6, _sum, "+", "digits", examples=10),
        Task("sums", (3, 5, 10), 10, _sum, "+", "operands", examples=10),
        Task("n_by_1", (6, 10, 20), 6, _product, "*", fixed=1),
        Task("multiplication", (3, 5, 10), 10, _product, "*", "digits", examples=10),
        Task("parity", (6, 10, 20), 20, lambda x: str(x[0].count("1") % 2), numbers=False, symbols=2),
        Task("successor", (6, 10, 20), 6, lambda x: str(int(x[0]) + 1)),
        Task("copy", (6, 10, 20), 20, lambda x: x[0], numbers=False),
        Task("reverse", (6, 10, 20), 20, lambda x: x[0][::-1], numbers=False),
        Task("sorting", (5, 10, 20), 20, lambda x: " ".join(sorted(x, key=int)), numbers=False, symbols=ALPHABET),
    )
}
EXAMPLES = {
    "addition": "12+34=",
    "sums": "12+34+5=",
    "n_by_1": "12*3=",
    "multiplication": "12*34=",
    "parity": "0110=",
    "successor": "1299=",
    "copy": "0450=",
    "reverse": "0450=",
    "sorting": "53 7 12=",
}


def task_of(name: str) -> Task:
    """Return a task by its name; raises `TaskError`."""
    if name not in TASKS:
        raise TaskError(f"'{name}' is no task of the benchmark; expected one of {', '.join(TASKS)}")
    return TASKS[name]

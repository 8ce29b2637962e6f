"""Tasks of the benchmark: their problems, prompts and answers, in plain Python.

    addition 4501+98=4599    subtraction 4501-98=4403    sums 12+34+5=51         n_by_1 4501*7=31507
    multiplication 12*34=408 parity 0110=0               successor 1299=1300     copy 0450=0450
    reverse 0450=0540        sorting 53 7 12=7 12 53     max 53 7 12=53

Signs, symbols and kinds of rows are those of `lengen.tasks`, which trains them. Answers are Python's own, so that
nothing here loads torch; a test holds them against the answers of `lengen.tasks`. A cell is (length, count). The second
axis is the length of the second operand (addition, subtraction, multiplication), the number of operands (sums), or 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, isqrt
from operator import mul, sub
from random import Random

from lengen.data.reading_problems import cleaned, parted
from lengen.part import nearest
from lengen.tasks import base
from lengen.tasks.addition import Addition
from lengen.tasks.multiplication import Multiplication
from lengen.tasks.sorting import Sorting
from lengen.tasks.strings import Copy, Parity, Reverse
from lengen.tasks.successor_and_pair_tasks import NByOne, PairAddition, Successor

RUNGS = {1: (11, 15, 20, 30, 50), 2: (11, 15, 20, 30, 50, 100, 200, 500, 1000)}
"""Tested lengths beyond the trained range of each protocol, in tenths of the longest trained length."""
FURTHEST = 1000
"""Symbols of the longest operand that protocol 2 tests; of the answer in products, of all operands in sums."""
CHAINS = {"carry-quarter": 4, "carry-half": 2, "carry-all": 1}
"""Splits of protocol 2 with a chain of carries, as long as the number divided by this."""
LONGEST = 2000
"""Most digits of an operand: Python writes no number of 4,300 digits, as a product can have."""


class TaskError(ValueError):
    """A task, size or line that the benchmark does not have; one sentence."""


@dataclass(frozen=True)
class Task:
    """A task, its trained sizes and its problems."""

    name: str
    like: base.Task
    """The task of training whose signs, symbols and rows it has."""
    first: tuple[int, int, int]
    """Longest trained lengths of protocol 1; both axes are trained up to it."""
    papers: int
    """The size that the papers train."""
    answer: Callable[[Sequence[str]], str]
    example: str
    """A prompt."""
    second: str = ""
    """Meaning of the second axis: "digits" of the second operand, number of "operands", or empty."""
    examples: int = 100
    """Problems of a cell of protocol 1."""
    fixed: int = 0
    """Digits of the second operand, if all have as many."""
    more: tuple[int, ...] = (30, 40, 50)
    """Longest trained lengths that protocol 2 adds."""
    furthest: int = FURTHEST
    """Longest tested length of protocol 2."""
    sign: str = ""
    """Its operator, if it is not that of the task of training."""
    pick: Callable[[Random, int], tuple[str, ...]] | None = None
    """Operands of a length, if they are not drawn as numbers or strings."""

    @property
    def operator(self) -> str:
        """Sign between operands; empty: they stand between blanks."""
        return self.sign or self.like.SIGNS.operator

    @property
    def numbers(self) -> bool:
        """True if leading zeros mean nothing and units may come first."""
        return self.like.ROWS.numbers

    @property
    def apart(self) -> bool:
        """True if a problem is a sequence of numbers of an alphabet."""
        return bool(self.like.first())

    @property
    def chains(self) -> bool:
        """True if protocol 2 has problems with chains of carries or borrows."""
        return self.name in ("addition", "subtraction", "successor")

    def sizes(self, version: int = 2) -> tuple[int, ...]:
        """Return the longest trained lengths of a protocol."""
        return self.first if version == 1 else (*self.first, *self.more)

    def lengths(self, size: int, version: int = 2) -> tuple[int, ...]:
        """Return tested lengths of a trained size: four in the trained range, the rungs of the protocol beyond it.

        >>> TASKS["addition"].lengths(6, version=1)
        (2, 3, 5, 6, 7, 9, 12, 18, 30)
        >>> TASKS["addition"].lengths(30)
        (8, 15, 23, 30, 33, 45, 60, 90, 150, 300, 600, 1000)
        """
        if size not in self.sizes(version):
            raise TaskError(f"{self.name}: no size {size!r}; expected {', '.join(map(str, self.sizes(version)))}")
        most = self.furthest if version > 1 else LONGEST
        beyond = (min(ceil(size * tenths / 10), most) for tenths in RUNGS[version])
        return tuple(sorted({*(ceil(size * k / 4) for k in (1, 2, 3, 4)), *beyond}))

    def cells(self, size: int, version: int = 2) -> list[tuple[int, int]]:
        """Return tested cells of a trained size."""
        lengths = self.lengths(size, version)
        if not self.second:
            return [(length, 1) for length in lengths]
        least = 2 if self.second == "operands" else 1
        pairs = {(length, max(count, least)) for length in lengths for count in lengths}
        return sorted(cell for cell in pairs if self.name != "subtraction" or cell[1] <= cell[0])

    def draw(self, random: Random, length: int, count: int, split: str = "uniform") -> tuple[str, ...]:
        """Return operands of one problem of a cell."""
        if split in CHAINS:
            return _chained(self.name, random, length, CHAINS[split])
        if self.pick is not None:
            return self.pick(random, length)
        if not self.numbers:
            return (numerals(random, length, len(self.like.symbols)),)
        if self.second == "operands":
            return tuple(number(random, length) for _ in range(count))
        others = (count,) if self.second else (self.fixed,) * bool(self.fixed)
        drawn = tuple(number(random, digits) for digits in (length, *others))
        return drawn if self.name != "subtraction" or int(drawn[0]) >= int(drawn[1]) else drawn[::-1]

    def possible(self, length: int, count: int) -> int:
        """Return the number of possible problems of a cell, up to zeros in front."""
        places = length * count if self.second == "operands" else length + (count if self.second else self.fixed)
        return int(len(self.like.symbols) ** places)

    def prompt(self, operands: Sequence[str]) -> str:
        """Return the problem as plain text."""
        return (self.operator or " ").join(operands) + "="

    def cleaned(self, text: str, units_first: bool = False) -> str:
        """Return an answer as it is compared."""
        return cleaned(text, number=self.numbers, apart=self.apart, units_first=units_first)

    def read_prompt(self, text: str) -> tuple[str, ...]:
        """Return the operands of a prompt such as ``12+34=``; raises `TaskError`."""
        operands, answer = parted(text, self.operator, table=False)
        return self.checked([] if answer else operands, text)

    def checked(self, words: Sequence[str], text: str) -> tuple[str, ...]:
        """Return operands without leading zeros; raises `TaskError` for those that make no problem, as in a text."""
        operands = tuple(words)
        wanted = len(operands) if self.second == "operands" or self.apart else 1 + bool(self.second or self.fixed)
        numerals = "".join(self.like.symbols) if not self.apart else "0123456789"
        right = operands and len(operands) == wanted and all(word and set(word) <= set(numerals) for word in operands)
        if not right or (self.fixed and len(operands[1].lstrip("0")) > self.fixed):
            raise TaskError(f"'{text[:60]}' is no problem of {self.name}; expected one such as {self.example}")
        if (longest := max(map(len, operands))) > LONGEST:
            raise TaskError(f"'{text[:60]}': an operand has {longest} digits; expected at most {LONGEST}")
        return tuple(word.lstrip("0") or "0" for word in operands) if self.numbers else operands


def number(random: Random, digits: int) -> str:
    """Return a number of exactly so many digits; of one digit 0 to 9.

    Only `Random.random`, which no version changes.
    """
    first = int(random.random() * 9) + 1 if digits > 1 else int(random.random() * 10)
    return str(first) + numerals(random, digits - 1, 10)


def numerals(random: Random, places: int, symbols: int) -> str:
    """Return so many symbols, drawn one after the other."""
    draw = random.random  # a problem may have a thousand of them
    return "".join(["0123456789"[int(draw() * symbols)] for _ in range(places)])


def _chained(name: str, random: Random, length: int, part: int) -> tuple[str, ...]:
    """Return operands with one chain of carries, or of borrows, and no other; its length is a part of theirs."""
    room = length - (name == "subtraction")  # the first place lends, so that the result is not negative
    chain = min(ceil(length / part), room)
    start = 0 if name == "successor" else int(random.random() * (room - chain + 1))
    kinds = [*[3] * start, 0, *[1] * (chain - 1), 2, *[3] * length][:length]  # from the units on
    inner, draw = [_pairs(name, kind, False) for kind in range(4)], random.random
    places = [*map(inner.__getitem__, kinds[:-1]), _pairs(name, kinds[-1], True)]
    texts = tuple(map("".join, zip(*[pairs[int(draw() * len(pairs))] for pairs in places][::-1], strict=True)))
    return texts[:1] if name == "successor" else texts


FITS: dict[str, tuple[Callable[[int, int], bool], ...]] = {
    "addition": (lambda a, b: a + b > 9, lambda a, b: a + b == 9, lambda a, b: a + b < 9, lambda a, b: a + b < 9),
    "subtraction": (lambda a, b: a < b, lambda a, b: a == b, lambda a, b: a > b, lambda a, b: a >= b),
    "successor": (lambda a, b: a == 9, lambda a, b: a == 9, lambda a, b: a < 9, lambda a, b: True),
}
"""Digits that fit the place where a chain begins, those within it, the place behind it, and all others."""


@cache
def _pairs(name: str, kind: int, leading: bool) -> list[tuple[str, str]]:
    """Return the pairs of digits that fit a place, in order; a number begins with no zero, and a successor has one."""
    seconds = range(1) if name == "successor" else range(leading, 10)
    return [(str(a), str(b)) for a in range(leading, 10) for b in seconds if FITS[name][kind](a, b)]


ALPHABET = 100
"""Largest number of a sequence."""


def _numbers(random: Random, length: int) -> tuple[str, ...]:
    return tuple(str(1 + int(random.random() * ALPHABET)) for _ in range(length))


def _below_largest(random: Random, length: int) -> tuple[str, ...]:
    """Return numbers whose largest is uniform, so that none of them is a good guess."""
    largest, place = 1 + int(random.random() * ALPHABET), int(random.random() * length)
    return tuple(str(largest if k == place else 1 + int(random.random() * largest)) for k in range(length))


def _computed(rule: Callable[..., int]) -> Callable[[Sequence[str]], str]:
    return lambda operands: str(rule(*map(int, operands)))


SEQUENCE = Sorting(longest=2, alphabet=ALPHABET)
STANDARD, FEW = (6, 10, 20), (3, 5, 10)
"""First sizes of tasks, and of those whose problems grow with both axes."""
SUM, PRODUCT = _computed(lambda *numbers: sum(numbers)), _computed(mul)
TASKS = {
    task.name: task
    for task in (
        Task("addition", PairAddition(1), STANDARD, 6, SUM, "12+34=", "digits", 10),
        Task("subtraction", PairAddition(1), STANDARD, 6, _computed(sub), "34-12=", "digits", sign="-"),
        Task("sums", Addition(1), FEW, 10, SUM, "12+34+5=", "operands", 10, 0, (), isqrt(FURTHEST)),
        Task("n_by_1", NByOne(1), STANDARD, 6, PRODUCT, "12*3=", fixed=1),
        Task("multiplication", Multiplication(1, 1), FEW, 10, PRODUCT, "12*34=", "digits", 10, 0, (15, 20), 500),
        Task("parity", Parity(1), STANDARD, 20, lambda x: str(x[0].count("1") % 2), "0110="),
        Task("successor", Successor(1), STANDARD, 6, _computed(lambda x: x + 1), "1299="),
        Task("copy", Copy(1), STANDARD, 20, lambda x: x[0], "0450="),
        Task("reverse", Reverse(1), STANDARD, 20, lambda x: x[0][::-1], "0450="),
        Task("sorting", SEQUENCE, (5, 10, 20), 20, lambda x: " ".join(sorted(x, key=int)), "53 7 12=", pick=_numbers),
        Task("max", SEQUENCE, (5, 10, 20), 20, lambda x: max(x, key=int), "53 7 12=", pick=_below_largest),
    )
}
SINCE_2 = ("subtraction", "max")
"""Tasks that protocol 1 does not have."""


def task_of(name: str, version: int = 2) -> Task:
    """Return a task by its name; raises `TaskError`."""
    known = [task for task in TASKS if version > 1 or task not in SINCE_2]
    if name not in known:
        raise TaskError(f"'{name}' is no task of the benchmark{nearest(name, known)}")
    return TASKS[name]

"""The tasks that a setting can name: what is computed, from which operands, and which of them are trained; no torch.

Each part here says how a task's problems look on a page (symbols, operator, digits of operands and answer by shape);
its mathematics, with torch, stands in `lengen.tasks` under the same name. A *shape* is a tuple of small integers that
decides where everything stands in a written problem, for example (operands, digits of the longest).
"""

import math
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from lengen.config.part import Axis, Count, Length, Part, SettingError, Share, Size, kind_of

if TYPE_CHECKING:
    from lengen.tasks.base import Task as Mathematics

DELIMITER = "⊥"
"""Stands between a sequence and what is asked of it."""
DECIMAL = tuple("0123456789")
LARGEST_ALPHABET = 250
"""Token ids of batches are written as bytes."""
HELD_OUT = 8
"""One number in eight up to the limit validates and is never trained on (Section 3.3 of "From Interpolation to
Extrapolation": 7:1)."""
LARGEST_POOL = 2**27
"""Numbers that are listed to draw from, at most: 1 GiB of them."""
SHORTEST = 2
"""Shortest training sequence of the tasks with a skewed distribution of lengths."""


class Extent(NamedTuple):
    """How long the numbers of problems of one shape are."""

    operands: tuple[int, ...]
    """Digits of each operand; of the longest where the shape does not tell them apart."""
    answer: int
    """Digits of the longest answer that could occur."""
    stages: tuple[int, ...] = ()
    """Digits of each intermediate result."""


class Task(Axis):
    """A task and its trained range.

    Operands and answers are rows of digits. Those of *numbers* stand least significant digit first; those of sequences
    and bit strings, which have no least significant digit, in reading order.
    """

    __slots__ = ()
    AXIS = "a task"

    NUMBERS: ClassVar[bool] = True
    """Digits have significance: zeros may be padded, and order reversed."""
    PADS: ClassVar[bool] = True
    """Zeros may be padded."""
    OPERATOR: ClassVar[str] = ""
    """Symbol between operands."""
    PREFIX: ClassVar[bool] = False
    """The operator stands before the operands."""
    SEPARATED: ClassVar[bool] = True
    """A separator stands between the operands and the answer."""
    EXACT_OPERANDS: ClassVar[bool] = True
    """The shape tells the digits of each operand."""
    EXACT_ANSWER: ClassVar[bool] = True
    """The shape tells the digits of the answer."""
    PLACEWISE: ClassVar[bool] = True
    """Each digit of the answer belongs to a place of the operands; else it says something of them as a whole."""
    LAST: ClassVar[bool] = False
    """The final answer is the last digit of the answer: those before it are answers to the first digits."""
    UNITS_FIRST: ClassVar[bool] = False
    """Its answers are written from the units on: a digit needs those before it."""
    MARKS: ClassVar[tuple[str, ...]] = ()
    """Symbols besides digits that answers hold."""
    STAGES: ClassVar[str] = ""
    """Name of the intermediate results that a scratchpad writes; empty: there are none."""
    STAGES_ARE_NUMBERS: ClassVar[bool] = False
    """Intermediate results are numbers, whose leading zeros need not be written."""
    INLINE: ClassVar[bool] = False
    """The last digit of the intermediate results is the answer."""
    WHY_NONE: ClassVar[str] = "it has no intermediate results"
    """Why there are no stages, where there are none."""
    SINGLE: ClassVar[bool] = False
    """The second operand has one digit, which is never padded."""
    SKEWED: ClassVar[bool] = False
    """It draws problems of given lengths, from a distribution of lengths of its own."""
    LEAST_COUNT: ClassVar[int] = 0
    """Smallest value of the second axis that can be tested; 0: problems have no second axis."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbols of its digits, in the order of their values."""
        return DECIMAL

    @property
    def name(self) -> str:
        """Names its random numbers: test problems of tasks of one name are drawn alike."""
        return kind_of(self)

    @property
    def longest(self) -> int:
        """Digits of the longest trained operand."""
        raise NotImplementedError

    @property
    def most(self) -> int:
        """Largest trained value of the second axis: operands, or digits of a second factor; 1 where there is none."""
        return 1

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        """Trained operand lengths, each as often as its share says."""
        return tuple(range(1, self.longest + 1))

    @property
    def trailing(self) -> int:
        """PAD tokens behind the answer that are training targets."""
        return 0

    @property
    def counts(self) -> tuple[int, ...]:
        """Tested values of the second axis where a setting names none."""
        return (1,)

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        """The shape of test problems of operands of ``length`` digits."""
        return (length,)

    def longest_shapes(self, length: int, count: int) -> list[tuple[int, ...]]:
        """Shapes among which are the longest query and the longest answer of problems of such operands."""
        return [self.shape(length, count)]

    def extent(self, shape: tuple[int, ...]) -> Extent:
        """How long the numbers of problems of a shape are."""
        return Extent((shape[0],), shape[0])

    def place(self, place: int, size: int) -> int:
        """The 1-based place among the operands that digit ``place`` (1-based) of an answer of ``size`` digits is
        about."""
        return place

    def build(self) -> "Mathematics":
        """Its mathematics."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise `SettingError` for fields that do not go together."""

    def check_counts(self, counts: tuple[int, ...]) -> None:
        """Raise `SettingError` for tested values of the second axis, ``test.counts``, that no problem has."""
        assert isinstance(self, Part)
        if not self.LEAST_COUNT and counts not in ((1,), self.counts):
            raise SettingError(
                f"test.counts={list(counts)}: problems of data.task={self.kind} have no second axis; expected "
                f"{list(self.counts)}"
            )
        if min(counts) < self.LEAST_COUNT:
            raise SettingError(
                f"test.counts={list(counts)}: problems of data.task={self.kind} have at least {self.LEAST_COUNT} "
                f"operands; expected numbers of them, such as [{self.LEAST_COUNT}]"
            )


def padded_length(digits_each: int, operands: int) -> int:
    """Digits of the largest sum of ``operands`` numbers of ``digits_each`` digits (Section 4.1 of "Arithmetic
    Transformers Can Length-Generalize in Both Operand Length and Count").

    >>> padded_length(2, 3), padded_length(2, 11), padded_length(2, 10)
    (3, 4, 3)
    """
    return len(str(operands * (10**digits_each - 1)))


class Addition(Part, Task, tag="addition", frozen=True):
    """Sums of 2 to ``operands`` numbers of 1 to ``digits`` digits, S_A(digits, operands).

    57+48+96=201; stages: the sums of the first 0, 1, 2, ... operands, or of the first 1, 2, ...
    """

    OPERATOR = "+"
    EXACT_OPERANDS = False
    EXACT_ANSWER = False
    LEAST_COUNT = 2
    STAGES = "running sums"
    STAGES_ARE_NUMBERS = True

    digits: Length
    """Digits of the longest trained operand."""
    operands: Length = 2
    """Most trained operands."""
    from_zero: bool = True
    """The stages begin with the sum of no operand, zeros; else with the first operand."""

    @property
    def longest(self) -> int:
        return self.digits

    @property
    def most(self) -> int:
        return self.operands

    @property
    def counts(self) -> tuple[int, ...]:
        return (2,)

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return count, length

    def extent(self, shape: tuple[int, ...]) -> Extent:
        count, longest = shape
        width = padded_length(longest, count)
        return Extent((longest,) * count, width, (width,) * (count - (not self.from_zero)))

    def build(self) -> "Mathematics":
        from lengen.tasks.addition import Addition as Mathematics

        return Mathematics(self)

    def check(self) -> None:
        if self.operands < 2:
            raise SettingError(f"data.task.operands={self.operands}: addition needs at least 2 operands")


class TwoOperandAddition(Part, Task, tag="two_operand_addition", frozen=True):
    """Sums of two numbers of equal length; the problems that test are reserved and never trained on.

    123+456=579; stages: the first operand alone, then the sum.
    """

    OPERATOR = "+"
    EXACT_OPERANDS = False
    EXACT_ANSWER = False
    STAGES = "running sums"
    STAGES_ARE_NUMBERS = True

    lengths: tuple[Length, ...]
    """Trained digits of the operands; some may be left out."""

    @property
    def name(self) -> str:
        return "n_by_n"

    @property
    def longest(self) -> int:
        return max(self.lengths)

    @property
    def most(self) -> int:
        return 2

    @property
    def counts(self) -> tuple[int, ...]:
        return (2,)

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        return self.lengths

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return 2, length

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent((shape[1],) * 2, shape[1] + 1, (shape[1] + 1,) * 2)

    def build(self) -> "Mathematics":
        from lengen.tasks.two_operand_addition import TwoOperandAddition as Mathematics

        return Mathematics(self)

    def check(self) -> None:
        if not self.lengths or list(self.lengths) != sorted(set(self.lengths)):
            raise SettingError(f"data.task.lengths={list(self.lengths)}: expected trained lengths, each once, rising")


class Multiplication(Part, Task, tag="multiplication", frozen=True):
    """Products of a number of 1 to ``digits`` and one of 1 to ``second_digits`` digits, S_M(digits, second_digits).

    37*925=34225; stages: the products of the first number with the last 1, 2, ... digits of the second.
    """

    OPERATOR = "*"
    EXACT_ANSWER = False
    LEAST_COUNT = 1
    STAGES = "running sums"
    STAGES_ARE_NUMBERS = True

    digits: Length
    """Digits of the longest trained first operand."""
    second_digits: Length
    """Digits of the longest trained second operand."""

    @property
    def longest(self) -> int:
        return self.digits

    @property
    def most(self) -> int:
        return self.second_digits

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, count

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, sum(shape), (sum(shape),) * (shape[1] - 1))

    def build(self) -> "Mathematics":
        from lengen.tasks.multiplication import Multiplication as Mathematics

        return Mathematics(self)


class Parity(Part, Task, tag="parity", frozen=True):
    """1 where a string of 1 to ``bits`` bits holds an odd number of ones, else 0.

    0101=0; stages: the parity of every prefix, 0110, whose last bit is the answer.
    """

    NUMBERS = False
    PLACEWISE = False
    STAGES = "prefix parities"
    INLINE = True

    bits: Length
    """Bits of the longest trained string."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

    @property
    def longest(self) -> int:
        return self.bits

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent((shape[0],), 1, shape)

    def build(self) -> "Mathematics":
        from lengen.tasks.parity import Parity as Mathematics

        return Mathematics(self)


# ------------------------------------------------------------------ numbers of any base, one or two operands


class _Arithmetic(Part, Task, frozen=True):
    """What the tasks of `lengen.tasks.arithmetic` share."""

    digits: Length
    """Digits of the longest trained number."""
    base: Size = 10
    """Base of the numbers, 2 to 16."""
    limit: Count = 0
    """Largest number drawn in training, uniformly, of at most one digit more than ``digits``; 0 draws a length first,
    then digits."""

    EXACT_ANSWER: ClassVar[bool] = False
    OPERANDS: ClassVar[int] = 1
    """How many operands there are."""
    IDENTITY: ClassVar[int] = 0
    """Digit that pads operands, which does not change the result; -1 is the largest digit."""
    GROWS: ClassVar[bool] = True
    """A result may have one digit more than its operands."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple("0123456789abcdef"[: self.base])

    @property
    def longest(self) -> int:
        return self.digits

    @property
    def most(self) -> int:
        return 2 if self.OPERANDS == 2 and not self.SINGLE else 1

    @property
    def counts(self) -> tuple[int, ...]:
        return (self.most,)

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return (length, 1) if self.SINGLE else (length,) * self.OPERANDS

    def extent(self, shape: tuple[int, ...]) -> Extent:
        width = max(shape) + self.GROWS
        return Extent(shape, width, (width,) if self.STAGES else ())

    def build(self) -> "Mathematics":
        from lengen.tasks.arithmetic import Arithmetic as Mathematics

        return Mathematics(self)

    def check(self) -> None:
        if not 2 <= self.base <= 16:
            raise SettingError(f"data.task.base={self.base}: expected a base from 2 to 16")
        highest = min(self.base ** (self.digits + 1), LARGEST_POOL) - 1
        if self.limit and not HELD_OUT - 1 <= self.limit <= highest:
            raise SettingError(
                f"data.task.limit={self.limit}: expected a number from {HELD_OUT - 1} to {highest}, since an eighth of "
                f"the numbers up to it is held out, all are listed, and data.task.digits={self.digits}"
            )
        if self.limit and self.limit <= (least := self.base ** (self.digits - 1)):
            raise SettingError(
                f"data.task.limit={self.limit}: expected more than {least}, so that numbers of the trained length, "
                f"data.task.digits={self.digits}, are drawn"
            )


class Successor(_Arithmetic, tag="successor", frozen=True):
    """Adding one: 0129=0130; stages: the carry into every place."""

    STAGES = "carries"


class PairAddition(_Arithmetic, tag="pair_addition", frozen=True):
    """Sums of two numbers that are drawn independently: 123+748=871; stages: the carry into every place."""

    OPERATOR = "+"
    OPERANDS = 2
    STAGES = "carries"

    @property
    def name(self) -> str:
        return "addition"


class DigitSums(_Arithmetic, tag="digit_sums", frozen=True):
    """Sums of two numbers digit by digit, modulo the base, nothing carried: 123+748=861; an auxiliary task of sums."""

    OPERATOR = "+"
    OPERANDS = 2
    WHY_NONE = "each of its digits needs no other"


class NByOne(_Arithmetic, tag="n_by_one", frozen=True):
    """Products of a number and one digit: 123*6=738; stages: the carry into every place."""

    OPERATOR = "*"
    OPERANDS = 2
    SINGLE = True
    STAGES = "carries"

    tested_from: Count = 0
    """Smallest digit that test problems multiply by; times zero asks for zeros alone, whatever the length."""

    def check(self) -> None:
        super().check()
        if self.tested_from >= self.base:
            raise SettingError(f"data.task.tested_from={self.tested_from}: expected a digit below {self.base}")


class _Running(_Arithmetic, frozen=True):
    """Every digit of the result is the result so far, so the last one is the answer."""

    EXACT_ANSWER: ClassVar[bool] = True
    GROWS: ClassVar[bool] = False
    LAST: ClassVar[bool] = True
    UNITS_FIRST: ClassVar[bool] = True
    WHY_NONE: ClassVar[str] = "its answer already is every intermediate result"


class RunningXor(_Running, tag="running_xor", frozen=True):
    """Exclusive or of the bits so far, from the right: 0110 gives 0, 1, 0, 0; the last one is the parity."""

    def check(self) -> None:
        super().check()
        if self.base != 2:
            raise SettingError(f"data.task.base={self.base}: an exclusive or is of bits; set data.task.base=2")


class ListOpsSum(_Running, tag="listops_sm", frozen=True):
    """Sum of the digits so far, modulo the base."""

    OPERATOR = "%"
    PREFIX = True


class ListOpsMax(_Running, tag="listops_max", frozen=True):
    """Largest of the digits so far."""

    OPERATOR = ">"
    PREFIX = True


class ListOpsMin(_Running, tag="listops_min", frozen=True):
    """Smallest of the digits so far."""

    OPERATOR = "<"
    PREFIX = True
    IDENTITY = -1


# ------------------------------------------------------------------ sequences, and what training alternates with


class _Skewed(Part, Task, frozen=True):
    """Tasks whose training lengths are 2 to ``longest``, some of them more often than others."""

    SKEWED: ClassVar[bool] = True

    longest: Size
    """Longest trained operand."""
    short: Count = 0
    """Training lengths of 2 to this share a part of the examples of their own (``skew``), those beyond it the rest."""
    skew: Share = 0.0
    """Share of the training examples whose length is at most ``short``; 0: all lengths are equally likely."""

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        if not self.skew:
            return tuple(range(SHORTEST, self.longest + 1))
        short, long = range(SHORTEST, self.short + 1), range(self.short + 1, self.longest + 1)
        # In thousandths, so that the tuple stays short; no length that is trained at all drops out.
        share = min(max(round(1000 * self.skew), 1), 1000 if self.skew == 1 else 999)
        often, seldom = share * len(long), (1000 - share) * len(short)
        unit = math.gcd(often, seldom)
        times = [often // unit] * len(short) + [seldom // unit] * len(long)
        return tuple(length for length, n in zip((*short, *long), times, strict=True) for _ in range(n))

    def check(self) -> None:
        if self.longest < SHORTEST:
            raise SettingError(
                f"data.task.longest={self.longest}: the shortest training sequence has {SHORTEST} tokens"
            )
        if self.skew and not SHORTEST <= self.short < self.longest:
            raise SettingError(
                f"data.task.short={self.short}: with data.task.skew={self.skew} expected a length from {SHORTEST} to "
                f"{self.longest - 1}, below the longest trained"
            )


class _OfAlphabet(_Skewed, frozen=True):
    """Sequences of the numbers 1 to ``alphabet``, one token each."""

    NUMBERS: ClassVar[bool] = False

    alphabet: Size = 10
    """Sequences are drawn from the numbers 1 to this."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(1, self.alphabet + 1))

    def check(self) -> None:
        super().check()
        if not 2 <= self.alphabet <= LARGEST_ALPHABET:
            raise SettingError(
                f"data.task.alphabet={self.alphabet}: expected an alphabet of 2 to {LARGEST_ALPHABET} numbers"
            )


class Sorting(_OfAlphabet, tag="sorting", frozen=True):
    """Sequences of numbers, put in order: 5 3 1 4 2 ⊥ 1 2 3 4 5.

    A tested count is how often each number stands there; 1 draws them independently.
    """

    LEAST_COUNT = 1

    repeats: Share = 0.0
    """Share of the training sequences, of length l, that draw from only l // 2 numbers."""

    def build(self) -> "Mathematics":
        from lengen.tasks.sorting import Sorting as Mathematics

        return Mathematics(self)


class NextLarger(_OfAlphabet, tag="next_larger", frozen=True):
    """Which number follows one of a sequence in order, its successor there: 5 3 1 4 2 ⊥ 4 5."""

    OPERATOR = DELIMITER
    SEPARATED = False
    PLACEWISE = False

    repeats: Share = 0.0
    """Share of the training sequences, of length l, that draw from only l // 2 numbers."""

    @property
    def name(self) -> str:
        return "successor"

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, 1

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, 1)

    def build(self) -> "Mathematics":
        from lengen.tasks.sorting import NextLarger as Mathematics

        return Mathematics(self)


class Counting(_OfAlphabet, tag="count", frozen=True):
    """Which of the two numbers of a sequence occurs less often: 5 5 5 4 5 ⊥ 4."""

    PLACEWISE = False

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, 1)

    def build(self) -> "Mathematics":
        from lengen.tasks.counting import Counting as Mathematics

        return Mathematics(self)


class Filling(_OfAlphabet, tag="fill", frozen=True):
    """A number n times, then k of them again: what is missing? 5 5 5 ⊥ 5 ⊥ 5 5."""

    OPERATOR = DELIMITER

    padding: Count = 0
    """PAD tokens behind the answer that are trained too; the printed mask has two."""

    @property
    def trailing(self) -> int:
        return self.padding

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, max(1, length // 2)

    def longest_shapes(self, length: int, count: int) -> list[tuple[int, ...]]:
        return [(length, 1), (length, max(1, length // 2))]

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, shape[0] - shape[1])

    def build(self) -> "Mathematics":
        from lengen.tasks.filling import Filling as Mathematics

        return Mathematics(self)


class Increment(_Skewed, tag="increment", frozen=True):
    """Adding one to a number of 2 to ``longest`` digits: 123⊥124; stages: the carry out of every place."""

    STAGES = "carries out"
    MARKS = ("↑",)

    repeats: Share = 0.0
    """Share of the training numbers that end in nines."""

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, length

    def longest_shapes(self, length: int, count: int) -> list[tuple[int, ...]]:
        return [(length, length + 1)]  # all nines

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape[:1], shape[1], shape[1:])

    def build(self) -> "Mathematics":
        from lengen.tasks.increment import Increment as Mathematics

        return Mathematics(self)


class Carries(Increment, tag="carries", frozen=True):
    """Adding one, with the carry that each digit hands on, units first: 123⊥4↑02↑01↑0."""

    STAGES = ""
    PADS = False
    UNITS_FIRST = True

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape[:1], 3 * shape[1])

    def place(self, place: int, size: int) -> int:
        """A digit, its arrow and its carry belong to one place."""
        return (place + 2) // 3

    def build(self) -> "Mathematics":
        from lengen.tasks.increment import Carries as Mathematics

        return Mathematics(self)


class _String(Part, Task, frozen=True):
    """Strings of 1 to ``digits`` random digits, decimal ones or those of another base."""

    NUMBERS: ClassVar[bool] = False

    digits: Length
    """Digits of the longest trained string."""
    base: Size = 10
    """How many different digits there are, 2 to 16."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple("0123456789abcdef"[: self.base])

    def check(self) -> None:
        if not 2 <= self.base <= 16:
            raise SettingError(f"data.task.base={self.base}: expected a base from 2 to 16")

    @property
    def longest(self) -> int:
        return self.digits


class Copy(_String, tag="copy", frozen=True):
    """A string of digits again: 0412=0412."""

    def build(self) -> "Mathematics":
        from lengen.tasks.copy import Copy as Mathematics

        return Mathematics(self)


class Reverse(_String, tag="reverse", frozen=True):
    """A string of digits from its end to its beginning: 0412=2140."""

    def place(self, place: int, size: int) -> int:
        return size + 1 - place

    def build(self) -> "Mathematics":
        from lengen.tasks.reverse import Reverse as Mathematics

        return Mathematics(self)


class ListOps(Part, Task, tag="listops", frozen=True):
    """Expressions of operations on digits, one inside the other: [MAX 2 9 [MIN 4 7 ] 0 ] = 9.

    The operations are the largest, the smallest, the median (rounded down) and the sum modulo 10 of two arguments or
    more, as in Nangia and Bowman (2018). Lengths count the digits of an expression.
    """

    NUMBERS: ClassVar[bool] = False
    PLACEWISE: ClassVar[bool] = False
    OPENING: ClassVar[tuple[str, ...]] = ("[MAX", "[MIN", "[MED", "[SM")
    CLOSING: ClassVar[str] = "]"
    FEWEST: ClassVar[int] = 2
    """Arguments that an operation has at least, and so digits of an expression."""
    WHY_NONE: ClassVar[str] = "its intermediate results stand in a tree"

    digits: Length
    """Digits of the longest trained expression."""
    depth: Size = 2
    """Most operations inside each other, the outermost one included."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*DECIMAL, *self.OPENING, self.CLOSING)

    @property
    def longest(self) -> int:
        return self.digits

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        return tuple(range(self.FEWEST, self.digits + 1))

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        """Tokens of the longest expression: each level but the last joins what is left in pairs."""
        left = -(-length // 2 ** (self.depth - 1))
        return (length + 2 * (length - left + (left > 1)),)

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, 1)

    def check(self) -> None:
        if self.digits < self.FEWEST:
            raise SettingError(
                f"data.task.digits={self.digits}: expected at least {self.FEWEST}, the arguments of an operation"
            )
        deepest = self.digits - 1  # each operation has a digit of its own, the innermost two
        if self.depth > deepest:
            raise SettingError(
                f"data.task.depth={self.depth}: expected at most {deepest}, the operations that lie inside each other "
                f"in {self.digits} digits (data.task.digits)"
            )

    def build(self) -> "Mathematics":
        from lengen.tasks.listops import ListOps as Mathematics

        return Mathematics(self)


__all__ = [
    "Addition",
    "Carries",
    "Copy",
    "Counting",
    "DigitSums",
    "Extent",
    "Filling",
    "Increment",
    "ListOps",
    "ListOpsMax",
    "ListOpsMin",
    "ListOpsSum",
    "Multiplication",
    "NByOne",
    "NextLarger",
    "PairAddition",
    "Parity",
    "Reverse",
    "RunningXor",
    "Sorting",
    "Successor",
    "Task",
    "TwoOperandAddition",
]

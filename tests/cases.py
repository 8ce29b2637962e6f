"""One table of worked examples: what an operand list looks like as tokens, position ids and training targets.

Every task has a row or more. Those with a figure, a section or a table are printed there; the others follow the rules
by hand. The same rows test task, format, position ids, masking, vocabulary, final answer, parsing and decoding. Queries
and responses are spaced by number; a space is a token only where the format writes some. An id row is one character per
token: 0 to 9, then a to z.

Coupling: "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count". Calibration: "From
Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers". Thesis: "Length
Generalization on Multi-Digit Integer Addition with Transformers". Hinting: "Improving Length-Generalization in
Transformers via Task Hinting".
"""

from typing import NamedTuple

from lengen import (
    Addition,
    Aligned,
    Carries,
    Consecutive,
    Copy,
    Counting,
    Coupled,
    DataSpec,
    DigitSteps,
    DigitSums,
    Filling,
    Format,
    Increment,
    Linear,
    ListOps,
    ListOpsMax,
    ListOpsMin,
    ListOpsSum,
    Multiplication,
    MultiplicationStages,
    NByOne,
    NextLarger,
    NoPositionIds,
    PairAddition,
    Parity,
    PositionIds,
    Reverse,
    RunningXor,
    Sorting,
    Subtasks,
    Successor,
    Task,
    TwoOperandAddition,
)


class Case(NamedTuple):
    name: str
    place: str
    """Where it is printed, or ``by hand``."""
    data: DataSpec
    operands: tuple[str, ...]
    query: str
    response: str
    ids: tuple[str, ...]
    """One row per level; coupled ids are 0 at both ends."""
    answer: str
    """True answer as a person writes it."""
    final: str
    """The final answer as written: after the last separator, before the end."""

    @property
    def words(self) -> bool:
        return any(len(symbol) > 1 for symbol in self.data.task.symbols)

    @property
    def prompt(self) -> list[str]:
        return self._split(self.query)

    @property
    def written(self) -> list[str]:
        return self._split(self.response)

    @property
    def tokens(self) -> list[str]:
        return [*self.prompt, *self.written]

    @property
    def text(self) -> str:
        return self.join(self.tokens)

    def join(self, tokens: list[str]) -> str:
        return (" " if self.words else "").join(token for token in tokens if token != "PAD")

    @property
    def rows(self) -> list[list[int]]:
        return [[int(c, 36) for c in row.replace(" ", "")] for row in self.ids]

    @property
    def loss(self) -> list[int]:
        return [0] * len(self.prompt) + [1] * len(self.written)

    def _split(self, text: str) -> list[str]:
        if isinstance(self.data.format, DigitSteps):
            return list(text)
        if self.words:
            return text.split()
        return [token for part in text.split() for token in ([part] if part == "PAD" else part)]


def addition(levels: int = 2, ids: PositionIds | None = None, **options: bool) -> DataSpec:
    written = {"scratchpad": True, "pad_query": True, "pad_response": True, "reverse_response": True}
    format = Linear(**{**written, **options})
    return DataSpec(task=Addition(digits=3, operands=3), format=format, position_ids=ids or Coupled((9,) * levels))


UNPADDED = {"pad_query": False, "pad_response": False}


def multiplication(format: Format, levels: int = 3) -> DataSpec:
    task = Multiplication(digits=3, second_digits=3)
    return DataSpec(task=task, format=format, position_ids=Coupled((9,) * levels))


def parity(ids: PositionIds = Coupled((9,)), scratchpad: bool = True) -> DataSpec:
    return DataSpec(task=Parity(bits=5), format=Linear(scratchpad=scratchpad), position_ids=ids)


def both(task: Task, format: Format) -> DataSpec:
    return DataSpec(task=task, format=format, position_ids=Coupled((19, 9)))


def consecutive(task: Task, format: Format) -> DataSpec:
    return DataSpec(task=task, format=format, position_ids=Consecutive())


def without(task: Task, format: Format, vocabulary: str = "task") -> DataSpec:
    return DataSpec(task=task, format=format, position_ids=NoPositionIds(), vocabulary=vocabulary)  # type: ignore[arg-type]


PAIRS = TwoOperandAddition(lengths=(1, 2, 3))
WIDE = Linear(separator="$", width=4, reverse_response=True)
"""Numbers of one width, Section 3.2 and Appendix A.4 of Calibration."""
WIDE_STAGES = Linear(separator="$", width=4, reverse_response=True, scratchpad=True)
BARE = Linear(begin=False, separator="⊥", end=False)
"""Sequences, Section 3 of Hinting."""
BARE_REVERSED = Linear(begin=False, separator="⊥", end=False, reverse_response=True)
BARE_STAGES = Linear(begin=False, separator="⊥", end=False, reverse_response=True, scratchpad=True)


# fmt: off
CASES = [
    Case("parity", "Coupling, Figure 2", parity(), ("0101",), "$ 0101 =", "0110 $", ("0 2345 1 2345 0",), "0", "0"),
    Case("parity of one bit", "by hand", parity(), ("1",), "$ 1 =", "1 $", ("0 2 1 2 0",), "1", "1"),
    Case("parity without scratchpad", "by hand", parity(scratchpad=False), ("01011",),
         "$ 01011 =", "1 $", ("0 11111 2 1 0",), "1", "1"),
    Case("parity, consecutive ids", "by hand", parity(Consecutive()), ("011",),
         "$ 011 =", "010 $", ("0 123 4 567 8",), "0", "0"),

    Case("addition", "Coupling, Figure 4", addition(), ("57", "48", "96"),
         "$ 057 + 048 + 096 =", "000 > 750 > 501 > 102 $",
         ("0 432 1 432 1 432 1 234 1 234 1 234 1 234 0", "0 111 1 222 2 333 1 111 2 222 3 333 4 444 0"), "201", "102"),
    Case("addition, reversed query", "by hand", addition(reverse_query=True), ("57", "48", "96"),
         "$ 750 + 840 + 690 =", "000 > 750 > 501 > 102 $",
         ("0 234 1 234 1 234 1 234 1 234 1 234 1 234 0", "0 111 2 222 3 333 1 111 2 222 3 333 4 444 0"), "201", "102"),
    Case("addition, plain response", "by hand", addition(reverse_response=False), ("57", "48", "96"),
         "$ 057 + 048 + 096 =", "000 > 057 > 105 > 201 $",
         ("0 432 1 432 1 432 1 432 1 432 1 432 1 432 0", "0 111 1 222 2 333 1 111 2 222 3 333 4 444 0"), "201", "201"),
    Case("addition, not padded", "by hand", addition(**UNPADDED), ("57", "8", "96"),
         "$ 57 + 8 + 96 =", "0 > 75 > 56 > 161 $",
         ("0 32 1 2 1 32 1 2 1 23 1 23 1 234 0", "0 11 1 2 2 33 1 1 2 22 3 33 4 444 0"), "161", "161"),
    Case("addition, not padded, reversed query", "by hand", addition(reverse_query=True, **UNPADDED), ("57", "8", "96"),
         "$ 75 + 8 + 69 =", "0 > 75 > 56 > 161 $",
         ("0 23 1 2 1 23 1 2 1 23 1 23 1 234 0", "0 11 2 2 3 33 1 1 2 22 3 33 4 444 0"), "161", "161"),
    Case("addition, not padded, plain response", "by hand", addition(reverse_response=False, **UNPADDED),
         ("57", "8", "97"),
         "$ 57 + 8 + 97 =", "0 > 57 > 65 > 162 $",
         ("0 32 1 2 1 32 1 2 1 32 1 32 1 432 0",
          "0 11 1 2 2 33 1 1 2 22 3 33 4 444 0"), "162", "162"),
    Case("addition without scratchpad", "by hand", addition(1, scratchpad=False), ("57", "48", "96"),
         "$ 057 + 048 + 096 =", "102 $", ("0 432 1 432 1 432 1 234 0",), "201", "102"),
    Case("addition of zeros", "by hand", addition(), ("0", "0"),
         "$ 00 + 00 =", "00 > 00 > 00 $", ("0 32 1 32 1 23 1 23 1 23 0", "0 11 1 22 1 11 2 22 3 33 0"), "0", "00"),
    Case("addition of zeros, not padded", "by hand", addition(**UNPADDED), ("0", "00"),
         "$ 0 + 0 =", "0 > 0 > 0 $", ("0 2 1 2 1 2 1 2 1 2 0", "0 1 1 2 1 1 2 2 3 3 0"), "0", "0"),
    Case("addition, no ids", "by hand", addition(ids=NoPositionIds()), ("7", "12"),
         "$ 007 + 012 =", "000 > 700 > 910 $", (), "19", "910"),

    Case("multiplication", "Coupling, Figure 8b", multiplication(MultiplicationStages()), ("37", "925"),
         "$ 37 * 925 =", "581 + 470 + 333 = 58100 > 52900 > 52243 $",
         ("0 32 0 000 1 234 1 234 1 234 0 00000 0 00000 0 00000 0",
          "0 00 0 321 1 111 2 222 3 333 1 11111 2 22222 3 33333 0",
          "0 00 0 000 1 234 2 345 3 456 1 23456 1 23456 1 23456 0"), "34225", "52243"),
    Case("multiplication by one digit", "by hand", multiplication(MultiplicationStages()), ("12", "3"), "$ 12 * 3 =",
         "630 = 630 $", ("0 32 0 0 1 234 0 000 0", "0 00 0 1 1 111 1 111 0", "0 00 0 0 1 234 1 234 0"), "36", "630"),
    Case("multiplication, reversed query, plain response", "by hand",
         multiplication(MultiplicationStages(reverse_query=True, reverse_response=False)), ("37", "12"),
         "$ 73 * 21 =", "074 + 037 = 0074 > 0444 $",
         ("0 23 0 00 1 432 1 432 0 0000 0 0000 0",
          "0 00 0 12 1 111 2 222 1 1111 2 2222 0",
          "0 00 0 00 1 432 2 543 1 5432 1 5432 0"), "444", "0444"),
    Case("multiplication without scratchpad", "by hand", multiplication(Linear(pad_response=True,
    reverse_response=True), 1), ("37", "925"), "$ 37 * 925 =", "52243 $",
         ("0 32 1 432 1 23456 0",), "34225", "52243"),
    Case("multiplication, sums of products alone", "by hand",
         multiplication(Linear(scratchpad=True, pad_response=True, reverse_response=True), 2), ("37", "925"),
         "$ 37 * 925 =", "58100 > 52900 > 52243 $",
         ("0 32 1 432 1 23456 1 23456 1 23456 0",
          "0 11 1 222 1 11111 2 22222 3 33333 0"), "34225", "52243"),
    Case("multiplication, not padded", "by hand", multiplication(Linear(reverse_response=True), 1), ("12", "3"),
         "$ 12 * 3 =", "63 $", ("0 32 1 2 1 23 0",), "36", "63"),

    Case("two operands", "Thesis, Table 4.1", consecutive(PAIRS, Linear()), ("123", "456"),
         "$ 123 + 456 =", "579 $", ("0 123 4 567 8 9ab c",), "579", "579"),
    Case("two operands, coupled", "by hand", both(PAIRS, Linear(reverse_response=True)), ("9", "45"),
         "$ 9 + 45 =", "45 $", ("0 2 1 32 1 23 0", "0 1 1 22 1 11 0"), "54", "45"),
    Case("two operands, padded to a length", "Thesis, Table 4.1", without(PAIRS, Linear(pad_to=5)), ("123", "456"),
         "$ 00123 + 00456 =", "00579 $", (), "579", "00579"),
    Case("two operands with their running sums", "by hand", both(PAIRS, Linear(scratchpad=True, reverse_response=True)),
         ("57", "48"),
         "$ 57 + 48 =", "0 > 75 > 501 $",
         ("0 32 1 32 1 2 1 23 1 234 0",
          "0 11 1 22 1 1 2 22 3 333 0"), "105", "501"),
    Case("digit steps", "Thesis, Section 4.2.1, by its rule", without(PAIRS, DigitSteps()), ("123", "456"),
         "$123+456=", "3 2 1 + 6 5 4;c=0,3+6+0=9,c=0;2+5+0=7,c=0;1+4+0=5,c=0|579$", (), "579", "579"),
    Case("sub-task", "Thesis, Section 4.2.2", without(PAIRS, Subtasks(names=("ali",))), ("1234", "4567"),
         "ali$ 1234 + 4567 =", "1+4,2+5,3+6,4+7 $", (), "5801", "1+4,2+5,3+6,4+7"),
    Case("sub-task in printable characters", "Thesis, Section 4.2.2",
         without(PAIRS, Subtasks(names=("car",)), "printable"), ("1234", "4567"),
         "car$ 1234 + 4567 =", "---c $",
         (), "5801", "---c"),

    Case("successor", "Calibration, Section 3.2", consecutive(Successor(digits=3), WIDE), ("0129",),
         "$ 0129 $", "0310 $", ("0 1234 5 6789 a",), "130", "0310"),
    Case("successor, coupled", "by hand", both(Successor(digits=3), WIDE), ("0129",),
         "$ 0129 $", "0310 $", ("0 5432 0 2345 0", "0 1111 0 1111 0"), "130", "0310"),
    Case("successor in base 16, not padded", "by hand", both(Successor(digits=3, base=16),
    Linear(reverse_response=True)), ("99f",),
         "$ 99f =", "0a9 $",
         ("0 432 1 234 0",
          "0 111 1 111 0"), "9a0", "0a9"),
    Case("successor with its carries", "by hand", both(Successor(digits=3), WIDE_STAGES), ("0129",),
         "$ 0129 $", "0100 > 0310 $", ("0 5432 0 2345 1 2345 0", "0 1111 0 1111 2 2222 0"), "130", "0310"),
    Case("pair addition", "Calibration, Section 3.2", consecutive(PairAddition(digits=3), WIDE), ("0123", "0748"),
         "$ 0123 + 0748 $", "1780 $", ("0 1234 5 6789 a bcde f",), "871", "1780"),
    Case("pair addition, aligned", "Calibration, Appendix A.4", both(PairAddition(digits=3), Aligned(width=4)),
         ("0123", "0748"),
         "$ + 00172438 $", "1780 $",
         ("0 1 55443322 0 2345 0",
          "0 1 12121212 0 1111 0"), "871", "1780"),
    Case("pair addition with its carries", "by hand", both(PairAddition(digits=3), WIDE_STAGES), ("0123", "0748"),
         "$ 0123 + 0748 $", "0100 > 1780 $",
         ("0 5432 1 5432 0 2345 1 2345 0", "0 1111 1 2222 0 1111 2 2222 0"), "871", "1780"),
    Case("digit sums", "by hand", both(DigitSums(digits=3), WIDE), ("0123", "0748"),
         "$ 0123 + 0748 $", "1680 $", ("0 5432 1 5432 0 2345 0", "0 1111 1 2222 0 1111 0"), "861", "1680"),
    Case("n by one", "Calibration, Section 3.2", both(NByOne(digits=3), WIDE), ("0123", "6"),
         "$ 0123 * 6 $", "8370 $", ("0 5432 1 2 0 2345 0", "0 1111 1 2 0 1111 0"), "738", "8370"),
    Case("n by one, aligned", "Calibration, Appendix A.4", consecutive(NByOne(digits=3), Aligned(width=4)),
         ("0123", "6"), "$ * 06162636 $", "8370 $", ("0 1 23456789 a bcde f",), "738", "8370"),
    Case("n by one with its carries", "by hand", both(NByOne(digits=3), WIDE_STAGES), ("0123", "6"),
         "$ 0123 * 6 $", "0110 > 8370 $", ("0 5432 1 2 0 2345 1 2345 0", "0 1111 1 2 0 1111 2 2222 0"), "738", "8370"),
    Case("running xor", "Calibration, Section 3.2", both(RunningXor(digits=3, base=2), WIDE), ("0111",),
         "$ 0111 $", "1011 $", ("0 5432 0 2345 0", "0 1111 0 1111 0"), "1", "1"),
    Case("sums of a list", "by hand", both(ListOpsSum(digits=3), WIDE), ("7384",),
         "$ % 7384 $", "4252 $", ("0 1 5432 0 2345 0", "0 1 1111 0 1111 0"), "2", "2"),
    Case("maximum of a list", "Calibration, Section 3.2", both(ListOpsMax(digits=3), WIDE), ("2935",),
         "$ > 2935 $", "5599 $", ("0 1 5432 0 2345 0", "0 1 1111 0 1111 0"), "9", "9"),
    Case("minimum of a list, as long as it is", "by hand",
         consecutive(ListOpsMin(digits=3, base=4), Linear(reverse_response=True)), ("312",),
         "$ < 312 =", "211 $",
         ("0 1 234 5 678 9",), "1", "1"),

    Case("listops", "Nangia and Bowman (2018), Section 2", both(ListOps(digits=5), Linear()),
         ("[MAX", "2", "9", "[MIN", "4", "7", "]", "0", "]"),
         "$ [MAX 2 9 [MIN 4 7 ] 0 ] =", "9 $",
         ("0 111111111 2 1 0",
          "0 111111111 1 1 0"), "9", "9"),
    Case("listops, as one text", "by hand", consecutive(ListOps(digits=5, depth=3), Linear()),
         ("[SM [MED 7 1 [MIN 8 2 ] 6 ] [MAX 3 9 ] ]",),
         "$ [SM [MED 7 1 [MIN 8 2 ] 6 ] [MAX 3 9 ] ] =", "3 $",
         ("0 123456789abcdef g h i",), "3", "3"),

    Case("sorting", "Hinting, Figure 3.1", both(Sorting(longest=5, alphabet=9), BARE), ("5", "3", "1", "4", "2"),
         "53142 ⊥", "12345", ("23456 1 23456", "11111 1 11111"), "1 2 3 4 5", "12345"),
    Case("sorting, words", "by hand", consecutive(Sorting(longest=5, alphabet=100), BARE), ("4", "100", "4", "1"),
         "4 100 4 1 ⊥", "1 4 4 100", ("0 1 2 3 4 5 6 7 8",), "1 4 4 100", "1 4 4 100"),
    Case("sorting, with an end", "by hand", without(Sorting(longest=5, alphabet=9), Linear()), ("2", "1"),
         "$ 21 =", "12 $", (), "1 2", "12"),
    Case("next larger", "Hinting, Figure 3.4", both(NextLarger(longest=5, alphabet=9), BARE),
         ("5", "3", "1", "4", "2", "4"), "53142 ⊥ 4", "5", ("11111 1 1 1", "11111 1 2 1"), "5", "5"),
    Case("next in order", "by hand", both(NextLarger(longest=5, alphabet=9, copies=True), BARE),
         ("5", "3", "3", "4", "2", "3"), "53342 ⊥ 3", "3", ("11111 1 1 1", "11111 1 2 1"), "3", "3"),
    Case("count", "Hinting, Figure 3.10", both(Counting(longest=5, alphabet=9), BARE), ("5", "5", "5", "4", "5"),
         "55545 ⊥", "4", ("11111 2 1", "11111 1 1"), "4", "4"),
    Case("fill", "Hinting, Figure 3.10", both(Filling(longest=5, alphabet=9), BARE), ("5", "3", "1"),
         "555 ⊥ 5 ⊥", "55", ("234 1 2 1 23", "111 1 2 1 11"), "5 5", "55"),
    Case("fill, as drawn", "Hinting, Figure 3.10", without(Filling(longest=5, alphabet=100, padding=2), BARE),
         ("5", "3", "1"), "5 5 5 ⊥ 5 ⊥", "5 5 PAD PAD", (), "5 5", "5 5"),
    Case("increment", "Hinting, Section 6", both(Increment(longest=5), BARE_REVERSED), ("123",),
         "123 ⊥", "421", ("432 1 234", "111 1 111"), "124", "421"),
    Case("increment of nines", "by hand", consecutive(Increment(longest=5), BARE), ("99",),
         "99 ⊥", "100", ("01 2 345",), "100", "100"),
    Case("increment with its carries", "by hand", both(Increment(longest=5), BARE_STAGES), ("199",),
         "199 ⊥", "110 > 002", ("432 1 234 1 234", "111 1 111 2 222"), "200", "002"),
    Case("carries", "Hinting, Section 6", both(Carries(longest=5), BARE_REVERSED), ("129",),
         "129 ⊥", "0↑1 3↑0 1↑0", ("432 1 222 333 444", "111 1 111 111 111"), "0↑13↑01↑0", "0↑13↑01↑0"),

    Case("copy", "by hand", consecutive(Copy(digits=5), Linear()), ("0412",),
         "$ 0412 =", "0412 $",
         ("0 1234 5 6789 a",), "0412", "0412"),
    Case("copy, coupled", "by hand", both(Copy(digits=5), Linear()), ("0412",),
         "$ 0412 =", "0412 $",
         ("0 2345 1 2345 0",
          "0 1111 1 1111 0"), "0412", "0412"),
    Case("reverse", "by hand", consecutive(Reverse(digits=5), Linear()), ("0412",),
         "$ 0412 =", "2140 $",
         ("0 1234 5 6789 a",), "2140", "2140"),
    Case("reverse, coupled", "by hand", both(Reverse(digits=5), Linear()), ("0412",),
         "$ 0412 =", "2140 $",
         ("0 2345 1 5432 0",
          "0 1111 1 1111 0"), "2140", "2140"),
]
# fmt: on

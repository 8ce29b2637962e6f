"""One table of worked examples: what an operand list looks like as tokens, position ids and training targets.

Figures 2, 4 and 8b of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count" are printed
there; the other rows follow its rules by hand. The same rows test task, format, position ids, masking, metric and
decoding. Text is spaced by number, spaces are dropped. An id row is one character per token.
"""

from typing import NamedTuple

from lengen.config.spec import DataSpec


class Case(NamedTuple):
    """One problem and how it is written at test time (offset 1)."""

    name: str
    place: str
    """Where it is printed, or ``by hand``."""
    data: DataSpec
    operands: tuple[str, ...]
    tokens: str
    ids: tuple[str, ...]
    """One row per level; 0 at both ends."""
    answer: str
    """True answer as a decimal number."""
    final: str
    """The final answer as written: after the last separator, before the end."""

    @property
    def text(self) -> str:
        return self.tokens.replace(" ", "")

    @property
    def rows(self) -> list[list[int]]:
        return [[int(c) for c in row.replace(" ", "")] for row in self.ids]

    @property
    def loss(self) -> list[int]:
        """1 behind the first "=" (the query has none): the response and the end."""
        query = self.text.index("=") + 1
        return [0] * query + [1] * (len(self.text) - query)


def addition(levels: int = 2, **options: object) -> DataSpec:
    return DataSpec(task="addition", length=3, count=3, max_position=(9,) * levels, **options)  # type: ignore[arg-type]


def multiplication(levels: int = 3, **options: object) -> DataSpec:
    return DataSpec(task="multiplication", length=3, count=3, max_position=(9,) * levels, **options)  # type: ignore[arg-type]


def parity(**options: object) -> DataSpec:
    return DataSpec(task="parity", length=5, max_position=(9,), **options)  # type: ignore[arg-type]


# fmt: off
CASES = [
    Case("parity", "Figure 2", parity(), ("0101",),
         "$ 0101 = 0110 $",
         ("0 2345 1 2345 0",), "0", "0"),
    Case("parity of one bit", "by hand", parity(), ("1",),
         "$ 1 = 1 $",
         ("0 2 1 2 0",), "1", "1"),
    Case("parity without scratchpad", "by hand", parity(scratchpad=False), ("01011",),
         "$ 01011 = 1 $",
         ("0 11111 2 1 0",), "1", "1"),
    Case("parity, consecutive ids", "by hand", parity(position_ids="consecutive"), ("011",),
         "$ 011 = 010 $",
         ("0 123 4 567 8",), "0", "0"),

    Case("addition", "Figure 4", addition(), ("57", "48", "96"),
         "$ 057 + 048 + 096 = 000 > 750 > 501 > 102 $",
         ("0 432 1 432 1 432 1 234 1 234 1 234 1 234 0",
          "0 111 1 222 2 333 1 111 2 222 3 333 4 444 0"), "201", "102"),
    Case("addition, reversed query", "by hand", addition(reverse_query=True), ("57", "48", "96"),
         "$ 750 + 840 + 690 = 000 > 750 > 501 > 102 $",
         ("0 234 1 234 1 234 1 234 1 234 1 234 1 234 0",
          "0 111 2 222 3 333 1 111 2 222 3 333 4 444 0"), "201", "102"),
    Case("addition, plain response", "by hand", addition(reverse_response=False), ("57", "48", "96"),
         "$ 057 + 048 + 096 = 000 > 057 > 105 > 201 $",
         ("0 432 1 432 1 432 1 432 1 432 1 432 1 432 0",
          "0 111 1 222 2 333 1 111 2 222 3 333 4 444 0"), "201", "201"),
    Case("addition, not padded", "by hand", addition(pad=False), ("57", "8", "96"),
         "$ 57 + 8 + 96 = 0 > 75 > 56 > 161 $",
         ("0 32 1 2 1 32 1 2 1 23 1 23 1 234 0",
          "0 11 1 2 2 33 1 1 2 22 3 33 4 444 0"), "161", "161"),
    Case("addition, not padded, reversed query", "by hand", addition(pad=False, reverse_query=True), ("57", "8", "96"),
         "$ 75 + 8 + 69 = 0 > 75 > 56 > 161 $",
         ("0 23 1 2 1 23 1 2 1 23 1 23 1 234 0",
          "0 11 2 2 3 33 1 1 2 22 3 33 4 444 0"), "161", "161"),
    Case("addition, not padded, plain response", "by hand", addition(pad=False, reverse_response=False),
         ("57", "8", "97"),
         "$ 57 + 8 + 97 = 0 > 57 > 65 > 162 $",
         ("0 32 1 2 1 32 1 2 1 32 1 32 1 432 0",
          "0 11 1 2 2 33 1 1 2 22 3 33 4 444 0"), "162", "162"),
    Case("addition without scratchpad", "by hand", addition(1, scratchpad=False), ("57", "48", "96"),
         "$ 057 + 048 + 096 = 102 $",
         ("0 432 1 432 1 432 1 234 0",), "201", "102"),
    Case("addition of zeros", "by hand", addition(), ("0", "0"),
         "$ 00 + 00 = 00 > 00 > 00 $",
         ("0 32 1 32 1 23 1 23 1 23 0",
          "0 11 1 22 1 11 2 22 3 33 0"), "0", "00"),
    Case("addition of zeros, not padded", "by hand", addition(pad=False), ("0", "00"),
         "$ 0 + 0 = 0 > 0 > 0 $",
         ("0 2 1 2 1 2 1 2 1 2 0",
          "0 1 1 2 1 1 2 2 3 3 0"), "0", "0"),
    Case("addition, no ids", "by hand", addition(position_ids="none"), ("7", "12"),
         "$ 007 + 012 = 000 > 700 > 910 $",
         (), "19", "910"),

    Case("multiplication", "Figure 8b", multiplication(), ("37", "925"),
         "$ 37 * 925 = 581 + 470 + 333 = 58100 > 52900 > 52243 $",
         ("0 32 0 000 1 234 1 234 1 234 0 00000 0 00000 0 00000 0",
          "0 00 0 321 1 111 2 222 3 333 1 11111 2 22222 3 33333 0",
          "0 00 0 000 1 234 2 345 3 456 1 23456 1 23456 1 23456 0"), "34225", "52243"),
    Case("multiplication by one digit", "by hand", multiplication(), ("12", "3"),
         "$ 12 * 3 = 630 = 630 $",
         ("0 32 0 0 1 234 0 000 0",
          "0 00 0 1 1 111 1 111 0",
          "0 00 0 0 1 234 1 234 0"), "36", "630"),
    Case("multiplication, reversed query, plain response", "by hand",
         multiplication(reverse_query=True, reverse_response=False), ("37", "12"),
         "$ 73 * 21 = 074 + 037 = 0074 > 0444 $",
         ("0 23 0 00 1 432 1 432 0 0000 0 0000 0",
          "0 00 0 12 1 111 2 222 1 1111 2 2222 0",
          "0 00 0 00 1 432 2 543 1 5432 1 5432 0"), "444", "0444"),
    Case("multiplication without scratchpad", "by hand", multiplication(1, scratchpad=False), ("37", "925"),
         "$ 37 * 925 = 52243 $",
         ("0 32 1 432 1 23456 0",), "34225", "52243"),
]
# fmt: on

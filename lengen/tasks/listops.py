"""ListOps: expressions of operations inside each other, and what they come to.

Nangia and Bowman (2018), "ListOps: A Diagnostic Dataset for Latent Tree Learning", whose example this is; Sections 3.1
and 8 of "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers".

    [MAX 2 9 [MIN 4 7 ] 0 ] -> 9

Operands hold places among the symbols of the task: a digit is its value, then come the operations, then "]".
"""

from __future__ import annotations

import itertools
from typing import ClassVar

from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Length, Part, SettingError, Size
from lengen.tasks.base import DECIMAL, SEQUENCES, Extent, Rows, Task

OPENING = ("[MAX", "[MIN", "[MED", "[SM")
CLOSING = "]"
FEWEST = 2
"""Arguments that an operation has at least, and so digits of an expression."""
FIRST_OPERATION = len(DECIMAL)
LAST_OPERATION = FIRST_OPERATION + len(OPENING) - 1
CLOSE = LAST_OPERATION + 1


class ListOps(Part, Task, tag="listops", frozen=True):
    """Expressions of operations on digits, one inside the other: [MAX 2 9 [MIN 4 7 ] 0 ] = 9.

    The operations are the largest, the smallest, the median (rounded down) and the sum modulo 10 of two arguments or
    more, as in Nangia and Bowman (2018). Lengths count the digits of an expression.

    Between two neighbouring digits stands a *level*, drawn from 1 to ``depth``: the operations of level 1 join the
    digits between which it is 1, those of level 2 join what stands between levels of 2, and so on. So each operation
    has two arguments or more, and lies inside as many others as levels allow, ``depth`` - 1 at most.

    Example:
        >>> import lengen
        >>> task = lengen.ListOps(digits=3)
        >>> task.text(task.parse(["[MAX 4 [MIN 7 9] 2]"]))
        ['7']
    """

    ROWS: ClassVar[Rows] = SEQUENCES
    PLACEWISE: ClassVar[bool] = False
    symbols = (*DECIMAL, *OPENING, CLOSING)

    digits: Length
    """Digits of the longest trained expression."""
    depth: Size = 2
    """Most operations inside each other, the outermost one included."""

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        return tuple(range(FEWEST, self.digits + 1))

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        """Return tokens of the longest expression: each level but the last joins what is left in pairs."""
        left = -(-length // 2 ** (self.depth - 1))
        return (length + 2 * (length - left + (left > 1)),)

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, 1)

    def check(self) -> None:
        if self.digits < FEWEST:
            fault = f"expected at least {FEWEST}, the arguments of an operation"
            raise SettingError(f"data.task.digits={self.digits}: {fault}")
        deepest = self.digits - 1  # each operation has a digit of its own, the innermost two
        if self.depth > deepest:
            raise SettingError(
                f"data.task.depth={self.depth}: expected at most {deepest}, the operations that lie inside each other "
                f"in {self.digits} digits (data.task.digits)"
            )

    def train(self, n: int, generator: Generator) -> Problems:
        """Draw expressions whose number of digits is uniform on [2:digits]; rows are as wide as the longest may be."""
        sizes = torch.randint(FEWEST, self.digits + 1, (n,), generator=generator)
        problems = self._drawn(sizes, generator)
        (widest,) = self.shape(self.digits, 1)
        room = widest - problems.operands.shape[2]
        return problems._replace(operands=torch.nn.functional.pad(problems.operands, (0, room)))

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Return expressions of exactly ``length`` digits; of one there is the digit itself."""
        return self._drawn(torch.full((n,), length), generator)

    def parse(self, operands: list[str]) -> Problems:
        symbols = self.all_symbols
        words = " ".join(operands).upper().replace("]", " ] ").split()
        for word in words:
            if word not in symbols:
                raise OperandError(f"'{word}' is no part of an expression: expected {' '.join(symbols)}")
        tokens = torch.tensor([[symbols.index(word) for word in words]])
        opened = (_opens(tokens).long() - (tokens == CLOSE).long()).cumsum(dim=1)[0].tolist()
        if not words or min(opened) < 0 or opened[-1] or 0 in opened[:-1]:
            raise OperandError(f"'{' '.join(words)}' is not one expression: each operation is closed once by ]")
        if max(opened) > self.depth:
            fault = f"this task has {self.depth} at most (data.task.depth)"
            raise OperandError(f"'{' '.join(words)}' has {max(opened)} operations inside each other: {fault}")
        if any(word in OPENING and following == CLOSING for word, following in itertools.pairwise(words)):
            raise OperandError(f"'{' '.join(words)}' has an operation of nothing: expected digits before ]")
        return Problems(tokens[None], torch.tensor([[len(words)]]))

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return evaluated(problems.operands[:, 0], problems.lengths[:, 0])[:, None]

    def _drawn(self, sizes: Tensor, generator: Generator) -> Problems:
        n, longest = len(sizes), int(sizes.max())
        digits = torch.randint(0, FIRST_OPERATION, (n, longest), generator=generator)
        levels = torch.randint(1, self.depth + 1, (n, longest), generator=generator)
        operations = torch.randint(FIRST_OPERATION, CLOSE, (n, longest, self.depth), generator=generator)
        return written(digits, levels, operations, sizes)


def written(digits: Tensor, levels: Tensor, operations: Tensor, sizes: Tensor) -> Problems:
    """Return expressions in a row.

    Args:
        digits: (B, N) values.
        levels: (B, N) of what joins a digit to the next one.
        operations: (B, N, depth) of each level, where one begins at that digit.
        sizes: (B,) digits of each expression; what stands beyond them says nothing.
    """
    n, longest, depth = operations.shape
    places = torch.arange(longest)
    # Nothing joins the last digit to another one.
    levels = levels.masked_fill(places >= sizes[:, None] - 1, depth + 1)
    before = torch.cat([torch.full((n, 1), depth + 1), levels[:, :-1]], dim=1)
    opened, closed = [], []
    for level in range(1, depth + 1):
        # An operation begins at a digit that this level does not join to the one before it, where the first level
        # from there on that is no lower is this one; it ends likewise.
        opened.append((before > level) & (_nearest(levels, level) == level))
        closed.append((levels > level) & (_nearest(before.flip(1), level).flip(1) == level))
    outermost_first = torch.stack(opened[::-1], dim=2)
    innermost_first = torch.stack(closed, dim=2)
    digit = (places < sizes[:, None])[:, :, None]
    used = torch.cat([outermost_first & digit, digit, innermost_first & digit], dim=2).flatten(1)
    tokens = torch.cat([operations, digits[:, :, None], torch.full_like(operations, CLOSE)], dim=2).flatten(1)
    lengths = used.sum(dim=1)
    order = (~used).long().argsort(dim=1, stable=True)[:, : int(lengths.max())]
    row = tokens.gather(1, order) * (torch.arange(order.shape[1]) < lengths[:, None])
    return Problems(row[:, None], lengths[:, None])


def evaluated(tokens: Tensor, lengths: Tensor) -> Tensor:
    """Return (B,) values of expressions (B, W) of the given lengths (B,); the innermost operations first."""
    n, width = tokens.shape
    inside = torch.arange(width) < lengths[:, None]
    opens, closes = _opens(tokens) & inside, (tokens == CLOSE) & inside
    depth = opens.cumsum(dim=1) - closes.cumsum(dim=1)  # of a digit; an operation's own argument is one less deep
    values = tokens.clone()
    counted = inside & (tokens < FIRST_OPERATION)
    for level in range(int(depth.max()), 0, -1):
        opening = opens & (depth == level)
        arguments = counted & (depth == level)
        operation = (opening.flatten().cumsum(0) - 1).view(n, width)  # which of this level, over all expressions
        at, which = values[arguments], operation[arguments]
        order = torch.argsort(10 * which + at)
        results = _applied(tokens[opening], at[order], torch.bincount(which))
        values[opening] = results
        # From here on the operation is an argument of the one around it.
        counted = (counted & ~arguments) | opening
        opens = opens & ~opening
        depth = depth - opening.long()
    return values[:, 0]


def _applied(operations: Tensor, arguments: Tensor, sizes: Tensor) -> Tensor:
    """Return (G,) results of operations on groups of these sizes, whose arguments are in order, group after group."""
    ends = sizes.cumsum(0)
    starts = ends - sizes
    sums = torch.zeros_like(sizes).index_add_(0, torch.repeat_interleave(sizes), arguments)
    median = (arguments[starts + (sizes - 1) // 2] + arguments[starts + sizes // 2]) // 2
    results = torch.stack([arguments[ends - 1], arguments[starts], median, sums % 10])
    return results.gather(0, (operations - FIRST_OPERATION)[None])[0]


def _nearest(levels: Tensor, level: int) -> Tensor:
    """Return (B, N) the first of ``levels`` from each place on that is no lower than ``level``."""
    n, longest = levels.shape
    places = torch.where(levels >= level, torch.arange(longest), longest)
    following = places.flip(1).cummin(dim=1).values.flip(1)
    return torch.cat([levels, torch.full((n, 1), -1)], dim=1).gather(1, following)


def _opens(tokens: Tensor) -> Tensor:
    return (tokens >= FIRST_OPERATION) & (tokens <= LAST_OPERATION)

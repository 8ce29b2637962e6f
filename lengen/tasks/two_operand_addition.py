"""Addition of two operands of equal length.

Section 4.2.2 of "Length Generalization on Multi-Digit Integer Addition with Transformers" (Ibrahimli 2024).

    operands  123 456      answer  579

Problems that test or validate are reserved: they come from streams of their own, once for all, and training never draws
one of them. The one exception is length 1: all of its 100 problems are trained on, as in the thesis, so they are also
what tests it. A sub-task (digit alignment, reversing, ...) is another question about the same two operands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from lengen import digits
from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.digits import generator as stream
from lengen.part import Length, Part, SettingError
from lengen.tasks import base
from lengen.tasks.addition import sums
from lengen.tasks.base import BOUNDS, Extent, Signs, Task, keys, of_decimals

TESTED, VALIDATED = 10_000, 1_000
"""Problems of each length that are reserved, if they are at most `SHARE` of all."""
SHARE = 0.25
QUOTAS = {1: 100, 2: 900, 3: 9000}
"""Training problems of the shortest lengths (Section 4.2.2); longer ones share the rest equally."""


class TwoOperandAddition(Part, Task, tag="two_operand_addition", frozen=True):
    """Sums of two numbers of equal length; the problems that test are reserved and never trained on.

    123+456=579; stages: the first operand alone, then the sum.

    Example:
        >>> import lengen
        >>> task = lengen.TwoOperandAddition(lengths=(1, 2))
        >>> task.text(task.parse(["12", "34"]))
        ['46']
    """

    ROWS = BOUNDS
    SIGNS = Signs("+")
    STAGES = "running sums"
    name = "n_by_n"
    most = 2
    counts = (2,)
    subtasks = 0
    """Number of sub-tasks of its problems; 0: none."""

    lengths: tuple[Length, ...]
    """Trained digits of the operands; some may be left out."""

    @property
    def longest(self) -> int:
        return max(self.lengths)

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        return self.lengths

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return 2, length

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent((shape[1],) * 2, shape[1] + 1, (shape[1] + 1,) * 2)

    def check(self) -> None:
        if not self.lengths or list(self.lengths) != sorted(set(self.lengths)):
            raise SettingError(f"data.task.lengths={list(self.lengths)}: expected trained lengths, each once, rising")

    def with_subtasks(self, number: int) -> TwoOperandAddition:
        return _WithSubtasks(self.lengths, number) if number else self

    def train(self, n: int, generator: Generator) -> Problems:
        """Return ``n`` problems, each length and each sub-task as likely as any other; none that is reserved."""
        chosen = torch.tensor(self.lengths)[torch.randint(len(self.lengths), (n,), generator=generator)]
        operands = self._draw(chosen, generator)
        while len(again := _reserved(operands, self.lengths).nonzero()[:, 0]):
            operands[again] = self._draw(chosen[again], generator)
        return self._asked(operands, chosen, generator)

    def fixed_set(self, examples: int, seed: int) -> Problems:
        """Return ``examples`` distinct problems, in numbers by length as `quotas` says; sub-tasks in equal parts."""
        generator, drawn, lengths = stream("n_by_n set", seed), [], []
        for size, quota in quotas(self.lengths, examples).items():
            drawn.append(self._distinct(size, quota, generator))
            lengths.append(torch.full((quota,), size))
        order = torch.randperm(examples, generator=generator)
        problems = self._asked(torch.cat(drawn), torch.cat(lengths), generator).select(order)
        if self.subtasks:
            problems = problems._replace(kinds=torch.randperm(examples, generator=generator) % self.subtasks)
        return problems.packed()

    def validation(self, n: int, generator: Generator) -> Problems:
        """Return reserved problems of the trained lengths in turn, and of all sub-tasks."""
        lengths = torch.tensor(self.lengths).repeat(-(-n // len(self.lengths)))[:n].sort().values
        operands = torch.zeros(n, 2, max(self.lengths), dtype=torch.long)
        for size in self.lengths:
            rows = (lengths == size).nonzero()[:, 0]
            reserve = _reserve(size)[1]
            operands[rows, :, :size] = reserve[torch.arange(len(rows)) % len(reserve)].long()
        return self._asked(operands, lengths, generator)

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Return the first ``n`` reserved problems of a length, of the first sub-task.

        Fewer where fewer are reserved.
        """
        operands = _reserve(length)[0][:n].long()
        return Problems(operands, torch.full((len(operands), 2), length))

    def parse(self, operands: list[str]) -> Problems:
        """Return two numbers, of any lengths."""
        if len(operands) != 2:
            raise OperandError(f"this addition takes exactly two operands, got {len(operands)}")
        return of_decimals(operands)

    def shapes(self, problems: Problems) -> Tensor:
        """Return two operands, and digits of the longer one."""
        return torch.stack([torch.full_like(problems.lengths[:, 0], 2), problems.lengths.amax(dim=1)], dim=1)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return sums(problems, width)[:, -1]

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return running sums, and what digit steps and sub-tasks show of the columns of a sum."""
        if name == self.STAGES:
            return sums(problems, width)[:, :-1]
        operands = from_the_left(problems.operands, problems.lengths) if name in LEFT else problems.operands
        columns = torch.nn.functional.pad(operands, (0, 1)).sum(dim=1)
        return COLUMNS[name](columns)[:, None].long()

    def _draw(self, lengths: Tensor, generator: Generator) -> Tensor:
        return digits.sample(lengths[:, None].expand(-1, 2), max(self.lengths), generator)

    def _asked(self, operands: Tensor, lengths: Tensor, generator: Generator) -> Problems:
        kinds = torch.randint(self.subtasks, (len(operands),), generator=generator) if self.subtasks else None
        return Problems(operands, lengths[:, None].expand(-1, 2), kinds)

    def _distinct(self, length: int, quota: int, generator: Generator) -> Tensor:
        """Return ``quota`` distinct problems of one length that are not reserved; for length 1 all there are."""
        if length == 1 and quota == 100:
            return torch.nn.functional.pad(_reserve(1)[0].long(), (0, max(self.lengths) - 1))
        free = problems_of(length) - sum(len(part) for part in _reserve(length) if length > 1)
        if quota > free:
            fault = f"{quota} problems of {length} digits are asked for, and there are {free} beside the reserved ones"
            raise SettingError(f"data.examples: {fault}; lower data.examples or train more lengths")
        pairs = torch.zeros(0, 2, max(self.lengths), dtype=torch.long)
        while len(pairs) < quota:
            drawn = self._draw(torch.full((int(1.1 * quota) + 8,), length), generator)
            pairs = first_of_each(torch.cat([pairs, drawn[~_reserved(drawn, (length,))]]))
        return pairs[:quota]


class _WithSubtasks(TwoOperandAddition, tag="two_operand_addition", frozen=True):
    """The same problems, each with one of so many sub-tasks."""

    subtasks: int = 0


def incoming(columns: Tensor) -> Tensor:
    """Return the carry into each place: what a digit of the sum has more than the two that it is the sum of."""
    return (digits.carry(columns) - columns) % 10


def pair_carries(columns: Tensor) -> Tensor:
    """Mark the digit pairs of 10 or more, whatever carry comes in: what the text describes and prints.

    >>> pair_carries(torch.tensor([[11, 9, 7, 5]])).int().tolist()  # 1234 + 4567
    [[1, 0, 0, 0]]
    """
    return columns >= 10


def true_carries(columns: Tensor) -> Tensor:
    """Mark the places that hand a carry on to the next higher one.

    >>> true_carries(torch.tensor([[11, 9, 7, 5]])).int().tolist()
    [[1, 1, 0, 0]]
    """
    return incoming(torch.nn.functional.pad(columns, (0, 1)))[:, 1:] > 0


def downward_carries(columns: Tensor) -> Tensor:
    """Mark the carries handed on to the next *lower* place, as the author's code computes them.

    >>> downward_carries(torch.tensor([[8, 10, 9]])).int().tolist()  # 9 hundreds, 10 tens, 8 units
    [[0, 1, 0]]
    >>> downward_carries(torch.tensor([[9, 10, 9]])).int().tolist()
    [[1, 1, 0]]
    """
    return true_carries(columns.flip(1)).flip(1)


def from_the_left(operands: Tensor, lengths: Tensor) -> Tensor:
    """Return operands (B, 2, W), units first, the shorter one with zeros at its end.

    The first digits of both are in one place.

    >>> from_the_left(torch.tensor([[[5, 9], [5, 0]]]), torch.tensor([[2, 1]])).tolist()  # 95 and 5
    [[[5, 9], [0, 5]]]
    """
    index = torch.arange(operands.shape[2]) - (lengths.amax(dim=1, keepdim=True) - lengths)[:, :, None]
    return operands.gather(2, index.clamp(min=0)).masked_fill(index < 0, 0)


COLUMNS: dict[str, Callable[[Tensor], Tensor]] = {
    base.CARRIES_IN: incoming,
    base.SUM_DIGITS: digits.carry,
    base.MODULAR: lambda columns: columns % 10,
    base.PAIR_CARRIES: pair_carries,
    base.DOWNWARD_CARRIES: downward_carries,
    base.CARRIES_OUT: true_carries,
    base.TRAILING: lambda columns: downward_carries(columns) & (torch.arange(columns.shape[1]) == 0),
}
"""Rows by name: sums of digit pairs (B, W), units first, to (B, W)."""
LEFT = frozenset({base.DOWNWARD_CARRIES, base.TRAILING})
"""Rows of digit pairs that are aligned at the first digits of both operands, as the author's code reads them."""


def quotas(lengths: tuple[int, ...], examples: int) -> dict[int, int]:
    """Return the number of training problems of each length.

    These are 100, 900 and 9000 of one, two and three digits, the others sharing the rest.

    Where that leaves nothing to share, as with 10,000 problems of up to nine digits, no length gets more than an equal
    share of what is left after shorter ones; if there is no other length, the longest takes the rest.

    >>> quotas((1, 3), 10_000), quotas((1, 2, 3, 4, 5), 30_000)
    ({1: 100, 3: 9900}, {1: 100, 2: 900, 3: 9000, 4: 10000, 5: 10000})
    """
    quota_of, left = {}, examples
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        last = place == len(lengths) - 1
        quota_of[length] = left if last else min(QUOTAS.get(length, share), share)
        left -= quota_of[length]
    return quota_of


def problems_of(length: int) -> int:
    """Count the problems of one length.

    >>> problems_of(1), problems_of(2)
    (100, 8100)
    """
    return int(10**length - 10 ** (length - 1) if length > 1 else 10) ** 2


def first_of_each(operands: Tensor) -> Tensor:
    """Return problems without repetitions, in the order of their first appearance."""
    unique, inverse = torch.unique(keys(operands), return_inverse=True)
    first = torch.full((len(unique),), len(operands)).scatter_reduce_(0, inverse, torch.arange(len(operands)), "amin")
    return operands[first.sort().values]


@functools.cache
def _reserve(length: int) -> tuple[Tensor, Tensor]:
    """Return problems (N, 2, length) of one length that test, and others that validate; for length 1 all, twice."""
    if length == 1:
        every = digits.from_numbers(torch.arange(10), 1)
        pairs = torch.cartesian_prod(torch.arange(10), torch.arange(10))
        return every[pairs], every[pairs]
    whole = int(SHARE * min(problems_of(length), 10**6))
    tested = min(TESTED, whole * 10 // 11)
    size = tested + min(VALIDATED, whole - tested)
    generator, drawn = stream("n_by_n reserve", length), torch.zeros(0, 2, length, dtype=torch.long)
    while len(drawn) < size:
        lengths = torch.full((size, 2), length)
        drawn = first_of_each(torch.cat([drawn, digits.sample(lengths, length, generator)]))
    return drawn[:tested].to(torch.uint8), drawn[tested:size].to(torch.uint8)


@functools.cache
def _reserved_keys(lengths: tuple[int, ...]) -> Tensor:
    parts = [keys(part) for length in lengths if length > 1 for part in _reserve(length)]
    return torch.cat(parts).sort().values if parts else torch.zeros(0, dtype=torch.long)


def _reserved(operands: Tensor, lengths: tuple[int, ...]) -> Tensor:
    """Return (B,) bool, True if the problem is reserved."""
    there = _reserved_keys(lengths)
    if not len(there):
        return torch.zeros(len(operands), dtype=torch.bool)
    wanted = keys(operands)
    return there[torch.searchsorted(there, wanted).clamp(max=len(there) - 1)] == wanted

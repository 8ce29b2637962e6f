"""Problems to training examples: whole batches of tokens, position ids and loss masks by one gather.

Every shape of problem has a layout, computed once; a batch looks its rows up in a table of layouts and
gathers digits from the numbers that the task gives. No string and no loop over examples on this path.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen import digits
from lengen.data.batch_and_random_spaces import Batch, Source, Spaces, spread
from lengen.data.reading_responses import follow
from lengen.digits import OperandError, Problems
from lengen.formats.base import FIRST, PAD, UNUSED, Digit, Layout, Vocab, Written
from lengen.position_ids.base import PositionIds
from lengen.tasks.base import Task, keys

EVERY = 1 << 30
"""Written digits of a row with a fixed number of them."""


class _Part(NamedTuple):
    """One sequence of each example before it has ids."""

    tokens: Tensor
    coordinates: Tensor
    loss: Tensor
    highest: Tensor
    """(levels, B) largest coordinates."""
    sizes: Tensor
    """(B,) tokens of the padded layout, and spaces."""
    opening: Tensor
    """(B,) tokens before the operands."""


class _Numbers(NamedTuple):
    """The rows of digits that a format writes, one block for each of its names."""

    values: Tensor
    """(B, R, W) symbols as their places after `FIRST` in the vocabulary."""
    needed: Tensor | None
    """(B, R) digits that are written of each row, where a format drops leading zeros."""
    first: tuple[int, ...]
    """First row of each block."""


@dataclass(eq=False)
class Writer:
    """Writes problems of a task in one format with one scheme of position ids.

    ``vocab`` may hold more symbols than the format writes. With ``split`` query and response are sequences of their
    own; with ``hands_over`` the last token of the query begins the response. ``spaces`` are put into the queries of
    training examples; ``output`` is the output head that its batches are for.
    """

    task: Task
    format: Written
    vocab: Vocab
    scheme: PositionIds
    split: bool = False
    spaces: Spaces | None = None
    output: int = 0
    hands_over: bool = False

    def __post_init__(self) -> None:
        vocab, task, format = self.vocab, self.task, self.format
        places = [vocab.id(symbol) - FIRST for symbol in task.all_symbols]
        self._places = None if places == list(range(len(places))) else torch.tensor(places)
        """Places of the task's symbols in the vocabulary, unless they begin it."""
        # Operations and brackets stand behind the digits among the symbols of a task, and are none.
        self._digits = sum(symbol.isalnum() for symbol in task.symbols)
        self._hints = torch.tensor([vocab.id(mark) for mark in format.index_hints], dtype=torch.long)
        self._tables: dict[tuple[bool, int], _Table] = {}

    def write(self, problems: Problems, generator: torch.Generator | None = None) -> Batch:
        """Return tokens, ids and loss mask.

        With a generator they are for training: ids get random offsets, queries spaces.
        """
        numbers = self._numbers(problems)
        # Bytes, and whole rows by index_select: several times less memory traffic than indexing with 64-bit numbers.
        symbols = torch.arange(len(self.vocab), dtype=torch.uint8).expand(len(numbers.values), -1)
        buffer = torch.cat([symbols, numbers.values.flatten(1).to(torch.uint8) + FIRST], dim=1)
        sides = self._sides(problems)
        first = self._first_hints(sides, generator)
        parts = [self._part(table, rows, numbers, buffer, first) for table, rows in sides]
        parts[-1] = self._spaced(parts[-1], problems, generator)  # the last side has the query
        highest, sizes = _largest([part.highest for part in parts]), _largest([part.sizes for part in parts])
        chosen = None if generator is not None else keys(problems.operands)
        offsets = self.scheme.offsets(highest, sizes, generator, chosen)
        part, query = parts[0], parts[-1]
        source = Source(query.tokens, self._ids(query, offsets)) if self.split else None
        return Batch(part.tokens, self._ids(part, offsets), part.loss, source, self.output)

    def _numbers(self, problems: Problems) -> _Numbers:
        """Return everything the format may show of these problems."""
        blocks, needed = [], []
        for name in self.format.rows:
            rows = self.task.rows(name, problems, self.format.width)
            if self.format.dropped:
                needed.append(self._needed(name, rows))
            if self._places is not None:
                rows = self._places[rows]
            if name in self.format.marks:
                off, on = (self.vocab.id(symbol) - FIRST for symbol in self.format.marks[name])
                rows = torch.where(rows != 0, on, off)
            blocks.append(rows)
        width = max(self.format.least, *(block.shape[2] for block in blocks))
        first = tuple(sum(block.shape[1] for block in blocks[:i]) for i in range(len(blocks)))
        values = torch.cat([pad(block, (0, width - block.shape[2])) for block in blocks], dim=1)
        return _Numbers(values, torch.cat(needed, dim=1) if needed else None, first)

    def _needed(self, name: str, rows: Tensor) -> Tensor:
        """Return (B, R) digits that are written of each of these rows."""
        if name in self.format.optional:
            return (rows != 0).any(dim=2).long()
        if name in self.format.dropped:
            return digits.significant(rows).clamp(min=self.format.least)
        return torch.full(rows.shape[:2], EVERY)

    def _first_hints(self, sides: "list[_Side]", generator: torch.Generator | None) -> Tensor | None:
        """Return (B,) the number of the index hint that marks the first place.

        It is the first one in testing, any that leaves room in training; None without hints. Raises `OperandError` if
        there are fewer marks than places.
        """
        if not len(self._hints):
            return None
        highest = _largest([table.hints.amax(dim=1)[rows] for table, rows in sides])
        room = len(self._hints) - highest
        if bool((room < 0).any()):
            raise OperandError(
                f"these operands need {int(highest.max())} index hints, and the format has {len(self._hints)} "
                "(data.format.index_hints): shorten them or raise it"
            )
        if generator is None:
            return torch.zeros_like(room)
        return (torch.rand(room.shape, generator=generator, dtype=torch.float64) * (room + 1)).long()

    def _part(self, table: "_Table", rows: Tensor, numbers: _Numbers, buffer: Tensor, first: Tensor | None) -> _Part:
        length = int(table.length[rows].max())
        source = table.source(numbers.first, numbers.values.shape[2])
        tokens = buffer.gather(1, source[:, :length].index_select(0, rows)).long()
        if first is not None:
            hints = table.hints[:, :length].index_select(0, rows)
            marks = self._hints[(first[:, None] + hints - 1).clamp(0, len(self._hints) - 1)]
            tokens = torch.where(hints > 0, marks, tokens)
        coordinates = table.coordinates[:, :, :length].index_select(1, rows)
        loss = table.loss[:, :length].index_select(0, rows)
        highest = table.highest.index_select(1, rows)
        if numbers.needed is not None:
            keep = self._written_slots(numbers, table, rows, length)
            tokens, coordinates, loss = _compact(tokens, coordinates, loss, keep)
            highest = coordinates.amax(dim=2)
        read = self._read(tokens)
        if read is not None:
            coordinates, highest = read, read.amax(dim=2)
        return _Part(tokens, coordinates, loss, highest, table.length[rows], table.opening[rows])

    def _spaced(self, part: _Part, problems: Problems, generator: torch.Generator | None) -> _Part:
        """Return a training example with random spaces between its opening and the last symbol of its query."""
        if self.spaces is None or generator is None:
            return part
        written = (part.tokens != PAD).sum(dim=1)
        end = torch.where(part.loss.any(dim=1), part.loss.int().argmax(dim=1), written) - 1
        arranged = self.spaces.arrange(problems, end - part.opening, generator)
        index = spread(arranged, part.opening, part.tokens.shape[1])
        space, width = index < 0, part.tokens.shape[1]
        inside = index < width
        place = index.clamp(0, width - 1)
        tokens = torch.where(inside, part.tokens.gather(1, place), PAD).masked_fill(space, self.spaces.token)
        loss = part.loss.gather(1, place) & inside & ~space
        read = self._read(tokens)
        coordinates = read
        if coordinates is None:
            coordinates = part.coordinates.gather(2, place.expand(len(part.coordinates), -1, -1))
            coordinates = coordinates.masked_fill(space | ~inside, UNUSED)
        return part._replace(tokens=tokens, coordinates=coordinates, loss=loss, sizes=part.sizes + arranged.sum(dim=1))

    def _read(self, tokens: Tensor) -> Tensor | None:
        """Return coordinates (levels, B, T) that the scheme reads off tokens; None where the layout has them."""
        return self.scheme.coordinates(tokens, self._digits) if self.scheme.READS_TOKENS else None

    def _ids(self, part: _Part, offsets: Tensor) -> Tensor:
        return self.scheme.ids(part.coordinates, offsets, torch.arange(part.tokens.shape[1])[None])

    def lengths(self, problems: Problems) -> Tensor:
        """Return (B,) tokens of each sequence, leading zeros included: what batches are sorted by."""
        return torch.stack([table.length[rows] for table, rows in self._sides(problems)]).sum(dim=0)

    def plan(self, problems: Problems) -> tuple[Tensor, Tensor, Tensor]:
        """Return the needs of decoding, from the prompt alone: response coordinates, their number, and offsets.

        Returns:
            coordinates of the padded layout's response slots, (levels, B, R); response slots per example, (B,);
            test-time offsets, (levels, B).
        """
        sides = self._sides(problems)
        table, rows = sides[0]
        slots = table.length[rows] - table.response[rows]
        index = table.response[rows][:, None] + torch.arange(int(slots.max()))
        index = index.clamp(max=table.loss.shape[1] - 1)
        padded = table.coordinates[:, rows].gather(2, index.expand(self.format.levels, -1, -1))
        coordinates = torch.where(torch.arange(int(slots.max())) < slots[:, None], padded, UNUSED)
        highest = _largest([table.highest[:, rows] for table, rows in sides])
        sizes = _largest([table.length[rows] for table, rows in sides])
        if self.scheme.READS_TOKENS:  # of which none is written yet
            highest = highest.new_zeros(1, highest.shape[1])
        return coordinates.long(), slots, self.scheme.offsets(highest, sizes, None, keys(problems.operands))

    def follow(self, planned: Tensor, written: Tensor, slot: Tensor) -> Tensor:
        """Return coordinates (levels, B) of a response's newest token, as `lengen.data.reading_responses.follow`."""
        read = self._read(written)
        if read is None:
            return follow(self.format, self.vocab, planned, written, slot)
        return read.gather(2, slot.expand(len(read), -1)[:, :, None])[:, :, 0]

    def _sides(self, problems: Problems) -> "list[_Side]":
        """Return the layouts of problems as wide as these, apart from wider ones, and the rows of these problems there.

        If query and response are sequences of their own, the layouts of the query come last.

        A table's rows are as long as its longest. In one table for all the 930 cells of Theorem 4.1, with up to 100
        operands of up to 100 digits, rows would have 20,000 slots each.
        """
        shapes, sides = self.task.shapes(problems), []
        if self.format.exact:
            kinds = torch.zeros_like(problems.lengths[:, 0]) if problems.kinds is None else problems.kinds
            shapes = torch.cat([kinds[:, None], problems.lengths], dim=1)
        for query in (False, True) if self.split else (False,):
            key = query, problems.operands.shape[2]
            if key not in self._tables:
                self._tables[key] = _Table(self.format, self.vocab, partial(self._layout, query))
            sides.append((self._tables[key], self._tables[key].rows(shapes)))
        return sides

    def _layout(self, query: bool, shape: tuple[int, ...]) -> Layout:
        whole = self.format.layout(shape)
        return whole.split(self.hands_over)[0 if query else 1] if self.split else whole

    def _written_slots(self, numbers: _Numbers, table: "_Table", rows: Tensor, length: int) -> Tensor:
        """Return (B, length) bool: symbols, and digits that are no leading zeros."""
        assert numbers.needed is not None
        row = table.digit_rows(numbers.first)[rows, :length]
        place = table.place[rows, :length]
        return (place < numbers.needed.gather(1, row)) & (torch.arange(length) < table.length[rows, None])


class _Table:
    """Layouts as tensors, one row per shape, grown as new shapes appear."""

    def __init__(self, format: Written, vocab: Vocab, layout: Callable[[tuple[int, ...]], Layout]) -> None:
        self._vocab = vocab
        self._layout = layout
        self._row: dict[tuple[int, ...], int] = {}
        self._blocks = {name: i for i, name in enumerate(format.rows)}
        none = torch.empty(0, 0, dtype=torch.long)
        self.coordinates = torch.empty(format.levels, 0, 0, dtype=torch.int32)
        self._symbol = self._block = self._index = self.place = self.hints = none
        self.length = self.response = self.opening = torch.empty(0, dtype=torch.long)

    def rows(self, shapes: Tensor) -> Tensor:
        """Return (B, S) shapes to (B,) rows of this table."""
        unique, inverse = _unique_rows(shapes)
        keys = [tuple(shape) for shape in unique.tolist()]
        new = [key for key in keys if key not in self._row]
        if new:
            self._row |= {key: len(self._row) + i for i, key in enumerate(new)}
            self._grow([self._layout(key) for key in new])
        return torch.tensor([self._row[key] for key in keys])[inverse]

    def _grow(self, layouts: list[Layout]) -> None:
        """Add rows for new layouts alone: cells of a grid come one by one, and each brings a shape."""
        width = max(self.place.shape[1], *(len(layout.symbols) for layout in layouts))

        def grown(table: Tensor, rows: list[list[int]], fill: int) -> Tensor:
            new = torch.tensor([row + [fill] * (width - len(row)) for row in rows], dtype=table.dtype)
            return torch.cat([pad(table, (0, width - table.shape[1]), value=fill), new])

        def of_digits(table: Tensor, value: Callable[[Digit], int], otherwise: int) -> Tensor:
            rows = [[value(d) if d is not None else otherwise for d in layout.digits] for layout in layouts]
            return grown(table, rows, otherwise)

        def each(table: Tensor, values: list[int]) -> Tensor:
            return torch.cat([table, torch.tensor(values)])

        places = [list(zip(*layout.coordinates, strict=True)) for layout in layouts]
        levels = [grown(level, [list(held[i]) for held in places], UNUSED) for i, level in enumerate(self.coordinates)]
        self.coordinates = torch.stack(levels)
        self.highest = self.coordinates.amax(dim=2).long()
        symbols = [[self._vocab.id(s) if s else -1 for s in layout.symbols] for layout in layouts]
        self._symbol = grown(self._symbol, symbols, PAD)
        self._block = of_digits(self._block, lambda digit: self._blocks[digit.row], 0)
        self._index = of_digits(self._index, lambda digit: digit.number, 0)
        self.place = of_digits(self.place, lambda digit: digit.place, -1)
        self.hints = grown(self.hints, [layout.hints for layout in layouts], 0)
        self.length = each(self.length, [len(layout.symbols) for layout in layouts])
        self.response = each(self.response, [layout.response for layout in layouts])
        self.opening = each(self.opening, [layout.opening for layout in layouts])
        slots = torch.arange(width)
        self.loss = (slots >= self.response[:, None]) & (slots < self.length[:, None])
        self._found: dict[tuple[tuple[int, ...], int], Tensor] = {}

    def digit_rows(self, first: tuple[int, ...]) -> Tensor:
        """Return (shapes, slots) row of each slot's digit, where blocks of rows begin at ``first``; 0 at symbols."""
        return torch.where(self.place < 0, 0, torch.tensor(first)[self._block] + self._index)

    def source(self, first: tuple[int, ...], width: int) -> Tensor:
        """Return (shapes, slots) place of a token in a row of all symbols, then all digits, ``width`` of each row."""
        if (first, width) not in self._found:
            digit = len(self._vocab) + self.digit_rows(first) * width + self.place
            self._found[first, width] = torch.where(self.place < 0, self._symbol, digit)
        return self._found[first, width]


_Side = tuple[_Table, Tensor]
"""Layouts, and the row of each problem among them."""


def _largest(sides: list[Tensor]) -> Tensor:
    """Return the larger one of the values of both sides."""
    return torch.stack(sides).amax(dim=0)


def _unique_rows(shapes: Tensor) -> tuple[Tensor, Tensor]:
    """Return distinct rows and each row's index among them; rows hold small non-negative integers.

    Mixed into one integer first: unique over scalars is several times faster than over rows.
    """
    base = int(shapes.max()) + 1
    weights = torch.tensor([base**i for i in range(shapes.shape[1])])
    _, inverse = torch.unique((shapes * weights).sum(dim=1), return_inverse=True)
    unique = shapes.new_zeros(int(inverse.max()) + 1, shapes.shape[1])
    unique[inverse] = shapes
    return unique, inverse


def _compact(tokens: Tensor, coordinates: Tensor, loss: Tensor, keep: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Move the kept slots of each row to the left, in order; the rest becomes padding."""
    order = torch.sort(~keep, dim=1, stable=True).indices[:, : int(keep.sum(dim=1).max())]
    held = keep.gather(1, order)
    tokens = torch.where(held, tokens.gather(1, order), PAD)
    coordinates = torch.where(held, coordinates.gather(2, order.expand(len(coordinates), -1, -1)), UNUSED)
    return tokens, coordinates, loss.gather(1, order) & held

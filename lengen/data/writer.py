"""Problems to training examples: whole batches of tokens, position ids and loss masks by one gather.

Every shape of problem has a layout, computed once; a batch looks its rows up in a table of layouts and
gathers digits from the numbers its format writes. No string and no loop over examples on this path.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lengen.data.random_spaces import Spaces, spread
from lengen.formats.base import Format, follow
from lengen.formats.layout import UNUSED, Layout
from lengen.position_ids import PositionIds
from lengen.tasks.base import Problems
from lengen.vocab import FIRST, PAD


class Source(NamedTuple):
    """What an encoder reads: the query, apart from the response."""

    tokens: Tensor
    """(B, S) int64 token ids, padded on the right."""
    ids: Tensor
    """(levels, B or 1, S) int64 position ids."""


class Batch(NamedTuple):
    """What a model is trained on."""

    tokens: Tensor
    """(B, T) int64 token ids: ``$ query = response $``, or ``$ response $`` beside a source; padded on the right."""
    ids: Tensor
    """(levels, B or 1, T) int64 position ids; 0 at both ``$`` and at padding for coupled ids."""
    loss: Tensor
    """(B, T) bool: the token is a training target (response and end)."""
    source: Source | None = None
    """The query, where an encoder reads it."""
    output: int = 0
    """The output head it is for: 0 the task's, then those of its auxiliary tasks."""

    def to(self, device: torch.device) -> "Batch":
        """The same batch on a device."""
        source = self.source and Source(self.source.tokens.to(device), self.source.ids.to(device))
        return Batch(self.tokens.to(device), self.ids.to(device), self.loss.to(device), source, self.output)


def response_start(batch: Batch) -> Tensor:
    """(B,) index of the first response token: how many tokens the prompt has."""
    return batch.loss.int().argmax(dim=1)


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


class Writer:
    """Writes problems in one format with one scheme of position ids.

    ``split`` writes query and response apart; ``spaces`` are put into the queries of training examples; ``output`` is
    the number of the output head that its batches are for.
    """

    def __init__(
        self, format: Format, scheme: PositionIds, split: bool = False, spaces: Spaces | None = None, output: int = 0
    ) -> None:
        self.format = format
        self.scheme = scheme
        self.split = split
        self.spaces = spaces
        self.output = output
        self._tables: dict[tuple[int, int, bool], _Table] = {}

    def write(self, problems: Problems, generator: torch.Generator | None = None) -> Batch:
        """Tokens, ids and loss mask; with a generator they are for training: ids get random offsets, queries spaces."""
        numbers = self.format.numbers(problems)
        # Bytes, and whole rows by index_select: several times less memory traffic than indexing with 64-bit numbers.
        symbols = torch.arange(len(self.format.vocab), dtype=torch.uint8).expand(len(numbers), -1)
        buffer = torch.cat([symbols, numbers.flatten(1).to(torch.uint8) + FIRST], dim=1)
        part = self._part(problems, numbers, buffer)
        if not self.split:
            part = self._spaced(part, problems, generator)
            offsets = self.scheme.offsets(part.highest, part.sizes, generator)
            return Batch(part.tokens, self._ids(part, offsets), part.loss, output=self.output)
        query = self._spaced(self._part(problems, numbers, buffer, query=True), problems, generator)
        highest, sizes = torch.maximum(part.highest, query.highest), torch.maximum(part.sizes, query.sizes)
        offsets = self.scheme.offsets(highest, sizes, generator)
        source = Source(query.tokens, self._ids(query, offsets))
        return Batch(part.tokens, self._ids(part, offsets), part.loss, source, self.output)

    def _part(self, problems: Problems, numbers: Tensor, buffer: Tensor, query: bool = False) -> _Part:
        table, rows = self._rows(problems, numbers.shape[2], query)
        length = int(table.length[rows].max())
        tokens = buffer.gather(1, table.source[:, :length].index_select(0, rows)).long()
        coordinates = table.coordinates[:, :, :length].index_select(1, rows)
        loss = table.loss[:, :length].index_select(0, rows)
        highest = table.highest.index_select(1, rows)
        if self.format.minimal:
            keep = self._significant_slots(numbers, table, rows, length)
            tokens, coordinates, loss = _compact(tokens, coordinates, loss, keep)
            highest = coordinates.amax(dim=2)
        read = self.scheme.coordinates(tokens)
        if read is not None:
            coordinates, highest = read, read.amax(dim=2)
        return _Part(tokens, coordinates, loss, highest, table.length[rows], table.opening[rows])

    def _spaced(self, part: _Part, problems: Problems, generator: torch.Generator | None) -> _Part:
        """A training example with random spaces between its opening and the last symbol of its query."""
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
        read = self.scheme.coordinates(tokens)
        coordinates = read
        if coordinates is None:
            coordinates = part.coordinates.gather(2, place.expand(len(part.coordinates), -1, -1))
            coordinates = coordinates.masked_fill(space | ~inside, UNUSED)
        return part._replace(tokens=tokens, coordinates=coordinates, loss=loss, sizes=part.sizes + arranged.sum(dim=1))

    def _ids(self, part: _Part, offsets: Tensor) -> Tensor:
        return self.scheme.ids(part.coordinates, offsets, torch.arange(part.tokens.shape[1])[None])

    def lengths(self, problems: Problems) -> Tensor:
        """(B,) tokens of each padded sequence: what batches are sorted by."""
        width = self.format.numbers(problems.select(torch.arange(1))).shape[2]
        table, rows = self._rows(problems, width)
        if not self.split:
            return table.length[rows]
        query, query_rows = self._rows(problems, width, query=True)
        return table.length[rows] + query.length[query_rows]

    def plan(self, problems: Problems) -> tuple[Tensor, Tensor, Tensor]:
        """What decoding needs, from the prompt alone: response coordinates, their number, and offsets.

        Returns:
            coordinates of the padded layout's response slots, (levels, B, R); response slots per example, (B,);
            test-time offsets, (levels, B).
        """
        width = self.format.numbers(problems.select(torch.arange(1))).shape[2]
        table, rows = self._rows(problems, width)
        slots = table.length[rows] - table.response[rows]
        index = table.response[rows][:, None] + torch.arange(int(slots.max()))
        padded = table.coordinates[:, rows].gather(
            2, index.clamp(max=table.source.shape[1] - 1).expand(self.format.levels, -1, -1)
        )
        coordinates = torch.where(torch.arange(int(slots.max())) < slots[:, None], padded, UNUSED)
        highest, sizes = table.highest[:, rows], table.length[rows]
        if self.split:
            query, query_rows = self._rows(problems, width, query=True)
            highest = torch.maximum(highest, query.highest[:, query_rows])
            sizes = torch.maximum(sizes, query.length[query_rows])
        if self.scheme.coordinates(sizes[:, None]) is not None:  # read off tokens, of which none is written yet
            highest = highest.new_zeros(1, highest.shape[1])
        return coordinates.long(), slots, self.scheme.offsets(highest, sizes, None)

    def follow(self, planned: Tensor, written: Tensor, slot: Tensor) -> Tensor:
        """Coordinates (levels, B) of the newest token of a response, as `lengen.formats.follow`."""
        read = self.scheme.coordinates(written)
        if read is None:
            return follow(self.format, planned, written, slot)
        return read.gather(2, slot.expand(len(read), -1)[:, :, None])[:, :, 0]

    def _rows(self, problems: Problems, width: int, query: bool = False) -> tuple["_Table", Tensor]:
        rows = problems.operands.shape[1]

        def layout(shape: tuple[int, ...]) -> Layout:
            whole = self.format.layout(shape, rows)
            return whole.split()[0 if query else 1] if self.split else whole

        key = (rows, width, query)
        if key not in self._tables:
            self._tables[key] = _Table(self.format, layout, width)
        table = self._tables[key]
        return table, table.rows(self.format.shapes(problems))

    def _significant_slots(self, numbers: Tensor, table: "_Table", rows: Tensor, length: int) -> Tensor:
        """(B, length) bool: symbols, and digits that are no leading zeros."""
        needed = self.format.significant(numbers)
        row, place = table.digit_row[rows, :length], table.digit_place[rows, :length]
        return (place < needed.gather(1, row)) & (torch.arange(length) < table.length[rows, None])


class _Table:
    """Layouts as tensors, one row per shape, grown as new shapes appear."""

    def __init__(self, format: Format, layout: Callable[[tuple[int, ...]], Layout], width: int) -> None:
        self._format = format
        self._layout = layout
        self._width = width
        self._layouts: dict[tuple[int, ...], Layout] = {}
        self._row: dict[tuple[int, ...], int] = {}

    def rows(self, shapes: Tensor) -> Tensor:
        """(B, S) shapes to (B,) rows of this table."""
        unique, inverse = _unique_rows(shapes)
        keys = [tuple(shape) for shape in unique.tolist()]
        new = [key for key in keys if key not in self._row]
        if new:
            for key in new:
                self._row[key] = len(self._row)
                self._layouts[key] = self._layout(key)
            self._fill()
        return torch.tensor([self._row[key] for key in keys])[inverse]

    def _fill(self) -> None:
        layouts = list(self._layouts.values())
        sizes = [len(layout.symbols) for layout in layouts]

        def padded(rows: list[list[Any]], fill: object) -> Tensor:
            return torch.tensor([row + [fill] * (max(sizes) - len(row)) for row in rows])

        nowhere = (UNUSED,) * self._format.levels
        coordinates = padded([layout.coordinates for layout in layouts], nowhere)
        self.coordinates = coordinates.to(torch.int32).permute(2, 0, 1).contiguous()
        self.highest = coordinates.amax(dim=1).T.contiguous()
        self.source = padded([self._sources(layout) for layout in layouts], PAD)
        self.digit_row = padded([[row for row, _ in layout.digits] for layout in layouts], 0)
        self.digit_place = padded(
            [
                [-1 if symbol else place for symbol, (_, place) in zip(layout.symbols, layout.digits, strict=True)]
                for layout in layouts
            ],
            -1,
        )
        self.length = torch.tensor(sizes)
        self.response = torch.tensor([layout.response for layout in layouts])
        self.opening = torch.tensor([layout.opening for layout in layouts])
        slots = torch.arange(max(sizes))
        self.loss = (slots >= self.response[:, None]) & (slots < self.length[:, None])

    def _sources(self, layout: Layout) -> list[int]:
        """Where each slot's token stands in a row of all symbols, then all digits."""
        vocab = self._format.vocab
        return [
            vocab.id(symbol) if symbol else len(vocab) + row * self._width + place
            for symbol, (row, place) in zip(layout.symbols, layout.digits, strict=True)
        ]


def _unique_rows(shapes: Tensor) -> tuple[Tensor, Tensor]:
    """Distinct rows and each row's index among them; rows hold small non-negative integers.

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
    kept = keep.gather(1, order)
    tokens = torch.where(kept, tokens.gather(1, order), PAD)
    coordinates = torch.where(kept, coordinates.gather(2, order.expand(len(coordinates), -1, -1)), UNUSED)
    return tokens, coordinates, loss.gather(1, order) & kept

"""Ids of places in the sequence: consecutive, cyclic, and randomised, a sorted draw from those of longer sequences."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from lengen.digits import Generator, Tensor, mix, torch
from lengen.part import LARGEST_ID, Id, Part
from lengen.position_ids.base import PositionIds, refuse_longer


class Consecutive(Part, PositionIds, tag="consecutive", frozen=True):
    """0, 1, 2, ... from the beginning of the sequence; the same for every example.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("addition", digits=2, position_ids="consecutive"), seed=0)
        >>> batch = data.writer.write(data.task.parse(["12", "34"]))
        >>> data.vocab.decode(batch.tokens[0]), batch.ids[:, 0].tolist()
        ('$012+034=640$', [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]])
    """

    max_position: Annotated[int, Meta(ge=0, le=LARGEST_ID)] = 0
    """Largest id, for encodings with a table of them; 0: nothing bounds them."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.max_position,) if self.max_position else ()

    def offsets(self, highest: Tensor, sizes: Tensor, generator: Generator | None, key: Tensor | None = None) -> Tensor:
        if self.max_position:
            refuse_longer("consecutive", sizes, self.max_position)
        return super().offsets(highest, sizes, generator, key)

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places[None]


class Cyclic(Part, PositionIds, tag="cyclic", frozen=True):
    """0, 1, ..., period - 1, 0, 1, ...: cyclic position indexing.

    (Section 4.1 of "From Interpolation to Extrapolation").

    Example:
        >>> import lengen
        >>> spec = lengen.setting("addition", digits=2, position_ids=lengen.Cyclic(period=3), encoding="sinusoidal")
        >>> data = lengen.TaskData(spec, seed=0)
        >>> batch = data.writer.write(data.task.parse(["12", "34"]))
        >>> data.vocab.decode(batch.tokens[0]), batch.ids[:, 0].tolist()
        ('$012+034=640$', [[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]])
    """

    period: Id
    """After how many tokens ids begin again."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.period - 1,)

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places[None] % self.period


class NoPositionIds(Part, PositionIds, tag="none", frozen=True):
    """No ids at all.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("addition", digits=2, position_ids="none"), seed=0)
        >>> batch = data.writer.write(data.task.parse(["12", "34"]))
        >>> data.vocab.decode(batch.tokens[0]), batch.ids.shape[0]
        ('$012+034=640$', 0)
    """

    levels = 0

    def offsets(self, highest: Tensor, sizes: Tensor, generator: Generator | None, key: Tensor | None = None) -> Tensor:
        return highest[:0]

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places.new_zeros(0, 1, places.shape[1])


class Randomised(Part, PositionIds, tag="randomised", frozen=True):
    """Ids drawn from 0 to ``max_position`` without repetition, then sorted, as in longer sequences (Ruoss et al. 2023).

    In testing they are drawn too, for each example; from the problem itself, so that it always has the same ids.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("addition", digits=2, position_ids="randomised"), seed=0)
        >>> batch = data.writer.write(data.task.parse(["12", "34"]))
        >>> data.vocab.decode(batch.tokens[0]), batch.ids[:, 0].tolist()
        ('$012+034=640$', [[1, 2, 3, 5, 6, 7, 8, 11, 13, 15, 16, 17, 18]])
    """

    max_position: Id
    """Largest id."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.max_position,)

    def offsets(self, highest: Tensor, sizes: Tensor, generator: Generator | None, key: Tensor | None = None) -> Tensor:
        """Return (longest, B): the id of each place."""
        refuse_longer("randomised", sizes, self.max_position)
        if generator is not None:
            order = torch.rand(len(sizes), self.max_position + 1, generator=generator)
        else:
            seeds = torch.zeros_like(sizes) if key is None else key
            order = mix(seeds[:, None] ^ mix(torch.arange(self.max_position + 1) + sizes[:, None] * (1 << 32)))
        chosen = order.argsort(dim=1)[:, : int(sizes.max())]
        outside = torch.arange(chosen.shape[1]) >= sizes[:, None]
        return chosen.masked_fill(outside, self.max_position).sort(dim=1).values.T

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        places = places.expand(offsets.shape[1], -1).clamp(max=len(offsets) - 1)
        return offsets.T.gather(1, places)[None]

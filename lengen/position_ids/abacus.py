"""Abacus ids: digits are numbered within each number as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from lengen.digits import torch
from lengen.formats.base import FIRST, UNUSED
from lengen.part import LARGEST_ID, Id, Part, SettingError
from lengen.position_ids.base import PositionIds, without_index_hints
from lengen.position_ids.coupled import moved, random_offsets

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from lengen.formats.base import Format


class Abacus(Part, PositionIds, tag="abacus", frozen=True):
    """Digits are numbered 1, 2, ... within each number as it is written; everything else is 0 (McLeish et al. 2024).

    With numbers written least significant digit first, digits of one significance share an id. In training all ids of
    an example are moved by the same random offset, up to ``max_offset``.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("addition", digits=2, position_ids="abacus"), seed=0)
        >>> batch = data.writer.write(data.task.parse(["12", "34"]))
        >>> data.vocab.decode(batch.tokens[0]), batch.ids[:, 0].tolist()
        ('$210+430=640$', [[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]])
    """

    COUNTS_TOKENS = False
    READS_TOKENS = True

    max_position: Id
    """Largest id."""
    max_offset: Annotated[int, Meta(ge=0, le=LARGEST_ID)] = 0
    """Largest random offset in training."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.max_position,)

    def check(self, format: Format) -> None:
        without_index_hints("abacus", format, "the marks between the digits of a number would make each its first")
        if format.aligned:
            raise SettingError(
                f"data.position_ids=abacus: the digits of both operands stand in one run in data.format={format.kind}, "
                f"and would be numbered through as one number; choose data.format=linear, or ids such as coupled"
            )

    def coordinates(self, tokens: Tensor, digits: int) -> Tensor:
        digit = (tokens >= FIRST) & (tokens < FIRST + digits)
        places = torch.arange(tokens.shape[1]).expand_as(tokens)
        begin = torch.where(digit, -1, places).cummax(dim=1).values  # the last token that is no digit
        return torch.where(digit, places - begin - 1, UNUSED)[None]

    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        return random_offsets(highest[:1], self.sizes, generator, self.max_offset)

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return moved(coordinates[:1], offsets, self.sizes)

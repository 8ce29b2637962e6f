"""Ids of places in numbers: position coupling, where tokens that share a coordinate share an id, and Abacus."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from lengen.digits import Generator, RoomError, Tensor, torch
from lengen.formats.base import FIRST, UNUSED, Format
from lengen.part import LARGEST_ID, Id, Part, SettingError
from lengen.position_ids.base import PositionIds


def without_index_hints(kind: str, format: Format, why: str) -> None:
    """Raise `SettingError` if a format writes index hints."""
    if format.index_hints:
        fault = f"data.format.index_hints={format.index_hints}: with data.position_ids={kind} {why}"
        raise SettingError(f"{fault}; choose other ids, such as consecutive, or set data.format.index_hints=0")


class Coupled(Part, PositionIds, tag="coupled", frozen=True):
    """Tokens that matter to each other share an id.

    It is an offset, random in training, plus the coordinate of the format; 0 in a level without one.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("addition", digits=2, position_ids="coupled"), seed=0)
        >>> batch = data.writer.write(data.task.parse(["12", "34"]))
        >>> data.vocab.decode(batch.tokens[0]), batch.ids[:, 0].tolist()
        ('$012+034=640$', [[0, 4, 3, 2, 1, 4, 3, 2, 1, 2, 3, 4, 0]])
    """

    FOLLOWS = True

    max_position: tuple[Id, ...]
    """Largest id of each level; offsets are drawn so that no id exceeds it."""

    @property
    def levels(self) -> int:
        return len(self.max_position)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.max_position

    def check(self, format: Format) -> None:
        without_index_hints("coupled", format, "digits of one place already share an id")
        if not format.COORDINATES:
            fault = f"data.position_ids=coupled: the digits of data.format={format.kind} have no coordinates"
            raise SettingError(f"{fault}; choose another format, or consecutive ids")
        if not 1 <= self.levels <= format.LEVELS:
            fault = f"data.position_ids.max_position={list(self.max_position)}: expected 1 to {format.LEVELS} values"
            raise SettingError(f"{fault}, one for each level of coupled ids that data.format={format.kind} has")

    def offsets(self, highest: Tensor, sizes: Tensor, generator: Generator | None, key: Tensor | None = None) -> Tensor:
        return random_offsets(highest[: self.levels], self.max_position, generator)

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return moved(coordinates[: self.levels], offsets, self.max_position)


def random_offsets(
    highest: Tensor, largest: tuple[int, ...], generator: Generator | None, max_offset: int | None = None
) -> Tensor:
    """Return 1 in testing; in training draw from [1, largest - highest coordinate], or up to 1 + ``max_offset``.

    Raises `OperandError` if an id would exceed its level's maximum.
    """
    room = torch.tensor(largest)[:, None] - highest
    if bool((room < 1).any()):
        level = int((room < 1).any(dim=1).int().argmax())
        needs = int(highest[level].max()) + 1
        raise RoomError(
            f"these operands need position ids up to {needs} in level {level + 1}, and the model has {largest[level]} "
            "(data.position_ids.max_position): shorten them or raise it",
            level,
            needs,
        )
    if generator is None:
        return torch.ones_like(highest)
    if max_offset is not None:
        room = room.clamp(max=max_offset + 1)
    return 1 + (torch.rand(highest.shape, generator=generator, dtype=torch.float64) * room).long()


def moved(coordinates: Tensor, offsets: Tensor, largest: tuple[int, ...]) -> Tensor:
    """Return offset plus coordinate, never beyond the largest id.

    A model that does not end a number it writes keeps it.
    """
    most = torch.tensor(largest, dtype=coordinates.dtype)[:, None, None]
    ids = coordinates + offsets[:, :, None].to(coordinates.dtype)
    return ids.clamp_(max=most).mul_(coordinates != UNUSED).long()


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

    def offsets(self, highest: Tensor, sizes: Tensor, generator: Generator | None, key: Tensor | None = None) -> Tensor:
        return random_offsets(highest[:1], self.sizes, generator, self.max_offset)

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return moved(coordinates[:1], offsets, self.sizes)

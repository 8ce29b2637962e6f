"""Position coupling: tokens that share a coordinate share an id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengen.digits import torch
from lengen.formats.base import UNUSED
from lengen.part import Id, Part, SettingError
from lengen.position_ids.base import PositionIds, without_index_hints

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from lengen.formats.base import Format


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
    COUNTS_TOKENS = False

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
            raise SettingError(
                f"data.position_ids=coupled: the digits of data.format={format.kind} have no coordinates; choose "
                f"another format, or consecutive ids"
            )
        if not 1 <= self.levels <= format.LEVELS:
            raise SettingError(
                f"data.position_ids.max_position={list(self.max_position)}: expected 1 to {format.LEVELS} values, "
                f"one for each level of coupled ids that data.format={format.kind} has"
            )

    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        return random_offsets(highest[: self.levels], self.max_position, generator)

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return moved(coordinates[: self.levels], offsets, self.max_position)


def random_offsets(
    highest: Tensor, largest: tuple[int, ...], generator: Generator | None, max_offset: int | None = None
) -> Tensor:
    """Return 1 in testing; in training draw from [1, largest - highest coordinate], or up to 1 + ``max_offset``.

    Raises `OperandError` if an id would exceed its level's maximum.
    """
    from lengen.digits import OperandError

    room = torch.tensor(largest)[:, None] - highest
    if bool((room < 1).any()):
        level = int((room < 1).any(dim=1).int().argmax())
        raise OperandError(
            f"these operands need position ids up to {int(highest[level].max()) + 1} in level {level + 1}, and the "
            f"model has {largest[level]} (data.position_ids.max_position): shorten them or raise it"
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

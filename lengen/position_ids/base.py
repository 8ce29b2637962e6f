"""Coordinates to position ids: integers that belong to tokens and travel with the data.

A scheme turns the coordinates of a layout into ids, one row per level. In training each level of each
example gets a random offset, so that every id is trained; in testing the offset is 1 (Section 4.2 of
"Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count").
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor


class PositionIds(ABC):
    """How integers are given to tokens."""

    READS_TOKENS: ClassVar[bool] = False
    """Coordinates are read off tokens; else the layout has them."""

    def coordinates(self, tokens: Tensor) -> Tensor | None:
        """Coordinates (levels, B, T) read off tokens (B, T); None without `READS_TOKENS`."""
        return None

    @abstractmethod
    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        """What ids are counted from, (any, B), for examples of ``sizes`` (B,) tokens with highest coordinates
        ``highest`` (levels of the layout, B); random in training. ``keys`` (B,) tell problems apart, where ids are
        drawn in testing, too."""

    @abstractmethod
    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        """Ids (levels, B or 1, T) of tokens with these coordinates (levels of the layout, B, T), at these places
        (B or 1, T)."""

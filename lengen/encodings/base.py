"""A position encoding: how integers enter the network. Four entry points, each doing nothing by default."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from torch import Tensor, nn

from lengen.config.spec import ModelSpec


class Encoding(nn.Module, ABC):
    """Position ids of shape (levels, B or 1, T) in; one or more of four effects out."""

    levels_read: ClassVar[int | None]
    """Levels of the ids that it looks at; None for all there are, 0 where it looks at no ids."""

    @classmethod
    @abstractmethod
    def build(cls, model: ModelSpec, sizes: tuple[int, ...]) -> Self:
        """The encoding of a specification's model, for ids up to ``sizes``, one for each level."""

    def embed(self, ids: Tensor) -> Tensor | None:
        """(B or 1, T, width) added to the token embedding, or None."""
        return None

    def rotate(self, vectors: Tensor, ids: Tensor) -> Tensor:
        """Queries or keys (B, H, T, D), rotated by their position ids."""
        return vectors

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor | None:
        """(B or 1, H, Q, K) added to the attention scores of every layer, or None."""
        return None

    def relate(self, query: Tensor, query_ids: Tensor, key_ids: Tensor) -> Tensor | None:
        """(B, H, Q, K) added to the products of queries (B, H, Q, D) and keys, before they are scaled, or None."""
        return None

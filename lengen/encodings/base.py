"""A position encoding: how integers enter the network. Four entry points, each doing nothing by default."""

from torch import Tensor, nn


class Encoding(nn.Module):
    """Position ids of shape (levels, B or 1, T) in; one or more of four effects out."""

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

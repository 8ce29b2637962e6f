"""A position encoding: how integers enter the network. Four entry points, each doing nothing by default."""

from collections.abc import Callable
from functools import singledispatch
from typing import Self

import torch
from torch import Tensor, nn

from lengen.part import SettingError
from lengen.settings import model as settings
from lengen.settings.model import ModelSpec


class Encoding(nn.Module):
    """Position ids of shape (levels, B or 1, T) in; one or more of four effects out.

    What is made of ids alone is made in float32 at least, also in a model whose numbers are bfloat16, which has 8
    significant bits: ids 256 and 257 would be one.
    """

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move and cast all tensors, as `torch.nn.Module` does, but round no constant below float32."""
        exact = dict(self.named_buffers(recurse=False))
        apply: Callable[..., object] = super()._apply
        apply(fn, recurse)
        for name, constant in exact.items():
            moved = self.get_buffer(name)
            if moved.dtype.itemsize < torch.float32.itemsize:
                setattr(self, name, constant.to(moved.device, torch.float32))
        return self

    def embed(self, ids: Tensor) -> Tensor | None:
        """Return (B or 1, T, width) added to the token embedding, or None."""
        return None

    def rotate(self, vectors: Tensor, ids: Tensor) -> Tensor:
        """Return queries or keys (B, H, T, D), rotated by their position ids."""
        return vectors

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor | None:
        """Return (B or 1, H, Q, K) added to the attention scores of every layer, or None."""
        return None

    def relate(self, query: Tensor, query_ids: Tensor, key_ids: Tensor) -> Tensor | None:
        """Return (B, H, Q, K) added to products of queries (B, H, Q, D) and keys, before they are scaled, or None."""
        return None


def built(setting: settings.Encoding, model: ModelSpec, sizes: tuple[int, ...]) -> Encoding:
    """Return the `module` of a setting, of which one call to each entry point was checked; raises `SettingError`."""
    encoding = module(setting, model, sizes)
    levels, heads, head = max(1, len(sizes)), model.heads, model.head_dim
    ids, vectors = torch.ones(levels, 1, 3, dtype=torch.int64), torch.zeros(1, heads, 3, head)
    scores = [(1, heads, 3, 3), (1, 1, 3, 3)]
    with torch.no_grad():
        for method, tensor, shapes in (
            ("embed", encoding.embed(ids), [(1, 3, model.width)]),
            ("rotate", encoding.rotate(vectors, ids), [tuple(vectors.shape)]),
            ("bias", encoding.bias(ids, ids), scores),
            ("relate", encoding.relate(vectors, ids, ids), scores),
        ):
            if tensor is None and method != "rotate":
                continue
            if not isinstance(tensor, Tensor) or not tensor.is_floating_point() or tuple(tensor.shape) not in shapes:
                shown = f"{tensor.dtype} {tuple(tensor.shape)}" if isinstance(tensor, Tensor) else type(tensor).__name__
                fault = f"{type(encoding).__name__}.{method}: found {shown} for 3 ids"
                raise SettingError(f"{fault}; expected floats of shape {shapes[0]}")
    return encoding


@singledispatch
def module(setting: settings.Encoding, model: ModelSpec, sizes: tuple[int, ...]) -> Encoding:
    """Build the module of a setting for a model and position ids up to ``sizes``, one for each level.

    Each module registers itself for its setting.
    """
    raise TypeError(f"no module of lengen.encodings is registered for {type(setting).__name__}")

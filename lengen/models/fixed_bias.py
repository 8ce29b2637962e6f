"""Fixed attention biases of an encoder-decoder: added to the scores of every decoder layer, one matrix per head.

Axes: H heads, M response places (place 0 is the beginning ``$``; place i predicts token i of the response), N source
places, both ``$`` included. A closed key is -inf.
"""

from functools import singledispatch

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from lengen.digits.problems import OperandError
from lengen.part import SettingError
from lengen.settings.attention_biases import AttentionBias, Given, Window
from lengen.settings.windows import window_cross, window_self


def closed(window: np.ndarray) -> Tensor:
    """Return 0 if a bool window is open and -inf if it is closed."""
    return torch.zeros(window.shape).masked_fill(torch.from_numpy(~window), float("-inf"))


class FixedBias(nn.Module):
    """Two matrices per head, for the decoder's self-attention (H, M, M) and its cross-attention (H, M, N).

    They are buffers: a model's weights hold the bias that it was trained with.
    """

    own: Tensor
    cross: Tensor

    def __init__(self, own: Tensor, cross: Tensor) -> None:
        super().__init__()
        self.register_buffer("own", own)
        self.register_buffer("cross", cross)

    def set(self, own: Tensor, cross: Tensor) -> None:
        """Replace both; shapes must be equal."""
        for name, held, new in (("self", self.own, own), ("cross", self.cross, cross)):
            if held.shape != new.shape:
                raise SettingError(
                    f"a {name}-attention bias of shape {tuple(new.shape)} does not fit a model of {tuple(held.shape)}: "
                    "calibrate it for this fixed length"
                )
        self.own.copy_(own)
        self.cross.copy_(cross)

    def check(self, rows: int, columns: int) -> None:
        """Raise `OperandError` beyond the sizes it was built for: a bias is never cropped to a longer problem."""
        _, held, held_columns = self.cross.shape
        if rows > held or columns > held_columns:
            raise OperandError(
                f"this model's attention bias is built for {held} response and {held_columns} source places, and the "
                f"problem has {rows} and {columns}: shorten it, or calibrate for a larger data.format.width"
            )

    def rows(self, places: Tensor, keys: int, columns: int) -> tuple[Tensor, Tensor]:
        """Return biases of queries at ``places`` (B or 1, T): (B or 1, H, T, keys) and (B or 1, H, T, columns).

        Keys beyond the held ones, spare places of a cache that no query sees, get 0.
        """
        held = self.own.shape[-1]
        places = places.clamp(max=held - 1)
        own = self.own[:, places, :keys].transpose(0, 1)
        return pad(own, (0, max(0, keys - held))), self.cross[:, places, :columns].transpose(0, 1)


def open_everywhere(heads: int, rows: int, columns: int) -> FixedBias:
    """Return a bias of zeros, for responses of ``rows`` and sources of ``columns`` places.

    `FixedBias.set` or weights fill it.
    """
    return FixedBias(torch.zeros(heads, rows, rows), torch.zeros(heads, rows, columns))


def windowed(heads: int, rows: int, columns: int, width: int, stride: int) -> FixedBias:
    """Return the windowed bias of Appendix A.4, for responses of ``rows`` and sources of ``columns`` places."""
    own = closed(window_self(rows, width))
    cross = closed(window_cross(rows, columns, width, stride))
    return FixedBias(own.expand(heads, rows, rows).clone(), cross.expand(heads, rows, columns).clone())


@singledispatch
def beside_encoder(setting: AttentionBias, heads: int, rows: int, columns: int) -> FixedBias:
    """Build the bias of a decoder beside an encoder, for responses of ``rows`` and sources of ``columns`` places."""
    raise TypeError(f"{type(setting).__name__} does not fit a decoder beside an encoder")


@beside_encoder.register
def _(setting: Window, heads: int, rows: int, columns: int) -> FixedBias:
    return windowed(heads, rows, columns, setting.width, setting.stride)


@beside_encoder.register
def _(setting: Given, heads: int, rows: int, columns: int) -> FixedBias:
    return open_everywhere(heads, rows, columns)

"""A bias along lines of a decoder's attention, for prompts and responses of any length.

A decoder without encoder as an encoder-decoder whose encoder has no block ("From Interpolation to Extrapolation:
Complete Length Generalization for Arithmetic Transformers", as its authors' code has it): a token of the prompt reads
itself alone, and a place of the response reads the prompt and the response before it, with a bias that is constant
along lines. Place 0 of the response is the last token of the prompt, which predicts the first token of the response;
it is the prompt's end, too, and is open where either side opens it.

Where a calibrated matrix has corners that are aligned, lines have an end of the prompt that they are counted from:
its beginning for positive slopes (a copy reads on from there), its end for others (units are read first, whatever
stands before them).
"""

from collections.abc import Sequence
from functools import singledispatch

import torch
from torch import Tensor, nn

from lengen.models.attention_lines import CLOSED, CalibrationError, drop_off, line_values
from lengen.settings.attention_biases import AttentionBias, Lines, LineWindow


class LineLevels(nn.Module):
    """The bias of every line of some slopes, on one side; all lines are open (0) until it is set.

    Lines are those of attention with ``rows`` rows and ``columns`` columns, and one entry stands for all that it did
    not have. A buffer, so that a model's weights hold what they were trained with.
    """

    table: Tensor
    """(slopes, H, L + 1) bias by line, -inf where closed; the last entry is that of the lines it does not have."""

    def __init__(self, heads: int, rows: int, columns: int, slopes: Sequence[int]) -> None:
        super().__init__()
        self.columns = columns
        self.slopes = tuple(slopes)
        self.first = -max(abs(slope) for slope in self.slopes) * (rows - 1)
        """Id of the first line (`lengen.models.attention_lines`), the same for all slopes."""
        self.register_buffer("table", torch.zeros(len(self.slopes), heads, columns - 2 * self.first + 1))

    def forward(self, rows: Tensor, columns: Tensor, ends: Tensor) -> Tensor:
        """Return (B, H, T, K) bias of rows (B, T) and columns (B or 1, K).

        Slopes up to 0 count columns from ``ends`` (B,).
        """
        lines = self.table.shape[2] - 1
        found = None
        for levels, slope in zip(self.table, self.slopes, strict=True):
            ids = columns[:, None, :] - slope * rows[:, :, None] - self.first
            if slope <= 0:
                ids = ids + (self.columns - ends)[:, None, None]
            bias: Tensor = levels[:, torch.where((ids >= 0) & (ids < lines), ids, lines)]
            found = bias if found is None else found.maximum(bias)
        assert found is not None
        return found.transpose(0, 1)


class LineBias(nn.Module):
    """Biases by lines, of places of a response to the response ("own") and to the prompt ("cross")."""

    def __init__(self, heads: int, rows: int, columns: int, slopes: Sequence[int]) -> None:
        super().__init__()
        self.own = LineLevels(heads, rows, rows, (1,))
        self.cross = LineLevels(heads, rows, columns, slopes)

    def calibrate(self, own: Tensor, cross: Tensor, sigma_own: float, sigma_cross: float) -> Tensor:
        """Open the lines whose sums stand out in attention (H, rows, rows) and (H, rows, columns), close all others.

        Every direction of each side is judged apart, as in the source, with the threshold of its side, and has a level
        of 0 at its strongest line: how much of the softmax that both sides share goes to which is left to the scores.
        Returns (H,) bool, True if a head has a line; one that has none stays open everywhere.
        """
        if cross.shape[2] != self.cross.columns:
            raise CalibrationError(
                f"attention over a prompt of {cross.shape[2]} tokens: expected {self.cross.columns}, "
                f"model.architecture.attention_bias.columns, from whose end lines are counted"
            )
        picked = torch.zeros(own.shape[0], dtype=torch.bool)
        for side, attention, sigma in ((self.own, own, sigma_own), (self.cross, cross, sigma_cross)):
            for levels, slope in zip(side.table, side.slopes, strict=True):
                ids, values = line_values(attention, slope, "sum")
                judged = drop_off(values, sigma)
                levels.fill_(CLOSED)
                levels[:, ids - side.first] = judged.to(levels.dtype)
                picked |= (judged > CLOSED).any(dim=1)
        for table in (self.own.table, self.cross.table):
            table[:, ~picked] = 0.0
        return picked

    def forward(self, places: Tensor, keys: int, prompt: Tensor) -> Tensor:
        """Return (B, H, T, keys) bias of tokens at ``places`` (B or 1, T).

        Problems have ``prompt`` (B,) tokens of query.

        Keys behind a token's own place are for a mask to close.
        """
        begin = prompt[:, None] - 1
        columns = torch.arange(keys, device=places.device)[None]
        rows, columns_of_response = places - begin, columns - begin
        asked = (columns <= begin)[:, None, None]
        told = (columns_of_response >= 0)[:, None, None]
        read = self.cross(rows, columns, prompt).masked_fill(~asked, CLOSED)
        written = self.own(rows, columns_of_response, prompt).masked_fill(~told, CLOSED)
        itself = (columns == places[:, :, None])[:, None]
        alone = torch.zeros_like(read).masked_fill(~itself, CLOSED)
        return torch.where((rows < 0)[:, None, :, None], alone, read.maximum(written))


def windows(heads: int, width: int, lines: Sequence[tuple[int, int]]) -> LineBias:
    """Return the bias of `lengen.settings.model.LineWindow`, equal in all heads; each line is a slope and an offset."""
    behind = range(2 * width + 1)
    slopes = tuple(dict.fromkeys(slope for slope, _ in lines))
    bias = LineBias(heads, len(behind), 1 + max(offset for _, offset in lines), slopes)
    own, cross = bias.own, bias.cross
    for side in (own, cross):
        side.table.fill_(CLOSED)
    for back in range(width + 1):
        own.table[0, :, -back - own.first] = 0.0
    for slope, offset in lines:
        now = offset if slope > 0 else cross.columns - 1 - offset
        for back in behind:
            cross.table[slopes.index(slope), :, now - slope * back - cross.first] = 0.0
    return bias


@singledispatch
def along_lines(setting: AttentionBias, heads: int) -> LineBias:
    """Build the bias of a decoder without encoder that is constant along lines."""
    raise TypeError(f"{type(setting).__name__} is not constant along lines")


@along_lines.register
def _(setting: Lines, heads: int) -> LineBias:
    return LineBias(heads, setting.rows, setting.columns, setting.slopes)


@along_lines.register
def _(setting: LineWindow, heads: int) -> LineBias:
    return windows(heads, setting.width, setting.lines)

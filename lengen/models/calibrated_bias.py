"""Biases added to attention scores: fixed matrices, and lines that are calibrated and go on at any length."""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from lengen.digits import OperandError
from lengen.models.window_masks import window_cross, window_self
from lengen.part import SettingError
from lengen.settings.attention_biases import AttentionBias, Given, Lines, LineWindow, Window

# What enters is attention (heads, m, n) of a model that interpolates; what leaves is a bias (heads, M, N) to be added
# to the scores of a new one. Section 5 and Algorithm 1 (Appendix B) of "From Interpolation to Extrapolation: Complete
# Length Generalization for Arithmetic Transformers", with these slips mended (all of them: the errata of that paper's
# module):
#
# - The text compares d_l - d_max, never positive, with mu + sigma * sd of the d_l themselves, which closes nearly
#   everything. Here d_l itself is compared, and what passes has the value d_l - d_max.
# - Lines 14 and 19 name the output array; each direction has its own, and they are merged within the loop over heads.
# - Footnote 9 moves the input N - n + 1 columns to the right; its top-right corners align after N - n.
#
# A line of slope D is the set of elements (i + k, j + k D), k any integer, inside the matrix. All elements of a line
# share j - i D, the column at which it crosses row 0 of the matrix continued to both sides: this is the line's id.


CLOSED = float("-inf")
ROUNDING = 1e-9
"""Part of the largest absolute line value that counts as rounding: equal lines stay equal in whatever order summed."""

LineValue = Literal["mean", "sum"]


class CalibrationError(ValueError):
    """Attention, a size, a direction or a threshold from which no bias can be calibrated."""


def calibrate_bias(
    attention: Tensor, size: tuple[int, int], directions: Iterable[tuple[int, int]], sigma: float = 2.0, *,
    line: LineValue = "mean",
) -> Tensor:  # fmt: skip
    """Return bias (heads, M, N) that opens the lines standing out in ``attention`` and closes all else with -inf.

    The lines are continued.

    Heads and directions are judged apart: a line is open when its value d_l exceeds mu + sigma * sd over the lines of
    the input, each counted once whatever its length; its bias is d_l - d_max (Section 5, steps 2.1 to 2.4). Where lines
    of several directions cross, the larger bias holds. Where all lines are equal (sd = 0) none is open. A head without
    any open line is all zeros, "transparent".

    Args:
        attention: (heads, m, n), probabilities or scores. Elements that are -inf, as above the diagonal of causal
            scores, are left out of their line; a line of nothing else does not exist in the input. Do not write them
            as large negative numbers: those would count in mu and sd.
        size: (M, N), at least (m, n). Top-left corners align; for negative slopes the top-right corners do.
        directions: pairs (1, slope), slope any integer: 0 vertical, 1 diagonal, -1 anti-diagonal. Order and repetition
            change nothing.
        sigma: standard deviations (population) above the mean at which a line opens.
        line: value of a line: "mean" of its elements, or their "sum", as the authors' code has it.

    Raises `CalibrationError` for a size below the input's, for no or malformed directions, NaN or infinite attention.
    """
    _check_attention(attention)
    rows, columns = size
    heads, m, n = attention.shape
    if rows < m or columns < n:
        fault = f"size {rows}x{columns} is smaller than the attention, {m}x{n}: a bias is extended, never cropped"
        raise CalibrationError(f"{fault}; ask for at least {m}x{n} or crop the attention first")
    like, attention = attention, attention.cpu()  # float64 below, which some devices do not have
    bias = torch.full((heads, rows, columns), CLOSED, dtype=torch.float64)
    for slope in _slopes(directions):
        ids, values = line_values(attention, slope, line)
        levels = drop_off(values, sigma)
        wanted = _line_ids(rows, columns, slope)
        if slope < 0:
            wanted = wanted - (columns - n)
        nearest = torch.searchsorted(ids, wanted).clamp(max=len(ids) - 1)
        bias = bias.maximum(levels[:, nearest].where(ids[nearest] == wanted, CLOSED))
    picked = (bias > CLOSED).flatten(1).any(dim=1)
    return bias.where(picked[:, None, None], 0.0).to(like)


def line_values(attention: Tensor, slope: int, line: LineValue = "mean") -> tuple[Tensor, Tensor]:
    """Return, on the CPU, ids (L,) of the lines of one slope, rising, and their float64 values (heads, L).

    This is step 2.1 (Figure 3).

    The id is the column at which the line crosses row 0, negative or beyond the matrix for lines that begin further
    down. The value is -inf where a line has no finite element. ``attention`` and errors as in `calibrate_bias`.
    """
    _check_attention(attention)
    if line not in ("mean", "sum"):
        raise CalibrationError(f"line value {line!r}: expected 'mean' or 'sum'")
    attention = attention.cpu()
    heads, m, n = attention.shape
    ids, number = torch.unique(_line_ids(m, n, slope), return_inverse=True)
    present = attention > CLOSED
    zeros = torch.zeros(heads, len(ids), dtype=torch.float64)
    values = zeros.index_add(1, number.flatten(), attention.double().where(present, 0.0).flatten(1))
    counts = zeros.index_add(1, number.flatten(), present.double().flatten(1))
    if line == "mean":
        values = values / counts  # 0 / 0 is closed by the next line
    return ids, values.where(counts > 0, CLOSED)


def drop_off(values: Tensor, sigma: float = 2.0) -> Tensor:
    """Return d_l - d_max where a line of `line_values` exceeds mu + sigma * sd of its row, -inf elsewhere.

    From (heads, L) to same.

    Lines of value -inf do not exist: they count neither in the mean nor in the population standard deviation.
    """
    if not math.isfinite(sigma):
        raise CalibrationError(f"sigma is {sigma}: expected a finite number of standard deviations")
    exists = values > CLOSED
    known = values.where(exists, 0.0)
    count = exists.sum(dim=-1, keepdim=True).clamp(min=1)
    mean = known.sum(dim=-1, keepdim=True) / count
    deviation = ((known - mean).where(exists, 0.0).square().sum(dim=-1, keepdim=True) / count).sqrt()
    rounding = ROUNDING * known.abs().amax(dim=-1, keepdim=True)
    passes = values > mean + sigma * deviation + rounding
    return (values - values.amax(dim=-1, keepdim=True)).where(passes, CLOSED)


def _line_ids(rows: int, columns: int, slope: int) -> Tensor:
    """Return (rows, columns) id of the line through each element."""
    return torch.arange(columns) - slope * torch.arange(rows)[:, None]


def _slopes(directions: Iterable[tuple[int, int]]) -> set[int]:
    directions = list(directions)
    if not directions:
        raise CalibrationError("directions are empty: expected at least one pair (1, slope), such as (1, -1)")
    for direction in directions:
        pair = direction if isinstance(direction, tuple | list) else ()
        if len(pair) != 2 or pair[0] != 1 or not isinstance(pair[1], int):
            raise CalibrationError(f"direction {direction!r}: expected a pair (1, slope) with an integer slope")
    return {slope for _, slope in directions}


def _check_attention(attention: Tensor) -> None:
    if attention.dim() != 3 or not attention.numel() or not attention.is_floating_point():
        shown = f"{attention.dtype} of shape {tuple(attention.shape)}"
        raise CalibrationError(f"attention is {shown}: expected floating point (heads, m, n), no axis empty")
    if bool(attention.isnan().any()) or bool((attention == math.inf).any()):
        raise CalibrationError("attention holds NaN or +inf: expected finite values, or -inf where a key is not seen")


# Axes: H heads, M response places (place 0 is the beginning ``$``; place i predicts token i of the response), N source
# places, both ``$`` included. A closed key is -inf.


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


def beside_encoder(setting: AttentionBias, heads: int, rows: int, columns: int) -> FixedBias:
    """Build the bias of a decoder beside an encoder, for responses of ``rows`` and sources of ``columns`` places.

    That of a window is the one of Appendix A.4; one that is given is open until `FixedBias.set` or weights fill it.
    """
    own, cross = torch.zeros(rows, rows), torch.zeros(rows, columns)
    if isinstance(setting, Window):
        own = closed(window_self(rows, setting.width))
        cross = closed(window_cross(rows, columns, setting.width, setting.stride))
    elif not isinstance(setting, Given):
        raise TypeError(f"{type(setting).__name__} does not fit a decoder beside an encoder")
    return FixedBias(own.repeat(heads, 1, 1), cross.repeat(heads, 1, 1))


# A decoder without encoder as an encoder-decoder whose encoder has no block ("From Interpolation to Extrapolation:
# Complete Length Generalization for Arithmetic Transformers", as its authors' code has it): a token of the prompt reads
# itself alone, and a place of the response reads the prompt and the response before it, with a bias that is constant
# along lines. Place 0 of the response is the last token of the prompt, which predicts the first token of the response;
# it is the prompt's end, too, and is open where either side opens it.
#
# Where a calibrated matrix has corners that are aligned, lines have an end of the prompt that they are counted from:
# its beginning for positive slopes (a copy reads on from there), its end for others (units are read first, whatever
# stands before them).


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
        """Id of the first line (`lengen.models.calibrated_bias`), the same for all slopes."""
        self.register_buffer("table", torch.zeros(len(self.slopes), heads, columns - 2 * self.first + 1))

    def forward(self, rows: Tensor, columns: Tensor, ends: Tensor) -> Tensor:
        """Return (B, H, T, K) bias of rows (B, T) and columns (B or 1, K).

        Slopes up to 0 count columns from ``ends`` (B,).
        """
        lines = self.table.shape[2] - 1
        biases: list[Tensor] = []
        for levels, slope in zip(self.table, self.slopes, strict=True):
            ids = columns[:, None, :] - slope * rows[:, :, None] - self.first
            if slope <= 0:
                ids = ids + (self.columns - ends)[:, None, None]
            biases.append(levels[:, torch.where((ids >= 0) & (ids < lines), ids, lines)])
        return reduce(torch.maximum, biases).transpose(0, 1)


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
        of_prompt = (columns <= begin)[:, None, None]
        of_response = (columns_of_response >= 0)[:, None, None]
        read = self.cross(rows, columns, prompt).masked_fill(~of_prompt, CLOSED)
        written = self.own(rows, columns_of_response, prompt).masked_fill(~of_response, CLOSED)
        itself = (columns == places[:, :, None])[:, None]
        alone = torch.zeros_like(read).masked_fill(~itself, CLOSED)
        return torch.where((rows < 0)[:, None, :, None], alone, read.maximum(written))


def windows(heads: int, width: int, lines: Sequence[tuple[int, int]]) -> LineBias:
    """Return the bias of `lengen.settings.attention_biases.LineWindow`, equal in all heads.

    Each line is a slope and an offset.
    """
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


def along_lines(setting: AttentionBias, heads: int) -> LineBias:
    """Build the bias of a decoder without encoder that is constant along lines."""
    if isinstance(setting, Lines):
        return LineBias(heads, setting.rows, setting.columns, setting.slopes)
    if isinstance(setting, LineWindow):
        return windows(heads, setting.width, setting.lines)
    raise TypeError(f"{type(setting).__name__} is not constant along lines")

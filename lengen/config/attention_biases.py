"""Fixed biases on attention that a setting can name: windows, lines, and what is calibrated; no torch."""

from typing import TYPE_CHECKING, ClassVar

from lengen.config.encodings import NoEncoding
from lengen.config.part import Axis, Count, Part, SettingError, Size

if TYPE_CHECKING:
    from lengen.config.model import ModelSpec
    from lengen.models.fixed_bias import FixedBias
    from lengen.models.line_bias import LineBias


class AttentionBias(Axis):
    """A fixed bias on the attention of a decoder, alone or beside an encoder."""

    __slots__ = ()
    AXIS = "an attention bias"

    BESIDE: ClassVar[bool] = True
    """It fits a decoder beside an encoder."""
    LINES: ClassVar[bool] = False
    """It is along lines, which are counted from where a prompt ends; else it closes all but the last keys."""
    SET: ClassVar[bool] = False
    """Something has to set it before training; until then it is open."""

    def build(self, heads: int, rows: int, columns: int) -> "FixedBias":
        """The bias beside an encoder, for responses of ``rows`` and sources of ``columns`` places."""
        raise NotImplementedError

    def last_keys(self, heads: int) -> tuple[int | None, ...]:
        """How many of the last keys each head of a decoder without encoder sees, its own included; None: all."""
        raise NotImplementedError

    def along_lines(self, heads: int) -> "LineBias":
        """The bias of a decoder without encoder, where it is along lines."""
        raise NotImplementedError

    def check_alone(self, model: "ModelSpec") -> None:
        """Raise `SettingError` where it cannot bias a decoder without encoder."""


class Window(Part, AttentionBias, tag="window", frozen=True):
    """Attention to places near the one that is written (Appendix A.4 of "From Interpolation to Extrapolation").

    In a decoder without encoder every head sees a token and the ``width`` tokens before it.
    """

    width: Count
    """Places to each side, w."""
    stride: Size = 1
    """Source tokens that the window moves on per response token: 2 where two operands are aligned."""

    def last_keys(self, heads: int) -> tuple[int | None, ...]:
        return (self.width + 1,) * heads

    def check_alone(self, model: "ModelSpec") -> None:
        if self.stride != 1:
            raise SettingError(
                f"model.architecture.attention_bias.stride={self.stride}: a window moves over a source in strides, and "
                f"model.architecture=decoder has none; set it to 1"
            )

    def build(self, heads: int, rows: int, columns: int) -> "FixedBias":
        from lengen.models.fixed_bias import windowed

        return windowed(heads, rows, columns, self.width, self.stride)


class Given(Part, AttentionBias, tag="given", frozen=True):
    """A bias that is set before training and stored with the weights, such as a calibrated one."""

    SET = True

    def build(self, heads: int, rows: int, columns: int) -> "FixedBias":
        from lengen.models.fixed_bias import open_everywhere

        return open_everywhere(heads, rows, columns)

    def check_alone(self, model: "ModelSpec") -> None:
        raise SettingError(
            "model.architecture.attention_bias=given: a calibrated bias has matrices for the places of a response and "
            "of a source, and model.architecture=decoder has one sequence, in which places of operands move with their "
            "length; set model.architecture=encoder_decoder, or choose lines"
        )


class HardALiBi(Part, AttentionBias, tag="hard_alibi", frozen=True):
    """Some heads see the last few keys only, the others all keys, without any position (`lengen.models.last_keys`)."""

    BESIDE = False

    keys: tuple[Size, ...]
    """Keys that each of the first heads sees, its own included; the published heads see 1, 2, 3, ... of them."""

    def last_keys(self, heads: int) -> tuple[int | None, ...]:
        return (*self.keys, *(None,) * (heads - len(self.keys)))

    def check_alone(self, model: "ModelSpec") -> None:
        if not 1 <= len(self.keys) < model.heads:
            raise SettingError(
                f"model.architecture.attention_bias.keys={list(self.keys)}: expected numbers for 1 to "
                f"{model.heads - 1} of the model.heads={model.heads} heads, so that one at least sees all keys"
            )
        assert isinstance(model.encoding, Part)
        if not isinstance(model.encoding, NoEncoding):
            raise SettingError(
                f"model.architecture.attention_bias=hard_alibi: its other heads have no positions, and "
                f"model.encoding={model.encoding.kind} gives them some; set model.encoding=none and "
                f"data.position_ids=none"
            )


class Lines(Part, AttentionBias, tag="lines", frozen=True):
    """Lines of attention that are set before training and continued to any length, such as calibrated ones
    (`lengen.models.line_bias`); all heads are open until they are set. A token of the prompt reads itself alone."""

    BESIDE = False
    LINES = True
    SET = True

    rows: Size
    """Response places that lines are calibrated from, the one before the first response token included."""
    columns: Size
    """Prompt tokens that they are calibrated from."""
    slopes: tuple[int, ...] = (1, 0, -1)
    """Directions of lines through the prompt: slope s for (1, s). Through the response there are diagonals."""

    def check_alone(self, model: "ModelSpec") -> None:
        if not self.slopes or len(set(self.slopes)) < len(self.slopes):
            raise SettingError(
                f"model.architecture.attention_bias.slopes={list(self.slopes)}: expected different directions, at "
                f"least one, such as [1, 0, -1]"
            )

    def along_lines(self, heads: int) -> "LineBias":
        from lengen.models.line_bias import LineBias

        return LineBias(heads, self.rows, self.columns, self.slopes)


class LineWindow(Part, AttentionBias, tag="line_window", frozen=True):
    """The windowed bias of an encoder-decoder (Appendix A.4 of "From Interpolation to Extrapolation") in a decoder
    without encoder: a window on the response, and one along each line through the prompt, such as that of the digits
    that are read one after another. A token of the prompt reads itself alone."""

    BESIDE = False
    LINES = True

    width: Count
    """w: seen are a token and the w before it, and what stands on a line, with the 2 w tokens that stood there before:
    w to both sides of the last one."""
    lines: tuple[tuple[int, int], ...]
    """Slope and offset of each line: which token of the prompt stands on it when the first response token is predicted,
    counted from the prompt's first token for positive slopes, else back from its last one; and how many tokens it moves
    on with every token."""

    def check_alone(self, model: "ModelSpec") -> None:
        named = f"model.architecture.attention_bias.lines={[list(line) for line in self.lines]}"
        if not self.lines or len(set(self.lines)) < len(self.lines):
            raise SettingError(f"{named}: expected different lines, at least one, such as [[-1, 1]]")
        if min(offset for _, offset in self.lines) < 0:
            raise SettingError(f"{named}: expected offsets from 0 on, which count tokens of the prompt")

    def along_lines(self, heads: int) -> "LineBias":
        from lengen.models.line_bias import windows

        return windows(heads, self.width, self.lines)


__all__ = ["AttentionBias", "Given", "HardALiBi", "LineWindow", "Lines", "Window"]

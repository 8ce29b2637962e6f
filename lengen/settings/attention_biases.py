"""Fixed biases on attention that a setting can name: windows, lines, and what is calibrated."""

from typing import ClassVar

from lengen.part import Axis, Count, Part, SettingError, Size


class AttentionBias(Axis):
    """A fixed bias on the attention of a decoder, alone or beside an encoder.

    Example:
        >>> import lengen
        >>> lengen.Window(width=1).last_keys(heads=2)
        (2, 2)
    """

    __slots__ = ()
    AXIS = "an attention bias"

    BESIDE: ClassVar[bool] = True
    """It fits a decoder beside an encoder."""
    LINES: ClassVar[bool] = False
    """It is along lines, which are counted from where a prompt ends; else it closes all but the last keys."""
    SET: ClassVar[bool] = False
    """Something has to set it before training; until then it is open."""

    def last_keys(self, heads: int) -> tuple[int | None, ...]:
        """Return the number of last keys, its own included, that a head sees without an encoder; None: all."""
        raise NotImplementedError

    def check_alone(self, heads: int, encoding: str) -> None:
        """Raise `SettingError` if it cannot be that of a decoder without encoder, with an encoding of this kind."""


class Window(Part, AttentionBias, tag="window", frozen=True):
    """Attention to places near the one that is written (Appendix A.4 of "From Interpolation to Extrapolation").

    In a decoder without encoder every head sees a token and the ``width`` tokens before it.

    Example:
        >>> import lengen
        >>> bias = lengen.Window(width=2)
        >>> lengen.setting("copy", architecture=lengen.Decoder(bias)).model.attention_bias
        Window(width=2, stride=1)
        >>> bias.last_keys(heads=3)
        (3, 3, 3)
    """

    width: Count
    """Places to each side, w."""
    stride: Size = 1
    """Source tokens that the window moves on per response token: 2 where two operands are aligned."""

    def last_keys(self, heads: int) -> tuple[int | None, ...]:
        return (self.width + 1,) * heads

    def check_alone(self, heads: int, encoding: str) -> None:
        if self.stride != 1:
            fault = "a window moves over a source in strides, and model.architecture=decoder has none; set it to 1"
            raise SettingError(f"model.architecture.attention_bias.stride={self.stride}: {fault}")


class Given(Part, AttentionBias, tag="given", frozen=True):
    """A bias that is set before training and stored with the weights, such as a calibrated one.

    Example:
        >>> import lengen
        >>> lengen.Decoder(lengen.Given()).attention_bias.SET
        True
    """

    SET = True

    def check_alone(self, heads: int, encoding: str) -> None:
        raise SettingError(
            "model.architecture.attention_bias=given: a calibrated bias has matrices for the places of a response and "
            "of a source, and model.architecture=decoder has one sequence, in which places of operands move with their "
            "length; set model.architecture=encoder_decoder, or choose lines"
        )


class HardALiBi(Part, AttentionBias, tag="hard_alibi", frozen=True):
    """Some heads see the last few keys only, the others all keys, without any position (`lengen.models.attention`).

    Example:
        >>> import lengen
        >>> lengen.HardALiBi(keys=(1, 2)).last_keys(heads=4)
        (1, 2, None, None)
    """

    BESIDE = False

    keys: tuple[Size, ...]
    """Keys that each of the first heads sees, its own included; the published heads see 1, 2, 3, ... of them."""

    def last_keys(self, heads: int) -> tuple[int | None, ...]:
        return (*self.keys, *(None,) * (heads - len(self.keys)))

    def check_alone(self, heads: int, encoding: str) -> None:
        if not 1 <= len(self.keys) < heads:
            raise SettingError(
                f"model.architecture.attention_bias.keys={list(self.keys)}: expected numbers for 1 to {heads - 1} of "
                f"the model.heads={heads} heads, so that one at least sees all keys"
            )
        if encoding != "none":
            raise SettingError(
                f"model.architecture.attention_bias=hard_alibi: its other heads have no positions, and "
                f"model.encoding={encoding} gives them some; set model.encoding=none and data.position_ids=none"
            )


class Lines(Part, AttentionBias, tag="lines", frozen=True):
    """Lines of attention that are set before training and continued to any length.

    Calibrated ones are an example (`lengen.models.calibrated_bias`); all heads are open until they are set. A token
    of the prompt reads itself alone.

    Example:
        >>> import lengen
        >>> lengen.Lines(rows=4, columns=5).slopes
        (1, 0, -1)
    """

    BESIDE = False
    LINES = True
    SET = True

    rows: Size
    """Response places that lines are calibrated from, the one before the first response token included."""
    columns: Size
    """Prompt tokens that they are calibrated from."""
    slopes: tuple[int, ...] = (1, 0, -1)
    """Directions of lines through the prompt: slope s for (1, s). Through the response there are diagonals."""

    def check_alone(self, heads: int, encoding: str) -> None:
        if not self.slopes or len(set(self.slopes)) < len(self.slopes):
            fault = "expected different directions, at least one, such as [1, 0, -1]"
            raise SettingError(f"model.architecture.attention_bias.slopes={list(self.slopes)}: {fault}")


class LineWindow(Part, AttentionBias, tag="line_window", frozen=True):
    """The windowed bias of an encoder-decoder in a decoder without encoder.

    It is that of Appendix A.4 of "From Interpolation to Extrapolation": a window on the response, and one along each
    line through the prompt, such as that of the digits that are read one after another. A token of the prompt reads
    itself alone.

    Example:
        >>> import lengen
        >>> lengen.LineWindow(width=1, lines=((1, 0),)).kind
        'line_window'
    """

    BESIDE = False
    LINES = True

    width: Count
    """w: seen are a token and the w before it, and what stands on a line, with the 2 w tokens that stood there before:
    w to both sides of the last one."""
    lines: tuple[tuple[int, int], ...]
    """Slope and offset of each line: which token of the prompt stands on it when the first response token is predicted,
    counted from the prompt's first token for positive slopes, else back from its last one; and how many tokens it moves
    on with every token."""

    def check_alone(self, heads: int, encoding: str) -> None:
        named = f"model.architecture.attention_bias.lines={[list(line) for line in self.lines]}"
        if not self.lines or len(set(self.lines)) < len(self.lines):
            raise SettingError(f"{named}: expected different lines, at least one, such as [[-1, 1]]")
        if min(offset for _, offset in self.lines) < 0:
            raise SettingError(f"{named}: expected offsets from 0 on, which count tokens of the prompt")

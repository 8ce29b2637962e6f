"""Specification of a run of three steps: interpolate, calibrate, retrain (Section 5).

A `CalibratedSpec` is the specification of the retrained model with two sections more: how its predecessor is trained
and how its attention becomes a bias.
"""

import math
from typing import Annotated, Literal

from msgspec import Meta

from lengen.part import NotNegative, SettingError, Share, Size
from lengen.position_ids.sequence_places import Consecutive, NoPositionIds
from lengen.settings.attention_biases import Given
from lengen.settings.changes import overlay
from lengen.settings.model import EncoderDecoder, Encoding, NoEncoding, Sinusoidal
from lengen.settings.sections import Section, TestSpec
from lengen.settings.spec import Spec, replace

TRAINING = ("steps", "batch", "lr", "evaluations", "stop_at", "patience")
"""Fields of both trainings that differ."""
Slopes = Annotated[tuple[int, ...], Meta(min_length=1)]
"""Directions in which lines are searched: slope s for (1, s)."""


class InterpolationSpec(Section, frozen=True, kw_only=True):
    """The model trained first; what is not named here is as in the retrained model."""

    encoding: Encoding = Sinusoidal()
    """Its position encoding; ids are consecutive."""
    steps: Size
    """Optimizer steps."""
    batch: Size
    """Examples per step."""
    lr: NotNegative
    """Peak learning rate."""
    evaluations: Size
    """Evenly spaced points that validate."""
    stop_at: Share = 1.0
    """It stops once validation exact match was at least this at ``patience`` evaluations in a row; 0 never stops."""
    patience: Size = 6
    """Evaluations in a row that have to reach ``stop_at``."""


class CalibrationSpec(Section, frozen=True, kw_only=True):
    """From its averaged attention to a bias; the defaults are the text's, mended."""

    attention: Literal["scores", "probabilities"] = "scores"
    """Averaged quantity: scores before the softmax, or probabilities."""
    line: Literal["mean", "sum"] = "mean"
    """Value of a line: mean or sum of its elements."""
    sigma_self: float = 2.0
    """Standard deviations above the mean at which a line of self-attention opens."""
    sigma_cross: float = 2.0
    """The same for cross-attention."""
    slopes_self: Slopes = (1, 0, -1)
    """Directions searched in self-attention."""
    slopes_cross: Slopes = (1, 0, -1)
    """Directions searched in cross-attention."""
    rows: Size
    """Response places looked at, from the first: the digits that were trained."""
    corner: bool = False
    """The first place reads the last ``$`` of the source in every head, and a head without a line nothing else (the
    authors' code); else a head without a line is transparent."""
    closed_row: Literal["nothing", "everything"] = "nothing"
    """Keys that a place reads if no key is open in its row (everything in the authors' code)."""
    examples: Size = 500
    """Training problems, all operands of the trained length, that attention is averaged over."""


class CalibratedSpec(Spec, frozen=True, kw_only=True):
    """A model retrained with the calibrated bias of another: two trainings in one run."""

    interpolation: InterpolationSpec
    calibration: CalibrationSpec

    def first(self) -> Spec:
        """Return the interpolating model's specification.

        Its validation decides if it interpolates, so it is not tested.
        """
        encoding = self.interpolation.encoding
        ids = NoPositionIds() if isinstance(encoding, NoEncoding) else Consecutive()
        plain = {"attention_bias": None, "causal": True}
        return Spec(
            data=replace(self.data, position_ids=ids),
            model=overlay(self.model, {"encoding": encoding, "architecture": plain}),
            train=replace(self.train, **{name: getattr(self.interpolation, name) for name in TRAINING}),
            test=TestSpec(lengths=(self.data.task.longest,), counts=self.test.counts, examples=1, free_running=False),
        )

    def retrained(self) -> Spec:
        """Return the retrained model's specification, without the sections of its own."""
        return Spec(data=self.data, model=self.model, train=self.train, test=self.test)

    def trainings(self) -> tuple[Spec, ...]:
        return (self.first(), self.retrained())

    def check(self) -> None:
        """Raise `SettingError` for values that would end a run after its first training."""
        calibration, architecture = self.calibration, self.model.architecture
        if self.train.steps < 1:
            raise SettingError(f"train.steps={self.train.steps}: expected at least 1")
        for side, sigma in (("self", calibration.sigma_self), ("cross", calibration.sigma_cross)):
            if not math.isfinite(sigma):
                raise SettingError(f"calibration.sigma_{side}={sigma}: expected a finite number of standard deviations")
        bias = architecture.attention_bias if isinstance(architecture, EncoderDecoder) else None
        if not isinstance(bias, Given):
            kind = bias.kind if bias is not None else "none"
            raise SettingError(
                f"model.architecture.attention_bias={kind}: expected given, as a calibrated bias is; set "
                f"model.architecture=encoder_decoder and model.architecture.attention_bias=given"
            )
        width = self.data.format.width
        if not width:
            raise SettingError(
                "data.format.width=0: a calibrated bias has a fixed number of places; expected the digits that all "
                "numbers are padded to"
            )
        places = width + 1
        if calibration.rows > places:
            raise SettingError(
                f"calibration.rows={calibration.rows}: expected response places that exist, 1 to {places}"
            )


class RelativeSpec(Spec, frozen=True, kw_only=True):
    """A model with relative keys whose contribution to the scores is recorded by distance (Figure 6)."""

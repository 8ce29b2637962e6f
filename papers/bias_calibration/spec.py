"""What decides a run of three steps: interpolate, calibrate, retrain (Section 5); no torch.

A `CalibratedSpec` is the specification of the retrained model with two sections more: how its predecessor is trained
and how its attention becomes a bias.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.config.spec import Spec, SpecError, TestSpec
from lengen.progress import Progress

if TYPE_CHECKING:
    from lengen.callbacks import Measurement
    from lengen.training.run import Outcome

LINES = ("mean", "sum")
ATTENTION = ("scores", "probabilities")
TRAINING = ("steps", "batch", "lr", "evaluations", "stop_at", "patience")
"""Fields of both trainings that differ."""


@dataclass(frozen=True, kw_only=True)
class InterpolationSpec:
    """The model trained first; what is not named here is as in the retrained model."""

    encoding: str = "sinusoidal"
    """Its position encoding; ids are consecutive."""
    steps: int
    """Optimizer steps."""
    batch: int
    """Examples per step."""
    lr: float
    """Peak learning rate."""
    evaluations: int
    """Evenly spaced points that validate."""
    stop_at: float = 1.0
    """It stops once validation exact match was at least this at ``patience`` evaluations in a row; 0 never stops."""
    patience: int = 6
    """Evaluations in a row that ``stop_at`` asks for."""


@dataclass(frozen=True, kw_only=True)
class CalibrationSpec:
    """From its averaged attention to a bias; the defaults are the text's, mended."""

    attention: str = "scores"
    """What is averaged: scores before the softmax, or probabilities."""
    line: str = "mean"
    """Value of a line: mean or sum of its elements."""
    sigma_self: float = 2.0
    """Standard deviations above the mean at which a line of self-attention opens."""
    sigma_cross: float = 2.0
    """The same for cross-attention."""
    slopes_self: tuple[int, ...] = (1, 0, -1)
    """Directions searched in self-attention: slope s for (1, s)."""
    slopes_cross: tuple[int, ...] = (1, 0, -1)
    """Directions searched in cross-attention."""
    rows: int
    """Response places looked at, from the first: the digits that were trained."""
    examples: int = 500
    """Training problems, all operands of the trained length, that attention is averaged over."""


@dataclass(frozen=True, kw_only=True)
class CalibratedSpec(Spec):
    """A model retrained with the calibrated bias of another: two trainings in one run."""

    interpolation: InterpolationSpec
    calibration: CalibrationSpec

    def run(self, seed: int, folder: Path, report: Callable[[Progress], None]) -> "Outcome":
        from papers.bias_calibration.calibrated import execute

        return execute(self, seed, folder, report)

    def first(self) -> Spec:
        """The interpolating model's specification; its validation says whether it interpolates, so it is not tested."""
        ids = "none" if self.interpolation.encoding == "none" else "consecutive"
        return Spec(
            data=replace(self.data, position_ids=ids),
            model=replace(self.model, encoding=self.interpolation.encoding, bias="none", causal=True),
            train=replace(self.train, **{name: getattr(self.interpolation, name) for name in TRAINING}),
            test=TestSpec(lengths=(self.data.length,), counts=self.test.counts, examples=1, free_running=False),
        )

    def retrained(self) -> Spec:
        """The retrained model's specification, without the sections of its own."""
        return Spec(data=self.data, model=self.model, train=self.train, test=self.test)

    def trainings(self) -> tuple[Spec, ...]:
        return (self.first(), self.retrained())

    def check(self) -> None:
        """Raise `SpecError` for values that would end a run after its first training."""
        calibration, data = self.calibration, self.data
        for path, count in (
            ("interpolation.steps", self.interpolation.steps),
            ("train.steps", self.train.steps),
            ("calibration.examples", calibration.examples),
        ):
            if count < 1:
                raise SpecError(f"{path}={count}: expected at least 1")
        for name, value, choices in (
            ("attention", calibration.attention, ATTENTION),
            ("line", calibration.line, LINES),
        ):
            if value not in choices:
                raise SpecError(f"calibration.{name}={value}: expected one of {', '.join(choices)}")
        for side, sigma, slopes in (
            ("self", calibration.sigma_self, calibration.slopes_self),
            ("cross", calibration.sigma_cross, calibration.slopes_cross),
        ):
            if not math.isfinite(sigma):
                raise SpecError(f"calibration.sigma_{side}={sigma}: expected a finite number of standard deviations")
            if not slopes:
                raise SpecError(f"calibration.slopes_{side}=[]: expected at least one slope, such as 1")
        if not 1 <= calibration.rows <= data.fixed_length + 1:
            raise SpecError(
                f"calibration.rows={calibration.rows}: expected response places that exist, 1 to "
                f"{data.fixed_length + 1}"
            )
        least = data.base ** (data.length - 1)
        if 0 < data.limit <= least:
            raise SpecError(
                f"data.limit={data.limit}: expected more than {least}, so that numbers of the trained length, "
                f"{data.length} digits, are drawn to average attention over"
            )
        if self.model.bias != "given":
            raise SpecError(f"model.bias={self.model.bias}: expected given, as a calibrated bias is")


@dataclass(frozen=True, kw_only=True)
class RelativeSpec(Spec):
    """A model with relative keys whose contribution to the scores is recorded by distance (Figure 6)."""

    def callbacks(self) -> "list[Measurement]":
        from papers.bias_calibration.relative import RelativeScores

        return [RelativeScores()]

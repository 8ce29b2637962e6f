"""Attention bias calibration as one run: train to interpolate, average and calibrate attention, retrain (Section 5).

A `CalibratedSpec` enters; what leaves are the scores of the retrained model, and beside them the averaged attention,
the bias, and what both trainings took. The first training has a folder and checkpoints of its own, so a killed run
goes on in whichever it was.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning.pytorch.loggers.logger import Logger
from torch import Tensor

from lengen.callbacks.accuracy_grid import Measurement
from lengen.callbacks.loggers import METRICS, VALIDATION, read_metrics
from lengen.data.task_data import TaskData
from lengen.encodings.alibi_rope_and_keys import RelativeKeys
from lengen.formats.linear import Linear
from lengen.model_probing import longest_problems, mean_attention
from lengen.models import Record, Transformer
from lengen.models.calibrated_bias import calibrate_bias, line_values
from lengen.results.progress import Progress, Report
from lengen.settings.spec import Spec
from lengen.tasks.successor_and_pair_tasks import NByOne, PairAddition
from lengen.training import calibration
from lengen.training.calibration import FIRST
from lengen.training.run import Outcome
from papers.bias_calibration.calibrated_spec import CalibratedSpec, CalibrationSpec

# The cross-attention bias of an ABC run enters, numbers of heads leave; numpy only.


def heads_by_operand(
    bias_cross: np.ndarray, columns_first: Sequence[int], columns_second: Sequence[int], rows: int
) -> tuple[int, int]:
    """Return the number of heads open to the first operand only, and number of heads open to the second operand only.

    Section 6 reads from Figure 4 that in addition some heads attend to the first operand and the others to the second.
    A head counts for an operand when, in its first ``rows`` rows, it has open entries in that operand's columns and
    none in the other's; what is open at operators and end tokens says nothing. So a head with lines in both operands
    counts for neither, and so do a transparent head (open everywhere) and one that is closed everywhere.

    Only the rows of trained digits are looked at because an anti-diagonal runs out of its operand at the left: far
    enough down, the line through the units of the second operand reads the units of the first.

    Args:
        bias_cross: (heads, M, N), rows are decoder input places (row i predicts the digit of significance i), columns
            are source places; -inf where closed.
        columns_first: columns of the first operand's digits.
        columns_second: columns of the second operand's digits.
        rows: trained digits, at least 1 and at most M.

    >>> bias = np.full((2, 3, 6), -np.inf)  # rows $ and two digits; columns $ a a + b b
    >>> bias[0, [0, 1], [2, 1]] = bias[1, [0, 1, 2], [5, 4, 3]] = 0.5
    >>> heads_by_operand(bias, range(1, 3), range(4, 6), rows=2)
    (1, 1)
    """
    is_open = bias_cross[:, :rows] > -np.inf
    first = is_open[:, :, list(columns_first)].any(axis=(1, 2))
    second = is_open[:, :, list(columns_second)].any(axis=(1, 2))
    return int((first & ~second).sum()), int((second & ~first).sum())


class RelativeScores(Measurement):
    """Records the arrays ``relative.distance`` (2k + 1,) and ``relative.score`` (H, 2k + 1)."""

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        distance, score = relative_scores(model, data)
        self.arrays = {"relative.distance": distance.numpy(), "relative.score": score.float().numpy()}


def measurements(spec: Spec) -> list[Measurement]:
    """Return the measurements of a run with relative keys."""
    return [RelativeScores()]


@torch.no_grad()
def relative_scores(model: Transformer, data: TaskData) -> tuple[Tensor, Tensor]:
    """Return distances -k to k, and the mean that the keys of each distance add to a score, per head (H, 2k + 1).

    The mean is over validation problems, layers and query places: query . w[distance] x scale.
    """
    encoding = model.encoding
    assert isinstance(encoding, RelativeKeys)
    record = Record("queries")
    model.predict(data.validation().to(model.device), record)
    added = [(layer["self"] @ encoding.table.T).mean(dim=(0, 2)) for layer in record.queries]
    scale = model.spec.head_dim**-0.5 if model.spec.scale_attention else 1.0
    distance = torch.arange(-encoding.clip, encoding.clip + 1)
    return distance, torch.stack(added).mean(dim=0).cpu() * scale


Bias = tuple[dict[str, Tensor], Tensor, Tensor]
"""Averaged attention by name, and the biases of self- and cross-attention that it gives."""
INTERPOLATED = 0.99
"""Validation exact match from which a model interpolates; also what both trainings are timed to."""


def execute(
    spec: CalibratedSpec, seed: int, folder: Path, report: Callable[[Progress], None], loggers: Sequence[Logger] = ()
) -> Outcome:
    """Make one run of three steps; called again after a kill it goes on.

    ``loggers`` get the values of the first training under the names that they have in metrics.csv.
    """
    spec.check()

    def bias(model: Transformer, data: TaskData) -> Bias:
        attention = average_attention(model, data, spec.calibration, seed)
        return attention, *calibrate(attention, spec)

    def give(model: Transformer, bias: Bias) -> None:
        _, own, cross = bias
        biases = (own, cross) if spec.calibration.closed_row == "nothing" else (readable(own), readable(cross))
        model.bias.set(*biases)  # type: ignore[union-attr, operator]

    def records(bias: Bias, began: dict[str, Any], info: dict[str, Any]) -> calibration.Records:
        attention, own, cross = bias
        arrays = {"bias.self": own, "bias.cross": cross}
        arrays |= {f"attention.{name}": value for name, value in attention.items()}
        scalars = _times(folder, began, info) | _lines(spec, own, cross)
        return calibration.Records(scalars, _notes(scalars, cross), arrays)

    return calibration.execute(spec.trainings(), seed, folder, report, loggers, bias, give, records)


def average_attention(model: Transformer, data: TaskData, calibration: CalibrationSpec, seed: int) -> dict[str, Tensor]:
    """Return attention of the last layer averaged over training problems: "self" (H, M, M), "cross" (H, M, N).

    Problems have operands of the trained length (Step 1 says a random subset of the training samples: shorter ones
    would mix attention to leading zeros in). What lies above the diagonal of self-attention is -inf, scores and
    probabilities alike, so its lines count neither in the mean nor in the deviation. (The authors' code leaves lines
    out whose probabilities sum to zero, which are these.)
    """
    problems = longest_problems(data, calibration.examples, seed)
    return mean_attention(model, data, problems, softmax=calibration.attention == "probabilities")


def calibrate(attention: dict[str, Tensor], spec: CalibratedSpec) -> tuple[Tensor, Tensor]:
    """Return biases (H, M, M) and (H, M, N) from the first rows of averaged attention.

    Where the architecture is not ``causal``, the bias of self-attention alone decides what a place sees: then, as in
    the authors' code, a transparent head sees later places too.
    """
    chosen = spec.calibration
    _, size, columns = attention["cross"].shape
    rows = chosen.rows
    own = calibrate_bias(
        attention["self"][:, :rows, :rows],
        (size, size),
        [(1, slope) for slope in chosen.slopes_self],
        chosen.sigma_self,
        line=chosen.line,
    )
    cross = calibrate_bias(
        attention["cross"][:, :rows],
        (size, columns),
        [(1, slope) for slope in chosen.slopes_cross],
        chosen.sigma_cross,
        line=chosen.line,
    )
    if chosen.corner:
        looked = attention["cross"][:, :rows]
        largest = [line_values(looked, slope, chosen.line)[1].amax(dim=1) for slope in chosen.slopes_cross]
        cross = with_corner(cross, torch.stack(largest).amax(dim=0))
    return own.float(), cross.float()


def with_corner(cross: Tensor, largest: Tensor) -> Tensor:
    """Return cross-attention biases (H, M, N) as the authors' code has them.

    The first place sees the last ``$`` in any head.

    There an open line has its value d_l and that corner 0; here d_l - d_max, so the corner has -d_max (``largest``,
    (H,)). A head without a line is not transparent: the corner alone is open in it.
    """
    none = (cross == 0).flatten(1).all(dim=1)
    cross = cross.masked_fill(none[:, None, None], float("-inf"))
    cross[:, 0, -1] = torch.where(none, 0.0, -largest).to(cross.dtype)
    return cross


def readable(bias: Tensor) -> Tensor:
    """Return a bias in whose rows without an open key every key is open.

    This is what -10^6 instead of -inf does, rounding aside.
    """
    closed = (bias == float("-inf")).all(dim=2, keepdim=True)
    return bias.masked_fill(closed, 0.0)


def converged(rows: Sequence[tuple[int, str, float]]) -> int | None:
    """Return the first step at which validation exact match reached `INTERPOLATED`; None if it never did."""
    return next((step for step, name, value in rows if name == VALIDATION and value >= INTERPOLATED), None)


def _times(folder: Path, began: dict[str, Any], info: dict[str, Any]) -> dict[str, float]:
    """Return the times of both trainings: in all, until they converged, and the ratios of the latter (Section 6)."""
    scalars = {
        "interpolation_val_exact_match": began["scalars"][VALIDATION],
        "interpolation_seconds": round(began["scalars"]["steps"] * began["seconds_per_step"], 3),
        "retraining_seconds": round(info["scalars"]["steps"] * info["seconds_per_step"], 3),
    }
    steps = converged(read_metrics(folder / FIRST / METRICS)), converged(read_metrics(folder / METRICS))
    names = ("interpolation_steps", "retraining_steps")
    scalars |= {name: value for name, value in zip(names, steps, strict=True) if value is not None}
    if steps[0] and steps[1]:
        scalars["steps_ratio"] = steps[1] / steps[0]
        per_step = info["seconds_per_step"], began["seconds_per_step"]
        if all(per_step):  # not where a killed run had nothing left to train
            scalars["seconds_ratio"] = scalars["steps_ratio"] * per_step[0] / per_step[1]
    return scalars


def _notes(scalars: dict[str, float], cross: Tensor) -> list[str]:
    """Return notes on the first training and the bias, for readers of the scores."""
    reached, notes = scalars["interpolation_val_exact_match"], []
    if reached < INTERPOLATED:
        notes.append(
            f"its first model does not interpolate (validation exact match {reached:.2f}, expected {INTERPOLATED}), so "
            "calibration has no meaning"
        )
    if scalars["transparent_cross"] == len(cross):
        notes.append("no line passed the threshold in any head: the calibrated cross-attention bias is all zeros")
    return notes


def _lines(spec: CalibratedSpec, own: Tensor, cross: Tensor) -> dict[str, float]:
    """Return the open share of the bias, and the operands that its heads look at."""
    transparent = (cross == 0).flatten(1).all(dim=1)
    scalars: dict[str, float] = {
        "open_self": float((own[:, spec.calibration.rows - 1] > -np.inf).sum(dim=1).float().mean()),
        "open_cross": float((cross[:, spec.calibration.rows - 1] > -np.inf).sum(dim=1).float().mean()),
        "transparent_self": int((own == 0).flatten(1).all(dim=1).sum()),
        "transparent_cross": int(transparent.sum()),
    }
    task, format = spec.data.task, spec.data.format
    if isinstance(task, PairAddition | NByOne) and isinstance(format, Linear):
        width = format.width
        second = range(width + 2, 2 * width + 2) if isinstance(task, PairAddition) else range(width + 2, width + 3)
        counts = heads_by_operand(cross.numpy(), range(1, width + 1), second, spec.calibration.rows)
        scalars["heads_first_operand"], scalars["heads_second_operand"] = counts
    return scalars

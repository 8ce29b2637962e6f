"""Contribution of relative keys to attention scores, by distance: the left matrix of Figure 6, measured."""

import torch
from torch import Tensor

from lengen.callbacks.measurement import Measurement, Report
from lengen.data.task_data import TaskData
from lengen.encodings.relative_keys import RelativeKeys
from lengen.models import Record, Transformer
from lengen.settings.spec import Spec


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

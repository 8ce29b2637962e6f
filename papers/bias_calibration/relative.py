"""What relative keys add to attention scores, by distance: the left matrix of Figure 6, measured.

A `RelativeSpec` enters; what leaves is an ordinary run with two arrays more.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from lengen.config.spec import Spec
from lengen.data.datamodule import ArithmeticData
from lengen.encodings import RelativeKeys
from lengen.models import Record, Transformer
from lengen.progress import Progress
from lengen.training import run as lengen
from lengen.training.build import load


def execute(spec: Spec, seed: int, folder: Path, report: Callable[[Progress], None]) -> lengen.Outcome:
    """Train and measure as always, then record ``relative.distance`` (2k + 1,) and ``relative.score`` (H, 2k + 1)."""
    outcome = lengen.execute(spec, seed, folder, report)
    model = load(spec, folder / lengen.WEIGHTS)
    distance, score = relative_scores(model, ArithmeticData(spec, seed))
    arrays = {"relative.distance": distance.numpy(), "relative.score": score.float().numpy()}
    return replace(outcome, arrays=outcome.arrays | arrays)


@torch.no_grad()
def relative_scores(model: Transformer, data: ArithmeticData) -> tuple[Tensor, Tensor]:
    """Distances -k to k, and the mean that the keys of each distance add to a score, per head (H, 2k + 1).

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

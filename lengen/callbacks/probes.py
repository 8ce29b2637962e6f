"""Attention of the last layer on single problems that a specification names."""

import numpy as np
import torch
from lightning import Callback, LightningModule, Trainer

from lengen.config.spec import Spec
from lengen.data.datamodule import ArithmeticData
from lengen.models import Transformer


class Probes(Callback):
    """Records the problems of ``spec.test.probes`` once training has ended.

    ``probe0.self`` (heads, T, T) and, beside an encoder, ``probe0.cross`` (heads, T, S): softmax weights of the last
    layer; ``probe0.target`` (T,) and ``probe0.source`` (S,): the tokens. Row t predicts the token after token t, or
    in an encoder-only model token t itself.
    """

    def __init__(self, spec: Spec) -> None:
        self.probes = spec.test.probes
        self.arrays: dict[str, np.ndarray] = {}

    @torch.no_grad()
    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        data: ArithmeticData = trainer.datamodule  # type: ignore[attr-defined]
        model: Transformer = pl_module.model  # type: ignore[assignment]
        model.eval()
        for number, operands in enumerate(self.probes):
            batch = data.writer.write(data.task.parse(list(operands)))
            for name, weights in model.attention(batch.to(model.device))[-1].items():
                self.arrays[f"probe{number}.{name}"] = weights[0].float().cpu().numpy().astype(np.float16)
            sides = {"target": batch.tokens[0, :-1] if model.writes_in_order else batch.tokens[0]}
            if batch.source is not None:
                sides["source"] = batch.source.tokens[0]
            for name, tokens in sides.items():
                self.arrays[f"probe{number}.{name}"] = np.array([data.vocab.decode([t]) for t in tokens])

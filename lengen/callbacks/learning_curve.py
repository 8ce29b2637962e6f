"""Exact match and answer loss by operand length while a model trains, and the loss of each digit of the answer.

Figures 4.1, 4.2 and B.1 of "Length Generalization on Multi-Digit Integer Addition with Transformers". Rows in
metrics.csv, one of each at every evaluation: ``exact_match.<length>``; ``answer_loss.<length>`` in nats per response
token; and at the longest trained length ``digit_loss.<place>``, place 1 being the units, where the response is the
answer alone.
"""

from pathlib import Path
from typing import NamedTuple

import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor
from torch.nn.functional import cross_entropy

from lengen.callbacks.training import METRICS, append_metric
from lengen.config.spec import Spec
from lengen.data.batch import Batch, response_start
from lengen.data.datamodule import ArithmeticData
from lengen.models import Transformer


class Losses(NamedTuple):
    """Teacher-forced losses of a batch; responses are left-aligned."""

    loss: Tensor
    """(B, R) nats of each response token, 0 beyond a response."""
    sizes: Tensor
    """(B,) response tokens, the end included."""
    correct: Tensor
    """(B,) bool: the response is reproduced greedily."""


@torch.no_grad()
def response_losses(model: Transformer, batch: Batch) -> Losses:
    """Cross-entropy of every response token given the true ones before it."""
    logits = model.predict(batch.to(model.device)).float().cpu()
    start, sizes = response_start(batch), batch.loss.sum(dim=1)
    slots = torch.arange(int(sizes.max()))
    index = (start[:, None] + slots).clamp(max=batch.tokens.shape[1] - 1)
    inside = slots < sizes[:, None]
    predicted = logits.gather(1, (index - 1)[:, :, None].expand(-1, -1, logits.shape[2]))
    reference = batch.tokens.gather(1, index)
    loss = cross_entropy(predicted.transpose(1, 2), reference, reduction="none").masked_fill(~inside, 0.0)
    correct = ((predicted.argmax(dim=2) == reference) | ~inside).all(dim=1)
    return Losses(loss, sizes, correct)


def digit_losses(losses: Losses, reverse: bool) -> list[float]:
    """Mean loss of each place of the answer, units first; ``reverse``: written least significant digit first.

    >>> short, long = torch.tensor([3.0, 2.0, 1.0, 0.0]), torch.tensor([4.0, 3.0, 2.0, 1.0])
    >>> digit_losses(Losses(torch.stack([short, long]), torch.tensor([3, 4]), torch.ones(2)), reverse=False)
    [2.0, 3.0, 4.0]
    """
    digits = losses.sizes - 1  # all but the end
    places = torch.arange(int(digits.max()))
    index = places.expand(len(digits), -1) if reverse else digits[:, None] - 1 - places
    inside = places < digits[:, None]
    values = losses.loss.gather(1, index.clamp(min=0)).masked_fill(~inside, 0.0)
    return [float(value) for value in values.sum(dim=0) / inside.sum(dim=0)]


class Track(Callback):
    """Scores ``spec.test.track`` examples of every tested length at every evaluation."""

    def __init__(self, spec: Spec, folder: Path) -> None:
        self.spec = spec
        self.path = folder / METRICS
        self._batches: dict[int, Batch] = {}

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        test, data = self.spec.test, self.spec.data
        if not test.track:
            return
        module: ArithmeticData = trainer.datamodule  # type: ignore[attr-defined]
        model: Transformer = pl_module.model  # type: ignore[assignment]
        rows: list[tuple[str, float]] = []
        for length in test.lengths:
            if length not in self._batches:
                self._batches[length] = module.writer.write(module.test(length, max(test.counts), test.track))
            losses = response_losses(model, self._batches[length])
            rows.append((f"exact_match.{length}", float(losses.correct.float().mean())))
            rows.append((f"answer_loss.{length}", float(losses.loss.sum() / losses.sizes.sum())))
            if length == data.task.longest and module.format.ends and not module.format.separators:
                by_place = digit_losses(losses, module.format.reversed_answer)
                rows += [(f"digit_loss.{place}", value) for place, value in enumerate(by_place, start=1)]
        for name, value in rows:
            append_metric(self.path, trainer.global_step, name, value)

"""The LightningModule of every experiment: prediction of the response's tokens."""

import torch
from lightning import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor
from torch.nn.functional import cross_entropy

from lengen.config.spec import Spec
from lengen.data.batch import Batch, TrainBatch
from lengen.decoding import verify
from lengen.metrics import ExactMatch
from lengen.models import Transformer
from lengen.randomness import generator
from lengen.training.optimizer import build_optimizer


def response_loss(logits: Tensor, tokens: Tensor, loss: Tensor) -> Tensor:
    """Summed cross-entropy of the target tokens, in nats.

    Args:
        logits: (B, T - 1, V) after each token but the last.
        tokens: (B, T) token ids.
        loss: (B, T) bool, True where the token is a target.
    """
    targets = tokens[:, 1:].masked_fill(~loss[:, 1:], -100)
    return cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=-100, reduction="sum")


class SequenceModule(LightningModule):
    """Trains a model with the specification's optimizer; validates by in-distribution exact match."""

    def __init__(self, spec: Spec, model: Transformer, seed: int = 0) -> None:
        super().__init__()
        self.spec = spec
        self.seed = seed
        self.model = model
        self.exact_match = ExactMatch()

    def training_step(self, batch: TrainBatch, index: int) -> Tensor:
        """Loss per target token, weighted as `lengen.data.training_batches` says."""
        if self.spec.model.dropout:  # what is dropped is a function of (seed, step), as the batch is: resuming is exact
            torch.manual_seed(generator("dropout", self.seed, self.global_step).initial_seed())
        logits = self.model.predict(Batch(batch.tokens, batch.ids, batch.loss, batch.source, batch.output))
        return response_loss(logits, batch.tokens, batch.loss) / batch.scale

    def validation_step(self, batch: Batch, index: int) -> None:
        verified = verify(self.model, batch)
        self.exact_match.update(verified.predicted, verified.reference)

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clips the norm. Lightning's own refuses fused optimizers in mixed precision, because of a gradient scaler
        that bf16 does not have."""
        if gradient_clip_val:
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            torch.nn.utils.clip_grad_norm_(parameters, gradient_clip_val)

    def configure_optimizers(self) -> OptimizerLRScheduler:
        optimizer, schedule = build_optimizer(self.model, self.spec.train)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

"""The LightningModule of every decoder-only experiment: next-token prediction on the response."""

from lightning import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor
from torch.nn.functional import cross_entropy

from lengen.data import TrainBatch
from lengen.decoding import verify
from lengen.examples import Batch
from lengen.metrics import ExactMatch
from lengen.models import Decoder
from lengen.optim import build_optimizer
from lengen.spec import Spec


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
    """Trains a `Decoder` with the specification's optimizer; validates by in-distribution exact match."""

    def __init__(self, spec: Spec, model: Decoder) -> None:
        super().__init__()
        self.spec = spec
        self.model = model
        self.exact_match = ExactMatch()

    def training_step(self, batch: TrainBatch, index: int) -> Tensor:
        """Loss per target token, weighted as `lengen.data` says."""
        logits = self.model(batch.tokens[:, :-1], batch.ids[:, :, :-1])
        return response_loss(logits, batch.tokens, batch.loss) / batch.scale

    def validation_step(self, batch: Batch, index: int) -> None:
        verified = verify(self.model, Batch(*(part.cpu() for part in batch)))
        self.exact_match.update(verified.predicted, verified.reference)

    def configure_optimizers(self) -> OptimizerLRScheduler:
        optimizer, schedule = build_optimizer(self.model, self.spec.train)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

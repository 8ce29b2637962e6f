"""An encoder-only transformer: it reads the query with blanks where the response will stand, and fills all at once.

The architecture that "From Interpolation to Extrapolation" cites beside its own (Table 1, RPE: Jelassi et al. 2023),
there with one block applied again and again (``shared``).
"""

import torch
from torch import Tensor

from lengen.config.spec import ModelSpec
from lengen.data.batch import Batch
from lengen.models.blocks import Context
from lengen.models.transformer import Transformer, initialise
from lengen.vocab import PAD


class Encoder(Transformer):
    """Encoder-only transformer; blanks are padding tokens."""

    writes_in_order = False

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...]) -> None:
        super().__init__(model, tokens, sizes)
        initialise(self)

    def _prepare(self, tokens: Tensor, ids: Tensor, loss: Tensor) -> tuple[Tensor, Context]:
        mask = ((tokens != PAD) | loss)[:, None, None]
        context = Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), mask)
        return self._embed(torch.where(loss, PAD, tokens), ids), context

    def forward(self, tokens: Tensor, ids: Tensor, loss: Tensor) -> Tensor:
        """Logits (B, T, V) at every place; tokens where ``loss`` (B, T) is True are not seen."""
        embedded, context = self._prepare(tokens, ids, loss)
        x = embedded
        for layer, block in enumerate(self.stack()):
            x = block(self._injected(x, embedded, ids, layer, len(self.blocks)), context)
        return self._logits(x)

    def predict(self, batch: Batch) -> Tensor:
        logits: Tensor = self(batch.tokens, batch.ids, batch.loss)
        return logits[:, 1:]

    def attention(self, batch: Batch, softmax: bool = True) -> list[dict[str, Tensor]]:
        """As `Transformer.attention`, but row t is of token t itself, which this model fills in."""
        embedded, context = self._prepare(batch.tokens, batch.ids, batch.loss)
        x, found = embedded, []
        for layer, block in enumerate(self.stack()):
            x = self._injected(x, embedded, batch.ids, layer, len(self.blocks))
            found.append(block.weights(x, context, softmax=softmax))
            x = block(x, context)
        return found

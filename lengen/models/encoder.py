"""An encoder-only transformer: it reads the query with blanks in place of the response, and fills all at once.

The architecture that "From Interpolation to Extrapolation" cites beside its own (Table 1, RPE: Jelassi et al. 2023),
there with one block applied again and again (``shared``).
"""

from typing import Never, final

import torch
from torch import Tensor

from lengen.data.batch import Batch
from lengen.formats.vocab import PAD
from lengen.models.blocks import Context
from lengen.models.cache import Cache
from lengen.models.record import Record
from lengen.models.transformer import Transformer
from lengen.settings.spec import ModelSpec


@final
class Encoder(Transformer):
    """Encoder-only transformer; blanks are padding tokens.

    `attention` differs in one thing: row t is of token t itself, which this model fills in.
    """

    writes_in_order = False

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...]) -> None:
        super().__init__(model, tokens, sizes)
        self._initialise()

    def forward(self, tokens: Tensor, ids: Tensor, loss: Tensor, record: Record | None = None) -> Tensor:
        """Return logits (B, T, V) at every place; tokens where ``loss`` (B, T) is True are not seen."""
        mask = ((tokens != PAD) | loss)[:, None, None]
        loops = self._loops(Batch(tokens, ids, loss))
        context = Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), mask, loops=loops)
        embedded = self._embed(torch.where(loss, PAD, tokens), ids)
        return self._logits(self.blocks(embedded, context, record=record, ending=self.norm))

    def predict(self, batch: Batch, record: Record | None = None) -> Tensor:
        return self._forward(batch.tokens, batch.ids, batch.loss, record=record)[:, 1:]

    def cache(self, batch: Batch, capacity: int) -> Cache:
        _writes_at_once()

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        _writes_at_once()


def _writes_at_once() -> Never:
    raise TypeError("an encoder fills all places of a response at once and has no cache: call `predict`")

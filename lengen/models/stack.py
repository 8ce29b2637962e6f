"""The stack of blocks: the one loop that runs them, and everything recurrent about it."""

from collections.abc import Sequence
from typing import cast, final

import torch
from torch import Tensor, nn

from lengen.encodings.sinusoidal import sinusoids
from lengen.models.blocks import Block, Context
from lengen.models.cache import LayerCache
from lengen.models.record import Record
from lengen.settings.spec import ModelSpec


@final
class Stack(nn.ModuleList):
    """``layers`` blocks, or one that is applied so often if they share it; the whole is applied ``loops`` times.

    A list of modules, so that weights are named by the number of their block. A normalisation that ends the stack ends
    each of its loops: it is the model's, which applies it once more before the output head (`forward`, ``ending``).
    """

    def __init__(self, model: ModelSpec, layers: int, cross: bool = False) -> None:
        super().__init__(Block(model, cross) for _ in range(min(layers, 1) if model.shared else layers))
        self.model = model
        self.repeats = (layers if model.shared else 1) * model.loops

    def applied(self) -> list[Block]:
        """Return the blocks in the order they are applied.

        One loop of them where loops depend on a problem's length.
        """
        return [cast(Block, block) for block in self] * self.repeats

    def _looped(self, loops: Tensor | None) -> list[Block]:
        """Return the blocks in the order they are applied to a batch, as often as its longest example needs."""
        return self.applied() * (1 if loops is None else int(loops.max()))

    def _kept(self, new: Tensor, x: Tensor, layer: int, loops: Tensor | None) -> Tensor:
        """Return the residual stream after the ``layer``-th block: examples whose loops are over keep what they had."""
        if loops is None:
            return new
        return torch.where((layer // len(self.applied()) < loops)[:, None, None], new, x)

    def forward(
        self,
        embedded: Tensor,
        context: Context,
        caches: Sequence[LayerCache] = (),
        crossing: Context | None = None,
        memories: Sequence[LayerCache] = (),
        record: Record | None = None,
        ending: nn.Module | None = None,
    ) -> Tensor:
        """Return the residual stream (B, T, C) after all blocks.

        Args:
            embedded: (B, T, C) embedded tokens.
            context: what self-attention needs.
            caches: one for each applied block, which the tokens join; empty for a full pass. May be more than are
                used, where loops depend on a problem's length and the longest problems are written already.
            crossing: what cross-attention needs, in blocks that have it.
            memories: one for each applied block, what its cross-attention reads.
            record: what to keep of the pass.
            ending: the normalisation between two loops; what follows the last is not done here.
        """
        x = embedded
        for layer, block in enumerate(self._looped(context.loops)):
            new = block(
                self._injected(self._ended(x, layer, ending), embedded, context, layer),
                context,
                caches[layer] if caches else None,
                crossing,
                memories[layer] if memories else None,
                record,
            )
            x = self._kept(new, x, layer, context.loops)
        return x

    def remember(
        self,
        embedded: Tensor,
        context: Context,
        caches: Sequence[LayerCache],
        ending: nn.Module | None = None,
    ) -> None:
        """Let tokens join the caches as in `forward`, of whose last block only keys and values are made.

        All else of it is for predictions, which a prompt but for its last token does not need.
        """
        x, (*blocks, last) = embedded, self._looped(context.loops)
        for layer, block in enumerate(blocks):
            found = self._injected(self._ended(x, layer, ending), embedded, context, layer)
            x = self._kept(block(found, context, caches[layer]), x, layer, context.loops)
        assert context.places is not None
        x = last.before[0](self._injected(self._ended(x, len(blocks), ending), embedded, context, len(blocks)))
        caches[len(blocks)].join(last.attention.memory(x, context.encoding, context.query_ids), context.places)

    def _ended(self, x: Tensor, layer: int, ending: nn.Module | None) -> Tensor:
        """Return the residual stream as the ``layer``-th of the applied blocks finds it.

        It is normalised where a loop has ended.
        """
        size = len(self.applied()) // self.model.loops
        if ending is None or not layer or layer % size:
            return x
        out: Tensor = ending(x)
        return out

    def _injected(self, x: Tensor, embedded: Tensor, context: Context, layer: int) -> Tensor:
        """Return the input of the ``layer``-th of the applied blocks.

        It is the residual stream, and the additions of a recurrent step.

        A step begins at every application of the first block. The embedded input is added to all steps but the first
        (input injection: Figure 2.2 of "Length Generalization on Multi-Digit Integer Addition with Transformers");
        positions and a sinusoid of the step to all (Universal Transformer). Steps count from 0, as in the code of that
        thesis, whose text leaves it open; Dehghani et al. (2018) count from 1.
        """
        step, first = layer // len(self), layer % len(self) == 0
        if self.model.inject == "input" and first and step:
            return x + embedded
        if self.model.inject == "coordinates" and first:
            positions = context.encoding.embed(context.query_ids)
            moment = sinusoids(torch.full((1,), step, device=x.device), self.model.width).to(x.dtype)
            return x + moment if positions is None else x + positions.to(x.dtype) + moment
        return x

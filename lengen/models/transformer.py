"""Common frame of all models: token embedding, the stack of blocks and its loops, output heads, initial weights."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import cast, final

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from lengen.data.batch_and_random_spaces import Batch, response_start
from lengen.encodings.absolute import sinusoids
from lengen.encodings.base import built
from lengen.models.blocks import NORMS, Attention, Block, Context, FeedForward
from lengen.models.cache_and_record import Cache, LayerCache, Record
from lengen.settings.model import LoopsByLength, ModelSpec

# Fan et al. 2025, "Looped Transformers for Length Generalization" (2409.15647): tasks with a known iterative solution
# are learned by one block that is applied T(n) times to a problem of length n, in training and in testing, without
# positions and with the input added at every loop (``inject`` = "input"). Its configurations test parity of 20 trained
# bits at 50, sums and copies of 20 digits at 30 and products of 12 at 15, and the paper reports that looping by length
# generalises where a fixed number of loops does not. There the whole answer is predicted at once, and testing may also
# choose T by the model's confidence; here the rule is `lengen.settings.model.LoopsByLength`, known before the first
# token is written. With an encoder (blanks filled at once) the answer is predicted as there.
#
# One loop per answer token, n digits and the end: LoopsByLength(more=0), T = n + 1. T = n for the string of ``$0110=``:
# LoopsByLength(of="prompt", more=-2).


def loops_of(rule: LoopsByLength, batch: Batch) -> Tensor:
    """Return (B,) int64: how often the stack is applied to each example."""
    n = batch.loss.sum(dim=1) if rule.of == "response" else response_start(batch)
    return (-(-n // rule.tokens) + rule.more).clamp(1, rule.most)


def initialise(transformer: "Transformer") -> None:
    """Draw all weights as the specification says, in the order of the modules; biases start at zero."""
    INITIALISATIONS[transformer.spec.init](transformer)
    for layer in transformer.modules() if transformer.spec.linear_bias else transformer.outputs:
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            nn.init.zeros_(layer.bias)


def _t5(transformer: "Transformer") -> None:
    """Draw as T5 does (Raffel et al. 2020, mesh-TensorFlow): queries carry 1 / sqrt(D) that the scores then lack."""
    model = transformer.spec
    for layer in transformer.modules():
        if isinstance(layer, Attention):
            inner = model.heads * model.head_dim
            query_dim = 1 if model.scale_attention else model.head_dim
            nn.init.normal_(layer.query.weight, std=(model.width * query_dim) ** -0.5)
            nn.init.normal_(layer.key.weight, std=model.width**-0.5)
            nn.init.normal_(layer.value.weight, std=model.width**-0.5)
            nn.init.normal_(layer.out.weight, std=inner**-0.5)
        elif isinstance(layer, FeedForward):
            _fan_in(layer)
    _unit_logits(transformer)


def _normal(transformer: "Transformer") -> None:
    """Draw every matrix N(0, 1 / fan_in)."""
    for layer in transformer.modules():
        if isinstance(layer, Block):
            _fan_in(layer)
    _unit_logits(transformer)


def _xavier(transformer: "Transformer") -> None:
    """Draw every matrix uniformly with variance 2 / (fan_in + fan_out) (Glorot, Bengio 2010), embeddings, heads too."""
    for parameter in transformer.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


def _fan_in(layer: nn.Module) -> None:
    for part in layer.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=part.in_features**-0.5)


def _unit_logits(transformer: "Transformer") -> None:
    """Draw embeddings N(0, 1), output heads N(0, 1 / width)."""
    nn.init.normal_(transformer.embedding.weight)
    for output in transformer.outputs:
        nn.init.normal_(output.weight, std=transformer.spec.width**-0.5)


INITIALISATIONS = {"t5": _t5, "normal": _normal, "xavier": _xavier}


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
        self, embedded: Tensor, context: Context, caches: Sequence[LayerCache] = (), crossing: Context | None = None,
        memories: Sequence[LayerCache] = (), record: Record | None = None, ending: nn.Module | None = None,
    ) -> Tensor:  # fmt: skip
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
            entered = self._entered(x, embedded, context, layer, ending)
            cache, memory = caches[layer] if caches else None, memories[layer] if memories else None
            new = block(entered, context, cache, crossing, memory, record)
            x = self._kept(new, x, layer, context.loops)
        return x

    def remember(
        self, embedded: Tensor, context: Context, caches: Sequence[LayerCache], ending: nn.Module | None = None
    ) -> None:
        """Let tokens join the caches as in `forward`, of whose last block only keys and values are made.

        All else of it is for predictions, which a prompt but for its last token does not need.
        """
        x, (*blocks, last) = embedded, self._looped(context.loops)
        for layer, block in enumerate(blocks):
            entered = self._entered(x, embedded, context, layer, ending)
            x = self._kept(block(entered, context, caches[layer]), x, layer, context.loops)
        assert context.places is not None
        x = last.before[0](self._entered(x, embedded, context, len(blocks), ending))
        caches[len(blocks)].join(last.attention.memory(x, context.encoding, context.query_ids), context.places)

    def _entered(self, x: Tensor, embedded: Tensor, context: Context, layer: int, ending: nn.Module | None) -> Tensor:
        """Return the input of the ``layer``-th of the applied blocks.

        It is the residual stream, normalised if a loop has ended, and the additions of a recurrent step.

        A step begins at every application of the first block. The embedded input is added to all steps but the first
        (input injection: Figure 2.2 of "Length Generalization on Multi-Digit Integer Addition with Transformers");
        positions and a sinusoid of the step to all (Universal Transformer). Steps count from 0, as in the code of that
        thesis, whose text leaves it open; Dehghani et al. (2018) count from 1.
        """
        if ending is not None and layer and layer % (len(self.applied()) // self.model.loops) == 0:
            x = ending(x)
        step, first = layer // len(self), layer % len(self) == 0
        if self.model.inject == "input" and first and step:
            return x + embedded
        if self.model.inject == "coordinates" and first:
            positions = context.encoding.embed(context.query_ids)
            moment = sinusoids(torch.full((1,), step, device=x.device), self.model.width).to(x.dtype)
            return x + moment if positions is None else x + positions.to(x.dtype) + moment
        return x


AT_ONCE = "an encoder fills all places of a response at once and has no cache: call `predict`"


class Transformer(nn.Module, ABC):
    """The network of a specification.

    `lengen.Decoder`, `lengen.Encoder` and `lengen.EncoderDecoder` are settings that choose one.

    Args:
        model: The setting of the network.
        tokens: Size of the vocabulary, V.
        sizes: Largest position id of each level; empty if nothing bounds them.
        cross: Blocks also attend to an encoder.
        outputs: Output heads: one for the task, one for each auxiliary task (`Batch.output`).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", digits=3), seed=0)
        >>> isinstance(model, lengen.Transformer), model.writes_in_order
        (True, True)
    """

    writes_in_order = True
    """Tokens of a response are written one after another; False if all are written at once."""

    def __init__(
        self, model: ModelSpec, tokens: int, sizes: tuple[int, ...], *, cross: bool = False, outputs: int = 1
    ) -> None:
        super().__init__()
        self.spec = model
        self.embedding = nn.Embedding(tokens, model.width)
        self.encoding = built(model.encoding, model, sizes)
        self.blocks = Stack(model, model.layers, cross)
        self.norm = NORMS[model.final_norm](model.width)
        output_bias = model.linear_bias or model.output_bias
        self.head = None if model.tied else nn.Linear(model.width, tokens, bias=output_bias)
        # The heads of auxiliary tasks; stored weights name them so.
        self.others = nn.ModuleList(nn.Linear(model.width, tokens, bias=output_bias) for _ in range(outputs - 1))
        self.dropout = nn.Dropout(model.dropout)

    @abstractmethod
    def predict(self, batch: Batch, record: Record | None = None) -> Tensor:
        """Return logits (B, T - 1, V) of every token of the batch but the first.

        The ``record`` keeps its intermediate values.
        """

    def cache(self, batch: Batch, capacity: int) -> Cache:
        """Return an empty cache for sequences of up to ``capacity`` tokens, of the problems of ``batch``."""
        raise TypeError(AT_ONCE)

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        """Return logits (B, T, V) after new tokens, which are written into the cache at ``places``.

        A token sees every cached place up to its own, so a place beyond an example's length, or one left
        from a text that was since rewritten, is never seen.

        Args:
            tokens: (B, T) new tokens.
            ids: (levels, B or 1, T) their position ids.
            places: (B or 1, T) their places in the sequence, rising along T.
        """
        raise TypeError(AT_ONCE)

    def remember(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> None:
        """Extend without logits of the new tokens: only what later ones read of them is made."""
        self.extend(cache, tokens, ids, places)

    def attention(self, batch: Batch, softmax: bool = True) -> list[dict[str, Tensor]]:
        """Return softmax weights of every layer, or with ``softmax`` False the scores before it.

        "self": (B, H, T - 1, T - 1), row t of the prediction of token t + 1; "cross": (B, H, T - 1, S).
        """
        record = Record("attention" if softmax else "scores")
        self.predict(batch, record)
        return record.attention if softmax else record.scores

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    @property
    def outputs(self) -> list[nn.Linear]:
        """The output heads that do not share the token embedding: the task's, then those of its auxiliary tasks."""
        auxiliary = [cast(nn.Linear, output) for output in self.others]
        return auxiliary if self.head is None else [self.head, *auxiliary]

    def stack(self) -> list[Block]:
        """Return the blocks in the order they are applied."""
        return self.blocks.applied()

    def _forward(self, *arguments: object, record: Record | None) -> Tensor:
        """Return `forward`; in training compiled if it was compiled, never while something is recorded."""
        plain = record is not None or not self.training
        logits: Tensor = self.forward(*arguments, record=record) if plain else self(*arguments)
        return logits

    def _embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.embedding(tokens)
        if self.spec.scale_embedding:
            x = x * self.spec.width**0.5
        positions = None if self.spec.inject == "coordinates" else self.encoding.embed(ids)
        out: Tensor = self.dropout(x if positions is None else x + positions.to(x.dtype))
        return out

    def _logits(self, x: Tensor, output: int = 0) -> Tensor:
        x = self.norm(x)
        if self.head is None:
            return linear(x * self.spec.width**-0.5, self.embedding.weight)
        logits: Tensor = self.outputs[output](x)
        return logits

    def _counted(self, places: Tensor, prompt: Tensor | None) -> Tensor | None:
        """Return the count that temperatures grow with, (B or 1, T).

        These are tokens up to each of ``places``, or those of a ``prompt`` (B,).
        """
        if self.spec.tempered is None:
            return None
        return places + 1 if prompt is None else prompt[:, None].expand(-1, places.shape[1])

    def _loops(self, batch: Batch) -> Tensor | None:
        """Return (B,) times the stack is applied to each example, if that is a function of its length."""
        rule = self.spec.loops_by_length
        return None if rule is None else loops_of(rule, batch)

    def _grown(self, cache: Cache, ids: Tensor, places: Tensor) -> Context:
        """Enter the ids of new tokens into the cache, and return what they then see of it."""
        mask = cache.enter(ids, places)
        counted = self._counted(places, cache.prompt)
        bias = self.encoding.bias(ids, cache.ids)
        return Context(self.encoding, ids, cache.ids, bias, mask, places, counted=counted)

"""The model of a setting: sizes, position encoding, architecture, attention."""

import math
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from lengen.part import LARGEST, Axis, Id, Number, Part, Share, Size
from lengen.settings.attention_biases import AttentionBias


class Encoding(Axis):
    """Setting: the use of position ids in the network; modules are `lengen.encodings.base.Encoding`.

    Example:
        >>> import lengen
        >>> issubclass(lengen.Fire, lengen.Encoding), lengen.Fire.LEVELS
        (True, 1)
    """

    __slots__ = ()
    AXIS = "an encoding"

    LEVELS: ClassVar[int | None] = 1
    """Levels of ids that it reads; None: all there are."""
    TABLE: ClassVar[bool] = False
    """It has a row for each id, so the largest one must be known."""
    IN_BLOCKS: ClassVar[bool] = False
    """It biases self-attention alone: what no block reads has no order."""
    EMBEDS: ClassVar[bool] = False
    """It is added to the embedded tokens."""


class NoEncoding(Part, Encoding, tag="none", frozen=True):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.NoEncoding()), seed=0)
        >>> type(model.encoding).__name__
        'NoEncoding'
    """

    LEVELS = 0


class Learned(Part, Encoding, tag="learned", frozen=True):
    """One trained table per level, summed; with coupled ids this is position coupling.

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", position_ids="randomised", encoding="learned"), seed=0)
        >>> type(model.encoding).__name__
        'Learned'
    """

    LEVELS = None
    TABLE = True
    EMBEDS = True


class Sinusoidal(Part, Encoding, tag="sinusoidal", frozen=True):
    """Fixed sines and cosines (Vaswani et al. 2017, Section 3.5).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.Sinusoidal()), seed=0)
        >>> type(model.encoding).__name__
        'Sinusoidal'
    """

    EMBEDS = True


class Rotary(Part, Encoding, tag="rope", frozen=True):
    """RoPE: queries and keys turn by their ids (Su et al. 2024).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.Rotary()), seed=0)
        >>> type(model.encoding).__name__
        'Rotary'
    """


class ALiBi(Part, Encoding, tag="alibi", frozen=True):
    """A penalty linear in distance, one slope per head (Press et al. 2022).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.ALiBi()), seed=0)
        >>> type(model.encoding).__name__
        'ALiBi'
    """

    IN_BLOCKS = True


class RelativeKeys(Part, Encoding, tag="rpe", frozen=True):
    """A learned vector for each clipped distance is added to the keys (Shaw et al. 2018).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.RelativeKeys()), seed=0)
        >>> type(model.encoding).__name__
        'RelativeKeys'
    """

    clip: Id = 16
    """Largest distance with a value of its own."""


class Fire(Part, Encoding, tag="fire", frozen=True):
    """FIRE: a learned function of the relative distance (Li et al. 2024).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.Fire()), seed=0)
        >>> type(model.encoding).__name__
        'Fire'
    """

    IN_BLOCKS = True


LARGEST_MODEL = 2**32
"""Weights of the largest model that is built: 16 GiB of them. The largest published one has a twentieth."""
MOST_LAYERS = 1000
"""Blocks, or heads of a block: each is an object of its own."""


class Architecture(Axis):
    """Arrangement of encoder and decoder: it decides the part of a problem that each token sees.

    Example:
        >>> import lengen
        >>> lengen.Encoder.IN_ORDER, lengen.Decoder.IN_ORDER
        (False, True)
    """

    __slots__ = ()
    AXIS = "an architecture"
    SPLIT: ClassVar[bool] = False
    """Query and response are written apart."""
    IN_ORDER: ClassVar[bool] = True
    """Tokens of a response are written one after another."""


class Decoder(Part, Architecture, tag="decoder", frozen=True):
    """Setting: one causal transformer over query and response; the network is a `lengen.Transformer`.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy", architecture="decoder")
        >>> sum(weight.numel() for weight in lengen.build_model(spec, seed=0).parameters())
        83526
    """

    attention_bias: AttentionBias | None = None
    """Fixed bias on its self-attention."""


class EncoderDecoder(Part, Architecture, tag="encoder_decoder", frozen=True):
    """Setting: an encoder reads the query; a decoder beside it, of ``model.layers`` blocks, writes the response.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy", architecture=lengen.EncoderDecoder(encoder_layers=1))
        >>> sum(weight.numel() for weight in lengen.build_model(spec, seed=0).parameters())
        157766
    """

    SPLIT = True

    encoder_layers: Annotated[int, Meta(ge=0, le=MOST_LAYERS)] = 0
    """Blocks of the encoder; 0 hands embeddings to the decoder as they are."""
    attention_bias: AttentionBias | None = None
    """Fixed bias on the decoder's self- and cross-attention."""
    causal: bool = True
    """A response token sees no later one; False leaves that to ``attention_bias``, and is refused without one."""
    hands_over: bool = False
    """The decoder begins with the last token of the query, which the encoder does not read; else with a ``$``."""


class Encoder(Part, Architecture, tag="encoder", frozen=True):
    """Setting: the response is blank in the input, and all of it is filled at once.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy", architecture="encoder")
        >>> sum(weight.numel() for weight in lengen.build_model(spec, seed=0).parameters())
        83526
    """

    IN_ORDER = False


class Tempered(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Attention logits that grow with the number n of tokens.

    (Section 5 of "Improving Length-Generalization in Transformers via Task Hinting"), one learned b per layer, or per
    head: scalable softmax.

    Example:
        >>> import lengen
        >>> lengen.setting("copy", tempered=lengen.Tempered(start=1.0)).model.tempered.form
        'log'
    """

    form: Literal["log", "one_plus_log"] = "log"
    """The factor on attention logits: b ln n, or 1 + b ln n."""
    of: Literal["position", "prompt"] = "position"
    """Meaning of n: the tokens a query sees, itself included, or the tokens before the response."""
    start: Number = 0.0
    """Initial b of every layer."""
    per_head: bool = False
    """Every head has a b of its own, as in scalable softmax (Nakanishi 2025, SSMax)."""


class LoopsByLength(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Number of passes through the stack of blocks: ceil(n / tokens) + more.

    It is at least once, at most ``most`` times, in training as in testing (`lengen.models.transformer`).

    Example:
        >>> import lengen
        >>> lengen.LoopsByLength(tokens=2, most=5).loops(7)
        4
    """

    of: Literal["response", "prompt"] = "response"
    """Meaning of n: the tokens of the response, its end included, or those before it."""
    tokens: Size = 1
    """Tokens for each of which there is one loop."""
    more: Annotated[int, Meta(ge=-LARGEST, le=LARGEST)] = 0
    """Loops besides; may be negative."""
    most: Size
    """Most loops."""

    def loops(self, n: float) -> int:
        """Return the number of loops of a problem with ``n`` tokens.

        >>> LoopsByLength(tokens=2, more=1, most=5).loops(5), LoopsByLength(most=5).loops(9)
        (4, 5)
        """
        return min(self.most, max(1, math.ceil(n / self.tokens) + self.more))


Norm = Literal["rmsnorm", "layernorm", "none"]


class ModelSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The transformer of a setting.

    Example:
        >>> import lengen
        >>> model = lengen.ModelSpec(layers=1, heads=2, width=8, head_dim=4, ff_width=16, encoding=lengen.Fire())
        >>> model.weights
        640
    """

    layers: Annotated[int, Meta(ge=1, le=MOST_LAYERS)]
    """Number of transformer blocks."""
    heads: Annotated[int, Meta(ge=1, le=MOST_LAYERS)]
    """Attention heads per block."""
    width: Size
    """Width of the residual stream."""
    head_dim: Size
    """Width of one head; need not be width / heads."""
    ff_width: Size
    """Hidden width of the feed-forward network."""
    encoding: Encoding = Learned()
    """Use of position ids in the network."""
    architecture: Architecture = Decoder()
    """Decoder, encoder-decoder or encoder."""
    activation: Literal["geglu", "gelu", "relu"] = "geglu"
    """Feed-forward activation."""
    norm: Norm = "rmsnorm"
    """Normalisation inside the blocks."""
    final_norm: Norm = "rmsnorm"
    """Normalisation before the output head."""
    norm_place: Literal["pre", "post", "pre_post", "sandwich"] = "pre_post"
    """pre, post, pre_post (post on the residual sum) or sandwich (post on the branch)."""
    tied: bool = True
    """Output head shares the token embedding (then scaled by width ** -0.5)."""
    scale_attention: bool = False
    """Divide attention scores by sqrt(head_dim); off in T5-style models, whose initialisation carries it."""
    init: Literal["t5", "normal", "xavier"] = "t5"
    """Initialisation: t5 (Raffel et al. 2020), normal (every matrix N(0, 1 / fan_in)) or xavier (uniform)."""
    shared: bool = False
    """One block, applied ``layers`` times."""
    loops: Size = 1
    """Times the whole stack of blocks is applied."""
    inject: Literal["none", "input", "coordinates"] = "none"
    """Added again at every recurrent step (loop, or block where ``shared``): none, input (the embedded tokens, after
    the first step) or coordinates (positions and a sinusoid of the step)."""
    dropout: Share = 0.0
    """Share dropped of embeddings, attention weights, feed-forward units and branches in training."""
    linear_bias: bool = False
    """Linear layers have biases, the output head included."""
    output_bias: bool = False
    """The output head has a bias, whatever the other layers have."""
    scale_embedding: bool = False
    """Multiply token embeddings by sqrt(width)."""
    tempered: Tempered | None = None
    """Tempered softmax."""
    loops_by_length: LoopsByLength | None = None
    """Times the whole stack of blocks is applied, as a function of a problem's length; instead of ``loops``."""

    @property
    def weights(self) -> int:
        """Approximate number of weights of its blocks."""
        return ((1 if self.shared else self.layers) + self.encoder_layers) * self.block_weights

    @property
    def block_weights(self) -> int:
        """Weights of one block: 4 w h k of attention and 2 w f of the feed-forward network, 3 w f if it is gated."""
        return self.width * (4 * self.heads * self.head_dim + (3 if self.activation == "geglu" else 2) * self.ff_width)

    @property
    def attention_bias(self) -> AttentionBias | None:
        """The fixed bias of the architecture, if it has one."""
        return self.architecture.attention_bias if isinstance(self.architecture, Decoder | EncoderDecoder) else None

    def loops_of(self, prompt: float, response: float) -> int:
        """Return the number of passes through the stack for a problem with so many tokens."""
        rule = self.loops_by_length
        return self.loops if rule is None else rule.loops(response if rule.of == "response" else prompt)

    @property
    def reads_prompts(self) -> str:
        """The field that makes attention depend on where a prompt ends; empty where none does."""
        if self.tempered is not None and self.tempered.of == "prompt":
            return "model.tempered.of=prompt"
        bias = self.attention_bias
        return f"model.architecture.attention_bias={bias.kind}" if bias is not None and bias.LINES else ""

    @property
    def causal(self) -> bool:
        """True if a response token sees no later one."""
        return self.architecture.causal if isinstance(self.architecture, EncoderDecoder) else True

    @property
    def encoder_layers(self) -> int:
        """Blocks of an encoder beside the decoder."""
        return self.architecture.encoder_layers if isinstance(self.architecture, EncoderDecoder) else 0

"""The four sections of a specification: data, model, training, testing; plain frozen dataclasses, no torch."""

import typing
from dataclasses import dataclass, field
from typing import NamedTuple


class NumberFormat(NamedTuple):
    """How all numbers of a model are held."""

    name: str
    """As torch calls it."""
    bits: int
    """Significant bits: integers up to 2 to this power are exact."""


NUMBER_FORMATS = {
    "32-true": NumberFormat("float32", 24),
    "64-true": NumberFormat("float64", 53),
    "bf16-true": NumberFormat("bfloat16", 8),
}
"""By ``train.precision``, where weights and sums have one format."""


def later(default: typing.Any) -> typing.Any:
    """A field that came after runs were stored: at its default it stays out of the hash, so those runs keep theirs."""
    return field(default=default, metadata={"later": True})


@dataclass(frozen=True, kw_only=True)
class DataSpec:
    task: str
    """Name of the task, one of `lengen.tasks.TASKS`."""
    length: int
    """Trained operand length: operands have 1 to ``length`` digits (n of S_A(n, m), S_M(n, m))."""
    count: int = 1
    """Second trained axis: operands (m of S_A), digits of the second factor (m of S_M), 1 for parity."""
    scratchpad: bool = True
    """Write the intermediate results before the answer."""
    pad: bool = True
    """Zero-pad every number to the longest that could occur."""
    reverse_query: bool = False
    """Write operands least significant digit first."""
    reverse_response: bool = True
    """Write the numbers of the response least significant digit first."""
    position_ids: str = "coupled"
    """Position ids: coupled, consecutive, cyclic or none."""
    max_position: tuple[int, ...] = ()
    """Largest position id of each level; offsets are drawn so that no id exceeds it (Tables 1-3: max_pos)."""
    examples: int = 0
    """Size of the fixed training set; 0 draws fresh examples for every step."""
    fixed_length: int = later(0)
    """Digits that every number is padded to, in training as in testing; 0 pads to the longest that could occur."""
    base: int = later(10)
    """Base of the numbers at a fixed length, 2 to 16."""
    aligned: bool = later(False)
    """At a fixed length: write the digits of two operands pairwise, those of one significance side by side."""
    limit: int = later(0)
    """At a fixed length: largest number drawn in training, uniformly; 0 draws a length first, then digits."""
    period: int = later(0)
    """Period of cyclic position ids."""
    lengths: tuple[int, ...] = later(())
    """Trained operand lengths of n_by_n, where some below ``length`` are left out; empty: all of them."""
    pad_to: int = later(0)
    """Zero-pad numbers to this many digits; longer ones are written in full."""
    subtasks: tuple[str, ...] = later(())
    """Sub-tasks of n_by_n, in equal parts, each example with its prefix; the first is the one that is tested."""
    carries: str = later("pairs")
    """What marks a carry in the sub-task car: pairs, code or true."""
    vocabulary: str = later("task")
    """Symbols: task (those that the format writes) or printable (100 printable characters)."""
    spaces: float = later(0.0)
    """Largest number of random spaces in a training query, as a share of its tokens after ``$``, ``=`` included."""
    fresh_spaces: bool = later(True)
    """Spaces are drawn anew whenever an example is seen; False: once for each problem."""
    max_offset: int = later(0)
    """Largest random offset of Abacus position ids in training."""
    alphabet: int = later(0)
    """Sequences of numbers are drawn from 1 to this."""
    short: int = later(0)
    """Training lengths of 2 to this share a part of the examples of their own (``skew``), those beyond it the rest."""
    skew: float = later(0.0)
    """Share of the training examples whose length is at most ``short``."""
    repeats: float = later(0.0)
    """Share of the training examples with repeats: sequences of few numbers, operands that end in nines."""
    hints: tuple[str, ...] = later(())
    """Auxiliary tasks, by name: training alternates between ``task`` and these, each with an output head of its own."""


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    layers: int
    """Number of transformer blocks."""
    heads: int
    """Attention heads per block."""
    width: int
    """Width of the residual stream."""
    head_dim: int
    """Width of one head; need not be width / heads."""
    ff_width: int
    """Hidden width of the feed-forward network."""
    encoding: str = "learned"
    """Position encoding, one of `lengen.encodings.ENCODINGS`."""
    activation: str = "geglu"
    """Feed-forward activation: geglu, gelu or relu."""
    norm: str = "rmsnorm"
    """Normalisation inside the blocks: rmsnorm or layernorm."""
    final_norm: str = "rmsnorm"
    """Normalisation before the output head: rmsnorm, layernorm or none."""
    norm_place: str = "pre_post"
    """pre, post, pre_post (post on the residual sum) or sandwich (post on the branch)."""
    tied: bool = True
    """Output head shares the token embedding (then scaled by width ** -0.5)."""
    scale_attention: bool = False
    """Divide attention scores by sqrt(head_dim); off in T5-style models, whose initialisation carries it."""
    init: str = "t5"
    """Initialisation: t5 (Raffel et al. 2020), normal (every matrix N(0, 1 / fan_in)) or xavier (uniform)."""
    architecture: str = later("decoder")
    """decoder, encoder_decoder (``layers`` are the decoder's) or encoder (writes the whole response at once)."""
    encoder_layers: int = later(0)
    """Blocks of the encoder of an encoder-decoder; 0 hands embeddings to the decoder as they are."""
    shared: bool = later(False)
    """One block, applied ``layers`` times."""
    dropout: float = later(0.0)
    """Share dropped of embeddings, attention weights, feed-forward units and branches in training."""
    biases: bool = later(False)
    """Linear layers have biases."""
    scale_embedding: bool = later(False)
    """Multiply token embeddings by sqrt(width)."""
    bias: str = later("none")
    """Fixed attention bias of an encoder-decoder: none, window, or given (stored with the weights)."""
    window: int = later(0)
    """Width w of the windowed bias."""
    stride: int = later(1)
    """Source tokens that the windowed bias moves on per response token: 2 where two operands are aligned."""
    causal: bool = later(True)
    """A response token sees no later one; False leaves that to the given bias."""
    loops: int = later(1)
    """Times the whole stack of blocks is applied."""
    inject: str = later("none")
    """Added again at every recurrent step (loop, or block where ``shared``): none, input (the embedded tokens, after
    the first step) or coordinates (positions and a sinusoid of the step)."""
    head_bias: bool = later(False)
    """The output head has a bias, whatever the other layers have."""
    temperature: str = later("none")
    """Factor on attention logits, one learned b per layer: none, log (b ln n) or one_plus_log (1 + b ln n)."""
    temperature_of: str = later("position")
    """What n counts: position (the tokens a query sees, itself included) or prompt (the tokens before the response)."""
    temperature_start: float = later(0.0)
    """Initial b of every layer."""


@dataclass(frozen=True, kw_only=True)
class TrainSpec:
    steps: int
    """Optimizer steps."""
    batch: int
    """Examples per step."""
    lr: float
    """Peak learning rate."""
    betas: tuple[float, float] = (0.9, 0.95)
    """Adam's exponential decay rates."""
    weight_decay: float = 0.0
    """Decoupled weight decay (AdamW)."""
    warmup: float = 0.01
    """Share of the steps with linear warm-up."""
    final_lr: float = 0.1
    """The cosine ends at this share of the peak learning rate."""
    clip: float = 1.0
    """Largest gradient norm."""
    bucket: int = 16
    """Batches drawn together and sorted by length, to save padding; 1 keeps batches unsorted."""
    evaluations: int = 10
    """Evenly spaced points of the run that validate in distribution and write a checkpoint."""
    precision: str = "32-true"
    """Lightning precision: 32-true, bf16-mixed, 64-true or bf16-true."""
    compile: bool = False
    """Compile the model with torch.compile."""
    stop_at: float = later(0.0)
    """Stop once validation exact match was at least this at ``patience`` evaluations in a row; 0 never stops."""
    patience: int = later(3)
    """Evaluations in a row that ``stop_at`` asks for."""
    loss: str = later("response")
    """Tokens trained on: response, or all but the first."""
    warmup_steps: int = later(0)
    """Steps of linear warm-up where their number is given; then ``warmup`` has no say."""
    one_length: bool = later(False)
    """A batch shares one length, and a training set is streamed: its batches are drawn again in every epoch."""


@dataclass(frozen=True, kw_only=True)
class TestSpec:
    __test__ = False  # its name makes pytest look
    lengths: tuple[int, ...]
    """Tested operand lengths (first axis)."""
    counts: tuple[int, ...] = (1,)
    """Tested values of the second axis; a single value gives a curve, several a grid."""
    examples: int = 1000
    """Examples per cell; every model sees the same ones."""
    free_running: bool = True
    """Also let the model write its own text where it errs, to score the final answer and edit distance."""
    attention: tuple[tuple[int, int], ...] = ()
    """Cells (length, count) whose attention is recorded; the first one also as an averaged map."""
    attention_examples: int = 1000
    """Examples averaged for an attention record."""
    probes: tuple[tuple[str, ...], ...] = later(())
    """Problems, by their operands, on which the attention of the last layer is recorded."""
    track: int = later(0)
    """Examples per tested length that are scored at every evaluation of the training; 0 scores none."""
    sampled: int = later(0)
    """Examples per cell whose responses are also sampled at temperature 1."""

"""The Universal Transformer and the looped decoder of the thesis on integer addition, against its author's modules.

The numbers are logits of `UniversalTransformer` and `LoopedDecoder` of iibrahimli/msc_thesis (commit 7dcdd42) in
float64, of width 8 with 2 heads and 16 feed-forward units, whose n-th parameter in alphabetical order holds
cos(0.7 k (n + 1) + n) / 2 at its k-th element, and 1 more in the weights of normalisations.
"""

import math

import pytest
import torch
from torch import Tensor, nn

from lengen import DataSpec, Decoder, EncoderDecoder, Linear, NextLarger, Sinusoidal, Spec
from lengen.data.batch import Source
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import generate
from lengen.formats.base import Layout
from lengen.models import Transformer
from lengen.training.build import build_model
from tests.fixtures.models import encoder_decoder
from tests.fixtures.settings import problems, two_operands

MODEL = {
    "encoding": Sinusoidal(),
    "norm_place": "post",
    "activation": "gelu",
    "init": "normal",
    "scale_embedding": False,
    "width": 8,
    "heads": 2,
    "head_dim": 4,
    "ff_width": 16,
}
LAYER = ("linear1", "linear2", "norm1", "norm2", "self_attn.in_proj", "self_attn.out_proj")
CROSS = ("norm3", "multihead_attn.in_proj", "multihead_attn.out_proj")
TOKENS, TARGET = torch.tensor([[3, 1, 4, 10, 5, 9]]), torch.tensor([[11, 2, 6, 5]])


def parameters(*layers: str) -> list[str]:
    """Names of layers with a weight and a bias, in the author's words."""
    return [
        f"{layer}_{kind}" if layer.endswith("in_proj") else f"{layer}.{kind}"
        for layer in layers
        for kind in ("weight", "bias")
    ]


def author_weights(names: list[str], shape_of) -> dict[str, Tensor]:
    found = {}
    for n, name in enumerate(sorted(names)):
        shape = shape_of(name)
        k = torch.arange(math.prod(shape), dtype=torch.float64)
        shift = 1 if "norm" in name and name.endswith("weight") else 0
        found[name] = (torch.cos(0.7 * k * (n + 1) + n) / 2).reshape(shape) + shift
    return found


def shape_of(name: str) -> tuple[int, ...]:
    if name == "embedding.weight":
        return (100, 8)
    out, into = (24 if "in_proj" in name else 16 if "linear1" in name else 8), (16 if "linear2" in name else 8)
    return (out,) if name.endswith("bias") or "norm" in name else (out, into)


def fill_attention(attention, weights: dict[str, Tensor], name: str) -> None:
    for place, part in enumerate((attention.query, attention.key, attention.value)):
        rows = slice(8 * place, 8 * place + 8)
        part.weight.data, part.bias.data = (weights[f"{name}.in_proj_{kind}"][rows] for kind in ("weight", "bias"))
    attention.out.weight.data, attention.out.bias.data = (
        weights[f"{name}.out_proj.{kind}"] for kind in ("weight", "bias")
    )


def fill(layer, weights: dict[str, Tensor], name: str) -> None:
    layer.weight.data, layer.bias.data = weights[f"{name}.weight"], weights[f"{name}.bias"]


def fill_block(block, weights: dict[str, Tensor], name: str) -> None:
    block.feed_forward.activation = nn.GELU()  # the exact one, where a setting has its tanh approximation
    fill_attention(block.attention, weights, f"{name}.self_attn")
    if block.cross is not None:
        fill_attention(block.cross, weights, f"{name}.multihead_attn")
    fill(block.feed_forward.enter, weights, f"{name}.linear1")
    fill(block.feed_forward.leave, weights, f"{name}.linear2")
    for number, norm in enumerate(block.after, start=1):
        fill(norm, weights, f"{name}.norm{number}")


def model_of(spec: Spec, weights: dict[str, Tensor]) -> Transformer:
    model = build_model(spec, 0).double().eval()
    model.embedding.weight.data = model.head.weight.data = weights["embedding.weight"]
    model.head.bias.data.zero_()
    return model


def spec_of(architecture, **options) -> Spec:
    return encoder_decoder(
        two_operands(1, 2, vocabulary="printable"), architecture=architecture, **{**MODEL, **options}
    )


@torch.no_grad()
def test_steps_of_the_universal_transformer_are_the_authors():
    layers = [f"encoder_layer.{layer}" for layer in LAYER] + [f"decoder_layer.{layer}" for layer in LAYER + CROSS]
    weights = author_weights(["embedding.weight", *parameters(*layers)], shape_of)
    model = model_of(
        spec_of(EncoderDecoder(encoder_layers=3), layers=3, shared=True, inject="coordinates", final_norm="none"),
        weights,
    )
    fill_block(model.encoder[0], weights, "encoder_layer")
    fill_block(model.blocks[0], weights, "decoder_layer")
    ids = torch.arange(6)[None, None]
    logits = model(TARGET, ids[:, :, :4], Source(TOKENS, ids))
    expected = torch.tensor(
        [
            [0.83831710, 0.30884666, -0.27284442, -0.80840222],
            [0.06958691, -0.19644318, -0.42925811, -0.58949289],
            [-0.45055511, -0.66932051, -0.77491533, -0.74948532],
            [-0.82399954, -0.95227895, -0.91954439, -0.73133071],
        ]
    ).double()
    torch.testing.assert_close(logits[0, :, :4], expected, atol=2e-6, rtol=0)


LOOPED = {
    "input": [
        [2.48267229, 2.08534341, 0.75197010, -0.91893872],
        [2.92623344, 2.71578224, 1.28630264, -0.72055737],
        [-1.90236543, -1.59978226, -0.57910763, 0.70151002],
        [1.45342188, 1.01571297, 0.12208277, -0.82634652],
    ],
    "none": [
        [2.82510611, 2.69181736, 1.35025728, -0.59739041],
        [2.97713649, 2.88593850, 1.49933437, -0.56027334],
        [-2.00125397, -1.12028043, 0.26355141, 1.52908340],
        [2.14890646, 1.78022416, 0.61245577, -0.83022457],
    ],
}
"""Logits of the last four of six tokens after three loops, by what is injected."""


@torch.no_grad()
@pytest.mark.parametrize("inject", LOOPED)
def test_a_normalisation_ends_every_loop_as_in_the_authors_decoder(inject):
    layers = [f"transformer_encoder.layers.0.{layer}" for layer in LAYER]
    weights = author_weights(["embedding.weight", *parameters("transformer_encoder.norm", *layers)], shape_of)
    model = model_of(spec_of(Decoder(), layers=1, loops=3, inject=inject, final_norm="layernorm"), weights)
    fill_block(model.blocks[0], weights, "transformer_encoder.layers.0")
    fill(model.norm, weights, "transformer_encoder.norm")
    logits = model(TOKENS, torch.arange(6)[None, None])
    expected = torch.tensor(LOOPED[inject]).double()
    torch.testing.assert_close(logits[0, 2:, :4], expected, atol=2e-6, rtol=0)


def test_a_query_that_hands_over_gives_its_last_token_to_the_response():
    """`ArithmeticExampleDataset` of the same code: ``$123+456`` and ``=579$``."""
    from lengen.data.datamodule import ArithmeticData

    for hands_over, expected in ((True, ("$123+456", "=579$")), (False, ("$123+456=", "$579$"))):
        spec = spec_of(EncoderDecoder(encoder_layers=1, hands_over=hands_over))
        data = ArithmeticData(spec, 0)
        batch = data.writer.write(problems(spec.data.task, [["123", "456"]]))
        texts = tuple(data.vocab.decode(tokens[0]) for tokens in (batch.source.tokens, batch.tokens))
        assert texts == expected
        assert batch.loss[0].tolist() == [False, True, True, True, True]


def test_a_query_that_ends_in_a_digit_hands_over_that_digit_and_its_hint():
    """Which number comes next is asked without a separator: ``5 3 1 ⊥ 3`` and ``5``."""
    task = NextLarger(longest=5)
    for hands_over, expected in ((True, ("$ 5 3 1 ⊥", "3 5 $")), (False, ("$ 5 3 1 ⊥ 3", "$ 5 $"))):
        given = DataSpec(task=task, format=Linear())
        spec = encoder_decoder(given, architecture=EncoderDecoder(hands_over=hands_over), encoding=Sinusoidal())
        data, asked = TaskData(spec, 0), task.parse(["5", "3", "1", "3"])
        batch = data.writer.write(asked)
        assert tuple(data.vocab.decode(tokens[0]) for tokens in (batch.source.tokens, batch.tokens)) == expected
        assert batch.loss[0].tolist() == [False, True, True]
        model = build_model(spec, 0).eval()
        assert model.predict(batch).shape[1] == 2
        assert generate(model, data.writer, asked).shape == (1, 2), "and it is written token by token"
    hinted = Layout(2, hinted=True)
    hinted.number("operands", 0, [0], lambda place: (place, 0))
    hinted.symbols, hinted.digits, hinted.coordinates, hinted.hints = (
        found[:1] for found in (hinted.symbols, hinted.digits, hinted.coordinates, hinted.hints)
    )  # a query whose last token is a mark
    hinted.respond()
    hinted.symbol("$")
    query, written = hinted.split(handed_over=True)
    assert (query.hints, written.hints) == ([], [1, 0])

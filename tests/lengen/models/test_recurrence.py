"""Blocks applied again and again."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import lengen
from lengen import Addition, ArithmeticData, Copy, DataSpec, EncoderDecoder, Linear, LoopsByLength, Spec, replace
from lengen.data.batch_and_random_spaces import Batch, Source, response_start
from lengen.data.task_data import TaskData
from lengen.digits import generator
from lengen.formats.base import END, PAD, Layout
from lengen.models import Record, Transformer
from lengen.models.attention import causal_mask
from lengen.models.blocks import Context
from lengen.models.transformer import loops_of
from lengen.settings.model import ModelSpec
from lengen.settings.spec import validate
from lengen.training.compilation import choose
from lengen.training.module import SequenceModule, response_loss
from tests.fixtures.decoding import check_decoding, ended
from tests.fixtures.models import encoder_decoder, random_model
from tests.fixtures.refusals import refused
from tests.fixtures.settings import problems, spec, two_operands

WIDTH = 16
ABACUS = {"position_ids": lengen.Abacus(30), "reverse_response": True}
RECURRENT = {
    "loops": {"loops": 3}, "loops, injected": {"loops": 3, "inject": "input"}, "shared": {"layers": 3, "shared": True},
    "shared, injected": {"layers": 3, "shared": True, "inject": "input"},
    "shared loops": {"layers": 2, "shared": True, "loops": 2, "inject": "input"},
    "coordinates": {"layers": 3, "shared": True, "inject": "coordinates"},
    "coordinates in loops": {"layers": 2, "loops": 2, "inject": "coordinates"},
}  # fmt: skip
RULES = {
    "answer": LoopsByLength(most=6),
    "half of the prompt": LoopsByLength(of="prompt", tokens=2, more=1, most=6),
    "few": LoopsByLength(of="prompt", more=-4, most=3),
}
COPY, PLAIN = Copy(5), Linear()
PADDED = Linear(pad_query=True, pad_response=True)
MODEL = {
    "encoding": lengen.Sinusoidal(), "norm_place": "post", "activation": "gelu", "init": "normal",
    "scale_embedding": False, "width": 8, "heads": 2, "head_dim": 4, "ff_width": 16,
}  # fmt: skip
LAYER = ("linear1", "linear2", "norm1", "norm2", "self_attn.in_proj", "self_attn.out_proj")
CROSS = ("norm3", "multihead_attn.in_proj", "multihead_attn.out_proj")
TOKENS, TARGET = torch.tensor([[3, 1, 4, 10, 5, 9]]), torch.tensor([[11, 2, 6, 5]])
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


def wave(number: int) -> Tensor:
    """The sinusoid of an integer (Vaswani et al. 2017, Section 3.5), in float64."""
    rates = [10000 ** (-2 * (k // 2) / WIDTH) for k in range(WIDTH)]
    return torch.tensor([(math.cos if k % 2 else math.sin)(number * rate) for k, rate in enumerate(rates)]).double()


def waves(ids: Tensor) -> Tensor:
    return torch.stack([torch.stack([wave(k) for k in row]) for row in ids[0].tolist()])


def sized(name: str, architecture: str = "decoder", **options) -> Spec:
    data = two_operands(1, 2, pad=architecture == "encoder", **options.pop("data", {}))
    kinds = {"encoder_layers": RECURRENT[name].get("layers", 2) + 1} if architecture == "encoder_decoder" else {}
    return encoder_decoder(
        data, architecture=architecture, **{"encoding": "sinusoidal", **RECURRENT[name], **kinds, **options}
    )


def steps_of(blocks, layers: int, spec: Spec) -> list[list]:
    """Recurrent steps, each the blocks it applies: a shared block is a step of its own."""
    blocks = list(blocks)
    if spec.model.shared:
        return [[blocks[0]] for _ in range(layers * spec.model.loops)]
    return [blocks for _ in range(spec.model.loops)]


def by_hand(spec: Spec, tokens: Tensor, position: Tensor, steps: list[list], embedding, apply, norm=None) -> Tensor:
    """The residual stream after all steps; ``apply`` runs the n-th block that is applied, ``norm`` ends each loop."""
    embedded = embedding.weight[tokens] * WIDTH**0.5
    if spec.model.inject != "coordinates":
        embedded = embedded + position
    x, n = embedded, 0
    for step, blocks in enumerate(steps):
        if norm is not None and step and step % (len(steps) // spec.model.loops) == 0:
            x = norm(x)
        if spec.model.inject == "input" and step > 0:
            x = x + embedded
        if spec.model.inject == "coordinates":
            x = x + position + wave(step)
        for block in blocks:
            x, n = apply(n, block, x), n + 1
    return x


def same_attention(found: list[dict[str, Tensor]], expected: list[dict[str, Tensor]]) -> None:
    for layer, by_hand in zip(found, expected, strict=True):
        assert layer.keys() == by_hand.keys()
        for name, weights in layer.items():
            torch.testing.assert_close(weights, by_hand[name], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("architecture", ["decoder", "encoder"])
@pytest.mark.parametrize("name", RECURRENT)
def test_a_decoder_and_an_encoder_apply_their_blocks_as_by_hand(name, architecture):
    here = sized(name, architecture)
    model, data = random_model(here)
    batch, record = data.writer.write(data.test(2, 2, 4)), Record("attention")
    tokens, ids, mask = batch.tokens[:, :-1], batch.ids[:, :, :-1], None
    if architecture == "encoder":
        tokens, ids = torch.where(batch.loss, PAD, batch.tokens), batch.ids
        mask = ((batch.tokens != PAD) | batch.loss)[:, None, None]
    context = Context(model.encoding, ids, ids, None, mask)

    def apply(n, block, x):
        return block(x, context, record=record)

    steps = steps_of(model.blocks, here.model.layers, here)
    x = by_hand(here, tokens, waves(ids), steps, model.embedding, apply, model.norm)
    expected = model.norm(x) @ model.head.weight.T + model.head.bias
    found = model.predict(batch)
    torch.testing.assert_close(found, expected[:, 1:] if mask is not None else expected, atol=1e-5, rtol=1e-5)
    assert len(record.attention) == sum(map(len, steps)) == len(model.stack())
    same_attention(model.attention(batch), record.attention)


@pytest.mark.parametrize("name", RECURRENT)
def test_an_encoder_decoder_applies_both_its_stacks_as_by_hand(name):
    """Universal Transformer: one block each, positions and the step added at every step of both."""
    here = sized(name, "encoder_decoder")
    model, data = random_model(here)
    batch = data.writer.write(data.test(2, 2, 4))
    source, tokens, ids = batch.source, batch.tokens[:, :-1], batch.ids[:, :, :-1]
    mask = (source.tokens != PAD)[:, None, None]
    reading = Context(model.encoding, source.ids, source.ids, None, mask)
    steps = steps_of(model.encoder, here.model.encoder_layers, here)
    read = by_hand(
        here, source.tokens, waves(source.ids), steps, model.embedding, lambda n, block, x: block(x, reading)
    )
    torch.testing.assert_close(model.encode(source)[0], read, atol=1e-5, rtol=1e-5)
    own = Context(model.encoding, ids, ids, None, causal_mask(ids.shape[2], ids.device))
    crossing = Context(model.encoding, ids, source.ids, None, mask)
    record = Record("attention")

    def apply(n, block, x):
        memory = block.cross.memory(read, model.encoding, source.ids)
        return block(x, own, None, crossing, memory, record)

    steps = steps_of(model.blocks, here.model.layers, here)
    x = by_hand(here, tokens, waves(ids), steps, model.embedding, apply, model.norm)
    expected = model.norm(x) @ model.head.weight.T + model.head.bias
    torch.testing.assert_close(model.predict(batch), expected, atol=1e-5, rtol=1e-5)
    same_attention(model.attention(batch), record.attention)


@pytest.mark.parametrize(("ids", "architecture"), [
    ("sinusoidal", "decoder"), ("learned", "decoder"), ("fire", "decoder"), ("sinusoidal", "encoder_decoder"),
])  # fmt: skip
@pytest.mark.parametrize("name", RECURRENT)
def test_a_cache_grown_token_by_token_or_in_halves_gives_the_full_pass(name, ids, architecture):
    here = sized(name, architecture, encoding=ids, data=ABACUS if ids == "learned" else {})
    model, data = random_model(here)
    batch = data.writer.write(data.test(2, 2, 3))
    size = batch.tokens.shape[1] - 1
    whole, cache = model.predict(batch), model.cache(batch, size + 2)
    for place in range(size):
        places = torch.full((3, 1), place)
        found = model.extend(cache, batch.tokens[:, place, None], batch.ids[:, :, place, None], places)
        torch.testing.assert_close(found[:, 0], whole[:, place], atol=1e-6, rtol=1e-6)
    cache, half = model.cache(batch, size + 2), size // 2
    for part in (slice(half), slice(half, size)):
        places = torch.arange(size)[part].expand(3, -1)
        found = model.extend(cache, batch.tokens[:, part], batch.ids[:, :, part], places)
        torch.testing.assert_close(found, whole[:, part], atol=1e-6, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["decoder", "encoder_decoder"])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_models_write_what_reading_the_whole_text_again_gives(name, architecture):
    model, data = random_model(sized(name, architecture), 2)
    check_decoding(model, data, data.test(2, 2, 5))


@pytest.mark.parametrize("architecture", ["decoder", "encoder_decoder", "encoder"])
def test_loops_and_injection_have_no_weights_and_one_loop_without_is_the_old_model(architecture):
    layers = {"layers": 2, "encoder_layers": 2} if architecture == "encoder_decoder" else {"layers": 2}
    data = two_operands(1, 2, pad=architecture == "encoder")
    plain = encoder_decoder(data, architecture=architecture, encoding="sinusoidal", **layers)
    model, data = random_model(plain)
    batch = data.writer.write(data.test(2, 2, 4))
    for options in ({"loops": 3}, {"loops": 3, "inject": "input"}, {"loops": 3, "inject": "coordinates"}):
        other, _ = random_model(replace(plain, model=replace(plain.model, **options)))
        assert other.state_dict().keys() == model.state_dict().keys()
        assert all(torch.equal(a, b) for a, b in zip(other.parameters(), model.parameters(), strict=True))
        assert not torch.equal(other.predict(batch), model.predict(batch))
    for inject in ("input", "coordinates"):
        with pytest.raises(
            lengen.SettingError, match=f"model.inject={inject}: it is added at recurrent steps, of which there are none"
        ):
            random_model(replace(plain, model=replace(plain.model, inject=inject)))


def count(sized: Spec) -> int:
    return sum(parameter.numel() for parameter in lengen.build_model(sized, 0).parameters())


@pytest.mark.parametrize(("layers", "loops"), [(1, 1), (1, 5), (3, 1), (3, 2)])
@pytest.mark.parametrize("shared", [False, True])
def test_parameters_by_closed_form(layers, loops, shared):
    model = {"layers": layers, "loops": loops, "shared": shared, "encoding": "sinusoidal"}
    if shared or loops > 1:
        model["inject"] = "coordinates"
    width, inner, hidden, tokens = 16, 16, 32, 14  # 12 symbols, the end and the padding
    attention = 3 * (width + 1) * inner + (inner + 1) * width
    feed_forward, norm = (width + 1) * hidden + (hidden + 1) * width, 2 * width
    around = tokens * width + norm + (width + 1) * tokens
    own, data = 1 if shared else layers, two_operands(1, 2)
    block, crossed = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    assert len(ArithmeticData(encoder_decoder(data), 0).vocab) == tokens
    assert count(encoder_decoder(data, architecture="decoder", **model)) == own * block + around
    assert count(encoder_decoder(two_operands(1, 2, pad=True), architecture="encoder", **model)) == own * block + around
    assert count(encoder_decoder(data, encoder_layers=layers, **model)) == own * (block + crossed) + around
    model.pop("inject", None)  # adds no parameter, and would tell no order to a query that passes no block
    assert count(encoder_decoder(data, encoder_layers=0, **model)) == own * crossed + around


@pytest.mark.parametrize("architecture", ["decoder", "encoder_decoder", "encoder"])
@pytest.mark.parametrize("name", RECURRENT)
def test_gradients_reach_every_weight(name, architecture):
    model, data = random_model(sized(name, architecture, linear_bias=False))
    batch = data.batch(0)
    logits = model.predict(Batch(batch.tokens, batch.ids, batch.loss, batch.source))
    response_loss(logits, batch.tokens, batch.loss).backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None and float(parameter.grad.abs().max()) > 1e-6, key


def setting(rule: LoopsByLength | None = RULES["answer"], task=COPY, format=PLAIN, **model: object) -> Spec:
    data = DataSpec(task=task, format=format, position_ids=lengen.NoPositionIds())
    return spec(data, **{"encoding": "none", "inject": "input", "loops_by_length": rule, **model})


def times(rule: LoopsByLength, prompt: int, response: int) -> int:
    n = response if rule.of == "response" else prompt
    return min(rule.most, max(1, math.ceil(n / rule.tokens) + rule.more))


@given(st.sampled_from(["response", "prompt"]), st.integers(1, 4), st.integers(-4, 4), st.integers(1, 9),
       st.integers(0, 2**31))  # fmt: skip
def test_loops_are_those_of_the_rule(of, tokens, more, most, seed):
    rule = LoopsByLength(of=of, tokens=tokens, more=more, most=most)
    data = TaskData(setting(None, Copy(9), inject="none"), 0)
    batch = data.writer.write(data.task.train(8, generator("p", seed)))
    prompts, responses = response_start(batch).tolist(), batch.loss.sum(dim=1).tolist()
    expected = [times(rule, prompt, response) for prompt, response in zip(prompts, responses, strict=True)]
    assert loops_of(rule, batch).tolist() == expected
    model: ModelSpec = setting(rule, Copy(9)).model
    assert [model.loops_of(*pair) for pair in zip(prompts, responses, strict=True)] == expected


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("architecture", ["decoder", "encoder"])
@pytest.mark.parametrize("inject", ["none", "input", "coordinates"])
@pytest.mark.parametrize("rule", RULES)
def test_each_example_is_looped_as_a_model_that_loops_so_often_for_all(rule, inject, architecture):
    looped = setting(RULES[rule], inject=inject, architecture=architecture)
    model, data = random_model(looped)
    batch = data.writer.write(data.task.train(12, generator("p")))
    loops, found = loops_of(RULES[rule], batch).tolist(), model.predict(batch)
    assert len(set(loops)) > 1 and max(loops) <= RULES[rule].most
    for row, count in enumerate(loops):
        plain = replace(looped, model={"loops_by_length": None, "loops": count}).model
        other = type(model)(plain, len(data.vocab), ()).double().eval()
        other.load_state_dict(model.state_dict())
        size = int((batch.tokens[row] != PAD).sum())
        alone = Batch(batch.tokens[row : row + 1, :size], batch.ids[:, :, :size], batch.loss[row : row + 1, :size])
        assert torch.allclose(other.predict(alone)[0], found[row, : size - 1], atol=1e-9)


@torch.no_grad()
def plain_greedy(model: Transformer, data: ArithmeticData, problems, rule: LoopsByLength) -> list[list[int]]:
    """Each problem alone, without a cache, the text read again for every token, loops from its own lengths."""
    responses = []
    for i in range(len(problems.lengths)):
        batch = data.writer.write(problems.select(torch.tensor([i])))
        first, size = int(response_start(batch)[0]), int(batch.loss.sum())
        text, loops = batch.tokens[:, :first], torch.tensor([times(rule, first, size)])
        for _ in range(size):
            logits = model(text, batch.ids[:, :, : text.shape[1]], loops=loops)
            text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
            if int(text[0, -1]) == END:
                break
        responses.append(text[0, first:].tolist())
    return responses


@pytest.mark.slow
@pytest.mark.parametrize("inject", ["none", "input", "coordinates"])
@pytest.mark.parametrize("rule", RULES)
def test_decoding_with_a_cache_agrees_with_a_plain_loop(rule, inject):
    model, data = random_model(setting(RULES[rule], inject=inject))
    drawn = data.task.train(12, generator("p"))
    expected = [ended(row) for row in plain_greedy(model, data, drawn, RULES[rule])]
    check_decoding(model, data, drawn, expected)


def test_loops_of_each_example_are_set_like_any_field_and_have_gradients():
    """The loss of a mixed batch is the sum of the losses of its examples alone."""
    model, data = random_model(setting())
    module = SequenceModule(data.spec, model)
    whole = data.batch(0)
    module.training_step(whole, 0).backward()
    together = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    for row in range(len(whole.tokens)):
        size = int((whole.tokens[row] != PAD).sum())
        alone = whole._replace(tokens=whole.tokens[row : row + 1, :size], ids=whole.ids[:, :, :size])
        module.training_step(alone._replace(loss=whole.loss[row : row + 1, :size]), 0).backward()
    for name, parameter in model.named_parameters():
        assert torch.allclose(parameter.grad, together[name], atol=1e-9), name
    plain = spec(
        DataSpec(task=Copy(3), format=Linear(), position_ids=lengen.Consecutive()),
        lengen.TrainSpec(steps=1, batch=2, lr=0.1), lengen.TestSpec(lengths=(3,)), encoding="rope",
    )  # fmt: skip
    looped = plain.override('model.loops_by_length={"most": 4}', "model.loops_by_length.more=1")
    assert looped.model.loops_by_length == LoopsByLength(most=4, more=1) and looped.hash() != plain.hash()
    assert list(itertools.chain(looped.to_dict()["model"]["loops_by_length"])) == ["of", "tokens", "more", "most"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (setting(task=Addition(3)), r"model.loops_by_length.of=response: answers of data.task=addition end where"),
        (setting(loops=2), r"model.loops=2: model.loops_by_length already says"),
        (setting(architecture=EncoderDecoder(), inject="none"), r"model.loops_by_length: .*encoder_decoder has two"),
        (replace(setting(), train={"loss": "all"}), r"model.loops_by_length: with train.loss=all"),
        (replace(setting(), train={"compile": True}), r"train.compile=true: with model.loops_by_length"),
        (
            setting(task=lengen.Parity(5)),
            r"model.loops_by_length: every problem of data.task=parity .* 2 times; set model.loops=2",
        ),
        (setting(LoopsByLength(most=1)), r"model.loops_by_length: every problem of data.task=copy .* 1 time; set"),
        (
            setting(task=lengen.Successor(3), format=Linear(width=5)),
            r"model.loops_by_length: every problem of data.task=succ",
        ),
    ],
    ids=["unknown length", "two rules", "beside", "loss", "compiled", "one length", "one loop", "one width"],
)
def test_what_makes_no_sense_is_refused(wrong, said):
    refused(lengen.SettingError, said, validate, wrong)


@pytest.mark.parametrize("right", [
    setting(task=Addition(3), format=PADDED),
    setting(RULES["half of the prompt"], task=Addition(3)),
    setting(task=lengen.Parity(5), format=Linear(scratchpad=True)),
    setting(task=Addition(3), format=PADDED, architecture="encoder"),
], ids=["padded", "by the prompt", "prefix parities", "at once"])  # fmt: skip
def test_what_is_known_before_it_is_written_is_not(right):
    validate(right)
    assert right.override("train.steps=3").model == right.model and not choose(right, "cpu").compiled


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
    model = lengen.build_model(spec, 0).double().eval()
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


@torch.no_grad()
@pytest.mark.parametrize("inject", LOOPED)
def test_a_normalisation_ends_every_loop_as_in_the_authors_decoder(inject):
    layers = [f"transformer_encoder.layers.0.{layer}" for layer in LAYER]
    weights = author_weights(["embedding.weight", *parameters("transformer_encoder.norm", *layers)], shape_of)
    model = model_of(spec_of(lengen.Decoder(), layers=1, loops=3, inject=inject, final_norm="layernorm"), weights)
    fill_block(model.blocks[0], weights, "transformer_encoder.layers.0")
    fill(model.norm, weights, "transformer_encoder.norm")
    logits = model(TOKENS, torch.arange(6)[None, None])
    expected = torch.tensor(LOOPED[inject]).double()
    torch.testing.assert_close(logits[0, 2:, :4], expected, atol=2e-6, rtol=0)


def test_a_query_hands_over_its_last_token_to_the_response():
    """`ArithmeticExampleDataset` of the same code: ``$123+456`` and ``=579$``."""
    from lengen.data.datamodule import ArithmeticData

    for hands_over, expected in ((True, ("$123+456", "=579$")), (False, ("$123+456=", "$579$"))):
        spec = spec_of(EncoderDecoder(encoder_layers=1, hands_over=hands_over))
        data = ArithmeticData(spec, 0)
        batch = data.writer.write(problems(spec.data.task, [["123", "456"]]))
        texts = tuple(data.vocab.decode(tokens[0]) for tokens in (batch.source.tokens, batch.tokens))
        assert texts == expected
        assert batch.loss[0].tolist() == [False, True, True, True, True]
    task = lengen.NextLarger(longest=5)
    for hands_over, expected in ((True, ("$ 5 3 1 ⊥", "3 5 $")), (False, ("$ 5 3 1 ⊥ 3", "$ 5 $"))):
        given = DataSpec(task=task, format=Linear())
        spec = encoder_decoder(given, architecture=EncoderDecoder(hands_over=hands_over), encoding=lengen.Sinusoidal())
        data, asked = TaskData(spec, 0), task.parse(["5", "3", "1", "3"])
        batch = data.writer.write(asked)
        assert tuple(data.vocab.decode(tokens[0]) for tokens in (batch.source.tokens, batch.tokens)) == expected
        assert batch.loss[0].tolist() == [False, True, True]
        model = lengen.build_model(spec, 0).eval()
        assert model.predict(batch).shape[1] == 2
        assert lengen.generate(model, data.writer, asked).shape == (1, 2), "and it is written token by token"
    hinted = Layout(2, hinted=True)
    hinted.number("operands", 0, [0], lambda place: (place, 0))
    hinted.symbols, hinted.digits, hinted.coordinates, hinted.hints = (
        found[:1] for found in (hinted.symbols, hinted.digits, hinted.coordinates, hinted.hints)
    )  # a query whose last token is a mark
    hinted.respond()
    hinted.symbol("$")
    query, written = hinted.split(handed_over=True)
    assert (query.hints, written.hints) == ([], [1, 0])

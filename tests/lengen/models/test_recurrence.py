"""Loops, shared blocks and injection: the blocks applied by hand, caches against full passes, sizes by closed form."""

import math

import pytest
import torch
from torch import Tensor

from lengen import Abacus, ArithmeticData, SettingError, Spec, build_model
from lengen.data.batch import Batch
from lengen.formats.base import PAD
from lengen.models import Record
from lengen.models.attention import causal_mask
from lengen.models.blocks import Context
from lengen.settings.spec import replace
from lengen.training.module import response_loss
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import encoder_decoder, random_model
from tests.fixtures.settings import two_operands

WIDTH = 16
ABACUS = {"position_ids": Abacus(30), "reverse_response": True}
RECURRENT = {
    "loops": {"loops": 3},
    "loops, injected": {"loops": 3, "inject": "input"},
    "shared": {"layers": 3, "shared": True},
    "shared, injected": {"layers": 3, "shared": True, "inject": "input"},
    "shared loops": {"layers": 2, "shared": True, "loops": 2, "inject": "input"},
    "coordinates": {"layers": 3, "shared": True, "inject": "coordinates"},
    "coordinates in loops": {"layers": 2, "loops": 2, "inject": "coordinates"},
}


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


# ------------------------------------------------------------------ caches


@pytest.mark.parametrize(
    ("ids", "architecture"),
    [("sinusoidal", "decoder"), ("learned", "decoder"), ("fire", "decoder"), ("sinusoidal", "encoder_decoder")],
)
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


@pytest.mark.parametrize("architecture", ["decoder", "encoder_decoder"])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_models_write_what_reading_the_whole_text_again_gives(name, architecture):
    model, data = random_model(sized(name, architecture), 2)
    check_decoding(model, data, data.test(2, 2, 5))


# ------------------------------------------------------------------ weights


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
            SettingError, match=f"model.inject={inject}: it is added at recurrent steps, of which there are none"
        ):
            random_model(replace(plain, model=replace(plain.model, inject=inject)))


def count(sized: Spec) -> int:
    return sum(parameter.numel() for parameter in build_model(sized, 0).parameters())


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

"""Attention, and heads that see only the last keys."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import (
    Consecutive,
    Cyclic,
    Decoder,
    EncoderDecoder,
    Given,
    HardALiBi,
    Learned,
    NoEncoding,
    NoPositionIds,
    Rotary,
    SettingError,
    Tempered,
    Window,
)
from lengen.callbacks.attention_maps import AttentionMaps, example_maps, keys_holding, measure_attention
from lengen.callbacks.monitoring import silent
from lengen.data.datamodule import ArithmeticData
from lengen.digits import generator
from lengen.models.attention import ALL, attend, attention_weights, causal_mask, last_keys
from lengen.settings.spec import Spec, validate
from lengen.settings.windows import window_self
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import random_model
from tests.fixtures.settings import ENCODINGS, data_spec, decoder, sequences, sized, spec


def tensors(seed=0, queries=6, keys=6):
    torch.manual_seed(seed)
    return torch.randn(2, 3, queries, 4), torch.randn(2, 3, keys, 4), torch.randn(2, 3, keys, 5)


@given(st.integers(0, 999), st.booleans(), st.sampled_from([1.0, 0.5]))
def test_weights_are_causal_rows_of_one_and_what_attend_uses(seed, biased, scale):
    query, key, value = tensors(seed)
    bias = torch.randn(2, 3, 6, 6) if biased else None
    weights = attention_weights(query, key, scale, bias, causal_mask(6))
    assert weights.sum(dim=-1).flatten().tolist() == pytest.approx([1.0] * 36, abs=1e-5)
    assert not weights.triu(1).any()
    assert torch.allclose(weights @ value, attend(query, key, value, scale, bias), atol=1e-5)


def test_weights_follow_the_formula():
    query, key, _ = tensors()
    found = attention_weights(query, key, 0.5, None, causal_mask(6))
    for t in range(6):
        scores = np.array([float(query[0, 0, t] @ key[0, 0, s]) * 0.5 for s in range(t + 1)])
        expected = np.exp(scores) / np.exp(scores).sum()
        assert found[0, 0, t, : t + 1].tolist() == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize("biased", [False, True])
def test_a_mask_of_ones_own_opens_those_keys_alone(biased):
    """What decoding with a cache asks for: fewer queries than keys, every example with its own length."""
    query, key, value = tensors(queries=1)
    mask = torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]], dtype=torch.bool)[:, None, None]
    bias = torch.randn(2, 3, 1, 6) if biased else None
    weights = attention_weights(query, key, 1.0, bias, mask)
    assert torch.allclose(weights @ value, attend(query, key, value, 1.0, bias, mask), atol=1e-5)
    assert not weights[0, :, :, 3:].any() and not weights[1, :, :, 5:].any()


def test_scores_are_summed_in_single_precision_at_least():
    query, key, _ = (x.to(torch.bfloat16) for x in tensors())
    assert attention_weights(query, key, 1.0, None, causal_mask(6)).dtype == torch.float32


@given(st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any), min_size=1, max_size=5))
def test_keys_holding_agrees_with_a_loop(rows):
    # A share that hits the mass exactly is decided by rounding; 0.9 + 1e-4 is never hit by these small fractions.
    mass = 0.9 + 1e-4
    weights = np.array([[x / sum(row) for x in row] for row in rows])
    expected = []
    for row in weights:
        held, count = 0.0, 0
        for share in sorted(row, reverse=True):
            if held >= mass:
                break
            held, count = held + share, count + 1
        expected.append(count)
    assert keys_holding(torch.tensor(weights), mass).tolist() == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_models_weights_are_causal_rows_of_one(encoding):
    sized = spec(data_spec("addition", position_ids=ENCODINGS[encoding]), encoding=encoding)
    data, model = ArithmeticData(sized, 0), decoder(sized)
    batch = data.writer.write(data.test(2, 2, 3))
    size = batch.tokens.shape[1] - 1
    for layer in (layers["self"] for layers in model.attention(batch)):
        assert layer.shape == (3, 2, size, size)
        assert torch.allclose(layer.sum(dim=-1), torch.ones(()).to(layer.dtype), atol=1e-5)
        assert not layer.triu(1).any()


@pytest.mark.parametrize("ids", ["coupled", "none"])
def test_measured_attention_is_a_mean_over_examples_and_a_sum_over_steps(ids):
    sized = spec(data_spec("addition", position_ids=ids), encoding="learned" if ids == "coupled" else "none")
    data, model = ArithmeticData(sized, 0), decoder(sized)
    batch = data.writer.write(data.test(2, 3, 120))  # more than is measured at once
    mean, keys, steps = measure_attention(model, batch)
    layers = torch.stack([layer["self"] for layer in model.attention(batch)]).detach()
    assert torch.allclose(mean, layers.mean(dim=1), atol=1e-5)
    start = data.vocab.decode(batch.tokens[0]).index("=")
    response = layers[:, :, :, start:]  # the step at "=" predicts the first response token; "$" is never a query
    assert steps == 120 * response.shape[3] == int(batch.loss.sum())
    assert torch.allclose(keys.double(), keys_holding(response).double().sum(dim=(1, 3)))
    first, second = example_maps(model, batch, data.vocab.decode, 2)
    assert "".join((*first.tokens, "$")) == "".join(data.vocab.decode([token]) for token in batch.tokens[0])
    for number, found in enumerate((first, second)):
        assert found.weights.dtype == np.uint8
        assert torch.allclose(torch.from_numpy(found.weights) / 255, layers[:, number], atol=0.5 / 255 + 1e-6)


@pytest.mark.parametrize("scratchpad", [False, True])
def test_where_responses_differ_in_length_steps_are_their_own_and_the_mean_is_of_those_like_the_first(scratchpad):
    written = data_spec("addition", position_ids="none", pad=False, scratchpad=scratchpad)
    sized = spec(written, encoding="none")
    data, model = ArithmeticData(sized, 0), decoder(sized)
    batch = data.writer.write(data.test(2, 2, 60))
    sizes = batch.loss.sum(dim=1)
    assert len(set(sizes.tolist())) > 1
    mean, keys, steps = measure_attention(model, batch)
    layers = torch.stack([layer["self"] for layer in model.attention(batch)]).detach()
    assert steps == int(sizes.sum())
    expected = torch.zeros(keys.shape, dtype=torch.long)
    for row in range(60):
        places = (batch.loss[row].nonzero()[:, 0] - 1).tolist()
        expected += keys_holding(layers[:, row][:, :, places]).sum(dim=2)
    assert keys.tolist() == expected.tolist() and not keys.is_floating_point(), "in single precision they end at 2**24"
    alike = sizes == sizes[0]
    assert torch.allclose(mean, layers[:, alike].mean(dim=1), atol=1e-5)
    measured = AttentionMaps([(2, 2)], 60)
    measured.measure(model, data.data, silent)
    assert measured.map.n == int(alike.sum()) and {row.steps for row in measured.key_counts} == {steps}


BIASES = {
    "hard alibi": (HardALiBi((1, 2)), NoEncoding(), NoPositionIds()),
    "window": (Window(2), Rotary(), Consecutive()),
    "window + cyclic": (Window(3), Learned(), Cyclic(4)),
}


def setting(name: str, heads: int = 4) -> Spec:
    bias, encoding, ids = BIASES[name]
    data = sequences("sorting", position_ids=ids)
    return sized(data, architecture=Decoder(bias), encoding=encoding, heads=heads, scale_attention=True)


def literal(size: int, seen: list[int | None]) -> list[list[list[int]]]:
    """Which keys every query of every head sees, said key by key."""
    return [
        [[int(key <= query and (n is None or query - key < n)) for key in range(size)] for query in range(size)]
        for n in seen
    ]


@given(st.lists(st.one_of(st.none(), st.integers(1, 9)), min_size=1, max_size=4), st.integers(1, 12))
def test_keys_are_those_of_a_literal_loop(seen, size):
    numbers = torch.tensor([ALL if n is None else n for n in seen])
    found = last_keys(torch.arange(size)[None], size, numbers)
    assert found[0].int().tolist() == literal(size, seen)
    assert found.diagonal(dim1=2, dim2=3).all(), "a token sees itself"
    one_by_one = [last_keys(torch.tensor([[place]]), size, numbers)[0, :, 0] for place in range(size)]
    assert torch.equal(torch.stack(one_by_one, dim=1), found[0]), "also token by token, with a cache"
    window = last_keys(torch.arange(size)[None], size, torch.tensor([*Window(2).last_keys(3)]))[0]
    assert (window.numpy() == window_self(size, 2)).all(), "that of the paper"


@torch.no_grad()
@pytest.mark.parametrize("name", BIASES)
def test_attention_is_the_softmax_over_the_keys_that_are_left(name):
    model, data = random_model(setting(name))
    batch = data.writer.write(data.task.train(3, generator("p")))
    size = batch.tokens.shape[1] - 1
    visible = literal(size, list(model.spec.attention_bias.last_keys(4)))
    assert any(0 in row[: t + 1] for head in visible for t, row in enumerate(head)), "something is closed"
    layers = zip(model.attention(batch), model.attention(batch, softmax=False), strict=True)
    for weights, scores in ((one["self"].double(), two["self"].double()) for one, two in layers):
        for b in range(len(weights)):
            for h, t in ((h, t) for h in range(4) for t in range(size)):
                left = [math.exp(float(scores[b, h, t, key])) * open for key, open in enumerate(visible[h][t])]
                assert weights[b, h, t].tolist() == pytest.approx([one / sum(left) for one in left], abs=1e-5)


@pytest.mark.parametrize("name", BIASES)
def test_decoding_agrees_with_a_plain_loop(name):
    model, data = random_model(setting(name))
    drawn = data.task.train(10, generator("p"))
    check_decoding(model, data, drawn)


@torch.no_grad()
def test_what_is_far_away_does_not_matter_to_a_window():
    """Two layers that see a token and two before it: after five tokens the first is forgotten."""
    model, data = random_model(setting("window"))
    batch = data.writer.write(data.task.train(4, generator("p")))
    ids = batch.ids[:, :, : batch.tokens.shape[1]]
    other = batch.tokens.clone()
    other[:, 0] = other[:, 1]
    reach = 2 * model.spec.layers
    one, two = model(batch.tokens, ids), model(other, ids)
    assert torch.equal(one[:, reach + 1 :], two[:, reach + 1 :])
    assert not torch.equal(one[:, : reach + 1], two[:, : reach + 1])


@pytest.mark.parametrize(
    ("architecture", "model", "said"),
    [
        (Decoder(Given()), {}, r"attention_bias=given: a calibrated bias .*=decoder has one sequence"),
        (Decoder(Window(1, 2)), {}, r"attention_bias.stride=2: .*set it to 1"),
        (Decoder(HardALiBi((1, 2))), {}, r"attention_bias.keys=\[1, 2\]: expected numbers for 1 to 1 of"),
        (Decoder(HardALiBi(())), {}, r"attention_bias.keys=\[\]: expected numbers"),
        (Decoder(HardALiBi((1,))), {"encoding": "rope"}, r"attention_bias=hard_alibi: .*model.encoding=rope"),
        (EncoderDecoder(attention_bias=HardALiBi((1,))), {}, r"attention_bias=hard_alibi: .* is encoder_decoder"),
        (Decoder(Window(1)), {"tempered": Tempered()}, r"model.tempered: .*attention_bias=window lets heads see few"),
    ],
    ids=["given", "stride", "all heads", "no heads", "rope", "beside an encoder", "tempered"],
)
def test_what_makes_no_sense_is_refused(architecture, model, said):
    with pytest.raises(SettingError, match=said):
        validate(sized(architecture=architecture, **model))

"""Heads that see only the last keys: a literal loop, the same softmax over cut rows, decoding, and what is refused."""

import math

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
from lengen.digits.randomness import generator
from lengen.models.last_keys import ALL, last_keys
from lengen.settings.spec import Spec, validate
from lengen.settings.windows import window_self
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import random_model
from tests.fixtures.settings import sequences, sized

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

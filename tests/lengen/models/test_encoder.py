"""The encoder-only model: against torch.nn, blind to the response; and layers that are one block."""

import pytest
import torch
from torch import nn

from lengen import ArithmeticData, SettingError, build_model
from lengen.formats.vocab import PAD
from lengen.models import Decoder, Encoder
from lengen.settings.spec import validate as check_setting
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import data_for, encoder_decoder, random_model
from tests.fixtures.settings import ENCODINGS, data_spec, decoder, problems, spec, two_operands
from tests.lengen.models.test_encoder_decoder import SIZE, copied
from tests.lengen.test_decoding import check

ENCODER = {"architecture": "encoder"}


@torch.no_grad()
@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("shared", [False, True])
def test_it_is_torch_nn_on_blanks(place, shared):
    """A problem alone and beside longer ones: padding is no key, blanks are."""
    sized = encoder_decoder(
        data_spec("addition", position_ids="consecutive"),
        encoding="sinusoidal",
        norm_place=place,
        shared=shared,
        layers=3,
        **ENCODER,
    )
    model, data = random_model(sized)
    batch = data.writer.write(problems(sized.data.task, [["57", "48"], ["5", "1"]]))
    assert (batch.tokens == PAD).any()
    blanks = torch.where(batch.loss, PAD, batch.tokens)
    x = model.embedding(blanks) * 4 + model.encoding.embed(batch.ids)
    for block in model.stack():
        layer = copied(block, nn.TransformerEncoderLayer(**SIZE, norm_first=place == "pre"), place == "post")
        x = layer(x, src_key_padding_mask=batch.tokens == PAD)
    expected = model.head(model.norm(x))
    for i, size in enumerate((batch.tokens != PAD).sum(dim=1).tolist()):
        found = model(batch.tokens, batch.ids, batch.loss)[i, :size]
        assert torch.allclose(found, expected[i, :size], atol=1e-5)
        alone = model(batch.tokens[i : i + 1, :size], batch.ids[:, :, :size], batch.loss[i : i + 1, :size])
        assert torch.allclose(alone[0], found, atol=1e-5)
    assert torch.equal(model.predict(batch), model(batch.tokens, batch.ids, batch.loss)[:, 1:])


@torch.no_grad()
@pytest.mark.parametrize("encoding", ["none", "learned", "sinusoidal", "rope", "alibi", "rpe"])
def test_the_response_is_not_seen(encoding):
    model, data = random_model(encoder_decoder(data_for(encoding), encoding=encoding, **ENCODER))
    batch = data.writer.write(data.test(2, 2, 6))
    expected = model.predict(batch)
    for other in (PAD, 5):
        changed = batch._replace(tokens=batch.tokens.masked_fill(batch.loss, other))
        assert torch.equal(model.predict(changed), expected)
        for own, theirs in zip(model.attention(batch), model.attention(changed), strict=True):
            assert torch.equal(own["self"], theirs["self"])
    query = batch._replace(tokens=batch.tokens.clone())
    query.tokens[:, 3] = (query.tokens[:, 3] - 1) % 10 + 2
    assert not torch.isclose(model.predict(query), expected).all(), "the query is"


@torch.no_grad()
def test_attention_is_of_the_token_that_is_filled_in_and_goes_both_ways():
    model, data = random_model(encoder_decoder(data_for("alibi"), encoding="alibi", shared=True, **ENCODER))
    batch = data.writer.write(data.test(2, 2, 6))
    size = batch.tokens.shape[1]
    layers, scores = model.attention(batch), model.attention(batch, softmax=False)
    assert len(layers) == 2 and not torch.equal(layers[0]["self"], layers[1]["self"])
    for weights, before in zip(layers, scores, strict=True):
        assert set(weights) == {"self"} and weights["self"].shape == (6, 2, size, size)
        assert torch.allclose(weights["self"], before["self"].softmax(dim=-1), atol=1e-6)
        assert bool((weights["self"] > 0).all())


@pytest.mark.parametrize("kind", [Encoder, Decoder])
def test_shared_layers_are_one_block_applied_again(kind):
    options = {"layers": 3, "architecture": kind.__name__.lower(), "encoding": "sinusoidal"}
    one, three = (
        build_model(encoder_decoder(data_for("sinusoidal"), shared=shared, **options), 0) for shared in (True, False)
    )
    assert isinstance(one, kind)

    def count(module):
        return sum(parameter.numel() for parameter in module.parameters())

    assert len(one.blocks) == 1 and count(three) == count(one) + 2 * count(one.blocks[0])
    for block in three.blocks:
        block.load_state_dict(one.blocks[0].state_dict())
    others = {name: value for name, value in one.state_dict().items() if not name.startswith("blocks")}
    three.load_state_dict(others, strict=False)
    batch = ArithmeticData(encoder_decoder(data_for("sinusoidal"), **options), 0).validation()
    assert torch.equal(one.predict(batch), three.predict(batch))
    one.predict(batch).square().sum().backward()
    three.predict(batch).square().sum().backward()
    for name, parameter in one.blocks[0].named_parameters():
        summed = sum(dict(block.named_parameters())[name].grad for block in three.blocks)
        assert torch.allclose(parameter.grad, summed, rtol=1e-3, atol=1e-3 * float(summed.abs().max()))


@pytest.mark.parametrize("encoding", ["none", "learned", "rope", "alibi", "rpe", "fire"])
def test_a_cache_holds_every_application_of_a_shared_block(encoding):
    sized = spec(data_spec("addition", 2, 3, room=9, position_ids=ENCODINGS[encoding]), encoding=encoding, shared=True)
    data = ArithmeticData(sized, 0)
    model = decoder(sized)
    assert len(model.cache(data.validation(), 30).layers) == 2
    check(model, data, data.task.train(5, torch.Generator().manual_seed(1)))


def test_a_decoder_reads_numbers_of_one_width():
    """Without an encoder query and response stand in one text; a free run is plain greedy decoding there too."""
    model, data = random_model(encoder_decoder(data_for("rope"), encoding="rope", architecture="decoder"))
    check_decoding(model, data, data.task.train(5, torch.Generator().manual_seed(1)))


def test_answers_whose_length_the_blanks_would_tell_are_refused():
    """Sums without leading zeros have a blank more where a carry makes them longer."""
    for padded in (True, False):
        setting = encoder_decoder(two_operands(1, 2, pad=padded), encoding="sinusoidal", **ENCODER)
        if padded:
            check_setting(setting)
            continue
        with pytest.raises(SettingError, match=r"model\.architecture=encoder: the blanks that it fills") as caught:
            check_setting(setting)
        assert "\n" not in str(caught.value)
    check_setting(encoder_decoder(two_operands(1, 2), encoding="sinusoidal"))

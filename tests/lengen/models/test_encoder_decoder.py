"""Encoders, alone and beside a decoder."""

import pytest
import torch
from torch import nn

from lengen import ArithmeticData, Given, SettingError, TestSpec, Window, build_model
from lengen.data.batch_and_random_spaces import Batch, Source
from lengen.formats.base import PAD
from lengen.models import Decoder, Encoder
from lengen.settings.spec import validate as check_setting
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import MODEL, data_for, encoder_decoder, random_model
from tests.fixtures.refusals import refused
from tests.fixtures.settings import ENCODINGS, data_spec, decoder, fixed_data, problems, spec, two_operands
from tests.lengen.test_decoding import check

SIZE = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "dropout": 0.0, "layer_norm_eps": 1e-5, "batch_first": True}
"""`tests.fixtures.settings.MODEL` in torch.nn's words."""
BIASES = [{}, {"attention_bias": Window(1)}, {"attention_bias": Given()}, {"attention_bias": Given(), "causal": False}]
ENCODER = {"architecture": "encoder"}


def copy_attention(ours, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.data = torch.cat([part.weight.data for part in parts])
    theirs.in_proj_bias.data = torch.cat([part.bias.data for part in parts])
    theirs.out_proj.load_state_dict(ours.out.state_dict())


def copied(block, layer, post: bool):
    """The weights of one of our blocks in one of torch.nn's layers."""
    layer = layer.double().eval()
    copy_attention(block.attention, layer.self_attn)
    if block.cross is not None:
        copy_attention(block.cross, layer.multihead_attn)
    layer.linear1.load_state_dict(block.feed_forward.enter.state_dict())
    layer.linear2.load_state_dict(block.feed_forward.leave.state_dict())
    for number, norm in enumerate(block.after if post else block.before, start=1):
        getattr(layer, f"norm{number}").load_state_dict(norm.state_dict())
    return layer


def in_torch(model, batch) -> tuple[torch.Tensor, list[dict[str, torch.Tensor]]]:
    """Logits and attention weights from torch.nn.TransformerEncoderLayer and TransformerDecoderLayer."""
    post = model.spec.norm_place == "post"
    padding = batch.source.tokens == PAD

    def embedded(tokens, ids):
        return model.embedding(tokens) * 4 + model.encoding.embed(ids)

    memory = embedded(batch.source.tokens, batch.source.ids)
    for block in model.encoder:
        memory = copied(block, nn.TransformerEncoderLayer(**SIZE, norm_first=not post), post)(
            memory, src_key_padding_mask=padding
        )
    x = embedded(batch.tokens[:, :-1], batch.ids[:, :, :-1])
    causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    found = []
    for block in model.stack():
        layer = copied(block, nn.TransformerDecoderLayer(**SIZE, norm_first=not post), post)
        looks = {"need_weights": True, "average_attn_weights": False}
        read = x if post else layer.norm1(x)
        mixed, own = layer.self_attn(read, read, read, attn_mask=causal, **looks)
        attended = layer.norm1(x + mixed) if post else x + mixed
        read = attended if post else layer.norm2(attended)
        _, cross = layer.multihead_attn(read, memory, memory, key_padding_mask=padding, **looks)
        found.append({"self": own, "cross": cross})
        x = layer(x, memory, tgt_mask=causal, memory_key_padding_mask=padding)
    return model.head(model.norm(x)), found


@torch.no_grad()
@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("encoder_layers", [0, 1, 2])
def test_it_is_torch_nn_with_the_same_weights(place, encoder_layers):
    sized = encoder_decoder(
        data_spec("addition", scratchpad=False, position_ids="consecutive"), encoding="sinusoidal", norm_place=place,
        encoder_layers=encoder_layers,
    )  # fmt: skip
    model, data = random_model(sized)
    batch = data.writer.write(problems(sized.data.task, [["57", "48"], ["5", "1"], ["999", "999", "999"]]))
    assert (batch.source.tokens == PAD).any() and (batch.tokens == PAD).any(), "padding on both sides"
    logits, weights = in_torch(model, batch)
    assert torch.allclose(model.predict(batch), logits, atol=1e-5)
    ours = model.attention(batch)
    assert len(ours) == sized.model.layers
    for own, theirs in zip(ours, weights, strict=True):
        for name in ("self", "cross"):
            assert torch.allclose(own[name].double(), theirs[name], atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("encoding", ["sinusoidal", "alibi", "rpe"])
@pytest.mark.parametrize("options", BIASES, ids=lambda options: "-".join(map(str, options.values())) or "none")
def test_attention_is_the_softmax_of_its_scores(options, encoding):
    """Of every layer, rows of one over the open keys and exactly 0 elsewhere; a row closed entirely reads nothing."""
    model, data = random_model(encoder_decoder(data_for(encoding), encoding=encoding, **options))
    batch = data.writer.write(data.test(2, 2, 6))
    size, columns = batch.tokens.shape[1] - 1, batch.source.tokens.shape[1]
    causal = torch.ones(size, size, dtype=torch.bool).tril()
    layers = model.attention(batch)
    assert len(layers) == 2
    for weights, scores in zip(layers, model.attention(batch, softmax=False), strict=True):
        assert weights["self"].shape == (6, 2, size, size) and weights["cross"].shape == (6, 2, size, columns)
        for name in ("self", "cross"):
            open_ = torch.ones_like(weights[name], dtype=torch.bool)
            if name == "self" and model.spec.causal:
                open_ &= causal
            closed_row = torch.zeros_like(open_[..., :1])
            if model.attention_bias is not None:
                held = {"self": model.attention_bias.own, "cross": model.attention_bias.cross}[name] > -torch.inf
                closed_row = ~(open_ & held).any(dim=-1, keepdim=True)
                open_ &= held | closed_row
            expected = scores[name].masked_fill(~open_, -torch.inf).softmax(dim=-1).masked_fill(closed_row, 0)
            assert torch.allclose(weights[name], expected, atol=1e-6)
            assert not weights[name][~open_ | closed_row].any()
            ones = (~closed_row[..., 0]).to(weights[name].dtype)
            assert torch.allclose(weights[name].sum(dim=-1), ones, atol=1e-6)
            assert closed_row.any() == isinstance(model.spec.attention_bias, Given)


@torch.no_grad()
@pytest.mark.parametrize("name", ["none", "sinusoidal", "rope", "alibi", "rpe", "learned"])
def test_padding_of_the_source_changes_nothing(name):
    """What stands there does not matter: every problem is answered in a batch as it is alone."""
    ids = {"none": "none", "learned": "coupled"}.get(name, "consecutive")
    data = data_spec("addition", position_ids=ids, room=12, reverse_query=True)
    longest = TestSpec(lengths=(3,), counts=(3,))
    model, data = random_model(encoder_decoder(data, test=longest, encoding=name, encoder_layers=1))
    rows = [["57", "48"], ["5", "1"], ["9", "99", "8"]]
    batch = data.writer.write(problems(data.task, rows))
    together = model.predict(batch)
    for i, row in enumerate(rows):
        alone = data.writer.write(problems(data.task, [row]))
        own = model.predict(alone)
        assert torch.allclose(together[i, : own.shape[1]], own[0], atol=1e-5)
    more = torch.nn.functional.pad(batch.source.tokens, (0, 3))
    last = batch.source.ids[:, :, -1:].expand(-1, -1, 3)
    longer = Batch(batch.tokens, batch.ids, batch.loss, Source(more, torch.cat([batch.source.ids, last], dim=2)))
    assert torch.allclose(model.predict(longer), together, atol=1e-5)


def test_biases_start_at_zero_and_given_ones_are_stored_with_the_weights():
    sized = encoder_decoder(
        fixed_data("successor"), encoding="sinusoidal", encoder_layers=1, width=64, head_dim=32, ff_width=96
    )
    model = build_model(sized, 0)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            limit = (6 / sum(parameter.shape)) ** 0.5
            assert parameter.abs().max() <= limit and parameter.abs().max() > 0.9 * limit, name
        elif name.endswith("bias"):
            assert not parameter.any(), name
    model, _ = random_model(encoder_decoder(data_for("none"), attention_bias=Given()))
    assert {"bias.own", "bias.cross"} <= set(model.state_dict())
    assert not any(name.startswith("bias.") for name, _ in model.named_parameters())
    other = build_model(encoder_decoder(data_for("none"), attention_bias=Given()), 1).double()
    other.load_state_dict(model.state_dict())
    read, held = other.attention_bias, model.attention_bias
    assert torch.equal(read.own, held.own) and torch.equal(read.cross, held.cross)


def test_batches_without_a_source_and_answers_that_blanks_would_tell_are_refused():
    model, data = random_model(encoder_decoder(data_for("none")))
    batch = data.validation()._replace(source=None)
    for use in (model.predict, model.attention, lambda b: model.cache(b, 9)):
        refused(ValueError, "needs batches with a source: write them with a Writer that splits", use, batch)
    assert MODEL["architecture"] == data.spec.model.architecture
    for padded in (True, False):
        setting = encoder_decoder(two_operands(1, 2, pad=padded), encoding="sinusoidal", **ENCODER)
        if padded:
            check_setting(setting)
            continue
        refused(SettingError, r"model\.architecture=encoder: the blanks that it fills", check_setting, setting)
    check_setting(encoder_decoder(two_operands(1, 2), encoding="sinusoidal"))


@torch.no_grad()
@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("shared", [False, True])
def test_it_is_torch_nn_on_blanks(place, shared):
    """A problem alone and beside longer ones: padding is no key, blanks are."""
    sized = encoder_decoder(
        data_spec("addition", position_ids="consecutive"), encoding="sinusoidal", norm_place=place, shared=shared,
        layers=3, **ENCODER,
    )  # fmt: skip
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


@pytest.mark.slow
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

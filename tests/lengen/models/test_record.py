"""What a pass records is what it computed with, in every architecture, and recording it changes nothing."""

import pytest
import torch

from lengen import Given, Tempered, Window
from lengen.data.batch import Batch
from lengen.models import Decoder, Record, Transformer
from lengen.models.blocks import Attention, Block
from tests.fixtures.models import data_for, encoder_decoder, random_model
from tests.fixtures.settings import data_spec

ALL = ("queries", "scores", "attention", "residuals")
SETTINGS = {
    "decoder": {"architecture": "decoder"},
    "decoder, in loops": {"architecture": "decoder", "loops": 2, "inject": "input", "norm_place": "pre_post"},
    "decoder, tempered": {"architecture": "decoder", "tempered": Tempered(start=0.7)},
    "decoder, relative keys": {"architecture": "decoder", "encoding": "rpe"},
    "encoder": {"architecture": "encoder", "encoding": "alibi"},
    "encoder, shared": {"architecture": "encoder", "encoding": "rpe", "shared": True},
    "encoder-decoder": {"encoding": "rope", "encoder_layers": 1},
    "encoder-decoder, shared": {"encoding": "rpe", "encoder_layers": 2, "shared": True, "norm_place": "sandwich"},
    "encoder-decoder, biased": {"attention_bias": Given(), "causal": False},
    "encoder-decoder, windowed": {"attention_bias": Window(1), "encoding": "alibi"},
}


def of(name: str) -> tuple[Transformer, Batch]:
    options = SETTINGS[name]
    encoding = options.get("encoding", "none")
    one_sequence = {"position_ids": "consecutive" if encoding != "none" else "none", "scratchpad": False}
    data = data_spec("addition", **one_sequence) if options.get("architecture") == "decoder" else data_for(encoding)
    model, drawn = random_model(encoder_decoder(data, **options))
    return model, drawn.writer.write(drawn.test(2, 2, 5))


def calls(model: Transformer, kind: type, batch: Batch, record: Record | None = None) -> list[tuple]:
    """Every call of a kind of module while the model predicts, in order: module, arguments, result."""
    found: list[tuple] = []

    def note(module, arguments, named, result):
        found.append((module, arguments, named, result))

    hooks = [part.register_forward_hook(note, with_kwargs=True) for part in model.modules() if isinstance(part, kind)]
    try:
        model.predict(batch, record)
    finally:
        for hook in hooks:
            hook.remove()
    return found


@torch.no_grad()
@pytest.mark.parametrize("name", SETTINGS)
def test_recorded_weights_times_values_are_what_attention_gives(name):
    model, batch = of(name)
    record = Record("attention")
    used = calls(model, Attention, batch, record)
    blocks = [*(record.encoder.attention if record.encoder else ()), *record.attention]
    weights = [block[part] for block in blocks for part in ("self", "cross") if part in block]
    assert len(weights) == len(used) > 0 and len(record.attention) == len(model.stack())
    for recorded, (attention, (x, context, *_), named, result) in zip(weights, used, strict=True):
        memory = named.get("memory") or attention.memory(x, context.encoding, context.query_ids)
        read = recorded.double() @ memory.values
        torch.testing.assert_close(result, attention.out(read.transpose(1, 2).flatten(-2)), atol=1e-5, rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("name", SETTINGS)
def test_recorded_residuals_are_what_the_blocks_hand_on(name):
    model, batch = of(name)
    record = Record("residuals")
    used = calls(model, Block, batch, record)
    streams = [*(record.encoder.residuals if record.encoder else ()), *record.residuals]
    assert len(streams) == len(used)
    for recorded, (block, _, _, result) in zip(streams, used, strict=True):
        assert torch.equal(recorded.fed, result)
        fed = block.feed_forward(block.before[-1](recorded.attended))
        assert torch.equal(block._join(recorded.attended, fed, block.after[-1]), result)
    logits = model._logits(record.residuals[-1].fed)
    assert torch.equal(
        logits[:, 1:] if SETTINGS[name].get("architecture") == "encoder" else logits, predicted(of(name))
    )


def predicted(made: tuple[Transformer, Batch], record: Record | None = None) -> torch.Tensor:
    model, batch = made
    return model.predict(batch, record)


@torch.no_grad()
@pytest.mark.parametrize("name", SETTINGS)
def test_recording_changes_no_logits(name):
    expected = predicted(of(name))
    for asked in (*((kind,) for kind in ALL), ALL):
        assert torch.equal(predicted(of(name), Record(*asked)), expected), asked


@torch.no_grad()
def test_scores_are_of_the_recorded_queries_and_only_what_was_asked_for_is_kept():
    model, batch = of("decoder, tempered")
    record = Record("queries", "scores")
    used = calls(model, Attention, batch, record)
    assert record.attention == record.residuals == [] and record.encoder is None
    for queries, scores, (attention, (x, context, *_), _, _) in zip(record.queries, record.scores, used, strict=True):
        keys = attention.memory(x, context.encoding, context.query_ids).keys
        products = (queries["self"] @ keys.mT).float() * attention.scale
        torch.testing.assert_close(scores["self"], products, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_compiled_model_is_recorded_and_evaluated_without_its_compiled_pass():
    model, batch = of("decoder")
    expected, passes = model.attention(batch), []

    def backend(graph, inputs):
        passes.append(graph)
        return graph.forward

    logits = model.predict(batch)
    model.compile(backend=backend)
    torch.testing.assert_close(model.predict(batch), logits, rtol=0, atol=0)
    assert not passes
    # compiled, attention adds in another order: seven float32 steps
    torch.testing.assert_close(model.train().predict(batch), logits, rtol=1e-5, atol=1e-6)
    compiled = len(passes)
    for layer, same in zip(model.attention(batch), expected, strict=True):
        assert torch.equal(layer["self"], same["self"])
    assert compiled > 0 and len(passes) == compiled


def test_an_unknown_record_is_refused():
    with pytest.raises(ValueError, match=r"a record of 'weights' cannot be kept: ask for some of queries, scores"):
        Record("weights")


def test_an_interface_is_no_model_and_an_encoder_has_no_cache():
    with pytest.raises(TypeError, match="abstract"):
        Transformer(encoder_decoder(data_for("none")).model, 5, ())
    model, batch = of("encoder")
    for asked in (lambda: model.cache(batch, 4), lambda: model.extend(None, batch.tokens, batch.ids, batch.tokens)):
        with pytest.raises(TypeError, match="an encoder fills all places of a response at once and has no cache"):
            asked()
    assert isinstance(of("decoder")[0], Decoder)

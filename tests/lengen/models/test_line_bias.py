"""Lines of a decoder: against a literal loop, calibrated from planted attention, any length, decoding, refusals."""

import math

import pytest
import torch

import lengen
from lengen import AttentionBias, Consecutive, Decoder, Given, Learned, Lines, LineWindow, SettingError, Spec, Tempered
from lengen.data.batch import Batch
from lengen.digits import generator
from lengen.models import Decoder as DecoderModel
from lengen.models import Record, Transformer
from lengen.models.bias import LineBias, calibrate_bias, windowed, windows
from lengen.models.blocks import Attention, Block
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import data_for, encoder_decoder, random_model
from tests.fixtures.refusals import refused
from tests.fixtures.settings import data_spec, sequences, sized

CLOSED = -math.inf
LINES = Lines(rows=4, columns=6, slopes=(1, 0, -1))
WINDOWS = {
    "a copy": (1, ((1, 1),)), "from the units": (1, ((-1, 1),)), "two operands": (1, ((-1, 1), (-1, 4))),
    "wide, and one digit": (2, ((0, 1), (-1, 3))), "in pairs": (1, ((-2, 1), (-2, 2))),
    "nothing beside": (0, ((1, 0), (-1, 2))),
}  # fmt: skip
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
    "encoder-decoder, windowed": {"attention_bias": lengen.Window(1), "encoding": "alibi"},
}


def setting(lines: AttentionBias = LINES, **options: object) -> Spec:
    data = sequences("sorting", position_ids=Consecutive(40))
    return sized(data, architecture=Decoder(lines), encoding=Learned(), heads=3, scale_attention=True, **options)


def random(bias: LineBias) -> None:
    torch.manual_seed(0)
    for side in (bias.own, bias.cross):
        side.table.copy_(torch.randn(side.table.shape).where(torch.rand(side.table.shape) > 0.3, CLOSED))


def literal(bias: LineBias, head: int, place: int, key: int, prompt: int) -> float:
    row = place - (prompt - 1)
    if row < 0:
        return 0.0 if key == place else CLOSED
    found = []
    if key < prompt:
        for levels, slope in zip(bias.cross.table, bias.cross.slopes, strict=True):
            behind = 0 if slope > 0 else prompt - bias.cross.columns
            line = key - behind - slope * row - bias.cross.first
            known = 0 <= line < bias.cross.table.shape[2] - 1
            found.append(float(levels[head, line if known else -1]))
    if key >= prompt - 1:
        line = key - (prompt - 1) - row - bias.own.first
        known = 0 <= line < bias.own.table.shape[2] - 1
        found.append(float(bias.own.table[0, head, line if known else -1]))
    return max(found)


def test_biases_are_those_of_a_literal_loop_and_open_where_there_are_no_lines():
    bias, prompts, size = LineBias(2, 3, 5, (1, 0, -1)), torch.tensor([4, 5, 9]), 12
    random(bias)
    found = bias(torch.arange(size)[None], size, prompts)
    for example, prompt in enumerate(prompts.tolist()):
        for head, place, key in ((h, t, k) for h in range(2) for t in range(size) for k in range(t + 1)):
            assert float(found[example, head, place, key]) == literal(bias, head, place, key, prompt)
    one = torch.cat([bias(torch.full((3, 1), place), size, prompts) for place in range(size)], dim=2)
    assert torch.equal(one, found), "also token by token, with a cache"
    columns, rows = 7, 6
    beside = windowed(1, rows, columns, 1, 1)
    own, cross = beside.own, beside.cross
    found = windows(1, 1, ((-1, 1),))(torch.arange(columns - 1, columns - 1 + rows)[None], 12, torch.tensor([columns]))
    asked, written = found[0, 0, :, :columns], found[0, 0, :, columns - 1 :]
    last = asked[:, -1].clone()
    assert torch.equal(asked[:, :-1], cross[0, :, :-1]) and torch.equal(written[:, 1:], own[0, :, 1:])
    assert torch.equal(last, cross[0, :, -1].maximum(own[0, :, 0])), "open where either side opens it"
    bias = LineBias(1, 4, 6, (1, -1))
    random(bias)
    assert bias.calibrate(torch.full((1, 4, 4), 0.1), torch.full((1, 4, 6), 0.1), 3.0, 3.0).tolist() == [False]
    assert not bias.own.table.any() and not bias.cross.table.any()


@pytest.mark.parametrize("slope", [1, 0, -1])
@pytest.mark.parametrize("prompt", [6, 7, 11])
def test_calibrated_lines_are_those_that_the_method_continues(slope, prompt):
    """A calibrated matrix of any size whose corners are aligned, where all attention is on the prompt."""
    torch.manual_seed(1)
    cross, rows = torch.rand(2, 4, 6) ** 6, 7
    bias = LineBias(2, 4, 6, (slope,))
    picked = bias.calibrate(torch.full((2, 4, 4), CLOSED), cross, 9.0, 1.0)
    assert picked.tolist() == [True, True]
    matrix = calibrate_bias(cross, (rows, prompt), [(1, slope)], 1.0, line="sum")
    if not slope:  # vertical lines are counted from the end, where the matrix has them at the beginning
        matrix = calibrate_bias(cross.flip(2), (rows, prompt), [(1, 0)], 1.0, line="sum").flip(2)
    found = bias(torch.arange(prompt - 1, prompt - 1 + rows)[None], prompt, torch.tensor([prompt]))[0]
    assert torch.allclose(found, matrix.float())


@pytest.mark.parametrize("slopes", [(1,), (1, 0)])
def test_each_direction_of_each_side_is_judged_apart(slopes):
    """A line of the response stands out among those of the response, however little of the softmax it has."""
    own, cross = torch.zeros(1, 4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), CLOSED), torch.zeros(1, 4, 6)
    own.diagonal(dim1=1, dim2=2).fill_(0.05)
    cross[0, range(4), range(1, 5)] = 0.95
    bias = LineBias(1, 4, 6, slopes)
    assert bias.calibrate(own, cross, 0.9, 2.0).tolist() == [True]
    opened = (bias.own.table[0, 0] > CLOSED).nonzero()[:, 0]
    assert opened.tolist() == [-bias.own.first] and float(bias.own.table[0, 0, opened]) == 0.0
    opened = (bias.cross.table[0, 0] > CLOSED).nonzero()[:, 0]
    assert opened.tolist() == [1 - bias.cross.first] and float(bias.cross.table[0, 0, opened]) == 0.0
    # Of four columns that are equally strong and two that are not, none lies two deviations above the mean.
    assert bool((bias.cross.table[1:] == CLOSED).all())
    # Of four lines one can lie 1.73 deviations above their mean at most.
    assert bias.calibrate(own, cross, 1.8, 2.0).tolist() == [True]
    assert bool((bias.own.table == CLOSED).all())


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("prompt", [5, 6, 9])
def test_windows_open_what_stands_on_a_line_and_stood_there_before(name, prompt):
    width, lines = WINDOWS[name]
    found = windows(2, width, lines)(torch.arange(prompt + 9)[None], prompt + 9, torch.tensor([prompt]))[0]
    for place, key in ((t, k) for t in range(prompt + 9) for k in range(t + 1)):
        row = place - (prompt - 1)
        seen = key == place if row < 0 else False
        if row >= 0 and key < prompt:
            seen = any(
                key == (offset if slope > 0 else prompt - 1 - offset) + slope * before
                for slope, offset in lines
                for before in range(row - 2 * width, row + 1)
            )
        if row >= 0 and key >= prompt - 1:
            seen = seen or place - key <= width
        assert found[:, place, key].tolist() == [0.0 if seen else CLOSED] * 2, (place, key)


@pytest.mark.parametrize("bias", [LINES, LineWindow(1, ((1, 0), (-1, 2)))])
def test_decoding_agrees_with_a_plain_loop(bias):
    model, data = random_model(setting(bias))
    if bias is LINES:
        random(model.lines)
    drawn = data.task.train(10, generator("p"))
    check_decoding(model, data, drawn)


@torch.no_grad()
def test_a_row_without_an_open_key_reads_nothing():
    model, data = random_model(setting())
    for side in (model.lines.own, model.lines.cross):
        side.table.fill_(CLOSED)
    batch = data.writer.write(data.task.train(3, generator("p")))
    places = torch.arange(batch.tokens.shape[1] - 1)
    answering = places[None] >= batch.loss.int().argmax(dim=1, keepdim=True) - 1
    weights = model.attention(batch)[-1]["self"]
    assert bool((weights.sum(dim=3) == (~answering)[:, None]).all()), "a token of the prompt reads itself"
    assert bool(model.predict(batch).isfinite().all())


@pytest.mark.parametrize(("spec", "said"), [
    (setting(Lines(rows=2, columns=3, slopes=())), r"attention_bias.slopes=\[\]: expected different directions"),
    (setting(Lines(rows=2, columns=3, slopes=(1, 1))), r"attention_bias.slopes=\[1, 1\]"),
    (setting(LineWindow(1, ())), r"attention_bias.lines=\[\]: expected different lines, at least one"),
    (setting(LineWindow(1, ((1, 2), (1, 2)))), r"attention_bias.lines=\[\[1, 2\], \[1, 2\]\]: expected different"),
    (setting(LineWindow(1, ((-1, -1),))), r"attention_bias.lines=\[\[-1, -1\]\]: expected offsets from 0 on"),
    (setting(tempered=Tempered()), r"model.tempered: .*attention_bias=lines lets heads see few"),
    (lengen.replace(setting(), train={"loss": "all"}), r"attention_bias=lines: with train.loss=all nothing tells"),
], ids=["no slopes", "a slope twice", "no window", "a window twice", "no offset", "tempered", "no prompt"])  # fmt: skip
def test_what_makes_no_sense_is_refused(spec, said):
    refused(SettingError, said, lengen.validate, spec)


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


def test_an_unknown_record_an_interface_and_the_cache_of_an_encoder_are_refused():
    refused(ValueError, r"a record of 'weights' cannot be kept: ask for some of queries, scores", Record, "weights")
    refused(TypeError, "abstract", Transformer, encoder_decoder(data_for("none")).model, 5, ())
    model, batch = of("encoder")
    for asked in (lambda: model.cache(batch, 4), lambda: model.extend(None, batch.tokens, batch.ids, batch.tokens)):
        refused(TypeError, "an encoder fills all places of a response at once and has no cache", asked)
    assert isinstance(of("decoder")[0], DecoderModel)

"""Lines as an attention bias: calibration against Algorithm 1 written as loops, by hand and on planted lines; their
use in decoders of any length, and refusals.
"""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

import lengen
from benchmarks.calibration import calibration_loop
from lengen import AttentionBias, Consecutive, Decoder, Given, Learned, Lines, LineWindow, SettingError, Spec, Tempered
from lengen.data.batch_and_random_spaces import Batch
from lengen.digits import generator
from lengen.models import Decoder as DecoderModel
from lengen.models import Record, Transformer
from lengen.models.blocks import Attention, Block
from lengen.models.calibrated_bias import (
    CalibrationError,
    LineBias,
    beside_encoder,
    calibrate_bias,
    drop_off,
    line_values,
    windows,
)
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
    "encoder-decoder, windowed": {"attention_bias": lengen.Window(1), "encoding": "alibi", "norm_place": "post"},
}
SQUARE = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]])
SLOPES = st.lists(st.integers(-2, 2), min_size=1, max_size=4)
MORE = st.tuples(st.integers(0, 6), st.integers(0, 6))
NOT_A_NUMBER = torch.tensor([[[1.0, math.nan]]])


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
    beside = beside_encoder(lengen.Window(1, 1), 1, rows, columns)
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
    assert bias.calibrate(torch.full((2, 4, 4), CLOSED), cross, 9.0, 1.0).tolist() == [True, True]
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


@st.composite
def attentions(draw, closed=True):
    """(heads, m, n) in float64: few levels, so that lines tie with the threshold, or any numbers; some -inf."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 7)))
    levels = st.sampled_from([0.0, 0.1, 0.2, 1.0, -2.0, *([CLOSED] if closed else [])])
    elements = draw(st.sampled_from([levels, st.floats(-4, 4, width=32)]))
    return torch.from_numpy(draw(arrays(np.float64, shape, elements=elements, fill=st.nothing())))


def larger(attention: Tensor, more: tuple[int, int]) -> tuple[int, int]:
    return attention.shape[1] + more[0], attention.shape[2] + more[1]


def planted(m: int, n: int, *places: list[tuple[int, int]]) -> Tensor:
    attention = torch.full((len(places), m, n), 0.1)
    for head, own in enumerate(places):
        for i, j in own:
            attention[head, i, j] = 0.9
    return attention


def opened(bias: Tensor) -> set[tuple[int, int]]:
    return {(i, j) for i, j in (bias > CLOSED).nonzero().tolist()}


@given(attentions(), MORE, SLOPES, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]),
       st.sampled_from(["mean", "sum"]))  # fmt: skip
def test_equals_algorithm_1_as_loops(attention, more, slopes, sigma, line):
    size, directions = larger(attention, more), [(1, slope) for slope in slopes]
    ours = calibrate_bias(attention, size, directions, sigma, line=line)
    loop = torch.tensor(calibration_loop(attention.tolist(), size, directions, sigma, line), dtype=torch.float64)
    assert ours.shape == (len(attention), *size)
    assert not ours.isnan().any()
    assert torch.equal(ours == CLOSED, loop == CLOSED)
    assert torch.allclose(ours, loop, atol=1e-12)


@given(attentions(), MORE, st.integers(-2, 2), st.sampled_from([0.0, 1.0, 2.0]))
def test_what_is_extended_is_not_changed(attention, more, slope, sigma):
    """The input's own part of the bias does not depend on the size, and its largest value is zero."""
    (_, m, n), size = attention.shape, larger(attention, more)
    small = calibrate_bias(attention, (m, n), [(1, slope)], sigma)
    large = calibrate_bias(attention, size, [(1, slope)], sigma)
    start = size[1] - n if slope < 0 else 0
    assert torch.equal(large[:, :m, start : start + n], small)
    assert (small.flatten(1).amax(dim=1) == 0).all()


@given(attentions(closed=False), st.integers(-2, 2), st.floats(-5, 5), st.floats(0.5, 4))
def test_lines_are_judged_whatever_the_level_and_scale(attention, slope, level, scale):
    size, directions = larger(attention, (2, 3)), [(1, slope)]
    bias = calibrate_bias(attention.round(decimals=2), size, directions, 1.7)
    moved = calibrate_bias(attention.round(decimals=2) * scale + level, size, directions, 1.7)
    assert torch.allclose(moved, bias * scale, atol=1e-9)


@pytest.mark.parametrize(("slope", "ids", "sums", "means"), [
    (1, [-2, -1, 0, 1, 2], [7, 12, 15, 8, 3], [7, 6, 5, 4, 3]),
    (-1, [0, 1, 2, 3, 4], [1, 6, 15, 14, 9], [1, 3, 5, 7, 9]),
    (0, [0, 1, 2], [12, 15, 18], [4, 5, 6]),
    (2, [-4, -3, -2, -1, 0, 1, 2], [7, 8, 13, 5, 7, 2, 3], [7, 8, 6.5, 5, 3.5, 2, 3]),
])  # fmt: skip
def test_line_values_of_a_small_square(slope, ids, sums, means):
    """Figure 3 draws diagonals, anti-diagonals and verticals with their sums; here with numbers."""
    for line, expected in (("sum", sums), ("mean", means)):
        found, values = line_values(SQUARE, slope, line)
        assert found.tolist() == ids
        assert values.tolist() == [expected]


def test_an_example_by_hand_and_a_planted_anti_diagonal_are_extended_alone():
    """Anti-diagonal sums 1 6 15 14 9: mu 9, population sd 5.18, so only 15 exceeds mu + sd, and 14, 15 mu + sd / 2."""
    open_one = [[CLOSED, CLOSED, 0.0], [CLOSED, 0.0, CLOSED], [0.0, CLOSED, CLOSED]]
    assert calibrate_bias(SQUARE, (3, 3), [(1, -1)], 1.0, line="sum").tolist() == [open_one]
    open_two = [[CLOSED, CLOSED, CLOSED, 0.0], [CLOSED, CLOSED, 0.0, -1.0], [CLOSED, 0.0, -1.0, CLOSED]]
    assert calibrate_bias(SQUARE, (3, 4), [(1, -1)], 0.5, line="sum").tolist() == [open_two]
    attention = planted(6, 27, [(i, 25 - i) for i in range(6)], [(i, 12 - i) for i in range(6)])
    for line in ("mean", "sum"):
        bias = calibrate_bias(attention, (13, 27), [(1, -1)], line=line)
        assert opened(bias[0]) == {(i, 25 - i) for i in range(13)}
        assert opened(bias[1]) == {(i, 12 - i) for i in range(13)}
        assert (bias[bias > CLOSED] == 0).all()


def test_directions_are_merged_by_the_larger_bias():
    """Verticals 4 5 6 open columns 1 and 2 with -1 and 0; anti-diagonals 1 3 5 7 9 open 7 and 9 with -2 and 0."""
    bias = calibrate_bias(SQUARE, (3, 3), [(1, 0), (1, -1)], -0.1)
    assert calibrate_bias(SQUARE, (3, 3), [(1, -1)], -0.1).tolist() == [
        [[CLOSED, CLOSED, -4.0], [CLOSED, -4.0, -2.0], [-4.0, -2.0, 0.0]]
    ]
    assert bias.tolist() == [[[CLOSED, -1.0, 0.0], [CLOSED, -1.0, 0.0], [-4.0, -1.0, 0.0]]]
    assert torch.equal(bias, calibrate_bias(SQUARE, (3, 3), [(1, -1), (1, 0), (1, -1)], -0.1))


@given(st.floats(-1e3, 1e3), st.tuples(st.integers(1, 9), st.integers(1, 9)), st.integers(-3, 3), st.floats(-3, 3))
def test_equal_lines_never_open_whatever_the_rounding(value, shape, slope, sigma):
    attention = torch.full((1, *shape), value, dtype=torch.float64)
    assert (calibrate_bias(attention, (10, 10), [(1, slope)], sigma) == 0).all()
    assert (drop_off(line_values(attention, slope)[1], sigma) == CLOSED).all()


def test_masked_scores_are_judged_among_the_lines_that_exist():
    """Lower triangle of 0 with a subdiagonal of 3: its lines are 3 0 0 0 0 0 0 (z 2.45); with ones above, z is 0.4."""
    scores = torch.zeros(1, 7, 7)
    scores[0, range(1, 7), range(6)] = 3.0
    masked = scores.masked_fill(torch.ones(7, 7).triu(1).bool(), CLOSED)
    assert opened(calibrate_bias(masked, (12, 12), [(1, 1)])[0]) == {(i, i - 1) for i in range(1, 12)}
    assert line_values(masked, 1)[1].tolist() == [[0, 0, 0, 0, 0, 3, 0] + [CLOSED] * 6]
    # Part of a line: its finite elements alone make its value.
    assert line_values(torch.tensor([[[1.0, CLOSED], [0.0, 3.0], [0.0, 5.0]]]), 0)[1].tolist() == [[1 / 3, 4.0]]
    assert (calibrate_bias(torch.full((2, 3, 3), CLOSED), (4, 4), [(1, 1), (1, 0)]) == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_the_bias_has_the_type_of_the_attention(dtype):
    assert calibrate_bias(SQUARE.to(dtype), (4, 4), [(1, 1)]).dtype == dtype


@pytest.mark.parametrize(("attention", "size", "directions", "options", "said"), [
    (SQUARE, (2, 9), [(1, 1)], {}, "size 2x9 .*smaller than the attention, 3x3"),
    (SQUARE, (9, 2), [(1, 1)], {}, "ask for at least 3x3"), (SQUARE, (3, 3), [], {}, "directions are empty"),
    (SQUARE, (3, 3), [(0, 1)], {}, r"direction \(0, 1\)"), (SQUARE, (3, 3), [(1, 0.5)], {}, "integer slope"),
    (SQUARE, (3, 3), [1], {}, "direction 1: expected a pair"),
    (SQUARE, (3, 3), [(1, 1)], {"sigma": math.nan}, "sigma is nan"),
    (SQUARE, (3, 3), [(1, 1)], {"line": "median"}, "line value 'median'"),
    (SQUARE[0], (3, 3), [(1, 1)], {}, r"attention is torch.float32 of shape \(3, 3\)"),
    (SQUARE.long(), (3, 3), [(1, 1)], {}, "torch.int64"), (SQUARE[:, :0], (3, 3), [(1, 1)], {}, "no axis empty"),
    (NOT_A_NUMBER, (3, 3), [(1, 1)], {}, "NaN"), (-SQUARE.log().log(), (3, 3), [(1, 1)], {}, r"\+inf"),
])  # fmt: skip
def test_what_cannot_be_calibrated_is_refused_in_one_sentence(attention, size, directions, options, said):
    refused(CalibrationError, said, calibrate_bias, attention, size, directions, **options)

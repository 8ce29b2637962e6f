"""Every position encoding against its formula in plain Python, other implementations' rules, or literal values."""

import cmath
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import SettingError, TaskData, build_model, validate
from lengen.encodings.absolute import Learned, NoEncoding, Sinusoidal
from lengen.encodings.alibi_rope_and_keys import ALiBi, RelativeKeys, Rotary, alibi_slopes
from lengen.encodings.base import Encoding, module
from lengen.encodings.fire import Fire
from lengen.encodings.fire import numbers as fire_numbers
from lengen.models import Record
from lengen.models.blocks import Attention, Context
from lengen.part import kinds
from lengen.settings.model import Encoding as EncodingPart
from lengen.settings.model import RelativeKeys as RelativeKeysPart
from tests.fixtures.refusals import refused
from tests.fixtures.settings import ENCODINGS, MODEL, data_spec, model_spec, spec


def numbers(batch=2, tokens=7, seed=0):
    return torch.randint(0, 30, (1, batch, tokens), generator=torch.Generator().manual_seed(seed))


def build(name, levels=1):
    model = model_spec(encoding=name)
    return module(model.encoding, model, (30,) * levels)


def test_every_encoding_has_a_row_and_does_nothing_by_default():
    assert set(ENCODINGS) == set(kinds(EncodingPart))
    vectors = torch.randn(1, 1, 2, 4)
    assert NoEncoding().embed(numbers()) is None and NoEncoding().bias(numbers(), numbers()) is None
    assert NoEncoding().rotate(vectors, numbers()) is vectors
    assert NoEncoding().relate(vectors, numbers(), numbers()) is None
    assert Encoding().embed(numbers()) is None and Encoding().rotate(vectors, numbers()) is vectors


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("batch", [1, 3])
def test_every_encoding_keeps_the_shapes_of_its_entry_points(name, batch):
    ids, encoding = numbers(batch), build(name)
    vectors = torch.randn(3, MODEL.heads, 7, MODEL.head_dim)
    assert encoding.rotate(vectors, ids).shape == vectors.shape
    embedded, bias = encoding.embed(ids), encoding.bias(ids[:, :, :4], ids)
    related = encoding.relate(vectors[:, :, :4], ids[:, :, :4], ids)
    assert related is None or related.shape == (3, MODEL.heads, 4, 7)
    assert embedded is None or embedded.shape == (batch, 7, MODEL.width)
    assert bias is None or bias.shape == (batch, MODEL.heads, 4, 7)


def test_learned_rotary_and_alibi_have_literal_values():
    torch.manual_seed(0)
    encoding, ids = Learned(5, (4, 9)), torch.tensor([[[0, 4, 2]], [[9, 0, 1]]])
    found = encoding.embed(ids)[0]
    for t, (i, j) in enumerate([(0, 9), (4, 0), (2, 1)]):
        assert torch.equal(found[t], encoding.tables[0].weight[i] + encoding.tables[1].weight[j])
    assert [table.num_embeddings for table in encoding.tables] == [5, 10], "id 0 is a row of its own"
    assert Learned(256, (500,)).tables[0].weight.std().item() == pytest.approx(1, abs=0.01)
    turned = Rotary(4).rotate(torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]), torch.tensor([[[1]]]))
    assert turned.flatten().tolist() == pytest.approx([0.5403023, 0.8414710, -0.0099998, 0.9999500], abs=1e-6)
    queries, keys = numbers(2, 3), numbers(2, 5, seed=1)
    bias = ALiBi(6).bias(queries, keys)
    for b, h, q, k in torch.cartesian_prod(*map(torch.arange, (2, 6, 3, 5))).tolist():
        distance = int(queries[0, b, q]) - int(keys[0, b, k])
        assert float(bias[b, h, q, k]) == pytest.approx(-alibi_slopes(6)[h] * abs(distance))
    ids = torch.arange(6)[None, None]
    bias = ALiBi(2).bias(ids, ids)
    assert torch.equal(bias, bias.transpose(2, 3)) and torch.equal(bias.flip(2, 3), bias)
    assert not bias.diagonal(dim1=2, dim2=3).any() and bool((bias <= 0).all())


@pytest.mark.parametrize("width", [6, 7])
def test_sinusoids_follow_the_formula(width):
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same (Vaswani et al. 2017)."""
    found = Sinusoidal(width).embed(torch.tensor([[[0, 1, 25]]]))[0]
    for row, position in zip(found.tolist(), [0, 1, 25], strict=True):
        for place, value in enumerate(row):
            angle = position / 10000 ** ((place - place % 2) / width)
            assert value == pytest.approx(math.cos(angle) if place % 2 else math.sin(angle), abs=1e-5)


@given(st.integers(0, 999), st.sampled_from([2, 4, 8]))
def test_rotary_turns_complex_numbers(seed, dim):
    torch.manual_seed(seed)
    vectors, ids = torch.randn(2, 3, 5, dim), numbers(2, 5, seed)
    turned = Rotary(dim).rotate(vectors, ids)
    for b, h, t, j in torch.cartesian_prod(*map(torch.arange, (2, 3, 5, dim // 2))).tolist():
        pair = complex(*vectors[b, h, t, 2 * j : 2 * j + 2].tolist())
        expected = pair * cmath.exp(1j * int(ids[0, b, t]) * 10000 ** (-2 * j / dim))
        assert abs(complex(*turned[b, h, t, 2 * j : 2 * j + 2].tolist()) - expected) < 1e-4


# Press et al. 2022, Section 3: 8 heads 1/2 ... 1/256; other counts as in their released get_slopes.
@pytest.mark.parametrize(("heads", "slopes"), [
    (1, [2**-8]), (2, [2**-4, 2**-8]), (4, [2**-2, 2**-4, 2**-6, 2**-8]),
    (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]), (8, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8]),
    (12, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8, 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
])  # fmt: skip
def test_alibi_literal_slopes(heads, slopes):
    assert alibi_slopes(heads) == slopes


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("clip", [1, 3, 40])
def test_relative_keys_follow_equation_4_of_shaw_et_al(batch, clip):
    """e_ij = x_i W^Q (x_j W^K + a_ij)^T / sqrt(d), a_ij = w_clip(j - i, k): the added product is q_i . a_ij."""
    torch.manual_seed(0)
    encoding, query = RelativeKeys(4, clip).double(), torch.randn(2, 3, 5, 4).double()
    queries, keys = numbers(batch, 5), numbers(batch, 7, seed=1)
    found = encoding.relate(query, queries, keys)
    assert encoding.table.shape == (2 * clip + 1, 4) and found.shape == (2, 3, 5, 7)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, found.shape)).tolist():
        distance = int(keys[0, b % batch, j]) - int(queries[0, b % batch, i])
        a = encoding.table[max(-clip, min(clip, distance)) + clip]
        assert found[b, h, i, j].item() == pytest.approx(sum((query[b, h, i] * a).tolist()), abs=1e-9)
    found.sum().backward()
    used = (keys[0, :, None] - queries[0, :, :, None]).clamp(-clip, clip).unique() + clip
    assert encoding.table.grad.any(dim=1).nonzero()[:, 0].tolist() == used.tolist()


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_relative_keys_are_scaled_with_the_scores(bias):
    """Shaw et al. divide the sum of both products; a fixed bias is added to what comes of that."""
    torch.manual_seed(0)
    model = spec(data_spec("parity"), encoding="rpe", scale_attention=True).model
    attention, ids = Attention(model).double(), torch.arange(5)[None, None]
    encoding, x = RelativeKeys(model.head_dim).double(), torch.randn(2, 5, model.width).double()
    added = bias * torch.randn(1, model.heads, 5, 5).double()
    context = Context(encoding, ids, ids, added if bias else None, None)
    query, (key, _) = attention._queries(attention.query(x), context), attention.memory(x, encoding, ids)
    both = (query @ key.mT + encoding.relate(query, ids, ids)) / model.head_dim**0.5 + added
    expected = both.masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf).softmax(dim=-1)
    record = Record("attention")
    found = attention(x, context, record=record)
    assert torch.allclose(record.attention[0]["self"].double(), expected, atol=1e-6)
    _, value = attention.memory(x, encoding, ids)
    assert torch.allclose(found, attention.out((expected @ value).transpose(1, 2).flatten(-2)), atol=1e-5)


def test_relative_keys_are_as_many_as_specified_and_fire_starts_as_published():
    assert build("rpe").clip == 16 and module(RelativeKeysPart(clip=70), MODEL, ()).clip == 70
    assert RelativeKeys(64, 500).table.std().item() == pytest.approx(64**-0.5, rel=0.02)
    assert Fire(4).c.item() == pytest.approx(0.1) and Fire(4).threshold == 512
    assert [tuple(p.shape) for p in Fire(4).f.parameters()] == [(32, 1), (32,), (4, 32), (4,)]


def network(layers, value: float) -> list[float]:
    hidden = [value]
    weights = [layer for layer in layers if hasattr(layer, "weight")]
    for depth, layer in enumerate(weights):
        offsets = layer.bias.tolist() if layer.bias is not None else [0.0] * layer.out_features
        hidden = [
            sum(w * x for w, x in zip(row, hidden, strict=True)) + offset
            for row, offset in zip(layer.weight.tolist(), offsets, strict=True)
        ]
        if depth < len(weights) - 1:
            hidden = [max(x, 0.0) for x in hidden]
    return hidden


def fire(encoding, i, j):
    """Li et al. 2024, eq. (19): f(psi(i - j) / psi(max(L, i))), psi(x) = log(|c x| + 1)."""
    c, limit = encoding.c.item(), abs(encoding.factor.item()) * encoding.threshold
    return network(encoding.f, math.log(abs(c * (i - j)) + 1) / (math.log(abs(c * max(limit, i)) + 1) + 1e-6))


@pytest.mark.parametrize("changed", [False, True])
def test_fire_follows_its_formula(changed):
    torch.manual_seed(0)
    encoding = Fire(heads=3).double()
    if changed:
        with torch.no_grad():  # a threshold within reach of the ids below
            encoding.c.fill_(-0.7)
            encoding.factor.fill_(0.02)
    ids = torch.tensor([[[0, 1, 2, 9, 17, 29]]])
    bias = encoding.bias(ids, ids)[0]
    for q, i in enumerate(ids.flatten().tolist()):
        for k, j in enumerate(ids.flatten().tolist()):
            if j <= i:
                assert bias[:, q, k].tolist() == pytest.approx(fire(encoding, i, j), abs=1e-8)


@pytest.mark.parametrize("name", ["sinusoidal", "rope", "alibi", "rpe", "fire"])
def test_an_encoding_of_one_level_is_refused_beside_ids_of_more(name):
    message = (
        rf"model\.encoding={name}: it reads 1 level of position ids, and data\.position_ids=coupled has {{}}; "
        "choose model.encoding=learned, or ids of one level"
    )
    assert kinds(EncodingPart)[name].LEVELS == 1
    validate(spec(data_spec("parity", position_ids="consecutive"), encoding=name))
    with pytest.raises(SettingError, match=r"it reads position ids, and data\.position_ids=none gives none"):
        validate(spec(data_spec("parity", position_ids="none"), encoding=name))
    for levels, task in ((2, "addition"), (3, "multiplication")):
        refused(SettingError, message.format(levels), build_model, spec(data_spec(task), encoding=name), 0)
    build_model(spec(data_spec("addition", scratchpad=False), encoding=name), 0)


def test_the_levels_that_an_encoding_states_are_those_it_looks_at():
    """Other ids of the levels beyond change nothing it does; other ids of those it reads do."""
    torch.manual_seed(0)
    vectors = torch.randn(3, MODEL.heads, 7, MODEL.head_dim)

    def effects(encoding, ids):
        parts = (
            encoding.embed(ids), encoding.rotate(vectors, ids), encoding.bias(ids, ids),
            encoding.relate(vectors, ids, ids),
        )  # fmt: skip
        return torch.cat([part.flatten() for part in parts if part is not None])

    for name, kind in kinds(EncodingPart).items():
        encoding, ids = build(name, levels=2), torch.cat([numbers(3), numbers(3, seed=1)])
        for level in range(2):
            other = ids.clone()
            other[level] = numbers(3, seed=2)[0]
            same = torch.equal(effects(encoding, ids), effects(encoding, other))
            assert same == (kind.LEVELS is not None and level >= kind.LEVELS), (name, level)


@torch.no_grad()
@pytest.mark.parametrize("name", ["sinusoidal", "rope", "alibi", "fire"])
def test_ids_that_bfloat16_cannot_tell_apart_are_told_apart_in_a_model_of_bfloat16(name):
    """As in float32, to the rounding of what leaves the encoding; and the whole model runs."""
    torch.manual_seed(0)
    exact = build(name)
    ids = torch.arange(250, 700)[None, None]
    vectors = torch.ones(1, MODEL.heads, ids.shape[2], MODEL.head_dim)
    expected = exact.embed(ids), exact.rotate(vectors, ids), exact.bias(ids, ids)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        rounded = build(name).to(torch.bfloat16)
    found = rounded.embed(ids), rounded.rotate(vectors.bfloat16(), ids), rounded.bias(ids, ids)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert float((one.float() - other).abs().max() / other.abs().max()) < 0.02
    if found[0] is not None:
        assert not torch.equal(found[0][0, 6], found[0][0, 7]), "256 and 257"
    if name == "rope":
        assert not torch.equal(found[1][0, 0, 6], found[1][0, 0, 7])
    if name.startswith("fire"):
        query, key = fire_numbers(ids, ids, rounded.f)
        assert query.dtype == key.dtype == torch.float32 and query[0, :, 0].tolist() == ids[0, 0].tolist()
    for constant in rounded.buffers():
        assert constant.dtype == torch.float32
    assert all(constant.dtype == torch.float64 for constant in build(name).double().buffers())
    assert all(constant.dtype == torch.float32 for constant in build(name).double().float().buffers())
    sized = spec(data_spec("addition", position_ids="consecutive"), encoding=name)
    data, model = TaskData(sized, 0), build_model(sized, 0).to(torch.bfloat16)
    assert model.predict(data.validation()).dtype == torch.bfloat16


@torch.no_grad()
def test_coordinates_of_recurrent_steps_keep_the_numbers_of_the_model():
    data = data_spec("addition", position_ids="consecutive")
    sized = spec(data, encoding="sinusoidal", loops=2, inject="coordinates")
    batch, model = TaskData(sized, 0).validation(), build_model(sized, 0)
    expected = model.predict(batch)
    torch.set_default_dtype(torch.bfloat16)  # as under bf16-true
    try:
        assert torch.equal(model.predict(batch), expected)
        assert model.to(torch.bfloat16).predict(batch).dtype == torch.bfloat16
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("ids", ["coupled", "abacus", "randomised"])
def test_ids_that_nothing_reads_and_that_bound_the_length_of_problems_are_refused(ids):
    unread = data_spec("parity", room=12, position_ids=ids)
    with pytest.raises(SettingError, match=rf"data\.position_ids={ids}: model\.encoding=none reads no ") as caught:
        validate(spec(unread, encoding="none"))
    assert "\n" not in str(caught.value)
    for name in ("none", "consecutive"):
        validate(spec(data_spec("parity", position_ids=name), encoding="none"))

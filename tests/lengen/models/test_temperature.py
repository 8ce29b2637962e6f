"""Tempered softmax: what it computes, what n counts, and that decoding counts as training does."""

import itertools
import math

import pytest
import torch

from lengen import ArithmeticData, SequenceModule, Spec, Tempered, build_model, replace
from lengen.digits import Problems, generator
from lengen.encodings.alibi_rope_and_keys import alibi_slopes
from lengen.models import Decoder
from lengen.training.module import build_optimizer
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import random_model, trained
from tests.fixtures.settings import ONE_LENGTH, TASKS, scheme, sequences, sized

FORMS = ("log", "one_plus_log")
OF = ("position", "prompt")
IDS = {"none": "none", "alibi": "consecutive", "fire": "consecutive", "rope": "consecutive", "rpe": "consecutive"}


def tempered(
    form: str, of: str, encoding: str = "none", task: str = "sorting", per_head: bool = False, **model: object
) -> Spec:
    chosen = {"tempered": Tempered(form=form, of=of, start=0.7, per_head=per_head), "scale_attention": True, **model}
    return sized(sequences(task, position_ids=scheme(IDS[encoding])), encoding=encoding, **chosen)


def problems(data: ArithmeticData, n: int = 12, longest: int = 9) -> Problems:
    return replace(data.task, longest=longest).train(n, generator("p"))


def literal(model: Decoder, layer: int, x: torch.Tensor, counted: list[list[int]]) -> torch.Tensor:
    """Softmax weights of a layer for its input ``x``, a number at a time; the bias is tempered as the products are."""
    block = model.stack()[layer]
    attention, (examples, size, _) = block.attention, x.shape
    slopes = attention.temperature.slope.expand(model.spec.heads).tolist()
    constant = {"log": 0.0, "one_plus_log": 1.0}[model.spec.tempered.form]
    normed = block.before[0](x)
    query, key = (part(normed).view(examples, size, model.spec.heads, -1) for part in (attention.query, attention.key))
    penalties = alibi_slopes(model.spec.heads) if model.spec.encoding.kind == "alibi" else [0.0] * model.spec.heads
    learned = None
    if model.spec.encoding.kind == "fire":
        ids = torch.arange(size)[None, None]
        learned = model.encoding.bias(ids, ids)[0]
    weights = torch.zeros(examples, model.spec.heads, size, size, dtype=x.dtype)
    for b, h, t in itertools.product(range(examples), range(model.spec.heads), range(size)):
        factor = constant + slopes[h] * math.log(counted[b][t])
        scores = []
        for s in range(t + 1):
            score = float(query[b, t, h] @ key[b, s, h]) / math.sqrt(model.spec.head_dim) - penalties[h] * (t - s)
            scores.append(factor * (score if learned is None else score + float(learned[h, t, s])))
        total = sum(math.exp(score) for score in scores)
        for s, score in enumerate(scores):
            weights[b, h, t, s] = math.exp(score) / total
    return weights


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("per_head", [False, True], ids=["layer", "head"])
@pytest.mark.parametrize(("encoding", "task"), [("none", "fill"), ("alibi", "sorting"), ("fire", "carries")])
@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("form", FORMS)
def test_weights_are_a_softmax_of_scaled_logits(form, of, encoding, task, per_head):
    model, data = random_model(tempered(form, of, encoding, task, per_head=per_head))
    batch = data.writer.write(problems(data, 3, 4))
    size = batch.tokens.shape[1] - 1
    prompts = [loss.index(True) for loss in batch.loss.tolist()]
    counted = [[n if of == "prompt" else t + 1 for t in range(size)] for n in prompts]
    found = [layer["self"].double() for layer in model.attention(batch)]
    streams = [post[:, :-1] for _, post in model.residuals(batch)]
    inputs = [model.embedding(batch.tokens[:, :-1]), *streams[:-1]]
    for layer, x in enumerate(inputs):
        expected = literal(model, layer, x, counted)
        assert torch.allclose(found[layer], expected, atol=1e-5)
        assert found[layer].sum(dim=-1).flatten().tolist() == pytest.approx([1.0] * expected[..., 0].numel(), abs=1e-5)
        attention = model.stack()[layer].attention
        value = attention.value(model.stack()[layer].before[0](x)).view(len(x), size, model.spec.heads, -1)
        mixed = attention.out(torch.einsum("bhts,bshd->bthd", expected, value).flatten(2))
        after = model.stack()[layer].after[0](x + mixed)
        assert torch.allclose(model.residuals(batch)[layer][0][:, :-1], after, atol=1e-5), "these weights are used"
    more = [[n + 1 for n in row] for row in counted]
    assert not torch.allclose(literal(model, 0, inputs[0], more), found[0], atol=1e-3), "one token more is seen"


@torch.no_grad()
def test_log_per_head_is_scalable_softmax_and_one_plus_log_starts_as_the_standard_one():
    """n^(s z) over its sum (2501.19399), n the keys that a query sees, s of the head."""
    model, data = random_model(tempered("log", "position", per_head=True))
    batch = data.writer.write(problems(data, 3, 4))
    slopes = [block.attention.temperature.slope for block in model.stack()]
    assert len({float(s) for slope in slopes for s in slope}) == sum(map(len, slopes)), "each is its own"
    tempered_scores = [layer["self"].double() for layer in model.attention(batch, softmax=False)]
    for slope, scaled, found in zip(slopes, tempered_scores, model.attention(batch), strict=True):
        for head, t in itertools.product(range(model.spec.heads), range(1, scaled.shape[2])):
            n, s = t + 1, float(slope[head])
            z = (scaled[0, head, t, :n] / (s * math.log(n))).tolist()
            powers = [n ** (s * one) for one in z]
            expected = [power / sum(powers) for power in powers]
            assert found["self"][0, head, t, :n].tolist() == pytest.approx(expected, abs=1e-5)
    tempered_one, plain = sized(tempered=Tempered(form="one_plus_log")), sized()
    one, other = build_model(tempered_one, 0), build_model(plain, 0)
    batch = ArithmeticData(plain, 0).validation()
    assert torch.allclose(one.predict(batch), other.predict(batch), atol=1e-6)
    even = build_model(sized(tempered=Tempered()), 0).attention(batch)[0]["self"][0, 0]
    assert even[4].tolist() == pytest.approx([0.2] * 5 + [0.0] * (len(even) - 5)), "log from 0 attends evenly"


@torch.no_grad()
@pytest.mark.parametrize("encoding", IDS)
def test_models_whose_weights_are_of_half_precision_stay_in_it(encoding):
    model, data = random_model(tempered("log", "position", encoding))
    assert model.to(torch.bfloat16).predict(data.validation()).dtype == torch.bfloat16


@pytest.mark.slow
@pytest.mark.parametrize("encoding", IDS)
@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("form", FORMS)
def test_decoding_agrees_with_a_plain_loop(form, of, encoding):
    """Never the padded length of a batch, never that of the reference: each example alone gives the same text."""
    place = (FORMS.index(form) * 2 + OF.index(of)) * len(IDS) + list(IDS).index(encoding)
    model, data = random_model(tempered(form, of, encoding, TASKS[place % 7]))
    drawn = problems(data, 5)
    assert len(set(drawn.lengths[:, 0].tolist())) > 2
    check_decoding(model, data, drawn)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "of"), zip(FORMS, OF, strict=True))
def test_decoding_agrees_for_models_that_are_sometimes_right(form, of):
    train = replace(ONE_LENGTH, batch=64, lr=5e-3)
    start = 1.0 if form == "log" else 0.1
    size = {"width": 32, "head_dim": 16, "tempered": Tempered(form=form, of=of, start=start)}
    model, data = trained(sized(sequences(length=5, alphabet=6), train, **size), 150)
    written, truths = check_decoding(model, data, problems(data, 40))
    assert 3 < sum(own == truth for own, truth in zip(written, truths, strict=True)) < 38, "some right, some wrong"


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("form", FORMS)
def test_slopes_are_trained_and_never_decayed(form, of):
    train = replace(ONE_LENGTH, weight_decay=0.5)
    sized_up = replace(tempered(form, of), train=train)
    model, data = build_model(sized_up, 0), ArithmeticData(sized_up, 0)
    slopes = [block.attention.temperature.slope for block in model.stack()]
    assert len({id(slope) for slope in slopes}) == 2 and [float(slope) for slope in slopes] == pytest.approx([0.7] * 2)
    SequenceModule(sized_up, model).training_step(data.batch(0), 0).backward()
    assert all(slope.grad is not None and float(slope.grad.abs()) > 0 for slope in slopes)
    optimizer, _ = build_optimizer(model, train)
    for group in optimizer.param_groups:
        if any(parameter is slope for parameter in group["params"] for slope in slopes):
            assert group["weight_decay"] == 0 and all(parameter.dim() < 2 for parameter in group["params"])
    assert sum(parameter is slope for g in optimizer.param_groups for parameter in g["params"] for slope in slopes) == 2

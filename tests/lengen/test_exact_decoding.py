"""Responses without an end: exactly as many tokens as are asked for; and the residual stream that is read from them."""

import pytest
import torch
from rapidfuzz.distance import Levenshtein

from lengen import ArithmeticData, generate
from lengen.callbacks.accuracy_grid import score_cell
from lengen.callbacks.attention_maps import measure_attention
from lengen.data.batch import Batch
from lengen.digits import Problems
from lengen.formats.base import END, PAD
from lengen.models import Decoder
from lengen.settings.spec import replace
from lengen.solve import solve
from tests.fixtures.decoding import check_decoding
from tests.fixtures.models import random_model, trained
from tests.fixtures.runs import counted
from tests.fixtures.settings import ONE_LENGTH, TASKS, sequences, sized


def ending(task: str, share: float = 0.5, steps: int = 0) -> tuple[Decoder, ArithmeticData]:
    """A model, trained for some steps, that often predicts the end that these formats do not have."""
    size = sized(sequences(task), replace(ONE_LENGTH, batch=64, lr=5e-3), output_bias=True, width=32)
    model, data = trained(size, steps) if steps else random_model(size)
    batch = data.writer.write(data.test(6, 1, 40))
    with torch.no_grad():
        logits = model.predict(batch)[batch.loss[:, 1:]]
        others = logits.clone()
        others[:, END] = float("-inf")
        model.head.bias[END] += (others.amax(dim=1) - logits[:, END]).quantile(share)
    return model, data


def drawn(data: ArithmeticData, n: int = 30) -> Problems:
    return replace(data.task, longest=7).train(n, torch.Generator().manual_seed(3))


@pytest.mark.parametrize("task", TASKS)
def test_an_end_does_not_end_a_response_without_one(task):
    model, data = ending(task)
    problems = drawn(data)
    expected, _ = check_decoding(model, data, problems)
    assert any(END in row[:-1] for row in expected) or task in ("successor", "count"), "an end in the middle"
    assert any(END in row for row in expected)


@pytest.mark.parametrize("task", ["sorting", "increment", "carries"])
def test_edit_distances_are_counted_over_all_that_is_written(task):
    model, data = ending(task, 0.2, 120)
    problems = drawn(data)
    pairs = list(zip(*check_decoding(model, data, problems), strict=True))
    scores = score_cell(model, data.writer, problems, True)
    edits = sum(Levenshtein.distance([t for t in own if t != PAD], truth) for own, truth in pairs)
    correct = sum(own == truth for own, truth in pairs)
    assert scores["free_running"] == counted(30, correct, correct, edits, sum(len(truth) for _, truth in pairs))
    cut = sum(Levenshtein.distance([*own, END][: [*own, END].index(END)], truth) for own, truth in pairs)
    assert edits != cut, "ends count as tokens, and so does what follows them"
    forced = scores["teacher_forced"]
    assert forced == {
        name: scores["free_running"][name] for name in ("n", "correct", "answer_correct", "reference_tokens")
    }


@pytest.mark.parametrize(("text", "size"), [("999", 4), ("998", 3), ("9", 2), ("0", 1), ("99999999999", 12)])
def test_as_many_digits_are_written_as_the_true_answer_has(text, size):
    for task, tokens in (("increment", size), ("carries", 3 * size)):
        model, data = ending(task, 1.0)
        problems = data.task.parse([text])
        assert len(str(int(text) + 1)) == size
        assert generate(model, data.writer, problems).tolist() == [[END] * tokens], "ends everywhere, and goes on"


def test_mixed_sizes_are_each_written_to_their_own_length():
    model, data = ending("increment")
    operands = ["999", "99", "100", "998", "9"]
    parts = [data.task.parse([text]) for text in operands]
    width = max(part.operands.shape[2] for part in parts)
    padded = [torch.nn.functional.pad(part.operands, (0, width - part.operands.shape[2])) for part in parts]
    problems = Problems(torch.cat(padded), torch.cat([part.lengths for part in parts]))
    written = generate(model, data.writer, problems)
    alone = [generate(model, data.writer, part)[0].tolist() for part in parts]
    assert [len(row) for row in alone] == [4, 3, 3, 3, 2]
    assert [row[: len(own)] for row, own in zip(written.tolist(), alone, strict=True)] == alone


def test_solving_shows_a_whole_response(tmp_path, monkeypatch):
    model, data = ending("increment", 1.0)
    monkeypatch.setattr("lengen.solve.load", lambda spec, weights: model)
    found = solve(data.spec, tmp_path, ["999"])
    assert (found["prompt"], found["output"], found["answer"], found["correct"]) == ("999⊥", "$$$$", "1000", False)
    words, other = random_model(sized(sequences(alphabet=12)))
    monkeypatch.setattr("lengen.solve.load", lambda spec, weights: words)
    found = solve(other.spec, tmp_path, ["12", "3", "3"])
    assert (found["prompt"], found["answer"]) == ("12 3 3 ⊥", "3 3 12")
    monkeypatch.setattr("lengen.solve.generate", lambda *_, choose: other.vocab.encode("3 3 12")[None])
    found = solve(other.spec, tmp_path, ["12", "3", "3"])
    assert found["read"] == found["output"] == "3 3 12" and found["correct"]


@torch.no_grad()
@pytest.mark.parametrize("place", ["pre", "post", "pre_post", "sandwich"])
@pytest.mark.parametrize("options", [{}, {"shared": True, "layers": 3}, {"loops": 2, "inject": "input"}])
def test_residuals_are_what_the_next_part_reads(place, options):
    model, data = random_model(sized(norm_place=place, output_bias=True, **options))
    batch = data.writer.write(drawn(data))
    found, stack = model.residuals(batch), model.stack()
    assert len(found) == len(stack) > 1
    for block, (pre, post) in zip(stack, found, strict=True):
        assert pre.shape == post.shape == (*batch.tokens.shape, model.spec.width)
        fed = block.feed_forward(block.before[1](pre))
        expected = pre + block.after[1](fed) if place == "sandwich" else block.after[1](pre + fed)
        assert torch.allclose(post, expected) and not torch.allclose(post, pre, atol=1e-2)
    logits = model.norm(found[-1][1]) @ model.head.weight.T + model.head.bias
    assert torch.allclose(logits[:, :-1], model.predict(batch))
    if place == "pre":
        assert torch.equal(found[0][1], found[0][0] + stack[0].feed_forward(stack[0].before[1](found[0][0])))


@torch.no_grad()
def test_attention_of_a_layer_reads_the_stream_before_it():
    model, data = random_model(sized(norm_place="pre"))
    batch = data.writer.write(drawn(data))
    context = model._context(batch.tokens, batch.ids, None)
    streams = [model.embedding(batch.tokens), *(post for _, post in model.residuals(batch))]
    for block, x, (pre, _) in zip(model.stack(), streams, model.residuals(batch), strict=False):
        assert torch.allclose(pre, x + block.attention(block.before[0](x), context))


def test_attention_is_measured_up_to_the_last_target():
    """Steps that predict a response token: as many as it has, without an end."""
    model, data = random_model(sized())
    batch = data.writer.write(data.test(4, 1, 7))
    mean, keys, steps = measure_attention(model, batch)
    assert steps == 7 * 4 and mean.shape == (2, 2, 8, 8)
    rows = torch.stack([layer["self"] for layer in model.attention(batch)])[:, :, :, 4:8]
    holding = (rows.sort(dim=-1, descending=True).values.cumsum(dim=-1) < 0.9).sum(dim=-1) + 1
    assert torch.equal(keys, holding.sum(dim=(1, 3)))
    whole = measure_attention(model, Batch(batch.tokens, batch.ids, batch.loss))
    assert torch.equal(mean, whole[0])

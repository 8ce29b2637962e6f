"""How a token is chosen while a model writes: greedily, by a rule of one's own, or sampled at temperature 1."""

import collections
import math

import pytest
import torch

import lengen
from lengen import ArithmeticData, Decoder, Encoder, Given, SettingError, TrainSpec, Transformer, replace, validate
from lengen.callbacks.accuracy_grid import PARTIAL, score_cell, score_sampled, sealed
from lengen.callbacks.curves_by_length import response_losses
from lengen.decoding.decoding import generate, most_likely, sampled, verify
from lengen.digits import Problems, generator
from lengen.formats.base import END, PAD
from lengen.results.records import Grid
from tests.fixtures.models import encoder_decoder, random_model, trained
from tests.fixtures.refusals import refused
from tests.fixtures.runs import counted
from tests.fixtures.settings import TEST, TRAIN, fixed_data, spec, two_operands

FEW = TrainSpec(steps=40, batch=32, bucket=2, lr=5e-3)
KINDS = {"decoder": {"architecture": Decoder()}, "encoder_decoder": {}}
SAMPLED = encoder_decoder(
    two_operands(1, 2), replace(TRAIN, steps=2, evaluations=1),
    replace(TEST, lengths=(1, 2, 3), counts=(2,), examples=12, sampled=5), architecture=Decoder(),
    encoding="sinusoidal",
)  # fmt: skip


def half_trained(architecture: str) -> tuple[Transformer, ArithmeticData]:
    return trained(encoder_decoder(two_operands(1), FEW, encoding="sinusoidal", **KINDS[architecture]), 120)


def repeated(data: ArithmeticData, row: int, n: int) -> Problems:
    return data.test(1, 2, 100).select(torch.full((n,), row))


def chances(model: Transformer, data: ArithmeticData, problems: Problems) -> list[float]:
    return [math.exp(-value) for value in response_losses(model, data.writer.write(problems)).loss.sum(dim=1).tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", KINDS)
def test_sampling_writes_a_response_as_often_as_its_loss_says(architecture):
    model, data = half_trained(architecture)
    n, seen = 1000, []
    for row in (0, 37, 58, 99):
        problems = repeated(data, row, n)
        (chance, *_) = chances(model, data, problems.select(torch.tensor([0])))
        written = generate(model, data.writer, problems, choose=sampled(generator("s", row)))
        reference = verify(model, data.writer.write(problems)).reference
        width = reference.shape[1]
        hits = int(((written[:, :width] == reference).all(dim=1) & (written[:, width:] == PAD).all(dim=1)).sum())
        assert abs(hits - n * chance) < 4.5 * math.sqrt(n * chance * (1 - chance)) + 1, (hits / n, chance)
        seen.append(chance)
    assert max(seen) > 0.05 and min(seen) < 0.9, "neither never nor always"


def test_the_first_token_is_drawn_from_the_whole_softmax_and_by_its_generator():
    model, data = half_trained("decoder")
    n, problems = 4000, repeated(data, 47, 4000)
    batch = data.writer.write(problems.select(torch.tensor([0])))
    start = int(batch.loss.int().argmax())
    with torch.no_grad():
        expected = model(batch.tokens, batch.ids)[0, start - 1].softmax(dim=0).tolist()
    found = collections.Counter(generate(model, data.writer, problems, choose=sampled(generator("f")))[:, 0].tolist())
    for token, chance in enumerate(expected):
        assert abs(found[token] - n * chance) < 4.5 * math.sqrt(n * chance * (1 - chance)) + 2, token
    problems = data.test(1, 2, 50)
    one, two, other = (generate(model, data.writer, problems, choose=sampled(generator("e", k))) for k in (0, 0, 1))
    assert torch.equal(one, two) and not torch.equal(one, other)


@pytest.mark.parametrize("architecture", KINDS)
def test_choosing_the_most_likely_is_what_writing_does(architecture):
    model, data = half_trained(architecture)
    problems = data.test(1, 2, 60)
    verified = verify(model, data.writer.write(problems))
    greedy = generate(model, data.writer, problems)
    assert 0 < verified.correct.float().mean() < 1
    assert torch.equal(greedy, generate(model, data.writer, problems, choose=most_likely))
    width = min(greedy.shape[1], verified.reference.shape[1])
    same = (greedy[:, :width] == verified.reference[:, :width]).all(dim=1) & (greedy[:, width:] == PAD).all(dim=1)
    assert torch.equal(same, verified.correct)


@pytest.mark.parametrize("architecture", KINDS)
def test_a_rule_is_told_the_example_and_the_slot_of_every_token_it_chooses(architecture):
    """Whoever is done is not asked again, and what is chosen is what is written and read further."""
    model, data = random_model(encoder_decoder(two_operands(1, 2), encoding="sinusoidal", **KINDS[architecture]))
    problems = data.test(2, 2, 9)
    texts = torch.randint(2, 12, (9, 4), generator=torch.Generator().manual_seed(0))
    ends = [0, 1, 1, 2, 3, 3, 9, 9, 9]  # three never end
    for row, end in enumerate(ends):
        if end < 4:
            texts[row, end] = END
    asked: list[tuple[int, int]] = []

    def choose(logits, rows, slots):
        assert logits.shape == (len(rows), len(data.vocab)) and len(rows) == len(slots)
        for found, row, slot in zip(logits, rows.tolist(), slots.tolist(), strict=True):
            batch = data.writer.write(problems.select(torch.tensor([row])))
            start = int(batch.loss.int().argmax())
            text = torch.cat([batch.tokens[0, :start], texts[row, :slot], torch.tensor([PAD])])[None]
            so_far = batch._replace(tokens=text, ids=torch.arange(text.shape[1])[None, None])
            with torch.no_grad():
                torch.testing.assert_close(found, model.predict(so_far)[0, -1], atol=1e-5, rtol=1e-5)
        asked.extend(zip(rows.tolist(), slots.tolist(), strict=True))
        return texts[rows, slots]

    written = generate(model, data.writer, problems, choose=choose)
    assert sorted(asked) == [(row, slot) for row, end in enumerate(ends) for slot in range(min(end, 3) + 1)]
    for row, end in enumerate(ends):
        assert written[row].tolist() == texts[row, : end + 1].tolist() + [PAD] * max(0, 3 - end)


def test_sampled_scores_count_what_was_sampled():
    model, data = half_trained("decoder")
    problems = data.test(1, 2, 100)
    found = score_sampled(model, data.writer, problems, generator("c"))
    written = generate(model, data.writer, problems, choose=sampled(generator("c")))
    reference = verify(model, data.writer.write(problems)).reference
    texts = [[data.vocab.decode(row) for row in side] for side in (written, reference)]
    assert found["n"] == 100 and found["correct"] == sum(a == b for a, b in zip(*texts, strict=True))
    finals = [[text.split("$")[0] for text in side] for side in texts]
    assert found["answer_correct"] == sum(a == b for a, b in zip(*finals, strict=True))
    assert found["reference_tokens"] == sum(map(len, texts[1])) and found["edit_sum"] > 0
    expected = sum(chances(model, data, problems))
    assert abs(found["correct"] - expected) < 4.5 * math.sqrt(expected) + 1
    assert "sampled" not in score_cell(model, data.writer, problems, True)


def test_runs_have_a_mode_of_their_own_for_sampled_text_and_cells_done_are_not_redone(tmp_path, monkeypatch):
    def run(seed=0):
        return lengen.execute(SAMPLED, seed, tmp_path, lambda progress: None).grid

    whole = run()
    assert {mode for modes in whole.scores.values() for mode in modes} == {"teacher_forced", "free_running", "sampled"}
    assert [modes["sampled"]["n"] for modes in whole.scores.values()] == [5, 5, 5]
    assert [modes["teacher_forced"]["n"] for modes in whole.scores.values()] == [12, 12, 12]
    assert run() == whole, "a run measured again samples the same"
    assert Grid.from_csv(whole.to_csv()) == whole
    done = Grid(("length",))
    for mode, score in whole.scores[(2,)].items():
        done.add((2,), mode, score | {"correct": 1, "answer_correct": 2})
    done.add((1,), "sampled", counted(5, 5, 5, 0, 20))
    (tmp_path / PARTIAL).write_text(sealed(done.to_csv(), ""))
    monkeypatch.setattr("lengen.callbacks.accuracy_grid.identity", lambda *what: "")
    drawn = []
    monkeypatch.setattr(
        "lengen.callbacks.accuracy_grid.score_sampled",
        lambda model, writer, problems, stream: drawn.append(int(problems.lengths[0, 0])) or counted(5, 0, 0, 9, 20),
    )
    again = run()
    assert drawn == [3] and again.scores[(2,)] == done.scores[(2,)]


@pytest.mark.parametrize("options", [{"architecture": Encoder()}, {"causal": False, "attention_bias": Given()}])
def test_models_that_write_all_at_once_are_not_sampled(options):
    """`write` reads their whole text off one pass: what a rule would choose changes nothing."""
    wrong = encoder_decoder(fixed_data("addition"), test=replace(TEST, sampled=5), encoding="sinusoidal", **options)
    refused(SettingError, r"test\.sampled=5: ", validate, wrong)
    validate(replace(wrong, test=TEST))


def test_an_encoder_trains_on_its_response_only():
    """What it is trained on is what is hidden from it: of all tokens nothing would be left to read."""
    train = replace(TRAIN, loss="all")
    with pytest.raises(SettingError, match=r"train\.loss=all: "):
        validate(encoder_decoder(two_operands(1), train, architecture=Encoder(), encoding="sinusoidal"))
    validate(encoder_decoder(two_operands(1), train, encoding="sinusoidal"))
    validate(spec(two_operands(1), train, encoding="sinusoidal"))

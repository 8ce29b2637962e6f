"""Losses by token and by digit, what is tracked while a model trains, and the tokens and steps it trains on."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import ArithmeticData, SettingError, Spec, TrainSpec, replace, validate, verify
from lengen.callbacks.curves_by_length import LearningCurves, Losses, digit_losses, response_losses
from lengen.callbacks.loggers import METRICS, read_metrics
from lengen.data.task_data import TaskData, targets
from lengen.formats.base import PAD
from lengen.solve import encode
from lengen.training.model_building import build_model, load
from lengen.training.module import build_optimizer, learning_rate_factor, response_loss
from lengen.training.run import WEIGHTS, execute
from tests.fixtures.models import encoder_decoder, random_model
from tests.fixtures.settings import TEST, TRAIN, fixed_data, kill_at, spec, two_operands

KINDS = {
    "decoder": {"architecture": "decoder"},
    "encoder_decoder": {"encoder_layers": 1},
    "encoder": {"architecture": "encoder"},
}
FORMATS = {
    "plain": {}, "reversed": {"reverse_response": True}, "scratchpad": {"scratchpad": True},
    "mix": {"subtasks": lengen.SUBTASKS},
}  # fmt: skip
TRACKED = encoder_decoder(
    two_operands(1, 2, spaces=lengen.RandomSpaces(0.5), examples=200),
    replace(TRAIN, steps=10, evaluations=4, bucket=3, lr=1e-2),
    replace(TEST, lengths=(1, 2, 3), counts=(2,), examples=8, track=6), architecture="decoder", encoding="sinusoidal",
    dropout=0.3, layers=1,
)  # fmt: skip
"""Evaluated after steps 3, 6, 9 and 10."""


@pytest.mark.parametrize(("kind", "name"),
    [("encoder", "padded"), *((kind, name) for kind in KINDS for name in FORMATS if kind != "encoder")])  # fmt: skip
def test_losses_are_those_of_each_response_token_by_hand(name, kind):
    written = two_operands(1, 2, **{"padded": {"pad": True}, **FORMATS}[name])
    model, data = random_model(encoder_decoder(written, encoding="sinusoidal", **KINDS[kind]))
    problems = data.task.train(30, torch.Generator().manual_seed(0))
    batch = data.writer.write(problems)
    found, verified = response_losses(model, batch), verify(model, batch)
    with torch.no_grad():
        logits = model.predict(batch).float()
    for row in range(30):
        places = batch.loss[row].nonzero()[:, 0].tolist()
        by_hand = []
        for place in places:
            scores = logits[row, place - 1].tolist()
            top = max(scores)
            by_hand.append(top + math.log(sum(math.exp(s - top) for s in scores)) - scores[batch.tokens[row, place]])
        size = int(found.sizes[row])
        assert size == len(places) and found.loss[row, :size].tolist() == pytest.approx(by_hand, abs=1e-4)
        assert not found.loss[row, size:].any()
    assert torch.equal(found.correct, verified.correct) and found.loss.dtype == torch.float32
    assert found.loss.shape == verified.reference.shape
    summed = response_loss(logits, batch.tokens, batch.loss)
    assert float(found.loss.sum()) == pytest.approx(float(summed), rel=1e-4)


@given(st.lists(st.lists(st.floats(0, 9, width=32), min_size=1, max_size=6), min_size=1, max_size=6), st.booleans())
def test_digit_losses_line_up_units(rows, reverse):
    """Answers of several lengths, digits as written, then the end, whose loss counts for none."""
    width = max(map(len, rows)) + 1
    loss = torch.tensor([[*row, 5.0, *[0.0] * (width - len(row) - 1)] for row in rows])
    found = digit_losses(Losses(loss, torch.tensor([len(row) + 1 for row in rows]), torch.ones(len(rows))), reverse)
    units_first = [row if reverse else row[::-1] for row in rows]
    columns = [[row[k] for row in units_first if k < len(row)] for k in range(width - 1)]
    assert found == pytest.approx([sum(column) / len(column) for column in columns], abs=1e-4)


def run(folder: Path, spec: Spec = TRACKED) -> dict[str, list[tuple[int, float]]]:
    folder.mkdir(exist_ok=True)
    execute(spec, 0, folder, lambda progress: None)
    rows: dict[str, list[tuple[int, float]]] = {}
    for step, name, value in read_metrics(folder / METRICS):
        rows.setdefault(name, []).append((step, value))
    return rows


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracked")
    return folder, run(folder)


def test_every_evaluation_has_a_row_of_each_name_and_changes_nothing_of_the_training(finished, tmp_path):
    folder, rows = finished
    by_length = [f"{kind}.{length}" for kind in ("exact_match", "answer_loss") for length in (1, 2, 3)]
    names = [*by_length, "digit_loss.1", "digit_loss.2", "digit_loss.3"]
    assert set(rows) == {*names, "train_loss", "val_exact_match"}
    assert all([step for step, _ in rows[name]] == [3, 6, 9, 10] for name in [*names, "val_exact_match"])
    model, data = load(TRACKED, folder / WEIGHTS), ArithmeticData(TRACKED, 0)
    for length in (1, 2, 3):  # without dropout, whatever the training has
        found = response_losses(model, data.writer.write(data.test(length, 2, 6)))
        mean = float(found.loss.sum() / found.sizes.sum())
        assert rows[f"answer_loss.{length}"][-1][1] == pytest.approx(mean, rel=1e-4)
        assert rows[f"exact_match.{length}"][-1][1] == pytest.approx(float(found.correct.float().mean()), rel=1e-5)
        if length == 2:
            digits = digit_losses(found, reverse=False)
            assert [rows[f"digit_loss.{place}"][-1][1] for place in (1, 2, 3)] == pytest.approx(digits, rel=1e-4)
    alone = run(tmp_path, replace(TRACKED, test={"track": 0}))
    assert alone == {name: rows[name] for name in ("train_loss", "val_exact_match")}
    assert (tmp_path / WEIGHTS).read_bytes() == (folder / WEIGHTS).read_bytes()


@pytest.mark.parametrize("step", [2, 4, 9])
def test_a_killed_run_tracks_the_same(step, finished, tmp_path, monkeypatch):
    folder, _ = finished
    kill_at(step, monkeypatch, run, tmp_path)
    with (tmp_path / METRICS).open("a") as file:
        file.write(f"{step + 1},answer_loss.2,0.5\n{step + 1},exact_ma")
    run(tmp_path)
    for name in (METRICS, WEIGHTS):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize(("task", "format", "expected"), [
    (lengen.PairAddition(digits=2), lengen.Linear(), 3),
    (lengen.PairAddition(digits=2), lengen.Linear(width=4, reverse_response=True), 4),
    (lengen.PairAddition(digits=2), lengen.Linear(index_hints=9), 0), (lengen.Increment(longest=2), lengen.Linear(), 3),
    (lengen.Carries(longest=2), lengen.Linear(reverse_response=True), 0),
    (lengen.Filling(longest=2, padding=2), lengen.Linear(), 0), (lengen.Copy(digits=2), lengen.Linear(), 0),
    (lengen.TwoOperandAddition((1, 2)), lengen.DigitSteps(), 0),
])  # fmt: skip
def test_digits_are_tracked_where_every_token_is_a_digit_of_one_number(task, format, expected):
    data = lengen.DataSpec(task=task, format=format, position_ids=lengen.NoPositionIds())
    made_of = spec(data, test=replace(TEST, lengths=(2,), track=40), encoding="none")
    curves = dict(LearningCurves((2,), (1,), 40).points(build_model(made_of, 0).eval(), TaskData(made_of, 0)))
    digits = [name for name in curves if name.startswith("digit_loss")]
    assert digits == [f"digit_loss.{place}" for place in range(1, expected + 1)]
    assert {"exact_match.2", "answer_loss.2"} <= curves.keys()
    other = LearningCurves((3,), (1,), 40).points(build_model(made_of, 0).eval(), TaskData(made_of, 0))
    assert not any(name.startswith("digit_loss") for name, _ in other), "at the longest trained length alone"


@pytest.mark.parametrize("name", FORMATS)
def test_all_tokens_but_the_first_are_targets_where_a_specification_says_so(name):
    data = two_operands(1, 2, 4, spaces=lengen.RandomSpaces(0.5), **FORMATS[name])
    train = TrainSpec(steps=9, batch=16, bucket=2, lr=1e-3)
    response = ArithmeticData(encoder_decoder(data, train, architecture="decoder"), 0)
    whole = ArithmeticData(replace(response.spec, train={"loss": "all"}), 0)
    for step in range(4):
        one, all_ = response.batch(step), whole.batch(step)
        assert torch.equal(one.tokens, all_.tokens) and torch.equal(one.ids, all_.ids)
        for tokens, few, many in zip(one.tokens.tolist(), one.loss.tolist(), all_.loss.tolist(), strict=True):
            size = len(response.vocab.decode(tokens))
            assert many == [False] + [True] * (size - 1) + [False] * (len(tokens) - size)
            equals = response.vocab.decode(tokens).index("=") + 1
            assert few == [False] * equals + many[equals:]
    window = [whole.batch(step) for step in (0, 1)]
    assert float(window[0].scale) == sum(int((b.tokens[:, 1:] != PAD).sum()) for b in window) / 2
    assert torch.equal(targets(whole.validation(), "response"), response.validation().loss)
    assert torch.equal(whole.validation().loss, response.validation().loss), "scores are of the response alone"


def test_the_schedule_of_section_4_2_4_what_is_trained_on_and_what_is_not_tracked():
    """Linear over T_w = 100 steps, then half a cosine to a tenth at T_max, and a tenth from there on."""
    peak, rest, last = 3e-4, 3e-5, 2000
    train = TrainSpec(steps=last, batch=1, lr=peak, warmup_steps=100)
    for t in (0, 1, 50, 99, 100, 101, 750, 1050, 1999, 2000, 2001, 9999):
        if t < 100:
            expected = peak * t / 100
        elif t <= last:
            expected = rest + 0.5 * (peak - rest) * (1 + math.cos(math.pi * (t - 100) / (last - 100)))
        else:
            expected = rest
        assert peak * learning_rate_factor(t, train) == pytest.approx(expected, rel=1e-12)
    assert learning_rate_factor(7, replace(train, warmup=0.5)) == 0.07, "the number has the say"
    assert learning_rate_factor(500, replace(train, warmup=0.5, warmup_steps=0)) == 0.5
    plain = encoder_decoder(two_operands(3), architecture="decoder")
    for loss, expected in (("response", [0] * 9 + [1] * 4), ("all", [0] + [1] * 12)):
        shown = encode(replace(plain, train={"loss": loss}), ["123", "456"])
        assert "".join(shown["tokens"]) == "$123+456=579$" and shown["loss"] == expected
    split = encode(
        replace(plain, model={"architecture": lengen.EncoderDecoder()}, train={"loss": "all"}), ["123", "456"]
    )
    assert split["source"]["loss"] == [0] * 9 and split["target"]["loss"] == [0, 1, 1, 1, 1]
    assert ("".join(split["source"]["tokens"]), "".join(split["target"]["tokens"])) == ("$123+456=", "$579$")
    bias = lengen.EncoderDecoder(attention_bias=lengen.Window(width=1), causal=False)
    seeing = encoder_decoder(fixed_data("addition"), test=replace(TEST, lengths=(2,)), architecture=bias)
    validate(seeing)
    with pytest.raises(SettingError, match=r"test\.track=5: losses are of tokens given those before them") as caught:
        validate(replace(seeing, test={"track": 5}))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_decay_is_for_matrices_and_tables_only(kind):
    train = TrainSpec(steps=10, batch=1, lr=0.1, weight_decay=0.1, warmup_steps=1)
    ids = {"position_ids": lengen.Abacus(9)}
    model = build_model(encoder_decoder(two_operands(1, pad=True, **ids), train, encoding="learned", **KINDS[kind]), 0)
    decayed, kept = build_optimizer(model, train)[0].param_groups
    assert (decayed["weight_decay"], kept["weight_decay"]) == (0.1, 0.0)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = [[names[id(p)] for p in group["params"]] for group in (decayed, kept)]
    assert sorted(groups[0] + groups[1]) == sorted(names.values()), "each exactly once"
    assert all(name.endswith("bias") or "norm" in name or "before" in name for name in groups[1])
    assert {"embedding.weight", "encoding.tables.0.weight", "head.weight"} <= set(groups[0])
    assert not any(name.endswith("bias") for name in groups[0])

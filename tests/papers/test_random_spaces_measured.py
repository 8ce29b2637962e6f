"""Runs of eight steps leave every array that figures read; uncertainty and losses against loops without a cache."""

import itertools
import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import SUBTASKS, ArithmeticData, DataSpec, Decoder, Linear, RandomSpaces, Spec, from_dict, generate, verify
from lengen.callbacks.loggers import METRICS, read_metrics
from lengen.data.batch_and_random_spaces import Batch
from lengen.experiment import PROFILES
from lengen.formats.base import END, PAD
from lengen.settings.changes import overlay
from lengen.training.dispatch import run_setting
from lengen.training.model_building import load
from lengen.training.run import WEIGHTS
from papers.random_spaces import measurements as measured
from papers.random_spaces.experiments import EXPERIMENTS
from papers.random_spaces.profiles import MeasuredSpec
from tests.fixtures.models import encoder_decoder, trained
from tests.fixtures.refusals import refused
from tests.fixtures.written import number, steps

NAMES = {
    "spaces": "fig4.5/spaces", "scratchpad": "fig4.6/scratchpad", "mix": "table4.3/10k-mix-w64",
    "abacus": "fig4.5/abacus", "universal": "fig4.2/1-3_digit", "looped": "looped/injected",
}  # fmt: skip
DECLARED = {item.name.removeprefix("random_spaces/"): item for item in EXPERIMENTS}
SPECS = {kind: DECLARED[name].specs["smoke"] for kind, name in NAMES.items()}
FAMILIES = {
    "scratchpad": {
        **{f"hits.part.{name}": np.uint8 for name in measured.PARTS},
        **{f"values.edits.{name}": np.float32 for name in measured.PARTS},
    },
    "mix": {
        **{f"hits.subtask.{name}": np.uint8 for name in SUBTASKS},
        **{f"values.loss.{name}": np.float32 for name in SUBTASKS},
    },
}
"""Arrays of one number per example and tested length, beside the answer loss and, of answers alone, omitted digits."""
TRUE = "7 6 5 + 9 8 7;c=0,7+9+0=6,c=1;6+8+1=5,c=1;5+7+1=3,c=1|1356$"
"""567 + 789."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    done = {}

    def run(name: str):
        if name not in done:
            folder, reports = tmp_path_factory.mktemp(name), []
            done[name] = folder, run_setting(SPECS[name], 0, folder, reports.append), reports
        return done[name]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_a_run_leaves_every_array_of_its_kind(name, runs):
    spec, (folder, outcome, reports) = SPECS[name], runs(name)
    lengths, arrays = spec.test.lengths, dict(outcome.arrays)
    assert sorted(outcome.grid.scores) == [(length,) for length in lengths] and outcome.grid.axes == ("length",)
    families = {"values.answer_loss": np.float32, **FAMILIES.get(name, {"hits.omitted": np.uint8})}
    for family, dtype in families.items():
        for length in lengths:
            array = arrays.pop(f"{family}.{length}")
            assert array.shape == (spec.measure.examples,) and array.dtype == dtype
            assert np.isfinite(array).all() and (array >= 0).all() and (dtype != np.uint8 or set(array) <= {0, 1})
    for length in spec.measure.uncertainty:
        places = length + 2  # the longest sum, and the end
        table, prompts = arrays.pop(f"uncertainty.{length}"), arrays.pop(f"uncertainty_prompts.{length}")
        assert table.shape[:3] == (2, 3, 2) and table.dtype == np.float32 and places - 1 <= table.shape[3] <= places
        assert prompts.shape == (2, table.shape[3]) and prompts.dtype == np.int32
        assert prompts[0, 0] == prompts[1, 0] == spec.measure.prompts and (np.diff(prompts) <= 0).all()
        entropy, early = arrays.pop(f"values.entropy.{length}"), arrays.pop(f"hits.early_end.{length}")
        right = arrays.pop(f"values.right_digits.{length}")
        assert right.shape == (spec.measure.prompts,) and ((right >= 0) & (right <= 1)).all()
        assert entropy.shape == early.shape == (spec.measure.prompts,)
        assert (entropy.dtype, early.dtype) == (np.float32, np.uint8)
        assert (entropy > 0).all() and (entropy <= math.log(100) + 1e-5).all()
    for length in spec.measure.alignment:
        shares, tokens = arrays.pop(f"values.alignment.{length}"), arrays.pop(f"attention_tokens.{length}")
        assert shares.shape == (spec.measure.prompts,) and (shares > 0).all() and (shares <= 1 + 1e-5).all()
        size = 2 * length + 3  # $, +, =, then the answer and its end
        assert arrays.pop(f"attention.{length}").shape == (spec.model.layers, len(tokens) - 1, len(tokens) - 1)
        assert len(tokens) - size in (length + 1, length + 2)
    assert not arrays, "nothing else"
    names = {metric for _, metric, _ in read_metrics(folder / METRICS)}
    followed = {metric.partition(".")[2] for metric in names if metric.startswith("subtask.")}
    assert followed == (set(SUBTASKS) if name == "mix" else set())
    assert {f"{kind}.{length}" for kind in ("exact_match", "answer_loss") for length in lengths} <= names
    tracked_digits = {metric for metric in names if metric.startswith("digit_loss.")}
    longest = {f"digit_loss.{place}" for place in range(1, spec.data.task.longest + 1)}
    assert not tracked_digits if name == "scratchpad" else longest <= tracked_digits
    assert ("sampled" in outcome.grid.scores[lengths[:1]]) == (spec.test.sampled > 0)
    assert {report.stage for report in reports} >= {"train", "measure"} and all(r.step <= r.steps for r in reports)
    if spec.test.attention:
        assert outcome.attention.weights.shape[:2] == (spec.model.layers * spec.model.loops, spec.model.heads)


@pytest.mark.slow
def test_a_run_measured_again_gives_the_same_arrays(runs):
    folder, outcome, _ = runs("mix")
    again = run_setting(SPECS["mix"], 0, folder, lambda progress: None)
    assert again.grid == outcome.grid and again.arrays.keys() == outcome.arrays.keys()
    assert all(np.array_equal(again.arrays[name], array, equal_nan=True) for name, array in outcome.arrays.items())


@pytest.mark.parametrize("name", ["mix", "spaces"])
def test_losses_and_sub_tasks_are_those_of_the_stored_weights(name, runs, monkeypatch):
    """One problem at a time, sub-tasks by the prefix that is shown; in parts as at once."""
    spec, (folder, outcome, _) = SPECS[name], runs(name)
    model, data = load(spec, folder / WEIGHTS), ArithmeticData(spec, 0)
    vocab = data.vocab
    for length in spec.test.lengths[1:3]:
        problems = data.test(length, 2, spec.measure.examples)
        asked = [(f"loss.{task}", f"{task}$") for task in (SUBTASKS if name == "mix" else ())]
        for kind, (family, prefix) in enumerate([*asked, ("answer_loss", asked[0][1] if asked else "$")]):
            kinds = None if not asked else torch.full((len(problems.lengths),), kind % len(asked))
            for row, expected in enumerate(outcome.arrays[f"values.{family}.{length}"]):
                batch = data.writer.write(problems._replace(kinds=kinds).select(torch.tensor([row])))
                assert vocab.decode(batch.tokens[0]).startswith(prefix)
                with torch.no_grad():
                    logits = model.predict(batch)[0].log_softmax(dim=-1)
                places = batch.loss[0].nonzero()[:, 0]
                own = -logits[places - 1, batch.tokens[0, places]].mean()
                assert float(own) == pytest.approx(float(expected), rel=1e-4)
                if family != "answer_loss" and asked:
                    right = bool((logits[places - 1].argmax(dim=-1) == batch.tokens[0, places]).all())
                    assert right == bool(outcome.arrays[f"hits.subtask.{asked[kind][0][5:]}.{length}"][row])
    problems = data.test(2, 2, spec.measure.examples)
    before = measured.answers(model, data, 2, problems)
    monkeypatch.setattr("lengen.digits.AT_ONCE", 3)
    after = measured.answers(model, data, 2, problems)
    assert all(np.allclose(before[key], after[key], atol=1e-5) for key in before)


def test_parts_alignment_and_omitted_digits_are_those_that_the_model_writes(runs):
    spec, (folder, outcome, _) = SPECS["scratchpad"], runs("scratchpad")
    model, data = load(spec, folder / WEIGHTS), ArithmeticData(spec, 0)
    problems = data.test(2, 2, spec.measure.examples)
    texts = [data.vocab.decode(row) for row in generate(model, data.writer, problems)]
    true = [data.vocab.decode(row) for row in verify(model, data.writer.write(problems)).reference]
    assert all(text.endswith("$") and text.count("|") == 1 for text in true)
    for name, array in measured.score_parts(texts, true).items():
        assert np.array_equal(outcome.arrays[f"{name}.2"], array)
    spec, (folder, outcome, _) = SPECS["abacus"], runs("abacus")
    model, data = load(spec, folder / WEIGHTS), ArithmeticData(spec, 0)
    for length in spec.measure.alignment:
        problems = data.test(length, 2, spec.measure.prompts)
        for row, expected in enumerate(outcome.arrays[f"values.alignment.{length}"]):
            batch = data.writer.write(problems.select(torch.tensor([row])))
            text = "".join(data.vocab.decode([token]) for token in batch.tokens[0].tolist())
            with torch.no_grad():
                layers = [layer["self"][0] for layer in model.attention(batch)]
            shares = []
            for place in range(length):  # operands and answer are reversed: units first
                a, b, answer = 1 + place, length + 2 + place, 2 * length + 3 + place
                assert text[a].isdigit() and text[b].isdigit() and text[answer].isdigit()
                assert (int(text[a]) + int(text[b]) - int(text[answer])) % 10 in (0, 9), "the digits that are added"
                shares.append(max(float(head[answer - 1, a] + head[answer - 1, b]) for one in layers for head in one))
            assert sum(shares) / length == pytest.approx(float(expected), abs=1e-5)
    spec, (folder, outcome, _) = SPECS["spaces"], runs("spaces")
    model, data = load(spec, folder / WEIGHTS), ArithmeticData(spec, 0)
    problems = data.test(2, 2, spec.measure.examples)
    reference = verify(model, data.writer.write(problems)).reference
    true = [data.vocab.decode(row) for row in reference]
    written = [data.vocab.decode(row) for row in generate(model, data.writer, problems)]
    expected = [
        any("".join(kept) == own for size in range(len(answer)) for kept in itertools.combinations(answer, size))
        for own, answer in zip(written, true, strict=True)
    ]
    assert outcome.arrays["hits.omitted.2"].tolist() == expected
    shorter = reference.clone()
    shorter[:, :-1] = reference[:, 1:]  # all but the first token
    shorter[:, -1] = PAD
    assert measured.shortened(shorter, reference).all() and not measured.shortened(reference, reference).any()


def test_a_head_that_looks_at_the_added_digits_alone_is_aligned_and_an_even_one_is_not():
    rows = [(7, 2, 5), (6, 1, 4)]
    sharp, even = torch.zeros(1, 2, 9, 9), torch.full((1, 2, 9, 9), 1 / 9)
    for row, a, b in rows:
        sharp[0, 1, row, a], sharp[0, 1, row, b] = 0.25, 0.75
    assert measured.digit_alignments(sharp, rows).tolist() == [1, 1]
    torch.testing.assert_close(measured.digit_alignments(even, rows), torch.full((2,), 2 / 9))


def half_trained():
    train = lengen.TrainSpec(steps=40, batch=32, bucket=2, lr=5e-3)
    data = DataSpec(task=lengen.TwoOperandAddition((1, 2)), format=Linear(), spaces=RandomSpaces(ratio=0.5))
    return trained(encoder_decoder(data, train, architecture=Decoder(), encoding=lengen.Sinusoidal()), 150)


def literal(model, data, length: int, prompts: int, suppress: bool):
    """Prompt by prompt and token by token, the whole text read again each time."""
    problems, rows, early = data.test(length, 2, prompts), [], []
    slots = int(data.writer.plan(problems)[1].max())
    for prompt in range(prompts):
        batch = data.writer.write(problems.select(torch.tensor([prompt])))
        start = int(batch.loss.int().argmax())
        true, text, found = batch.tokens[0, start:].tolist(), batch.tokens[0, :start].tolist(), []
        while len(text) - start < slots:
            tokens = torch.tensor([[*text, PAD]])
            with torch.no_grad():
                logits = model.predict(Batch(tokens, torch.arange(len(text) + 1)[None, None], tokens > 99))[0, -1]
            chances = logits.softmax(dim=0).tolist()
            place = len(text) - start
            if place < len(true):
                entropy = -sum(p * math.log(p) for p in chances if p > 0)
                found.append((entropy, chances[END], chances[true[place]]))
            order = sorted(range(len(chances)), key=lambda token: -chances[token])
            text.append(order[1] if suppress and order[0] == END else order[0])
            if text[-1] == END:
                break
        early.append(text[-1] == END and len(text) - start < len(true))
        rows.append(found)
    return rows, early


@pytest.mark.parametrize("suppress", [False, True])
@pytest.mark.parametrize("length", [2, 3])
def test_uncertainty_agrees_with_a_loop_without_cache(length, suppress):
    model, data = half_trained()
    rows, early = literal(model, data, length, 8, suppress)
    found = measured.uncertainty(model, data.writer, data.test(length, 2, 8), suppress_end=suppress)
    assert found.early.tolist() == early and any(early) == (not suppress)
    assert found.entropy.shape == found.end.shape == found.correct.shape == (8, length + 2)
    for prompt, row in enumerate(rows):
        measures = np.stack([found.entropy[prompt], found.end[prompt], found.correct[prompt]], axis=1)
        np.testing.assert_allclose(measures[: len(row)], row, atol=1e-5)
        assert np.isnan(measures[len(row) :]).all(), "nothing where nothing was written or asked for"


def test_a_suppressed_or_late_end_is_not_written_early_and_its_probability_is_recorded():
    model, data = half_trained()
    problems = data.test(3, 2, 40)
    free, held = (measured.uncertainty(model, data.writer, problems, suppress_end=end) for end in (False, True))
    assert free.early.any() and not held.early.any()
    sizes = [len(str(sum(int(text) for text in pair))) + 1 for pair in texts(problems)]
    assert (~np.isnan(held.entropy)).sum(axis=1).tolist() == sizes, "every place of the true answer is written"
    stops = (~np.isnan(free.entropy)).sum(axis=1)
    assert (stops < sizes).any()
    for prompt, stop in enumerate(stops):  # up to the free text's last token both texts are the same
        np.testing.assert_allclose(held.end[prompt, :stop], free.end[prompt, :stop], atol=1e-6)
    problems = data.test(1, 2, 100)
    written, reference = generate(model, data.writer, problems), verify(model, data.writer.write(problems)).reference
    decode = data.vocab.decode
    pairs = [(decode(a), decode(b)) for a, b in zip(written, reference, strict=True)]
    early = measured.uncertainty(model, data.writer, problems, suppress_end=False).early.tolist()
    assert early == [a.endswith("$") and len(a) < len(b) for a, b in pairs]
    assert any(a == b for a, b in pairs)


def texts(problems) -> list[list[str]]:
    return [
        ["".join(map(str, number[:size][::-1])) for number, size in zip(row, sizes, strict=True)]
        for row, sizes in zip(problems.operands.tolist(), problems.lengths.tolist(), strict=True)
    ]


@pytest.mark.parametrize(("fields", "message"), [
    ({"examples": 0}, "measure.examples=0: expected int >= 1"),
    ({"prompts": 0}, "measure.prompts=0: expected int >= 1"),
    ({"uncertainty": (3, 0)}, "measure.uncertainty[1]=0: expected int >= 1"),
])  # fmt: skip
def test_measurements_that_cannot_be_made_are_refused_before_training(fields, message, tmp_path):
    wrong = overlay(SPECS["spaces"], {"measure": fields})
    for call in (lambda: lengen.validate(wrong), lambda: run_setting(wrong, 0, tmp_path, lambda progress: None)):
        with pytest.raises(lengen.SettingError) as caught:
            call()
        assert str(caught.value) == message
    assert not list(tmp_path.iterdir()), "nothing was trained"


def test_specifications_survive_json_and_summaries_are_over_prompts_that_still_write():
    for experiment in EXPERIMENTS:
        for profile in PROFILES:
            if profile in experiment.specs:
                spec = experiment.specs[profile]
                assert from_dict(spec.to_dict(), MeasuredSpec) == spec
                assert type(from_dict(spec.to_dict())) is Spec
                functions = [callback.function for callback in measured.measurements(spec)]
                assert functions == [measured.answers, measured.by_place, measured.alignments]
                assert max(spec.measure.uncertainty, default=1) <= max(spec.test.lengths)
    generator = np.random.default_rng(0)
    values = generator.random((3, 20, 6)).astype(np.float32)
    right = np.zeros((20, 6), np.float32)
    values[:, np.arange(6) >= generator.integers(1, 6, 20)[:, None]] = np.nan
    table, prompts = measured.summary(measured.Uncertainty(*values, np.zeros(20, bool), right))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.stack([np.nanmean(values, axis=1), np.nanstd(values, axis=1)], axis=1)
    np.testing.assert_allclose(table, expected, atol=1e-6)
    assert table.shape == (3, 2, 6) and prompts.tolist() == (~np.isnan(values[0])).sum(axis=0).tolist()
    assert prompts[-1] == 0 and np.isnan(table[:, :, -1]).all() and table.dtype == np.float32


def hits(written: str, reference: str = TRUE) -> list[int]:
    scores = measured.score_parts([written], [reference])
    return [int(scores[f"hits.part.{name}"][0]) for name in measured.PARTS[:-1]]


def edits(written: str, reference: str = TRUE) -> list[int]:
    scores = measured.score_parts([written], [reference])
    return [int(scores[f"values.edits.{name}"][0]) for name in measured.PARTS[:-1]]


@given(number(), number())
def test_a_true_scratchpad_is_right_in_every_part_and_implies_its_answer(a, b):
    response = steps(a, b)
    parts = measured.split_parts(response)
    assert parts.reversed == " ".join(a[::-1]) + " + " + " ".join(b[::-1])
    assert parts.answer == measured.implied_answer(parts.partials) == str(int(a) + int(b))
    assert f"{parts.reversed};{parts.partials}|{parts.answer}$" == response
    assert hits(response, response) == [1] * 5 and edits(response, response) == [0] * 5


@pytest.mark.parametrize(("written", "right", "distances", "why"), [
    (TRUE.replace("|1356", "|136"), [1, 1, 0, 0, 1], [0, 0, 1, 1, 0], "only the reading off is wrong"),
    (TRUE.replace("6+8+1=5", "6+8+1=4"), [1, 0, 1, 0, 0], [0, 1, 0, 1, 1], "the answer is right in spite of a step"),
    (TRUE.replace("6+8+1=5", "6+8+1=4").replace("|1356", "|1346"), [1, 0, 0, 1, 0], [0, 1, 1, 0, 1],
     "a wrong step, faithfully read off"),
    (TRUE.replace("c=1|", "c=0|"), [1, 0, 1, 0, 0], [0, 1, 0, 1, 1], "the last carry is a digit of the answer"),
    (TRUE.replace("7 6 5 +", "6 5 +"), [0, 1, 1, 1, 1], [2, 0, 0, 0, 0], "a digit is missing where it is reversed"),
    (TRUE.replace("7+9+0=6", "7+8+0=6"), [1, 0, 1, 1, 1], [0, 1, 0, 0, 0], "a wrong summand, a right result"),
    (TRUE.replace(";5+7+1=3,c=1", ""), [1, 0, 1, 0, 0], [0, 12, 0, 1, 1], "a step left out: implies 156"),
    (TRUE.replace("6+8+1=5,c=1", "6+8+1=5,1"), [1, 0, 1, 0, 0], [0, 2, 0, 1, 1], "a step that cannot be read: 136"),
    (TRUE.replace("|", ""), [1, 0, 0, 0, 0], None, "no bar: the last step runs on, and there is no answer"),
    (TRUE.replace(";", ""), [0, 0, 1, 0, 0], None, "no semicolon: no partials"),
    (TRUE.replace("$", ""), [1] * 5, [0] * 5, "without end"),
    (TRUE + "9|9$", [1] * 5, [0] * 5, "what comes after the end is not read"),
    ("1356$", [0, 0, 0, 0, 0], None, "an answer alone is no answer behind a bar"),
    ("|$", [0] * 5, [13, 39, 4, 0, 4], "nothing is not read off from nothing"),
    ("", [0] * 5, [13, 39, 4, 0, 4], "no text"),
])  # fmt: skip
def test_scores_tell_mistakes_apart(written, right, distances, why):
    assert hits(written) == right, why
    assert distances is None or edits(written) == distances, why


def test_the_whole_response_counts_all_mistakes_and_implies_an_answer():
    twice = TRUE.replace("6+8+1=5", "6+8+1=4").replace("|1356", "|136") + "9|9"
    scores = measured.score_parts([TRUE, twice, ""], [TRUE] * 3)
    assert scores["hits.part.response"].tolist() == [1, 0, 0]
    assert scores["values.edits.response"].tolist() == [0, 2, len(TRUE) - 1]
    assert measured.implied_answer("c=0,9+0+0=9,c=0;0+0+0=0,c=0") == "9", "leading zeros are dropped, as in the answer"
    assert measured.implied_answer("c=0,0+0+0=0,c=0") == "0"
    assert measured.implied_answer("c=0") == measured.implied_answer("") == measured.implied_answer("12|") == ""
    refused(ValueError, "argument", measured.score_parts, [TRUE], [])


@given(st.lists(st.tuples(st.text("0123456789+=c,;| $", max_size=30), number(), number()), max_size=5))
def test_any_text_is_scored_and_hits_are_edits_of_zero(rows):
    written, reference = [text for text, _, _ in rows], [steps(a, b) for _, a, b in rows]
    scores = measured.score_parts(written, reference)
    assert set(scores) == {f"{kind}.{name}" for kind in ("hits.part", "values.edits") for name in measured.PARTS}
    for name in measured.PARTS:
        hit, edit = scores[f"hits.part.{name}"], scores[f"values.edits.{name}"]
        assert hit.shape == edit.shape == (len(rows),) and hit.dtype == np.uint8 and edit.dtype == np.float32
        assert not edit[hit == 1].any()
        if name != "answer_of_partials":  # the only one with nothing to compare with, where no step can be read
            assert hit[edit == 0].all()

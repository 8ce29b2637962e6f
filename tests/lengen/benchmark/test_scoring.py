"""Scores of predictions: the rules of what is right, and the headline numbers."""

import gzip
import json
import math
from contextlib import nullcontext
from unittest.mock import Mock

import msgspec
import pytest
import torch

from lengen import problems, score
from lengen.benchmark import (
    PredictionError,
    TaskError,
    evaluate,
    header,
    levels,
    measures,
    over_seeds,
    predictions,
    read_line,
    read_predictions,
    read_submission,
    scoring,
    task_of,
    write_submission,
)
from lengen.benchmark.scoring import KINDS, answer_of, lines, size_of
from lengen.benchmark.submission import row
from lengen.benchmark.tasks import SINCE_2, TASKS
from tests.fixtures.refusals import refused


def right(prompts):
    return [str(sum(map(int, prompt[:-1].split("+")))) for prompt in prompts]


@pytest.mark.parametrize(("row", "units_first", "answer"), [
    ({"prediction": "0046"}, False, "46"), ({"prediction": " 4 6\n"}, False, "46"), ({"prediction": "640"}, True, "46"),
    ({"prediction": "000"}, False, "0"), ({"prediction": ""}, False, ""), ({"prediction": None}, False, None),
    ({}, False, None), ({"raw": "$12+34=00>12>046$$"}, False, "46"), ({"raw": "12+34=46\n13+1=14"}, False, "46"),
    ({"prediction": "I cannot"}, False, "Icannot"),
])  # fmt: skip
def test_what_of_a_prediction_is_the_answer(row, units_first, answer):
    assert answer_of(row, "addition", units_first) == answer
    assert answer_of({"prediction": "007"}, "copy", True) == "007", "strings keep their zeros and their order"
    assert answer_of({"prediction": "7,12 , 53"}, "sorting") == "7 12 53"


def test_an_exact_adder_has_everything():
    assert over_seeds([0.25, 1, 0.5]).text() == "0.50 (0.25 to 1.00)" and over_seeds([30, 30, 30]).text(0) == "30"
    asked = problems("addition", 6)
    found = measures(score(asked, predictions(right, asked)), 6)
    assert found._replace(area=round(found.area, 9)) == (1, 600, 1, (1, 1, 1), 0, 0)
    first = problems("addition", 6, version=1)
    found = measures(score(first, predictions(right, first)), 6)
    assert found._replace(area=round(found.area, 9)) == (1, 30, 1, (1, 1, 1), 0, 0)


@pytest.mark.parametrize(("version", "last"), [(1, 30), (2, 600)])
def test_an_adder_up_to_nine_digits(version, last):
    asked = problems("addition", 6, version=version)
    grid = score(
        asked, predictions(lambda x: [a if len(p) < 11 else "7" for p, a in zip(x, right(x), strict=True)], asked)
    )
    found = measures(grid, 6)
    assert found.in_range < 1 and found.reach in (0, 3)
    short = [problem for problem in asked if max(problem.cell) <= 9]
    rows = [{"id": problem.id, "prediction": problem.answer} for problem in short]
    found = measures(score(asked, rows), 6)
    assert found.reach == 9 and found.in_range == 1 and found.at == (1, 0, 0)
    steps = math.log(9 / 6) + math.log(12 / 9) / 2
    assert found.area == pytest.approx(steps / math.log(last / 6))


def test_equal_lengths_alone_do_not_reach():
    asked = problems("addition", 6, version=1)
    grid = score(asked, {p.id: p.answer for p in asked if p.length == p.count})
    assert grid.scores[9, 9]["free_running"].rate("correct") == 1
    assert measures(grid, 6).reach == 0


def test_every_trained_length_has_to_pass_for_itself():
    for version, reach in ((1, 30), (2, 0)):
        asked = problems("copy", 6, version=version)
        grid = score(asked, {one.id: "x" if one.length == 2 else one.answer for one in asked})
        assert grid.reach == reach and grid.in_range > 0.95


def test_a_run_stops_where_two_rungs_in_a_row_have_nothing_right():
    asked, seen = problems("reverse", 6), []

    def to_nine(prompts):
        seen.extend(len(prompt) - 1 for prompt in prompts)
        return [prompt[:-1][::-1] if len(prompt) <= 10 else "" for prompt in prompts]

    grid = evaluate(to_nine, asked)
    assert (grid.reach, max(seen), sorted(levels(grid))[-1]) == (9, 18, 600)
    assert grid.measures.absent == 0 and levels(grid)[600]["n"] == 300 and levels(grid)[600]["correct"] == 0
    everything = score(asked, [problem.prompt[:-1][::-1] if problem.length <= 9 else "" for problem in asked])
    assert everything.area == grid.area and everything.reach == 9
    missing = score(asked, {problem.id: problem.answer for problem in asked if problem.length != 5})
    assert missing.measures.absent == len([1 for problem in asked if problem.length == 5])


def test_texts_in_order_a_dictionary_rows_and_a_file_are_all_taken(tmp_path):
    asked = problems("successor", 6)
    texts = [problem.answer if problem.length < 9 else None for problem in asked]
    rows = [{"id": one.id, "prediction": text} for one, text in zip(asked, texts, strict=True) if text is not None]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    forms = [texts, tuple(texts), iter(texts), rows, {row["id"]: row["prediction"] for row in rows}, path, str(path)]
    grids = [score(asked, form) for form in forms]
    assert all(grid.scores == grids[0].scores for grid in grids)
    assert (grids[0].size, grids[0].version, grids[0].reach, grids[0].in_range) == (6, 2, 7, 1)
    refused(PredictionError, f"there are 2 texts for {len(asked)} problems", score, asked, ["1", "2"])


@pytest.mark.parametrize("name", TASKS)
def test_all_problems_of_a_size_are_known_as_such(name):
    task = task_of(name)
    for size in task.sizes()[:1]:
        assert size_of(problems(name, size)) == (size, 2)
        assert name in SINCE_2 or size_of(problems(name, size, version=1)) == (size, 1)
        carries = problems(name, size, split="carry") if task.chains else problems(name, size)
        assert [size_of(carries[::-1]), size_of(carries[1:])] == [(size, 2), (0, 2)], "all of them, in any order"


def test_problems_of_no_size_have_no_reach():
    asked = [problem for problem in problems("copy", 6) if problem.length != 5]
    grid = score(asked, [problem.answer for problem in asked])
    assert grid.accuracy() == 1
    with pytest.raises(PredictionError, match=r"measures\(grid, size\)"):
        _ = grid.reach


@pytest.mark.parametrize(("task", "answer", "kind"), [
    ("addition", "1105", "wrong_length"), ("addition", "1050", "no_end"), ("addition", "1234567", "no_end"),
    ("addition", "95", "wrong_length"), ("addition", "115", "wrong_carry"), ("addition", "106", "wrong_carry"),
    ("addition", "501", "wrong_place"), ("addition", "1x5", "wrong_place"), ("copy", "58", "wrong_place"),
    ("copy", "578", "no_end"), ("sorting", "1 2 4", "wrong_place"), ("sorting", "1 2", "wrong_length"),
])  # fmt: skip
def test_wrong_answers_are_of_one_kind(task, answer, kind):
    problem = read_line({"addition": "57+48", "copy": "57", "sorting": "3 1 2"}[task], task)
    counts = score([problem], [answer]).total([problem.cell[: 1 + (problem.count > 1)]], "free_running")
    assert [name for name in KINDS if counts[name]] == [kind]


def test_a_text_without_an_end_is_one_too_if_units_come_first():
    problem = read_line("57+48", "addition")
    (counts,) = (score([problem], ["5019"], units_first=True).total([(2, 2)], "free_running"),)
    assert counts["no_end"] == 1 and counts["wrong_length"] == 0


def test_every_length_has_an_interval_and_kinds_of_error():
    asked = problems("parity", 6)
    grid = score(asked, [problem.answer if place % 2 else "11" for place, problem in enumerate(asked)])
    table = [line.split() for line in lines({0: grid}, 6)]
    row = next(row for row in table if row and row[0] == "600")
    assert row[:6] == ["600", "300", "0.500", "0.444", "to", "0.556"] and row[8:] == ["-", "-"]
    assert int(row[6]) + int(row[7]) == 150 and int(row[6]) > 0 < int(row[7])


def test_nothing_in_range_is_no_reach():
    asked = [problem for problem in problems("addition", 6) if max(problem.length, problem.count) > 6]
    assert measures(score(asked, {}), 6).reach == 0


def test_an_absent_prediction_is_wrong_and_counted():
    asked = problems("copy", 6)
    rows = predictions(lambda prompts: [prompt[:-1] for prompt in prompts], asked)
    counts = score(asked, rows[1:]).total(score(asked, rows).scores, "free_running")
    assert (counts["n"] - counts["correct"], counts["absent"]) == (1, 1)
    assert counts["edit_sum"] == len(asked[0].answer)


def test_edits_are_capped_in_the_headline():
    asked = problems("copy", 6, version=1)
    rows = predictions(lambda prompts: ["x" * 1000] * len(prompts), asked)
    grid = score(asked, rows)
    counts = grid.total(grid.scores, "free_running")
    assert counts["edit_capped"] == counts["reference_tokens"] and counts["edit_sum"] > 10 * len(asked)
    assert measures(grid, 6).edits == 1


def test_edits_of_sequences_are_of_numbers():
    asked = problems("sorting", 5)
    one = next(problem for problem in asked if problem.length == 5)
    answer = " ".join(["999", *one.answer.split()[1:]])
    assert score([one], {one.id: answer}).scores[(5,)]["free_running"]["edit_sum"] == 1


def test_unknown_and_repeated_ids_are_refused():
    asked = problems("copy", 6)
    refused(PredictionError, "of other problems, such as copy/9", score, asked, {"copy/9": "1"})
    refused(PredictionError, "occurs twice", score, asked, [{"id": asked[0].id, "prediction": "1"}] * 2)


def test_a_length_that_was_not_tested_has_no_number():
    asked = [problem for problem in problems("copy", 6) if problem.length < 12]
    found = measures(score(asked, {}), 6)
    assert math.isnan(found.area) and math.isnan(found.at[1]) and found.in_range == 0


def submission(folder, **fields):
    asked = problems("copy", 6)
    made = header("a copier", "copy", 6, kind="program", **fields)
    (folder / "submission.json").write_bytes(msgspec.json.encode(made))
    rows = [{"id": p.id, "prediction": p.answer, "seed": seed} for p in asked for seed in made.seeds]
    (folder / "predictions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def test_a_submission_is_two_files(tmp_path):
    found, grids = read_submission(submission(tmp_path, seeds=(0, 1, 2)))
    assert found.seeds == tuple(grids) == (0, 1, 2)
    assert {measures(grid, found.size).reach for grid in grids.values()} == {600}


def test_a_row_of_a_table_reads_its_predictions_once(tmp_path, monkeypatch):
    read, folder = Mock(wraps=scoring.read_predictions), submission(tmp_path)
    monkeypatch.setattr(scoring, "read_predictions", read)
    assert row(folder)[1]["reach"] == "600" and read.call_count == 1


TRAINED = {"kind": "trained", "parameters": 7}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"problems_sha256": "0"}, "not that of the frozen problems"),
        ({"size": 7}, "no size 7"),
        ({"seeds": [0, 1]}, "submission.json names"),
        (
            {"kind": "trained", "parameters": 7, "trained": {"length": [1, 9], "count": [1, 1], "examples": 1}},
            "trained.length up to 9",
        ),
        ({"protocol": "lengen-text/0"}, "protocol"),
        ({"colour": "red"}, "colour"),
        (
            {"kind": "trained", "parameters": 7, "trained": {"length": [1, 6], "count": [1, 2], "examples": 1}},
            "trained.count up to 2",
        ),
        ({"trained": {"length": [-4, 0], "count": [1, 1], "examples": 1}}, "from 1 on"),
        ({"trained": {"length": [1, 6], "count": [1, 1], "examples": 0}}, "trained.examples"),
        (TRAINED | {"trained": None}, "expected 'trained'"),
        ({"kind": "program", "trained": {"length": [1, 6], "count": [1, 1], "examples": 1}}, "kind trained"),
        ({"parameters": -5}, "parameters"),
        ({"kind": "trained", "parameters": 0}, "expected the number of those of a trained model"),
        ({"model": ""}, "model"),
        ({"model": "a | b"}, "model"),
        ({"model": "a\n<script>"}, "model"),
    ],
)
def test_a_wrong_header_is_one_sentence(tmp_path, change, words):
    path = submission(tmp_path) / "submission.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    refused(PredictionError, words, read_submission, tmp_path)


def test_seeds_with_equal_faults_are_no_trainings_of_their_own(tmp_path):
    asked = problems("copy", 6)
    trained = {"length": (1, 6), "count": (1, 1), "examples": 9}
    head = header("m", "copy", 6, kind="trained", seeds=(0, 1), trained=trained, parameters=7)
    right = {problem.id: problem.answer for problem in asked}
    for wrong, equal in (({}, False), ({asked[0].id: "x"}, True)):
        rows = [{"id": id, "prediction": text, "seed": seed} for seed in (0, 1) for id, text in (right | wrong).items()]
        folder = tmp_path / str(equal)
        write_submission(folder, head, rows)
        with pytest.raises(PredictionError, match="the same 1 wrong") if equal else nullcontext():
            read_submission(folder)


def test_chains_of_carries_are_a_column_of_their_own(tmp_path):
    head = header("an adder", "addition", 6, kind="program")
    rows = [{"id": p.id, "prediction": p.answer, "seed": 0} for p in problems("addition", 6)]
    write_submission(tmp_path / "a", head, rows)
    columns = ("area", "carries", "edits")
    assert [row(tmp_path / "a")[1][column] for column in columns] == ["1.00", "-", "0.00"]
    chains = problems("addition", 6, split="carry")
    more = [{"id": p.id, "prediction": p.answer if p.length < 60 else "1", "seed": 0} for p in chains]
    for some in (more, rows):
        write_submission(tmp_path / "b", head, some)
    assert [row(tmp_path / "b")[1][column] for column in columns] == ["1.00", "30", "0.00"]


def test_faults_are_those_of_the_answers_that_are_compared(tmp_path):
    trained = {"length": (1, 6), "count": (1, 1), "examples": 9}
    head = header("m", "copy", 6, kind="trained", seeds=(0, 1), trained=trained, parameters=7)
    rows = [
        {"id": problem.id, "raw": f"{problem.prompt}{problem.answer if place > seed else 'x'}$", "seed": seed}
        for seed in (0, 1)
        for place, problem in enumerate(problems("copy", 6))
    ]
    write_submission(tmp_path, head, rows)
    _, grids = read_submission(tmp_path)
    assert {seed: grid.total(grid.scores, grid.mode)["correct"] for seed, grid in grids.items()} == {0: 3409, 1: 3408}


@pytest.mark.parametrize(
    "change", [{"task": "subtraction"}, {"size": 10}, {"model": "other"}, {"version": 1}, {"order": "units first"}]
)
def test_predictions_of_another_task_model_or_order_do_not_go_over_or_into_a_submission(tmp_path, change):
    fields = {"model": "m", "task": "addition", "size": 6, "kind": "program"}
    for seed in (0, 1):
        write_submission(tmp_path, header(**fields, seeds=(seed,)), [{"id": "a", "prediction": "1", "seed": seed}])
    before = (tmp_path / "submission.json").read_bytes()
    for seed in (0, 2):
        with pytest.raises(PredictionError, match="name a new folder"):
            write_submission(tmp_path, header(**(fields | change), seeds=(seed,)), [{"id": "b", "seed": seed}])
    assert (tmp_path / "submission.json").read_bytes() == before
    write_submission(tmp_path, header(**fields), [{"id": "a", "prediction": "2", "seed": 0}])


@pytest.mark.parametrize(("content", "found"), [
    (b'\xef\xbb\xbf{"id": "a"}\n', 1), (b'{"id": "a"}\n\n  \n{"id": "b"}\n\n', 2),
    (gzip.compress(b'{"id": "a"}', mtime=0), 1), (b"", 0), (b'{"id": "a", "seed": "0"}', "seed '0'"),
    (gzip.compress(b"a", mtime=0)[:10] + b"\xff" * 9, "cannot be read"),
    (b'{"id": "a", "seed": true}', "seed True"), (b'{"id": "a", "seed": -1}', "seed -1"),
])  # fmt: skip
def test_predictions_are_read_as_people_save_them(tmp_path, content, found):
    path = tmp_path / "p.jsonl"
    path.write_bytes(content)
    if isinstance(found, int):
        assert len(read_predictions(path)) == found
    else:
        refused(PredictionError, found, read_predictions, path)


@pytest.mark.parametrize(("asked", "rows", "words"), [
    ("addition", [], "'a' is no problem"), ([], [], "is no problem"), (None, ["46"], "there are 1 texts"),
    (None, [46], "no prediction"), (None, "46", "no predictions"),
    (None, [{"id": "copy/2/uniform/length=2/count=1/0000", "predicton": "1"}], "no row has a prediction"),
    (None, [{"id": "copy/2/uniform/length=2/count=1/0000", "prediction": ["1", "2"]}], "expected a text"),
    (None, [{"id": ["a"], "prediction": "1"}], "no prediction"),
    (None, [{"id": "a", "seed": 0}, {"id": "a", "seed": 1}], "by_seed"),
])  # fmt: skip
def test_score_refuses_in_one_sentence(asked, rows, words):
    refused(PredictionError, words, score, problems("copy", 6) if asked is None else asked, rows)


@pytest.mark.parametrize("answer", [dict.fromkeys, lambda some: [b"1"] * len(some), torch.nn.Linear(1, 1)])
def test_what_answers_no_text_is_refused(answer):
    with pytest.raises(TaskError):
        evaluate(answer, "copy", 6)


@pytest.mark.parametrize("options", [
    {"split": "val"}, {"examples": 0, "split": "train"}, {"examples": 3}, {"size": "6"}, {"seed": 3},
    {"split": "train", "seed": -1}, {"split": "train", "seed": "a"},
])  # fmt: skip
def test_problems_are_refused_in_one_sentence(options):
    with pytest.raises(TaskError):
        problems("addition", **options)

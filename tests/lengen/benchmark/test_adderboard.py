"""The community's check of ten-digit addition: its problems, what counts as right, and its count of parameters."""

import random

import pytest

from lengen import Coupled, TaskData, build_model, replace
from lengen import solve as solving
from lengen.benchmark import adderboard
from tests.fixtures.settings import data_spec, spec


def made(data, **model):
    setting = replace(spec(data), model=model) if model else spec(data)
    return TaskData(setting, seed=0), build_model(setting, 0).eval()


def judged(data, model, problems):
    given = solving.answers(data, model, [problem.operands for problem in problems])
    return adderboard.judged("model", "hand-coded", model, problems, given)


def test_the_problems_are_those_of_the_check():
    assert len(adderboard.EDGES) == 10 and len(set(adderboard.EDGES)) == 9
    assert {number for pair in adderboard.EDGES for number in pair} >= {0, 1, 9_999_999_999}
    asked = adderboard.problems()
    source = random.Random(2025)
    numbers = [int(operand) for problem in asked[10:] for operand in problem.operands]
    assert numbers[:6] == [source.randint(0, 10**10 - 1) for _ in range(6)]
    assert len(asked) == 10_010 and asked[:15] == adderboard.problems(5)
    assert all(0 <= number <= adderboard.LARGEST for number in numbers)
    assert [tuple(map(int, problem.operands)) for problem in asked[:10]] == list(adderboard.EDGES)
    assert all(int(problem.answer) == sum(map(int, problem.operands)) for problem in asked)


def test_answers_are_matched_with_their_own_problem_whatever_the_lengths(monkeypatch):
    data, model = made(data_spec("addition"))
    monkeypatch.setattr(solving, "AT_ONCE", 3)
    asked = []

    def write(_model, _writer, problems):
        asked.append(problems)
        return problems

    def read(_writer, task, problems):
        sums = [int(text) for text in task.text(problems)]
        seconds = [int("".join(map(str, row.tolist()[::-1]))) for row in problems.operands[:, 1]]
        return [str(total) if second % 2 else "x" for total, second in zip(sums, seconds, strict=True)]

    monkeypatch.setattr(solving, "generate", write)
    monkeypatch.setattr(solving, "read", read)
    problems = adderboard.problems(40)
    found = judged(data, model, problems)
    assert found.pairs == sum(int(problem.operands[1]) % 2 for problem in problems[10:])
    assert found.edges == sum(second % 2 for _, second in adderboard.EDGES)
    assert (found.drawn, found.refused) == (40, 0) and found.share == (found.edges + found.pairs) / 50
    assert all(len(problems.lengths) <= 3 for problems in asked)


def test_what_a_model_cannot_be_asked_counts_as_wrong_and_says_why():
    short = replace(data_spec("addition"), position_ids=Coupled((9, 9)))
    data, model = made(short)
    found = judged(data, model, adderboard.problems(3))
    assert found.refused >= 3 and found.pairs == 0 and "position ids up to" in found.why


@pytest.mark.parametrize(("task", "adds"), [("addition", True), ("multiplication", False), ("parity", False)])
def test_only_models_that_add_are_judged(task, adds):
    assert adderboard.adds(TaskData(spec(data_spec(task)), seed=0)) is adds


def test_shared_tensors_count_once():
    data, model = made(data_spec("addition"), tied=False)
    _, tied = made(data_spec("addition"), tied=True)
    free, shared = (judged(data, net, adderboard.problems(1)).parameters for net in (model, tied))
    assert free - shared == model.embedding.weight.numel()


@pytest.mark.parametrize(("body", "right", "said"), [
    ("return torch.tensor([a + b])", 12, ""),
    ("return str(a + b)", 0, "0 + 0: TypeError: add returned a text, which equals no number"),
    ("raise SystemExit(3)", 0, "0 + 0: SystemExit: 3"),
])  # fmt: skip
def test_a_file_is_judged_as_the_check_compares(body, right, said, tmp_path):
    head = "import torch\ndef build_model(): return torch.nn.Linear(1, 1), {'name': 'x', 'params': 2}\n"
    (tmp_path / "mine.py").write_text(f"{head}def add(model, a, b):\n    {body}\n")
    found = adderboard.judge_submission(tmp_path / "mine.py", pairs=2)
    assert found.edges + found.pairs == right and found.why == said

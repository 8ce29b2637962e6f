"""The frozen problems: the same on every machine, right, within their size, and made without torch."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from lengen.benchmark import TASKS, TaskError, problems, read_line, task_of, training
from lengen.benchmark.problem import FOLDER, checksum, checksums, made, read_lines

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", TASKS)
def test_problems_drawn_anew_are_the_frozen_ones(name):
    assert checksum(made(TASKS[name])) == checksums()[name]


def test_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_000_000


def test_another_process_makes_them_without_torch():
    code = (
        "import sys, lengen.benchmark as b; from lengen.benchmark.problem import *;"
        "assert all(checksum(made(t)) == checksums()[n] for n, t in b.TASKS.items());"
        "asked = b.problems('successor', 6); b.score(asked, b.predictions(lambda x: x, asked));"
        "print(sorted({'torch', 'numpy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", TASKS)
def test_problems_are_right_and_fill_the_cells_of_their_sizes(name):
    task = TASKS[name]
    assert task.papers in task.sizes
    every = problems(name)
    assert len({problem.id for problem in every}) == len(every)
    assert len({(problem.cell, problem.operands) for problem in every}) == len(every)
    for size in task.sizes:
        asked = problems(name, size)
        assert {problem.cell for problem in asked} == set(task.cells(size))
        assert max(problem.length for problem in asked) == 5 * size
    for problem in every:
        assert task.read_prompt(problem.prompt) == problem.operands
        assert task.answer(problem.operands) == problem.answer


def test_cells_have_the_lengths_of_their_operands():
    for problem in problems("addition"):
        assert tuple(map(len, problem.operands)) == problem.cell
    for problem in problems("sums"):
        assert (len(problem.operands[0]), len(problem.operands)) == problem.cell
    for problem in problems("n_by_1"):
        assert tuple(map(len, problem.operands)) == (problem.length, 1)
    for problem in problems("sorting"):
        assert len(problem.operands) == problem.length and max(map(int, problem.operands)) <= 100


def test_answers_against_other_code():
    for problem in problems("multiplication", 3)[:200]:
        a, b = problem.operands
        assert int(problem.answer) == sum(int(digit) * int(a) * 10**i for i, digit in enumerate(reversed(b)))
    for problem in problems("parity", 6)[:200]:
        assert int(problem.answer) == sum(map(int, problem.operands[0])) % 2


def test_training_leaves_out_what_is_tested_and_keeps_to_its_size():
    held_out = frozenset(problem.prompt for problem in problems("addition"))
    drawn = list(training(task_of("addition"), 6, 0, 3000, held_out))
    assert not held_out & {problem.prompt for problem in drawn}
    assert {len(one) for problem in drawn for one in problem.operands} == set(range(1, 7))
    assert drawn == list(training(task_of("addition"), 6, 0, 3000, held_out))
    assert drawn != list(training(task_of("addition"), 6, 1, 3000, held_out))


@pytest.mark.parametrize(
    ("name", "line", "prompt", "answer"),
    [
        ("addition", "12+34=46", "12+34=", "46"),
        ("addition", " 12 + 034 = 046", "12+34=", "46"),
        ("addition", "12,34,46", "12+34=", "46"),
        ("parity", "0110,0", "0110=", "0"),
        ("copy", "0450,0450", "0450=", "0450"),
        ("successor", "1299,1300", "1299=", "1300"),
        ("addition", "12+34", "12+34=", "46"),
        ("sums", "1+2+3=6", "1+2+3=", "6"),
        ("n_by_1", "12,3,36", "12*3=", "36"),
        ("copy", "007=007", "007=", "007"),
        ("sorting", "53 7 12=7 12 53", "53 7 12=", "7 12 53"),
    ],
)
def test_lines_as_people_write_them(name, line, prompt, answer):
    problem = read_line(line, task_of(name))
    assert (problem.prompt, problem.answer) == (prompt, answer)
    assert read_line(problem.line(), task_of(name)) == problem


def test_wrong_lines_are_named():
    with pytest.raises(TaskError, match=r"sums.txt: line 2: .* is 46, not 47; line 4: .* no problem of addition"):
        read_lines(["12+34=46", "12+34=47", "", "12-34=5"], task_of("addition"), "sums.txt")
    assert len(read_lines(["a,b,answer", "12,34,46"], task_of("addition"))) == 1


SUM = '{"id":"a","task":"addition","length":2,"count":2,"operands":["12","34"],"prompt":"12+34=","answer":"46"}'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"46"', "46", "expected JSON with id"),
        ('"length":2', '"length":"2"', "expected JSON with id"),
        ('"task":"addition"', '"task":"copy"', "a problem of copy, not of addition"),
        ('"46"', '"47"', "the answer is 46, not 47"),
        ("34=", "34", ""),
        (SUM, SUM[:-1], "expected JSON with id"),
        (SUM, '{"a1":' * 100_000, "expected JSON with id"),
        (SUM, "9" * 5000 + "+1=", "an operand has 5000 digits; expected at most 2000"),
        (SUM, f"{SUM}\n{SUM}", "2 lines have the id 'a'"),
    ],
)
def test_lines_of_a_users_file_are_checked(old, new, message):
    lines = SUM.replace(old, new).splitlines()
    if not message:
        assert read_lines(lines, task_of("addition"))[0].prompt == "12+34="
        return
    with pytest.raises(TaskError, match=message):
        read_lines(lines, task_of("addition"))


def test_the_largest_product_can_be_written():
    assert len(read_line("9" * 2000 + "*" + "9" * 2000, "multiplication").answer) == 4000


def test_unknown_task_and_size_are_one_sentence():
    with pytest.raises(TaskError, match="expected one of addition, sums"):
        problems("subtraction")
    with pytest.raises(TaskError, match="expected one of 6, 10, 20"):
        problems("addition", 7)


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    from lengen.benchmark import problem as frozen

    text = gzip.decompress((FOLDER / "copy.jsonl.gz").read_bytes()).replace(b'"0', b'"1')
    (tmp_path / "copy.jsonl.gz").write_bytes(gzip.compress(text))
    monkeypatch.setattr(frozen, "FOLDER", tmp_path)
    with pytest.raises(TaskError, match="not the frozen file"):
        frozen._problems.__wrapped__("copy")

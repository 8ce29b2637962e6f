"""The frozen problems: the same on every machine, right, within their size, and made without torch."""

import gzip
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from lengen.benchmark import TASKS, TaskError, problems, read_line, task_of
from lengen.benchmark.problem import CHAINED, EXAMPLES, FOLDER, checksum, checksums, held_out, made, read_lines
from lengen.benchmark.problems_and_answerers import stream
from lengen.benchmark.tasks import CHAINS, SINCE_2
from tests.fixtures.refusals import refused

ROOT = Path(__file__).resolve().parents[3]
FIRST = [name for name in TASKS if name not in SINCE_2]
"""Tasks of protocol 1."""


@pytest.mark.parametrize("name", FIRST)
def test_problems_drawn_anew_are_the_frozen_ones(name):
    assert checksum(made(TASKS[name])) == checksums()[name]


@pytest.mark.parametrize("name", TASKS)
def test_the_ladder_of_the_smallest_size_drawn_anew_is_the_frozen_one(name):
    size = TASKS[name].sizes()[0]
    assert checksum(made(TASKS[name], size)) == checksums(2)[f"{name}/{size}"]


@pytest.mark.slow
def test_every_ladder_drawn_anew_is_the_frozen_one():
    every = {f"{name}/{size}": checksum(made(task, size)) for name, task in TASKS.items() for size in task.sizes()}
    assert every == checksums(2)


def test_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_000_000


def test_another_process_makes_them_without_torch():
    code = (
        "import sys, lengen.benchmark as b; from lengen.benchmark.problem import *;"
        "assert all(checksum(made(t)) == checksums()[n] for n, t in b.TASKS.items() if n in checksums());"
        "asked = b.problems('successor', 6); b.score(asked, b.predictions(lambda x: x, asked));"
        "print(sorted({'torch', 'numpy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", FIRST)
def test_problems_are_right_and_fill_the_cells_of_their_sizes(name):
    task = TASKS[name]
    every = problems(name, version=1)
    for size in task.sizes(1):
        asked = problems(name, size, version=1)
        assert {problem.cell for problem in asked} == set(task.cells(size, 1))
        assert max(problem.length for problem in asked) == 5 * size
    for size in task.sizes()[:1]:
        asked = problems(name, size)
        every = [*every, *asked]
        assert {problem.cell for problem in asked} == set(task.cells(size))
        assert max(problem.length for problem in asked) == min(100 * size, task.furthest)
    assert task.papers in task.sizes(1) and len({problem.id for problem in every}) == len(every)
    versions = [[problem for problem in every if ("/2/" in problem.id) is new] for new in (False, True)]
    assert all(len({(one.cell, one.operands) for one in some}) == len(some) for some in versions)
    for problem in every:
        assert task.read_prompt(problem.prompt) == problem.operands
        assert task.answer(problem.operands) == problem.answer


def test_cells_have_the_lengths_of_their_operands():
    for problem in problems("addition", version=1):
        assert tuple(map(len, problem.operands)) == problem.cell
    for problem in problems("sums", version=1):
        assert (len(problem.operands[0]), len(problem.operands)) == problem.cell
    for problem in problems("n_by_1", version=1):
        assert tuple(map(len, problem.operands)) == (problem.length, 1)
    for problem in problems("sorting", version=1):
        assert len(problem.operands) == problem.length and max(map(int, problem.operands)) <= 100


@pytest.mark.parametrize("name", TASKS)
def test_answers_signs_and_symbols_are_those_of_the_task_that_is_trained(name):
    task = TASKS[name]
    for problem in problems(name, task.sizes()[0])[:300:7] if name not in SINCE_2 else ():
        assert task.like.text(task.like.parse(list(problem.operands))) == [problem.answer]
    assert task.numbers is (name in ("addition", "subtraction", "sums", "n_by_1", "multiplication", "successor"))


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_every_rung_has_its_problems_and_the_last_is_far(name):
    task = TASKS[name]
    for size in task.sizes():
        lengths = task.lengths(size)
        beyond = [length for length in lengths if length > size]
        assert size in lengths and beyond[-1] == min(100 * size, task.furthest)
        assert {
            min(-(-size * tenths // 10), task.furthest) for tenths in (11, 15, 20, 30, 50, 100, 200, 500, 1000)
        } == {*beyond}
    by_length = Counter(max(problem.cell) for problem in problems(name, task.sizes()[-1]))
    assert all(EXAMPLES <= number < EXAMPLES + 25 for number in by_length.values())


def carries(problem):
    """The places, from the units, that hand a carry or a borrow on, by the rule that children learn."""
    first, second = (problem.operands * 2)[:2] if len(problem.operands) == 1 else problem.operands
    places, carry = [], int(problem.task == "successor")
    for place, (a, b) in enumerate(zip(first[::-1], second[::-1], strict=True)):
        a, b = int(a), 0 if problem.task == "successor" else int(b)
        carry = int(a - b - carry < 0) if problem.task == "subtraction" else int(a + b + carry > 9)
        places += [place] * carry
    return places


@pytest.mark.parametrize("name", ["addition", "subtraction", "successor"])
def test_a_chain_of_carries_is_as_long_as_its_split_says_and_alone(name):
    by_cell = Counter()
    for problem in problems(name, 6, split="carry"):
        length = problem.length - (name == "subtraction" and problem.split == "carry-all")
        places = carries(problem)
        assert len(places) == -(-length // CHAINS[problem.split]) and places[-1] - places[0] == len(places) - 1
        assert all(len(operand) == problem.length for operand in problem.operands)
        by_cell[problem.split, problem.length] += 1
    assert {length for _, length in by_cell} == {n for n in TASKS[name].lengths(6) if n >= 6}
    alone = {("carry-all", length) for _, length in by_cell} if name == "successor" else set()
    assert all(number == (1 if cell in alone else CHAINED) for cell, number in by_cell.items())


def test_only_what_carries_has_chains():
    refused(TaskError, "copy has no carries to chain", problems, "copy", 6, split="carry")


def test_no_guess_of_the_largest_number_is_good():
    answers = Counter(problem.answer for problem in problems("max", 20) if problem.length >= 200)
    assert max(answers.values()) < 0.05 * sum(answers.values())


def test_the_smaller_number_is_taken_away():
    assert all(int(problem.answer) >= 0 for problem in problems("subtraction", 6))
    lengths = {tuple(map(len, problem.operands)) == problem.cell for problem in problems("subtraction", 6)}
    assert lengths == {True}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", ["addition", "subtraction", "parity"])
def test_training_leaves_out_what_is_tested_and_keeps_to_its_size(name, version):
    if name in SINCE_2 and version == 1:
        refused(TaskError, "no task of the benchmark", problems, name, 6, split="train", version=version)
        return
    drawn = problems(name, 6, split="train", examples=3000, version=version)
    splits = ("test", "carry")[: 1 + (name != "parity")]
    tested = {problem.prompt for split in splits for problem in problems(name, 6, split=split)}
    if version == 1:
        tested = {problem.prompt for problem in problems(name, version=1)}
    assert not tested & {problem.prompt for problem in drawn}
    assert {len(one) for problem in drawn for one in problem.operands} == set(range(1, 7))
    assert drawn == problems(name, 6, split="train", examples=3000, version=version)
    assert drawn != problems(name, 6, split="train", examples=3000, seed=1, version=version)
    assert drawn[0] == next(iter(stream(name, 6, "train", 10**12, 0, version))), "one after another"
    assert held_out("parity", 3) == {"001=", "11="}


@pytest.mark.parametrize(("name", "line", "prompt", "answer"), [
    ("addition", "12+34=46", "12+34=", "46"), ("addition", " 12 + 034 = 046", "12+34=", "46"),
    ("addition", "12,34,46", "12+34=", "46"), ("parity", "0110,0", "0110=", "0"),
    ("copy", "0450,0450", "0450=", "0450"), ("successor", "1299,1300", "1299=", "1300"),
    ("addition", "12+34", "12+34=", "46"), ("sums", "1+2+3=6", "1+2+3=", "6"), ("n_by_1", "12,3,36", "12*3=", "36"),
    ("copy", "007=007", "007=", "007"), ("sorting", "53 7 12=7 12 53", "53 7 12=", "7 12 53"),
    ("subtraction", "45-12=33", "45-12=", "33"), ("max", "53 7 12=53", "53 7 12=", "53"),
])  # fmt: skip
def test_lines_as_people_write_them(name, line, prompt, answer):
    problem = read_line(line, task_of(name))
    assert (problem.prompt, problem.answer) == (prompt, answer)
    assert read_line(problem.line(), task_of(name)) == problem


def test_wrong_lines_are_named():
    with pytest.raises(TaskError, match=r"sums.txt: line 2: .* is 46, not 47; line 4: .* no problem of addition"):
        read_lines(["12+34=46", "12+34=47", "", "12-34=5"], task_of("addition"), "sums.txt")
    assert len(read_lines(["a,b,answer", "12,34,46"], task_of("addition"))) == 1


SUM = '{"id":"a","task":"addition","length":2,"count":2,"operands":["12","34"],"prompt":"12+34=","answer":"46"}'


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"46"', "46", "expected JSON with id"), ('"length":2', '"length":"2"', "expected JSON with id"),
    ('"task":"addition"', '"task":"copy"', "a problem of copy, not of addition"),
    ('"46"', '"47"', "the answer is 46, not 47"), ("34=", "34", ""), (SUM, SUM[:-1], "expected JSON with id"),
    (SUM, '{"a1":' * 100_000, "expected JSON with id"),
    (SUM, "9" * 5000 + "+1=", "an operand has 5000 digits; expected at most 2000"),
    (SUM, f"{SUM}\n{SUM}", "2 lines have the id 'a'"),
])  # fmt: skip
def test_lines_of_a_users_file_are_checked(old, new, message):
    lines = SUM.replace(old, new).splitlines()
    if not message:
        assert read_lines(lines, task_of("addition"))[0].prompt == "12+34="
        return
    refused(TaskError, message, read_lines, lines, task_of("addition"))


def test_the_largest_product_can_be_written():
    assert len(read_line("9" * 2000 + "*" + "9" * 2000, "multiplication").answer) == 4000


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    from lengen.benchmark import problem as frozen

    text = gzip.decompress((FOLDER / "copy.jsonl.gz").read_bytes()).replace(b'"0', b'"1')
    (tmp_path / "copy.jsonl.gz").write_bytes(gzip.compress(text))
    monkeypatch.setattr(frozen, "FOLDER", tmp_path)
    refused(TaskError, "not the frozen file", frozen._problems.__wrapped__, "copy")

"""The problems of protocol 2, drawn by what docs/benchmark.md says and nothing else: no code of the suite is used."""

import doctest
import functools
import hashlib
import json
import random
import re
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| `([^`]*)` `[^`]*` \|.*\| ([^|]*) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
"""Task, prompt, sizes and longest length, from the table of the page."""
TASKS = {
    name: (prompt, [int(size) for size in re.findall(r"\d+", sizes)], int(longest.replace(",", "")))
    for name, prompt, sizes, longest in ROWS
}
CHAINS = {"carry-quarter": 4, "carry-half": 2, "carry-all": 1}
CARRYING = ("addition", "subtraction", "successor")
PAIRS = ("addition", "subtraction", "multiplication", "sums")
SIGNS = {"addition": "+", "sums": "+", "subtraction": "-", "n_by_1": "*", "multiplication": "*"}


class Stream:
    def __init__(self, name):
        self.source = random.Random(name)

    def pick(self, n):
        return int(n * self.source.random())

    def number(self, digits):
        first = self.pick(10) if digits == 1 else 1 + self.pick(9)
        return "".join(map(str, [first, *(self.pick(10) for _ in range(digits - 1))]))


def operands(task, stream, length, count):
    if task in ("addition", "multiplication", "subtraction"):
        first, second = stream.number(length), stream.number(count)
        return (second, first) if task == "subtraction" and int(second) > int(first) else (first, second)
    if task == "sums":
        return tuple(stream.number(length) for _ in range(count))
    if task == "n_by_1":
        return stream.number(length), stream.number(1)
    if task == "successor":
        return (stream.number(length),)
    if task == "sorting":
        return tuple(str(1 + stream.pick(100)) for _ in range(length))
    if task == "max":
        largest, place = 1 + stream.pick(100), stream.pick(length)
        return tuple(str(largest if k == place else 1 + stream.pick(largest)) for k in range(length))
    return ("".join(str(stream.pick(2 if task == "parity" else 10)) for _ in range(length)),)


def chained(task, stream, length, k):
    room = length - 1 if task == "subtraction" else length
    chain = min(ceil(Fraction(length, k)), room)
    start = 0 if task == "successor" else stream.pick(room - chain + 1)
    places = []
    for place in range(length):
        where = "begin" if place == start else "in" if start < place < start + chain else "behind"
        if where == "behind" and place != start + chain:
            where = "other"
        pairs = fitting(task, where, place == length - 1)
        places.insert(0, pairs[stream.pick(len(pairs))])
    numbers = ["".join(str(pair[k]) for pair in places) for k in (0, 1)]
    return tuple(numbers[:1] if task == "successor" else numbers)


@functools.cache
def fitting(task, where, highest):
    pairs = [(a, b) for a in range(10) for b in range(10) if fits(task, where, a, b)]
    return [(a, b) for a, b in pairs if not highest or (a and (b or task == "successor"))]


def fits(task, where, a, b):
    if task == "addition":
        return {"begin": a + b > 9, "in": a + b == 9}.get(where, a + b < 9)
    if task == "subtraction":
        return {"begin": a < b, "in": a == b, "behind": a > b, "other": a >= b}[where]
    return b == 0 and {"begin": a == 9, "in": a == 9, "behind": a < 9, "other": True}[where]


def answer(task, row):
    numbers = [int(text) for text in row] if task not in ("copy", "reverse", "parity") else []
    return {
        "addition": lambda: str(sum(numbers)), "sums": lambda: str(sum(numbers)),
        "subtraction": lambda: str(numbers[0] - numbers[1]), "n_by_1": lambda: str(numbers[0] * numbers[1]),
        "multiplication": lambda: str(numbers[0] * numbers[1]), "successor": lambda: str(numbers[0] + 1),
        "parity": lambda: str(row[0].count("1") % 2), "copy": lambda: row[0], "reverse": lambda: row[0][::-1],
        "sorting": lambda: " ".join(map(str, sorted(numbers))), "max": lambda: str(max(numbers)),
    }[task]()  # fmt: skip


def lengths(task, size):
    rungs = [Fraction(k, 4) for k in (1, 2, 3, 4)] + [
        Fraction(m) for m in ("1.1", "1.5", *"235", "10", "20", "50", "100")
    ]
    return sorted({min(ceil(size * rung), TASKS[task][2]) if rung > 1 else ceil(size * rung) for rung in rungs})


def of_cell(task, split, length, count, wanted):
    base = 2 if task == "parity" else 100 if task in ("sorting", "max") else 10
    exponent = {"sums": length * count, "n_by_1": length + 1}.get(task, length + count if task in PAIRS else length)
    wanted = max(1, min(wanted, base**exponent // 10))
    stream, rows = Stream(f"lengen-text/2 {split} {task} {length} {count}"), []
    for _ in range((2 if split in CHAINS else 100) * wanted):
        if len(rows) == wanted:
            break
        row = chained(task, stream, length, CHAINS[split]) if split in CHAINS else operands(task, stream, length, count)
        if row not in rows:
            rows.append(row)
    for place, row in enumerate(rows):
        yield {
            "id": f"{task}/2/{split}/length={length}/count={count}/{place:04}", "task": task, "length": length,
            "count": count, "operands": list(row), "prompt": SIGNS.get(task, " ").join(row) + "=",
            "answer": answer(task, row), "split": split,
        }  # fmt: skip


def drawn(task, size, longest=10**9):
    """What is tested of a size, up to a length."""
    tested = lengths(task, size)
    cells = [(length, 1) for length in tested]
    if task in PAIRS:
        cells = {(a, max(b, 2) if task == "sums" else b) for a in tested for b in tested}
        cells = sorted(cell for cell in cells if task != "subtraction" or cell[1] <= cell[0])
    for length, count in (cell for cell in cells if cell[0] <= longest):
        beside = sum(max(cell) == max(length, count) for cell in cells)
        yield from of_cell(task, "uniform", length, count, ceil(300 / beside))
    for split in CHAINS if task in CARRYING else ():
        for length in tested:
            if size <= length <= longest:
                yield from of_cell(task, split, length, 1 if task == "successor" else length, 100)


def test_the_examples_of_the_page_give_what_stands_below_them():
    failed, tried = doctest.testfile(str(ROOT / "docs" / "benchmark.md"), module_relative=False)
    assert tried > 5 and not failed


def test_the_page_lists_eleven_tasks():
    assert len(TASKS) == 11 and TASKS["sums"] == ("12+34+5=", [3, 5, 10], 31)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_page_alone_gives_the_same_problems(task):
    size = TASKS[task][1][0]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in drawn(task, size))
    sums = json.loads((ROOT / "lengen/benchmark/problems/checksums-2.json").read_text())
    assert hashlib.sha256(text.encode()).hexdigest() == sums[f"{task}/{size}"]
    assert [f"{name}/{size}" for name, (_, sizes, _) in TASKS.items() for size in sizes] == list(sums)


def test_the_page_alone_gives_the_same_training():
    from lengen import problems

    tested = {line["prompt"] for size in TASKS["subtraction"][1] for line in drawn("subtraction", size, 6)}
    stream, prompts = Stream("lengen-text/2 train subtraction 6 3"), []
    while len(prompts) < 2000:
        pair = sorted((1 + stream.pick(6), 1 + stream.pick(6)))
        prompt = "-".join(operands("subtraction", stream, pair[1], pair[0])) + "="
        if prompt not in tested:
            prompts.append(prompt)
    made = problems("subtraction", 6, split="train", examples=2000, seed=3)
    assert [problem.prompt for problem in made] == prompts

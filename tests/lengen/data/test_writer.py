"""Every task in one line, with every combination of options that it accepts, against plain strings; and read back."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import lengen
from lengen.data.reading_responses import final_answer
from lengen.digits import OperandError
from lengen.part import kinds
from tests.fixtures import plain
from tests.fixtures.settings import writer

WIDE = 14
TASKS: dict[str, tuple[lengen.Task, ...]] = {
    "addition": (lengen.Addition(digits=5, operands=4),),
    "two_operand_addition": (lengen.TwoOperandAddition(lengths=(1, 2, 3)),),
    "multiplication": (lengen.Multiplication(digits=5, second_digits=3),), "parity": (lengen.Parity(bits=5),),
    "successor": (lengen.Successor(digits=5), lengen.Successor(digits=5, base=16)),
    "pair_addition": tuple(lengen.PairAddition(digits=5, base=base) for base in (10, 2, 16)),
    "n_by_one": tuple(lengen.NByOne(digits=5, base=base) for base in (10, 7, 16)),
    "digit_sums": tuple(lengen.DigitSums(digits=5, base=base) for base in (10, 2, 16)),
    "running_xor": (lengen.RunningXor(digits=5, base=2),),
    "listops_sm": (lengen.ListOpsSum(digits=5), lengen.ListOpsSum(digits=5, base=12)),
    "listops_max": (lengen.ListOpsMax(digits=5),),
    "listops_min": (lengen.ListOpsMin(digits=5), lengen.ListOpsMin(digits=5, base=4)),
    "listops": (lengen.ListOps(digits=5), lengen.ListOps(digits=5, depth=3)),
    "sorting": (lengen.Sorting(longest=5, alphabet=9), lengen.Sorting(longest=5, alphabet=120)),
    "next_larger": (lengen.NextLarger(longest=5, alphabet=12),), "count": (lengen.Counting(longest=5, alphabet=12),),
    "fill": (lengen.Filling(longest=5, alphabet=9), lengen.Filling(longest=5, alphabet=12, padding=2)),
    "increment": (lengen.Increment(longest=5),), "carries": (lengen.Carries(longest=5),),
    "copy": (lengen.Copy(digits=5),), "reverse": (lengen.Reverse(digits=5),),
}  # fmt: skip
LINES = [
    lengen.Linear(
        scratchpad=scratchpad, pad_query=query, pad_response=response, pad_to=pad_to, width=width,
        reverse_query=reversals[0], reverse_response=reversals[1], begin=begin, separator=separator, end=end,
    )
    for scratchpad, query, response, pad_to, width, begin, end, separator in itertools.product(
        (False, True), (False, True), (False, True), (0, 7), (0, WIDE), (True, False), (True, False), ("=", "$", "⊥")
    )
    for reversals in itertools.product((False, True), repeat=2)
]  # fmt: skip
LARGE = [name for name in TASKS if name not in plain.SEQUENCES]
OTHERS = {
    "digit_steps": (lengen.DigitSteps(), lengen.DigitSteps(reverse_response=True)),
    "subtasks": (lengen.Subtasks(), lengen.Subtasks(names=("add", "mad"), carries="code")),
    "multiplication_stages": (
        lengen.MultiplicationStages(),
        lengen.MultiplicationStages(reverse_query=True),
        lengen.MultiplicationStages(reverse_response=False),
    ),
    "aligned": (lengen.Aligned(width=WIDE), lengen.Aligned(width=WIDE, reverse_response=False)),
}


def accepted(task: lengen.Task) -> list[lengen.Linear]:
    found = []
    for format in LINES:
        try:
            format.check(task)
        except lengen.SettingError:
            continue
        found.append(format)
    return found


ACCEPTED = {task: accepted(task) for tasks in TASKS.values() for task in tasks}


@st.composite
def expressions(draw, depth: int, most: int = 4) -> list[str]:
    """Words of a digit, or of an operation on 1 to ``most`` expressions that are less deep."""
    if depth == 0 or draw(st.booleans()):
        return [draw(st.sampled_from("0123456789"))]
    arguments = draw(st.lists(expressions(depth - 1, most), min_size=1, max_size=most))
    operation = draw(st.sampled_from(tuple(plain.OPERATIONS)))
    return [operation, *itertools.chain.from_iterable(arguments), "]"]


@st.composite
def typed(draw, task: lengen.Task, longest: int = 6) -> list[str]:
    kind, number = task.kind, st.text("0123456789", min_size=1, max_size=longest)
    nines = st.integers(1, longest).map(lambda n: "9" * n)
    if kind in plain.FIXED:
        number = st.text("".join(task.symbols), min_size=1, max_size=longest)
        second = {"pair_addition": [number], "digit_sums": [number], "n_by_one": [st.sampled_from(task.symbols)]}.get(
            kind, []
        )
        return [draw(part) for part in (number, *second)]
    if kind in ("copy", "reverse"):
        return [draw(number)]
    if kind == "parity":
        return [draw(st.text("01", min_size=1, max_size=longest))]
    if kind == "fill":
        copies = draw(st.integers(2, longest))
        return [draw(st.sampled_from(task.symbols)), str(copies), str(draw(st.integers(1, copies - 1)))]
    if kind == "listops":
        return draw(expressions(task.depth, longest // 2))
    if kind in plain.SEQUENCES:
        few = draw(st.lists(st.sampled_from(task.symbols), min_size=2, max_size=2, unique=True))
        pool = few if kind == "count" else task.symbols
        sequence = [*few, *draw(st.lists(st.sampled_from(pool), max_size=longest - 2))]
        return (
            [*sequence, draw(st.sampled_from(sequence))] if kind == "next_larger" else draw(st.permutations(sequence))
        )
    some = number | nines
    if kind == "addition":
        return draw(st.lists(some, min_size=2, max_size=5))
    return [draw(some) for _ in range(1 if kind in ("increment", "carries") else 2)]


def test_every_task_accepts_some_line_and_a_layout_is_made_once_as_narrow_as_its_problems():
    assert set(TASKS) <= set(kinds(lengen.Task)) and all(ACCEPTED.values())
    made = writer(
        lengen.DataSpec(
            task=lengen.Addition(digits=40, operands=2),
            format=lengen.Linear(pad_query=True),
            position_ids=lengen.Consecutive(),
        )
    )
    calls = []
    layout = made.format.layout
    made.format.layout = lambda shape: (calls.append(shape), layout(shape))[1]
    for length in (40, 1, 2, 1, 40, 3):
        made.write(made.task.parse(["9" * length, "9" * length]))
    assert len(calls) == len(set(calls)) == 4
    assert sorted(table.place.shape[1] for table in made._tables.values())[0] < 20


@pytest.mark.parametrize("name", TASKS)
@settings(max_examples=25)
@given(st.data())
def test_a_line_is_that_of_plain_strings_and_reads_back(name, data):
    task = data.draw(st.sampled_from(TASKS[name]))
    format = data.draw(st.sampled_from(ACCEPTED[task]))
    operands = data.draw(typed(task))
    made = writer(lengen.DataSpec(task=task, format=format, position_ids=lengen.Consecutive()))
    problems = made.task.parse(operands)
    batch = made.write(problems)
    query, response = plain.line(task, format, operands)
    assert [made.vocab.decode([token]) or "PAD" for token in batch.tokens[0]] == [*query, *response]
    assert batch.loss[0].tolist() == [False] * len(query) + [True] * len(response)
    expected = plain.rows(task, operands, format.width)
    assert made.task.text(problems) == [plain.rows(task, operands).text] == [expected.text]
    read = made.vocab.decode(final_answer(made.format, made.vocab, batch.tokens[0, len(query) :][None])[0])
    if format.reverse_response and task.ROWS.numbers and not task.UNITS_FIRST:
        read = read[::-1]
    plainly = read.lstrip("0") or "0" if task.ROWS.numbers and not task.UNITS_FIRST else read
    assert plainly == (expected.text if made.vocab.separator else expected.text.replace(" ", ""))


@pytest.mark.parametrize("reverse", [False, True])
@given(st.sampled_from([*TASKS["pair_addition"], *TASKS["n_by_one"], *TASKS["digit_sums"]]), st.data())
def test_aligned_digits_are_those_of_plain_strings_and_read_back(reverse, task, data):
    format, operands = lengen.Aligned(WIDE, reverse_response=reverse), data.draw(typed(task))
    made = writer(lengen.DataSpec(task=task, format=format, position_ids=lengen.Consecutive()))
    batch = made.write(made.task.parse(operands))
    query, response = plain.aligned(task, format, operands)
    assert made.vocab.decode(batch.tokens[0]) == "".join([*query, *response])
    assert batch.loss[0].tolist() == [False] * len(query) + [True] * len(response)
    read = made.vocab.decode(final_answer(made.format, made.vocab, batch.tokens[0, len(query) :][None])[0])
    assert read == "".join(response[:-1])


@pytest.mark.parametrize("name", TASKS)
@settings(max_examples=10)
@given(st.data())
def test_a_batch_writes_each_problem_as_if_it_were_alone(name, data):
    """Drawn problems, of mixed lengths, coupled ids: what stands beside a problem does not matter."""
    task = data.draw(st.sampled_from(TASKS[name]))
    format = data.draw(st.sampled_from(ACCEPTED[task]))
    made = writer(lengen.DataSpec(task=task, format=format, position_ids=lengen.Coupled((60, 20))))
    drawn = made.task.train(6, torch.Generator().manual_seed(data.draw(st.integers(0, 99))))
    try:
        batch = made.write(drawn)
    except OperandError:
        assert getattr(format, "width", 0), "only a result wider than the one width of all numbers has no room"
        return
    assert bool((made.lengths(drawn) >= (batch.loss | (batch.tokens > 0)).sum(dim=1)).all())
    for i in range(6):
        alone = made.write(drawn.select(torch.tensor([i])))
        size = alone.tokens.shape[1]
        assert torch.equal(batch.tokens[i, :size], alone.tokens[0]) and not batch.tokens[i, size:].any()
        assert torch.equal(batch.ids[:, i, :size], alone.ids[:, 0]) and torch.equal(batch.loss[i, :size], alone.loss[0])


@pytest.mark.parametrize("name", LARGE)
@settings(max_examples=25)
@given(st.data())
def test_answers_and_last_stages_of_operands_beyond_64_bits(name, data):
    """Where a scratchpad ends in the answer, its last row or last digit is that."""
    task = data.draw(st.sampled_from(TASKS[name]))
    operands = data.draw(typed(task, 70))
    problems, expected = task.parse(operands), plain.rows(task, operands)
    assert task.text(problems) == [expected.text]
    if not task.STAGES:
        with pytest.raises(KeyError):
            task.stages("running sums", problems)
        return
    stages = task.stages(task.STAGES, problems)[0].tolist()
    for found, row in zip(stages, expected.stages, strict=False):
        digits = [int(digit, 16) for digit in row]
        assert found[: len(digits)] == digits and not any(found[len(digits) :])
    if task.LAST_DIGIT:
        assert str(stages[0][len(operands[0]) - 1]) == expected.text
    if name == "multiplication":
        assert "".join(map(str, stages[-1][::-1])).lstrip("0") in (expected.text, "")


@pytest.mark.parametrize("kind", OTHERS)
@settings(max_examples=20)
@given(st.data())
def test_what_other_formats_write_reads_back(kind, data):
    tasks = []
    for task in ACCEPTED:
        try:
            OTHERS[kind][0].check(task)
        except lengen.SettingError as error:
            assert kind in str(error) and task.kind in str(error)
            continue
        tasks.append(task)
    task, format = data.draw(st.sampled_from(tasks)), data.draw(st.sampled_from(OTHERS[kind]))
    operands = data.draw(typed(task))
    made = writer(lengen.DataSpec(task=task, format=format, position_ids=lengen.Consecutive()))
    problems = made.task.parse(operands)
    batch = made.write(problems)
    read = made.vocab.decode(final_answer(made.format, made.vocab, batch.tokens[batch.loss][None])[0])
    read = read[::-1] if made.format.reversed_answer else read
    assert (read.lstrip("0") or "0") == made.task.text(problems)[0] == plain.rows(task, operands).text


@settings(max_examples=10)
@given(st.data())
def test_what_a_writer_wrote_before_changes_nothing(data):
    """Its tables grow by new shapes alone, and are kept by the width of the problems."""
    task = data.draw(
        st.sampled_from([lengen.Addition(digits=6, operands=5), lengen.Multiplication(digits=6, second_digits=6)])
    )
    padded, scratchpad = data.draw(st.booleans()), data.draw(st.booleans())
    format = lengen.Linear(pad_query=True, pad_response=padded, scratchpad=scratchpad and task.kind == "addition")
    settings = lengen.DataSpec(task=task, format=format, position_ids=lengen.Coupled(max_position=(60, 60)))
    split = data.draw(st.booleans())
    made = writer(settings, split)
    for operands in data.draw(st.lists(typed(task), min_size=1, max_size=4)):
        problems, fresh = made.task.parse(operands), writer(settings, split)
        assert torch.equal(made.lengths(problems), fresh.lengths(problems))
        for found, wanted in zip(made.plan(problems), fresh.plan(problems), strict=True):
            assert torch.equal(found, wanted)
        found, wanted = made.write(problems), fresh.write(problems)
        length = int(wanted.loss.any(0).nonzero().max()) + 1
        assert torch.equal(found.tokens[:, :length], wanted.tokens) and not found.tokens[:, length:].any()
        assert torch.equal(found.ids, wanted.ids) and torch.equal(found.loss, wanted.loss)

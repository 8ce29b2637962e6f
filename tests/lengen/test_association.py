"""Auxiliary tasks of any kind, with lengths of their own: what is trained, and what is refused."""

import pytest
import torch

import lengen
from lengen.digits import OperandError
from reproduce.runs.costs import cost
from tests.fixtures.settings import spec

TRAIN = lengen.TrainSpec(steps=4, batch=16, lr=1e-3, bucket=4)
TEST = lengen.TestSpec(lengths=(8,), counts=(2,), examples=10)


def setting(task: lengen.Task, *hints: lengen.Task, **format: object) -> lengen.Spec:
    data = lengen.DataSpec(task=task, format=lengen.Linear(**format), position_ids=lengen.Consecutive(), hints=hints)
    test = lengen.TestSpec(lengths=(8,), counts=task.counts, examples=10)
    return spec(data, TRAIN, test, encoding="rope", tied=False)


PAIRS = [
    (setting(lengen.Reverse(4), lengen.Copy(12)), 4, 12),
    (setting(lengen.PairAddition(4), lengen.DigitSums(12), reverse_response=True), 4, 12),
    (setting(lengen.PairAddition(4), lengen.DigitSums(12), pad_query=True, pad_response=True), 4, 12),
    (setting(lengen.PairAddition(4), lengen.Successor(12), index_hints=30), 4, 12),
    (setting(lengen.Parity(4), lengen.Copy(12, base=2)), 4, 12),
]


@pytest.mark.parametrize(("sized", "short", "long"), PAIRS, ids=["reverse", "sums", "padded", "marked", "bits"])
def test_each_task_is_trained_at_lengths_of_its_own(sized, short, long):
    data = lengen.TaskData(sized, 0)
    drawn = [stream.task.train(2000, torch.Generator().manual_seed(0)).lengths.max() for stream in data.streams]
    assert [int(longest) for longest in drawn] == [short, long]
    outputs = [data.batch(step).output for step in range(4)]
    assert outputs == [0, 1, 0, 1], "in turn"
    model = lengen.build_model(sized, 0)
    for step in range(2):
        loss = lengen.SequenceModule(sized, model).training_step(data.batch(step), 0)
        assert bool(loss.isfinite())


@pytest.mark.parametrize(("sized", "short", "long"), PAIRS[:2], ids=["reverse", "sums"])
def test_the_main_task_trains_on_what_it_trains_on_alone(sized, short, long):
    alone, beside = lengen.TaskData(lengen.replace(sized, data={"hints": ()}), 0), lengen.TaskData(sized, 0)
    assert all(torch.equal(alone.batch(n).tokens, beside.batch(2 * n).tokens) for n in range(6))
    assert torch.equal(alone.validation().tokens, beside.validation().tokens)
    problems = [data.test(8, max(sized.test.counts), 10).operands for data in (alone, beside)]
    assert torch.equal(*problems)


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("kind", [lengen.Copy, lengen.Reverse])
def test_strings_have_all_digits_of_their_base(kind, base):
    task = kind(5, base=base)
    found = task.train(2000, torch.Generator().manual_seed(0)).operands
    assert found.unique().tolist() == list(range(base))
    typed = task.symbols[-1] + "010"
    assert task.text(task.parse([typed])) == [typed if kind is lengen.Copy else typed[::-1]]
    with pytest.raises(OperandError, match=rf"expected characters 0 to {task.symbols[-1]} only"):
        task.parse(["0g"])


@pytest.mark.parametrize("base", [2, 10, 16])
def test_digit_sums_carry_nothing(base):
    task = lengen.DigitSums(digits=6, base=base)
    problems = task.train(200, torch.Generator().manual_seed(1))
    answers = task.answer(problems)
    for row, numbers in zip(answers.tolist(), problems.operands.tolist(), strict=True):
        assert row == [(a + b) % base for a, b in zip(*numbers, strict=True)] + [0]


def test_an_estimate_knows_of_longer_auxiliary_tasks():
    short, long = setting(lengen.Reverse(4), lengen.Copy(4)), setting(lengen.Reverse(4), lengen.Copy(60))
    assert cost(long, "cpu").train > cost(short, "cpu").train


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (setting(lengen.Copy(4), lengen.Copy(9)),
         r"data.hints: copy is data.task=copy itself, at lengths beyond .* change data.task$"),
        (setting(lengen.Copy(4), lengen.Parity(9)), r"data.hints: parity has other symbols than data.task=copy"),
        (lengen.replace(setting(lengen.Copy(4), lengen.Reverse(9)), model={"tied": True}),
         r"data.hints: .*set model.tied=false"),
        (lengen.replace(setting(lengen.Copy(4), lengen.Reverse(9)), data={"examples": 500}),
         r"data.examples=500: with data.hints a training"),
        (lengen.replace(setting(lengen.Increment(longest=4), lengen.Successor(9)), train={"one_length": True}),
         r"train.one_length=true: .* data.hints=successor has none"),
        (setting(lengen.PairAddition(4), lengen.DigitSums(12), width=9),
         r"data.format.width=9: expected at least 13, the digits"),
        (setting(lengen.Sorting(longest=4), lengen.Copy(5)),
         r"data.hints: copy has other symbols than data.task=sorting"),
    ],
    ids=["itself", "symbols", "tied", "fixed set", "one length", "width", "sorting"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(wrong, said):
    with pytest.raises(lengen.SettingError, match=said):
        lengen.validate(wrong)

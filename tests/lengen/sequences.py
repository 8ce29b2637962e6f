"""Sorting, adding one and their auxiliary tasks to test: small specifications, and every answer said once more in plain
Python, sharing no code with `lengen`."""

import torch

import lengen
from lengen.digits.problems import Problems
from lengen.settings.spec import replace
from tests.lengen.helpers import TEST, TRAIN, spec

OF_NUMBERS = ("increment", "carries")
ONE_LENGTH = replace(TRAIN, one_length=True, bucket=5)
UNTIED = {"tied": False, "encoding": lengen.NoEncoding()}
PARTS: dict[str, type[lengen.Task]] = {
    "sorting": lengen.Sorting,
    "successor": lengen.NextLarger,
    "count": lengen.Counting,
    "fill": lengen.Filling,
    "fill_as_drawn": lengen.Filling,
    "increment": lengen.Increment,
    "carries": lengen.Carries,
}
TASKS = tuple(PARTS)


def part(task: str, length: int = 6, alphabet: int = 9, **options: float) -> lengen.Task:
    """A task on sequences; the figure of filling in draws two tokens of padding."""
    if task not in OF_NUMBERS:
        options["alphabet"] = alphabet
    if task == "fill_as_drawn":
        options["padding"] = 2
    if task in ("count", "fill", "fill_as_drawn"):
        options.pop("repeats", None)
    return PARTS[task](longest=length, **options)


def sequences(
    task: str = "sorting", length: int = 6, alphabet: int = 9, hints: tuple[str, ...] = (), examples: int = 0,
    position_ids: lengen.PositionIds = lengen.NoPositionIds(), reverse_response: bool | None = None, **options: float,
) -> lengen.DataSpec:  # fmt: skip
    """A task on sequences as "Improving Length-Generalization in Transformers via Task Hinting" writes it, and hints
    that share its fields."""
    reverse = task in OF_NUMBERS if reverse_response is None else reverse_response
    return lengen.DataSpec(
        task=part(task, length, alphabet, **options),
        format=lengen.Linear(begin=False, separator="⊥", end=False, reverse_response=reverse),
        position_ids=position_ids,
        hints=tuple(part(hint, length, alphabet, **options) for hint in hints),
        examples=examples,
    )


def sized(
    data: lengen.DataSpec | None = None,
    train: lengen.TrainSpec = ONE_LENGTH,
    test: lengen.TestSpec = TEST,
    **model: object,
) -> lengen.Spec:
    """A specification of a decoder without positions, unless ``model`` says otherwise."""
    return spec(data or sequences(), train, test, **{**UNTIED, **model})


def rows(problems: Problems, row: int = 0) -> list[list[int]]:
    """One operand of each problem, first number first (of numbers: least significant digit first)."""
    pairs = zip(problems.operands[:, row].tolist(), problems.lengths[:, row].tolist(), strict=True)
    return [values[:n] for values, n in pairs]


def held(sequence: list[int], asked: int | None = None, room: int = 0) -> Problems:
    """A sequence as a problem, and the number that is asked about; ``room`` for longer ones beside it."""
    width = len(sequence) + room
    operands = torch.zeros(1, 1 if asked is None else 2, width, dtype=torch.long)
    operands[0, 0, : len(sequence)] = torch.tensor(sequence)
    lengths = [len(sequence)]
    if asked is not None:
        operands[0, 1, 0] = asked
        lengths.append(1)
    return Problems(operands, torch.tensor([lengths]))


def next_in_order(sequence: list[int], one: int) -> int:
    """The smallest number larger than ``one``; itself where there is none."""
    best = one
    for other in sequence:
        if other > one and (best == one or other < best):
            best = other
    return best


def carried(digits: str) -> list[tuple[int, int]]:
    """(digit, carry) of each place of a number + 1, least significant first."""
    found, carry = [], 1
    for digit in reversed(digits):
        carry, value = divmod(int(digit) + carry, 10)
        found.append((value, carry))
    return [*found, (1, 0)] if carry else found

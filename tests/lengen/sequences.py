"""Sorting, adding one and their auxiliary tasks to test: small specifications, and every answer said once more in plain
Python, sharing no code with `lengen`."""

import torch

import lengen
from lengen.data.batch import Batch
from lengen.data.datamodule import ArithmeticData
from lengen.digits.problems import Problems
from lengen.formats.vocab import PAD
from lengen.models import Decoder
from lengen.settings.spec import replace
from lengen.training.build import build_model
from lengen.training.module import SequenceModule
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


def made(sized: lengen.Spec, seed: int = 0) -> tuple[Decoder, ArithmeticData]:
    """A random float64 model in which everything is moved away from where it starts, and its data."""
    model = build_model(sized, seed).double().eval()
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    assert isinstance(model, Decoder)
    return model, ArithmeticData(sized, seed)


def trained(sized: lengen.Spec, steps: int) -> tuple[Decoder, ArithmeticData]:
    """A model after some training, with the module's own steps."""
    model, data = build_model(sized, 0), ArithmeticData(sized, 0)
    module = SequenceModule(sized, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=sized.train.lr)
    for step in range(steps):
        loss = module.training_step(data.batch(step), 0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert isinstance(model, Decoder)
    return model.double().eval(), data


@torch.no_grad()
def plain_greedy(model: Decoder, data: ArithmeticData, problems: Problems) -> list[list[int]]:
    """The response to each problem: alone, no cache, only the text so far in sight, as many tokens as are asked for."""
    responses = []
    for i in range(len(problems.lengths)):
        batch = data.writer.write(problems.select(torch.tensor([i])))
        places = batch.loss[0].nonzero()[:, 0].tolist()
        text = batch.tokens[0, : places[0]].tolist()
        for place in places:
            ids = batch.ids[:, :, : place + 1]
            loss = torch.arange(place + 1)[None] >= places[0]
            text.append(int(model.predict(Batch(torch.tensor([[*text, PAD]]), ids, loss))[0, -1].argmax()))
        responses.append(text[places[0] :])
    return responses


def truths(data: ArithmeticData, problems: Problems) -> list[list[int]]:
    """True responses, each written alone."""
    rows = [data.writer.write(problems.select(torch.tensor([i]))) for i in range(len(problems.lengths))]
    return [row.tokens[0, row.loss[0]].tolist() for row in rows]


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

"""What several tests build: small settings, problems from strings, hypothesis strategies over all formats; and how they
kill a run."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import strategies as st

import lengen
from lengen.data.random_spaces import Spaces
from lengen.data.writer import Writer
from lengen.digits.problems import Problems
from lengen.formats.digit_steps import DigitSteps
from lengen.formats.vocab import Vocab
from lengen.models import Decoder
from lengen.part import kinds
from lengen.settings.spec import replace
from tests.cases import Case

MODEL = lengen.ModelSpec(layers=2, heads=2, width=16, head_dim=8, ff_width=32)
TRAIN = lengen.TrainSpec(steps=4, batch=8, lr=1e-3)
TEST = lengen.TestSpec(lengths=(1, 2), examples=10)
ENCODINGS = {
    "none": "none",
    "learned": "coupled",
    "sinusoidal": "consecutive",
    "rope": "consecutive",
    "alibi": "consecutive",
    "rpe": "consecutive",
    "fire": "consecutive",
}
"""Encoding -> the position ids it is published with."""
BESIDE = ("encoder_layers", "attention_bias", "causal")
"""Fields of an encoder-decoder."""


def model_spec(base: lengen.ModelSpec = MODEL, **fields: object) -> lengen.ModelSpec:
    """A model; an encoding or architecture may be named by its kind, and has `BESIDE` among its fields."""
    for name, axis in (("encoding", lengen.Encoding), ("architecture", lengen.Architecture)):
        if isinstance(fields.get(name), str):
            fields[name] = kinds(axis)[fields[name]]()
    beside = {name: fields.pop(name) for name in BESIDE if name in fields}
    if isinstance(fields.get("architecture"), lengen.EncoderDecoder) and getattr(
        fields.get("encoding"), "IN_BLOCKS", False
    ):
        beside = {"encoder_layers": 1, **beside}  # without one nothing would tell the order of the query
    if beside:
        architecture = fields.get("architecture", base.architecture)
        assert isinstance(architecture, lengen.EncoderDecoder), "these are fields of an encoder-decoder"
        fields["architecture"] = replace(architecture, **beside)
    return replace(base, **fields)


def spec(
    data: lengen.DataSpec, train: lengen.TrainSpec = TRAIN, test: lengen.TestSpec = TEST, **model: object
) -> lengen.Spec:
    if isinstance(data.task, lengen.Addition) and test is TEST:
        test = replace(TEST, counts=data.task.counts)
    return lengen.Spec(data=data, model=model_spec(**model), train=train, test=test)


def case_spec(case: Case) -> lengen.Spec:
    """A setting for a worked example."""
    return spec(case.data, encoding=lengen.Learned() if case.data.position_ids.sizes else lengen.NoEncoding())


# ------------------------------------------------------------------ what is written


def scheme(name: str, sizes: tuple[int, ...] = (12,), **fields: int) -> lengen.PositionIds:
    """Position ids by name; ``sizes`` are the largest of each level."""
    match name:
        case "coupled":
            return lengen.Coupled(sizes)
        case "abacus":
            return lengen.Abacus(*sizes, **fields)
        case "randomised":
            return lengen.Randomised(*sizes)
        case "cyclic":
            return lengen.Cyclic(**fields)
        case "consecutive":
            return lengen.Consecutive()
    assert name == "none"
    return lengen.NoPositionIds()


def format_of(task: lengen.Task, scratchpad: bool = True, pad: bool = True, **options) -> lengen.Format:
    """How "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count" writes a task."""
    if isinstance(task, lengen.Parity):
        return lengen.Linear(scratchpad=scratchpad)
    options = {"reverse_response": True, **options}
    if isinstance(task, lengen.Multiplication):
        return lengen.MultiplicationStages(**options) if scratchpad else lengen.Linear(pad_response=True, **options)
    return lengen.Linear(scratchpad=scratchpad, pad_query=pad, pad_response=pad, **options)


def levels_of(format: lengen.Format, task: lengen.Task) -> int:
    """Levels of ids that the paper gives it."""
    if isinstance(format, lengen.MultiplicationStages):
        return 3
    return 2 if isinstance(task, lengen.Addition) and format.scratchpad else 1


def data_spec(
    task: str, length: int = 3, count: int = 3, room: int = 12, position_ids: str = "coupled", examples: int = 0,
    spaces: lengen.RandomSpaces | None = None, **options,
) -> lengen.DataSpec:  # fmt: skip
    """A task of that paper, coupled ids up to ``room``; ``options`` as `format_of` takes them."""
    part: lengen.Task = {
        "addition": lambda: lengen.Addition(digits=length, operands=count),
        "multiplication": lambda: lengen.Multiplication(digits=length, second_digits=count),
        "parity": lambda: lengen.Parity(bits=length),
    }[task]()
    format = format_of(part, **options)
    ids = scheme(position_ids, (room,) * levels_of(format, part))
    return lengen.DataSpec(task=part, format=format, position_ids=ids, examples=examples, spaces=spaces)


FIXED = {
    "successor": lengen.Successor,
    "addition": lengen.PairAddition,
    "n_by_one": lengen.NByOne,
    "running_xor": lengen.RunningXor,
    "listops_sm": lengen.ListOpsSum,
    "listops_max": lengen.ListOpsMax,
    "listops_min": lengen.ListOpsMin,
}


def fixed_data(
    task: str, width: int = 4, base: int = 10, limit: int = 0, aligned: bool = False, reverse_response: bool = True,
    position_ids: lengen.PositionIds = lengen.Consecutive(),
) -> lengen.DataSpec:  # fmt: skip
    """A task at a fixed width, trained on numbers a digit shorter, so that no sum is too long."""
    part = FIXED[task](digits=width - 1, base=base, limit=limit)
    format: lengen.Format = lengen.Linear(separator="$", width=width, reverse_response=reverse_response)
    if aligned and task in ("addition", "n_by_one"):
        format = lengen.Aligned(width=width, reverse_response=reverse_response)
    return lengen.DataSpec(task=part, format=format, position_ids=position_ids)


def two_operands(
    *lengths: int, scratchpad: bool = False, subtasks: tuple[str, ...] = (), carries: str = "pairs", pad: bool = False,
    position_ids: lengen.PositionIds = lengen.Consecutive(), vocabulary: str = "task", examples: int = 0,
    spaces: lengen.RandomSpaces | None = None, **options,
) -> lengen.DataSpec:  # fmt: skip
    """Addition of two operands of equal length, written plain, trained on ``lengths``."""
    if subtasks:
        format: lengen.Format = lengen.Subtasks(names=subtasks, carries=carries, **options)
    elif scratchpad:
        format = DigitSteps(**options)
    else:
        format = lengen.Linear(pad_query=pad, pad_response=pad, **options)
    return lengen.DataSpec(
        task=lengen.TwoOperandAddition(lengths=lengths), format=format, position_ids=position_ids,
        vocabulary=vocabulary, examples=examples, spaces=spaces,
    )  # fmt: skip


def vocab_of(data: lengen.DataSpec) -> Vocab:
    return data.vocab


def writer(data: lengen.DataSpec, split: bool = False, spaces: Spaces | None = None) -> Writer:
    """What writes the problems of a task."""
    format = data.format.build(data.task)
    task = data.task.with_subtasks(format.kinds)
    ids = data.position_ids
    return Writer(task, format, vocab_of(data), ids, split, spaces)


def decoder(spec: lengen.Spec, seed: int = 0) -> Decoder:
    """A random float64 model: no two logits are equal by rounding."""
    torch.manual_seed(seed)
    return Decoder(spec.model, len(vocab_of(spec.data)), spec.data.position_ids.sizes).double().eval()


def forwards(task: lengen.Task) -> bool:
    """Operands are held in reading order; else least significant digit first."""
    return not task.ROWS.numbers


def problems(task: lengen.Task, operands: list[list[str]]) -> Problems:
    """Operand strings, as many per problem as there are, to digit arrays."""
    width = max(len(text) for row in operands for text in row)
    count = max(len(row) for row in operands)
    flip = 1 if forwards(task) else -1
    values = torch.zeros(len(operands), count, width, dtype=torch.long)
    lengths = torch.zeros(len(operands), count, dtype=torch.long)
    for b, row in enumerate(operands):
        for k, text in enumerate(row):
            values[b, k, : len(text)] = torch.tensor([int(c, 16) for c in text[::flip]])
            lengths[b, k] = len(text)
    return Problems(values, lengths)


def strings(task: lengen.Task, problems: Problems) -> list[list[str]]:
    """The inverse of `problems`."""
    flip = 1 if forwards(task) else -1
    return [
        ["".join("0123456789abcdef"[d] for d in digits[:size][::flip]) for digits, size in zip(row, sizes,
        strict=True) if size] for row, sizes in zip(problems.operands.tolist(), problems.lengths.tolist(), strict=True)
    ]  # fmt: skip


def number(longest: int) -> st.SearchStrategy[str]:
    return st.integers(1, longest).flatmap(
        lambda size: st.integers(0 if size == 1 else 10 ** (size - 1), 10**size - 1).map(str)
    )


@st.composite
def written(draw, longest: int = 7, most: int = 5) -> tuple[lengen.DataSpec, list[list[str]]]:
    """A way of writing, and one to four problems of mixed shapes."""
    task = draw(st.sampled_from(["addition", "multiplication", "parity"]))
    options = {"scratchpad": draw(st.booleans())}
    if task != "parity":
        options |= {"reverse_query": draw(st.booleans()), "reverse_response": draw(st.booleans())}
    if task == "addition":
        options["pad"] = draw(st.booleans())
    one = {
        "addition": st.lists(number(longest), min_size=2, max_size=most),
        "multiplication": st.lists(number(longest), min_size=2, max_size=2),
        "parity": st.lists(st.text("01", min_size=1, max_size=12), min_size=1, max_size=1),
    }[task]
    return data_spec(task, longest, most, room=40, **options), draw(st.lists(one, min_size=1, max_size=4))


# ------------------------------------------------------------------ kills


class Killed(Exception):
    """Stands for a kill: nothing after it runs."""


def kill_at(
    step: int, monkeypatch: pytest.MonkeyPatch, run: Callable[..., object], *arguments: object, place="training_step"
) -> None:
    """Run until the step, then nothing more; ``place`` is the method of `SequenceModule` that is killed."""
    body = getattr(lengen.SequenceModule, place)

    def killed(self, batch, index):
        if self.trainer.global_step == step:
            raise Killed
        return body(self, batch, index)

    with monkeypatch.context() as patch:
        patch.setattr(lengen.SequenceModule, place, killed)
        with pytest.raises(Killed):
            run(*arguments)

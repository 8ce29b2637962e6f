"""What several tests build: small specifications, problems from strings, hypothesis strategies over all formats; and
how they kill a run."""

import dataclasses
from collections.abc import Callable

import pytest
import torch
from hypothesis import strategies as st

from lengen.config.spec import DataSpec, ModelSpec, Spec, TestSpec, TrainSpec
from lengen.data.datamodule import ArithmeticData
from lengen.models import Decoder
from lengen.tasks import Problems
from lengen.training.module import SequenceModule
from tests.cases import Case

MODEL = ModelSpec(layers=2, heads=2, width=16, head_dim=8, ff_width=32)
TRAIN = TrainSpec(steps=4, batch=8, lr=1e-3)
TEST = TestSpec(lengths=(1, 2), examples=10)
LEVELS = {
    ("addition", True): 2,
    ("addition", False): 1,
    ("multiplication", True): 3,
    ("multiplication", False): 1,
    ("parity", True): 1,
    ("parity", False): 1,
}
ENCODINGS = {
    "none": "none",
    "learned": "coupled",
    "sinusoidal": "consecutive",
    "rope": "consecutive",
    "alibi": "consecutive",
    "rpe": "consecutive",
    "fire": "consecutive",
    "fire_ratio": "consecutive",
    "fire_clamped": "consecutive",
}
"""Encoding -> the position ids it is published with."""


def spec(data: DataSpec, train: TrainSpec = TRAIN, test: TestSpec = TEST, **model: object) -> Spec:
    return Spec(data=data, model=dataclasses.replace(MODEL, **model), train=train, test=test)


def case_spec(case: Case) -> Spec:
    """A specification for a worked example."""
    return spec(case.data, encoding="learned" if case.data.position_ids == "coupled" else "none")


def data_spec(task: str, length: int = 3, count: int = 3, room: int = 12, **options) -> DataSpec:
    levels = LEVELS[task, options.get("scratchpad", True)]
    return DataSpec(task=task, length=length, count=count, max_position=(room,) * levels, **options)


def fixed_data(task: str, width: int = 4, **options) -> DataSpec:
    """A task at a fixed length, trained on numbers a digit shorter, so that no sum is too long."""
    count = 2 if task == "addition" else 1
    plain = {"scratchpad": False, "position_ids": "consecutive", "length": width - 1}
    return DataSpec(**{"task": task, "count": count, "fixed_length": width, **plain, **options})


def two_operands(*lengths: int, **options) -> DataSpec:
    """Addition of two operands of equal length, written plain, trained on ``lengths``."""
    plain = {"scratchpad": False, "pad": False, "reverse_response": False, "position_ids": "consecutive"}
    return DataSpec(**{"task": "n_by_n", "length": max(lengths), "lengths": lengths, "count": 2, **plain, **options})


def decoder(spec: Spec, seed: int = 0) -> Decoder:
    """A random float64 model: no two logits are equal by rounding."""
    torch.manual_seed(seed)
    vocab = ArithmeticData(spec, 0).format.vocab
    return Decoder(spec.model, len(vocab), spec.data.max_position).double().eval()


def problems(data: DataSpec, operands: list[list[str]]) -> Problems:
    """Operand strings, as many per problem as there are, to digit arrays."""
    width = max(len(text) for row in operands for text in row)
    count = max(len(row) for row in operands)
    flip = 1 if data.task == "parity" else -1
    values = torch.zeros(len(operands), count, width, dtype=torch.long)
    lengths = torch.zeros(len(operands), count, dtype=torch.long)
    for b, row in enumerate(operands):
        for k, text in enumerate(row):
            values[b, k, : len(text)] = torch.tensor([int(c) for c in text[::flip]])
            lengths[b, k] = len(text)
    return Problems(values, lengths)


def strings(data: DataSpec, problems: Problems) -> list[list[str]]:
    """The inverse of `problems`."""
    flip = 1 if data.task == "parity" else -1
    return [
        ["".join(map(str, digits[:size][::flip])) for digits, size in zip(row, sizes, strict=True) if size]
        for row, sizes in zip(problems.operands.tolist(), problems.lengths.tolist(), strict=True)
    ]


def number(longest: int) -> st.SearchStrategy[str]:
    return st.integers(1, longest).flatmap(
        lambda size: st.integers(0 if size == 1 else 10 ** (size - 1), 10**size - 1).map(str)
    )


@st.composite
def written(draw, longest: int = 7, most: int = 5) -> tuple[DataSpec, list[list[str]]]:
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


class Killed(Exception):
    """Stands for a kill: nothing after it runs."""


def kill_at(
    step: int, monkeypatch: pytest.MonkeyPatch, run: Callable[..., object], *arguments: object, place="training_step"
) -> None:
    """Run until the step, then nothing more; ``place`` is the method of `SequenceModule` that is killed."""
    body = getattr(SequenceModule, place)

    def killed(self, batch, index):
        if self.trainer.global_step == step:
            raise Killed
        return body(self, batch, index)

    with monkeypatch.context() as patch:
        patch.setattr(SequenceModule, place, killed)
        with pytest.raises(Killed):
            run(*arguments)

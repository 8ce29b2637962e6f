"""Settings of the matrix: tasks and sizes of the benchmark, one model and one budget, and what tricks need of them."""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import structs

from lengen.benchmark.tasks import task_of
from lengen.experiment import of_width
from lengen.formats.linear import Linear
from lengen.part import Count, NotNegative, SettingError, Size
from lengen.position_ids.sequence_places import Consecutive, NoPositionIds
from lengen.settings.attention_biases import Lines
from lengen.settings.changes import Changes, overlay
from lengen.settings.model import Decoder, Encoding, ModelSpec, NoEncoding, Sinusoidal
from lengen.settings.sections import DataSpec, Section, TestSpec, Trained, TrainSpec
from lengen.settings.spec import Spec, validate
from lengen.tasks.addition import Addition
from lengen.tasks.base import Row, Task
from lengen.tasks.sequence_base import Skewed
from lengen.tasks.sorting import Sorting
from lengen.tasks.strings import Copy, Parity, Reverse
from lengen.tasks.successor_and_pair_tasks import NByOne, Successor


class CellSpec(Spec, frozen=True, kw_only=True):
    """A training on a task of the benchmark, which then answers the frozen problems of a size."""

    benchmark: str
    """The task of the benchmark."""
    size: Size
    """Its longest trained length."""

    def check(self) -> None:
        """Raise `SettingError` for a task or size that the benchmark does not have."""
        try:
            task_of(self.benchmark).lengths(self.size)
        except ValueError as error:
            raise SettingError(f"benchmark={self.benchmark}, size={self.size}: {error}") from None

    @property
    def trained(self) -> Trained:
        """Its trained range on the axes of the benchmark."""
        return Trained(self.size, self.size if task_of(self.benchmark).second else 1)


class CalibrationSpec(Section, frozen=True):
    """The model whose attention is calibrated, and the lines that open."""

    encoding: Encoding = Sinusoidal()
    """Its position encoding; ids are consecutive. All else of the model is as in the one that gets the bias."""
    width: Count = 0
    """Digits that numbers are padded to in its training; 0: problems are written as for the other model."""
    sigma_own: NotNegative = 0.9
    """Standard deviations above the mean at which a line of the response opens, of few lines."""
    sigma_cross: NotNegative = 2.0
    """The same of the lines of one direction in the prompt."""
    examples: Size = 300
    """Training problems, all operands of the trained length, that attention is averaged over."""


class CalibratedCell(CellSpec, frozen=True, kw_only=True):
    """A cell whose model is trained with the calibrated lines of another: two trainings of as many steps."""

    calibration: CalibrationSpec

    def trainings(self) -> tuple[Spec, ...]:
        """Return the model that is calibrated from, all of whose lines are open, and the one that is measured."""
        data = structs.replace(self.data, position_ids=Consecutive())
        if self.calibration.width:
            data = overlay(data, fixed(self.calibration.width))
        model = structs.replace(self.model, encoding=self.calibration.encoding)
        first = Spec(data=data, model=model, train=self.train, test=self.test)
        return first, Spec(data=self.data, model=self.model, train=self.train, test=self.test)

    def check(self) -> None:
        super().check()
        if not isinstance(self.model.attention_bias, Lines):
            raise SettingError("model.architecture.attention_bias: a calibrated bias is made of lines; choose lines")
        for training in self.trainings():
            validate(training)


TASKS: Mapping[str, Task] = {
    "addition": Addition(6, operands=2), "n_by_1": NByOne(6), "successor": Successor(6),
    "sums": Addition(3, operands=3), "parity": Parity(10), "copy": Copy(10), "reverse": Reverse(10),
    "sorting": Sorting(longest=10, alphabet=100),
}  # fmt: skip
"""Name of a task of the benchmark -> the task that trains it, to its size."""
THEORY = {"addition": "no", "parity": "no", "copy": "no", "sorting": "yes"}
"""Task -> C-RASP has a program for it (Huang et al. 2025, 2410.02140; docs/related.md): where it has, a decoder
should go further than it was trained. It speaks of binary addition, repeated symbols in copies and none in sorting."""
ROOM = 5
"""Trained lengths that tables of positions, marks and padded numbers have room for: a longer problem has no answer."""


def plain(name: str, profile: str) -> CellSpec:
    """Return the plain decoder on a task: no positions, answers of numbers from the units on."""
    task, small = TASKS[name], profile == "smoke"
    written = Linear(reverse_response=task.ROWS.numbers, pad_response=task.ROWS.answer is Row.BOUND)
    shape = of_width(16, 2, 2) if small else of_width(128, 4, 2)
    return CellSpec(
        benchmark=name, size=task.longest, data=DataSpec(task=task, format=written, position_ids=NoPositionIds()),
        model=ModelSpec(layers=1 if small else 3, **shape, encoding=NoEncoding(), architecture=Decoder(), tied=False),
        train=TrainSpec(
            steps=2 if small else 5000, batch=4 if small else 64, lr=1e-3, bucket=2 if small else 16,
            evaluations=1 if small else 5, one_length=isinstance(task, Skewed),
            precision="32-true" if small else "bf16-products",
        ),
        test=TestSpec(lengths=(task.longest,), counts=(task.most,), examples=1, free_running=False),
    )  # fmt: skip


def fixed(width: int) -> Changes:
    """Return the changes of data whose numbers are all padded to a width."""
    return {"format": {"pad_query": False, "pad_response": False, "width": width}}


def room(spec: CellSpec) -> tuple[int, int]:
    """Return the longest operand and the most operands that a trick has room for."""
    most = spec.data.task.most
    return ROOM * spec.size, ROOM * most if spec.benchmark == "sums" else most


def tokens(spec: CellSpec) -> int:
    """Return the tokens of the longest problem that a trick has room for."""
    return math.ceil(1.2 * sum(spec.data.tokens(*room(spec)))) + 8


def encoded(spec: CellSpec, encoding: Any, ids: Any = None) -> CellSpec:
    """Give a setting an encoding, and consecutive ids if no others are given."""
    return overlay(spec, {"model.encoding": encoding, "data.position_ids": ids or Consecutive()})

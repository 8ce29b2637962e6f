"""Changes that several tricks share, and the model they start from."""

import math
from typing import Any

from lengen.formats.linear import Linear
from lengen.part import SettingError
from lengen.position_ids.consecutive import Consecutive, NoPositionIds
from lengen.settings.changes import overlay
from lengen.settings.encodings import Learned, NoEncoding
from lengen.settings.model import Decoder, ModelSpec
from lengen.settings.sections import DataSpec, TestSpec, TrainSpec
from lengen.tasks.sequences import Skewed
from papers.matrix.spec import ChoiceSpec, ChosenSpec, step_tokens
from papers.matrix.tasks import Row

RATES = (1.5e-3, 4e-3, 5e-4)
"""Peak learning rates that every cell may choose from, in the order in which they are tried."""
BATCH = {"smoke": 4, "cpu": 64, "night": 64}
ROOM = 1.5
"""Table rows per token of the longest tested problem."""


class Refused(SettingError):
    """A trick that makes no sense for a task; the message has the reason."""


def plain(row: Row, profile: str) -> ChosenSpec:
    """Return the plain decoder: no positions, the most significant digit first; what every trick changes."""
    small = profile == "smoke"
    task = row.task(row.trained[profile])
    size = (1, 2, 8) if small else (2, 4, 16)
    layers, heads, head_dim = size
    spec = ChosenSpec(
        data=DataSpec(task=task, format=Linear(), position_ids=NoPositionIds()),
        model=ModelSpec(
            layers=layers,
            heads=heads,
            width=heads * head_dim,
            head_dim=head_dim,
            ff_width=2 * heads * head_dim,
            encoding=NoEncoding(),
            architecture=Decoder(),
            tied=False,
        ),
        train=TrainSpec(
            steps=1,
            batch=BATCH[profile],
            lr=RATES[0],
            betas=(0.9, 0.99),
            warmup=0.05,
            bucket=2 if small else 16,
            evaluations=1 if small else 5,
            one_length=isinstance(task, Skewed),
            precision="32-true" if small else "bf16-products",
        ),
        test=TestSpec(
            lengths=row.lengths(profile), counts=row.counts(profile), examples=4 if small else 200, free_running=False
        ),
        choice=ChoiceSpec(rates=RATES),
    )
    if small:  # a smoke run tries two rates and makes no further training, which could only fail in the same way
        spec = overlay(spec, {"choice": {"rates": RATES[:2], "retry": 1}})
    return spec


def budgeted(spec: ChosenSpec, tokens: int) -> ChosenSpec:
    """Train as many steps as the tokens of a budget allow, of all the trainings that share it."""
    return overlay(spec, {"train.steps": max(2, round(tokens / step_tokens(spec)))})


def longest(spec: ChosenSpec) -> int:
    """Return tokens of the longest tested problem, and room."""
    test = spec.test
    most = sum(spec.data.tokens(max(test.lengths), max(test.counts)))
    return math.ceil(ROOM * most) + 8


def encoded(spec: ChosenSpec, encoding: Any, ids: Any = None) -> ChosenSpec:
    """Take an encoding, and consecutive ids if no others are given."""
    return overlay(spec, {"model.encoding": encoding, "data.position_ids": ids or Consecutive()})


def learned(spec: ChosenSpec) -> ChosenSpec:
    """Take a table of positions, as long as the longest tested problem."""
    return encoded(spec, Learned(), Consecutive(longest(spec)))


def lowest_first(spec: ChosenSpec) -> ChosenSpec:
    """Return answers of numbers begin with the units; those of other tasks stay as they are."""
    return overlay(spec, {"data.format.reverse_response": True}) if spec.data.task.ROWS.numbers else spec

"""The sizes of this paper's settings: as printed, minutes on two cores, about a second.

A `Profile` is one task at one size: its vanilla model, and how large the other settings are that
`papers.bias_calibration.settings` makes of it. The paper profile is Section 3.3, with what it leaves open taken from
the authors' code; the smaller ones shrink sizes and never the code path.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from lengen.formats.linear import Linear
from lengen.settings.changes import Changes, overlay
from lengen.settings.model import EncoderDecoder, ModelSpec, Sinusoidal
from lengen.settings.sections import DataSpec, TestSpec, TrainSpec
from lengen.settings.spec import Spec
from lengen.tasks.base import Task
from lengen.tasks.running_reductions import ListOpsMax, ListOpsMin, ListOpsSum, RunningXor
from lengen.tasks.successor_and_pair_tasks import NByOne, PairAddition, Successor
from papers.bias_calibration.calibrated_spec import CalibrationSpec, InterpolationSpec

Kind = type[Successor | PairAddition | NByOne | RunningXor | ListOpsSum | ListOpsMax | ListOpsMin]
"""A task of this paper."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Size of training and tests of one task."""

    name: str
    vanilla: Spec
    """Sinusoidal positions on the natural expression: what everything else is compared with."""
    interpolation: InterpolationSpec
    """The training before a calibration."""
    calibration: CalibrationSpec
    retraining: Changes = field(default_factory=dict)
    """The training with a calibrated bias."""
    relative: Changes = field(default_factory=dict)
    """The encoder-only model with relative keys."""
    rope: Changes = field(default_factory=dict)
    """RoPE, which converges slowly on addition (A.2: the more so, the smaller the embedding), and here on N x 1 too."""
    alibi: Changes = field(default_factory=dict)
    """ALiBi; on addition its encoder layer reads both operands at once and costs more than the decoder (D7)."""
    windowed: Changes = field(default_factory=dict)
    """All configurations of Table 3."""

    @property
    def width(self) -> int:
        """Digits that every number is padded to."""
        assert isinstance(self.vanilla.data.format, Linear)
        return self.vanilla.data.format.width


# ------------------------------------------------------------------ the published setting

LIMIT = 2**20
"""Training numbers are at most this."""
WIDTH = 61
"""Digits that every number is padded to (D1)."""
RATE = 1e-4
"""Learning rate of the authors' code, whose steps and batches these are (D2)."""
VANILLA = Spec(
    data=DataSpec(
        task=Successor(digits=6, limit=LIMIT), format=Linear(separator="$", width=WIDTH, reverse_response=True)
    ),
    model=ModelSpec(
        layers=6, heads=8, width=128, head_dim=16, ff_width=512, encoding=Sinusoidal(), activation="relu",
        architecture=EncoderDecoder(encoder_layers=1), norm="layernorm", final_norm="layernorm", norm_place="post",
        tied=False, scale_attention=True, init="xavier", dropout=0.3, linear_bias=True, scale_embedding=True,
    ),
    train=TrainSpec(
        steps=50_000, batch=512, lr=RATE, betas=(0.9, 0.98), eps=1e-9, warmup=0.0, final_lr=1.0, clip=0.0, bucket=4,
        evaluations=100, stop_at=1.0, patience=8,
    ),
    test=TestSpec(lengths=tuple(range(1, 51)), examples=10_000),
)  # fmt: skip
"""Section 3.3, and what torch.nn.Transformer has in the authors' code (D1, D2, D11, D15)."""


def _task(kind: Kind, digits: int, base: int, limit: int = 0) -> Task:
    """Return a task of that many trained digits; N x 1 is tested without times zero (D18)."""
    if kind is NByOne:
        return NByOne(digits=digits, base=base, limit=limit, tested_from=1)
    return kind(digits=digits, base=base, limit=limit)


def _written(task: Task, width: int) -> Linear:
    """Return the natural format; results of N x 1 have two digits more, as in the authors' code (D19)."""
    return Linear(separator="$", width=width, reverse_response=True, more_zeros=2 if isinstance(task, NByOne) else 0)


def paper(kind: Kind, base: int) -> Profile:
    """Return the published size of a task, `VANILLA`; most numbers up to 2^20 have six digits, or twenty bits."""
    task = _task(kind, round(math.log(LIMIT, base)), base, LIMIT)
    return Profile(
        name="paper",
        vanilla=overlay(VANILLA, {"data.task": task, "data.format": _written(task, WIDTH), "test.counts": task.counts}),
        rope={"model": {"width": 512, "head_dim": 64}} if kind is PairAddition else {},
        interpolation=InterpolationSpec(steps=50_000, batch=512, lr=RATE, evaluations=100, patience=8),
        calibration=CalibrationSpec(rows=task.longest),
    )


# ------------------------------------------------------------------ two cores: a night, or minutes for the whole paper


class Small(NamedTuple):
    """Small size of one task, for two cores."""

    digits: int
    """Trained digits."""
    width: int
    """Digits of every number; a few more than are tested, so that no tested digit lies at the edge of the source."""
    lengths: tuple[int, ...]
    """Tested digits."""
    steps: int
    """Most steps of the models that are compared, and of those that are calibrated from."""
    again: int = 0
    """Most steps of a retraining with a calibrated bias."""
    layers: int = 1
    """Decoder layers."""
    batch: int = 64
    """Examples per step."""
    slopes: tuple[int, ...] = (-1,)
    """Directions searched in cross-attention: N x 1 needs the vertical one, for its digit."""


ADAM = (0.9, 0.98)
PEAK = 2e-3
"""Peak learning rate."""
EVERY = 40
"""Steps between validations."""
PATIENCE = 8
"""Perfect validations in a row after which every training stops."""
TO_50 = (1, 2, 3, 4, 5, *range(6, 11), 12, 15, 18, 20, 25, 30, 40, 50)
TO_20 = (1, 2, 3, 4, 5, *range(6, 11), 12, 15, 18, 20)
NARROW: Changes = {"data.format.width": 23, "test.lengths": TO_20}
"""Models of Table 1 that cost too much at 53 places (D7), with the width that 20 digits need."""
BITS = (1, 2, 4, 6, 8, 10, 12, 14, 15, 16, 18, 20, 22, 24, 30, 40, 50)
TO_27 = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 16, 20, 27)
FEW = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20)
LISTOPS: dict[Kind, Small] = dict.fromkeys((ListOpsSum, ListOpsMax, ListOpsMin), Small(8, 29, TO_27, 1000, 400))
NIGHT: dict[Kind, Small] = {
    **LISTOPS,
    Successor: Small(6, 53, TO_50, 600, 400),
    PairAddition: Small(6, 53, TO_50, 2800, 1600),
    NByOne: Small(6, 53, TO_50, 2000, 3600, layers=2, slopes=(0, -1)),
    RunningXor: Small(20, 53, BITS, 1600, 400, layers=2),
}
NIGHT_WINDOWED: dict[Kind, Small] = {
    ListOpsSum: Small(8, 29, TO_27, 1600),
    ListOpsMax: Small(8, 29, TO_27, 800),
    ListOpsMin: Small(8, 29, TO_27, 800),
    Successor: Small(6, 53, TO_50, 480),
    PairAddition: Small(6, 23, TO_20, 4400),
    NByOne: Small(6, 23, TO_20, 1800),
    RunningXor: Small(20, 53, BITS, 400),
}
CPU: dict[Kind, Small] = {
    **LISTOPS,
    Successor: Small(6, 23, (*FEW, 21), 500, 300),
    PairAddition: Small(6, 23, FEW, 2400, 1600),
    NByOne: Small(4, 15, FEW[:11], 1200, 1200, layers=2, batch=128, slopes=(0, -1)),
    RunningXor: Small(16, 35, (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32), 1200, 300, layers=2),
}
CPU_WINDOWED: dict[Kind, Small] = {
    ListOpsSum: Small(8, 17, FEW[:12], 1000),
    ListOpsMax: Small(8, 17, FEW[:12], 400),
    ListOpsMin: Small(8, 17, FEW[:12], 400),
    Successor: Small(6, 23, FEW, 400),
    PairAddition: Small(6, 23, FEW, 2400),
    NByOne: Small(6, 23, FEW, 1600),
    RunningXor: Small(16, 35, (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32), 300),
}
"""Sizes of the configurations of Table 3: two decoder layers, batches of 64. With period T and L layers of a window w,
digits of every residue have to be trained beyond what the first place reaches: T + L w + 1 digits at least, 6 here."""
TWO_CORES = {"cpu": (CPU, CPU_WINDOWED, 500, 1000), "night": (NIGHT, NIGHT_WINDOWED, 1000, 2520)}
"""Sizes of tasks, those of Table 3, examples of a test, and steps of the model with relative keys. A cpu run takes
minutes for the whole paper, a night hours: 6 digits or 20 bits, tested to 50, where dear to 20 (D7)."""
OURS = CalibrationSpec(
    attention="probabilities", line="sum", sigma_self=0.9, sigma_cross=2.0, slopes_self=(1,), slopes_cross=(-1,),
    rows=1, examples=300,
)  # fmt: skip
"""The authors' probabilities and sums, with thresholds for one layer and few rows (D6)."""


def _train(steps: int, batch: int) -> TrainSpec:
    """Return the shared fields of trainings on two cores: rate, warm-up, interval of validation, reason to stop."""
    return TrainSpec(
        steps=steps, batch=batch, lr=PEAK, betas=ADAM, eps=1e-9, warmup=0.0, warmup_steps=60, bucket=4,
        evaluations=steps // EVERY, stop_at=1.0, patience=PATIENCE, precision="bf16-products",
    )  # fmt: skip


def _small(kind: Kind, base: int, digits: int, width: int, layers: int, train: TrainSpec, test: Changes) -> Spec:
    """Return a vanilla model without encoder layers, pre-norm.

    It is trained on numbers whose length is drawn before the digits (D7, D9).
    """
    task = _task(kind, digits, base)
    model = {"layers": layers, "norm_place": "pre", "dropout": 0.0, "architecture": EncoderDecoder()}
    return overlay(
        VANILLA,
        {"data.task": task, "data.format": _written(task, width), "model": model, "train": train},
        {"test": {"counts": task.counts, **test}},
    )


def _two_cores(name: str, kind: Kind, base: int) -> Profile:
    """Return a setting for two cores: one or two decoder layers on the embeddings of the query, short operands.

    Scaffolded models have two layers: with one, nothing but positions could order a window.
    """
    sizes, windows, examples, steps = TWO_CORES[name]
    narrow = NARROW if name == "night" else {}
    small, windowed = sizes[kind], windows[kind]
    train, again = _train(small.steps, small.batch), _train(small.again, small.batch)
    test = {"lengths": small.lengths, "examples": examples, "free_running": False}
    vanilla = _small(kind, base, small.digits, small.width, small.layers, train, test)
    slow: dict[Kind, Changes] = {
        PairAddition: {"model.head_dim": 64, "train": _train(3 * small.steps // 2, small.batch)},
        NByOne: {"train": _train(3 * small.steps, small.batch)},
    }
    task = _task(kind, windowed.digits, base)
    return Profile(
        name=name,
        vanilla=vanilla,
        relative={**narrow, "model.layers": 2, "train": _train(steps, 64), "train.lr": 1e-3},
        rope=slow.get(kind, {}),
        alibi=narrow if kind is PairAddition else {},
        windowed={
            "data": {"task": task, "format": _written(task, windowed.width)},
            "model.layers": 2,
            "train": _train(windowed.steps, 64),
            "test.lengths": windowed.lengths,
        },
        interpolation=InterpolationSpec(
            steps=small.steps, batch=small.batch, lr=PEAK, evaluations=small.steps // EVERY, patience=PATIENCE
        ),
        calibration=overlay(OURS, {"rows": small.digits, "slopes_cross": small.slopes}),
        retraining={"train": again},
    )


def smoke(kind: Kind, base: int) -> Profile:
    """Return the smoke size: everything is tiny and takes about a second."""
    vanilla = _small(
        kind,
        base,
        digits=2,
        width=5,
        layers=1,
        train=TrainSpec(steps=8, batch=8, lr=3e-3, bucket=2, evaluations=2),
        test={"lengths": (1, 2, 3, 4), "examples": 10},
    )
    return Profile(
        name="smoke",
        vanilla=overlay(vanilla, {"model": {"width": 16, "head_dim": 8, "heads": 2, "ff_width": 32}}),
        relative={"model.layers": 2},
        windowed={"train.steps": 6},
        interpolation=InterpolationSpec(steps=8, batch=8, lr=3e-3, evaluations=2),
        calibration=overlay(OURS, {"rows": 2, "examples": 4}),
        retraining={"train.steps": 6},
    )


def profile(name: str, kind: Kind, base: int = 10) -> Profile:
    """Return a task at one size; parity is in binary, whatever the base."""
    base = 2 if kind is RunningXor else base
    if name in TWO_CORES:
        return _two_cores(name, kind, base)
    return paper(kind, base) if name == "paper" else smoke(kind, base)

"""The sizes of this paper's settings: as printed, minutes on two cores, about a second; no torch.

A `Profile` is one task at one size: its vanilla model, and how large the other settings are that
`papers.bias_calibration.settings` makes of it. The paper profile is Section 3.3, with what it leaves open taken from
the authors' code; the smaller ones shrink sizes and never the code path.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lengen.config.encodings import Sinusoidal
from lengen.config.formats import Linear
from lengen.config.model import EncoderDecoder, ModelSpec
from lengen.config.overlay import Changes, overlay
from lengen.config.sections import DataSpec, TestSpec, TrainSpec
from lengen.config.spec import Spec
from lengen.config.tasks import ListOpsMax, ListOpsMin, ListOpsSum, NByOne, PairAddition, RunningXor, Successor
from papers.bias_calibration.spec import CalibrationSpec, InterpolationSpec

Kind = type[Successor | PairAddition | NByOne | RunningXor | ListOpsSum | ListOpsMax | ListOpsMin]
"""A task of this paper."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How large one task is trained and tested."""

    name: Literal["smoke", "cpu", "paper"]
    vanilla: Spec
    """Sinusoidal positions on the natural expression: what everything else is compared with."""
    relative: Changes
    """The encoder-only model with relative keys."""
    windowed: Changes
    """All configurations of Table 3."""
    interpolation: InterpolationSpec
    """The training before a calibration."""
    calibration: CalibrationSpec
    retraining: Changes
    """The training with a calibrated bias."""

    @property
    def width(self) -> int:
        """Digits that every number is padded to."""
        assert isinstance(self.vanilla.data.format, Linear)
        return self.vanilla.data.format.width


# ------------------------------------------------------------------ the published setting

LIMIT = 2**20
"""Training numbers are at most this."""
VANILLA = Spec(
    data=DataSpec(
        task=Successor(digits=6, limit=LIMIT),
        format=Linear(separator="$", width=61, reverse_response=True),
    ),
    model=ModelSpec(
        layers=6,
        heads=8,
        width=128,
        head_dim=16,
        ff_width=512,
        encoding=Sinusoidal(),
        architecture=EncoderDecoder(encoder_layers=1),
        activation="relu",
        norm="layernorm",
        final_norm="layernorm",
        norm_place="post",
        tied=False,
        scale_attention=True,
        init="xavier",
        dropout=0.3,
        linear_bias=True,
        scale_embedding=True,
    ),
    train=TrainSpec(
        steps=50_000,
        batch=512,
        lr=1e-5,
        betas=(0.9, 0.98),
        warmup=0.0,
        final_lr=1.0,
        clip=0.0,
        bucket=4,
        evaluations=100,
        stop_at=1.0,
        patience=8,
    ),
    test=TestSpec(lengths=tuple(range(1, 61)), examples=10_000),
)
"""Section 3.3, and what torch.nn.Transformer has in the authors' code (D1, D2, D11, D15)."""


def paper(kind: Kind, base: int) -> Profile:
    """Any task as `VANILLA`; most numbers up to 2^20 have six decimal digits, or twenty bits."""
    task = kind(digits=round(math.log(LIMIT, base)), base=base, limit=LIMIT)
    return Profile(
        name="paper",
        vanilla=overlay(VANILLA, {"data.task": task, "test.counts": task.counts}),
        relative={},
        windowed={},
        interpolation=InterpolationSpec(steps=50_000, batch=512, lr=1e-5, evaluations=100, patience=8),
        calibration=CalibrationSpec(rows=task.digits),
        retraining={},
    )


# ------------------------------------------------------------------ two cores: minutes for the whole paper


class Small(NamedTuple):
    """How one task is made small enough for two cores."""

    digits: int
    """Trained digits."""
    width: int
    """Digits of every number; a few more than are tested, so that no tested digit lies at the edge of the source."""
    lengths: tuple[int, ...]
    """Tested digits."""
    steps: int
    """Steps of the models that are compared, and of those that are calibrated from."""
    again: int
    """Steps of a retraining with a calibrated bias."""
    windowed: int
    """Steps of the configurations of Table 3, with batches of 64."""
    layers: int = 1
    """Decoder layers."""
    batch: int = 64
    """Examples per step."""
    lr_again: float = 1e-3
    """Peak learning rate of a retraining, with batches of 128."""
    slopes: tuple[int, ...] = (-1,)
    """Directions searched in cross-attention: N x 1 needs the vertical one, for its digit."""


TO_10 = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
LISTOPS = Small(5, 17, (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15), 400, 400, 400)
SMALL: dict[Kind, Small] = {
    ListOpsSum: LISTOPS._replace(windowed=1000),  # a sum modulo ten is harder than a maximum
    ListOpsMax: LISTOPS,
    ListOpsMin: LISTOPS,
    Successor: Small(6, 23, (1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 21), 500, 300, 400),
    PairAddition: Small(4, 13, TO_10, 1200, 800, 1500, batch=128),
    NByOne: Small(4, 13, TO_10, 1200, 1200, 1500, layers=2, batch=128, lr_again=2e-3, slopes=(0, -1)),
    RunningXor: Small(8, 26, (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24), 1500, 300, 300, layers=2),
}
CPU_LR = 2e-3
CPU_CALIBRATION = CalibrationSpec(
    attention="probabilities",
    line="sum",
    sigma_self=0.9,
    sigma_cross=2.0,
    slopes_self=(1,),
    slopes_cross=(-1,),
    rows=1,
    examples=300,
)
"""The authors' probabilities and sums, with thresholds for one layer and few rows (D6)."""


def _small(kind: Kind, base: int, digits: int, width: int, layers: int, train: TrainSpec, test: Changes) -> Spec:
    """A vanilla model without encoder layers, pre-norm, on numbers whose length is drawn before the digits (D7, D9)."""
    task = kind(digits=digits, base=base)
    model = {"layers": layers, "norm_place": "pre", "dropout": 0.0, "architecture": EncoderDecoder()}
    return overlay(
        VANILLA,
        {"data.task": task, "data.format.width": width, "model": model, "train": train},
        {"test": {"counts": task.counts, **test}},
    )


def cpu(kind: Kind, base: int) -> Profile:
    """One or two decoder layers on the embeddings of the query, short operands, minutes.

    Scaffolded models have two layers: with one, nothing but positions could order a window.
    """
    small = SMALL[kind]
    steps, batch = small.steps, small.batch
    train = TrainSpec(
        steps=steps, batch=batch, lr=CPU_LR, betas=(0.9, 0.98), warmup=0.05, bucket=4, evaluations=30
    )  # fmt: skip
    return Profile(
        name="cpu",
        vanilla=_small(
            kind, base, small.digits, small.width, small.layers, train, {"lengths": small.lengths, "examples": 500}
        ),
        relative={"model.layers": 2, "train": {"steps": 700, "lr": 1e-3}},
        windowed={"model.layers": 2, "train": {"steps": small.windowed, "batch": 64}},
        interpolation=InterpolationSpec(steps=steps, batch=batch, lr=CPU_LR, evaluations=30),
        calibration=overlay(CPU_CALIBRATION, {"rows": small.digits, "slopes_cross": small.slopes}),
        retraining={"train": {"steps": small.again, "lr": small.lr_again, "batch": 128}},
    )


def smoke(kind: Kind, base: int) -> Profile:
    """Everything tiny: about a second."""
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
        calibration=overlay(CPU_CALIBRATION, {"rows": 2, "examples": 4}),
        retraining={"train.steps": 6},
    )


BUILDERS: dict[str, Callable[[Kind, int], Profile]] = {"smoke": smoke, "cpu": cpu, "night": cpu, "paper": paper}


def profile(name: str, kind: Kind, base: int = 10) -> Profile:
    """A task at one size; parity is in binary, whatever the base."""
    return BUILDERS[name](kind, 2 if kind is RunningXor else base)

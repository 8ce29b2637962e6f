"""The settings that the experiments of this paper vary: tasks, models, windows, calibration, and three sizes; no torch.

`paper` holds Section 3.3 as printed, with what it leaves open taken from the authors' code; `cpu` and `smoke` shrink
sizes and never the code path.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lengen.config.spec import DataSpec, ModelSpec, Spec, TestSpec, TrainSpec, change
from papers.bias_calibration.spec import TRAINING, CalibratedSpec, CalibrationSpec, InterpolationSpec, RelativeSpec

BINARY = ("addition", "n_by_one")
"""Tasks of two operands."""
PROBES = {"successor": (("03611451449241919819",),), "addition": (("078114514", "0241919810"),)}
"""Printed examples of Figures 8 and 9."""

MODELS: dict[str, dict[str, Any]] = {
    "vanilla": {"encoding": "sinusoidal"},
    "alibi": {"encoding": "alibi"},
    "rope": {"encoding": "rope"},
    "rpe": {"encoding": "rpe", "architecture": "encoder", "encoder_layers": 0, "shared": True},
}
"""Compared models of Table 1 but ABC; RPE is the cited encoder-only model with shared layers."""


@dataclass(frozen=True)
class Size:
    """How large one task is trained and tested at one profile."""

    data: dict[str, Any]
    model: dict[str, Any]
    train: dict[str, Any]
    test: dict[str, Any]
    retrain: dict[str, Any]
    """Changes of ``train`` for a retraining with a calibrated bias."""
    windowed: dict[str, Any]
    """Changes of ``train`` for the configurations of Table 3."""
    window_layers: int
    """Decoder layers of all configurations of Table 3."""
    calibration: dict[str, Any]
    relative_layers: int
    """Layers of the encoder-only model."""
    relative: dict[str, Any]
    """Changes of ``train`` for it."""


def setting(task: str, size: Size, *, base: int = 10, **changes: dict[str, Any]) -> Spec:
    """One task at one size; ``changes`` replace fields of sections."""
    count = 2 if task == "addition" else 1
    base = 2 if task == "running_xor" else base
    data = dict(size.data)
    if "limit" in data:  # most numbers up to it have this many digits: 6 in decimal, 20 in binary
        data["length"] = round(math.log(data["limit"], base))
    spec = Spec(
        data=DataSpec(
            **{
                "task": task,
                "count": count,
                "scratchpad": False,
                "position_ids": "consecutive",
                "base": base,
                **data,
            }
        ),
        model=ModelSpec(**{**ARCHITECTURE, **size.model}),
        train=TrainSpec(**size.train),
        test=TestSpec(**{"counts": (count,), **size.test}),
    )
    return change(spec, **changes)


ARCHITECTURE: dict[str, Any] = {
    "heads": 8,
    "width": 128,
    "head_dim": 16,
    "ff_width": 512,
    "encoding": "sinusoidal",
    "activation": "relu",
    "norm": "layernorm",
    "final_norm": "layernorm",
    "tied": False,
    "scale_attention": True,
    "init": "xavier",
    "architecture": "encoder_decoder",
    "biases": True,
    "scale_embedding": True,
}
"""Section 3.3, and what torch.nn.Transformer has in the authors' code."""


# ------------------------------------------------------------------ the published setting

TEXT: dict[str, Any] = {
    "attention": "scores",
    "line": "mean",
    "sigma_self": 2.0,
    "sigma_cross": 2.0,
    "slopes_self": (1, 0, -1),
    "slopes_cross": (1, 0, -1),
}
"""Section 5, mended: scores, means, two standard deviations, all three directions, on the trained digits."""
CODE: dict[str, Any] = {
    "attention": "probabilities",
    "line": "sum",
    "sigma_self": 0.87,
    "sigma_cross": 4.5,
    "slopes_self": (1,),
    "slopes_cross": (-1,),
}
"""The authors' code: probabilities, sums, other thresholds, one direction each."""
LENGTHS = tuple(range(1, 61))


def paper_size(task: str) -> Size:
    """Section 3.3; what it leaves open is D1, D2, D11 and D15."""
    return Size(
        data={"fixed_length": 61, "limit": 2**20},
        model={"layers": 6, "encoder_layers": 1, "norm_place": "post", "dropout": 0.3},
        train={
            "steps": 50_000,
            "batch": 512,
            "lr": 1e-5,
            "betas": (0.9, 0.98),
            "warmup": 0.0,
            "final_lr": 1.0,
            "clip": 0.0,
            "bucket": 4,
            "evaluations": 100,
            "stop_at": 1.0,
            "patience": 8,
        },
        test={"lengths": LENGTHS, "examples": 10_000},
        retrain={},
        windowed={},
        window_layers=6,
        calibration=TEXT,
        relative_layers=6,
        relative={},
    )


# ------------------------------------------------------------------ two cores: minutes for the whole paper


class Small(NamedTuple):
    """How one task is made small enough for two cores."""

    length: int
    """Trained digits."""
    fixed: int
    """Fixed length; a few more digits than are tested, so that no tested digit lies at the edge of the source."""
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
SMALL = {
    "listops_sm": LISTOPS._replace(windowed=1000),  # a sum modulo ten is harder than a maximum
    "successor": Small(6, 23, (1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 21), 500, 300, 400),
    "addition": Small(4, 13, TO_10, 1200, 800, 1500, batch=128),
    "n_by_one": Small(4, 13, TO_10, 1200, 1200, 1500, layers=2, batch=128, lr_again=2e-3, slopes=(0, -1)),
    "running_xor": Small(8, 26, (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24), 1500, 300, 300, layers=2),
}
CPU_LR = 2e-3
CPU_CALIBRATION: dict[str, Any] = {
    "attention": "probabilities",
    "line": "sum",
    "sigma_self": 0.9,
    "sigma_cross": 2.0,
    "slopes_self": (1,),
    "examples": 300,
}
"""The authors' probabilities and sums, with thresholds for one layer and few rows (D6)."""
WINDOW_LAYERS = 2
"""Decoder layers of scaffolded models at the cpu profile: with one, nothing but positions could order a window."""


def cpu_size(task: str) -> Size:
    """One or two decoder layers on the embeddings of the query, short operands, minutes (D7, D9)."""
    small = SMALL.get(task, LISTOPS)
    return Size(
        data={"length": small.length, "fixed_length": small.fixed},
        model={"layers": small.layers, "norm_place": "pre"},
        train={
            "steps": small.steps,
            "batch": small.batch,
            "lr": CPU_LR,
            "betas": (0.9, 0.98),
            "warmup": 0.05,
            "bucket": 4,
            "evaluations": 30,
        },
        test={"lengths": small.lengths, "examples": 500},
        retrain={"steps": small.again, "lr": small.lr_again, "batch": 128},
        windowed={"steps": small.windowed, "batch": 64},
        window_layers=WINDOW_LAYERS,
        calibration={**CPU_CALIBRATION, "slopes_cross": small.slopes},
        relative_layers=2,
        relative={"steps": 700, "lr": 1e-3},
    )


def smoke_size(task: str) -> Size:
    """Everything tiny: about a second."""
    return Size(
        data={"length": 2, "fixed_length": 5},
        model={"layers": 1, "width": 16, "head_dim": 8, "heads": 2, "ff_width": 32, "norm_place": "pre"},
        train={"steps": 8, "batch": 8, "lr": 3e-3, "bucket": 2, "evaluations": 2},
        test={"lengths": (1, 2, 3, 4), "examples": 10},
        retrain={"steps": 6},
        windowed={"steps": 6},
        window_layers=1,
        calibration={**CPU_CALIBRATION, "examples": 4, "slopes_cross": (-1,)},
        relative_layers=2,
        relative={},
    )


SIZES = {"smoke": smoke_size, "cpu": cpu_size, "paper": paper_size}


# ------------------------------------------------------------------ kinds of experiments


def plain(task: str, kind: str, profile: str, **options: Any) -> Spec:
    """A model of `MODELS` on the natural expression."""
    size = SIZES[profile](task)
    model = dict(MODELS[kind])
    if kind == "rpe":
        model["layers"] = size.relative_layers
    if kind == "rope" and task == "addition" and profile == "paper":
        model |= {"width": 512, "head_dim": 64}  # Appendix A.2: smaller ones converge very slowly
    spec = setting(task, size, model=model, **options)
    if kind == "rpe":  # distances are told apart over the whole sequence, and only in plain order are they constant
        length = (2 + (task == "addition")) * (spec.data.fixed_length + 1) + 3
        spec = change(spec, data={"max_position": (length,), "reverse_response": False}, train=size.relative)
        return RelativeSpec(data=spec.data, model=spec.model, train=spec.train, test=spec.test)
    if kind == "vanilla" and profile != "smoke" and task in PROBES:
        spec = change(spec, test={"probes": PROBES[task]})
    return spec


CONFIGURATIONS: dict[str, dict[str, dict[str, Any]]] = {
    "vanilla": {"data": {}, "model": {}},
    "window": {"data": {}, "model": {"bias": "window", "window": 1}},
    "cyclic": {"data": {"position_ids": "cyclic", "period": 3}, "model": {"bias": "window", "window": 1}},
    "nope": {"data": {"position_ids": "none"}, "model": {"bias": "window", "window": 1, "encoding": "none"}},
}
"""Configurations A to D of Appendix A.5."""


def scaffolded(task: str, configuration: str, profile: str, **options: Any) -> Spec:
    """A configuration of Table 3; the operands of binary tasks are aligned (Appendix A.4)."""
    size = SIZES[profile](task)
    if task not in BINARY and configuration == "vanilla" and size.window_layers == size.model["layers"]:
        return plain(task, "vanilla", profile, **options)
    chosen = CONFIGURATIONS[configuration]
    aligned = task in BINARY
    model = {"layers": size.window_layers, **chosen["model"], **({"stride": 2} if aligned and chosen["model"] else {})}
    data = {**chosen["data"], "aligned": aligned}
    return setting(task, size, data=data, model=model, train=size.windowed, **options)


def calibrated(task: str, profile: str, positions: bool | None = None, **calibration: Any) -> CalibratedSpec:
    """Attention bias calibration; ``positions`` keeps sinusoids in retraining, None as the profile does (D6)."""
    size = SIZES[profile](task)
    kept = profile == "paper" if positions is None else positions
    spec = setting(task, size, data={} if kept else {"position_ids": "none"}, train=size.retrain)
    model = {"bias": "given", "encoding": "sinusoidal" if kept else "none"}
    spec = change(spec, model=model)
    first = {name: size.train[name] for name in TRAINING if name in size.train}
    return CalibratedSpec(
        data=spec.data,
        model=spec.model,
        train=spec.train,
        test=spec.test,
        interpolation=InterpolationSpec(**first),
        calibration=CalibrationSpec(**{"rows": spec.data.length, **size.calibration, **calibration}),
    )


def with_code_masks(spec: CalibratedSpec) -> CalibratedSpec:
    """The bias replaces the causal mask, as in the authors' code."""
    return replace(spec, model=replace(spec.model, causal=False))

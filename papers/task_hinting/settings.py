"""The settings that the experiments of this paper vary: data sets, hints, depth, temperature, three sizes; no torch.

`paper` holds Appendix B as printed, with what it leaves open decided in `papers.task_hinting.deviations`; `cpu` and
`smoke` shrink sizes and never the code path. A setting is the base of its profile with changes on top of it.
"""

from typing import Any

from lengen.config.spec import DataSpec, ModelSpec, TestSpec, TrainSpec, change
from papers.task_hinting.spec import ProbedSpec, ProbeSpec

Changes = dict[str, dict[str, Any]]
"""Fields to replace, by section."""


def setting(profile: str, *changes: Changes) -> ProbedSpec:
    """The base of a profile with the changes applied in their order."""
    merged: Changes = {}
    for some in (COMMON, BASE[profile], *changes):
        for section, fields in some.items():
            merged[section] = {**merged.get(section, {}), **fields}
    model = merged["model"]
    model["head_dim"] = model["width"] // model["heads"]
    return ProbedSpec(
        data=DataSpec(**merged["data"]),
        model=ModelSpec(**model),
        train=TrainSpec(**merged["train"]),
        test=TestSpec(**merged["test"]),
        probe=ProbeSpec(**merged["probe"]),
    )


# ------------------------------------------------------------------ the base of each profile

COMMON: Changes = {
    "data": {
        "task": "sorting",
        "scratchpad": False,
        "pad": False,
        "reverse_response": False,
        "position_ids": "none",
        "skew": 0.8,
    },
    "model": {
        "layers": 2,
        "encoding": "none",
        "activation": "gelu",
        "norm": "layernorm",
        "final_norm": "layernorm",
        "norm_place": "pre",
        "tied": False,
        "head_bias": True,
        "scale_attention": True,
        "init": "normal",
    },
    "train": {"betas": (0.9, 0.999), "final_lr": 0.0, "one_length": True},
    "test": {},
    "probe": {},
}
"""What no profile changes: Section 3, Appendix B, Tables 4 and 5."""

BASE: dict[str, Changes] = {
    "paper": {
        "data": {"length": 20, "alphabet": 100, "short": 5},
        "model": {"heads": 16, "width": 1024, "ff_width": 2048},
        "train": {
            "steps": 100_000,
            "batch": 1024,
            "lr": 1e-5,
            "warmup_steps": 1000,
            "evaluations": 50,
            "precision": "bf16-mixed",
        },
        "test": {"lengths": (5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100), "examples": 100_000},
    },
    "cpu": {
        "data": {"length": 10, "alphabet": 30, "short": 5},
        "model": {"heads": 8, "width": 64, "ff_width": 128},
        "train": {"steps": 3400, "batch": 128, "lr": 3e-3, "warmup_steps": 100, "evaluations": 10},
        "test": {"lengths": (5, 10, 15, 20, 25, 30, 40, 50), "examples": 500},
    },
    "smoke": {
        "data": {"length": 4, "alphabet": 10, "short": 3},
        "model": {"heads": 2, "width": 16, "ff_width": 32},
        "train": {"steps": 8, "batch": 8, "lr": 1e-3, "warmup_steps": 2, "evaluations": 2, "bucket": 2},
        "test": {"lengths": (3, 4, 6, 8), "examples": 8},
    },
}

# ------------------------------------------------------------------ training sets (Section 3)

SIZES = {"1m": 1_000_000, "10m": 10_000_000, "40m": 40_000_000, "160m": 160_000_000}
"""Sizes of the training set, over all tasks."""


def examples(size: str, profile: str) -> int:
    """Training examples of a size; smaller profiles keep the number of epochs, in whole windows (D22)."""
    if profile == "paper":
        return SIZES[size]
    paper, small = BASE["paper"]["train"], BASE[profile]["train"]
    seen = small["steps"] * small["batch"]
    window = 2 * small["batch"] * small.get("bucket", 16)
    windows = round(SIZES[size] * seen / (paper["steps"] * paper["batch"]) / window)
    return window * max(windows, 1 + list(SIZES).index(size))  # as many different sizes, however small


REPEATS: Changes = {"data": {"repeats": 0.1}}
"""The modified data set: 10 % of the sequences have non-trivial repetitions (Section 3.1, Appendix B)."""
COUNTS = (1, 2, 3, 4, 5)
"""Tested repetitions: 1 is uniform, r from 2 on rep(i, r)."""


def _sized(size: str, profile: str) -> Changes:
    return {"data": {"examples": examples(size, profile)}}


# ------------------------------------------------------------------ experiments, one function per figure


def scaled(size: str, profile: str, *, hints: tuple[str, ...] = (), layers: int = 2) -> ProbedSpec:
    """Figures 3.2, 3.3 and 3.5: sizes of the training set, depths, with and without hints."""
    return setting(
        profile,
        _sized(size, profile),
        {"data": {"hints": hints}, "model": {"layers": layers}},
    )


def repeated(hints: tuple[str, ...], profile: str, *, rep: bool = False, factor: int = 1) -> ProbedSpec:
    """Figures 3.6 to 3.9, 3.11 and 4.12 to 4.16: the data set with repetitions, by hints.

    ``rep`` tests rep(i, r) and probes the model; ``factor`` multiplies the steps.
    """
    spec: Changes = {"data": {"hints": hints}}
    if factor > 1:
        spec["train"] = {"steps": factor * BASE[profile]["train"]["steps"]}
    if rep:
        spec["test"] = {"counts": COUNTS}
        spec["probe"] = {"examples": PROBED[profile], "sequences": SEQUENCES[profile]}
    return setting(profile, _sized("160m", profile), REPEATS, spec)


PROBED = {"paper": 10_000, "cpu": 500, "smoke": 8}
"""Sequences of each length on which the mechanisms are measured."""
SEQUENCES = {
    "paper": (("5", "17", "43", "78", "92"),),
    "cpu": (("2", "5", "13", "23", "28"),),
    "smoke": (("1", "2", "4", "8", "9"),),
}
"""The printed example of Figures 4.12 to 4.14, and what it becomes in a smaller alphabet."""


def longer(softmax: str, profile: str) -> ProbedSpec:
    """Table 1 at a smaller profile with three times its steps, on a training set that grows with them."""
    spec = scaled("160m", profile) if softmax == "standard" else tempered(profile)
    steps, examples = LONGER * spec.train.steps, LONGER * spec.data.examples
    return change(spec, train={"steps": steps}, data={"examples": examples})


LONGER = 3
"""The text trains far beyond the point where trained lengths are solved; smaller profiles stop about there."""


def tempered(profile: str, *, size: str = "160m", hints: tuple[str, ...] = (), **model: str) -> ProbedSpec:
    """Tables 1 and 2: attention whose logits grow with ln n; ``model`` changes how."""
    temperature: dict[str, Any] = {"temperature": "log", "temperature_start": START, **model}
    if temperature["temperature"] == "one_plus_log":
        temperature["temperature_start"] = 0.0  # the standard softmax
    return setting(profile, _sized(size, profile), {"data": {"hints": hints}, "model": temperature})


START = 0.4
"""Initial beta: beta ln n is about 1 at the trained lengths, so that training starts near the standard softmax."""


def increment(kind: str, profile: str) -> ProbedSpec:
    """Table 3: adding one, with depth 4."""
    sizes: dict[str, Changes] = {
        "paper": {"data": {"length": 10, "short": 4}, "test": {"lengths": (5, 10, *range(11, 21))}},
        "cpu": {
            "data": {"length": 6, "short": 3},
            "model": {"heads": 2},
            "train": {"steps": 3000},
            "test": {"lengths": (3, *range(6, 13))},
        },
        "smoke": {},
    }
    kinds: dict[str, Changes] = {
        "standard": {},
        "hinting": {"data": {"hints": ("carries",)}},
        "tempered": {"model": {"temperature": "log", "temperature_start": START}},
    }
    changes: Changes = {
        "data": {"task": "increment", "alphabet": 0, "reverse_response": True, "repeats": 0.1},
        "model": {"layers": 4},
    }
    return setting(profile, _sized("1m", profile), changes, sizes[profile], kinds[kind])

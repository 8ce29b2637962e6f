"""The settings that the experiments of this paper vary: data sets, formats, positions, models, three sizes; no torch.

`paper` holds Chapter 4 as printed, with what it leaves open taken from the author's code; `cpu` and `smoke` shrink
sizes and never the code path. A setting is the base of its profile with the changes of a data set, of a way of writing
and of a model on top of it.
"""

from typing import Any

from lengen.config.spec import DataSpec, ModelSpec, TestSpec, TrainSpec
from papers.random_spaces.spec import MeasuredSpec, MeasureSpec

Changes = dict[str, dict[str, Any]]
"""Fields to replace, by section."""

SUBTASKS = ("add", "rev", "ali", "mad", "car")


def setting(profile: str, *changes: Changes) -> MeasuredSpec:
    """The base of a profile with the changes applied in their order."""
    merged: Changes = {}
    for change in (COMMON, BASE[profile], *changes):
        for section, fields in change.items():
            merged[section] = {**merged.get(section, {}), **fields}
    data, model = merged["data"], merged["model"]
    data["length"] = max(data["lengths"])
    model.setdefault("head_dim", model["width"] // model["heads"])
    model.setdefault("ff_width", 4 * model["width"])
    return MeasuredSpec(
        data=DataSpec(**data),
        model=ModelSpec(**model),
        train=TrainSpec(**merged["train"]),
        test=TestSpec(**merged["test"]),
        measure=MeasureSpec(**merged["measure"]),
    )


def _lengths(longest: int, *gaps: int) -> tuple[int, ...]:
    return tuple(length for length in range(1, longest + 1) if length not in gaps)


# ------------------------------------------------------------------ the base of each profile

COMMON: Changes = {
    "data": {
        "task": "n_by_n",
        "count": 2,
        "scratchpad": False,
        "pad": False,
        "reverse_response": False,
        "position_ids": "consecutive",
        "vocabulary": "printable",
    },
    "model": {
        "encoding": "sinusoidal",
        "activation": "gelu",
        "norm": "layernorm",
        "scale_attention": True,
        "init": "normal",
        "biases": True,
    },
    "train": {"betas": (0.9, 0.999), "weight_decay": 0.1, "warmup_steps": 100},
    "test": {"counts": (2,), "attention_examples": 1},
    "measure": {},
}
"""What no profile changes: Sections 4.2.1, 4.2.3, 4.2.4."""

BASE: dict[str, Changes] = {
    "paper": {
        "data": {},
        "model": {
            "layers": 3,
            "heads": 4,
            "width": 128,
            "norm_place": "post",
            "final_norm": "none",
            "tied": True,
            "dropout": 0.1,
        },
        "train": {"steps": 100_000, "batch": 256, "lr": 3e-4, "evaluations": 100, "precision": "bf16-mixed"},
        "test": {"examples": 1000, "track": 100},
        "measure": {"examples": 1000},
    },
    "cpu": {
        "data": {},
        "model": {
            "layers": 3,
            "heads": 4,
            "width": 128,
            "ff_width": 256,
            "norm_place": "pre",
            "final_norm": "layernorm",
            "tied": False,
        },
        "train": {"steps": 3000, "batch": 32, "lr": 1e-3, "evaluations": 20, "bucket": 16},
        "test": {"examples": 500, "track": 64},
        "measure": {"examples": 200},
    },
    "smoke": {
        "data": {},
        "model": {
            "layers": 1,
            "heads": 2,
            "width": 32,
            "ff_width": 32,
            "norm_place": "pre",
            "final_norm": "layernorm",
            "tied": False,
        },
        "train": {"steps": 8, "batch": 8, "lr": 1e-3, "evaluations": 2, "bucket": 2, "warmup_steps": 2},
        "test": {"examples": 8, "track": 4},
        "measure": {"examples": 4, "prompts": 4},
    },
}


# ------------------------------------------------------------------ data sets (Section 4.2.2)


def _set(lengths: tuple[int, ...], tested: tuple[int, ...], examples: int) -> Changes:
    return {"data": {"lengths": lengths, "examples": examples}, "test": {"lengths": tested}}


SETS: dict[str, dict[str, Changes]] = {
    "1-3_digit": {
        "paper": _set((1, 3), (1, 2, 3, 4), 10_000),
        "cpu": _set((1, 3), (1, 2, 3, 4), 10_000),
        "smoke": _set((1, 3), (1, 2, 3, 4), 200),
    },
    "1-7_digit": {
        "paper": _set(_lengths(7), _lengths(8), 100_000),
        "cpu": _set(_lengths(5), _lengths(6), 30_000),
        "smoke": _set((1, 2), (1, 2, 3), 200),
    },
    "generalize_to_longer": {
        "paper": _set(_lengths(19, 18), _lengths(20), 1_000_000),
        "cpu": _set(_lengths(7, 6), _lengths(8), 30_000),
        "smoke": _set((1, 2, 4), (1, 2, 3, 4, 5), 200),
    },
    "generalize_to_longer_mini": {
        "paper": _set(_lengths(9, 8), _lengths(12), 100_000),
        "cpu": _set(_lengths(6, 5), _lengths(9), 30_000),
        "smoke": _set((1, 2, 4), (1, 2, 3, 4, 5, 6), 200),
    },
}
"""Trained and tested lengths, and training problems; smaller profiles have the same gaps at shorter lengths (D3)."""

# ------------------------------------------------------------------ ways of writing and positions (Table 4.1)

PADDED = {"paper": 13, "cpu": 8, "smoke": 5}
"""Digits that zero padding pads to (Figure 4.5: 13); longer numbers are tested beside it."""
ABACUS_TABLE = 128
"""Rows of the Abacus table: the context length of the author's code."""


def written(kind: str, profile: str) -> Changes:
    """The changes that make one of the settings of Figure 4.5."""
    kinds: dict[str, Changes] = {
        "ape": {},
        "reversed": {"data": {"reverse_response": True}},
        "scratchpad": {"data": {"scratchpad": True}},
        "zero-pad": {"data": {"pad_to": PADDED[profile]}, "test": {"lengths": _lengths(PADDED[profile] + 1)}},
        "spaces": {"data": {"spaces": 0.5}},
        "abacus": {
            "data": {
                "reverse_query": True,
                "reverse_response": True,
                "position_ids": "abacus",
                "max_position": (ABACUS_TABLE,),
                "max_offset": 30,
            },
            "model": {"encoding": "learned"},
        },
    }
    return kinds[kind]


# ------------------------------------------------------------------ experiments, one function per figure


def fig41(name: str, profile: str) -> MeasuredSpec:
    """Figure 4.1: a decoder trained on all tokens, as in the author's code, which reverses the answers of 1-3_digit."""
    sizes = {
        "1-3_digit": {"steps": 10_000},
        "1-7_digit": {"steps": 10_000},
        "generalize_to_longer": {"steps": 200_000, "batch": 512},
    }
    cpu = {"1-3_digit": {"steps": 6000}, "1-7_digit": {"steps": 4500}, "generalize_to_longer": {"steps": 4000}}
    changes: Changes = {"train": {"loss": "all"}}
    if name == "1-3_digit":
        changes["data"] = {"reverse_response": True}
    return setting(profile, SETS[name][profile], changes, _large(profile), _train(profile, sizes[name], cpu[name]))


def fig42(name: str, profile: str) -> MeasuredSpec:
    """Figure 4.2: a Universal Transformer, three recurrent steps in encoder and decoder each."""
    sizes = {"paper": {"width": 384, "heads": 6}, "cpu": {"width": 128, "heads": 4}, "smoke": {}}
    universal: Changes = {
        "model": {
            "architecture": "encoder_decoder",
            "shared": True,
            "layers": 3,
            "encoder_layers": 3,
            "inject": "coordinates",
            **sizes[profile],
        },
        "train": {"loss": "all"},
    }
    return setting(profile, SETS[name][profile], universal, _train(profile, {"steps": 10_000}, {"steps": 10_000}))


def fig45(kind: str, profile: str) -> MeasuredSpec:
    """Figure 4.5: six ways to write a problem or to number its tokens; also Figure 4.4's models."""
    longest = max(SETS[MINI][profile]["test"]["lengths"])
    trained = max(SETS[MINI][profile]["data"]["lengths"])
    changes: Changes = {"test": {"attention": ((trained, 2),)}}
    if kind == "spaces":
        changes["measure"] = {"uncertainty": (trained, longest)}
    return setting(profile, SETS[MINI][profile], written(kind, profile), changes, _train(profile, {}, STEPS[kind]))


STEPS: dict[str, dict[str, Any]] = {
    "ape": {"steps": 6000},
    "reversed": {"steps": 6000},
    "scratchpad": {"steps": 3600, "batch": 16},  # several times the tokens
    "zero-pad": {"steps": 4500},
    "spaces": {"steps": 6500},
    "abacus": {"steps": 3000},
}
"""Training of Figure 4.5 at the cpu profile, by what learns its trained lengths (D18)."""
MINI = "generalize_to_longer_mini"


def fig43(profile: str) -> MeasuredSpec:
    """Figure 4.3: the large model with random spaces and reversed answers; at smaller profiles Figure 4.5's."""
    if profile != "paper":
        return fig45("spaces", profile)
    return setting(
        profile,
        SETS["generalize_to_longer"][profile],
        written("spaces", profile),
        {
            "data": {"reverse_response": True},
            "test": {"lengths": (*_lengths(20), 25)},
            "measure": {"uncertainty": (19, 25)},
        },
        _large(profile),
        _train(profile, {"steps": 1_000_000, "batch": 512}, {}),
    )


def fig46(profile: str) -> MeasuredSpec:
    """Figure 4.6: scratchpad with random spaces."""
    name = "generalize_to_longer" if profile == "paper" else MINI
    return setting(
        profile,
        SETS[name][profile],
        written("scratchpad", profile),
        written("spaces", profile),
        {"test": {"lengths": _lengths(21)}} if profile == "paper" else {},
        _large(profile),
        _train(profile, {"steps": 200_000, "batch": 512}, {"steps": 2600, "batch": 16}),
    )


WIDTHS = (64, 128, 256, 512, 1024, 1536)
SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}


def table43(size: str, kind: str, width: int, profile: str) -> MeasuredSpec:
    """Table 4.3: addition alone or mixed with its sub-tasks, by size of the training set and width of the model."""
    data: dict[str, Any] = {"examples": SIZES[size] if profile != "smoke" else 200, "spaces": 0.5}
    if kind == "mix":
        data["subtasks"] = SUBTASKS
    model = {"paper": {"layers": 6, "heads": 8}, "cpu": {"layers": 3, "heads": 8}, "smoke": {"layers": 1, "heads": 4}}
    narrow = {"width": width, "ff_width": 4 * width} if profile == "paper" else {"width": width, "ff_width": 2 * width}
    return setting(
        profile,
        SETS[MINI][profile],
        {"data": data, "model": {**model[profile], **narrow}, "test": {"sampled": 8 if profile == "smoke" else 100}},
        _train(profile, {"steps": 32_000}, {"steps": 4000}),
    )


def figB1(kind: str, profile: str) -> MeasuredSpec:  # as the figure is called
    """Figure B.1: the large decoder, with plain and with reversed answers; at smaller profiles Figure 4.5's."""
    if profile != "paper":
        return fig45(kind, profile)
    return setting(
        profile,
        SETS["generalize_to_longer"][profile],
        written(kind, profile),
        _large(profile),
        _train(profile, {"steps": 200_000, "batch": 512}, {}),
    )


def looped(kind: str, profile: str) -> MeasuredSpec:
    """Section 2.1.3: one block applied again and again, with and without input injection."""
    loops = {"paper": 10, "cpu": 3, "smoke": 2}[profile]
    inject = "input" if kind == "injected" else "none"
    return setting(
        profile,
        SETS[MINI][profile],
        {"model": {"layers": 1, "loops": loops, "inject": inject}},
        _train(profile, {}, {"steps": 2000}),
    )


def _large(profile: str) -> Changes:
    """The NanoGPT of Figures 4.1, 4.3, 4.6 and B.1; smaller profiles have their base."""
    return {"model": {"layers": 6, "width": 768, "heads": 4}} if profile == "paper" else {}


def _train(profile: str, paper: dict[str, Any], cpu: dict[str, Any]) -> Changes:
    """Training of the published setting and of the cpu profile."""
    return {"train": {"paper": paper, "cpu": cpu, "smoke": {}}[profile]}

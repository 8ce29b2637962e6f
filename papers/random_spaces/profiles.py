"""The sizes of this paper: its specification, the base of each profile, and how far each of them follows a data set.

`paper` holds Chapter 4 as printed, with what it leaves open taken from the author's code; `night`, `cpu` and `smoke`
shrink sizes and never the code path. Night and cpu have one model, night more updates on longer numbers in Figures
4.1, 4.2 and 4.5, cpu fewer experiments and seeds: how they were found is in RECIPES.md.
"""

from lengen.experiment import ByProfile, of_width
from lengen.formats.linear import Linear
from lengen.part import Size
from lengen.settings.changes import Changes, overlay
from lengen.settings.model import ModelSpec, Sinusoidal
from lengen.settings.sections import DataSpec, Section, TestSpec, TrainSpec
from lengen.settings.spec import Spec
from lengen.tasks.two_operand_addition import TwoOperandAddition


class MeasureSpec(Section, frozen=True):
    """Measurements of a trained model after scoring."""

    examples: Size = 200
    """Problems of every tested length whose losses, scratchpad parts and sub-tasks are measured."""
    uncertainty: tuple[Size, ...] = ()
    """Operand lengths at which entropy and probabilities are recorded by answer place (Figure 4.3)."""
    prompts: Size = 100
    """Problems of each of these lengths."""
    alignment: tuple[Size, ...] = ()
    """Operand lengths at which attention to the digits that are added is measured, ``prompts`` of each (Figure 4.4)."""


class MeasuredSpec(Spec, frozen=True):
    """A specification whose run ends with measurements of its own."""

    measure: MeasureSpec


def up_to(longest: int, *gaps: int) -> tuple[int, ...]:
    """Return the lengths 1 to ``longest`` without ``gaps``."""
    return tuple(length for length in range(1, longest + 1) if length not in gaps)


PUBLISHED = MeasuredSpec(
    data=DataSpec(task=TwoOperandAddition(up_to(9, 8)), format=Linear(), examples=100_000, vocabulary="printable"),
    model=ModelSpec(
        layers=3, **of_width(128, heads=4, hidden=4), encoding=Sinusoidal(), activation="gelu", norm="layernorm",
        final_norm="none", norm_place="post", tied=True, scale_attention=True, init="normal", linear_bias=True,
        dropout=0.1,
    ),
    train=TrainSpec(
        steps=100_000, batch=256, lr=3e-4, betas=(0.9, 0.999), weight_decay=0.1, warmup_steps=100, evaluations=100,
        precision="bf16-mixed",
    ),
    test=TestSpec(lengths=up_to(12), counts=(2,), examples=1000, track=100, attention_examples=1),
    measure=MeasureSpec(examples=1000),
)  # fmt: skip
"""Sections 4.2.1 to 4.2.4, with the data set ``generalize_to_longer_mini``."""

STEPS = 20_000
"""Updates of 32 problems that random spaces, the slowest of Figure 4.5, need to learn the range of the cpu profile."""
_SMALLER: Changes = {
    "model": {"norm_place": "pre", "final_norm": "layernorm", "tied": False, "dropout": 0.0},
    "train": {"lr": 1e-3, "precision": "bf16-products"},
}
_TWO_CORES = overlay(
    PUBLISHED, _SMALLER,
    {
        "model": of_width(128, heads=4, hidden=2), "train": {"steps": STEPS, "batch": 32, "evaluations": 20},
        "test": {"examples": 500, "track": 64}, "measure": {"examples": 200},
    },
)  # fmt: skip
"""The base of both; experiments say what is longer at night. cpu makes one seed of what the main statements need."""
BASE: dict[str, MeasuredSpec] = {
    "paper": PUBLISHED, "night": _TWO_CORES, "cpu": _TWO_CORES,
    "smoke": overlay(
        PUBLISHED, _SMALLER,
        {
            "model": {"layers": 1, **of_width(32, heads=2, hidden=1)},
            "train": {"steps": 8, "batch": 8, "evaluations": 2, "bucket": 2, "warmup_steps": 2, "precision": "32-true"},
            "test": {"examples": 8, "track": 4}, "measure": {"examples": 4, "prompts": 4},
        },
    ),
}  # fmt: skip
"""First settings of each profile."""


# ------------------------------------------------------------------ data sets (Section 4.2.2)


def _set(trained: tuple[int, ...], tested: tuple[int, ...], examples: int) -> Changes:
    return {"data": {"task": TwoOperandAddition(trained), "examples": examples}, "test": {"lengths": tested}}


ONE_TO_THREE = ByProfile(
    paper=_set((1, 3), up_to(4), 10_000), cpu=_set((1, 3), up_to(4), 10_000), smoke=_set((1, 3), up_to(4), 200)
)
"""1-3_digit; at smoke with fewer problems."""
ONE_TO_SEVEN = ByProfile(
    paper=_set(up_to(7), up_to(8), 100_000),
    night={**_set(up_to(7), up_to(8), 100_000), "train.precision": "32-true", "test.examples": 1000},
    cpu=_set(up_to(5), up_to(6), 30_000),
    smoke=_set(up_to(2), up_to(3), 200),
)
"""1-7_digit; at night the published lengths, in single precision where nothing else is set."""
LONGER = ByProfile(
    paper=_set(up_to(19, 18), up_to(20), 1_000_000),
    cpu=_set(up_to(7, 6), up_to(8), 30_000),
    smoke=_set(up_to(4, 3), up_to(5), 200),
)
"""generalize_to_longer."""
MINI = ByProfile(
    paper=_set(up_to(9, 8), up_to(12), 100_000),
    cpu=_set(up_to(6, 5), up_to(8), 30_000),
    smoke=_set(up_to(4, 3), up_to(6), 200),
)
"""generalize_to_longer_mini. The longest tested length is 4/3 of the longest trained one at paper, night and cpu."""
SWEPT = ByProfile(paper=MINI.paper, cpu=_set(up_to(5, 4), up_to(6), 30_000), smoke=MINI.smoke)
"""generalize_to_longer_mini again, one digit shorter at night and cpu: with four sub-tasks in the mixture a fifth of
the examples are additions, and width 64 has to learn them too."""
PADDED = ByProfile(
    paper={"data": {"format": {"pad_to": 13}}, "test": {"lengths": up_to(14)}},
    night={"data": {"format": {"pad_to": 13}}, "test": {"lengths": up_to(14)}},
    cpu={"data": {"format": {"pad_to": 9}}, "test": {"lengths": up_to(10)}},
    smoke={"data": {"format": {"pad_to": 5}}, "test": {"lengths": up_to(6)}},
)
"""Zero padding (Figure 4.5: 13 digits); longer numbers are tested beside it."""
LARGE = ByProfile(paper={"model": {"layers": 6, **of_width(768, heads=4, hidden=4)}})
"""The NanoGPT of Figures 4.1, 4.3, 4.6 and B.1; smaller profiles have their base."""
ATTENTION = ByProfile(
    paper={"test": {"attention": ((9, 2),)}, "measure": {"alignment": (8, 9, 10, 11, 12)}},
    cpu={"test": {"attention": ((6, 2),)}, "measure": {"alignment": (5, 6, 7, 8)}},
    smoke={"test": {"attention": ((4, 2),)}, "measure": {"alignment": (3, 4, 5, 6)}},
)
"""The longest trained problems are looked at (Figure 4.4), and untrained ones beside them."""
PUBLISHED_MINI = ByProfile(
    night={
        "data": {"task": TwoOperandAddition(up_to(9, 8)), "examples": 100_000},
        "train": {"precision": "32-true"},
        "test": {"lengths": up_to(12), "examples": 1000, "attention": ((9, 2),)},
        "measure": {"alignment": (8, 9, 10, 11, 12)},
    }
)
"""The published lengths of Figure 4.5 at night, in single precision where a kind sets no other."""
UNCERTAINTY = ByProfile(
    paper={"measure": {"uncertainty": (9, 12)}},
    night={"measure": {"uncertainty": (9, 12)}},
    cpu={"measure": {"uncertainty": (6, 8)}},
    smoke={"measure": {"uncertainty": (4, 6)}},
)
"""The longest trained problems and the longest tested ones (Figure 4.3)."""

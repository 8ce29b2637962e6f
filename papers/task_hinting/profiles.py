"""The sizes of this paper: its specification, the base of each profile, training sets, and how far each of them tests.

`paper` holds Appendix B as printed, with what it leaves open decided in DEVIATIONS.md; `night`,
`cpu` and `smoke` shrink sizes and never the code path.
"""

from lengen.experiment import ByProfile, of_width
from lengen.formats.linear import Linear
from lengen.part import Count, SettingError
from lengen.position_ids.sequence_places import NoPositionIds
from lengen.settings.changes import Changes, overlay
from lengen.settings.model import ModelSpec, NoEncoding
from lengen.settings.sections import DataSpec, Section, TestSpec, TrainSpec
from lengen.settings.spec import Spec
from lengen.tasks.increment import Increment
from lengen.tasks.sorting import Sorting


class ProbeSpec(Section, frozen=True):
    """Probes of Section 4 for a trained model that sorts."""

    examples: Count = 0
    """Sequences of every tested length for the two mechanisms; 0 for none."""
    sequences: tuple[tuple[str, ...], ...] = ()
    """Sequences whose projections are recorded."""


class ProbedSpec(Spec, frozen=True):
    """A specification whose run ends with probes of its residual stream."""

    probe: ProbeSpec

    def check(self) -> None:
        """Raise `SettingError` for values that would end a run after its training."""
        probe, task = self.probe, self.data.task
        if not probe.examples and not probe.sequences:
            return
        if not isinstance(task, Sorting) or self.model.tied:
            fault = "identity and successor are looked for in models that sort and have an output head of their own"
            raise SettingError(f"probe: minimum, {fault}; set probe.examples=0 and probe.sequences=[]")
        if probe.examples and self.model.layers < 2:
            raise SettingError(f"model.layers={self.model.layers}: the mechanisms of Section 4 take two layers")
        for sequence in probe.sequences:
            numbers = [int(text) if text.isascii() and text.isdigit() else 0 for text in sequence]
            if not numbers or not all(1 <= number <= task.alphabet for number in numbers):
                raise SettingError(
                    f"probe.sequences: {' '.join(sequence) or 'an empty one'} is no sequence of numbers from 1 to "
                    f"{task.alphabet} (data.task.alphabet)"
                )


FORMAT = Linear(begin=False, separator="⊥", end=False)
"""5 3 1 4 2 ⊥ 1 2 3 4 5: no token begins or ends a sequence (D1, D2)."""


PUBLISHED = ProbedSpec(
    data=DataSpec(
        task=Sorting(longest=20, short=5, skew=0.8, alphabet=100), format=FORMAT, position_ids=NoPositionIds(),
    ),
    model=ModelSpec(
        layers=2, **of_width(1024, heads=16, hidden=2), encoding=NoEncoding(), activation="gelu", norm="layernorm",
        final_norm="layernorm", norm_place="pre", tied=False, output_bias=True, scale_attention=True, init="normal",
    ),
    train=TrainSpec(
        steps=100_000, batch=1024, lr=1e-5, betas=(0.9, 0.999), warmup_steps=1000, final_lr=0.0, evaluations=50,
        precision="bf16-mixed", one_length=True,
    ),
    test=TestSpec(lengths=(5, 10, 15, *range(20, 101, 10)), examples=100_000), probe=ProbeSpec(),
)  # fmt: skip
"""Section 3, Appendix B, Tables 4 and 5; `SIZED` gives it a training set."""
BASE: dict[str, ProbedSpec] = {
    "paper": PUBLISHED,
    "cpu": overlay(
        PUBLISHED,
        {
            "data.task": {"longest": 10, "alphabet": 50}, "model": of_width(64, heads=8, hidden=2),
            "train": {"steps": 24_000, "batch": 64, "lr": 3e-3, "warmup_steps": 100, "evaluations": 10},
            "train.precision": "32-true", "test": {"lengths": (5, 10, 15, 20, 25, 30, 40, 50), "examples": 500},
        },
    ),
    "smoke": overlay(
        PUBLISHED,
        {
            "data.task": {"longest": 4, "alphabet": 10, "short": 3}, "model": of_width(16, heads=2, hidden=2),
            "train": {"steps": 8, "batch": 8, "lr": 1e-3, "warmup_steps": 2, "evaluations": 2, "bucket": 2},
            "train.precision": "32-true", "test": {"lengths": (3, 4, 6, 8), "examples": 8},
        },
    ),
}  # fmt: skip
BASE["night"] = BASE["cpu"]
"""First settings of each profile; RECIPES.md has the origin of the smaller ones. A night has more seeds than a cpu run
of the whole paper, and more experiments."""

AT_LENGTHS = ByProfile(
    cpu={"data.task": {"longest": 20, "alphabet": 100}, "test": {"lengths": PUBLISHED.test.lengths, "examples": 1000}}
)
"""The published problem: up to 20 numbers of 1 to 100, tested at up to 100 numbers."""
HINTED_STEPS = 96_000
HINTED_AT_LENGTHS = ByProfile(
    night={
        **AT_LENGTHS.cpu,
        "model": of_width(128, heads=8, hidden=2),
        "train": {"steps": HINTED_STEPS, "lr": 1.5e-3, "precision": "bf16-products"},
    }
)
"""The same with the width and the updates that teach it beside a hint (RECIPES.md)."""

# ------------------------------------------------------------------ training sets (Section 3)

SIZES = {"1m": 1_000_000, "10m": 10_000_000, "40m": 40_000_000, "160m": 160_000_000}
"""Sizes of the training set, over all tasks."""
SMALLEST = {"cpu": 131_072, "night": 131_072}
"""Examples of the smallest set, where a profile trains long enough to learn. As many epochs as the paper has would
leave 15,000, and twice as many do not teach the trained lengths where a hint takes half (RECIPES.md)."""


def examples(size: str, profile: str) -> int:
    """Return training examples of a size; smaller profiles keep the ratios of the sizes, in whole windows (D22)."""
    if profile == "paper":
        return SIZES[size]
    small = BASE[profile].train
    smallest = SMALLEST.get(profile, 2 * small.batch * small.bucket)
    return smallest * SIZES[size] // SIZES["1m"]


SIZED = {size: ByProfile(**{profile: {"data.examples": examples(size, profile)} for profile in BASE}) for size in SIZES}
"""A training set of each size."""


def twice(spec: Spec) -> Changes:
    """Return the change to two times the steps."""
    return {"train.steps": 2 * spec.train.steps}


FOUR_TASKS = ByProfile(cpu={"train.steps": 2 * BASE["cpu"].train.steps}, night={"train.steps": 2 * HINTED_STEPS})
"""Steps of a model with three hints: at the smaller profiles as many updates of the main task as a model with one hint
has, since a quarter of the steps does not teach the trained lengths there (D24)."""

# ------------------------------------------------------------------ what is asked of trained models (Section 4)

PROBED = ByProfile(
    paper={"probe": ProbeSpec(examples=10_000, sequences=(("5", "17", "43", "78", "92"),))},
    night={"probe": ProbeSpec(examples=500, sequences=(("5", "17", "43", "78", "92"),))},
    cpu={"probe": ProbeSpec(examples=500, sequences=(("2", "8", "21", "39", "46"),))},
    smoke={"probe": ProbeSpec(examples=8, sequences=(("1", "2", "4", "8", "9"),))},
)
"""Sequences of each length on which the mechanisms are measured, and the printed example of Figures 4.12 to 4.14, or
what it becomes in a smaller alphabet."""

# ------------------------------------------------------------------ adding one (Section 6, Table 3)

_ADDING_ONE: Changes = {"data.format.reverse_response": True, "model.layers": 4}
_UP_TO_TEN: Changes = {
    "data.task": Increment(longest=10, short=4, skew=0.8, repeats=0.1),
    **_ADDING_ONE,
    "test.lengths": (5, 10, *range(11, 21)),
}
_NARROW = of_width(64, heads=2, hidden=2)
ADDING_ONE = ByProfile(
    paper=_UP_TO_TEN,
    cpu={**_UP_TO_TEN, "model": _NARROW, "train.steps": 16_000},
    night={**_UP_TO_TEN, "model": _NARROW, "data.examples": SIZES["1m"], "train.steps": 24_000, "test.examples": 2000},
    smoke={"data.task": Increment(longest=4, short=3, skew=0.8, repeats=0.1), **_ADDING_ONE},
)
"""The task and its model, at the lengths of each profile."""

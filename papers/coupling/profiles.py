"""The sizes of this paper's settings: what Tables 1-3 print, hours and minutes on two cores, about a second.

Each task has one setting per profile, that of its headline model: with a scratchpad and coupled ids. Experiments say
what is different about them (`papers.coupling.experiments`); smaller profiles shrink sizes and never the code path.
"""

from collections.abc import Mapping

from lengen.experiment import ByProfile
from lengen.formats.base import Format
from lengen.formats.linear import Linear
from lengen.formats.steps import MultiplicationStages
from lengen.position_ids.base import PositionIds
from lengen.position_ids.digit_places import Coupled
from lengen.position_ids.sequence_places import Consecutive, NoPositionIds
from lengen.settings.changes import Changes, overlay
from lengen.settings.model import Encoding, Fire, Learned, ModelSpec, NoEncoding, Rotary
from lengen.settings.sections import DataSpec, TestSpec, TrainSpec
from lengen.settings.spec import Spec
from lengen.tasks.addition import Addition
from lengen.tasks.base import Task
from lengen.tasks.multiplication import Multiplication
from lengen.tasks.strings import Parity

# ------------------------------------------------------------------ Tables 1-3: the published hyper-parameters

SCRATCHPAD = Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True)
"""$057+048+096=000>750>501>102$ (Figure 4)."""
WITHOUT: dict[type[Task], Format] = {
    Addition: Linear(pad_query=True, pad_response=True, reverse_response=True),
    Multiplication: Linear(pad_response=True, reverse_response=True),
    Parity: Linear(),
}
"""Format of a task without its scratchpad."""
ATTENTION = ((11, 11), (10, 2), (10, 5), (10, 10), (10, 15))
"""Cells whose attention is recorded: the map of Figure 7, then operands added at a trained length."""

PAPER_ADDITION = Spec(
    data=DataSpec(
        task=Addition(digits=10, operands=10), format=SCRATCHPAD, position_ids=Coupled((40, 40)), examples=500_000
    ),
    model=ModelSpec(layers=6, heads=8, width=1024, head_dim=128, ff_width=2048),
    train=TrainSpec(steps=50_000, batch=400, lr=3e-5, precision="bf16-mixed", evaluations=50),
    test=TestSpec(lengths=tuple(range(1, 31)), counts=tuple(range(2, 31)), attention=ATTENTION, free_running=False),
)
"""Table 2: S_A(10, 10), tested on the 30 x 29 grid.

The grid needs exact match only, which one forward pass decides; text of the model's own is for Figures 14 and 15. Betas
are those of the authors' code (D1).
"""
PAPER_MULTIPLICATION = Spec(
    data=DataSpec(
        task=Multiplication(digits=10, second_digits=10),
        format=MultiplicationStages(),
        position_ids=Coupled((64, 32, 64)),
        examples=500_000,
    ),
    model=PAPER_ADDITION.model,
    train=TrainSpec(steps=50_000, batch=200, lr=5e-5, precision="bf16-mixed", evaluations=50),
    test=TestSpec(lengths=tuple(range(1, 31)), counts=tuple(range(1, 31)), free_running=False),
)
"""Table 3: S_M(10, 10), tested on the 30 x 30 grid."""
PAPER_PARITY = Spec(
    data=DataSpec(task=Parity(20), format=Linear(scratchpad=True), position_ids=Coupled((101,)), examples=10_000),
    model=ModelSpec(layers=6, heads=8, width=512, head_dim=64, ff_width=2048),
    train=TrainSpec(steps=50_000, batch=20, lr=3e-5, precision="bf16-mixed", evaluations=50),
    test=TestSpec(lengths=tuple(range(5, 101, 5)), examples=10_000),
)
"""Table 1: parity of 1 to 20 bits, tested to 100 bits with 10,000 examples each."""

# ------------------------------------------------------------------ two cores: hours (night), minutes (cpu)

NIGHT_ADDITION = Spec(
    data=DataSpec(task=Addition(digits=3, operands=3), format=SCRATCHPAD, position_ids=Coupled((14, 14))),
    model=ModelSpec(layers=3, heads=4, width=128, head_dim=32, ff_width=256, tied=False),
    train=TrainSpec(steps=6000, batch=64, lr=1e-3, betas=(0.9, 0.99), precision="bf16-products"),
    test=TestSpec(
        lengths=(1, 2, 3, 4, 5, 6, 7, 9), counts=(2, 3, 4, 5, 6, 7, 9), examples=200, free_running=False,
        attention=((4, 4), (3, 2), (3, 3), (3, 5)), attention_examples=100,
    ),
)  # fmt: skip
"""S_A(3, 3) on endless data for the methods of Figure 1, tested to three times that as published: the smallest range
and depth at which all of them learn with a scratchpad, NoPE with four seeds of six (RECIPES.md)."""
NIGHT_SMALL = Spec(
    data=DataSpec(task=Addition(digits=4, operands=4), format=SCRATCHPAD, position_ids=Coupled((17, 17))),
    model=ModelSpec(layers=1, heads=4, width=128, head_dim=32, ff_width=256, tied=False),
    train=TrainSpec(steps=2500, batch=64, lr=1e-3, betas=(0.9, 0.99), precision="bf16-products"),
    test=TestSpec(
        lengths=(1, 2, 3, 4, 5, 6, 7, 8, 10, 12), counts=(2, 3, 4, 5, 6, 7, 8, 10, 12), examples=100, free_running=False
    ),
)
"""The headline method on S_A(4, 4) for the ablations, with one layer and four heads: the smallest model that the paper
finds sufficient (Figure 10). Trained ranges of 3, 4 and 5 are to each other as Figure 5's 7, 10 and 13."""

NIGHT_MULTIPLICATION = Spec(
    data=DataSpec(
        task=Multiplication(digits=3, second_digits=3),
        format=MultiplicationStages(),
        position_ids=Coupled((20, 11, 20)),
    ),
    model=NIGHT_ADDITION.model,
    train=TrainSpec(steps=5000, batch=64, lr=1e-3, betas=(0.9, 0.99), precision="bf16-products"),
    test=TestSpec(lengths=(1, 2, 3, 4, 5, 6, 9), counts=(1, 2, 3, 4, 5, 6, 9), examples=100, free_running=False),
)
"""S_M(3, 3), tested to three times that as published."""

NIGHT_PARITY = Spec(
    data=DataSpec(task=Parity(20), format=Linear(scratchpad=True), position_ids=Coupled((101,))),
    model=ModelSpec(layers=2, heads=4, width=128, head_dim=32, ff_width=256, tied=False),
    train=TrainSpec(steps=4000, batch=64, lr=1e-3, betas=(0.9, 0.99)),
    test=TestSpec(lengths=(5, 10, 15, 20, 21, *range(25, 101, 5)), examples=1000),
)
"""Parity of 1 to 20 bits, tested to 100, as published; 21 bits are one more than trained."""

ADDITION = {
    "paper": PAPER_ADDITION,
    "night": NIGHT_ADDITION,
    "cpu": overlay(NIGHT_ADDITION, {"train.steps": 4000, "test.examples": 100, "test.attention_examples": 50}),
}
SMALL = {"paper": PAPER_ADDITION, "night": NIGHT_SMALL, "cpu": overlay(NIGHT_SMALL, {"train.steps": 1500})}
MULTIPLICATION = {
    "paper": PAPER_MULTIPLICATION,
    "night": NIGHT_MULTIPLICATION,
    "cpu": overlay(NIGHT_MULTIPLICATION, {"train.steps": 4000}),
}
PARITY = {
    "paper": PAPER_PARITY,
    "night": NIGHT_PARITY,
    "cpu": overlay(NIGHT_PARITY, {"train.steps": 2500, "test.examples": 200}),
}
"""Each task's setting by profile; of `SMALL` the published size is the same as of addition."""

SLOW_SUMS = ByProfile(night={}, cpu={"train.steps": 8000})
"""Addition with a scratchpad by the methods that 4,000 updates of cpu, enough for coupling, do not teach it."""
PLAIN = ByProfile(cpu={"train": {"steps": 6000, "batch": 128, "bucket": 1}})
"""Addition without a scratchpad on two cores, night or not: batches of all sizes at once, twice as large."""
PLAIN_PARITY = ByProfile(night={"train": {"steps": 12_000, "lr": 2e-4}}, cpu={"train": {"steps": 4000, "lr": 5e-4}})
"""Parity without a scratchpad."""
SLOW_PARITY = ByProfile(night={"train": {"steps": 20_000}})
"""Parity with a scratchpad by the methods that 4,000 updates, enough for coupling, do not teach it."""
PRODUCT_UPDATES = {("coupling", True): 5000, ("fire", True): 8000, ("nope", True): 16_000}
"""Method and whether it writes a scratchpad: updates that teach it products at night."""
MOST_PRODUCT_UPDATES = max(PRODUCT_UPDATES.values())
"""Without a scratchpad: what is said to learn nothing has to have as long for it as what learns most slowly."""
FORMATS = ByProfile(cpu={"model": {"layers": 2}, "train": {"steps": 4000}})
"""The formats of Figures 6, 14 and 15, of which one layer learns some too slowly."""
TESTED = (1, 5, 10, 11, 12, 15, 20, 25, 30)
"""Lengths of the published problems that a night tests."""
AT_LENGTHS = ByProfile(
    night={
        "data": {"task": PAPER_ADDITION.data.task, "position_ids": PAPER_ADDITION.data.position_ids},
        "train": {"steps": 4000, "precision": "32-true"},
        "test": {"lengths": TESTED, "counts": (2, *TESTED[1:]), "examples": 100, "attention": ()},
    }
)
"""The published problem at night, S_A(10, 10), tested in 81 of the 870 published cells."""
ATTEMPT = ByProfile(night={"train.steps": 16_000})
"""Updates of the one attempt each of NoPE and FIRE on it: four times those that teach it to coupled ids."""


PRODUCTS_AT_LENGTHS = ByProfile(
    night={
        "data": {"task": PAPER_MULTIPLICATION.data.task, "position_ids": PAPER_MULTIPLICATION.data.position_ids},
        "model.layers": 2,
        "train.steps": 8000,
        "test": {"lengths": TESTED, "counts": TESTED, "examples": 100},
    }
)
"""The same for products, S_M(10, 10), tested in 81 of the 900 published cells."""


def longer_for_one_layer(spec: Spec) -> Changes:
    """Return the change to twice the updates for one layer on endless published problems, learned more slowly."""
    endless = spec.data.task == PAPER_ADDITION.data.task and not spec.data.examples
    return {"train.steps": 2 * spec.train.steps} if endless and spec.model.layers == 1 else {}


# ------------------------------------------------------------------ any published setting, in about a second

TINY: dict[type[Task], Task] = {type(task): task for task in (Addition(2, 2), Multiplication(2, 2), Parity(2))}


def smoke(paper: Spec) -> Spec:
    """Return a published setting with everything tiny."""
    counts = (1,) if isinstance(paper.data.task, Parity) else (2, 3)
    return overlay(
        paper,
        {"data": {"task": TINY[type(paper.data.task)], "examples": min(paper.data.examples, 64)}},
        {"model": {"layers": min(paper.model.layers, 2), "heads": 2, "width": 16, "head_dim": 8, "ff_width": 32}},
        {"train": {"steps": 12, "batch": 8, "lr": 3e-3, "bucket": 4, "evaluations": 2, "precision": "32-true"}},
        {"test": {"lengths": (1, 2, 3), "counts": counts, "examples": 10, "attention_examples": 4}},
        {"test.attention": ((2, 2), (2, 3)) if paper.test.attention else ()},
    )


# ------------------------------------------------------------------ changes of a task's setting

METHODS: dict[str, tuple[PositionIds | None, Encoding]] = {
    "coupling": (None, Learned()),
    "nope": (NoPositionIds(), NoEncoding()),
    "rope": (Consecutive(), Rotary()),
    "fire": (Consecutive(), Fire()),
}
"""The compared methods: position ids (None: the coupled ones of the task) and an encoding each."""


def by_method(bases: Mapping[str, Spec], name: str, scratchpad: bool) -> dict[str, Spec]:
    """Return a task's setting at every profile with another method, with its scratchpad or without.

    Coupled ids have one level per stage of the scratchpad; without it, the first level alone.
    """
    return {profile: overlay(base, _method(base, name, scratchpad)) for profile, base in bases.items()}


def _method(base: Spec, name: str, scratchpad: bool) -> Changes:
    ids, encoding = METHODS[name]
    data: dict[str, object] = {}
    if not scratchpad:
        data["format"] = WITHOUT[type(base.data.task)]
    if ids is not None:
        data["position_ids"] = ids
    elif not scratchpad:
        data["position_ids"] = Coupled(base.data.position_ids.sizes[:1])
    return {"data": data, "model": {"encoding": encoding}}

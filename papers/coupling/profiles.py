"""The sizes of this paper's settings: what Tables 1-3 print, minutes on two cores, about a second; no torch.

Each task has one setting per profile, that of its headline model: with a scratchpad and coupled ids. Experiments say
what is different about them (`papers.coupling.experiments`); smaller profiles shrink sizes and never the code path.
"""

from lengen.config.encodings import Encoding, Fire, Learned, NoEncoding, Rotary
from lengen.config.formats import Format, Linear, MultiplicationStages
from lengen.config.model import ModelSpec
from lengen.config.overlay import Changes, overlay
from lengen.config.position_ids import Consecutive, Coupled, NoPositionIds, PositionIds
from lengen.config.sections import DataSpec, TestSpec, TrainSpec
from lengen.config.spec import Spec
from lengen.config.tasks import Addition, Multiplication, Parity, Task

# ------------------------------------------------------------------ Tables 1-3: the published hyper-parameters

SCRATCHPAD = Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True)
"""$057+048+096=000>750>501>102$ (Figure 4)."""
WITHOUT: dict[type[Task], Format] = {
    Addition: Linear(pad_query=True, pad_response=True, reverse_response=True),
    Multiplication: Linear(pad_response=True, reverse_response=True),
    Parity: Linear(),
}
"""How a task is written without its scratchpad."""
ATTENTION = ((11, 11), (10, 2), (10, 5), (10, 10), (10, 15))
"""Cells whose attention is recorded: the map of Figure 7, then operands added at a trained length."""

PAPER_ADDITION = Spec(
    data=DataSpec(
        task=Addition(digits=10, operands=10),
        format=SCRATCHPAD,
        position_ids=Coupled((40, 40)),
        examples=500_000,
    ),
    model=ModelSpec(layers=6, heads=8, width=1024, head_dim=128, ff_width=2048),
    train=TrainSpec(steps=50_000, batch=400, lr=3e-5, precision="bf16-mixed", evaluations=50),
    test=TestSpec(
        lengths=tuple(range(1, 31)), counts=tuple(range(2, 31)), attention=ATTENTION, free_running=False
    ),
)  # fmt: skip
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

# ------------------------------------------------------------------ two cores: minutes for the whole paper

CPU_ATTENTION = ((6, 6), (5, 2), (5, 4), (5, 6), (5, 8))
"""The map is one step beyond the trained range, as (11, 11) at the paper profile; then operands at one length."""

CPU_ADDITION = Spec(
    data=DataSpec(task=Addition(digits=5, operands=5), format=SCRATCHPAD, position_ids=Coupled((14, 14))),
    model=ModelSpec(layers=1, heads=4, width=128, head_dim=32, ff_width=256, tied=False),
    train=TrainSpec(steps=1000, batch=64, lr=1e-3, betas=(0.9, 0.99)),
    test=TestSpec(
        lengths=(1, 2, 3, 4, 5, 6, 7, 8, 10),
        counts=(2, 3, 4, 5, 6, 7, 8, 10),
        examples=100,
        attention=CPU_ATTENTION,
        attention_examples=50,
    ),
)
"""S_A(5, 5) on endless data, with one layer and four heads: the smallest model that the paper finds sufficient (Figure
10). Addition learns its trained range reliably only at this rate, a third of that of multiplication."""
CPU_MULTIPLICATION = Spec(
    data=DataSpec(
        task=Multiplication(digits=4, second_digits=4),
        format=MultiplicationStages(),
        position_ids=Coupled((13, 13, 13)),
    ),
    model=ModelSpec(layers=2, heads=4, width=128, head_dim=32, ff_width=256, tied=False),
    train=TrainSpec(steps=1200, batch=64, lr=3e-3, betas=(0.9, 0.99)),
    test=TestSpec(
        lengths=(1, 2, 3, 4, 5, 6),
        counts=(1, 2, 3, 4, 5, 6),
        examples=100,
        free_running=False,
        attention_examples=50,
    ),
)
CPU_PARITY = Spec(
    data=DataSpec(task=Parity(10), format=Linear(scratchpad=True), position_ids=Coupled((41,))),
    model=CPU_ADDITION.model,
    train=TrainSpec(steps=1000, batch=64, lr=1e-3, betas=(0.9, 0.99)),
    test=TestSpec(lengths=(2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40), examples=500, attention_examples=50),
)


def cpu_addition(*changes: Changes) -> Spec:
    """Addition at the cpu profile with changes.

    Where a grid asks for exact match only, no model writes text of its own: that takes longer than all else that is
    measured. The headline model does, whatever figure asks for it, so that all its figures share one run.
    """
    spec = overlay(CPU_ADDITION, {"test.free_running": False}, *changes)
    return CPU_ADDITION if overlay(spec, {"test.free_running": True}) == CPU_ADDITION else spec


# ------------------------------------------------------------------ any published setting, in about a second

TINY: dict[type[Task], Task] = {
    Addition: Addition(digits=2, operands=2),
    Multiplication: Multiplication(digits=2, second_digits=2),
    Parity: Parity(2),
}


def smoke(paper: Spec) -> Spec:
    """A published setting with everything tiny."""
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


def method(base: Spec, name: str, scratchpad: bool) -> Changes:
    """What makes a task's setting that of another method, with its scratchpad or without.

    Coupled ids have one level per stage of the scratchpad; without it, the first level alone.
    """
    ids, encoding = METHODS[name]
    data: dict[str, object] = {}
    if not scratchpad:
        data["format"] = WITHOUT[type(base.data.task)]
    if ids is not None:
        data["position_ids"] = ids
    elif not scratchpad:
        data["position_ids"] = Coupled(base.data.position_ids.sizes[:1])
    return {"data": data, "model": {"encoding": encoding}}


def heads(count: int, width: int, **fields: int) -> Changes:
    """A model section with this many heads, which share the width, and other fields."""
    return {"model": {"heads": count, "width": width, "head_dim": width // count, **fields}}

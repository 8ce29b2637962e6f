"""The settings that the experiments of this paper vary: tasks with their sampling, methods, architectures, sizes.

`paper` holds Tables 1-3 as printed; `cpu` and `smoke` shrink sizes and never the code path.
"""

from dataclasses import replace
from typing import Any

from lengen.config.spec import DataSpec, ModelSpec, Spec, TestSpec, TrainSpec

METHODS: dict[str, dict[str, str]] = {
    "coupling": {"position_ids": "coupled", "encoding": "learned"},
    "nope": {"position_ids": "none", "encoding": "none"},
    "rope": {"position_ids": "consecutive", "encoding": "rope"},
    "fire": {"position_ids": "consecutive", "encoding": "fire"},
}
"""The compared methods: a scheme of position ids and an encoding each."""


def max_position(method: str, levels: tuple[int, ...], scratchpad: bool) -> tuple[int, ...]:
    """Largest ids: one per level for coupled ids, the first level's alone without a scratchpad."""
    if METHODS[method]["position_ids"] != "coupled":
        return ()
    return levels if scratchpad else levels[:1]


def data(
    task: str, length: int, count: int, method: str, scratchpad: bool, levels: tuple[int, ...], **changes: Any
) -> DataSpec:
    """Training distribution S(length, count), written for a method."""
    return DataSpec(
        **{
            "task": task,
            "length": length,
            "count": count,
            "scratchpad": scratchpad,
            "position_ids": METHODS[method]["position_ids"],
            "max_position": max_position(method, levels, scratchpad),
            **changes,
        }
    )


def model(method: str, layers: int, heads: int, width: int, /, **changes: Any) -> ModelSpec:
    """The paper's architecture (Tables 1-3, Appendix B) at any size.

    Heads share the width and the feed-forward network is twice as wide, unless changed.
    """
    return ModelSpec(
        **{
            "layers": layers,
            "heads": heads,
            "width": width,
            "head_dim": width // heads,
            "ff_width": 2 * width,
            "encoding": METHODS[method]["encoding"],
            **changes,
        }
    )


# ------------------------------------------------------------------ Tables 1-3: the published hyper-parameters

ADDITION_LEVELS = (40, 40)
"""max_pos_1 and max_pos_2 of Table 2."""
MULTIPLICATION_LEVELS = (64, 32, 64)
"""max_pos_1, max_pos_2 and max_pos_3 of Table 3."""
PARITY_LEVELS = (101,)
"""max_pos of Table 1."""

ADDITION_GRID: dict[str, Any] = {"lengths": tuple(range(1, 31)), "counts": tuple(range(2, 31))}
ATTENTION = ((11, 11), (10, 2), (10, 5), (10, 10), (10, 15))
"""Cells whose attention is recorded: the map of Figure 7, then operands added at a trained length."""
MULTIPLICATION_GRID: dict[str, Any] = {"lengths": tuple(range(1, 31)), "counts": tuple(range(1, 31))}
PARITY_LENGTHS = tuple(range(5, 101, 5))


def paper_train(task: str, **changes: Any) -> TrainSpec:
    """Optimisation of Tables 1-3; betas from the authors' code, where the paper says Adam."""
    batch, lr = {"addition": (400, 3e-5), "multiplication": (200, 5e-5), "parity": (20, 3e-5)}[task]
    return TrainSpec(
        **{"steps": 50_000, "batch": batch, "lr": lr, "precision": "bf16-mixed", "evaluations": 50, **changes}
    )


def paper_addition(
    method: str,
    scratchpad: bool,
    *,
    length: int = 10,
    layers: int = 6,
    heads: int = 8,
    width: int = 1024,
    data_changes: dict[str, Any] | None = None,
    model_changes: dict[str, Any] | None = None,
    train_changes: dict[str, Any] | None = None,
    test_changes: dict[str, Any] | None = None,
) -> Spec:
    """Table 2: multi-operand addition on S_A(10, 10) with 500,000 examples, tested on the 30 x 29 grid.

    The grid needs exact match only, which one forward pass decides; text of the model's own is for Figures 14 and 15.
    """
    return Spec(
        data=data(
            "addition",
            length,
            length,
            method,
            scratchpad,
            ADDITION_LEVELS,
            **{"examples": 500_000, **(data_changes or {})},
        ),
        model=model(method, layers, heads, width, **{"ff_width": 2048, **(model_changes or {})}),
        train=paper_train("addition", **(train_changes or {})),
        test=TestSpec(**{**ADDITION_GRID, "attention": ATTENTION, "free_running": False, **(test_changes or {})}),
    )


def paper_multiplication(method: str, scratchpad: bool) -> Spec:
    """Table 3: multiplication on S_M(10, 10), tested on the 30 x 30 grid."""
    return Spec(
        data=data("multiplication", 10, 10, method, scratchpad, MULTIPLICATION_LEVELS, examples=500_000),
        model=model(method, 6, 8, 1024),
        train=paper_train("multiplication"),
        test=TestSpec(**MULTIPLICATION_GRID, free_running=False),
    )


def paper_parity(method: str, scratchpad: bool) -> Spec:
    """Table 1: parity of 1 to 20 bits, 10,000 examples, tested to 100 bits with 10,000 examples each."""
    return Spec(
        data=data("parity", 20, 1, method, scratchpad, PARITY_LEVELS, examples=10_000),
        model=model(method, 6, 8, 512, ff_width=2048),
        train=paper_train("parity"),
        test=TestSpec(lengths=PARITY_LENGTHS, examples=10_000),
    )


# ------------------------------------------------------------------ two cores: minutes for the whole paper

CPU_TRAIN: dict[str, Any] = {"batch": 64, "betas": (0.9, 0.99)}
CPU_LR = {"addition": 1e-3, "multiplication": 3e-3, "parity": 1e-3}
"""Optimisation at the cpu profile; addition learns its trained range reliably only at the smaller rate."""


def cpu(
    task: str,
    method: str,
    scratchpad: bool,
    *,
    length: int,
    count: int,
    levels: tuple[int, ...],
    steps: int,
    layers: int,
    heads: int,
    width: int = 128,
    data_changes: dict[str, Any] | None = None,
    model_changes: dict[str, Any] | None = None,
    **test: Any,
) -> Spec:
    """A setting small enough for minutes on one core: endless data, one to two layers, short operands."""
    return Spec(
        data=data(task, length, count, method, scratchpad, levels, **(data_changes or {})),
        model=model(method, layers, heads, width, **{"tied": False, **(model_changes or {})}),
        train=TrainSpec(steps=steps, lr=CPU_LR[task], **CPU_TRAIN),
        test=TestSpec(**{"examples": 100, "attention_examples": 50, **test}),
    )


def smoke(paper: Spec) -> Spec:
    """The published setting with everything tiny: same code path, about a second."""
    parity = paper.data.task == "parity"
    free = paper.test.free_running
    attention = ((2, 2), (2, 3)) if paper.test.attention else ()
    return replace(
        paper,
        data=replace(paper.data, length=2, count=1 if parity else 2, examples=min(paper.data.examples, 64)),
        model=replace(paper.model, layers=min(paper.model.layers, 2), heads=2, width=16, head_dim=8, ff_width=32),
        train=replace(paper.train, steps=12, batch=8, lr=3e-3, bucket=4, evaluations=2, precision="32-true"),
        test=TestSpec(
            lengths=(1, 2, 3),
            counts=(1,) if parity else (2, 3),
            examples=10,
            free_running=free,
            attention=attention,
            attention_examples=4,
        ),
    )

"""The cpu profile of this paper: what each task is trained and tested on, and how an experiment is put together."""

from typing import Any

from lengen.experiment import Experiment
from lengen.spec import Spec
from papers.coupling.settings import cpu, smoke

ADDITION: dict[str, Any] = {"length": 5, "count": 5, "levels": (14, 14), "steps": 1000, "layers": 1, "heads": 4}
"""S_A(5, 5) with one layer and four heads: the smallest model that the paper finds sufficient (Figure 10)."""
ADDITION_TEST: dict[str, Any] = {"lengths": (1, 2, 3, 4, 5, 6, 7, 8, 10), "counts": (2, 3, 4, 5, 6, 7, 8, 10)}
ATTENTION = ((6, 6), (5, 2), (5, 4), (5, 6), (5, 8))
"""The map one step beyond the trained range, as the paper's T_A(11, 11); then operands added at a trained length."""
MULTIPLICATION: dict[str, Any] = {
    "length": 4,
    "count": 4,
    "levels": (13, 13, 13),
    "steps": 1200,
    "layers": 2,
    "heads": 4,
}
MULTIPLICATION_TEST: dict[str, Any] = {"lengths": (1, 2, 3, 4, 5, 6), "counts": (1, 2, 3, 4, 5, 6)}
PARITY: dict[str, Any] = {"length": 10, "count": 1, "levels": (41,), "steps": 1000, "layers": 1, "heads": 4}
PARITY_TEST: dict[str, Any] = {"lengths": (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40), "examples": 500}

EXTRA = "an ablation that none of the main claims needs: minutes more, run when named"
"""Why a run of the whole paper leaves an experiment out at the cpu profile."""


def cpu_addition(method: str, scratchpad: bool, **changes: Any) -> Spec:
    """Addition at the cpu profile; ``changes`` replace any of its sizes."""
    return cpu("addition", method, scratchpad, **{**ADDITION, **ADDITION_TEST, "attention": ATTENTION, **changes})


def written(scratchpad: bool) -> str:
    """The half of a variant's name that says how problems are written."""
    return "scratchpad" if scratchpad else "plain"


def entry(
    name: str, claim: str, place: str, paper: Spec, small: Spec | None, seeds: int, absent: str = "", extra: str = ""
) -> Experiment:
    """An experiment with its published setting and its cpu size, or the reason why it has none or is left out."""
    specs = {"smoke": smoke(paper), "paper": paper}
    if small is not None:
        specs["cpu"] = small
    return Experiment(
        name=f"coupling/{name}",
        claim=claim,
        place=place,
        specs=specs,
        absent={} if small is not None else {"cpu": absent},
        extra={"cpu": extra} if extra else {},
        seeds=seeds,
    )

"""The cpu profile of this paper: what each task is trained and tested on, and how an experiment is put together."""

from typing import Any

from lengen.config.experiment import Experiment
from lengen.config.spec import Spec, change
from papers.coupling.settings import cpu, smoke

ADDITION: dict[str, Any] = {"length": 5, "count": 5, "levels": (14, 14), "steps": 1000, "layers": 1, "heads": 4}
"""S_A(5, 5) with one layer and four heads: the smallest model that the paper finds sufficient (Figure 10)."""
ADDITION_TEST: dict[str, Any] = {
    "lengths": (1, 2, 3, 4, 5, 6, 7, 8, 10),
    "counts": (2, 3, 4, 5, 6, 7, 8, 10),
    "attention": ((6, 6), (5, 2), (5, 4), (5, 6), (5, 8)),
}
"""The attention map is one step beyond the trained range, as T_A(11, 11); then operands are added at one length."""
HEADLINE = cpu("addition", "coupling", True, **ADDITION, **ADDITION_TEST)
"""Scratchpad and coupling: what the figures compare everything else with."""
MULTIPLICATION: dict[str, Any] = {
    "length": 4,
    "count": 4,
    "levels": (13, 13, 13),
    "steps": 1200,
    "layers": 2,
    "heads": 4,
}
MULTIPLICATION_TEST: dict[str, Any] = {
    "lengths": (1, 2, 3, 4, 5, 6),
    "counts": (1, 2, 3, 4, 5, 6),
    "free_running": False,
}
PARITY: dict[str, Any] = {"length": 10, "count": 1, "levels": (41,), "steps": 1000, "layers": 1, "heads": 4}
PARITY_TEST: dict[str, Any] = {"lengths": (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40), "examples": 500}

EXTRA = "an ablation that none of the main claims needs: minutes more, run when named"
"""Why a run of the whole paper leaves an experiment out at the cpu profile."""


def cpu_addition(method: str, scratchpad: bool, **changes: Any) -> Spec:
    """Addition at the cpu profile; ``changes`` replace any of its sizes.

    Where a grid asks for exact match only, no model writes text of its own: that takes longer than all else that is
    measured. The headline model does, whatever figure asks for it, so that all its figures share one run.
    """
    spec = cpu("addition", method, scratchpad, **{**ADDITION, **ADDITION_TEST, "free_running": False, **changes})
    return HEADLINE if change(spec, test={"free_running": True}) == HEADLINE else spec


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

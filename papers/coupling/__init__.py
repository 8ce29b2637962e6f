"""Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count: multi-level position coupling."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.paper import Paper, later, listed

if TYPE_CHECKING:
    from lengen.settings.spec import Spec


def _adders() -> "Mapping[str, Spec | None]":
    from papers.coupling.theorem import theorem

    constructed = theorem(operands=2, digits=10, lengths=(10,), counts=(2,))
    return {"coupling/thm4.1/construction": constructed, "coupling/fig10/2L2H": None}


PAPER = Paper(
    name="coupling",
    number=1,
    title="Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count",
    published=Path(__file__).with_name("published.toml"),
    arxiv="2410.15787",
    openreview="eIgGesYKLG",
    experiments=later("papers.coupling.experiments:EXPERIMENTS"),
    figures=later("papers.coupling.experiments:FIGURES"),
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
    constructions={"TheoremSpec": later("papers.coupling.construction:construct")},
    measures=later("papers.coupling.measures:MEASURES"),
    adders=_adders,
)

"""Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count: multi-level position coupling."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.paper import Paper

if TYPE_CHECKING:
    from lengen.config.experiment import Experiment, Figure
    from lengen.config.spec import Spec
    from lengen.measures import Family, Measure, Region
    from lengen.timing import Workload


def _experiments() -> "Sequence[Experiment]":
    from papers.coupling.experiments import EXPERIMENTS

    return EXPERIMENTS


def _figures() -> "Sequence[Figure]":
    from papers.coupling.experiments import FIGURES

    return FIGURES


def _deviations() -> Mapping[str, str]:
    from papers.coupling.deviations import DEVIATIONS

    return DEVIATIONS


def _measures() -> "Mapping[str, Measure | Family]":
    from papers.coupling.measures import MEASURES

    return MEASURES


def _regions() -> "Mapping[str, Region]":
    from papers.coupling.measures import REGIONS

    return REGIONS


def _workloads() -> "Sequence[Workload]":
    from papers.coupling.benchmark import WORKLOADS

    return WORKLOADS


def _adders() -> "Mapping[str, Spec | None]":
    from papers.coupling.theorem import theorem

    constructed = theorem(operands=2, digits=10, lengths=(10,), counts=(2,))
    return {"coupling/thm4.1/construction": constructed, "coupling/fig1/coupling-scratchpad": None}


PAPER = Paper(
    name="coupling",
    number=1,
    title="Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count",
    published=Path(__file__).with_name("published.toml"),
    arxiv="2410.15787",
    openreview="eIgGesYKLG",
    experiments=_experiments,
    figures=_figures,
    deviations=_deviations,
    measures=_measures,
    regions=_regions,
    workloads=_workloads,
    adders=_adders,
)

"""Improving Length-Generalization in Transformers via Task Hinting (Awasthi and Gupta, 2023)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.paper import Paper

if TYPE_CHECKING:
    from lengen.config.experiment import Experiment, Figure
    from lengen.measures import Region
    from lengen.timing import Workload


def _experiments() -> "Sequence[Experiment]":
    from papers.task_hinting.experiments import EXPERIMENTS

    return EXPERIMENTS


def _figures() -> "Sequence[Figure]":
    from papers.task_hinting.experiments import FIGURES

    return FIGURES


def _deviations() -> Mapping[str, str]:
    from papers.task_hinting.deviations import DEVIATIONS

    return DEVIATIONS


def _regions() -> "Mapping[str, Region]":
    from papers.task_hinting.measures import REGIONS

    return REGIONS


def _workloads() -> "Sequence[Workload]":
    from papers.task_hinting.benchmark import WORKLOADS

    return WORKLOADS


PAPER = Paper(
    name="task_hinting",
    number=4,
    title="Improving Length-Generalization in Transformers via Task Hinting",
    published=Path(__file__).with_name("published.toml"),
    arxiv="2310.00726",
    experiments=_experiments,
    figures=_figures,
    deviations=_deviations,
    regions=_regions,
    workloads=_workloads,
)

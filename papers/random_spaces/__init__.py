"""Length Generalization on Multi-Digit Integer Addition with Transformers (Ibrahimli, master thesis, 2024)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.paper import Paper

if TYPE_CHECKING:
    from lengen.config.experiment import Experiment, Figure
    from lengen.config.spec import Spec
    from lengen.measures import Family, Measure, Region
    from lengen.timing import Benchmark, Workload


def _experiments() -> "Sequence[Experiment]":
    from papers.random_spaces.experiments import EXPERIMENTS

    return EXPERIMENTS


def _figures() -> "Sequence[Figure]":
    from papers.random_spaces.experiments import FIGURES

    return FIGURES


def _deviations() -> Mapping[str, str]:
    from papers.random_spaces.deviations import DEVIATIONS

    return DEVIATIONS


def _benchmarks() -> "Mapping[str, Benchmark]":
    from papers.random_spaces.benchmark import BENCHMARKS

    return BENCHMARKS


def _measures() -> "Mapping[str, Measure | Family]":
    from papers.random_spaces.measures import MEASURES

    return MEASURES


def _regions() -> "Mapping[str, Region]":
    from papers.random_spaces.measures import REGIONS

    return REGIONS


def _workloads() -> "Sequence[Workload]":
    from papers.random_spaces.benchmark import WORKLOADS

    return WORKLOADS


def _adders() -> "Mapping[str, Spec | None]":
    return {"random_spaces/fig4.5/abacus": None}


PAPER = Paper(
    name="random_spaces",
    number=3,
    title="Length Generalization on Multi-Digit Integer Addition with Transformers",
    published=Path(__file__).with_name("published.toml"),
    experiments=_experiments,
    figures=_figures,
    deviations=_deviations,
    measures=_measures,
    regions=_regions,
    benchmarks=_benchmarks,
    workloads=_workloads,
    adders=_adders,
)

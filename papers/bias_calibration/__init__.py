"""From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.paper import Paper

if TYPE_CHECKING:
    from lengen.config.experiment import Experiment, Figure
    from lengen.measures import Family, Measure, Region
    from lengen.timing import Benchmark, Workload


def _experiments() -> "Sequence[Experiment]":
    from papers.bias_calibration.experiments import EXPERIMENTS

    return EXPERIMENTS


def _figures() -> "Sequence[Figure]":
    from papers.bias_calibration.experiments import FIGURES

    return FIGURES


def _deviations() -> Mapping[str, str]:
    from papers.bias_calibration.deviations import DEVIATIONS

    return DEVIATIONS


def _benchmarks() -> "Mapping[str, Benchmark]":
    from papers.bias_calibration.benchmark import BENCHMARKS

    return BENCHMARKS


def _measures() -> "Mapping[str, Measure | Family]":
    from papers.bias_calibration.measures import MEASURES

    return MEASURES


def _regions() -> "Mapping[str, Region]":
    from papers.bias_calibration.measures import REGIONS

    return REGIONS


def _workloads() -> "Sequence[Workload]":
    from papers.bias_calibration.benchmark import WORKLOADS

    return WORKLOADS


PAPER = Paper(
    name="bias_calibration",
    number=2,
    title="From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers",
    published=Path(__file__).with_name("published.toml"),
    arxiv="2310.11984",
    experiments=_experiments,
    figures=_figures,
    deviations=_deviations,
    measures=_measures,
    regions=_regions,
    benchmarks=_benchmarks,
    workloads=_workloads,
)

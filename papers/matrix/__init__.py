"""Which trick helps which task? Every trick of the four papers, and of others, on every task, under one budget."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.paper import Paper

if TYPE_CHECKING:
    from lengen.config.experiment import Experiment, Figure, Runs
    from lengen.measures import Family, Measure
    from lengen.records import Run


def _experiments() -> "Sequence[Experiment]":
    from papers.matrix.experiments import EXPERIMENTS

    return EXPERIMENTS


def _figures() -> "Sequence[Figure]":
    from papers.matrix.experiments import FIGURES

    return FIGURES


def _summary(runs: "Runs") -> str:
    from papers.matrix.experiments import REFUSED
    from papers.matrix.summary import summary

    return summary(runs, REFUSED)


def _tokens(run: "Run") -> float:
    from papers.matrix.budget import tokens

    return tokens(run)


def _deviations() -> Mapping[str, str]:
    from papers.matrix.deviations import DEVIATIONS

    return DEVIATIONS


def _measures() -> "Mapping[str, Measure | Family]":
    from papers.matrix.measures import MEASURES

    return MEASURES


PAPER = Paper(
    name="matrix",
    number=5,
    title="Which trick helps which task? A matrix under one budget",
    published=Path(__file__).with_name("published.toml"),
    experiments=_experiments,
    apart="no publication has its settings; make matrix runs it",
    figures=_figures,
    summary=_summary,
    tokens=_tokens,
    deviations=_deviations,
    measures=_measures,
)
"""No publication: its settings are this suite's own, its claims are what the sources of the tricks predict."""

"""Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count: multi-level position coupling."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.config.paper import Paper

if TYPE_CHECKING:
    from lengen.config.experiment import Experiment, Figure


def _experiments() -> "Sequence[Experiment]":
    from papers.coupling.experiments import EXPERIMENTS

    return EXPERIMENTS


def _figures() -> "Sequence[Figure]":
    from papers.coupling.experiments import FIGURES

    return FIGURES


def _deviations() -> Mapping[str, str]:
    from papers.coupling.deviations import DEVIATIONS

    return DEVIATIONS


PAPER = Paper(
    name="coupling",
    number=1,
    title="Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count",
    published=Path(__file__).with_name("published.toml"),
    experiments=_experiments,
    figures=_figures,
    deviations=_deviations,
)

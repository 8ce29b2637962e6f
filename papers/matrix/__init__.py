"""Every trick of the four papers, and of others, on every task, under one budget."""

from pathlib import Path
from typing import TYPE_CHECKING

from lengen.paper import Paper, later, listed

if TYPE_CHECKING:
    from lengen.experiment import Runs
    from lengen.results.records import Run


def _summary(runs: "Runs") -> str:
    from papers.matrix.experiments import REFUSED
    from papers.matrix.scores import summary

    return summary(runs, REFUSED)


def _tokens(run: "Run") -> float:
    from papers.matrix.scores import tokens

    return tokens(run)


PAPER = Paper(
    name="matrix",
    number=5,
    title="Which trick helps which task? A matrix under one budget",
    published=Path(__file__).with_name("published.toml"),
    experiments=later("papers.matrix.experiments:EXPERIMENTS"),
    apart="no publication has its settings; make matrix runs it",
    figures=later("papers.matrix.experiments:FIGURES"),
    summary=_summary,
    tokens=_tokens,
    procedures={
        "ChosenSpec": later("papers.matrix.procedures:execute_chosen"),
        "CalibratedSpec": later("papers.matrix.procedures:execute_calibrated"),
    },
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
    measures=later("papers.matrix.scores:MEASURES"),
)
"""No publication: its settings are this suite's own, its claims are what the sources of the tricks predict."""

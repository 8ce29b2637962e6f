"""Every trick of the four papers, and of others, on every task, under one budget."""

from pathlib import Path

from lengen.paper import Paper, calling, later, listed

PAPER = Paper(
    name="matrix",
    number=5,
    title="Which trick helps which task? A matrix under one budget",
    published=Path(__file__).with_name("published.toml"),
    experiments=later("papers.matrix.experiments:EXPERIMENTS"),
    apart="no publication has its settings; make matrix runs it",
    figures=later("papers.matrix.experiments:FIGURES"),
    summary=calling("papers.matrix.scores:summary"),
    tokens=calling("papers.matrix.scores:tokens"),
    procedures={
        "ChosenSpec": later("papers.matrix.procedures:execute_chosen"),
        "CalibratedSpec": later("papers.matrix.procedures:execute_calibrated"),
    },
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
    measures=later("papers.matrix.scores:MEASURES"),
)
"""No publication: its settings are this suite's own, its claims are what the sources of the tricks predict."""

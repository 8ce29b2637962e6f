"""A matrix of tricks and tasks of the benchmark, under one budget."""

from pathlib import Path

from lengen.paper import Paper, later, listed

PAPER = Paper(
    name="matrix",
    number=5,
    title="Which trick helps which task? A matrix under one budget",
    published=Path(__file__).with_name("published.toml"),
    experiments=later("papers.matrix.experiments:EXPERIMENTS"),
    apart="no publication has its settings; make matrix runs it",
    figures=later("papers.matrix.experiments:FIGURES"),
    procedures={"CellSpec": later("papers.matrix.procedures:execute")},
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
)
"""No publication: its settings are this suite's own, its claims are what the sources of the tricks predict."""

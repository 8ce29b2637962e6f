"""Improving Length-Generalization in Transformers via Task Hinting (Awasthi and Gupta, 2023)."""

from pathlib import Path

from lengen.paper import Paper, later, listed

PAPER = Paper(
    name="task_hinting",
    number=4,
    title="Improving Length-Generalization in Transformers via Task Hinting",
    published=Path(__file__).with_name("published.toml"),
    arxiv="2310.00726",
    experiments=later("papers.task_hinting.experiments:EXPERIMENTS"),
    figures=later("papers.task_hinting.experiments:FIGURES"),
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
    constructions={"TheoremSpec": later("papers.task_hinting.construction:construct")},
    measurements={"ProbedSpec": later("papers.task_hinting.mechanisms:measurements")},
)

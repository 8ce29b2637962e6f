"""Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count: multi-level position coupling."""

from pathlib import Path

from lengen.paper import Paper, calling, later, listed

PAPER = Paper(
    name="coupling",
    number=1,
    title="Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count",
    published=Path(__file__).with_name("published.toml"),
    arxiv="2410.15787",
    openreview="eIgGesYKLG",
    experiments=later("papers.coupling.experiments:EXPERIMENTS"),
    figures=later("papers.coupling.experiments:FIGURES"),
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
    constructions={"TheoremSpec": later("papers.coupling.construction:construct")},
    measures=later("papers.coupling.measures:MEASURES"),
    adders=calling("papers.coupling.theorem_spec:adders"),
)

"""Length Generalization on Multi-Digit Integer Addition with Transformers (Ibrahimli, master thesis, 2024)."""

from pathlib import Path

from lengen.paper import Paper, later, listed

PAPER = Paper(
    name="random_spaces",
    number=3,
    title="Length Generalization on Multi-Digit Integer Addition with Transformers",
    published=Path(__file__).with_name("published.toml"),
    experiments=later("papers.random_spaces.experiments:EXPERIMENTS"),
    figures=later("papers.random_spaces.experiments:FIGURES"),
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
    measurements={"MeasuredSpec": later("papers.random_spaces.measurements:measurements")},
    adders=lambda: {"random_spaces/fig4.5/abacus": None},
)

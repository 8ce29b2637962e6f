"""From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers."""

from pathlib import Path

from lengen.paper import Paper, later, listed

PAPER = Paper(
    name="bias_calibration",
    number=2,
    title="From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers",
    published=Path(__file__).with_name("published.toml"),
    arxiv="2310.11984",
    experiments=later("papers.bias_calibration.experiments:EXPERIMENTS"),
    figures=later("papers.bias_calibration.experiments:FIGURES"),
    deviations=listed(Path(__file__).with_name("DEVIATIONS.md")),
    measures=later("papers.bias_calibration.measures:MEASURES"),
    procedures={"CalibratedSpec": later("papers.bias_calibration.procedures:execute")},
    measurements={"RelativeSpec": later("papers.bias_calibration.procedures:measurements")},
)

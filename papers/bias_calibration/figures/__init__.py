"""The paper's figures, one function each: finished runs go in, a matplotlib Figure leaves.

Every function takes a mapping from the name of an experiment to its runs, one per seed. Experiments without a run are
named below the figure.
"""

from papers.bias_calibration.figures.attention import fig2, fig8, fig9
from papers.bias_calibration.figures.biases import bias_matrices, fig6
from papers.bias_calibration.figures.by_length import (
    bases,
    calibration,
    fig1,
    listops,
    negative,
    table2,
    table3,
    varied,
)
from papers.bias_calibration.figures.windows import windows

__all__ = [
    "bases",
    "bias_matrices",
    "calibration",
    "fig1",
    "fig2",
    "fig6",
    "fig8",
    "fig9",
    "listops",
    "negative",
    "table2",
    "table3",
    "varied",
    "windows",
]

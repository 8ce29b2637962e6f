"""The paper's figures, one function each: finished runs go in, a matplotlib Figure leaves.

Every function takes a mapping from the name of an experiment to its runs, one per seed. An experiment without a run
leaves an empty panel that says so; where a whole row or column of panels is empty, it is left out and named below the
figure.
"""

from papers.coupling.figures.attention import fig7, fig16_21
from papers.coupling.figures.grids import (
    fig1,
    fig5,
    fig6,
    fig9,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    thm4_1,
    thm4_1_formats,
)
from papers.coupling.figures.parity import fig3
from papers.coupling.figures.theorem import overlap_csv, thm4_1_attention

__all__ = [
    "fig1",
    "fig3",
    "fig5",
    "fig6",
    "fig7",
    "fig9",
    "fig10",
    "fig11",
    "fig12",
    "fig13",
    "fig14",
    "fig15",
    "fig16_21",
    "overlap_csv",
    "thm4_1",
    "thm4_1_attention",
    "thm4_1_formats",
]

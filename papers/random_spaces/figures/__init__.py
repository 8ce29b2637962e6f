"""The thesis's figures, one function each: finished runs go in, a matplotlib Figure leaves.

Every function takes a mapping from the name of an experiment to its runs, one per seed. Experiments without a run are
named below the figure.
"""

from papers.random_spaces.figures.attention import fig4_4
from papers.random_spaces.figures.by_length import fig4_5, looped
from papers.random_spaces.figures.parts import fig4_6
from papers.random_spaces.figures.subtasks import fig4_9, over_training
from papers.random_spaces.figures.sweep import fig4_7, fig4_8, table4_3, table4_3_csv, widths
from papers.random_spaces.figures.training import fig4_1, fig4_2, figB_1
from papers.random_spaces.figures.uncertainty import fig4_3

__all__ = [
    "fig4_1",
    "fig4_2",
    "fig4_3",
    "fig4_4",
    "fig4_5",
    "fig4_6",
    "fig4_7",
    "fig4_8",
    "fig4_9",
    "figB_1",
    "looped",
    "over_training",
    "table4_3",
    "table4_3_csv",
    "widths",
]

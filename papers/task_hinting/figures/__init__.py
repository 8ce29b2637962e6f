"""The paper's figures and tables, one function each: finished runs go in, a matplotlib Figure leaves.

Every function takes a mapping from the name of an experiment to its runs, one per seed. Scaling, hints, projections,
mechanisms and the tables have files of their own. Experiments without a run are named below the figure.
"""

from papers.task_hinting.figures.hints import fig3_6, fig3_7, fig3_8, fig3_9, fig3_11, training
from papers.task_hinting.figures.mechanisms import fig4_15, fig4_16
from papers.task_hinting.figures.projections import fig4_12, fig4_13, fig4_14
from papers.task_hinting.figures.scaling import fig3_2, fig3_3, fig3_5, positions
from papers.task_hinting.figures.tables import table1, table2, table3, table_csv
from papers.task_hinting.figures.theorem import thm5_1, thm5_1_formats, thm5_1_repeats

__all__ = [
    "fig3_2",
    "fig3_3",
    "fig3_5",
    "fig3_6",
    "fig3_7",
    "fig3_8",
    "fig3_9",
    "fig3_11",
    "fig4_12",
    "fig4_13",
    "fig4_14",
    "fig4_15",
    "fig4_16",
    "positions",
    "table1",
    "table2",
    "table3",
    "table_csv",
    "thm5_1",
    "thm5_1_formats",
    "thm5_1_repeats",
    "training",
]

"""Pictures: records go in, a matplotlib Figure leaves; nothing is read, written or trained, and no torch.

Four drawings follow from the axes of a table of experiments, one from what is recorded in training:

- `grid`: heat maps by axes; `curves`: a line a variant over lengths; `table`: cells with numbers;
  `attention`: maps of tokens; `training`: lines over steps;
- `caption`: the sentences below a picture;
- `measured`: what curves draw; `frames`: records as pandas frames;
- `published`: hollow marks at the same lengths;
- `sheet`, `style`: sizes, letters, the one legend, the bytes of a picture.
"""

from lengen.metrics.measures import learned
from lengen.paper.experiment import Runs
from lengen.plotting.attention import (
    Row,
    attention,
    attention_map,
    attention_scale,
    draw_rows,
    maps,
    structured_heads,
    token_map,
)
from lengen.plotting.caption import caption
from lengen.plotting.curves import curves
from lengen.plotting.frames import arrays, metrics, scores
from lengen.plotting.grid import HEAT, grid, heat_map, outline
from lengen.plotting.labels import spans
from lengen.plotting.measured import MEASURES, medians, values
from lengen.plotting.methods import LOOKS, Look, looks
from lengen.plotting.published import Published, Value
from lengen.plotting.sheet import (
    COLUMN,
    LETTER,
    PAGE,
    empty,
    label,
    legend,
    lengths_axis,
    percent,
    sheet,
    shown,
    titled,
)
from lengen.plotting.style import BLACK, COLOURS, MARKERS, numbered, pictures, said, style
from lengen.plotting.tables import cells, table
from lengen.plotting.training import training

__all__ = [
    "BLACK", "COLOURS", "COLUMN", "HEAT", "LETTER", "LOOKS", "MARKERS", "MEASURES", "PAGE", "Look", "Published",
    "Row", "Runs", "Value", "arrays", "attention", "attention_map", "attention_scale", "caption", "cells", "curves",
    "draw_rows", "empty", "grid", "heat_map", "label", "learned", "legend", "lengths_axis", "looks", "maps",
    "medians", "metrics", "numbered", "outline", "percent", "pictures", "said", "scores",
    "sheet", "shown", "spans", "structured_heads", "style", "table", "titled", "token_map",
    "training", "values",
]  # fmt: skip

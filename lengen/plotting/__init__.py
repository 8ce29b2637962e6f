"""Pictures: records go in, a matplotlib Figure leaves; nothing is read, written or trained, and no torch.

Four drawings follow from the axes of a table of experiments, one from what is recorded in training:

- `grid`: heat maps by axes; `curves`: a line a variant over lengths; `table`: cells with numbers;
  `attention`: maps of tokens; `training`: lines over steps;
- `caption`: the sentences below a picture;
- `measured`: what curves draw; `frames`: records as pandas frames;
- `published`: hollow marks at the same lengths;
- `sheet`, `style`: sizes, letters, the one legend, the bytes of a picture.
"""

from lengen.results.records import extra

with extra():
    from lengen.experiment import Runs
    from lengen.metrics.run_measures import learned
    from lengen.plotting.attention import (
        MapRow,
        attention,
        attention_map,
        attention_scale,
        draw_rows,
        maps,
        structured_heads,
        token_map,
    )
    from lengen.plotting.caption import caption
    from lengen.plotting.curves import curves, training
    from lengen.plotting.frames import MEASURES, Point, Published, arrays, medians, metrics, scores, values
    from lengen.plotting.grid import HEAT, cells, grid, heat_map, outline, table
    from lengen.plotting.layout import (
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
        spans,
        titled,
    )
    from lengen.plotting.style import BLACK, COLOURS, LOOKS, MARKERS, Look, looks, numbered, pictures, said, style

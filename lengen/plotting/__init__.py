"""The figure kit: a record and axes go in, the same axes leave; nothing is read, written or trained, and no torch.

- `style`: the style of every figure, its bytes;
- `labels`: settings of a run, methods with name, colour and marker, words;
- `frames`: records as pandas frames;
- `heat_maps`: accuracy grids with their trained range, annotated tables;
- `curves`: lines over lengths or steps, with seeds and trained shading;
- `attention`: maps of tokens, keys per step;
- `page`: legends, footnotes, what is not there.
"""

from lengen.plotting.attention import (
    ALL_TOKENS,
    ATTENTION,
    CLIP,
    attention_map,
    attention_scale,
    keys_per_step,
    token_map,
)
from lengen.plotting.curves import (
    BESIDE_NOTE,
    above,
    length_ticks,
    line,
    lines,
    logarithmic,
    percent,
    plain,
    step_ticks,
    trained_band,
    trained_lengths,
)
from lengen.plotting.frames import arrays, hits, metrics, rate, scores, total_rate
from lengen.plotting.heat_maps import HEAT, Range, heat_map, heat_scale, heat_table, outline
from lengen.plotting.labels import (
    AXES,
    LENGTHS,
    METHODS,
    SETTINGS,
    Look,
    Method,
    blocks,
    depth,
    in_order,
    length_axis,
    looks,
    plural,
    position_scheme,
    seeds,
    seeds_note,
    setting,
    size,
    spans,
)
from lengen.plotting.page import (
    NOT_RUN,
    Runs,
    absent,
    braces,
    distinct,
    empty,
    first,
    footnote,
    legend,
    missing,
    not_recorded,
    not_run,
    outer_labels,
)
from lengen.plotting.style import BLACK, COLOURS, DPI, MARKERS, RED, compact, numbered, pictures, style

__all__ = [
    "ALL_TOKENS", "ATTENTION", "AXES", "BESIDE_NOTE", "BLACK", "CLIP", "COLOURS", "DPI", "HEAT", "LENGTHS",
    "MARKERS", "METHODS", "NOT_RUN", "RED", "SETTINGS", "Look", "Method", "Range", "Runs", "above", "absent",
    "arrays", "attention_map", "attention_scale", "blocks", "braces", "compact", "depth", "distinct", "empty",
    "first", "footnote", "heat_map", "heat_scale", "heat_table", "hits", "in_order", "keys_per_step", "legend",
    "length_axis", "length_ticks", "line", "lines", "logarithmic", "looks", "metrics", "missing",
    "not_recorded", "not_run", "numbered", "outer_labels", "outline", "percent", "pictures", "plain", "plural",
    "position_scheme", "rate", "scores", "seeds", "seeds_note", "setting", "size", "spans", "step_ticks",
    "style", "token_map", "total_rate", "trained_band", "trained_lengths",
]  # fmt: skip

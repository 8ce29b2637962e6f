"""The figure kit: a record and axes go in, the same axes leave; nothing is read, written or trained, and no torch.

- `style`: the style of every figure, its bytes;
- `settings`: settings of a run;
- `methods`: methods with name, colour and marker;
- `labels`: labels of axes, sizes and seeds in words;
- `words`: shares and what was found, as sentences;
- `frames`: records as pandas frames;
- `learned`: whether models have learned what they were trained on;
- `published`: published values beside ours;
- `heat_maps`: accuracy grids with their trained range, annotated tables;
- `curves`: lines over lengths or steps, with seeds and trained shading;
- `attention`: maps of tokens, keys per step;
- `page`: titles, legends, footnotes, what is not there.
"""

from lengen.config.experiment import Runs
from lengen.measures import LEARNED
from lengen.plotting import published
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
    lengths_axis,
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
from lengen.plotting.heat_maps import HEAT, Range, apart_scale, heat_map, heat_scale, heat_table, outline
from lengen.plotting.labels import (
    AXES,
    LENGTHS,
    blocks,
    depth,
    length_axis,
    over_seeds,
    plural,
    sampled,
    seeds,
    seeds_note,
    size,
    spans,
)
from lengen.plotting.learned import RULE, edge, has_learned, unlearned
from lengen.plotting.methods import LINES, METHODS, Look, Method, in_order, looks, position_scheme
from lengen.plotting.page import (
    NOT_RUN,
    absent,
    distinct,
    empty,
    first,
    footnote,
    found,
    in_words,
    legend,
    merged,
    missing,
    not_recorded,
    not_run,
    outer_labels,
    spoken_place,
    wanted_in_words,
)
from lengen.plotting.published import NONE, Published, Value
from lengen.plotting.settings import SETTINGS, setting
from lengen.plotting.style import BLACK, COLOURS, DPI, MARKERS, RED, compact, numbered, pictures, said, style
from lengen.plotting.words import count, listed, ranked, share

__all__ = [
    "ALL_TOKENS", "ATTENTION", "AXES", "BESIDE_NOTE", "BLACK", "CLIP", "COLOURS", "DPI", "HEAT", "LEARNED", "LENGTHS",
    "LINES", "MARKERS", "METHODS", "NONE", "NOT_RUN", "RED", "RULE", "SETTINGS", "Look", "Method", "Published",
    "Range", "Runs", "Value", "above", "absent", "apart_scale", "arrays", "attention_map", "attention_scale", "blocks",
    "compact", "count", "depth", "distinct", "edge", "empty", "first", "footnote", "found", "has_learned",
    "heat_map", "heat_scale", "heat_table", "hits", "in_order", "in_words", "keys_per_step", "legend",
    "length_axis", "length_ticks", "lengths_axis", "line", "lines", "listed", "logarithmic", "looks", "merged",
    "metrics", "missing", "not_recorded", "not_run", "numbered", "outer_labels", "outline",
    "over_seeds", "percent",
    "pictures", "plain", "plural", "position_scheme", "published", "ranked", "rate", "said", "sampled",
    "scores", "seeds", "seeds_note", "setting", "share", "size", "spans", "spoken_place", "step_ticks", "style",
    "token_map", "total_rate", "trained_band", "trained_lengths", "unlearned", "wanted_in_words",
]  # fmt: skip

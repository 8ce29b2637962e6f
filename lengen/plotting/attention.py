"""Attention: maps of tokens over tokens, and the keys that a prediction step needs."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from lengen.plotting.labels import AXES
from lengen.plotting.methods import Look
from lengen.records import AttentionMap, KeyCount

CLIP = 0.01
"""Attention below this is drawn black, as in the published maps."""
ALL_TOKENS = 34
"""Longest text whose every token still gets a readable label on a map of two inches."""
ATTENTION = mpl.colormaps["inferno"].resampled(64).with_extremes(under="black")
ATTENTION_SCALE = PowerNorm(0.5, vmin=CLIP, vmax=1.0)
"""A square root, so that an eleventh of the attention is still seen beside the whole."""


def attention_map(
    axes: Axes, record: AttentionMap, layer: int, head: int, *, title: str, most: int = ALL_TOKENS
) -> Axes:
    """Averaged attention of one head: queries downwards, keys to the right, tokens on both axes.

    Values below `CLIP` are black. Rows below the horizontal line predict the response; keys to the left of the
    vertical one belong to the query (up to and with the first "="). Only separators are labelled beyond ``most``.
    """
    token_map(axes, record.weights[layer, head], record.tokens, record.tokens, title=title, most=most)
    if "=" in record.tokens:
        border = record.tokens.index("=")
        axes.axhline(border - 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")
        axes.axvline(border + 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")
    return axes


def token_map(
    axes: Axes, weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, title: str, most: int = ALL_TOKENS
) -> Axes:
    """Attention weights (queries, keys), lighter where larger, with the query tokens downwards and the key tokens
    to the right; only separators are labelled on an axis with more than ``most`` tokens."""
    axes.imshow(weights.astype(np.float32), cmap=ATTENTION, norm=ATTENTION_SCALE, interpolation="none", aspect="equal")
    for tokens, place in ((columns, axes.set_xticks), (rows, axes.set_yticks)):
        shown = [k for k, token in enumerate(tokens) if len(tokens) <= most or not token.isdigit()]
        font = max(4.5, min(6.5, 150 / max(len(shown), 1)))
        place(shown, labels=[tokens[k] for k in shown], fontsize=font)
    axes.tick_params(length=1.2, pad=1, width=0.3)
    axes.set(xlabel="Key token", ylabel="Query token", title=title)
    return axes


def keys_per_step(axes: Axes, runs: Sequence[Sequence[KeyCount]], look: Look, label: str) -> Axes:
    """Keys that hold 90 % of a head's attention in one step, against the number of operands.

    One sequence of counts per seed. Solid: mean over heads and seeds; dashed: mean over the half of each seed's
    heads that need the fewest keys at the largest count; faint: each head. One operand length is drawn, because only
    the count should change along the axis: the one with the widest span of counts, then the shortest.
    """
    rows = [(run, *row, row.keys_sum / row.steps) for run, counts in enumerate(runs) for row in counts if row.steps]
    frame = pd.DataFrame(rows, columns=["run", *KeyCount._fields, "keys"])
    counts = frame.groupby("length")["count"]
    length = (counts.max() / counts.min()).idxmax()  # of equal spans the first, which is the shortest length
    heads = frame[frame["length"] == length].pivot(index=["run", "layer", "head"], columns="count", values="keys")
    by_run = heads[heads.columns[-1]].groupby("run")
    focused = heads[by_run.rank(method="first") <= (by_run.transform("size") + 1) // 2]
    xs = list(heads.columns)
    for values in heads.to_numpy():
        axes.plot(xs, values, ":", color=look.colour, alpha=0.35)
    axes.plot(xs, focused.mean().to_numpy(), "--", color=look.colour)
    inner = None if look.line == "-" else "white"
    axes.plot(
        xs, heads.mean().to_numpy(), color=look.colour, marker=look.marker, markerfacecolor=inner,
        label=f"{label}, {length} digits",
    )  # fmt: skip
    axes.set(xlabel=AXES["count"], ylabel="Keys holding 90 % of attention")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    tallest = max(float(np.nanmax(line.get_ydata())) for line in axes.lines)
    axes.set_ylim(0, 1.08 * tallest)
    return axes


def attention_scale() -> ScalarMappable:
    """The scale of attention maps, for a colour bar."""
    return ScalarMappable(norm=ATTENTION_SCALE, cmap=ATTENTION)

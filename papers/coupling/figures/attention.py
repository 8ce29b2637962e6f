"""Figures 7 and 16 to 21: maps of averaged attention, and how many keys a step needs."""

import contextlib
from collections.abc import Sequence
from statistics import median

import numpy as np
from matplotlib.figure import Figure, SubFigure

from lengen import plotting
from lengen.measures import Missing
from lengen.plotting import Runs, setting
from lengen.records import AttentionMap, Run
from papers.coupling.figures import words
from papers.coupling.measures import keys_growth


def fig7(runs: Runs) -> Figure:
    """Attention maps with and without scratchpad, above the keys a step needs against the number of operands.

    The maps show the first experiment of each kind that recorded attention, the curves all that counted keys.
    """
    distinct = _distinct(runs)
    recorded = [some for some in distinct if any(run.attention is not None for run in some)]
    with_pad = [some for some in recorded if setting(some[0], "scratchpad")]
    without = [some for some in recorded if not setting(some[0], "scratchpad")]
    shown = with_pad[:1] + without[:1]
    heights = [2.75] * max(len(shown), 1) + [2.9]
    counted = [some for some in distinct if any(run.key_counts for run in some)]
    heights[-1] = max(heights[-1], 0.53 * len(counted))  # of the legend, three lines each
    figure = Figure(figsize=(10.0, sum(heights)), layout="constrained")
    *maps, keys = _parts(figure, heights)
    for part, some in zip(maps, shown, strict=False):
        _attention_maps(part, some, 1, 4)
    if not shown:
        wanted = "\n".join(plotting.wanted_in_words(runs, words.SLUGS))
        plotting.missing(maps[0].subplots(1, 1), wanted, "no attention recorded at this profile")
    _keys(keys, counted)
    plotting.found(figure, _growth(distinct))
    plotting.footnote(figure, *plotting.absent(runs, words.SLUGS))
    return figure


def _growth(settings: Sequence[Sequence[Run]]) -> str:
    """How many more keys a step needs as operands are added, by size and setting; of models that have learned."""
    found: dict[str, dict[str, list[float]]] = {}
    for some in settings:
        with contextlib.suppress(Missing):
            if not plotting.unlearned(some):
                exponents = [keys_growth(run.key_counts)[0] for run in some]
                by_setting = found.setdefault(words.size(some[0]), {})
                by_setting.setdefault(words.setting_name(some[0]), []).extend(exponents)
    told = []
    for size, by_setting in found.items():
        middles = sorted((median(exponents), name) for name, exponents in by_setting.items())
        told.append(f"{', '.join(f'{name} {exponent:.2f}' for exponent, name in middles)} ({size})")
    said = f"Keys that a step needs grow as operands to the power of: {'; '.join(told)}" if told else ""
    return plotting.over_seeds(said, settings)


def _distinct(runs: Runs) -> list[Sequence[Run]]:
    """Runs of each experiment that has any, without experiments that share their runs with an earlier one."""
    found = {tuple((run.experiment, run.seed, run.version) for run in some): some for some in runs.values() if some}
    return list(found.values())


def fig16_21(runs: Runs) -> Figure:
    """Figures 16 to 21 in rows: of every setting the four heads with the most structure in their averaged attention.

    A row says how well its model does in its trained range: what an unlearned model looks at says nothing.
    """
    recorded = {name: some for name, some in runs.items() if any(run.attention is not None for run in some)}
    if not recorded:
        return plotting.empty(runs, "no attention recorded at this profile", words.SLUGS)
    heads = max(_heads(some) for some in recorded.values())
    columns = min(4, heads)
    figure = Figure(figsize=(2.35 * columns + 1.3, 2.15 * len(recorded) + 0.9), layout="constrained")
    grid = figure.subplots(len(recorded), columns, squeeze=False)
    for row, some in zip(grid, recorded.values(), strict=True):
        run = next(run for run in some if run.attention is not None)
        record = run.attention
        assert record is not None
        places = structured_heads(record, columns)
        for axes, (layer, head) in zip(row, places, strict=False):
            plotting.attention_map(axes, record, layer, head, title=f"layer {layer + 1}, head {head + 1}")
            axes.set(xlabel="", ylabel="")
        for axes in row[len(places) :]:
            axes.set_axis_off()
        row[0].set_ylabel(f"{_row(run, some)}\n\nQuery token", color="0.5" if plotting.unlearned(some) else "black")
    for axes in grid[-1]:
        axes.set_xlabel("Key token")
    bar = figure.colorbar(plotting.attention_scale(), ax=grid, aspect=40, shrink=0.6)
    bar.set_label("Attention (< 0.01: black)")
    plotting.found(figure, _sharpest(recorded))
    note = (
        "Of every setting the four heads whose response rows depart most from attention that is spread evenly; means "
        f"over examples of one seed. Exact match: inside the trained range, median over seeds. {plotting.RULE}"
    )
    without = plotting.not_recorded(runs, recorded, "Attention not recorded", words.SLUGS)
    plotting.footnote(figure, note, without, *plotting.absent(runs, words.SLUGS))
    return figure


def _heads(some: Sequence[Run]) -> int:
    return max(run.attention.weights[..., 0, 0].size for run in some if run.attention is not None)


def _row(run: Run, some: Sequence[Run]) -> str:
    """The label of a row: setting, size, and whether it has learned."""
    name = words.method(run)
    inside = f"{plotting.share(plotting.edge(some))} at the edge\nof its trained range"
    return f"{name[0].upper()}{name[1:]}\n{words.scratchpad(run)}\n{words.size(run)}\n{inside}"


def _sharpest(recorded: Runs) -> str:
    """How much attention the sharpest head of every setting that has learned puts on one key, over the response."""
    found = {}
    for some in recorded.values():
        run = next(run for run in some if run.attention is not None)
        if run.attention is not None and not plotting.unlearned(some):
            record = run.attention
            border = record.tokens.index("=") if "=" in record.tokens else 0
            largest = record.weights[:, :, border:, 1:].astype(np.float32).max(axis=3).mean(axis=2)
            found[words.setting_name(run)] = float(largest.max())
    told = plotting.ranked(found, 3)
    return (
        f"Attention of the sharpest head on one key, averaged over the response: {told}"
        if told
        else ("No model whose attention was recorded has learned its trained range")
    )


def _parts(figure: Figure, heights: Sequence[float]) -> list[SubFigure]:
    """A figure cut into full-width parts, each with its own title."""
    return list(figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])


def _attention_maps(part: SubFigure, runs: Sequence[Run], rows: int, columns: int) -> None:
    """Fill a part of a figure with the most structured heads of the first run that recorded attention."""
    run = next(run for run in runs if run.attention is not None)
    record = run.attention
    assert record is not None
    grid = part.subplots(rows, columns, squeeze=False)
    heads = structured_heads(record, rows * columns)
    for axes, (layer, head) in zip(grid.flat, heads, strict=False):
        plotting.attention_map(axes, record, layer, head, title=f"layer {layer + 1}, head {head + 1}")
    for axes in grid.flat[len(heads) :]:
        axes.set_axis_off()
    said = "; ".join(filter(None, [f"mean over {record.n:,} examples, seed {run.seed}", plotting.unlearned(runs)]))
    part.suptitle(f"{words.model(run)}: {said}", fontsize=8)
    part.colorbar(plotting.attention_scale(), ax=grid, aspect=30, label="Attention (< 0.01: black)")


def structured_heads(record: AttentionMap, most: int) -> list[tuple[int, int]]:
    """The (layer, head) pairs, in order, whose response rows depart most from uniform attention.

    Scored by the attention above 1 / (number of visible keys), without the first token: heads that rest on the
    start token or spread evenly score zero, one sharp line and eleven fainter ones both score high.
    """
    border = record.tokens.index("=") if "=" in record.tokens else 0
    weights = record.weights[:, :, border:, 1:].astype(np.float32)
    visible = np.arange(border, border + weights.shape[2], dtype=np.float32)[:, None] + 1
    scores = np.clip(weights - 1 / visible, 0, None).sum(axis=(2, 3))
    order = sorted(np.ndindex(*scores.shape), key=lambda place: (-scores[place], place))
    return sorted((int(layer), int(head)) for layer, head in order[:most])


def _keys(part: SubFigure, settings: Sequence[Sequence[Run]]) -> None:
    """Keys per step with the scratchpad on the left, without on the right, on one scale."""
    panels = part.subplots(1, 2, sharey=True)
    tallest = 0.0
    for axes, scratchpad in zip(panels, (True, False), strict=True):
        how = f"{'with' if scratchpad else 'without'} scratchpad"
        shown = {
            place: some for place, some in enumerate(settings) if bool(setting(some[0], "scratchpad")) is scratchpad
        }
        looks = plotting.looks({str(place): plotting.position_scheme(some[0]) for place, some in shown.items()})
        for place, some in shown.items():
            lacking = f", {plotting.unlearned(some)}" if plotting.unlearned(some) else ""
            label = (
                f"{words.method(some[0])}{lacking}\n{how}, {plotting.plural(len(some), 'seed')}\n{words.size(some[0])}"
            )
            plotting.keys_per_step(axes, [run.key_counts for run in some], looks[str(place)], label)
            tallest = max(tallest, axes.get_ylim()[1])
        axes.set_title(f"Keys per prediction step, {how}")
        if not axes.lines:
            axes.set_xticks([])  # the other axis is shared with the left panel
            axes.text(0.5, 0.5, "not run at this profile", ha="center", color="0.4", transform=axes.transAxes)
    panels[1].set_ylabel("")
    panels[0].set_ylim(0, tallest or None)
    lines = {line.get_label(): line for axes in panels for line in axes.get_legend_handles_labels()[0]}
    part.legend(list(lines.values()), list(lines), loc="outside right center", frameon=False)
    part.suptitle("Solid: mean over heads; dashed: over the more focused half of them; faint: each head", fontsize=8)

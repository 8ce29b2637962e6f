"""Figure 4.4: attention maps, a column a layer, the maximum over its heads; a longer problem below, if recorded."""

import dataclasses
from collections.abc import Sequence
from statistics import median

import numpy as np
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import Runs
from lengen.records import AttentionMap, Run
from lengen.vocab import PRINTABLE
from papers.random_spaces import lengths
from papers.random_spaces.figures import words
from papers.random_spaces.lengths import ROLES, trained_on

NOTE = (
    "Maximum over the heads of a layer, after softmax. A row reads the token at its left and predicts the next one; "
    "rows below the blue line predict the answer, columns left of it belong to the problem. Orderly lines are "
    "what a model can go on with beyond the lengths it knows."
)
CELL = 0.095
"""Inches of a token."""
LABELLED = 48
"""Longest text whose every token gets a label: at this size of a token they do not touch."""


def fig4_4(runs: Runs) -> Figure:
    """Figure 4.4: absolute positions above, with random spaces in the middle, Abacus below.

    Each at the longest trained length and, where a run recorded it, at the longest tested one: the text speaks of both.
    """
    shown = {name: rows for name, some in runs.items() if (rows := _maps(some))}
    if not shown:
        return plotting.empty(runs, "no attention recorded at this profile", words.SLUGS)
    maps = [row for rows in shown.values() for row in rows]
    columns = max(record.weights.shape[0] for _, record, _ in maps)
    side = CELL * max(22, *(len(record.tokens) for _, record, _ in maps))
    size = (max(columns * (side + 0.5) + 0.8, 5.2), len(maps) * (side + 0.65) + 1.0)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(maps), columns, squeeze=False)
    for line, (run, record, length) in zip(grid, maps, strict=True):
        for layer, axes in enumerate(line):
            if layer >= record.weights.shape[0]:
                axes.set_axis_off()
                continue
            plotting.attention_map(axes, record, layer, 0, title=f"Layer {layer + 1}", most=LABELLED)
            named = words.label(run).replace(", ", ",\n", 1)
            role = ROLES[lengths.role(run, length)]
            axes.set_ylabel("" if layer else f"{named}\n{length} digits ({role})\n{axes.get_ylabel()}")
            if line is not grid[-1]:
                axes.set_xlabel("")
    scale = figure.colorbar(plotting.attention_scale(), ax=grid, shrink=0.6, aspect=30)
    scale.set_label(f"Largest attention of a head (< {plotting.CLIP}: black)")
    kinds = "; ".join(
        f"{words.label(run)}: {trained_on(run)}, seed {run.seed}" for run, *_ in (rows[0] for rows in shown.values())
    )
    without = plotting.not_recorded(runs, shown, "Attention not recorded", words.SLUGS)
    plotting.found(figure, _found(runs))
    plotting.footnote(figure, NOTE, f"{kinds}.", without, *plotting.absent(runs, words.SLUGS))
    return figure


def _found(runs: Runs) -> str:
    """How well the models do whose attention is drawn, at the longest trained and the longest tested length."""
    told = []
    for some in runs.values():
        if some:
            longest, furthest = lengths.trained(some[0])[-1], lengths.tested(some[0])[-1]
            inside, beyond = (
                median([plotting.total_rate(run.grid, [length]) for run in some]) for length in (longest, furthest)
            )
            told.append(f"{words.label(some[0])}: {plotting.share(inside)} and {plotting.share(beyond)}")
    return f"Exact match at the longest trained and the longest tested length: {'; '.join(told)}" if told else ""


def _maps(runs: Sequence[Run]) -> list[tuple[Run, AttentionMap, int]]:
    """Maps of the first run that recorded any, each with its operand length."""
    for run in runs:
        if run.attention is not None:
            longest = max(lengths.tested(run))
            beyond = [(run, longer(run, longest), longest)] if f"attention.{longest}" in run.arrays else []
            return [(run, largest(run.attention), lengths.trained(run)[-1]), *beyond]
    return []


def longer(run: Run, length: int) -> AttentionMap:
    """The stored map of one problem of another length, (layers, 1, queries, keys)."""
    tokens = run.arrays[f"attention_tokens.{length}"]
    texts = tuple(PRINTABLE.decode([int(token)]) for token in tokens[:-1])
    return AttentionMap(texts, run.arrays[f"attention.{length}"][:, None].astype(np.float32), 1)


def largest(record: AttentionMap) -> AttentionMap:
    """The same map with one head a layer: the largest weight of any head, (layers, 1, queries, keys)."""
    return dataclasses.replace(record, weights=record.weights.max(axis=1, keepdims=True))

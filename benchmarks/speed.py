"""Speed as ratios: drawing data, deciding exact match, edit distance.

Models are untrained: weights do not change the time.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks.timing import Entry, entry, exponent, turns
from lengen.data.batch_and_random_spaces import response_start
from lengen.data.datamodule import ArithmeticData
from lengen.decoding.decoding import generate, verify
from lengen.formats.base import END, FIRST, PAD
from lengen.formats.linear import Linear
from lengen.metrics.response_metrics import edit_distances
from lengen.models import Transformer
from lengen.position_ids.digit_places import Coupled
from lengen.position_ids.sequence_places import Consecutive
from lengen.settings.model import EncoderDecoder, ModelSpec, Sinusoidal
from lengen.settings.sections import DataSpec, TestSpec, TrainSpec
from lengen.settings.spec import Spec, replace
from lengen.tasks.addition import Addition
from lengen.tasks.successor_and_pair_tasks import PairAddition
from lengen.training.model_building import build_model


class Sizes(NamedTuple):
    """Sizes of the measurements; the defaults take two to three minutes."""

    batch: int = 1024
    repeats: int = 30
    cell: int = 10
    verified: int = 96
    stepped: int = 8
    counts: tuple[int, ...] = (4, 8, 16)
    turns: int = 5
    segments: int = 25
    response: int = 200
    pairs: int = 4
    calibrated: tuple[int, int, int, int] = (8, 30, 62, 125)
    """Heads, rows of the attention, rows and columns of its calibrated bias."""


FULL = Sizes()
TINY = Sizes(
    batch=8,
    repeats=2,
    cell=2,
    verified=4,
    stepped=2,
    counts=(2, 3),
    turns=1,
    segments=2,
    response=10,
    pairs=1,
    calibrated=(2, 3, 5, 6),
)

SPEC = Spec(
    data=DataSpec(
        task=Addition(digits=5, operands=5),
        format=Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True),
        position_ids=Coupled((40, 40)),
    ),
    model=ModelSpec(layers=1, heads=4, width=128, head_dim=32, ff_width=256),
    train=TrainSpec(steps=100, batch=64, lr=1e-3, bucket=8, evaluations=1),
    test=TestSpec(lengths=(2,), counts=(2,), examples=1, free_running=False),
)
"""The size of the cpu profile's addition runs."""
ENCODER_DECODER = replace(
    SPEC,
    data={
        "task": PairAddition(digits=4),
        "format": Linear(separator="$", width=12, reverse_response=True),
        "position_ids": Consecutive(),
    },
    model={"encoding": Sinusoidal(), "architecture": EncoderDecoder(1)},
)
"""The same model beside an encoder of one layer, with numbers of a fixed width."""
PUBLISHED_LENGTH = 61
"""Digits that numbers are padded to at the published size."""


def data_speed(sizes: Sizes) -> list[Entry]:
    """Whole batches from random numbers to tokens, ids and loss mask."""
    task = Addition(digits=sizes.cell, operands=sizes.cell)
    data = ArithmeticData(replace(SPEC, data={"task": task}), 0)
    stream = torch.Generator().manual_seed(0)

    def draw() -> None:
        data.writer.write(data.task.train(sizes.batch, stream), stream)

    turns([draw], sizes.repeats)  # every layout has been seen once
    rates = sizes.batch / turns([draw], 5 * sizes.repeats)
    what = f"S_A({sizes.cell},{sizes.cell}) with scratchpad: numbers, tokens, random ids, mask; one core"
    return [entry("data_examples_per_second", what, rates, "examples/s", "aim 100,000")]


def endless(spec: Spec) -> Transformer:
    """A model that never ends a response early, so that every way of decoding writes the full length."""
    model = build_model(spec, 0).eval()
    logits = model._logits

    def without_end(x: Tensor, output: int = 0) -> Tensor:
        return logits(x, output).index_fill(-1, torch.tensor(END), float("-inf"))

    model._logits = without_end  # type: ignore[method-assign]
    return model


def verify_vs_cached(name: str, model: Transformer, data: ArithmeticData, cell: tuple[int, int], sizes: Sizes) -> Entry:
    """Deciding exact match of problems of ``cell`` (length, count) by one forward pass and by cached decoding."""
    seconds = turns(ways(model, data, cell, sizes.verified), sizes.turns)
    what = f"exact match of {cell[1]} operands of {cell[0]} digits, {sizes.verified} examples at once"
    if width := data.spec.data.format.width:
        what += f", padded to {width}, encoder-decoder"
    ratios = seconds[:, 1] / seconds[:, 0]
    return entry(name, what, ratios, "times faster", "greedy decoding with a key-value cache (aim 2)")


def ways(model: Transformer, data: ArithmeticData, cell: tuple[int, int], examples: int) -> list[Callable[[], object]]:
    """One forward pass; decoding with a cache."""
    return [
        lambda: verify(model, data.writer.write(data.test(*cell, examples))),
        lambda: generate(model, data.writer, data.test(*cell, examples)),
    ]


def uncached(model: Transformer, data: ArithmeticData, cell: tuple[int, int], examples: int) -> Tensor:
    """Greedy decoding as published codebases do it: a full forward pass for every new token; decoder-only."""
    batch = data.writer.write(data.test(*cell, examples))
    start = int(response_start(batch)[0])
    tokens = batch.tokens[:, :start]
    with torch.no_grad():
        for end in range(start, batch.tokens.shape[1]):
            newest = model(tokens, batch.ids[:, :, :end])[:, -1].argmax(dim=-1)
            tokens = torch.cat([tokens, newest[:, None]], dim=1)
    return tokens[:, start:]


def decoding(sizes: Sizes) -> list[Entry]:
    """Deciding exact match by one forward pass, by cached decoding and by decoding without a cache."""
    data, model = ArithmeticData(SPEC, 0), endless(SPEC)
    beside = ENCODER_DECODER.override(f"data.format.width={PUBLISHED_LENGTH}")
    cell = (sizes.cell, sizes.cell)

    def slowly(cell: tuple[int, int]) -> Callable[[], object]:
        return lambda: uncached(model, data, cell, sizes.stepped)

    slow = turns([ways(model, data, cell, sizes.stepped)[0], slowly(cell)], max(1, sizes.turns // 2))
    entries = [
        verify_vs_cached("verify_vs_cached_decoding", model, data, cell, sizes),
        entry(
            "verify_vs_uncached_decoding",
            f"exact match of {cell[1]} operands of {cell[0]} digits, {sizes.stepped} examples at once",
            slow[:, 1] / slow[:, 0],
            "times faster",
            "a full forward pass per new token (aim 50)",
        ),
        verify_vs_cached(
            "encoder_decoder_verify_vs_cached",
            endless(beside),
            ArithmeticData(beside, 0),
            (PUBLISHED_LENGTH - 1, 2),
            sizes,
        ),
    ]
    responses, seconds = [], []
    for count in sizes.counts:
        cell = (sizes.cell, count)
        responses.append(int(data.writer.write(data.test(*cell, 1)).loss.sum()))
        actions = [*ways(model, data, cell, sizes.stepped), slowly(cell)]
        seconds.append(turns(actions, max(1, sizes.turns // 2)))
    for i, name in enumerate(("verify", "cached", "uncached")):
        each = [exponent(responses, turn) for turn in np.stack(seconds, axis=1)[:, :, i]]
        what = f"exponent of time against response length, {responses[0]} to {responses[-1]} tokens"
        entries.append(entry(f"scaling_{name}", what, each, "exponent", "1 is linear"))
    return entries


def edit_distance(sizes: Sizes) -> list[Entry]:
    """Our exact edit distance against the beam search of torchmetrics, for pairs that differ in a tenth."""
    from torchmetrics.functional.text import edit_distance as theirs

    stream = torch.Generator().manual_seed(0)
    many = 50 * sizes.pairs  # ours is too fast to be timed over few
    reference = torch.randint(FIRST, FIRST + 10, (many, sizes.response), generator=stream)
    changed = torch.rand(reference.shape, generator=stream) < 0.1
    written = torch.where(changed, torch.randint(FIRST, FIRST + 10, reference.shape, generator=stream), reference)

    def texts(rows: Tensor) -> list[str]:
        return ["".join(chr(48 + token - FIRST) for token in row if token != PAD) for row in rows.tolist()]

    a, b = texts(written[: sizes.pairs]), texts(reference[: sizes.pairs])
    seconds = turns([lambda: edit_distances(written, reference), lambda: theirs(a, b, reduction="none")], sizes.turns)
    ratios = seconds[:, 1] / sizes.pairs / (seconds[:, 0] / many)
    what = f"edit distance of two responses of {sizes.response} tokens"
    return [entry("edit_distance_vs_torchmetrics", what, ratios, "times faster", "torchmetrics EditDistance (aim 100)")]

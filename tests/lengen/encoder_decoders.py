"""Models to test, most of them encoder-decoders: built, trained a little, and decoded as one would write it first."""

import functools

import torch

from lengen import DataSpec, EncoderDecoder, Given, NoEncoding, Spec, TestSpec, TrainSpec
from lengen.data.batch import Batch
from lengen.data.datamodule import ArithmeticData
from lengen.digits.problems import Problems
from lengen.formats.vocab import END, PAD
from lengen.models import Transformer
from lengen.training.build import build_model
from lengen.training.module import response_loss
from tests.lengen.helpers import TEST, TRAIN, fixed_data, scheme, spec

MODEL = {
    "architecture": EncoderDecoder(),
    "encoding": NoEncoding(),
    "norm": "layernorm",
    "final_norm": "layernorm",
    "norm_place": "pre",
    "tied": False,
    "scale_attention": True,
    "activation": "relu",
    "init": "xavier",
    "linear_bias": True,
    "scale_embedding": True,
}
IDS = {"none": "none", "learned": "coupled"}
"""Encoding -> the position ids it is tested with, consecutive where not named."""


def encoder_decoder(data: DataSpec, train: TrainSpec = TRAIN, test: TestSpec = TEST, **model: object) -> Spec:
    """A specification of an encoder-decoder, or of another architecture in its style."""
    return spec(data, train, test, **{**MODEL, **model})


def data_for(encoding: str, task: str = "addition", width: int = 3, **options) -> DataSpec:
    return fixed_data(task, width, **{"position_ids": scheme(IDS.get(encoding, "consecutive")), **options})


def random_bias(bias, seed: int = 0) -> None:
    """Fill a given bias: a third closed, some rows closed entirely, the diagonal of nothing else guaranteed."""
    stream = torch.Generator().manual_seed(seed)
    filled = []
    for held in (bias.own, bias.cross):
        new = torch.randn(held.shape, generator=stream, dtype=held.dtype)
        new[torch.rand(held.shape, generator=stream) < 0.4] = float("-inf")
        new[0, 1] = new[1, -1] = float("-inf")
        filled.append(new)
    bias.set(*filled)


def random_model(spec: Spec, seed: int = 0) -> tuple[Transformer, ArithmeticData]:
    """A random float64 model, its norms and biases changed too, and its data."""
    model = build_model(spec, seed).double().eval()
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))  # no two logits are equal, every part is seen
    if isinstance(spec.model.attention_bias, Given):
        random_bias(model.attention_bias, seed)
    return model, ArithmeticData(spec, seed)


@functools.cache
def trained(sized: Spec, steps: int = 100) -> tuple[Transformer, ArithmeticData]:
    """A model after a second of training: right often, wrong often enough."""
    model, data = build_model(sized, 0), ArithmeticData(sized, 0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=sized.train.lr, betas=(0.9, 0.98), weight_decay=0)
    if isinstance(sized.model.attention_bias, Given):
        random_bias(model.attention_bias)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = sized.train.lr * min(1, (step + 1) / 20) * (1 - step / steps)
        batch = data.batch(step)
        logits = model.predict(Batch(batch.tokens, batch.ids, batch.loss, batch.source))
        loss = response_loss(logits, batch.tokens, batch.loss) / batch.scale
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.double().eval(), data


@torch.no_grad()
def plain_greedy(model: Transformer, data: ArithmeticData, problems: Problems) -> list[list[int]]:
    """The response to each problem, alone, token by token, the whole text read again each time, no answer in sight."""
    responses = []
    for i in range(len(problems.lengths)):
        problem = problems.select(torch.tensor([i]))
        batch = data.writer.write(problem)
        places, ids = batch.loss[0].nonzero()[:, 0].tolist(), batch.ids
        if model.writes_in_order and data.spec.data.position_ids.kind == "consecutive":  # of longer texts, too
            places = range(places[0], places[0] + int(data.writer.plan(problem)[1]))
            ids = torch.arange(places[-1] + 1)[None, None]
        tokens = batch.tokens.masked_fill(batch.loss, PAD)
        tokens = torch.nn.functional.pad(tokens, (0, places[-1] + 1 - tokens.shape[1]))
        loss = torch.arange(tokens.shape[1])[None] >= places[0]
        response: list[int] = []
        for place in places:
            # models are asked for every token but the first, so one more is passed
            so_far = slice(place + 1 if model.writes_in_order else None)
            read = Batch(tokens[:, so_far], ids[:, :, so_far], loss[:, so_far], batch.source)
            best = int(model.predict(read)[0, place - 1].argmax())
            response.append(best)
            if best == END and data.format.ends:
                break
            if model.writes_in_order:
                tokens[0, place] = best
        responses.append(response)
    return responses

"""Greedy decoding as one would write it first: one example, no cache, ids from the slow reference."""

import dataclasses

import torch

from lengen.data.datamodule import ArithmeticData
from lengen.models import Decoder
from lengen.vocab import Vocab
from tests.lengen import reference


def show(vocab: Vocab, tokens: torch.Tensor) -> str:
    """Text of a written row; padding that a poor model writes between other tokens is shown."""
    return "".join(vocab.decode([token]) or "_" for token in tokens.tolist()).rstrip("_")


def greedy(model: Decoder, data: ArithmeticData, operands: list[str]) -> str:
    """The response a model writes, up to its ``$`` or to the length of the padded response, as `show` shows it."""
    setting, vocab = data.spec.data, data.format.vocab
    truth = reference.write(setting, operands)
    most = len([t for t in reference.write(dataclasses.replace(setting, pad=True), operands) if t.target])
    coordinates = [t.coordinates for t in truth if not t.target]
    tokens = vocab.encode("".join(t.character for t in truth if not t.target)).tolist()
    planned = [t.coordinates for t in truth if t.target]
    written = ""
    while True:
        with torch.no_grad():
            tokens.append(int(model(torch.tensor([tokens]), _ids(setting, coordinates))[0, -1].argmax()))
        written += vocab.decode(tokens[-1:]) or "_"
        if written.endswith("$") or len(written) == most:
            return written.rstrip("_")
        coordinates = [*coordinates, planned[len(written) - 1] if setting.pad else _follow(data, written)]


def _follow(data: ArithmeticData, written: str) -> tuple[int | None, ...]:
    """Without padding the text decides: which number is being written, and how many digits of it stand there."""
    numbers = written.split(">") if data.spec.data.scratchpad else [written]
    return (len(numbers[-1]), len(numbers) - 1)[: data.format.levels]


def _ids(setting, coordinates) -> torch.Tensor:
    if setting.position_ids == "none":
        return torch.zeros(0, 1, len(coordinates), dtype=torch.long)
    if setting.position_ids == "consecutive":
        return torch.arange(len(coordinates))[None, None]
    rows = [
        [0 if c[level] is None else min(c[level] + 1, limit) for c in coordinates]
        for level, limit in enumerate(setting.max_position)
    ]
    return torch.tensor(rows)[:, None]

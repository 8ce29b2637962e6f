"""Greedy decoding as one would write it first: one example, no cache, ids from the slow reference."""

import torch

from lengen.data.datamodule import ArithmeticData
from lengen.models import Decoder
from lengen.settings.spec import replace
from tests.lengen import reference


def greedy(model: Decoder, data: ArithmeticData, operands: list[str]) -> list[int]:
    """Tokens that a model writes, up to its ``$`` or to the length of the padded response; no padding on the right."""
    setting, vocab = data.spec.data, data.vocab
    truth = reference.write(setting, operands)
    most = len([t for t in reference.write(padded(setting), operands) if t.target])
    coordinates = [t.coordinates for t in truth if not t.target]
    tokens = vocab.encode("".join(t.character for t in truth if not t.target)).tolist()
    start, planned = len(tokens), [t.coordinates for t in truth if t.target]
    while True:
        with torch.no_grad():
            tokens.append(int(model(torch.tensor([tokens]), _ids(setting, coordinates))[0, -1].argmax()))
        written = "".join(vocab.decode([token]) or "_" for token in tokens[start:])
        if written.endswith("$") or len(written) == most:
            return tokens[start : start + len(written.rstrip("_"))]
        coordinates = [*coordinates, planned[len(written) - 1] if not follows(setting) else _follow(data, written)]


def _follow(data: ArithmeticData, written: str) -> tuple[int | None, ...]:
    """Without padding the text decides: which number is being written, and how many digits of it stand there."""
    setting = data.spec.data
    numbers = written.split(">") if setting.format.scratchpad else [written]
    return (len(numbers[-1]), len(numbers) - 1)[: setting.position_ids.levels or None]


def follows(setting) -> bool:
    """Numbers end where the model ends them."""
    return setting.task.kind == "addition" and not setting.format.pad_response


def padded(setting):
    """The same with room for the longest numbers."""
    if setting.task.kind != "addition":
        return setting
    return replace(setting, format=replace(setting.format, pad_query=True, pad_response=True))


def _ids(setting, coordinates) -> torch.Tensor:
    if setting.position_ids.kind == "none":
        return torch.zeros(0, 1, len(coordinates), dtype=torch.long)
    if setting.position_ids.kind == "consecutive":
        return torch.arange(len(coordinates))[None, None]
    rows = [
        [0 if c[level] is None else min(c[level] + 1, limit) for c in coordinates]
        for level, limit in enumerate(setting.position_ids.max_position)
    ]
    return torch.tensor(rows)[:, None]

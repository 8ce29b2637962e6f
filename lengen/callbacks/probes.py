"""Attention of the last layer on single problems."""

from collections.abc import Sequence

import numpy as np

from lengen.callbacks.measurement import Measurement, Report
from lengen.data.task_data import TaskData
from lengen.digits.problems import problem_texts
from lengen.models import Transformer


class Probes(Measurement):
    """Records the attention of the last layer on problems, each given by its operands; ``arrays`` holds it.

    ``probe0.self`` (heads, T, T) and, beside an encoder, ``probe0.cross`` (heads, T, S): softmax weights of the last
    layer; ``probe0.target`` (T,) and ``probe0.source`` (S,): the tokens. Row t predicts the token after token t, or
    in an encoder-only model token t itself.

    Args:
        problems: Problems, each given by its operands.

    Example:
        >>> import lengen
        >>> measured = lengen.Probes([["01"]])
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> sorted(measured.arrays)
        ['probe0.self', 'probe0.target']
    """

    def __init__(self, problems: Sequence[Sequence[object]]) -> None:
        super().__init__()
        self.problems = problem_texts(problems)

    @property
    def reads_attention(self) -> bool:
        return bool(self.problems)

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        for number, operands in enumerate(self.problems):
            for name, found in attention_of(model, data, operands).items():
                last = found[-1].astype(np.float16) if found.ndim == 4 else found
                self.arrays[f"probe{number}.{name}"] = last


def attention_of(model: Transformer, data: TaskData, operands: list[str]) -> dict[str, np.ndarray]:
    """Return what `Probes` records of a problem, unrounded and of all layers: weights (layers, heads, T, T or S)."""
    batch = data.writer.write(data.task.parse(operands))
    layers = model.attention(batch.to(model.device))
    found = {name: np.stack([layer[name][0].float().cpu().numpy() for layer in layers]) for name in layers[0]}
    tokens = {"target": batch.tokens[0, :-1] if model.writes_in_order else batch.tokens[0]}
    if batch.source is not None:
        tokens["source"] = batch.source.tokens[0]
    return found | {side: np.array([data.vocab.decode([token]) for token in row]) for side, row in tokens.items()}

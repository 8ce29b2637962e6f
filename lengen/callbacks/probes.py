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
    """

    def __init__(self, problems: Sequence[Sequence[object]]) -> None:
        super().__init__()
        self.problems = problem_texts(problems)

    @property
    def reads_attention(self) -> bool:
        return bool(self.problems)

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        for number, operands in enumerate(self.problems):
            layers, tokens = attention_of(model, data, operands)
            found = {name: weights.astype(np.float16) for name, weights in layers[-1].items()} | tokens
            self.arrays |= {f"probe{number}.{name}": array for name, array in found.items()}


def attention_of(
    model: Transformer, data: TaskData, operands: list[str]
) -> tuple[list[dict[str, np.ndarray]], dict[str, np.ndarray]]:
    """Softmax weights of every layer while a model reads one problem and its true response, and the tokens of each
    side: names and shapes are those of `Probes`."""
    batch = data.writer.write(data.task.parse(operands))
    layers = model.attention(batch.to(model.device))
    sides = {"target": batch.tokens[0, :-1] if model.writes_in_order else batch.tokens[0]}
    if batch.source is not None:
        sides["source"] = batch.source.tokens[0]
    return (
        [{name: weights[0].float().cpu().numpy() for name, weights in layer.items()} for layer in layers],
        {side: np.array([data.vocab.decode([token]) for token in row]) for side, row in sides.items()},
    )

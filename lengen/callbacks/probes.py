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
            batch = data.writer.write(data.task.parse(operands))
            for name, weights in model.attention(batch.to(model.device))[-1].items():
                self.arrays[f"probe{number}.{name}"] = weights[0].float().cpu().numpy().astype(np.float16)
            sides = {"target": batch.tokens[0, :-1] if model.writes_in_order else batch.tokens[0]}
            if batch.source is not None:
                sides["source"] = batch.source.tokens[0]
            for name, tokens in sides.items():
                self.arrays[f"probe{number}.{name}"] = np.array([data.vocab.decode([t]) for t in tokens])

"""Measurements of the thesis beyond exact match, as callbacks.

The loss of the answer by length (Figures 4.7, 4.8), the sub-tasks (Figure 4.9), the parts of the scratchpad
(Figure 4.6), answers that leave digits out (Section 4.3.1), the uncertainty of each answer token (Figure 4.3) and
whether attention finds the digits that are added (Figure 4.4). One number per problem is kept, in arrays named
``hits.<name>.<length>`` (0 or 1) and ``values.<name>.<length>``.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from lengen.callbacks import response_losses
from lengen.callbacks.measurement import Measurement, Report
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import go_on, read
from lengen.digits.problems import Problems
from lengen.formats.digit_steps import DigitSteps
from lengen.formats.linear import Linear
from lengen.formats.subtasks import Subtasks
from lengen.models import Transformer
from lengen.results.progress import Progress
from papers.random_spaces.alignment import aligned
from papers.random_spaces.omitted import shortened
from papers.random_spaces.parts import score_parts
from papers.random_spaces.spec import MeasuredSpec
from papers.random_spaces.uncertainty import summary, uncertainty

Arrays = dict[str, np.ndarray]


Asked = Callable[[Transformer, TaskData, int, Problems], Arrays]
"""Measurement on problems of one length: arrays by name."""


class ByLength(Measurement):
    """Measure ``asked`` on problems of each of some lengths: `answers`, `by_place` or `alignments`."""

    def __init__(self, asked: Asked, lengths: Sequence[int], count: int, problems: int) -> None:
        super().__init__()
        self.asked = asked
        self.lengths = lengths
        self.count = count
        self.problems = problems

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        for done, length in enumerate(self.lengths, start=1):
            self.arrays |= self.asked(model, data, length, data.test(length, self.count, self.problems))
            report(Progress("measure", done, len(self.lengths), None, None))


def answers(model: Transformer, data: TaskData, length: int, problems: Problems) -> Arrays:
    """Measure the answer loss, and sub-tasks or parts of the scratchpad if there are any."""
    loss, _ = losses(model, data, problems)
    arrays: Arrays = {f"values.answer_loss.{length}": loss}
    format = data.spec.data.format
    for kind, name in enumerate(format.names if isinstance(format, Subtasks) else ()):
        asked = problems._replace(kinds=torch.full((len(problems.lengths),), kind))
        loss, correct = losses(model, data, asked)
        arrays |= {f"values.loss.{name}.{length}": loss, f"hits.subtask.{name}.{length}": correct}
    if isinstance(format, DigitSteps):
        arrays |= {f"{name}.{length}": value for name, value in parts(model, data, problems).items()}
    if isinstance(format, Linear):
        arrays[f"hits.omitted.{length}"] = omitted(model, data, problems)
    return arrays


def losses(model: Transformer, data: TaskData, problems: Problems) -> tuple[np.ndarray, np.ndarray]:
    """Return nats per answer token of each problem, float32, and whether it is answered greedily as it ought, uint8."""
    found = [response_losses(model, data.writer.write(part)) for part in problems.parts()]
    loss = torch.cat([part.loss.sum(dim=1) / part.sizes for part in found])
    return loss.numpy(), torch.cat([part.correct for part in found]).numpy().astype(np.uint8)


def omitted(model: Transformer, data: TaskData, problems: Problems) -> np.ndarray:
    """Return 1 if the answer that the model writes is the true one without some of its digits, (N,) uint8."""
    found = []
    for part in problems.parts():
        reading = read(model, data.writer, part)
        found.append(shortened(go_on(model, data.writer, part, reading), reading.verified.reference))
    return np.concatenate(found)


def parts(model: Transformer, data: TaskData, problems: Problems) -> Arrays:
    """Score the scratchpads that the model writes by `score_parts`."""
    reading = read(model, data.writer, problems)
    written = go_on(model, data.writer, problems, reading)
    decode = data.vocab.decode
    return score_parts([decode(row) for row in written], [decode(row) for row in reading.verified.reference])


def by_place(model: Transformer, data: TaskData, length: int, problems: Problems) -> Arrays:
    """Return entropy and probabilities by answer place, the end allowed and suppressed.

    See `papers.random_spaces.uncertainty`.
    """
    both = [uncertainty(model, data.writer, problems, suppress_end=suppress) for suppress in (False, True)]
    tables = [summary(found) for found in both]
    own, suppressed = both
    return {
        f"uncertainty.{length}": np.stack([table for table, _ in tables]),
        f"uncertainty_prompts.{length}": np.stack([n for _, n in tables]).astype(np.int32),
        f"values.entropy.{length}": np.nanmean(own.entropy, axis=1).astype(np.float32),
        f"hits.early_end.{length}": own.early.astype(np.uint8),
        f"values.right_digits.{length}": np.nanmean(suppressed.right, axis=1).astype(np.float32),
    }


def alignments(model: Transformer, data: TaskData, length: int, problems: Problems) -> Arrays:
    """Return alignment of the attention, and one map of it: `papers.random_spaces.alignment`."""
    found = aligned(model, data, problems)
    return {
        f"values.alignment.{length}": found.shares,
        f"attention.{length}": found.largest,
        f"attention_tokens.{length}": found.tokens,
    }


def measurements(spec: MeasuredSpec) -> list[Measurement]:
    """Return the measurements in a specification."""
    count, measure = max(spec.test.counts), spec.measure
    return [
        ByLength(answers, spec.test.lengths, count, measure.examples),
        ByLength(by_place, measure.uncertainty, count, measure.prompts),
        ByLength(alignments, measure.alignment, count, measure.prompts),
    ]

"""A run of this paper: train and score as any other, then ask the trained model what the thesis asked.

Beyond exact match: the loss of the answer by length (Figures 4.7, 4.8), the sub-tasks (Figure 4.9), the parts of the
scratchpad (Figure 4.6) and the uncertainty of each answer token (Figure 4.3). One number per problem is kept, in arrays
named ``hits.<name>.<length>`` (0 or 1) and ``values.<name>.<length>``.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from lengen.callbacks import response_losses
from lengen.config import DigitSteps, Subtasks
from lengen.config.spec import Spec
from lengen.data.datamodule import ArithmeticData
from lengen.decoding import verify, write
from lengen.models import Transformer
from lengen.progress import Progress
from lengen.tasks import Problems
from lengen.training.build import load
from lengen.training.run import WEIGHTS, Outcome
from lengen.training.run import execute as train_and_score
from papers.random_spaces.parts import score_parts
from papers.random_spaces.spec import MeasuredSpec
from papers.random_spaces.uncertainty import summary, uncertainty

Arrays = dict[str, np.ndarray]
AT_ONCE = 100
"""Problems of one forward pass."""


def execute(spec: Spec, seed: int, folder: Path, report: Callable[[Progress], None]) -> Outcome:
    """Train and score, resuming, then measure; see `lengen.training.run.execute`."""
    assert isinstance(spec, MeasuredSpec)
    outcome = train_and_score(spec, seed, folder, report)
    model = load(spec, folder / WEIGHTS)
    data = ArithmeticData(spec, seed)
    arrays: Arrays = {}
    for done, length in enumerate(spec.test.lengths, start=1):
        arrays |= measure(model, data, length, spec)
        report(Progress("measure", done, len(spec.test.lengths), None, None))
    for length in spec.measure.uncertainty:
        arrays |= by_place(model, data, length, spec.measure.prompts)
    return dataclasses.replace(outcome, arrays={**outcome.arrays, **arrays})


def measure(model: Transformer, data: ArithmeticData, length: int, spec: MeasuredSpec) -> Arrays:
    """Answer loss of one length, and its sub-tasks or scratchpad parts where there are any."""
    problems = data.test(length, max(spec.test.counts), spec.measure.examples)
    loss, _ = losses(model, data, problems)
    arrays: Arrays = {f"values.answer_loss.{length}": loss}
    format = spec.data.format
    for kind, name in enumerate(format.names if isinstance(format, Subtasks) else ()):
        asked = problems._replace(kinds=torch.full((len(problems.lengths),), kind))
        loss, correct = losses(model, data, asked)
        arrays |= {f"values.loss.{name}.{length}": loss, f"hits.subtask.{name}.{length}": correct}
    if isinstance(format, DigitSteps):
        arrays |= {f"{name}.{length}": value for name, value in parts(model, data, problems).items()}
    return arrays


def losses(model: Transformer, data: ArithmeticData, problems: Problems) -> tuple[np.ndarray, np.ndarray]:
    """Nats per answer token of each problem, float32, and whether it is answered greedily as it should, uint8."""
    found = [
        response_losses(model, data.writer.write(problems.select(index)))
        for index in torch.split(torch.arange(len(problems.lengths)), AT_ONCE)
    ]
    loss = torch.cat([part.loss.sum(dim=1) / part.sizes for part in found])
    return loss.numpy(), torch.cat([part.correct for part in found]).numpy().astype(np.uint8)


def parts(model: Transformer, data: ArithmeticData, problems: Problems) -> Arrays:
    """What `score_parts` says of the scratchpads that the model writes."""
    verified = verify(model, data.writer.write(problems))
    written = write(model, data.writer, problems, verified.agreed, verified.reference)
    decode = data.vocab.decode
    return score_parts([decode(row) for row in written], [decode(row) for row in verified.reference])


def by_place(model: Transformer, data: ArithmeticData, length: int, prompts: int) -> Arrays:
    """Entropy and probabilities by answer place, the end allowed and suppressed: `papers.random_spaces.uncertainty`."""
    problems = data.test(length, max(data.spec.test.counts), prompts)
    both = [uncertainty(model, data.writer, problems, suppress_end=suppress) for suppress in (False, True)]
    tables = [summary(found) for found in both]
    own = both[0]
    return {
        f"uncertainty.{length}": np.stack([table for table, _ in tables]),
        f"uncertainty_prompts.{length}": np.stack([n for _, n in tables]).astype(np.int32),
        f"values.entropy.{length}": np.nanmean(own.entropy, axis=1).astype(np.float32),
        f"hits.early_end.{length}": own.early.astype(np.uint8),
    }

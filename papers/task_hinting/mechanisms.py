"""The mechanisms of Section 4 in the residual stream, and the probes that measure them in a model that sorts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lengen.callbacks.accuracy_grid import Measurement
from lengen.data.batch_and_random_spaces import response_start
from lengen.data.task_data import TaskData
from lengen.digits import Problems
from lengen.formats.base import FIRST
from lengen.model_probing import bases, orthogonality, probe
from lengen.models import Decoder, Transformer
from lengen.results.progress import Progress, Report
from lengen.tasks.sorting import Sorting, successors
from lengen.training.model_building import model_for
from papers.task_hinting.profiles import ProbedSpec

# The projections they are read from, for every layer, stage and position, are `lengen.model_probing`.


class Hits(NamedTuple):
    """Positions that show the mechanisms, and positions that a guess would show.

    A projection is largest among those of the numbers.

    B sequences have I input tokens, and N output tokens that have a larger number in their sequence; of each number
    only its last copy is one of M.
    """

    copy: Tensor
    """(I,) bool: after the first attention layer an input token's largest projection on the encoder basis is itself."""
    copy_throughout: Tensor
    """(I,) bool: after every attention and every MLP."""
    minimum: Tensor
    """(B,) bool: after the first attention layer the delimiter's largest projection on the decoder basis is the minimum
    of the sequence."""
    guessed: Tensor
    """(B,) bool: the minimum is the number 1, so a constant guess of 1 finds it."""
    identity_successor: Tensor
    """(N,) bool: after the second attention layer the two largest projections on the decoder basis are the output token
    and the next larger number of the sequence."""
    denoiser: Tensor
    """(M,) bool: the second MLP lowers the token's projection on itself and leaves the next larger number as the
    largest projection on the decoder basis."""


@torch.no_grad()
def mechanisms(model: Decoder, data: TaskData, problems: Problems) -> Hits:
    """Return the mechanisms of Section 4, on sequences with their true sorted output in context."""
    batch, alphabet = data.writer.write(problems), len(data.vocab) - FIRST - 1
    encoder, decoder = (basis[FIRST : FIRST + alphabet] for basis in bases(model))
    stream = [[half.float().cpu() for half in halves] for halves in model.residuals(batch.to(model.device))]
    sequences, start = problems.operands[:, 0], response_start(batch)

    inside = sequences > 0
    read = torch.stack([half[:, : sequences.shape[1]] @ encoder.T for halves in stream for half in halves])
    copied = (read.argmax(dim=3) + 1 == sequences)[:, inside]  # an input stands at the left, and nothing begins it

    delimiter = (stream[0][0] @ decoder.T)[torch.arange(len(start)), start - 1]
    smallest = sequences.masked_fill(~inside, alphabet + 1).amin(dim=1)

    written = torch.where(batch.loss, batch.tokens - FIRST + 1, 0)
    next = successors(sequences, written)
    followed = batch.loss & (next > written)
    before, after = (half @ decoder.T for half in stream[1])
    two = (before.topk(2, dim=2).indices + 1).sort(dim=2).values[followed]
    wanted = torch.stack([written, next], dim=2)[followed]
    last = followed & (written != written.roll(-1, dims=1))
    place = (written - 1).clamp(min=0)[:, :, None]
    lowered = (after.gather(2, place) < before.gather(2, place))[:, :, 0]
    return Hits(
        copy=copied[0],
        copy_throughout=copied.all(dim=0),
        minimum=delimiter.argmax(dim=1) + 1 == smallest,
        guessed=smallest == 1,
        identity_successor=(two == wanted).all(dim=1),
        denoiser=(lowered & (after.argmax(dim=2) + 1 == next))[last],
    )


class Mechanisms(Measurement):
    """Looks for the mechanisms of Section 4, and records the projections of single sequences.

    Kept are arrays named ``hits.<mechanism>.<length>``, 0 or 1 per example or token
    (`papers.task_hinting.mechanisms.Hits`), ``hits.start_copy.<length>``, which is ``copy`` of the untrained start,
    ``probe<k>.<name>`` (`lengen.model_probing.probe`), and the scalars
    of `lengen.model_probing.orthogonality`, those of the untrained start as ``start_<name>``.

    Args:
        lengths: Tested lengths.
        examples: Sequences of each length on which mechanisms are looked for; 0 looks for none.
        sequences: Sequences whose projections are recorded.
    """

    def __init__(self, lengths: Sequence[int], examples: int, sequences: Sequence[Sequence[str]]) -> None:
        super().__init__()
        self.lengths = lengths if examples else ()
        self.examples = examples
        self.sequences = sequences

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        untrained = model_for(data, data.seed).to(model.device).eval()
        assert isinstance(model, Decoder) and isinstance(untrained, Decoder)
        for done, length in enumerate(self.lengths, start=1):
            parts = list(data.test(length, 1, self.examples).parts())
            hits_of = [mechanisms(model, data, part)._asdict() for part in parts]
            hits_by = {name: [hits[name] for hits in hits_of] for name in Hits._fields}
            hits_by["start_copy"] = [mechanisms(untrained, data, part).copy for part in parts]
            for name, flags in hits_by.items():
                self.arrays[f"hits.{name}.{length}"] = torch.cat(flags).numpy().astype(np.uint8)
            report(Progress("measure", done, len(self.lengths), None, None))
        for number, sequence in enumerate(self.sequences):
            recorded = probe(model, data, list(sequence))
            self.arrays |= {f"probe{number}.{name}": value for name, value in recorded.items()}
        task = data.spec.data.task
        assert isinstance(task, Sorting)
        self.scalars = orthogonality(bases(model), task.alphabet)
        start = orthogonality(bases(untrained), task.alphabet)
        self.scalars |= {f"start_{name}": value for name, value in start.items()}


def measurements(spec: ProbedSpec) -> list[Measurement]:
    """Return the probes in a specification."""
    probe = spec.probe
    wanted = probe.examples or probe.sequences
    return [Mechanisms(spec.test.lengths, probe.examples, probe.sequences)] if wanted else []

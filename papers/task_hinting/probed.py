"""Section 4's probes of the residual stream of a model that sorts, as a callback."""

from collections.abc import Sequence

import numpy as np
import torch

from lengen.callbacks.measurement import Measurement, Report
from lengen.data.task_data import TaskData
from lengen.models import Decoder, Transformer
from lengen.results.progress import Progress
from lengen.tasks.sorting import Sorting
from lengen.training.build import model_for
from papers.task_hinting.probing import Hits, bases, mechanisms, orthogonality, probe
from papers.task_hinting.spec import ProbedSpec


class Mechanisms(Measurement):
    """Looks for the mechanisms of Section 4, and records the projections of single sequences.

    Kept are arrays named ``hits.<mechanism>.<length>``, 0 or 1 per example or token
    (`papers.task_hinting.probing.Hits`), ``hits.start_copy.<length>``, which is ``copy`` of the untrained start,
    ``probe<k>.<name>`` (`lengen.decoding.projections.probe`), and the scalars
    of `lengen.decoding.projections.orthogonality`, those of the untrained start as ``start_<name>``.

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
            found = {name: [hits[name] for hits in hits_of] for name in Hits._fields}
            found["start_copy"] = [mechanisms(untrained, data, part).copy for part in parts]
            for name, some in found.items():
                self.arrays[f"hits.{name}.{length}"] = torch.cat(some).numpy().astype(np.uint8)
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
    asked = probe.examples or probe.sequences
    return [Mechanisms(spec.test.lengths, probe.examples, probe.sequences)] if asked else []

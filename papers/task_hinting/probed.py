"""A run of this paper: train and score as any other, then probe the trained model as Section 4 does.

Kept are arrays named ``hits.minimum.<length>`` and ``hits.identity_successor.<length>``, 0 or 1 per example or token
(`papers.task_hinting.probing.mechanisms`), ``probe<k>.<name>`` (`lengen.inspection.projections.probe`), and the scalars
of `lengen.inspection.projections.orthogonality`.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from lengen.config import Sorting
from lengen.config.spec import Spec
from lengen.data.datamodule import ArithmeticData
from lengen.models import Decoder
from lengen.progress import Progress
from lengen.training.build import load
from lengen.training.run import WEIGHTS, Outcome
from lengen.training.run import execute as train_and_score
from papers.task_hinting.probing import bases, mechanisms, orthogonality, probe
from papers.task_hinting.spec import ProbedSpec

AT_ONCE = 100
"""Sequences of one forward pass."""


def execute(spec: Spec, seed: int, folder: Path, report: Callable[[Progress], None]) -> Outcome:
    """Train and score, resuming, then probe; see `lengen.training.run.execute`."""
    assert isinstance(spec, ProbedSpec)
    outcome = train_and_score(spec, seed, folder, report)
    if not spec.probe.examples and not spec.probe.sequences:
        return outcome
    model = load(spec, folder / WEIGHTS)
    assert isinstance(model, Decoder)
    data = ArithmeticData(spec, seed)
    arrays: dict[str, np.ndarray] = {}
    for done, length in enumerate(spec.test.lengths if spec.probe.examples else (), start=1):
        problems = data.test(length, 1, spec.probe.examples)
        parts = [
            mechanisms(model, data, problems.select(index))
            for index in torch.split(torch.arange(len(problems.lengths)), AT_ONCE)
        ]
        for name, found in zip(("minimum", "identity_successor"), zip(*parts, strict=True), strict=True):
            arrays[f"hits.{name}.{length}"] = torch.cat(found).numpy().astype(np.uint8)
        report(Progress("measure", done, len(spec.test.lengths), None, None))
    for number, sequence in enumerate(spec.probe.sequences):
        recorded = probe(model, data, list(sequence))
        arrays |= {f"probe{number}.{name}": value for name, value in recorded.items()}
    assert isinstance(spec.data.task, Sorting)
    scalars = {**outcome.info["scalars"], **orthogonality(bases(model), spec.data.task.alphabet)}
    return dataclasses.replace(outcome, info={**outcome.info, "scalars": scalars}, arrays={**outcome.arrays, **arrays})

"""One run from specification to records: build, train (resuming), measure.

The body of `execute` is the list of stages. What it leaves in its folder is what survives a kill: metrics.csv,
last.ckpt, partial scores, and at the end the weights. Records are returned; the results store writes them.
"""

import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning import Callback, Trainer
from safetensors.torch import save_model

from lengen.callbacks import CHECKPOINT, AttentionRecord, EarlyStop, MetricsFile, Probes, ResumePoint, Scores, Track
from lengen.callbacks.training import VALIDATION
from lengen.config.spec import Spec
from lengen.data.datamodule import ArithmeticData
from lengen.models import Transformer
from lengen.progress import Progress
from lengen.records import AttentionMap, Grid, KeyCount
from lengen.training.build import build_model
from lengen.training.module import SequenceModule

WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Outcome:
    """What a run measured, and how it went."""

    grid: Grid
    key_counts: list[KeyCount]
    attention: AttentionMap | None
    info: dict[str, Any]
    """device, dtype, threads, parameters, seconds_training, seconds_measuring, tokens_per_second, scalars."""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    """Named arrays that a paper's own figures draw."""


def execute(
    spec: Spec,
    seed: int,
    folder: Path,
    report: Callable[[Progress], None],
    prepare: Callable[[Transformer], None] = lambda model: None,
) -> Outcome:
    """Train and measure one specification; call again after a kill and it goes on from the last checkpoint.

    ``prepare`` is given the untrained model, to set what is not trained (a fixed bias).

    Resumed or not, a run ends with bit-equal weights on the same machine and number of threads: batches are a
    function of (seed, step), and checkpoints lie at evaluation boundaries only.
    """
    data = ArithmeticData(spec, seed)
    # Cells beyond the largest position id, and results without room for a carry, are refused now, not after training.
    data.writer.write(data.test(max(spec.test.lengths), max(spec.test.counts), spec.test.examples))
    for count in spec.test.counts:  # the more repeats, the fewer numbers an alphabet has to have
        data.test(max(spec.test.lengths), count, 1)
    model = build_model(spec, seed)
    prepare(model)
    module = SequenceModule(spec, model, seed)
    clock = _Clock()
    scores = Scores(spec, folder, report)
    attention = AttentionRecord(spec, report)
    every = max(1, spec.train.steps // 100)
    metrics = MetricsFile(folder, every, report, [hint.name for hint in spec.data.hints])
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)  # no banners: hardware found, tips
    probes = Probes(spec)
    stop = EarlyStop(spec.train, folder)
    track = Track(spec, folder)
    trainer = build_trainer(spec, [metrics, track, stop, ResumePoint(folder), clock, scores, attention, probes])
    checkpoint = folder / CHECKPOINT
    if spec.train.compile:
        module.model.compile()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        trainer.fit(module, data, ckpt_path=checkpoint if checkpoint.exists() else None, weights_only=True)
    save_model(module.model, str(folder / WEIGHTS))
    return Outcome(
        scores.grid,
        attention.key_counts,
        attention.map,
        {
            "device": trainer.accelerator.__class__.__name__.removesuffix("Accelerator").lower(),
            "dtype": spec.train.precision,
            "threads": torch.get_num_threads(),
            "parameters": sum(parameter.numel() for parameter in module.model.parameters()),
            "seconds_training": round(clock.training, 1),
            "seconds_measuring": round(time.monotonic() - clock.trained_at, 1),
            "seconds_per_step": clock.training / clock.steps if clock.steps else 0.0,
            "tokens_per_second": round(clock.tokens / clock.training) if clock.training else 0,
            "scalars": {} if metrics.accuracy is None else _scalars(data, metrics.accuracy, trainer.global_step),
        },
        probes.arrays,
    )


def _scalars(data: ArithmeticData, accuracy: float, steps: int) -> dict[str, float]:
    """Validation exact match and steps, with auxiliary tasks also the steps of the main one."""
    scalars = {VALIDATION: accuracy, "steps": steps}
    return {**scalars, "main_steps": data.main_steps(steps)} if data.spec.data.hints else scalars


def build_trainer(spec: Spec, callbacks: list[Callback]) -> Trainer:
    """The Trainer of every run: only what our callbacks do is on."""
    gpu = torch.cuda.is_available()
    return Trainer(
        accelerator="gpu" if gpu else "cpu",
        devices=1,
        precision=spec.train.precision,  # type: ignore[arg-type]
        max_steps=spec.train.steps,
        max_epochs=-1,
        gradient_clip_val=spec.train.clip,
        reload_dataloaders_every_n_epochs=1,
        callbacks=callbacks,
        # Everything Lightning would print, log or save by itself is off: our callbacks do it once.
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        logger=False,
        num_sanity_val_steps=0,
        barebones=False,
        deterministic="warn" if gpu else True,
    )


class _Clock(Callback):
    """Seconds of training in this process, and the tokens they trained on."""

    def __init__(self) -> None:
        self.training = 0.0
        self.tokens = 0
        self.steps = 0
        self.trained_at = time.monotonic()

    def on_train_start(self, trainer: Trainer, pl_module: object) -> None:
        self._started = time.monotonic()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: object, outputs: object, batch: object, batch_idx: int
    ) -> None:
        self.tokens += batch.tokens.numel()  # type: ignore[attr-defined]
        self.steps += 1

    def on_train_end(self, trainer: Trainer, pl_module: object) -> None:
        self.trained_at = time.monotonic()
        self.training = self.trained_at - self._started

"""Training speed: Lightning's Trainer as `lengen.training.run` builds it against a bare loop, in turns."""

import tempfile
from pathlib import Path
from time import process_time as clock
from typing import Any

import torch
from lightning import Callback
from lightning.fabric.utilities.apply_func import move_data_to_device
from torch.nn.utils import clip_grad_norm_

from benchmarks import speed
from benchmarks.speed import Sizes
from benchmarks.timing import Entry, entry, fixed
from lengen.callbacks.loggers import MetricsLogger
from lengen.callbacks.monitoring import TrainingLoss
from lengen.callbacks.resuming import ResumePoint
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.datamodule import ArithmeticData
from lengen.settings.spec import Spec
from lengen.training.model_building import build_model
from lengen.training.module import SequenceModule, build_optimizer
from lengen.training.run import build_trainer


class BareLoop:
    """The same model, data and optimizer as a `SequenceModule`, without Lightning."""

    def __init__(self, spec: Spec, device: torch.device) -> None:
        self.spec = spec
        self.module = SequenceModule(spec, build_model(spec, 0)).to(device)
        self.data = ArithmeticData(spec, 0)
        self.optimizer, self.schedule = build_optimizer(self.module.model, spec.train)
        self.drawing = 0.0

    def step(self, number: int) -> None:
        """One optimizer step; the time spent on its batch is added to ``drawing``."""
        start = clock()
        drawn = self.data.batch(number)
        self.drawing += clock() - start
        self.train_on(drawn, number)

    def train_on(self, drawn: Batch, number: int = 0) -> None:
        """One optimizer step on a batch."""
        batch = move_data_to_device(drawn, self.module.device)
        self.optimizer.zero_grad()
        self.module.training_step(batch, number).backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.module.parameters(), self.spec.train.clip)
        self.optimizer.step()
        self.schedule.step()


class Segments(Callback):
    """Times the Trainer over segments of steps, and after each one the bare loop over the same batches."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.size = spec.train.bucket
        self.trainer_seconds: list[float] = []
        self.bare_seconds: list[float] = []
        self.drawing_seconds: list[float] = []
        """Of the bare loop's, those in which batches were drawn."""

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.bare = BareLoop(self.spec, pl_module.device)
        self.start = clock()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        step = trainer.global_step
        if step % self.size:
            return
        between, drawn = clock(), self.bare.drawing
        for number in range(step - self.size, step):
            self.bare.step(number)
        end = clock()
        self.trainer_seconds.append(between - self.start)
        self.bare_seconds.append(end - between)
        self.drawing_seconds.append(self.bare.drawing - drawn)
        self.start = clock()


def in_turns(spec: Spec, sizes: Sizes) -> Segments:
    """The Trainer and the bare loop over the same batches, measured."""
    spec = spec.override(f"train.steps={sizes.segments * spec.train.bucket}")
    segments = Segments(spec)
    with tempfile.TemporaryDirectory() as folder:
        loss = TrainingLoss(25)  # as often as in a run of 2,500 steps
        trainer = build_trainer(spec, [loss, ResumePoint(Path(folder)), segments], [MetricsLogger(Path(folder))])
        trainer.fit(SequenceModule(spec, build_model(spec, 0)), ArithmeticData(spec, 0))
    return segments


def trainer_vs_bare_loop(name: str, segments: Segments) -> Entry:
    """Median over the segments but the first."""
    ratios = [bare / full for bare, full in zip(segments.bare_seconds[1:], segments.trainer_seconds[1:], strict=True)]
    return entry(
        name,
        f"training tokens/s: {_described(segments.spec)}",
        ratios,
        "of its speed",
        "a bare loop over the same model, data and optimizer (aim 0.95)",
    )


def training(sizes: Sizes) -> list[Entry]:
    """The Trainer against the bare loop, decoder-only and beside an encoder; the data's share, and the model's size."""
    segments, beside = in_turns(speed.SPEC, sizes), in_turns(speed.ENCODER_DECODER, sizes)
    what = _described(segments.spec)
    return [
        trainer_vs_bare_loop("trainer_vs_bare_loop", segments),
        trainer_vs_bare_loop("encoder_decoder_trainer_vs_bare_loop", beside),
        entry(
            "data_share_of_step",
            f"time spent on drawing the batch: {what}",
            [drawing / bare for drawing, bare in zip(segments.drawing_seconds, segments.bare_seconds, strict=True)],
            "of a step",
            "the whole step of the bare loop",
        ),
        fixed(
            "parameters",
            f"trained numbers of the model measured here: {what}",
            sum(p.numel() for p in segments.bare.module.model.parameters()),
            "parameters",
        ),
    ]


def _described(spec: Spec) -> str:
    model, data = spec.model, spec.data
    problems = f"S_A({data.task.longest},{data.task.most})"
    if width := data.format.width:
        problems += f" padded to {width}, encoder-decoder"
    return f"{model.layers} layer, {model.heads} heads, width {model.width}, batch {spec.train.batch}, {problems}"

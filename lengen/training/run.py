"""One run from specification to records: build, train (resuming), measure.

The body of `execute` is the list of stages. What it leaves in its folder is what survives a kill: metrics.csv,
last.ckpt, partial scores, and at the end the weights. Records are returned; the results store writes them.
"""

import ctypes
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import torch
from lightning import Callback, Trainer
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from safetensors.torch import save_model

from lengen.callbacks.accuracy_grid import AccuracyGrid, Measurement
from lengen.callbacks.attention_maps_and_probes import AttentionMaps, Probes
from lengen.callbacks.blind_baseline import Chance
from lengen.callbacks.curves_by_length import LearningCurves
from lengen.callbacks.loggers import METRICS, VALIDATION, Loggers, MetricsLogger, read_metrics
from lengen.callbacks.monitoring import Clock, StopWhenGood, TrainingLoss, added, between_readings, device_name
from lengen.callbacks.resuming import CHECKPOINT, ResumePoint, checked
from lengen.callbacks.unequal_lengths import OperandLengths
from lengen.data.datamodule import ArithmeticData
from lengen.data.task_data import TaskData
from lengen.models import Transformer
from lengen.part import SettingError
from lengen.results.progress import Report
from lengen.results.records import AttentionMap, Grid, KeyCount
from lengen.settings.spec import Spec, declared
from lengen.training.compilation import ChosenKernels
from lengen.training.model_building import SMALL, model_for, one_is_best
from lengen.training.module import SequenceModule

LARGEST_KEPT = 32 << 20
"""Bytes; glibc accepts no higher bound for what it takes from the heap."""
TRIM, PADDING, MAPPED = -1, -2, -3
"""Numbers of glibc's M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD."""


def keep_freed_memory() -> bool:
    """Let the C library hand freed blocks out again instead of returning them to the system; False if it cannot.

    A page that is asked for anew is faulted in and cleared, which for tensors of some megabytes costs more than the
    arithmetic on them: 5,000 faults and an eighth of a training step at 3,000 tokens of width 128, up to ten times
    that on virtual machines. The process stays as large as it ever was.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return False
    wanted = ((MAPPED, LARGEST_KEPT), (TRIM, 2**31 - 1), (PADDING, 256 << 20))
    return sum(bool(mallopt(number, value)) for number, value in wanted) == len(wanted)


WEIGHTS = "model.safetensors"
Value = TypeVar("Value")


@dataclass(frozen=True)
class Outcome:
    """Measurements and course of a run."""

    grid: Grid
    key_counts: list[KeyCount]
    attention: AttentionMap | None
    info: dict[str, Any]
    """device, steps_on (`lengen.callbacks.monitoring`), dtype, threads, parameters, seconds_training,
    seconds_measuring, tokens_per_second, scalars; of an addition operand_lengths (`lengen.callbacks.unequal_lengths`);
    of a training that taught nothing never_left_chance (`lengen.callbacks.blind_baseline`)."""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    """Named arrays that a paper's own figures draw."""


def execute(
    spec: Spec, seed: int, folder: Path, report: Report, prepare: Callable[[Transformer], None] | None = None,
    loggers: Loggers = (),
) -> Outcome:  # fmt: skip
    """Train and measure one specification.

    Call again after a kill and it goes on from the last checkpoint, after Ctrl-C or SIGTERM from the last step.

    ``prepare`` is given the untrained model, to set what is not trained (a fixed bias), and a setting that needs it is
    refused without; ``loggers`` get what metrics.csv gets, and the learning rate.

    Resumed or not, a run ends with bit-equal weights on the same processor and number of threads: batches are a
    function of (seed, step). On a GPU the backward pass of attention rounds differently each time.

    Args:
        spec: The setting.
        seed: Decides initial weights and problems.
        folder: Where checkpoints, losses and weights are written; a training that was killed goes on from there.
        report: Is told how far the run is.
        prepare: Changes the untrained model, if it is given.
        loggers: Further loggers of the Trainer.

    Returns:
        Measurements and course of the run.

    Raises:
        SettingError: A setting that cannot be.

    Example:
        >>> import lengen
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> spec = lengen.setting("copy", digits=2, steps=2, batch=4, lengths=(2,), **{"test.examples": 4})
        >>> with TemporaryDirectory() as folder:
        ...     outcome = lengen.execute(spec, 0, Path(folder), report=lambda progress: None)
        >>> outcome.grid.total([(2,)], "teacher_forced")["n"]
        4
    """
    data = ArithmeticData(spec, seed)
    data.data.check_all()
    if prepare is None:
        check_bias(spec)
    module = SequenceModule(spec, model_for(data.data, seed), seed)
    if prepare is not None:
        prepare(module.model)
    keep_freed_memory()
    kernels, clock = ChosenKernels(folder, report), Clock()
    measured = measurements(spec, folder)
    callbacks = [clock, kernels, *training_callbacks(spec, folder, report), *measured]
    threads = 1 if one_is_best(module, SMALL) else torch.get_num_threads()
    trainer = build_trainer(spec, callbacks, [MetricsLogger(folder), *loggers])
    train(trainer, module, data, folder / CHECKPOINT)
    save_model(module.model, str(folder / WEIGHTS))
    (folder / WEIGHTS).chmod(0o644)  # safetensors lets its owner alone read them
    scalars = validated(data.data, folder, trainer.global_step) | merged(part.scalars for part in measured)
    info = costs(spec, trainer, module.model, clock, threads)
    if kernels.choice is not None:
        info["kernels"] = msgspec.to_builtins(kernels.choice)
    info |= {"scalars": scalars} | merged(part.info for part in measured)
    arrays = merged(part.arrays for part in measured)
    scores, attention, *_ = measured
    return Outcome(scores.grid, attention.key_counts, attention.map, info, arrays)


def check_bias(spec: Spec) -> None:
    """Raise `SettingError` for a bias that has to be set before the training, where nothing sets it."""
    bias = spec.model.attention_bias
    if bias is not None and bias.SET:
        raise SettingError(
            f"model.architecture.attention_bias={bias.kind}: nothing sets this bias before the training of this "
            f"setting, and unset it closes nothing; choose an experiment that calibrates it"
        )


def training_callbacks(spec: Spec, folder: Path, report: Report) -> list[Callback]:
    """Return the callbacks of a training.

    They are losses, curves, early stopping, and the checkpoint, which has all their states.
    """
    test, train = spec.test, spec.train
    hints, checkpoint = [hint.name for hint in spec.data.hints], folder / CHECKPOINT
    loss = TrainingLoss(between_readings(train.steps), report, hints, checkpoint)
    curves = LearningCurves(test.lengths, (max(test.counts),), test.track)
    return [loss, curves, StopWhenGood(train.stop_at, train.patience), ResumePoint(folder)]


def measurements(spec: Spec, folder: Path | None) -> tuple[AccuracyGrid, AttentionMaps, *tuple[Measurement, ...]]:
    """Return the measurements of a trained model: those of the test section, and what a paper declares for a setting.

    Scores are kept in the folder.
    """
    test, declared_by = spec.test, declared(spec, "measurements")
    scores = AccuracyGrid(
        test.lengths, test.counts, test.examples, free_running=test.free_running, sampled=test.sampled, folder=folder
    )
    attention = AttentionMaps(test.attention, test.attention_examples)
    special = () if declared_by is None else declared_by(spec)
    return scores, attention, Probes(test.probes), OperandLengths(), Chance(), *special


def merged(parts: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    """Return the entries of several dictionaries in one."""
    return {name: value for part in parts for name, value in part.items()}


def build_trainer(
    spec: Spec, callbacks: Sequence[Callback], loggers: Loggers = (), *, progress: bool = False
) -> Trainer:
    """Return the Trainer of every run: only what our callbacks and loggers do is on, and Lightning's bar if wanted.

    Args:
        spec: The setting: its steps, evaluations, precision and clipping.
        callbacks: Of the Trainer.
        loggers: Of the Trainer.
        progress: Show Lightning's bar.

    Example:
        >>> import lengen
        >>> trainer = lengen.build_trainer(lengen.setting("copy", steps=9), callbacks=[])
        >>> trainer.max_steps
        9
    """
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)  # no banners: hardware found, tips
    gpu = torch.cuda.is_available()
    # `deterministic` would fill every new tensor, with a kernel of its own.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return Trainer(
        accelerator="gpu" if gpu else "cpu",
        devices=1,
        plugins=LightningEnvironment(),  # one process, wherever it runs: on Slurm Lightning would requeue by itself
        precision="32-true" if spec.train.precision == "bf16-products" else spec.train.precision,
        max_steps=spec.train.steps,
        max_epochs=-1,
        gradient_clip_val=spec.train.clip,
        callbacks=list(callbacks),
        logger=list(loggers),
        log_every_n_steps=0,  # TrainingLoss decides
        # Everything Lightning would print or save by itself is off: our callbacks do it once.
        enable_progress_bar=progress,
        enable_model_summary=False,
        enable_checkpointing=False,
        num_sanity_val_steps=0,
        barebones=False,
        deterministic="warn" if gpu else True,
    )


def train(trainer: Trainer, module: SequenceModule, data: ArithmeticData, checkpoint: Path) -> None:
    """Train from the checkpoint on, if there is one, and let the callbacks measure.

    Raises `CheckpointError` for one that is damaged or foreign.
    """
    if checkpoint.exists():
        checked(checkpoint)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        trainer.fit(module, data, ckpt_path=checkpoint if checkpoint.exists() else None, weights_only=True)


def validated(data: TaskData, folder: Path, steps: int) -> dict[str, float]:
    """Return the newest validation exact match and steps, with auxiliary tasks also the steps of the main one."""
    values = [value for _, name, value in read_metrics(folder / METRICS) if name == VALIDATION]
    if not values:
        return {}
    scalars = {VALIDATION: values[-1], "steps": steps}
    return {**scalars, "main_steps": data.main_steps(steps)} if data.spec.data.hints else scalars


def costs(spec: Spec, trainer: Trainer, model: Transformer, clock: Clock, threads: int) -> dict[str, Any]:
    """Return the time and machine of a run."""
    return {
        "steps_on": added(clock.steps_on, {device_name(trainer.strategy.root_device): 0}),
        "device": trainer.accelerator.__class__.__name__.removesuffix("Accelerator").lower(),
        "dtype": spec.train.precision,
        "threads": threads,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds_training": round(clock.training, 1),
        "seconds_measuring": round(clock.measuring, 1),
        "seconds_per_step": clock.training / clock.steps if clock.steps else 0.0,
        "tokens_per_second": round(clock.tokens / clock.training) if clock.training else 0,
    }

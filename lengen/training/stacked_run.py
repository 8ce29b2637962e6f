"""Runs of several seeds of one setting, trained together: what `lengen.training.run` does for one seed.

Each member leaves in its own folder what a run of its own leaves there: metrics.csv, partial scores, the weights. Its
checkpoint is ``stacked.ckpt``, written after every evaluation, so a killed stack goes on from its last evaluation; a
member that was killed before the others wrote theirs catches up first.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from lightning import Trainer
from safetensors.torch import save_model
from torch import Tensor

from lengen.callbacks import CHECKPOINT, METRICS, VALIDATION, Clock, LearningCurves
from lengen.callbacks.accuracy_grid import PARTIAL
from lengen.callbacks.checkpoint import checked
from lengen.callbacks.metrics_logger import append_metric, read_metrics, write_metrics
from lengen.callbacks.training_loss import between_readings, is_read, loss_names
from lengen.config.part import SettingError
from lengen.config.spec import Spec
from lengen.data.datamodule import ArithmeticData
from lengen.decoding import verify
from lengen.divergence import diverged, usable
from lengen.metrics import ExactMatch
from lengen.progress import Progress
from lengen.training.build import model_for
from lengen.training.cuda_graph import MULTIPLE, CudaGraphs, GraphedStep
from lengen.training.module import SequenceModule
from lengen.training.run import WEIGHTS, Measured, Outcome, build_trainer, costs, refuse_early, validated
from lengen.training.stackable import obstacle
from lengen.training.stacked import Stack, stacked_batches
from lengen.whole_files import save_whole

STACKED_CHECKPOINT = "stacked.ckpt"
WORKERS = 4
"""Processes that draw batches for a GPU."""


def execute_stacked(
    spec: Spec, seeds: Sequence[int], folders: Sequence[Path], reports: Sequence[Callable[[Progress], None]]
) -> list[Outcome]:
    """Train the seeds as one program and measure each; call again after a kill and it goes on.

    The outcomes are those of `lengen.training.run.execute` to rounding, and ``info["stacked"]`` tells how many seeds
    were trained together. A stack is not compiled; on a GPU its steps are CUDA graphs.

    Raises:
        SettingError: a setting that does not stack.
        DivergedError: the loss of one member is no number any more.
    """
    if reason := obstacle(spec):
        raise SettingError(f"this setting does not stack, because {reason}; train its seeds one by one")
    trainer = build_trainer(spec, [])  # knows the device and the precision; its loop is not used
    members = [_Member(spec, *one, trainer) for one in zip(seeds, folders, reports, strict=True)]
    refuse_early(members[0].data.data)
    for until in [*sorted({member.step for member in members})[1:], spec.train.steps]:
        if behind := [member for member in members if member.step < until]:
            _train(behind, until, trainer)
    return [member.outcome() for member in members]


class _Member:
    """One seed of a stack: its data, its module, and its folder."""

    def __init__(
        self, spec: Spec, seed: int, folder: Path, report: Callable[[Progress], None], trainer: Trainer
    ) -> None:
        self.spec, self.seed, self.folder, self.report, self.trainer = spec, seed, folder, report, trainer
        self.data = ArithmeticData(spec, seed)
        module = SequenceModule(spec, model_for(self.data.data, seed), seed)
        self.module: SequenceModule = trainer.precision_plugin.convert_module(module)  # type: ignore[assignment]
        self.module.to(trainer.strategy.root_device)
        self.validation = self.data.validation()
        test = spec.test
        self.curves = LearningCurves(test.lengths, max(test.counts), test.track)
        self.clock = Clock()
        self.losses = loss_names(hint.name for hint in spec.data.hints)
        self.step, self.stacked = 0, 0
        self.averages: dict[str, dict[str, Tensor]] = {}
        self.accuracy: float | None = None
        self._resume()

    def _resume(self) -> None:
        """Take up the checkpoint, if there is one; a run of its own that was begun here starts over."""
        path, other = self.folder / STACKED_CHECKPOINT, self.folder / CHECKPOINT
        if other.exists() or not path.exists():
            for name in (CHECKPOINT, STACKED_CHECKPOINT, PARTIAL):
                (self.folder / name).unlink(missing_ok=True)
            write_metrics(self.folder / METRICS, [])
            return
        kept = checked(path, ("weights", "averages", "step", "stacked", "accuracy", "clock", "metrics"))
        self.module.load_state_dict(kept["weights"])
        self.averages = kept["averages"]
        self.step, self.stacked, self.accuracy = kept["step"], kept["stacked"], kept["accuracy"]
        self.clock.load_state_dict(kept["clock"])
        write_metrics(self.folder / METRICS, kept["metrics"])

    def saved(self, averages: dict[str, dict[str, Tensor]]) -> dict[str, Any]:
        """The checkpoint: everything that an uninterrupted training would have now."""
        return {
            "step": self.step,
            "stacked": self.stacked,
            "accuracy": self.accuracy,
            "clock": self.clock.state_dict(),
            "weights": {name: value.clone() for name, value in self.module.state_dict().items()},  # not the whole stack
            "averages": averages,
            "metrics": read_metrics(self.folder / METRICS),
        }

    def save(self, averages: dict[str, dict[str, Tensor]]) -> None:
        """Write the checkpoint; weights that are not finite are never written."""
        path = self.folder / STACKED_CHECKPOINT
        if not all(bool(parameter.isfinite().all()) for parameter in self.module.parameters()):
            raise diverged(f"weights of seed {self.seed} at step {self.step} are not finite", path)
        save_whole(path, lambda temporary: torch.save(self.saved(averages), temporary))

    def told(self, loss: float, output: int) -> None:
        """Note a loss; raises `DivergedError` where it is no number, or exploded."""
        if not usable(loss):
            what = f"the loss of seed {self.seed} at step {self.step} is {loss}"
            raise diverged(what, self.folder / STACKED_CHECKPOINT)
        append_metric(self.folder / METRICS, self.step, self.losses[output], loss)
        self.report(Progress("train", self.step, self.spec.train.steps, loss, self.accuracy))

    @torch.no_grad()
    def evaluate(self) -> None:
        """Validation exact match and the learning curves, into metrics.csv."""
        self.module.eval()
        exact = ExactMatch()
        with self.trainer.precision_plugin.val_step_context():
            verified = verify(self.module.model, self.validation)
            exact.update(verified.predicted, verified.reference)
        self.accuracy = float(exact.compute())
        for name, value in [(VALIDATION, self.accuracy), *self.curves.points(self.module.model, self.data.data)]:
            append_metric(self.folder / METRICS, self.step, name, value)
        self.module.train()

    @torch.no_grad()
    def outcome(self) -> Outcome:
        """Measure the trained model, and leave its weights."""
        model = self.module.model.eval()
        save_model(model, str(self.folder / WEIGHTS))
        self.clock.start()
        measured = Measured(self.spec, self.folder)
        for callback in measured.callbacks:
            callback.measure(model, self.data.data, self.report)
        scalars = {**validated(self.data.data, self.folder, self.step), **measured.scalars}
        info = {**costs(self.spec, self.trainer, model, self.clock), "scalars": scalars, "stacked": self.stacked}
        return measured.outcome(info)


def train_graphs(spec: Spec) -> bool:
    """Whether a step can be one CUDA graph: no tensor may be made of Python numbers in it, as a recurrent model with
    coordinates does."""
    return spec.model.inject != "coordinates"


def _train(members: Sequence[_Member], until: int, trainer: Trainer) -> None:
    """Train members that are at one step up to another one; evaluate and write checkpoints on the way.

    A member's seconds are its part of the stack's, so those of all runs add up to what the machine spent.
    """
    first, train = members[0].step, members[0].spec.train
    device, precision = trainer.strategy.root_device, trainer.precision_plugin
    graphed = device.type == "cuda" and train_graphs(members[0].spec)
    stack = Stack([member.module for member in members], train, capturable=graphed)
    stack.restore([member.averages for member in members])
    take: Callable[..., Tensor] = GraphedStep(stack.step, CudaGraphs()) if graphed else stack.step
    segment, every = members[0].data.segment(), between_readings(train.steps)
    for member in members:
        member.stacked = len(members)
        member.clock.start()
    multiple = MULTIPLE if graphed and members[0].spec.model.attention_bias is None else 1  # a fixed bias has a size
    workers = min(WORKERS, os.cpu_count() or 1) if device.type == "cuda" else 0
    batches = stacked_batches([member.data.data for member in members], first, until, multiple, workers)
    for done, drawn in enumerate(batches, start=first + 1):
        batch = precision.convert_input(trainer.strategy.batch_to_device(drawn, device))
        stack.begin(done - 1)
        with precision.train_step_context():
            losses = take(batch)
        for member in members:
            member.step = done
            member.clock.step(drawn.tokens[0].numel())
        if is_read(done, every, len(members[0].losses), train.steps):
            for member, loss in zip(members, losses.tolist(), strict=True):
                member.told(loss, batch.output)
        if done % segment == 0 or done == train.steps:
            for member in members:
                member.evaluate()
            for member in members:
                member.clock.stop(len(members))
            for number, member in enumerate(members):
                member.save(stack.state(number))
    stack.release()
    for number, member in enumerate(members):
        member.averages = stack.state(number)

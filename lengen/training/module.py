"""The LightningModule of every experiment: prediction of the response's tokens, optimizer, learning rate."""

import math
from functools import cached_property
from typing import Any

import torch
from lightning import LightningModule
from lightning.pytorch.utilities import CombinedLoader
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from lengen.callbacks.accuracy_grid import cell_name, model_of
from lengen.callbacks.loggers import LEARNING_RATE, VALIDATION
from lengen.callbacks.monitoring import TrainingLoss, loss_names
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.datamodule import ArithmeticData, TrainingBatches
from lengen.data.setting_from_names import SpecLike, read_spec
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import generate, verify
from lengen.digits import Problems, generator, whole
from lengen.metrics.torch_metrics import ExactMatch
from lengen.models.activations_and_norms import round_products
from lengen.models.foreign import Predicting, logits_of
from lengen.part import SettingError, plain
from lengen.settings.sections import TrainSpec
from lengen.training.model_building import SMALL, build_model, one_is_best


def learning_rate_factor(step: int, train: TrainSpec) -> float:
    """Return the share of the peak learning rate at a step (0-based): linear from 0, then cosine to ``final_lr``.

    Tables 1-3 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count": warm-up over 1 %
    of the steps, cosine decay from LR to 0.1 LR. "Length Generalization on Multi-Digit Integer Addition with
    Transformers", Section 4.2.4 (nanoGPT's): the same after 100 steps of warm-up (``warmup_steps``).

    >>> from lengen.settings.spec import TrainSpec
    >>> train = TrainSpec(steps=101, batch=1, lr=1.0, warmup=0.01)
    >>> learning_rate_factor(0, train), learning_rate_factor(1, train), round(learning_rate_factor(101, train), 3)
    (0.0, 1.0, 0.1)
    """
    warmup = train.warmup_steps or int(train.warmup * train.steps)
    if step < warmup:
        return step / warmup
    done = min(1.0, (step - warmup) / max(1, train.steps - warmup))
    return train.final_lr + (1 - train.final_lr) * 0.5 * (1 + math.cos(math.pi * done))


def build_optimizer(model: nn.Module, train: TrainSpec) -> tuple[Optimizer, LRScheduler]:
    """Return AdamW over all parameters of a model (fused: one kernel a step) and its schedule, stepped once a step.

    Weight decay is for matrices and tables only; scales and biases have none, as in nanoGPT (Karpathy 2022).
    """
    groups = [
        {"params": [p for p in model.parameters() if (p.dim() > 1) == decayed], "weight_decay": decay}
        for decayed, decay in ((True, train.weight_decay), (False, 0.0))
    ]
    optimizer = torch.optim.AdamW(groups, lr=train.lr, betas=train.betas, eps=train.eps, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate_factor(step, train))
    return optimizer, schedule


def response_loss(logits: Tensor, tokens: Tensor, loss: Tensor) -> Tensor:
    """Return the summed cross-entropy of the target tokens, in nats.

    Args:
        logits: (B, T - 1, V) after each token but the last.
        tokens: (B, T) token ids.
        loss: (B, T) bool, True if the token is a target.
    """
    targets = tokens[:, 1:].masked_fill(~loss[:, 1:], -100)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # of half precision no sum is taken
    return cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum")


class SequenceModule(LightningModule):
    """Trains a model with the specification's optimizer; validates by in-distribution exact match.

    Logged are ``train_loss`` (nats per target token; ``train_loss.<name>`` for an auxiliary task), ``learning_rate``,
    ``val_exact_match`` and, for each cell, ``test_exact_match``. Checkpoints hold the specification and the seed, so
    `load_from_checkpoint` needs a path alone.

    Args:
        spec: The specification, the name of an experiment or of a task, a JSON file, what `Spec.to_dict` gives, or
            fields by their names, as `lengen.setting` takes them.
        model: The model to train, any module with ``predict(batch)`` that returns logits (B, T - 1, V). None builds
            that of the specification.
        seed: Decides initial weights, and what dropout drops.

    Raises:
        SettingError: A setting that cannot be, or, when it is fitted, data of another one.
        TypeError: A model without ``predict``.

    Example:
        >>> import lengen
        >>> from lightning import Trainer
        >>> spec = lengen.setting("copy", digits=2, steps=2, batch=4)
        >>> module = lengen.SequenceModule(spec, seed=0)
        >>> Trainer(max_steps=2).fit(module, lengen.ArithmeticData(spec))  # doctest: +SKIP
    """

    def __init__(self, spec: SpecLike, model: nn.Module | None = None, seed: int = 0) -> None:
        super().__init__()
        self.spec = read_spec(spec)
        self.seed = seed = whole("seed", seed, least=0)
        self.model: Any = build_model(self.spec, seed) if model is None else model
        if not isinstance(self.model, Predicting):
            fault = "expected a module with a method predict(batch) that returns logits (B, T - 1, V)"
            raise TypeError(f"SequenceModule(model={type(model).__name__}): {fault}")
        if self.spec.train.precision == "bf16-products":
            round_products(self.model, "native")
        self.exact_match = ExactMatch()
        self.save_hyperparameters({"spec": plain(self.spec), "seed": seed})

    @cached_property
    def data(self) -> TaskData:
        """Writer and reader of the problems of the specification."""
        return TaskData(self.spec, self.seed)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits (B, T - 1, V) of every token of the batch but the first."""
        return logits_of(self.model, batch)

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """Return the loss per target token, weighted as in `lengen.data.task_data`."""
        if self.spec.model.dropout:  # what is dropped is a function of (seed, step), as the batch is: resuming is exact
            torch.manual_seed(generator("dropout", self.seed, self.global_step, *self._share(index)).initial_seed())
        assert batch.scale is not None, "expected a training batch"
        return response_loss(self(batch), batch.tokens, batch.loss) / batch.scale

    def _share(self, index: int) -> list[int]:
        """Return numbers that distinguish the batches of one step: none if a step takes one batch of one process."""
        trainer = self._trainer
        if trainer is None or trainer.accumulate_grad_batches * trainer.world_size == 1:
            return []
        return [index % trainer.accumulate_grad_batches, trainer.global_rank]

    def setup(self, stage: str) -> None:
        """Train a small model with one thread (`lengen.training.model_building`)."""
        self._threads = torch.get_num_threads()
        if one_is_best(self, SMALL):
            torch.set_num_threads(1)

    def teardown(self, stage: str) -> None:
        """Give later work the threads that it had."""
        torch.set_num_threads(self._threads)

    def on_fit_start(self) -> None:
        """Refuse data whose tokens or position ids are not those that the model was built for."""
        module = getattr(self.trainer, "datamodule", None)
        if not isinstance(module, ArithmeticData):
            return
        data, expected = module.spec.data, self.spec.data
        ids = ("position ids", data.position_ids, expected.position_ids)
        for name, theirs, ours in (("tokens", [*data.vocab.symbols], [*expected.vocab.symbols]), ids):
            if theirs != ours:
                fault = f"SequenceModule: the specification of the data has other {name} than that of the module"
                raise SettingError(f"{fault}; give both the same one")

    def on_train_start(self) -> None:
        """Refuse to resume on a bare loader of ours: it cannot see the step, and would start with the first batch."""
        loaders = CombinedLoader(self.trainer.train_dataloader).flattened
        datasets = [getattr(loader, "dataset", None) for loader in loaders]
        batches = [dataset for dataset in datasets if isinstance(dataset, TrainingBatches)]
        if self.global_step and not all(batch.follows for batch in batches):
            fault = "Trainer: a loader alone starts anew"
            raise SettingError(f"{fault}; resume with fit(module, ArithmeticData(spec, seed))")

    def on_train_batch_end(self, outputs: Any, batch: Batch, batch_idx: int) -> None:
        """Log the loss and the learning rate of the step that is over, where loggers or an evaluation will look.

        Not at every step: two values take 0.6 ms, a fifth of a small model's step. Loggers get them from `TrainingLoss`
        alone if the Trainer has it.
        """
        every = self.trainer.log_every_n_steps  # type: ignore[attr-defined]
        if self.trainer.is_last_batch or self.trainer.should_stop or (every and self.global_step % every == 0):
            names = loss_names(hint.name for hint in self.spec.data.hints)
            logger = not any(isinstance(callback, TrainingLoss) for callback in self.trainer.callbacks)  # type: ignore[attr-defined]
            self.log(names[batch.output], outputs["loss"], prog_bar=True, logger=logger, batch_size=1)
            step = max(0, self.global_step - 1)  # 0 while gradients are accumulated for the first one
            rate = self.spec.train.lr * learning_rate_factor(step, self.spec.train)
            self.log(LEARNING_RATE, rate, logger=logger, batch_size=1)

    def validation_step(self, batch: Batch, index: int) -> None:
        verified = verify(model_of(self), batch)
        self.exact_match.update(verified.predicted, verified.reference)
        self.log(VALIDATION, self.exact_match, prog_bar=True, batch_size=len(batch.tokens))

    def test_step(self, batch: Batch, index: int, dataloader_idx: int = 0) -> None:
        share = verify(model_of(self), batch).correct.float().mean()
        data = getattr(self.trainer, "datamodule", None)
        cells = data.cells if isinstance(data, ArithmeticData) else []
        name = "test_exact_match" + (f"/{cell_name(cells[dataloader_idx])}" if cells else "")
        self.log(name, share, batch_size=len(batch.tokens), add_dataloader_idx=not cells)

    def predict_step(self, batch: Problems, index: int, dataloader_idx: int = 0) -> list[str]:
        """Return greedy responses to problems, as text."""
        return [self.data.vocab.decode(row) for row in generate(model_of(self), self.data.writer, batch)]

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Move training batches only: what is verified or written moves there and back by itself, once."""
        if isinstance(batch, Batch) and batch.scale is not None:
            return super().transfer_batch_to_device(batch, device, dataloader_idx)
        return batch

    def configure_gradient_clipping(
        self, optimizer: Optimizer, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        """Clip at the Trainer's ``gradient_clip_val``, or, if it has none, at the norm of the specification.

        Lightning's own refuses fused optimizers in mixed precision, because of a gradient scaler that bf16 does not
        have.
        """
        most = self.spec.train.clip if gradient_clip_val is None else gradient_clip_val
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if gradient_clip_algorithm == "value":
            torch.nn.utils.clip_grad_value_(parameters, most)
        elif most:
            torch.nn.utils.clip_grad_norm_(parameters, most)

    def configure_optimizers(self) -> OptimizerLRScheduler:
        optimizer, schedule = build_optimizer(self.model, self.spec.train)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

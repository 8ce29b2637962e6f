"""Which kernels train a model: chosen once per run by a probe of two seconds, kept with the run, recorded in run.json.

What is computed is the setting's; how, is decided here, and moves results by rounding alone. A run that goes on after
a kill takes the choice that lies in its folder, so it stays bit-equal to one that was not interrupted.
"""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time as clock
from typing import Any

import msgspec
import torch
from lightning import Callback, LightningModule, Trainer
from torch import nn

from lengen.data.batch import Batch
from lengen.data.datamodule import data_of
from lengen.data.task_data import TaskData
from lengen.models.products import Rounding, round_products, rounded_products
from lengen.randomness import generator
from lengen.training.module import SequenceModule
from lengen.whole_files import write_whole

FILE = "kernels.json"
WORTH_COMPILING = 40.0
"""Seconds of training, as the probe foresees them, from which on a compiled model is worth its compilation.

Compiling takes 5 to 10 s where the same model was compiled before, 15 to 40 s where not, and saves 30 to 45 % of a
step.
"""
TRIED = 8
"""Batches that a probe trains on, for at most `SECONDS`."""
SECONDS = 2.0


class Kernels(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of a run."""

    products: Rounding
    """How operands of products are rounded to bfloat16: not at all, by the processor, or emulated in float32."""
    compiled: bool
    """The model is compiled by torch.compile."""
    why: str
    """What the probe saw, in words."""


class ChosenKernels(Callback):
    """Chooses when training starts; ``kernels`` is the choice, which ``folder`` keeps for a run that goes on."""

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / FILE
        self.kernels: Kernels | None = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        data = data_of(trainer)
        assert isinstance(pl_module, SequenceModule)
        self.kernels = self._kept() or probe(pl_module, data)
        write_whole(self.path, msgspec.json.encode(self.kernels).decode())
        use(self.kernels, pl_module, data)

    @property
    def choice(self) -> Kernels | None:
        """What trained, also where nothing was left to train; None where nothing was ever chosen."""
        return self.kernels or self._kept()

    def _kept(self) -> Kernels | None:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Kernels)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):  # none yet, or damaged: choose again
            return None


def of_parts(folder: Path) -> dict[str, dict[str, Any]]:
    """What the trainings of a run chose that have folders of their own below the run's, by folder, as run.json holds
    it: each trains as long as it does, so each has its own choice."""
    found = {path.parent: ChosenKernels(path.parent).choice for path in sorted(folder.glob(f"*/**/{FILE}"))}
    return {where.relative_to(folder).as_posix(): msgspec.to_builtins(kept) for where, kept in found.items() if kept}


def use(kernels: Kernels, module: SequenceModule, data: TaskData) -> None:
    """Let a model train with these kernels."""
    round_products(module.model, kernels.products)
    if kernels.compiled:
        import torch._inductor.config

        # Runs share the cores already, and a pool of compilers would outlive a worker that is killed.
        torch._inductor.config.compile_threads = 1
        module.model.compile(dynamic=True)
        _warm_up(module, data)


def probe(module: SequenceModule, data: TaskData) -> Kernels:
    """Train on the first batches, for two seconds at most, and decide; the model is left as it was."""
    with torch.random.fork_rng():
        return _probed(module, data)


def _probed(module: SequenceModule, data: TaskData) -> Kernels:
    train = module.spec.train
    products: Rounding = "none"
    said = []
    if train.precision == "bf16-products" and module.device.type != "cpu":
        products = "native"  # what it is made for; and nothing is timed there without waiting for it
    elif train.precision == "bf16-products":
        native, emulated = (_product_seconds(module, data, rounding) for rounding in ("native", "emulated"))
        products = "native" if native <= emulated else "emulated"
        said.append(f"a bfloat16 product takes {native / emulated:.2f} of the time of its emulation in float32")
    if train.compile:
        return Kernels(products=products, compiled=True, why="; ".join([*said, "train.compile=true"]))
    if module.spec.model.loops_by_length is not None:
        return Kernels(products=products, compiled=False, why="; ".join([*said, "batches differ in their loops"]))
    if module.device.type != "cpu":
        return Kernels(products=products, compiled=False, why="; ".join([*said, "not on a CPU"]))
    round_products(module.model, products)
    # Processor time: what else runs on the machine has no say in what a run computes.
    step = _step_seconds(module, data) / torch.get_num_threads()
    foreseen = step * train.steps
    said.append(f"{1000 * step:.1f} ms a step, {foreseen:.0f} s of training foreseen")
    if foreseen < WORTH_COMPILING:
        said.append(f"below {WORTH_COMPILING:.0f} s compiling is not paid back")
        return Kernels(products=products, compiled=False, why="; ".join(said))
    if (missing := missing_compiler()) is not None:
        return Kernels(products=products, compiled=False, why="; ".join([*said, missing]))
    return Kernels(products=products, compiled=True, why="; ".join(said))


def missing_compiler() -> str | None:
    """Why nothing can be compiled here; None where it can."""
    import torch._dynamo.config
    import torch._inductor.config

    if torch._dynamo.config.disable:
        return "TORCHDYNAMO_DISABLE is set"
    wanted = torch._inductor.config.cpp.cxx
    names = [name for name in (wanted if isinstance(wanted, tuple | list) else [wanted]) if name]
    if torch.cuda.is_available() or any(shutil.which(name) for name in [*names, "g++", "clang++"]):
        return None
    return "there is no C++ compiler"


def _step_seconds(module: SequenceModule, data: TaskData) -> float:
    """Seconds of forward and backward of a batch of mean size, of some batches; the first is a warm-up."""
    batches = [data.batch(step) for step in range(module.spec.train.bucket * len(data.streams))]
    seconds, tokens = 0.0, 0
    for number, batch in enumerate(batches[: 1 + TRIED]):
        start = clock()
        _backward(module, partial(module.training_step, batch, 0))
        if number or len(batches) == 1:
            seconds, tokens = seconds + clock() - start, tokens + batch.tokens.numel()
        if seconds > SECONDS:
            break
    mean = sum(batch.tokens.numel() for batch in batches) / len(batches)
    return seconds / tokens * mean


def _product_seconds(module: SequenceModule, data: TaskData, rounding: Rounding) -> float:
    """Shortest of some tries of the feed-forward product of one batch, forward and backward."""
    model = module.spec.model
    x = torch.ones(data.batch(0).tokens.numel(), model.width, requires_grad=True)
    layer = nn.Linear(model.width, model.ff_width, bias=False)
    taken = []
    for _ in range(5):
        start = clock()
        torch.autograd.backward(rounded_products(x, [layer], rounding)[0].sum())
        taken.append(clock() - start)
    return min(taken[1:])


def _warm_up(module: SequenceModule, data: TaskData) -> None:
    """Compile on problems that are the same for every seed and every step, so that the same code is made for all.

    A compiler looks at the sizes it sees first; those of a run's next batch would differ between seeds, and between a
    run that goes on after a kill and one that does not.
    """
    for stream in data.streams:
        drawn = generator("compile")
        batch = stream.writer.write(stream.task.train(module.spec.train.batch, drawn), drawn)
        _backward(module, partial(_sum, module, batch.to(module.device)))


def _sum(module: SequenceModule, batch: Batch) -> torch.Tensor:
    total: torch.Tensor = module(batch).sum()
    return total


def _backward(module: SequenceModule, loss: Callable[[], torch.Tensor]) -> None:
    """Forward and backward, without a trace: gradients are dropped, random numbers are what they were."""
    training = module.training
    module.train()
    with torch.random.fork_rng():
        torch.autograd.backward(loss())
    module.zero_grad(set_to_none=True)
    module.train(training)


__all__ = ["ChosenKernels", "Kernels", "missing_compiler", "of_parts", "probe", "use"]

"""Kernels of a training: chosen by a rule, tried, and recorded in run.json.

The setting decides what is computed; kernels move results by rounding alone. The rule reads the specification and the
instructions of the processor, never a clock: all seeds of a setting train alike, however busy the machine is. A choice
that fails here is left with one line on stderr, and training goes on without it; so it is if a graph that is compiled
again in mid-training, for another shape, fails. A run that is resumed takes the choice in its folder, so it stays
bit-equal to one that was not interrupted.
"""

import contextlib
import hashlib
import shutil
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import torch
from lightning import Callback, LightningModule, Trainer
from torch import nn

from lengen.data.batch_and_random_spaces import Batch
from lengen.data.datamodule import data_of
from lengen.data.task_data import TaskData
from lengen.digits import generator
from lengen.models.activations_and_norms import Rounding, round_products, rounded_products
from lengen.results.progress import Progress, Report, silent, write_whole
from lengen.settings.spec import Spec
from lengen.this_machine import ROUNDS_NATIVELY, machine
from lengen.training.module import SequenceModule
from lengen.training.operation_counts import training_seconds

FILE = "kernels.json"
WORTH_COMPILING = 150.0
"""Seconds of training, as `training_seconds` foresees them, from which on compiling is paid back within the run.

A first compilation takes 42 to 52 s and saves 30 to 45 % of a step; one that is found in the compiler's cache takes 5
to 10 s, but the state of a cache must not decide.
"""
UPDATES_WORTH_COMPILING = 20_000
"""Updates of a training on a GPU from which on compiling is paid back: it takes a minute, and a small step is bound by
the number of its kernels."""
UPDATES_WORTH_GRAPHS = 10_000
"""The same where TORCHINDUCTOR_CUDAGRAPHS=1 lets the compiler start all kernels of a pass at once: a small model's
update then takes 6 ms in place of 14 (H200, thirteen trainings side by side)."""

SETTINGS_AT_ONCE = 4
"""Settings whose compiled code one process keeps."""
_COMPILED: set[str] = set()
"""Hashes of these settings."""

Context = Callable[[], contextlib.AbstractContextManager[Any]]

MOMENT = 0.3
"""Seconds within which a signal to all processes of a command reaches this one."""


class Kernels(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of a run."""

    products: Rounding
    """Rounding of the operands of products to bfloat16: none, by the processor, or emulated in float32."""
    compiled: bool
    """The model is compiled by torch.compile, if `why` names no update from which on it was not."""
    why: str
    """The reasons, in words."""


class ChosenKernels(Callback):
    """Chooses when training starts; ``kernels`` is what trains, and ``folder`` keeps it for a run that is resumed."""

    def __init__(self, folder: Path, report: Report = silent) -> None:
        self.path = Path(folder) / FILE
        self.report = report
        self.kernels: Kernels | None = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        data = data_of(trainer)
        assert isinstance(pl_module, SequenceModule)
        wanted = self._kept() or choose(pl_module.spec, pl_module.device.type)
        if wanted.compiled:
            self.report(Progress("compiling", trainer.global_step, trainer.max_steps, None, None))
        self.kernels = use(wanted, pl_module, data, trainer.precision_plugin.forward_context)
        self._keep()
        if self.kernels.compiled:
            _guard(pl_module, self._left)

    def _left(self, update: int, error: Exception) -> None:
        """Record that the model is not compiled any more."""
        assert self.kernels is not None
        reason = f"not compiled from update {update:,} on: {_said('torch.compile', error)}"
        self.kernels = msgspec.structs.replace(self.kernels, why=f"{self.kernels.why}; {reason}")
        self._keep()

    def _keep(self) -> None:
        write_whole(self.path, msgspec.json.encode(self.kernels).decode())

    @property
    def choice(self) -> Kernels | None:
        """The recorded kernels, also if nothing was left to train; None if none were ever chosen."""
        return self.kernels or self._kept()

    def _kept(self) -> Kernels | None:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Kernels)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):  # none yet, or damaged: choose again
            return None


def of_parts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the choices of the trainings of a run that have folders of their own below the run's.

    They are by folder, as in run.json.
    """
    choices = {path.parent: ChosenKernels(path.parent).choice for path in sorted(folder.glob(f"*/**/{FILE}"))}
    chosen = {path.relative_to(folder).as_posix(): kernels for path, kernels in choices.items() if kernels}
    return {place: msgspec.to_builtins(kernels) for place, kernels in chosen.items()}


def choose(spec: Spec, device: str) -> Kernels:
    """Return the kernels for a specification on a kind of device: a function of these two and of the processor."""
    products, reasons = _products(spec, device)
    compiled, reason = _compiled(spec, device)
    return Kernels(products=products, compiled=compiled, why="; ".join([*reasons, reason]))


def _products(spec: Spec, device: str) -> tuple[Rounding, list[str]]:
    if spec.train.precision != "bf16-products":
        return "none", []
    if device != "cpu":
        return "native", [f"{device} rounds products to bfloat16"]
    has = sorted(ROUNDS_NATIVELY & set(machine().instruction_sets))
    if has:
        return "native", [f"the processor has {' and '.join(has)}"]
    return "emulated", ["the processor has no products of bfloat16 numbers"]


def _compiled(spec: Spec, device: str) -> tuple[bool, str]:
    if (missing := missing_compiler()) is not None:
        return False, missing
    if spec.train.compile:
        return True, "train.compile=true"
    if spec.model.loops_by_length is not None:
        return False, "batches differ in their loops"
    if device != "cpu":
        import torch._inductor.config as inductor

        steps, graphs = spec.train.steps, inductor.triton.cudagraphs
        least = UPDATES_WORTH_GRAPHS if graphs else UPDATES_WORTH_COMPILING
        what = "compiling with CUDA graphs" if graphs else "compiling"
        return steps >= least, f"{steps:,} updates on {device}: {what} pays from {least:,} on"
    seconds = training_seconds(spec)
    foreseen = f"{seconds:.0f} s of training foreseen by its operations"
    if seconds < WORTH_COMPILING:
        return False, f"{foreseen}: below {WORTH_COMPILING:.0f} s compiling is not paid back"
    return True, foreseen


def missing_compiler() -> str | None:
    """Return the reason why nothing can be compiled here; None if something may be."""
    import torch._dynamo.config
    import torch._inductor.config

    if torch._dynamo.config.disable:
        return "TORCHDYNAMO_DISABLE is set"
    wanted = torch._inductor.config.cpp.cxx
    names = [name for name in (wanted if isinstance(wanted, tuple | list) else [wanted]) if name]
    if torch.cuda.is_available() or any(shutil.which(name) for name in [*names, "g++", "clang++"]):
        return None
    return "there is no C++ compiler"


def use(kernels: Kernels, module: SequenceModule, data: TaskData, context: Context = contextlib.nullcontext) -> Kernels:
    """Let a model train with these kernels; return those that work here.

    ``context`` is that of a training step: code that is compiled for another precision is compiled again.
    """
    if kernels.products == "native":
        kernels = _tried(kernels, "native products", partial(_round_once, module), products="emulated")
    round_products(module.model, kernels.products)
    if kernels.compiled:
        kernels = _tried(kernels, "torch.compile", partial(_compile, module, data, context), compiled=False)
        if not kernels.compiled:
            module.model._compiled_call_impl = None  # as `nn.Module` leaves it in a copy: the call is not compiled
            module.zero_grad(set_to_none=True)
            torch._dynamo.reset()
    return kernels


def _tried(kernels: Kernels, what: str, work: Callable[[], None], **instead: Any) -> Kernels:
    """Return the same kernels if ``work`` can be done; else those with ``instead``, and one line on stderr."""
    try:
        work()
    except Exception as error:  # of a compiler, a linker, a file system or a processor: all have the same remedy
        threading.Event().wait(MOMENT)  # of a signal to the whole group the compiler dies first
        return msgspec.structs.replace(kernels, why=f"{kernels.why}; {_said(what, error)}", **instead)
    return kernels


def _said(what: str, error: Exception) -> str:
    """Return the reason, which is one line on stderr as well."""
    message = " ".join(str(error).split())[:160]
    reason = f"{what} failed: {type(error).__name__}{message and ': '}{message}"
    print(f"{reason}; training goes on without", file=sys.stderr, flush=True)
    return reason


def _guard(module: SequenceModule, left: Callable[[int, Exception], None]) -> None:
    """Let the model go on uncompiled where a graph for a further shape cannot be compiled.

    ``left`` gets the update and the error, unless the model itself is what fails.
    """
    model = module.model
    compiled = model._compiled_call_impl

    def call(*positional: Any, **named: Any) -> Any:
        try:
            return compiled(*positional, **named)
        except Exception as error:
            model._compiled_call_impl = None
            result = model(*positional, **named)
            left(module.global_step + 1, error)
            return result

    model._compiled_call_impl = call


def compile_line(device: torch.device | str = "cpu") -> None:
    """Compile and run one line, as a training on a device would; raises if nothing can be compiled here."""
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config

    # Runs share the cores already, and a pool of compilers would outlive a worker that is killed.
    torch._inductor.config.compile_threads = 1
    # Dropout drops what it would drop uncompiled. On a processor that is faster, too: 219 ms an update in place of 286.
    torch._inductor.config.fallback_random = torch.device(device).type == "cpu"
    torch._dynamo.config.suppress_errors = False
    # The code of a model may be compiled for so many shapes and settings; further ones would silently not be.
    torch._dynamo.config.recompile_limit = 8 * SETTINGS_AT_ONCE
    torch._dynamo.config.fail_on_recompile_limit_hit = True
    torch._functorch.config.force_non_lazy_backward_lowering = True  # what cannot be compiled fails in the forward pass
    if (missing := missing_compiler()) is not None:
        raise RuntimeError(missing)
    _link_without_space()
    torch.compile(lambda x: x.sin() + 1, dynamic=True, fullgraph=True)(torch.zeros(8, device=device))


def _link_without_space() -> None:
    """Give the linker torch's libraries by a path without a space: torch 2.13 hands it the path of its folder as it is.

    The link lies in the compiler's cache. Without it, or with a space in that path as well, nothing is compiled.
    """
    from torch._inductor.runtime.cache_dir_utils import cache_dir
    from torch.utils import cpp_extension

    libraries = cpp_extension.TORCH_LIB_PATH
    if " " not in libraries:
        return
    link = Path(cache_dir()) / f"torch-{hashlib.sha256(libraries.encode()).hexdigest()[:16]}"
    with contextlib.suppress(FileExistsError):
        link.symlink_to(libraries, target_is_directory=True)
    cpp_extension.TORCH_LIB_PATH = str(link)


def _compile(module: SequenceModule, data: TaskData, context: Context) -> None:
    """Compile forward and backward pass on problems that are the same for every seed and every step.

    A compiler looks at the sizes it sees first; those of a run's next batch would differ between seeds, and between a
    run that is resumed and one that is not.
    """
    _forget_others(module.spec.hash())
    compile_line(module.device)  # a broken compiler is found in seconds, before the model is traced
    module.model.compile(dynamic=True)
    for stream in data.streams:
        drawn = generator("compile")
        batch = stream.writer.write(stream.task.train(module.spec.train.batch, drawn), drawn)
        _backward(module, batch.to(module.device), context)


def _round_once(module: SequenceModule) -> None:
    """Make one native product, forward and backward."""
    layer = nn.Linear(module.spec.model.width, 1, bias=False, device=module.device)
    x = torch.ones(1, module.spec.model.width, device=module.device, requires_grad=True)
    torch.autograd.backward(rounded_products(x, [layer], "native")[0].sum())


def _forget_others(setting: str) -> None:
    """Drop the code, and on a GPU the graphs, of earlier settings of this process once there are too many."""
    if setting not in _COMPILED and len(_COMPILED) == SETTINGS_AT_ONCE:
        _COMPILED.clear()
        torch._dynamo.reset()
    _COMPILED.add(setting)


def _backward(module: SequenceModule, batch: Batch, context: Context) -> None:
    """Go forward and backward, without a trace: gradients are dropped, random numbers are what they were."""
    training = module.training
    module.train()
    with torch.random.fork_rng([module.device] if module.device.type == "cuda" else []):
        with context():
            total = module(batch).sum()
        torch.autograd.backward(total)
    module.zero_grad(set_to_none=True)
    module.train(training)

"""A training in one line."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lengen.data.setting_from_names import setting
from lengen.part import SettingError
from lengen.settings.spec import Spec
from lengen.tasks.base import Task
from lengen.this_machine import sleep_while_waiting

if TYPE_CHECKING:
    from lightning import Callback

    from lengen.training.module import SequenceModule


def train(
    task: str | Task | Spec = "addition", *, seed: int = 0, callbacks: "Callback | Sequence[Callback] | None" = (),
    progress: bool = False, **named: Any,
) -> "SequenceModule":  # fmt: skip
    """Train a model and return its module, ready to answer: `lengen.load` takes it.

    Args:
        task: The task, or a whole specification.
        seed: Decides initial weights and problems.
        callbacks: Of the Trainer, such as an `AccuracyGrid`; one or several.
        progress: Show Lightning's bar.
        named: Fields of the setting by their names (`lengen.setting`).

    Returns:
        The trained module, in evaluation mode.

    Raises:
        SettingError: A field or a callback that cannot be.

    Example:
        >>> import lengen
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4)
        >>> lengen.load(module).solve(["01"])["prompt"]
        '$01='
    """
    sleep_while_waiting()  # before torch is loaded, below

    from lightning import Callback

    from lengen.callbacks.monitoring import StopWhenGood
    from lengen.data.datamodule import ArithmeticData
    from lengen.training.compilation import ChosenKernels
    from lengen.training.module import SequenceModule
    from lengen.training.run import build_trainer, check_bias

    several = [callbacks] if isinstance(callbacks, Callback) else callbacks or ()
    if not isinstance(several, Sequence) or not all(isinstance(callback, Callback) for callback in several):
        raise SettingError(f"callbacks={callbacks!r:.60}: expected a Callback of Lightning, or a list of them")
    spec = setting(task, **named)
    check_bias(spec)
    module = SequenceModule(spec, seed=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        if not any(isinstance(callback, StopWhenGood) for callback in several):
            several = [StopWhenGood(spec.train.stop_at, spec.train.patience), *several]
        with TemporaryDirectory() as folder:
            kernels = ChosenKernels(Path(folder))
            build_trainer(spec, [kernels, *several], progress=progress).fit(module, ArithmeticData(spec, seed))
    return module.eval()

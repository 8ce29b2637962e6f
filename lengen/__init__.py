"""What all papers share, in the order data passes through it: task, format, position ids, data, model, records.

What a script needs can be had from here; each name is loaded when it is first used, so that ``import lengen`` is quick.
"""

import importlib
from typing import Any

EXPORTS = {
    "lengen.callbacks": (
        "AccuracyGrid",
        "AttentionMaps",
        "EditDistanceCurve",
        "LearningCurves",
        "Measurement",
        "MetricsLogger",
        "Probes",
        "ResumePoint",
        "StopWhenGood",
        "TrainingLoss",
        "extra_loggers",
    ),
    "lengen.config": (
        "ALiBi",
        "Abacus",
        "Addition",
        "Aligned",
        "Consecutive",
        "Copy",
        "Counting",
        "Coupled",
        "Cyclic",
        "DataSpec",
        "Decoder",
        "DigitSteps",
        "Encoder",
        "EncoderDecoder",
        "Filling",
        "Fire",
        "FireClamped",
        "FireRatio",
        "Given",
        "Increment",
        "Learned",
        "Linear",
        "ListOpsMax",
        "ListOpsMin",
        "ListOpsSum",
        "ModelSpec",
        "Multiplication",
        "MultiplicationStages",
        "NByOne",
        "NextLarger",
        "NoEncoding",
        "NoPositionIds",
        "PairAddition",
        "Parity",
        "RandomSpaces",
        "Randomised",
        "RelativeKeys",
        "Reverse",
        "Rotary",
        "RunningXor",
        "Sinusoidal",
        "Sorting",
        "Spec",
        "Subtasks",
        "Successor",
        "Tempered",
        "TestSpec",
        "TrainSpec",
        "TwoOperandAddition",
        "Window",
    ),
    "lengen.data.datamodule": ("ArithmeticData",),
    "lengen.data.task_data": ("TaskData",),
    "lengen.decoding": ("verify", "write"),
    "lengen.library": ("load",),
    "lengen.models": ("Transformer",),
    "lengen.training.build": ("build_model",),
    "lengen.training.module": ("SequenceModule",),
    "lengen.training.run": ("build_trainer", "execute"),
}
"""Module -> the names of it that stand here."""
_MODULE = {name: module for module, names in EXPORTS.items() for name in names}

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULE[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULE]

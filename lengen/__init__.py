"""The parts that all papers share.

They stand in the order data passes through them: task, format, position ids, data, model, records.

What a script needs can be had from here; each name is loaded when it is first used, so that ``import lengen`` is quick.

    import lengen
    from lightning import Trainer

    task = lengen.Addition(digits=2, operands=2)
    format = lengen.Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True)
    data = lengen.DataSpec(task=task, format=format, position_ids=lengen.Coupled((9, 9)))
    model = lengen.ModelSpec(layers=2, heads=2, width=16, head_dim=8, ff_width=32, encoding=lengen.Learned())
    train, test = lengen.TrainSpec(steps=50, batch=32, lr=1e-3), lengen.TestSpec(lengths=(2, 3), counts=(2,))
    spec = lengen.Spec(data=data, model=model, train=train, test=test)
    module = lengen.SequenceModule(spec, seed=0)
    grid = lengen.AccuracyGrid(lengths=(1, 2, 3), counts=(2, 3), examples=100)
    trainer = Trainer(max_steps=50, max_epochs=-1, callbacks=[grid])
    trainer.fit(module, lengen.ArithmeticData(spec))

Afterwards ``grid.grid`` holds the counts of every tested cell.
"""

import importlib
import os
import sys
from typing import Any

if "torch" not in sys.modules and not os.environ.keys() & {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}:
    # Threads that wait for others sleep: they spin otherwise, and take the cores from whoever is waited for.
    os.environ.update(OMP_WAIT_POLICY="PASSIVE", KMP_BLOCKTIME="0")

EXPORTS = {
    "lengen.benchmark": ("evaluate", "problems", "score"),
    "lengen.benchmark.letters": ("letters",),
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
    "lengen.data.datamodule": ("ArithmeticData",),
    "lengen.data.task_data": ("TaskData",),
    "lengen.decoding.decoding": ("verify", "write"),
    "lengen.huggingface": ("hf",),
    "lengen.loading": ("LoadError", "load"),
    "lengen.metrics": ("answer_match", "edit_distances", "exact_match"),
    "lengen.metrics.counted": ("AnswerMatch", "Counted", "EditDistance", "ExactMatch"),
    "lengen.models": ("Transformer",),
    "lengen.training.build": ("build_model",),
    "lengen.data.named": ("setting",),
    "lengen.training.module": ("SequenceModule",),
    "lengen.training.named": ("train",),
    "lengen.training.run": ("build_trainer", "execute"),
}
"""Module -> its names in this face, beside those of `SETTINGS` and the class names of all parts."""
SETTINGS: dict[str, tuple[str, ...]] = {
    "lengen.part": ("Part", "SettingError"),
    "lengen.tasks.base": ("Extent", "Task"),
    "lengen.formats.base": ("Format",),
    "lengen.formats.subtasks": ("SUBTASKS",),
    "lengen.position_ids.base": ("PositionIds",),
    "lengen.settings.encodings": ("Encoding",),
    "lengen.settings.attention_biases": ("AttentionBias",),
    "lengen.settings.model": ("Architecture", "LoopsByLength", "ModelSpec", "Tempered"),
    "lengen.settings.sections": (
        "NUMBER_FORMATS",
        "VALIDATION",
        "DataSpec",
        "NumberFormat",
        "RandomSpaces",
        "Section",
        "TestSpec",
        "TrainSpec",
    ),
    "lengen.settings.spec": ("Spec", "change", "check", "from_dict"),
}
"""Module -> its names in this face; all without torch."""
_MODULE = {name: module for module, names in (EXPORTS | SETTINGS).items() for name in names}

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> Any:
    if name in _MODULE:
        return getattr(importlib.import_module(_MODULE[name]), name)
    if name == "benchmark":
        return importlib.import_module("lengen.benchmark")
    if name[:1].isupper():  # a part; a module of this package may be loading, and is none
        importlib.import_module("lengen.settings.spec")  # loads every part
        part = importlib.import_module("lengen.part").named(name)
        if part is not None:
            return part
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE})

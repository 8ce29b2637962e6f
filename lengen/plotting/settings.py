"""Settings of a run by the name that figures have for them.

Everything is read from the specification a run was made from, never from the name of an experiment, because smaller
profiles train other sizes under the same names.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lengen.formats.digit_steps import DigitSteps
from lengen.formats.multiplication_stages import MultiplicationStages
from lengen.part import kind_of
from lengen.results.records import Run
from lengen.settings.spec import Spec, from_dict
from lengen.tasks.base import Task


def _hint(task: Task) -> str:
    """The method in `lengen.plotting.methods.METHODS` that an auxiliary task is."""
    return "fill_as_drawn" if task.trailing else task.name


def _scratchpad(spec: Spec) -> bool:
    return isinstance(spec.data.format, DigitSteps | MultiplicationStages) or bool(_of("format", "scratchpad")(spec))


def _of(part: str, field: str, default: Any = 0) -> Callable[[Spec], Any]:
    """A field of a part of the data section, where the part has it."""
    return lambda spec: getattr(getattr(spec.data, part), field, default)


def _of_model(field: str) -> Callable[[Spec], Any]:
    return lambda spec: getattr(spec.model, field)


SETTINGS: Mapping[str, Callable[[Spec], Any]] = {
    "task": lambda spec: spec.data.task.name,
    "length": lambda spec: spec.data.task.longest,
    "lengths": _of("task", "lengths", ()),
    "count": lambda spec: spec.data.task.most,
    "alphabet": _of("task", "alphabet"),
    "repeats": _of("task", "repeats"),
    "base": _of("task", "base", 10),
    "examples": lambda spec: spec.data.examples,
    "scratchpad": _scratchpad,
    "pad": _of("format", "pad_query", False),
    "pad_to": _of("format", "pad_to"),
    "fixed_length": _of("format", "width"),
    "reverse_query": _of("format", "reverse_query", False),
    "reverse_response": _of("format", "reverse_response", False),
    "subtasks": _of("format", "names", ()),
    "spaces": lambda spec: spec.data.spaces.ratio if spec.data.spaces else 0.0,
    "hints": lambda spec: tuple(_hint(task) for task in spec.data.hints),
    "position_ids": lambda spec: kind_of(spec.data.position_ids),
    "period": _of("position_ids", "period"),
    "max_position": lambda spec: spec.data.position_ids.sizes,
    "encoding": lambda spec: kind_of(spec.model.encoding),
    "architecture": lambda spec: kind_of(spec.model.architecture),
    "layers": _of_model("layers"),
    "loops": _of_model("loops"),
    "shared": _of_model("shared"),
    "inject": _of_model("inject"),
    "heads": _of_model("heads"),
    "head_dim": _of_model("head_dim"),
    "width": _of_model("width"),
    "window": lambda spec: getattr(spec.model.attention_bias, "width", 0),
    "temperature": lambda spec: spec.model.tempered.form if spec.model.tempered else "none",
    "temperature_of": lambda spec: spec.model.tempered.of if spec.model.tempered else "position",
    "steps": lambda spec: spec.train.steps,
    "batch": lambda spec: spec.train.batch,
    "precision": lambda spec: spec.train.precision,
    "tested_lengths": lambda spec: spec.test.lengths,
    "tested_counts": lambda spec: spec.test.counts,
}
"""Every setting that a figure reads, by the name it has in figures."""


def setting(run: Run, name: str) -> Any:
    """A setting of a run, by its name in `SETTINGS`; or by its path where a paper has sections of its own."""
    values: Any = run.info["spec"]
    if name in SETTINGS:
        return SETTINGS[name](from_dict(values))
    for part in name.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values

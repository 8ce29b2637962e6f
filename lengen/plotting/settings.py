"""Settings of a run by the name that figures have for them.

Everything is read from the specification a run was made from, never from the name of an experiment, because smaller
profiles train other sizes under the same names.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lengen.results.records import Run
from lengen.settings.spec import Spec, from_dict


def _of(part: str, field: str, default: Any = 0) -> Callable[[Spec], Any]:
    """A field of a part of the data section, where the part has it."""
    return lambda spec: getattr(getattr(spec.data, part), field, default)


SETTINGS: Mapping[str, Callable[[Spec], Any]] = {
    "task": lambda spec: spec.data.task.name,
    "length": lambda spec: spec.data.task.longest,
    "lengths": _of("task", "lengths", ()),
    "count": lambda spec: spec.data.task.most,
    "alphabet": _of("task", "alphabet"),
    "examples": lambda spec: spec.data.examples,
    "scratchpad": lambda spec: spec.data.format.scratchpad,
    "subtasks": _of("format", "names", ()),
    "width": lambda spec: spec.model.width,
    "precision": lambda spec: spec.train.precision,
    "tested_lengths": lambda spec: spec.test.lengths,
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

"""Settings by their path, as people write them: ``data.task.longest``, ``model.encoding``; no torch."""

from typing import Any

import msgspec

from lengen.part import Part, SettingError, nearest
from lengen.tasks.base import Task


def read(setting: object, path: str) -> Any:
    """What stands at a path of a setting: a field or property; a part by its name, a tuple as a list of such.

    Behind a list stand ``len``, ``last`` or an index. Where a part is left out, all below it is "none". Raises
    `SettingError` for a path that does not exist.

    >>> from lengen import Addition, Linear
    >>> read(Addition(digits=5, operands=3), "most")
    3
    """
    value: Any = setting
    for step in path.split("."):
        if value is None:
            return "none"
        if isinstance(value, tuple):
            value = _of_list(value, step, path)
            continue
        if not hasattr(value, step) or step.startswith("_"):
            known = [item.name for item in msgspec.structs.fields(value)] if isinstance(value, msgspec.Struct) else []
            raise SettingError(f"there is no setting '{path}'{nearest(step, known) if known else ''}")
        value = getattr(value, step)
    return _shown(value)


def _of_list(value: tuple[Any, ...], step: str, path: str) -> Any:
    if step == "len":
        return len(value)
    if step != "last" and not step.isdecimal():
        raise SettingError(f"'{path}' ends in '{step}'; expected an index, last or len")
    index = len(value) - 1 if step == "last" else int(step)
    return value[index] if 0 <= index < len(value) else "absent"


def _shown(value: Any) -> Any:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return [_shown(item) for item in value]
    if isinstance(value, Part):
        return value.name if isinstance(value, Task) else value.kind
    return value

"""Settings by dotted names such as ``data.task.digits``: fields read, overlaid by a profile, or set by ``--set``.

Only the path and the form are judged here; `lengen.settings.spec.validate` judges the values.
"""

import ast
import json
import re
import tomllib
import typing
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from lengen.part import LARGEST, Axis, Part, SettingError, axis_of, cut, field_type, fields_of, kinds, nearest, owner_of
from lengen.tasks.base import Task

Setting = TypeVar("Setting", bound=msgspec.Struct)
Changes = Mapping[str, Any]
"""Values by field; for a section or part a mapping of its own or a whole new one. ``model.layers`` leads into one."""
LARGEST_RANGE = 100_000
"""Most numbers in a range ``1..n``."""


def read(setting: object, path: str) -> Any:
    """Return a field or property by its path: a part as its name, a tuple as a list of such.

    A list is followed by ``len``, ``last`` or an index. Below a missing part every value is "none". Raises
    `SettingError` for a path that does not exist.

    >>> from lengen import Addition
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
            raise SettingError(f"there is no setting '{path}'{_among(type(value), step)}")
        value = getattr(value, step)
    return _shown(value)


def overlay(base: Setting, *changes: Changes) -> Setting:
    """Return a copy of a setting, a section or a part with changes applied, the last one on top.

    Raises `SettingError` for an unknown field.

    >>> from lengen import Fire, ModelSpec, NoEncoding
    >>> model = ModelSpec(layers=6, heads=8, width=1024, head_dim=128, ff_width=2048, encoding=NoEncoding())
    >>> small = {"layers": 1, "width": 128}
    >>> changed = overlay(model, small, {"encoding": Fire(), "width": 64})
    >>> changed.layers, changed.heads, changed.width, changed.encoding
    (1, 8, 64, Fire())
    """
    for change in changes:
        base = _overlaid(base, change, "")
    return base


def _overlaid(base: Setting, change: Changes, path: str) -> Setting:
    """Apply one mapping of changes to the section or part at ``path``."""
    names = base.__struct_fields__
    fields: dict[str, Any] = {}
    for key, value in change.items():
        name, dot, rest = key.partition(".")
        place = f"{path}{name}"
        if name not in names:
            owner = base.kind if isinstance(base, Part) else path.rstrip(".") or "the setting"
            raise SettingError(f"{place}: there is no field '{name}' in {owner}{_among(type(base), name)}")
        held = fields.get(name, getattr(base, name))
        inner = {rest: value} if dot else value
        if isinstance(inner, dict) or isinstance(inner, Mapping):  # noqa: SIM101 a dictionary is known at once
            if not isinstance(held, msgspec.Struct):
                raise SettingError(f"{place}: it holds {held!r}, which has no fields to change; give a whole part")
            value = _overlaid(held, inner, f"{place}.")
        elif value is not None and isinstance(held, Axis) and not isinstance(value, Axis):
            raise SettingError(f"{place}: it holds {held.AXIS}, not {value!r}; give a part such as {held!r}")
        fields[name] = value
    return msgspec.structs.replace(base, **fields)


def assign(values: dict[str, Any], sort: type, assignment: str) -> None:
    """Apply ``path=value`` to the nested plain data of a setting of class ``sort``, in place; raises `SettingError`.

    A value is a word, a number, a list of numbers with ranges (``1,2,5..9``), the kind of a part, or anything as JSON,
    Python or TOML write it.
    """
    path, equals, text = assignment.partition("=")
    path, text = path.strip(), text.strip()
    *sections, last = path.split(".")
    if not equals or not (sections or isinstance(values.get(last), str | int)):  # a section is set field by field
        raise SettingError(f"--set {assignment}: expected section.field=value, for example train.steps=500")
    holder, place = values, ""
    for step in sections:
        declared = _declared(sort, holder, step, place, path)
        place = f"{place}.{step}".lstrip(".")
        inner = holder.get(step)  # absent: at its default, in a part that was just chosen by its kind
        if not isinstance(inner, dict):
            raise SettingError(f"--set {path}: {place} is {json.dumps(inner)} and has no fields")
        sort, holder = declared, inner
    declared = _declared(sort, holder, last, place, path)
    holder[last] = _parsed(f"--set {path}", text, declared, holder.get(last), values)


def _declared(sort: type, holder: Mapping[str, Any], step: str, place: str, path: str) -> Any:
    """Return the declared type of field ``step`` of the section or part at ``place``."""
    if step == "kind":
        raise SettingError(f"--set {path}: set {place} to the kind itself")
    owner = owner_of(sort, holder)
    if step not in {item.name for item in fields_of(owner)}:
        what = "part" if "." in place else "section"
        missing = f"{what} '{holder.get('kind', place)}' has no field" if place else "there is no section"
        raise SettingError(f"--set {path}: {missing} '{step}'{_among(owner, step)}")
    return field_type(owner, step)


def paths(values: Mapping[str, Any], sort: type, place: str = "") -> Iterator[str]:
    """Yield the paths of all fields of the plain data of a setting of class ``sort``, those of its parts included."""
    for item in fields_of(owner_of(sort, values)):
        inner = values.get(item.name)
        if isinstance(inner, dict):
            yield from paths(inner, item.type, f"{place}{item.name}.")
        elif place:
            yield f"{place}{item.name}"


def _among(sort: type, name: str) -> str:
    """Suggest fields of a class for a mistyped name."""
    names = [item.name for item in fields_of(sort)] if issubclass(sort, msgspec.Struct) else []
    return nearest(name, names) if names else "; it has none"


SPELLED = {bool: "true or false", int: "a whole number, such as 500 or 1e3", float: "a number, such as 0.5 or 1e-3"}
"""Values of a type, in words."""


def _parsed(what: str, text: str, declared: Any, held: Any, values: Mapping[str, Any]) -> Any:
    """Parse a value as plain data of the declared type."""
    axis = axis_of(declared)
    inner = typing.get_args(declared)
    many = any(typing.get_origin(item) is tuple for item in (declared, *inner))
    if text in ("none", "None", "null") and type(None) in inner and (axis is None or "none" not in kinds(axis)):
        return None
    value = _literal(text)
    if many and axis:
        items = value if isinstance(value, list) else [name.strip() for name in text.split(",") if name.strip()]
        return [_chosen(what, axis, word, values["data"]["task"]) if isinstance(word, str) else word for word in items]
    if many:
        return value if isinstance(value, list) else _numbers(what, text)
    if axis:
        kind = "none" if value is None else value
        return _chosen(what, axis, kind, held) if isinstance(kind, str) else kind
    if isinstance(value, str) and declared in SPELLED:
        raise SettingError(f"{what}={text:.60}: expected {SPELLED[declared]}")
    word = declared is str or typing.get_origin(declared) is typing.Literal
    return text if word and not isinstance(value, str) else value


def _literal(text: str) -> Any:
    """Return the plain value that JSON, Python or TOML read in a text, or the text, a word.

    >>> [_literal(text) for text in (".5", "1e3", "True", "(1, 2)", "{kind = 'rope'}", "'rope'", "1,2")]
    [0.5, 1000, True, [1, 2], {'kind': 'rope'}, 'rope', '1,2']
    """
    for read in (json.loads, _python, _toml):
        try:
            return _whole(json.loads(json.dumps(read(text))))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, KeyError):
            continue
    return text


def _python(text: str) -> Any:
    if "," in text and text[:1] not in ("(", "[", "{", "'", '"'):
        raise ValueError("values side by side")
    with warnings.catch_warnings(action="ignore"):
        return ast.literal_eval(text)


def _toml(text: str) -> Any:
    return tomllib.loads(f"value = {text}")["value"]


def _whole(value: Any) -> Any:
    """Return numbers without a fraction as whole ones, those in lists and tables too."""
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST else value


def _numbers(what: str, text: str) -> list[Any]:
    """Parse a list without brackets: numbers, words, and ranges ``1..4`` or ``5..100 by 5``."""
    numbers: list[Any] = []
    for item in text.strip("[]()").split(","):
        between = re.fullmatch(r"\s*(\d{1,9})\.\.(\d{1,9})(?: by ([1-9]\d{0,8}))?\s*", item)
        if between:
            first, last = int(between[1]), int(between[2])
            if not first <= last < first + LARGEST_RANGE:
                raise SettingError(f"{what}={text}: {item.strip()} counts down or too far; expected first..last")
            numbers += range(first, last + 1, int(between[3] or 1))
        elif item.strip():
            numbers.append(_literal(item.strip()))
    return numbers


def _chosen(what: str, axis: type[Axis], kind: str, held: Any) -> dict[str, Any]:
    """Choose a part by its kind; it keeps the fields that it shares with the part before it."""
    known = kinds(axis)
    if kind not in known:
        kind = cut(kind)
        raise SettingError(f"{what}={kind}: unknown {axis.AXIS.split(' ', 1)[1]} '{kind}'{nearest(kind, list(known))}")
    names = {item.name for item in fields_of(known[kind])}
    return {"kind": kind, **{name: value for name, value in (held or {}).items() if name in names}}


def _of_list(value: tuple[Any, ...], step: str, path: str) -> Any:
    """Return the length or an item of a list."""
    if step == "len":
        return len(value)
    if step != "last" and not step.isdecimal():
        raise SettingError(f"'{path}' ends in '{step}'; expected an index, last or len")
    index = len(value) - 1 if step == "last" else int(step)
    return value[index] if 0 <= index < len(value) else "absent"


def _shown(value: Any) -> Any:
    """Return a value as plain data: a part as its name."""
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return [_shown(item) for item in value]
    if isinstance(value, Part):
        return value.name if isinstance(value, Task) else value.kind
    return value

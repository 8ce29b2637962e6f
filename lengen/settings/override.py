"""The language of ``--set path=value``: a path and a text enter, a value of nested plain data is set; no torch.

A text is a word, a number, JSON, a list of numbers with ranges (``1,2,5..9``), or the kind of a part. Only the path and
the form are judged here: what the values may be is for `lengen.settings.spec.check`.
"""

import json
import re
import typing
from typing import Any

import msgspec

from lengen.part import Axis, Part, SettingError, axis_of, cut, field_type, fields_of, kinds, nearest

LARGEST_RANGE = 100_000
"""Most numbers that ``1..n`` may stand for."""


def assign(values: dict[str, Any], sort: type, assignment: str) -> None:
    """Set one value of the nested plain data of a ``sort``, in place; raises `SettingError`."""
    path, equals, text = assignment.partition("=")
    steps = path.strip().split(".")
    if not equals or len(steps) < 2:
        raise SettingError(f"--set {assignment}: expected section.field=value, for example train.steps=500")
    holder: dict[str, Any] = values
    for depth, step in enumerate(steps):
        if "kind" in holder:
            sort = _part_class(sort, holder["kind"])
        if step == "kind":
            raise SettingError(f"--set {path}: set {'.'.join(steps[:depth])} to the kind itself")
        fields = [item.name for item in fields_of(sort)]
        if step not in fields:
            where = "section" if depth == 1 else "part"
            owner = holder.get("kind", ".".join(steps[:depth]))
            raise SettingError(
                f"--set {path}: there is no section '{step}'{nearest(step, fields)}"
                if depth == 0
                else f"--set {path}: {where} '{owner}' has no field '{step}'"
                + (nearest(step, fields) if fields else "; it has none")
            )
        declared = field_type(sort, step)
        if depth == len(steps) - 1:
            holder[step] = _parsed(path, text.strip(), declared, holder.get(step), values)
            return
        if not isinstance(holder.get(step), dict):  # absent: at its default, in a part that was just chosen by its kind
            raise SettingError(
                f"--set {path}: {'.'.join(steps[: depth + 1])} is {json.dumps(holder.get(step))} and has no fields"
            )
        sort, holder = _inner(declared), holder[step]


def _inner(declared: Any) -> type:
    """The class of a field that holds a section or a part."""
    for candidate in (declared, *typing.get_args(declared)):
        if isinstance(candidate, type) and issubclass(candidate, msgspec.Struct | Axis):
            return candidate
    raise SettingError(f"{declared} has no fields")


def _part_class(axis: type, kind: str) -> type:
    return kinds(axis)[kind] if issubclass(axis, Axis) and not issubclass(axis, Part) else axis


def _parsed(path: str, text: str, declared: Any, held: Any, values: dict[str, Any]) -> Any:
    """The value of an override as plain data."""
    axis = axis_of(declared)
    items = typing.get_args(declared)
    many = typing.get_origin(declared) is tuple or (items and typing.get_origin(items[0]) is tuple)
    if axis is not None and many:
        if text.startswith("["):
            return _listed(path, text)
        return [_chosen(path, axis, name.strip(), values["data"]["task"]) for name in text.split(",") if name.strip()]
    if axis is not None:
        if text == "none" and type(None) in items and "none" not in kinds(axis):
            return None
        part = _json(text) if text.startswith("{") else _chosen(path, axis, text, held)
        if part is _NOT_JSON:
            raise SettingError(f"--set {path}: expected {axis.AXIS} by its name, or as JSON")
        return part
    value = _json(text)
    if value is _NOT_JSON or declared is str or _words(declared):
        value = text
    if many:
        return _listed(path, text) if text.startswith("[") and ".." not in text else _numbers(path, text)
    if text == "none" and type(None) in items:
        return None
    return value


def _words(declared: Any) -> bool:
    """Whether a field takes one of some words."""
    return typing.get_origin(declared) is typing.Literal


_NOT_JSON = object()


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _listed(path: str, text: str) -> Any:
    value = _json(text)
    if value is _NOT_JSON:
        raise SettingError(f"--set {path}: expected a list such as 1,2,5..9, or as JSON")
    return value


def _numbers(path: str, text: str) -> list[Any]:
    """A list without brackets: numbers, words, and ranges ``1..4`` or ``5..100 by 5``."""
    found: list[Any] = []
    for item in text.strip("[]").split(","):
        between = re.fullmatch(r"\s*(\d{1,9})\.\.(\d{1,9})(?: by ([1-9]\d{0,8}))?\s*", item)
        if between:
            first, last = int(between[1]), int(between[2])
            if not first <= last < first + LARGEST_RANGE:
                raise SettingError(f"--set {path}={text}: {item.strip()} counts down or too far; expected first..last")
            found += range(first, last + 1, int(between[3] or 1))
        elif item.strip():
            value = _json(item)
            found.append(item.strip() if value is _NOT_JSON else value)
    return found


def _chosen(path: str, axis: type[Axis], kind: str, held: Any) -> dict[str, Any]:
    """A part by its kind, with the fields it shares with the one that stood there."""
    known = kinds(axis)
    if kind not in known:
        kind = cut(kind)
        raise SettingError(
            f"--set {path}={kind}: unknown {axis.AXIS.split(' ', 1)[1]} '{kind}'{nearest(kind, list(known))}"
        )
    names = {item.name for item in fields_of(known[kind])}
    shared = {name: value for name, value in (held or {}).items() if name in names}
    return {"kind": kind, **shared}


__all__ = ["assign"]

"""Changes laid over a setting: how a profile, or one experiment of many, says what is different about it; no torch."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from lengen.part import Axis, Part, SettingError, fields_of, nearest

Setting = TypeVar("Setting", bound=msgspec.Struct)
Changes = Mapping[str, Any]
"""Values by field; for a section or part a mapping of its own or a whole new one. ``model.layers`` leads into one."""


def overlay(base: Setting, *changes: Changes) -> Setting:
    """A copy of a setting, a section or a part with changes laid over it, the last one on top.

    Raises `SettingError` for a field that is not there. What the values may be is for `lengen.settings.spec.check`.

    >>> from lengen import Fire, ModelSpec, NoEncoding
    >>> model = ModelSpec(layers=6, heads=8, width=1024, head_dim=128, ff_width=2048, encoding=NoEncoding())
    >>> small = {"layers": 1, "width": 128}
    >>> changed = overlay(model, small, {"encoding": Fire(), "width": 64})
    >>> changed.layers, changed.heads, changed.width, changed.encoding
    (1, 8, 64, Fire())
    """
    for change in changes:
        base = _laid(base, change, "")
    return base


def _laid(base: Setting, change: Changes, path: str) -> Setting:
    """One layer of changes on what stands at ``path``."""
    names = [item.name for item in fields_of(type(base))]
    fields: dict[str, Any] = {}
    for key, value in change.items():
        name, dot, rest = key.partition(".")
        place = f"{path}{name}"
        if name not in names:
            owner = base.kind if isinstance(base, Part) else path.rstrip(".") or "the setting"
            known = nearest(name, names) if names else "; it has none"
            raise SettingError(f"{place}: there is no field '{name}' in {owner}{known}")
        held = fields.get(name, getattr(base, name))
        inner = {rest: value} if dot else value
        if isinstance(inner, Mapping):
            if not isinstance(held, msgspec.Struct):
                raise SettingError(f"{place}: it holds {held!r}, which has no fields to change; give a whole part")
            fields[name] = _laid(held, inner, f"{place}.")
        else:
            if isinstance(held, Axis) and not isinstance(value, Axis) and value is not None:
                raise SettingError(f"{place}: it holds {held.AXIS}, not {value!r}; give a part such as {held!r}")
            fields[name] = value
    return msgspec.structs.replace(base, **fields)


__all__ = ["Changes", "overlay"]

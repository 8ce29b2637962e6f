"""A setting from the few names that matter, from a file, or that of an experiment; all else is small.

A name is that of a field, as ``--set`` takes it without the sections before it: ``digits`` for ``data.task.digits``.
"""

import difflib
import json
import numbers
from pathlib import Path
from typing import Any

import msgspec

from lengen import clone
from lengen.part import Part, SettingError, a_class, axis_of, build, field_type, fields_of, kinds, nearest, plain
from lengen.settings.changes import assign, paths
from lengen.settings.spec import Spec, from_dict, validate
from lengen.tasks.base import Row, Task

SpecLike = dict[str, Any] | str | Path | Spec
"""A setting, as `read_spec` takes it."""

LONGEST = 5
"""Trained operand length, unless it is named."""
PARTS = {"task": "data", "format": "data", "position_ids": "data", "encoding": "model", "architecture": "model"}
"""Parts that are chosen before their fields are set -> their section."""
SMALL: dict[str, Any] = {
    "data": {"task": {"kind": "addition"}, "format": {"kind": "linear"}, "position_ids": {"kind": "consecutive"}},
    "model": {"layers": 2, "heads": 4, "width": 64, "head_dim": 16, "ff_width": 128, "encoding": {"kind": "fire"}},
    "train": {"steps": 2000, "batch": 64, "lr": 1e-3},
    "test": {"lengths": [], "examples": 100},
}
"""Setting of which the named fields are changed."""


def setting(task: str | Task | Spec = "addition", **named: Any) -> Spec:
    """Return a checked setting of a task, or a changed one; raises `SettingError` for a name that it does not have.

    Values are those of ``--set``: a word, a number, the kind of a part or the part itself, a list or ``"1..10"``. A
    name that a section and a part have is that of the section (``width`` of the model, ``lengths`` of the test); one
    that two sections have needs its path: ``**{"test.examples": 1000}``. Tested are lengths up to twice the
    trained one, and position ids with a largest one have as many as the longest tested problem needs.

    Args:
        task: The task by its kind or as a part, or a whole setting to change.
        named: Fields by their names.

    Raises:
        SettingError: A name or a value that cannot be; one sentence.

    Example:
        >>> spec = setting("addition", digits=3, position_ids="coupled", layers=1)
        >>> spec.data.position_ids, spec.model.layers, spec.test.lengths
        (Coupled(max_position=(8,)), 1, (1, 2, 3, 4, 5, 6))
    """
    if isinstance(task, Spec):
        return _changed(task, named)
    values, fields = json.loads(json.dumps(SMALL)), {"task": task, **named}
    for name in [name for name in PARTS if name in fields]:
        _set(values, f"{PARTS[name]}.{name}", fields[name])
    kind: Any = kinds(Task)[values["data"]["task"]["kind"]]
    values["data"]["task"] = _ranged(kind, named) | values["data"]["task"]
    ids = values["data"]["position_ids"]["kind"]
    if "encoding" not in fields and ids != "consecutive":
        values["model"]["encoding"] = {"kind": "none" if ids == "none" else "learned"}
    if kind.ROWS.numbers and values["data"]["format"] == {"kind": "linear"}:
        # Of two numbers of a query abacus ids couple digits of one place only if their units stand first.
        values["data"]["format"] |= {"reverse_response": True, "reverse_query": ids == "abacus"}
        if kind.ROWS.answer is Row.BOUND and "data.format.width" not in named:
            # padded numbers: the prompt alone decides the places of the response
            values["data"]["format"] |= {"pad_query": True, "pad_response": True}
    _set_all(values, {name: value for name, value in named.items() if name not in PARTS})
    built: Task = build(values["data"]["task"], kind, "data.task")
    test = values["test"]
    if not {"lengths", "test.lengths"} & named.keys():
        test["lengths"] = list(range(min(built.trained_lengths), 2 * built.longest + 1))
    test.setdefault("counts", list(built.counts))
    _with_ids(values)
    spec = from_dict(values, Spec)
    validate(spec)
    return spec


def _changed(spec: Spec, named: dict[str, Any]) -> Spec:
    values = spec.to_dict()
    _set_all(values, dict(sorted(named.items(), key=lambda item: item[0] not in PARTS)))  # parts before their fields
    ids, before = values["data"]["position_ids"], spec.data.position_ids.kind
    named_size = bool({"max_position", "data.position_ids.max_position"} & named.keys())
    if not named_size and (ids["kind"] != before or not ids.get("max_position", 1)):  # other ids, or without a largest
        ids.pop("max_position", None)
        _with_ids(values)
    changed = from_dict(values, type(spec))
    validate(changed)
    return changed


def _set_all(values: dict[str, Any], named: dict[str, Any]) -> None:
    """Set fields by name or path; raises `SettingError` for one that is named twice."""
    seen: dict[str, str] = {}
    for name, value in named.items():
        path = _path(values, name)
        if path in seen:
            raise SettingError(f"'{seen[path]}' and '{name}' are one setting; expected one of them")
        seen[path] = name
        _set(values, path, value)


def _set(values: dict[str, Any], path: str, value: Any) -> None:
    """Set a field as ``--set`` does; raises `SettingError`."""
    if not isinstance(value, str):
        value = json.dumps(value, default=lambda part: _as_data(path, part))
    try:
        assign(values, Spec, f"{path}={value}")
    except SettingError as error:
        raise SettingError(str(error).removeprefix("--set ")) from None
    section, _, name = path.partition(".")
    if PARTS.get(name) == section:
        _check_kind(values[section][name], path)


def _check_kind(part: Any, path: str) -> None:
    """Raise `SettingError` for plain data that names no kind of its axis; its other fields are judged later."""
    section, _, name = path.partition(".")
    axis: Any = axis_of(field_type(field_type(Spec, section), name))
    kind = part.get("kind") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in kinds(axis):
        build(part, axis, path)


def _as_data(path: str, value: object) -> Any:
    """Return a part as plain data; raises `SettingError` for anything else that JSON does not have."""
    if isinstance(value, msgspec.Struct):
        return plain(value)
    if isinstance(value, range):
        return list(value)
    if isinstance(value, numbers.Real):  # of NumPy
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if isinstance(value, type):
        raise SettingError(a_class(path, value))
    raise SettingError(f"{path}={value!r:.60}: expected a word, a number, a list or a part")


def _ranged(kind: type[Part], named: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a task that have no default: its trained lengths."""
    required = [item.name for item in fields_of(kind) if item.required]
    first = next((named[name] for name in required if name in named), LONGEST)
    longest = int(first) if str(first).isdecimal() else first  # 3, "3" or a number of NumPy
    return {name: list(range(1, LONGEST + 1)) if name == "lengths" else longest for name in required}


def _path(values: dict[str, Any], name: str) -> str:
    """Return the path of a field by its name; raises `SettingError`."""
    if "." in name:
        return name
    if name in PARTS:
        return f"{PARTS[name]}.{name}"
    places = {path: path.rpartition(".")[2] for path in paths(values, Spec)}
    named = [path for path, last in places.items() if last == name]
    named = [path for path in named if path.count(".") == 1] or named
    if not named:
        known = list(dict.fromkeys(places.values()))
        task, own = values["data"]["task"], ""
        if not difflib.get_close_matches(name, known, cutoff=0.8):
            own = f"; {task['kind']} itself has {', '.join(item.name for item in fields_of(kinds(Task)[task['kind']]))}"
        raise SettingError(f"there is no setting '{name}'{nearest(name, known)}{own}")
    if len(named) > 1:
        both = " or ".join(f"**{{'{path}': ...}}" for path in named)
        raise SettingError(f"'{name}' stands in {len(named)} sections; expected {both}")
    return named[0]


def _with_ids(values: dict[str, Any]) -> None:
    """Give position ids as many as the longest tested problem needs, if they have a largest one and it is not named."""
    from lengen.data.task_data import TaskData
    from lengen.settings.model import Encoding

    ids = values["data"]["position_ids"]
    encoding: Any = kinds(Encoding)[values["model"]["encoding"]["kind"]]
    if (ids["kind"] not in ("coupled", "abacus", "randomised") and not encoding.TABLE) or "max_position" in ids:
        return
    levels = 2 if ids["kind"] == "coupled" and values["data"]["format"].get("scratchpad") else 1
    many: Any = 10_000
    ids["max_position"] = [many] * levels if ids["kind"] == "coupled" else many
    spec = from_dict(values, Spec)
    data = TaskData(spec, 0)
    longest, most = max(*spec.test.lengths, data.task.longest), max(*spec.test.counts, data.task.most)
    if ids["kind"] not in ("coupled", "abacus"):  # an id for each token
        sides = [data.format.layout(shape) for shape in data.format.longest(longest, most)]
        if data.writer.split:
            sides = [side for both in sides for side in both.split(data.writer.hands_over)]
        ids["max_position"] = max(len(side.symbols) for side in sides) - (ids["kind"] == "consecutive")
        return
    batch = data.writer.write(data.test(longest, most, 100))
    read = [batch.ids] if batch.source is None else [batch.ids, batch.source.ids]
    highest = [max(int(tokens[level].max()) for tokens in read) for level in range(levels)]
    ids["max_position"] = highest if ids["kind"] == "coupled" else highest[0]
    if ids["kind"] == "abacus":
        ids.setdefault("max_offset", highest[0])


def read_spec(source: SpecLike) -> Spec:
    """Return a setting; raises `SettingError`.

    Args:
        source: A setting; the name of an experiment, or of a task, whose setting is then small; a JSON file, such as
            the ``run.json`` of a run; plain data, as `Spec.to_dict` gives it; or fields by their names, as `setting`
            takes them.

    >>> read_spec({"task": "copy", "digits": 3, "layers": 1}).model.layers
    1
    """
    if isinstance(source, Spec):
        return source
    if isinstance(source, str | Path) and Path(source).is_file():
        try:
            source = json.loads(Path(source).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SettingError(f"{source}: expected a setting as JSON ({error})") from None
    if isinstance(source, str | Path):
        if Path(source).suffix == ".json":
            raise SettingError(f"spec={str(source)!r:.80}: there is no such file")
        try:
            return clone.setting(str(source)) if "/" in str(source) else setting(str(source))
        except ValueError as error:
            fault = "expected an experiment by its name, a task, or a JSON file"
            raise SettingError(f"spec={str(source)!r:.80}: {fault} ({error})") from None
    if not isinstance(source, dict):
        raise SettingError(f"spec={source!r:.60}: expected a setting, its name, its file, or its fields by their names")
    values: dict[str, Any] = source.get("spec", source)
    return from_dict(values) if "data" in values or not values else setting(**values)

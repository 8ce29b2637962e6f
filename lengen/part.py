"""Parts, the frozen records that settings are made of: a kind, bounds on fields, and messages.

A part is plain data: no torch. Parts of one axis (tasks, formats, position ids, encodings, ...) share a base class;
their ``kind`` says which one a JSON object stands for, so a setting prints as nested JSON and is read back, checked
field by field. A part that a program defines for itself is found like those of `lengen`: by being a subclass.
"""

import difflib
import functools
import importlib
import json
import pkgutil
import re
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Meta

LARGEST = 2**53
"""Whole numbers up to this are exact as floats, too; nothing that is counted comes near it."""
LONGEST = 4000
"""Digits of the longest numbers: Python writes none of more than 4,300 as text."""
LARGEST_ID = 2**20
"""A table of position ids has a row for each."""
LARGEST_NUMBER = 1e9
"""Rates and factors beyond this, infinity among them, are slips."""
Count = typing.Annotated[int, Meta(ge=0, le=LARGEST)]
"""A whole number from 0 on."""
Size = typing.Annotated[int, Meta(ge=1, le=LARGEST)]
"""A whole number from 1 on."""
Width = typing.Annotated[int, Meta(ge=0, le=LONGEST)]
"""Digits of a number, or 0 for no fixed number of them."""
Length = typing.Annotated[int, Meta(ge=1, le=LONGEST)]
"""Digits or tokens of an operand, or how many operands there are."""
Id = typing.Annotated[int, Meta(ge=1, le=LARGEST_ID)]
"""A largest position id."""
Share = typing.Annotated[float, Meta(ge=0, le=1)]
"""A share, 0 to 1."""
NotNegative = typing.Annotated[float, Meta(ge=0, le=LARGEST_NUMBER)]
"""A number from 0 on."""
Number = typing.Annotated[float, Meta(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
"""A number of either sign."""
MOST_SHOWN = 80
"""Characters of a value that a message shows."""


class SettingError(ValueError):
    """A setting or an override that makes no sense; the message is one sentence for the user.

    Example:
        >>> import lengen
        >>> try:
        ...     lengen.setting("copy", digit=3)
        ... except lengen.SettingError as error:
        ...     print(error)
        there is no setting 'digit'; nearest: digits, init
    """


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A part of a setting; a subclass names its kind with ``tag=``.

    Example:
        >>> import lengen
        >>> lengen.Copy(digits=3).kind
        'copy'
    """

    @property
    def kind(self) -> str:
        """The name of this kind of part in JSON and on the command line."""
        return str(type(self).__struct_config__.tag)


@functools.cache
def fields_of(setting: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a class, looked up once: every hash of a setting needs those of all its parts."""
    return msgspec.structs.fields(setting)


_known: dict[type, dict[str, type[Part]]] = {}
"""Result of `kinds` by the base class of an axis; needed for every part of every setting."""


class Axis:
    """Purpose of a part; fields of a setting that hold any part of an axis are typed with its base class."""

    __slots__ = ()
    AXIS: typing.ClassVar[str]
    """Name of a part of this axis in messages: a task, a format, ..."""

    @property
    def kind(self) -> str:
        """The name of this kind of part; every part of an axis is a `Part`, which gives it."""
        raise NotImplementedError

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _known.clear()


def kinds(axis: type[Axis]) -> Mapping[str, type[Part]]:
    """Return all parts of an axis by their kind, those included that a program defined for itself."""
    if axis not in _known:
        known: dict[str, type[Part]] = {}
        for cls in _subclasses(axis):
            other = known.get(tag := str(cls.__struct_config__.tag))
            if other not in (None, cls) and any(each.__module__.startswith("lengen.") for each in (other, cls)):
                raise SettingError(f"{cls.__name__} and {other.__name__} have one tag, '{tag}': give yours another one")
            known[tag] = cls  # of one's own the last, since a cell of a notebook runs again
        _known[axis] = known
    return _known[axis]


def _subclasses(cls: type) -> typing.Iterator[type[Part]]:
    child: type
    for child in cls.__subclasses__():
        if issubclass(child, Part) and _is_complete(child):
            yield child
        yield from _subclasses(child)


def load_files(package: str, folder: Sequence[str]) -> None:
    """Import every module of a package, so that the parts defined there are found."""
    for module in pkgutil.iter_modules(folder):
        importlib.import_module(f"{package}.{module.name}")


def _is_complete(part: type[Part]) -> bool:
    """Return True for a part, not a base of several: msgspec tags a class without a tag of its own with its name."""
    return part.__struct_config__.tag != part.__name__ and not part.__name__.startswith("_")


Value = typing.TypeVar("Value")


def build(value: Any, sort: type[Value], path: str = "") -> Value:
    """Return a setting of class ``sort`` from plain JSON data, every field checked; raises `SettingError`.

    ``path`` is where the data stands, for messages: ``data.task``.
    """
    try:
        return msgspec.convert(value, sort, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise SettingError(_sentence(str(error), value, path, sort)) from None
    except UnicodeEncodeError:
        raise SettingError(f"{path or 'the setting'}: a text in it is no Unicode; write it anew") from None


def plain(setting: msgspec.Struct) -> dict[str, Any]:
    """Return nested plain data of a setting, ready for JSON; raises `SettingError` for a text that no file can hold."""
    try:
        data: dict[str, Any] = json.loads(msgspec.json.encode(setting))
    except UnicodeEncodeError:
        raise SettingError("a text in this setting is no Unicode; write it anew") from None
    except TypeError:
        raise SettingError(_foreign(setting)) from None
    return data


def a_class(place: str, part: type) -> str:
    """Return the sentence for a class in place of a part."""
    return f"{place}={part.__name__}: this is a class; expected a part, such as {part.__name__}()"


def _foreign(setting: msgspec.Struct, path: str = "") -> str:
    """Say which field holds what no file can, such as a class in place of a part."""
    for name in setting.__struct_fields__:
        value, place = getattr(setting, name), f"{path}{name}"
        if isinstance(value, type):
            return a_class(place, value)
        if isinstance(value, msgspec.Struct) and (sentence := _foreign(value, f"{place}.")):
            return sentence
    return "" if path else "a value in this setting is neither a word nor a number, a list or a part"


def _decode(sort: type, value: Any) -> Any:
    """Return any part of an axis, by its kind."""
    if not issubclass(sort, Axis):
        raise NotImplementedError(sort)
    if isinstance(value, sort):
        return value
    known = kinds(sort)
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise ValueError(f"expected {sort.AXIS}: one of {', '.join(known)}")
    if value["kind"] not in known:
        kind = cut(value["kind"])
        raise ValueError(f"unknown {sort.AXIS.split(' ', 1)[1]} '{kind}'{nearest(kind, list(known))}")
    try:
        return msgspec.convert(value, known[value["kind"]], dec_hook=_decode)
    except msgspec.ValidationError as error:
        # messages of nested parts carry the path that the outer reader cannot know
        text, _, place = str(error).partition(" - at `$")
        raise ValueError(f"{text} - at `${place.rstrip('`')}`") from None


def _sentence(error: str, value: Any, path: str, sort: type) -> str:
    """Return msgspec's message as one sentence that begins with the field and what it holds."""
    places = [place.strip(".") for place in re.findall(r" - at `\$([^`]*)`", error)]
    text = re.sub(r" - at `[^`]*`", "", error)
    inner = ".".join(filter(None, reversed(places)))
    place = ".".join(filter(None, (path, inner))).replace(".[", "[")
    held = _at(value, inner)
    missing = re.fullmatch(r"Object missing required field `(\w+)`", text)
    if missing:
        return f"{place}.{missing[1]}: this field is missing, and it has no default; set it, too".lstrip(".")
    unknown = re.fullmatch(r"Object contains unknown field `(\w+)`", text)
    if unknown:
        kind = cut(str(held["kind"])) if isinstance(held, dict) and "kind" in held else "this section"
        return f"{place}: there is no field '{cut(unknown[1])}' in {kind}".lstrip(": ")
    text = text.replace("`", "")
    text = text[:1].lower() + text[1:]
    words = _words(sort, value, inner) if text.startswith("invalid enum value") else []
    if words:
        text = f"expected one of {', '.join(words)}"
    shown = "" if held is _NOTHING or isinstance(held, dict) else f"={cut(json.dumps(held, ensure_ascii=False))}"
    return f"{place}{shown}: {text}" if place else text


def shown(value: Any) -> str:
    """Return a value as ``--set`` takes it: a part without fields by its kind, a word as it is, all else as JSON."""
    data = msgspec.to_builtins(value)
    if isinstance(data, dict) and set(data) == {"kind"}:
        data = data["kind"]
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def cut(text: str) -> str:
    """Return the beginning of a text that a message shows."""
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."


def _words(sort: type, value: Any, place: str) -> list[str]:
    """Return the words that a field may hold, read off the declared types on the way to it; empty within lists."""
    declared: Any = sort
    for name in place.split("."):
        if not isinstance(value, dict) or name not in value:
            return []
        declared, value = field_type(owner_of(declared, value), name), value[name]
    return [str(word) for word in typing.get_args(declared)]


_NOTHING = object()


def _at(value: Any, place: str) -> Any:
    """Return the value at a place such as ``data.position_ids.max_position[0]`` of nested data."""
    for step in re.findall(r"\w+|\[\d+\]|\[\.\.\.\]", place):
        if step == "[...]":
            return _NOTHING
        try:
            value = value[int(step[1:-1])] if step.startswith("[") else value[step]
        except (KeyError, IndexError, TypeError):
            return _NOTHING
    return value


def nearest(word: str, words: Sequence[str]) -> str:
    """Return a suggestion for a mistyped word: '; nearest: a, b', or the whole choice if nothing is near."""
    close = difflib.get_close_matches(word, words, n=3, cutoff=0.5)
    return "; nearest: " + ", ".join(close) if close else "; one of: " + ", ".join(words)


def field_type(sort: type, name: str) -> Any:
    """Return the declared type of a field."""
    return typing.get_type_hints(sort)[name]


def owner_of(declared: Any, data: Mapping[str, Any]) -> Any:
    """Return the class of the plain data of a field: where any part of an axis may stand, that of its kind."""
    sort = next(part for part in (declared, *typing.get_args(declared)) if isinstance(part, type))
    return kinds(sort)[data["kind"]] if issubclass(sort, Axis) and not issubclass(sort, Part) else sort


def axis_of(declared: Any) -> type[Axis] | None:
    """Return the axis of a field that holds a part (or none), else None."""
    classes = (part for part in (declared, *typing.get_args(declared)) if isinstance(part, type))
    return next((part for part in classes if issubclass(part, Axis)), None)

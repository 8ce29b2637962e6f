"""Every field of every setting, read off the classes themselves, with values that it holds and values that it refuses.

What enters are the classes of `lengen` and of the papers, found as subclasses; what leaves are a value that is
right and values that are wrong, by the declared type. A type that this file does not know is an error, not left out.
"""

import math
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

import papers
from lengen import Section, Spec
from lengen.part import Axis, kinds
from lengen.settings import model

STRANGE = (
    None, True, -1, 0, 10**9, 2**53 + 1, 10**400, 1.5, -0.0, 1e308, math.inf, -math.inf, math.nan, "", "x", "none",
    "\0", "\x1b[31m", "a\nb", "٣", "\u202e", "\udcff", "${HOME}", "<script>", "x" * 5000, [], [[]], [None], [[], {}],
    [10**400], ["a"], [1] * 3, {}, {"kind": "none"}, {"kind": []}, {"kind": "x" * 5000}, {"": 0}, {"kind": "linear"},
)  # fmt: skip
"""Values that somebody could write into a file of settings."""


def classes() -> list[type[msgspec.Struct]]:
    """Every class of a setting: sections, parts of every axis, whole settings, those of papers included."""
    papers.found()  # loads the papers' settings
    loose = [model.ModelSpec, model.Tempered, model.LoopsByLength]
    found = [*_below(Section), *_below(Spec), *loose, *(part for axis in Axis.__subclasses__() for part in parts(axis))]
    ours = [cls for cls in dict.fromkeys(found) if cls.__module__.partition(".")[0] in ("lengen", "papers")]
    return sorted(ours, key=lambda cls: (cls.__module__, cls.__qualname__))


def parts(axis: type[Axis]) -> list[type[msgspec.Struct]]:
    return list(kinds(axis).values())


def _below(cls: type) -> Iterator[type[msgspec.Struct]]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)


def fields(cls: type[msgspec.Struct]) -> list[inspect.Field]:
    """The fields of a class with their declared types."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return list(info.fields)


def right(declared: inspect.Type) -> Any:
    """A value that a type holds, as plain data: the smallest."""
    match declared:
        case inspect.IntType(ge=ge):
            return 0 if ge is None else ge
        case inspect.FloatType(ge=ge):
            return 0.0 if ge is None else ge
        case inspect.BoolType():
            return False
        case inspect.StrType():
            return "1"
        case inspect.NoneType():
            return None
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.TupleType(item_types=items):
            return [right(item) for item in items]
        case inspect.VarTupleType(item_type=item, min_length=least):
            return [right(item)] * (least or 0)
        case inspect.UnionType(types=types):
            return right(types[0])
        case inspect.CustomType(cls=axis):
            return example(parts(axis)[0])
        case inspect.StructType(cls=cls):
            return example(cls)
    raise NotImplementedError(f"{declared}: say here what it holds")


def example(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """Plain data of a class, every field that has to be given at its smallest."""
    tag = cls.__struct_config__.tag
    kind = {} if tag is None else {"kind": tag}
    return kind | {field.encode_name: right(field.type) for field in fields(cls) if field.required}


def wrong(declared: inspect.Type) -> list[Any]:
    """Values that a type does not hold: of another type, and just outside its bounds."""
    match declared:
        case inspect.IntType(ge=ge, le=le):
            assert (ge is None) is (le is None), f"{declared}: bounded on one side only"
            return [None, "1", "٣", [], {}, True, 1.5, math.nan, *([] if ge is None else [ge - 1, le + 1, 10**400])]
        case inspect.FloatType():
            beyond = [edge for edge in (_below_of(declared), _above_of(declared)) if edge is not None]
            assert len(beyond) != 1, f"{declared}: bounded on one side only"
            return [None, "1", [], {}, True, *beyond, *((math.nan, math.inf, -math.inf) if beyond else ())]
        case inspect.BoolType():
            return [None, 0, 1, "true", [], {}]
        case inspect.StrType():
            return [None, 0, True, [], {}]
        case inspect.NoneType():
            return [0, False, "none", [], {}]
        case inspect.LiteralType(values=values):
            return [None, 0, "", f"{values[0]}x", str(values[0]).upper() + " ", [], {}]
        case inspect.TupleType(item_types=items):
            good = right(declared)
            spoilt = [[*good[:at], bad, *good[at + 1 :]] for at, item in enumerate(items) for bad in wrong(item)]
            return [None, 0, "a", {}, [], [*good, *good], *spoilt]
        case inspect.VarTupleType(item_type=item, min_length=least):
            return [None, 0, "a", {}, *([[]] if least else []), *([bad] for bad in wrong(item))]
        case inspect.UnionType(types=types):
            sides = [wrong(side) for side in types]
            return [bad for side in sides for bad in side if all(_among(bad, other) for other in sides)]
        case inspect.CustomType() | inspect.StructType():
            return [0, True, "learned", [], {"kind": "knitting"}, {"kind": 3}, {"knitting": 1}]
    raise NotImplementedError(f"{declared}: say here what it refuses")


def _among(value: Any, values: list[Any]) -> bool:
    """Whether a value is in a list, and of the type it has there: True is not 1."""
    return any(type(value) is type(one) and repr(value) == repr(one) for one in values)


def _below_of(declared: inspect.FloatType) -> float | None:
    return declared.gt if declared.ge is None else declared.ge - 1


def _above_of(declared: inspect.FloatType) -> float | None:
    return declared.lt if declared.le is None else declared.le + 1

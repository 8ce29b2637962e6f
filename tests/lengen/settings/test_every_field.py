"""Every field of every setting, with right and wrong values."""

import functools
import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

import papers
from lengen import Section, Spec, validate
from lengen.experiment import Experiment
from lengen.part import Axis, SettingError, build, kinds
from lengen.settings import model
from reproduce.catalogue import CATALOGUE
from reproduce.runs.costs import cost, in_words

pytestmark = pytest.mark.slow

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
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return list(info.fields)


def right(declared: inspect.Type) -> Any:
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
        case inspect.FloatType(gt=gt, ge=ge, lt=lt, le=le):
            beyond = [gt if ge is None else ge - 1, lt if le is None else le + 1]
            beyond = [edge for edge in beyond if edge is not None]
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
            kinds_of = [{(type(bad), repr(bad)) for bad in side} for side in sides]  # True is not 1
            return [bad for side in sides for bad in side if all((type(bad), repr(bad)) in one for one in kinds_of)]
        case inspect.CustomType() | inspect.StructType():
            return [0, True, "learned", [], {"kind": "knitting"}, {"kind": 3}, {"knitting": 1}]
    raise NotImplementedError(f"{declared}: say here what it refuses")


FIELDS = [pytest.param(cls, field, id=f"{cls.__qualname__}.{field.name}") for cls in classes() for field in fields(cls)]
TEXTS = (
    "", "none", "null", "true", "-1", "0", "3", "1.5", "1e999", "-Infinity", "NaN", "9" * 400, "9" * 5000, "x",
    "x" * 5000, "\0", "\x1b[2J", "a\nb", "٣", "\udcff", "\u202e", "../..", "$(id)", "{", "[", "[" * 5000, "{}", "[]",
    "[[]]", "[[1]]", "[1,2]", "1,2", "1..3", "3..1", "1..99999999", "1..9 by 0", ",", '""', '{"kind":"none"}',
    '{"kind":[]}', "linear", "learned", "addition", "a=b",
)  # fmt: skip
"""What somebody could type behind ``--set path=``."""


def one_sentence(error: Exception) -> str:
    said = str(error)
    assert said and len(said) < 2000, said[:200]
    return said


def test_every_class_of_a_setting_has_an_example_and_fields_bounded_on_both_sides():
    found = classes()
    assert len(found) > 40 and Spec in [base for cls in found for base in cls.__mro__]
    for cls in found:
        assert isinstance(build(example(cls), cls), cls)


@pytest.mark.parametrize(("cls", "field"), FIELDS)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(cls, field):
    good = example(cls)
    for value in wrong(field.type):
        with pytest.raises(SettingError) as caught:
            build({**good, field.encode_name: value}, cls, "place")
        assert f"place.{field.encode_name}" in one_sentence(caught.value), value


@pytest.mark.parametrize(("cls", "field"), FIELDS)
def test_whatever_stands_in_a_field_it_is_a_setting_or_a_sentence(cls, field):
    good = example(cls)
    for value in STRANGE:
        try:
            made = build({**good, field.encode_name: value}, cls)
        except SettingError as error:
            one_sentence(error)
        else:
            assert isinstance(made, cls)


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__qualname__)
def test_what_is_no_field_or_no_setting_is_refused(cls):
    for value in [*(value for value in STRANGE if not isinstance(value, dict)), {**example(cls), "knitting": 1}]:
        with pytest.raises(SettingError) as caught:
            build(value, cls)
        one_sentence(caught.value)


def places(values: dict, path: str = "") -> list[str]:
    found = []
    for name, value in values.items():
        if name != "kind":
            inner = f"{path}.{name}" if path else name
            found += [inner, *(places(value, inner) if isinstance(value, dict) else [])]
    return found


def settable() -> dict[tuple[str, type], tuple[Spec, str]]:
    """Every field that a declared setting has, once, with a setting and the path to it."""
    found: dict[tuple[str, type], tuple[Spec, str]] = {}
    declared: list[Experiment] = [item for paper in CATALOGUE.papers() for item in CATALOGUE.experiments(paper)]
    specs = {item.specs["smoke"].hash(): item.specs["smoke"] for item in declared if "smoke" in item.specs}
    for spec in specs.values():
        for path in places(spec.to_dict()):
            *steps, last = path.split(".")
            if steps:
                holder = functools.reduce(getattr, steps, spec)
                found.setdefault((last, type(holder)), (spec, path))
    return found


SETTABLE = settable()


@pytest.mark.parametrize(("spec", "path"),
    SETTABLE.values(), ids=[f"{cls.__qualname__}.{name}" for name, cls in SETTABLE])  # fmt: skip
def test_whatever_is_typed_behind_set_it_is_a_setting_that_can_be_planned_or_a_sentence(spec, path):
    for text in TEXTS:
        try:
            changed = spec.override(f"{path}={text}")
        except SettingError as error:
            assert f"--set {path}" in one_sentence(error)
        else:
            validate(changed)
            assert json.loads(json.dumps(changed.to_dict(), allow_nan=False))
            assert changed.hash() and in_words(cost(changed, "cpu").total)


def test_paths_that_lead_nowhere_are_refused():
    spec = next(iter(SETTABLE.values()))[0]
    assert len(SETTABLE) > 60 and {"DataSpec", "TestSpec", "Addition"} <= {cls.__qualname__ for _, cls in SETTABLE}
    for text in (
        "", "=", "x", "x=1", ".", "..=1", "data.=1", ".data=1", "data.task.kind=x", "a" * 5000 + "=1", "\0=\0",
    ):  # fmt: skip
        with pytest.raises(SettingError) as caught:
            spec.override(text)
        assert "--set" in str(caught.value)

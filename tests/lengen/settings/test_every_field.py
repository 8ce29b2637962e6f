"""Every field of every setting with wrong types, out of range, hostile: one sentence, whatever stands there."""

import json
from typing import Annotated

import msgspec
import pytest

from lengen.experiment import Experiment
from lengen.part import SettingError, build
from lengen.settings.spec import Spec, validate
from reproduce.catalogue import CATALOGUE
from reproduce.runs.costs import cost, in_words
from tests.lengen.settings.fields import STRANGE, classes, example, fields, wrong

pytestmark = pytest.mark.slow

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


def test_every_class_of_a_setting_is_known_and_its_example_is_one():
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
    """Paths of all fields, sections and parts themselves included."""
    found = []
    for name, value in values.items():
        if name != "kind":
            inner = f"{path}.{name}" if path else name
            found += [inner, *(places(value, inner) if isinstance(value, dict) else [])]
    return found


def kind_at(spec: Spec, path: str) -> tuple[str, type]:
    """The field at the end of a path and the class that has it: where two settings agree, one is tried."""
    *steps, last = path.split(".")
    holder = spec
    for step in steps:
        holder = getattr(holder, step)
    return last, type(holder)


def settable() -> dict[tuple[str, type], tuple[Spec, str]]:
    """Every field that a declared setting has, once, with a setting and the path to it."""
    found: dict[tuple[str, type], tuple[Spec, str]] = {}
    declared: list[Experiment] = [item for paper in CATALOGUE.papers() for item in CATALOGUE.experiments(paper)]
    specs = {item.specs["smoke"].hash(): item.specs["smoke"] for item in declared if "smoke" in item.specs}
    for spec in specs.values():
        for path in places(spec.to_dict()):
            if "." in path:
                found.setdefault(kind_at(spec, path), (spec, path))
    return found


SETTABLE = settable()


@pytest.mark.parametrize(
    ("spec", "path"), SETTABLE.values(), ids=[f"{cls.__qualname__}.{name}" for name, cls in SETTABLE]
)
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
        "",
        "=",
        "x",
        "x=1",
        ".",
        "..=1",
        "data.=1",
        ".data=1",
        "data.task.kind=x",
        "a" * 5000 + "=1",
        "\0=\0",
    ):
        with pytest.raises(SettingError) as caught:
            spec.override(text)
        assert "--set" in str(caught.value)


def test_the_table_notices_a_field_that_is_bounded_on_one_side():
    careless = msgspec.defstruct("Careless", [("rate", Annotated[float, msgspec.Meta(ge=0)])])
    with pytest.raises(AssertionError, match="bounded on one side only"):
        wrong(fields(careless)[0].type)

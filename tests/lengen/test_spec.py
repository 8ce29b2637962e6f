"""Specifications: overrides by name and type, hashes, the way to JSON and back; every refusal is one sentence."""

import dataclasses
import hashlib
import json
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengen.config.sections import later
from lengen.config.spec import Spec, SpecError, change, from_dict, nearest
from tests.lengen.helpers import data_spec, spec

SPEC = spec(data_spec("addition"))


@pytest.mark.parametrize(
    ("assignment", "section", "field", "value"),
    [
        ("train.steps=500", "train", "steps", 500),
        ("train.lr=3e-4", "train", "lr", 3e-4),
        ("train.lr=1", "train", "lr", 1.0),
        ("train.betas=0.9,0.98", "train", "betas", (0.9, 0.98)),
        ("train.compile=True", "train", "compile", True),
        ("data.pad=false", "data", "pad", False),
        ("data.task=parity", "data", "task", "parity"),
        ("data.max_position=64,32,64", "data", "max_position", (64, 32, 64)),
        ("test.lengths=[5,10]", "test", "lengths", (5, 10)),
        ("test.lengths=7", "test", "lengths", (7,)),
        ("test.attention=[[3,4],[5,6]]", "test", "attention", ((3, 4), (5, 6))),
        ('test.probes=[["12","3"],["4","5"]]', "test", "probes", (("12", "3"), ("4", "5"))),
        ("model.dropout=0.3", "model", "dropout", 0.3),
    ],
)
def test_an_override_sets_one_field(assignment, section, field, value):
    changed = SPEC.override(assignment)
    assert getattr(getattr(changed, section), field) == value
    assert type(getattr(getattr(changed, section), field)) is type(value)
    back = change(changed, **{section: {field: getattr(getattr(SPEC, section), field)}})
    assert back == SPEC and SPEC.override() == SPEC


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("steps=5", "expected section.field=value"),
        ("train.steps", "expected section.field=value"),
        ("trian.steps=5", "no section 'trian'; nearest: train"),
        ("train.setps=5", "no field 'setps'; nearest: steps"),
        ("train.qqqqqq=5", "no field 'qqqqqq'; one of: steps, batch"),
        ("train.steps=many", "train.steps=many: expected a value of type int"),
        ("train.steps=1.5", "expected a value of type int"),
        ("train.lr=fast", "expected a value of type float"),
        ("data.pad=maybe", "expected a value of type bool"),
        ("data.max_position=a", "expected a value of type tuple"),
        ("data.max_position=1.5", "expected a value of type tuple"),
        ("data.max_position=true", "expected a value of type tuple"),
        ("test.attention=3,4", "expected a value of type tuple"),
        ("test.probes=12,3", "expected a value of type tuple"),
        ("test.probes=[[12,3]]", "expected a value of type tuple"),
    ],
)
def test_a_bad_override_gets_one_sentence(assignment, message):
    with pytest.raises(SpecError) as caught:
        SPEC.override("train.batch=9", assignment)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and isinstance(caught.value, ValueError)


def test_equal_specs_have_equal_hashes_and_any_field_changes_it():
    assert SPEC.hash() == spec(data_spec("addition")).hash()
    assert len(SPEC.hash()) == 16
    others = {
        "bool": lambda v: not v,
        "int": lambda v: v + 1,
        "float": lambda v: v + 0.5,
        "str": lambda v: v + "x",
        "tuple": lambda v: (*v, 77),
    }
    hashes = [SPEC.hash()]
    for section in dataclasses.fields(Spec):
        for field in dataclasses.fields(getattr(SPEC, section.name)):
            value = getattr(getattr(SPEC, section.name), field.name)
            hashes.append(change(SPEC, **{section.name: {field.name: others[type(value).__name__](value)}}).hash())
    assert len(set(hashes)) == len(hashes)


LATER = [
    (section.name, field)
    for section in dataclasses.fields(Spec)
    for field in dataclasses.fields(getattr(SPEC, section.name))
    if field.metadata.get("later")
]
"""Fields that came after runs were stored."""


def hash_before(changed: dict[str, typing.Any]) -> str:
    """The hash of a specification as it was before those fields came, and of none of them but those ``changed``."""
    values = SPEC.to_dict()
    for section, field in LATER:
        assert values[section].pop(field.name) == field.default
    for section, fields in changed.items():
        values[section] |= fields
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def test_fields_that_came_later_are_hashed_only_where_they_are_not_at_their_default():
    assert {field.name for _, field in LATER} >= {"fixed_length", "architecture", "dropout", "stop_at", "probes"}
    assert SPEC.hash() == hash_before({})
    for section, field in LATER:
        assert change(SPEC, **{section: {field.name: field.default}}).hash() == hash_before({})
        value = {"bool": not field.default, "str": "x", "tuple": (("7",),)}.get(type(field.default).__name__, 0.5)
        one = {section: {field.name: value}}
        assert change(SPEC, **one).hash() == hash_before(one) != hash_before({})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Extra:
    more: tuple[int, ...] = (1,)
    late: int = later(0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Longer(Spec):
    """A specification with a section of its own, trained once before."""

    extra: Extra

    def trainings(self) -> tuple[Spec, ...]:
        return (change(self, train={"steps": 1}), *super().trainings())


LONGER = Longer(**{field.name: getattr(SPEC, field.name) for field in dataclasses.fields(Spec)}, extra=Extra())


def test_trainings_are_the_specification_itself_and_what_a_subclass_trains_before():
    assert SPEC.trainings() == (SPEC,)
    assert [spec.train.steps for spec in LONGER.trainings()] == [1, SPEC.train.steps]


def test_a_section_of_a_subclass_is_read_by_it_alone():
    values = json.loads(json.dumps(LONGER.to_dict()))
    assert from_dict(values, Longer) == LONGER and from_dict(values, Longer).hash() == LONGER.hash()
    assert from_dict(values) == SPEC and type(from_dict(values)) is Spec
    del values["extra"]["late"]
    assert from_dict(values, Longer) == LONGER, "stored before the field came"
    assert LONGER.hash() != SPEC.hash()
    assert LONGER.override("extra.more=2,3", "train.steps=7").extra.more == (2, 3)
    assert LONGER.override("extra.late=1").hash() != LONGER.hash() == LONGER.override("extra.late=0").hash()
    with pytest.raises(SpecError, match="there is no section 'extra'"):
        SPEC.override("extra.more=2")


def _values(kind):
    plain = {int: st.integers(0, 99), float: st.floats(0, 1), bool: st.booleans(), str: st.text(max_size=5)}
    if kind in plain:
        return plain[kind]
    inner = typing.get_args(kind)
    if len(inner) == 2 and inner[1] is Ellipsis:
        return st.lists(_values(inner[0]), max_size=3).map(tuple)
    return st.tuples(*map(_values, inner))


def _section(kind):
    return st.builds(kind, **{name: _values(hint) for name, hint in typing.get_type_hints(kind).items()})


@given(st.builds(Spec, **{name: _section(kind) for name, kind in typing.get_type_hints(Spec).items()}))
@settings(max_examples=10)
def test_a_spec_survives_json(any_spec):
    back = from_dict(json.loads(json.dumps(any_spec.to_dict())))
    assert back == any_spec and back.hash() == any_spec.hash()


def test_a_stored_spec_with_a_field_that_is_gone_is_still_read():
    values = SPEC.to_dict()
    values["train"]["gone"] = 3
    assert from_dict(values) == SPEC


def test_nearest_names_what_is_close_or_all_there_is():
    assert nearest("fire_rato", ["fire", "fire_ratio", "rope"]).startswith("; nearest: fire_ratio")
    assert nearest("zzz", ["fire", "rope"]) == "; one of: fire, rope"


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["data.length=0"], "data.length=0: expected at least 1"),
        (["data.count=1"], "data.count=1: addition needs at least 2 operands"),
        (["data.examples=-3"], "data.examples=-3: expected at least 0"),
        (["train.batch=0"], "train.batch=0: expected at least 1"),
        (["train.bucket=0"], "train.bucket=0: expected at least 1"),
        (["train.lr=-1"], "train.lr=-1.0: expected at least 0"),
        (["train.lr=nan"], "train.lr=nan: expected at least 0"),
        (["train.warmup=2"], "train.warmup=2.0: expected a share of the steps, at most 1"),
        (["train.precision=fp7"], "train.precision=fp7: expected one of 32-true, bf16-mixed, 64-true, bf16-true"),
        (["model.heads=0"], "model.heads=0: expected at least 1"),
        (["test.lengths=0"], "test.lengths=[0]: expected one value or more, each at least 1"),
        (["test.counts=[]"], "test.counts=[]: expected one value or more"),
        (["test.attention=[[0,2]]"], "expected pairs (length, count), each at least 1"),
        (["data.position_ids=none"], "data.position_ids=none: model.encoding=learned needs ids"),
        (["model.encoding=rope", "data.position_ids=none"], "model.encoding=rope needs ids"),
        (["data.position_ids=consecutive"], "expected 1 value, the longest sequence"),
        (["model.encoding=rope", "model.head_dim=7"], "model.head_dim=7: rope turns pairs and needs an even number"),
        (["data.base=1"], "data.base=1: expected a base from 2 to 16"),
        (["data.base=17"], "data.base=17: expected a base from 2 to 16"),
        (["data.limit=-1"], "data.limit=-1: expected at least 0"),
        (["data.fixed_length=-1"], "data.fixed_length=-1: expected at least 0"),
        (["data.base=4"], "data.fixed_length=0: data.base, data.aligned and data.limit"),
        (["data.aligned=true"], "data.fixed_length=0: data.base, data.aligned and data.limit"),
        (["data.fixed_length=2"], "expected at least the longest trained or tested operand, 3 digits"),
        (["data.fixed_length=7", "test.lengths=5,9"], "data.fixed_length=7: expected at least the longest"),
        (["data.position_ids=cyclic"], "data.period=0: cyclic position ids need a period of at least 1"),
        (["data.period=-1"], "data.period=-1: expected at least 0"),
        (
            ["model.architecture=encodre"],
            "model.architecture=encodre: expected one of decoder, encoder_decoder, encoder",
        ),
        (["model.encoder_layers=-1"], "model.encoder_layers=-1: expected at least 0"),
        (["model.dropout=1.5"], "model.dropout=1.5: expected a share, 0 to 1"),
        (["model.dropout=nan"], "model.dropout=nan: expected at least 0"),
        (["model.bias=windows"], "model.bias=windows: expected one of none, window, given"),
        (["model.bias=window"], "model.bias=window: fixed biases need model.architecture=encoder_decoder"),
        (["model.bias=given", "model.architecture=encoder"], "model.bias=given: fixed biases need"),
        (["model.causal=false"], "model.causal=false: a bias that decides instead needs"),
        (["model.window=-1"], "model.window=-1: expected at least 0"),
        (["model.stride=0"], "model.stride=0: expected at least 1"),
        (["train.stop_at=1.01"], "train.stop_at=1.01: expected a share, 0 to 1"),
        (["train.stop_at=-0.5"], "train.stop_at=-0.5: expected a share, 0 to 1"),
        (["train.patience=0"], "train.patience=0: expected at least 1"),
        (["test.attention=[[2,2]]", "model.architecture=encoder_decoder"], "need model.architecture=decoder"),
    ],
)
def test_values_that_make_no_sense_get_one_sentence(assignments, message):
    with pytest.raises(SpecError) as caught:
        SPEC.override(*assignments)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_parts_are_judged_together_not_one_by_one():
    both = SPEC.override("data.position_ids=none", "model.encoding=none")
    assert both == SPEC.override("model.encoding=none", "data.position_ids=none")
    beside = ("model.architecture=encoder_decoder", "model.bias=given", "model.causal=false", "model.encoder_layers=1")
    assert SPEC.override(*beside).model.bias == "given"
    assert SPEC.override("data.position_ids=cyclic", "data.period=3", "data.fixed_length=3").data.period == 3

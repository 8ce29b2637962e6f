"""Settings, their overrides and their profiles."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import Linear, Rotary, SettingError, replace
from lengen.experiment import ByProfile, at_profiles
from lengen.part import Axis, kinds
from papers.random_spaces.profiles import BASE
from tests.fixtures.refusals import refused
from tests.fixtures.settings import data_spec, fixed_data, spec
from tests.lengen.data.test_writer import ACCEPTED

SPEC = spec(data_spec("addition"))
ONE_LEVEL = 'data.position_ids={"kind":"consecutive"}'
NO_IDS = ("data.position_ids=none", "model.encoding=none")
SENSELESS = {
    "numbers of any width": [
        ("data.task.digits=0", "data.task.digits=0: expected int >= 1"),
        ("data.task.operands=1", "data.task.operands=1: addition needs at least 2 operands"),
        ("data.examples=-3", "data.examples=-3: expected int >= 0"),
        ("train.batch=0", "train.batch=0: expected int >= 1"),
        ("train.bucket=0", "train.bucket=0: expected int >= 1"),
        ("train.lr=-1", "train.lr=-1: expected float >= 0"),
        ("train.warmup=2", "train.warmup=2: expected float <= 1"),
        ("train.precision=fp7", 'train.precision="fp7": expected one of '),
        ("model.heads=0", "model.heads=0: expected int >= 1"),
        ("test.lengths=0", "test.lengths"),
        ("test.lengths=4001", "test.lengths=4001: expected numbers of at most 4000 digits"),
        ("test.counts=[]", "test.counts=[]: expected "),
        ("test.attention=[[0,2]]", "expected int >= 1"),
        ("data.position_ids=none", "model.encoding=learned"),
        ("model.encoding=rope data.position_ids=none",
         "model.encoding=rope: it reads position ids, and data.position_ids=none"),
        ("data.position_ids=cyclic data.position_ids.period=0", "data.position_ids.period=0: expected int >= 1"),
        ("data.position_ids=consecutive data.position_ids.max_position=0",
         "model.encoding=learned: its table has a row"),
        ("model.encoding=rope",
         "model.encoding=rope: it reads 1 level of position ids, and data.position_ids=coupled has 2"),
        ("model.architecture=encodre", "unknown architecture 'encodre'; nearest: encoder"),
        ("model.dropout=1.5", "model.dropout=1.5: expected float <= 1"),
        ("model.architecture=encoder_decoder model.architecture.attention_bias=windows",
         "unknown attention bias 'windows'"),
        ("model.attention_bias=given", "has no field 'attention_bias'"),
        ("model.inject=input", "model.inject=input: it is added at recurrent steps"),
        ("model.output_bias=true", "model.output_bias=true: a tied output head"),
        ("train.stop_at=1.01", "train.stop_at=1.01: expected float <= 1"),
        ("train.patience=0", "train.patience=0: expected int >= 1"),
        ("test.attention=[[2,2]] model.architecture=encoder_decoder", "need model.architecture=decoder"),
        ("test.counts=1..3", "test.counts=[1, 2, 3]: problems of data.task=addition"),
        ('data.task={"kind":"running_xor","digits":3} test.counts=1', "data.task.base=10: an exclusive or is of bits"),
        ("data.format.pad_query=false data.format.pad_response=false data.format.end=false",
         "data.format.end=false: numbers of addition end"),
        ('model.architecture=encoder_decoder model.encoding=sinusoidal data.position_ids={"kind":"consecutive"} '
         'model.loops=2 model.inject=coordinates', "model.architecture.encoder_layers=0: sinusoidal, with"),
        *(
            (f"model.architecture=encoder_decoder {ONE_LEVEL} model.encoding={kind}",
             f"model.architecture.encoder_layers=0: {kind}, with model.inject=none, tells the order of tokens")
            for kind in ("alibi", "fire")
        ),
    ],
    "numbers of one width": [
        ("data.task.base=1", "data.task.base=1: expected a base from 2 to 16"),
        ("data.task.base=17", "data.task.base=17: expected a base from 2 to 16"),
        ("data.task.limit=-1", "data.task.limit=-1: expected int >= 0"),
        ("data.format.width=2", "data.format.width=2: expected at least 4"),
        ("data.format.width=7 test.lengths=5,9", "data.format.width=7: expected at least 10"),
        ("data.format.width=3", "data.format.width=3: expected at least 4"),
        ("data.task.limit=6", "data.task.limit=6: expected a number from 7 to 9999"),
        ("data.task.limit=10000", "data.task.limit=10000: expected a number from 7 to 9999"),
        ("data.task.limit=100", "data.task.limit=100: expected more than 100"),
        ("data.task.digits=30 data.task.limit=200000000 data.format.width=40", "from 7 to 134217727"),
        ("test.counts=2,3", "test.counts=[2, 3]: problems of data.task=pair_addition"),
        ('model.architecture=encoder_decoder model.architecture.attention_bias=given data.spaces={"ratio":0.5}',
         "model.architecture.attention_bias=given: beside"),
        ("model.architecture=encoder_decoder model.architecture.causal=false",
         "model.architecture.causal=false: without a bias"),
        ("model.encoding=rope model.head_dim=7", "model.head_dim=7: rope turns pairs"),
    ],
}  # fmt: skip
"""Assignments and the beginning of what is said of them."""
HERE = {"numbers of any width": SPEC, "numbers of one width": spec(fixed_data("addition"), encoding="sinusoidal")}


@pytest.mark.parametrize(("assignment", "path", "value"), [
    ("train.steps=500", "train.steps", 500), ("train.lr=3e-4", "train.lr", 3e-4), ("train.lr=1", "train.lr", 1.0),
    ("train.betas=0.9,0.98", "train.betas", (0.9, 0.98)), ("train.compile=true", "train.compile", True),
    ("train.precision=bf16-mixed", "train.precision", "bf16-mixed"), ("data.format.pad_to=5", "data.format.pad_to", 5),
    ("data.format.scratchpad=false", "data.format.scratchpad", False), ("data.task=parity", None, None),
    ("data.task.digits=4", "data.task", lengen.Addition(digits=4, operands=3)),
    ('data.task={"kind": "addition", "digits": 2}', "data.task", lengen.Addition(digits=2)),
    ("data.position_ids.max_position=64,32", "data.position_ids", lengen.Coupled((64, 32))),
    ('data.spaces={"ratio": 0.5}', "data.spaces", lengen.RandomSpaces(ratio=0.5)),
    ("test.lengths=[5,10]", "test.lengths", (5, 10)), ("test.lengths=7", "test.lengths", (7,)),
    ("test.lengths=1..4", "test.lengths", (1, 2, 3, 4)), ("test.lengths=1..4,7", "test.lengths", (1, 2, 3, 4, 7)),
    ("test.lengths=2, 5..6 ,9", "test.lengths", (2, 5, 6, 9)),
    ("test.attention=[[3,4],[5,6]]", "test.attention", ((3, 4), (5, 6))),
    ('test.probes=[["12","3"],["4","5"]]', "test.probes", (("12", "3"), ("4", "5"))),
    ("model.dropout=0.3", "model.dropout", 0.3),
    ('model.tempered={"form": "log"}', "model.tempered", lengen.Tempered()),
    ("model.architecture=encoder", "model.architecture", lengen.Encoder()), ("train.lr=.5", "train.lr", 0.5),
    ("train.lr=5.", "train.lr", 5.0), ("train.steps=1e3", "train.steps", 1000),
    ("train.steps=1_000", "train.steps", 1000), ("train.steps=+5", "train.steps", 5),
    ("train.compile=True", "train.compile", True), ("data.format.scratchpad=False", "data.format.scratchpad", False),
    ("train.precision='bf16-mixed'", "train.precision", "bf16-mixed"),
    ('train.precision="bf16-mixed"', "train.precision", "bf16-mixed"),
    ("train.betas=(.9, .98)", "train.betas", (0.9, 0.98)), ("test.lengths=[1, 2,]", "test.lengths", (1, 2)),
    ("test.lengths=1e1,2e1", "test.lengths", (10, 20)), ("test.lengths=(1..3)", "test.lengths", (1, 2, 3)),
    ("test.probes=[['12','3']]", "test.probes", (("12", "3"),)),
    ("model.architecture='encoder'", "model.architecture", lengen.Encoder()),
    ("model.tempered={form = 'log'}", "model.tempered", lengen.Tempered()),
    ("model.tempered={'form': 'log'}", "model.tempered", lengen.Tempered()), ("data.spaces=None", "data.spaces", None),
    ("data.spaces=null", "data.spaces", None),
])  # fmt: skip
def test_an_override_sets_one_field(assignment, path, value):
    if path is None:
        refused(lengen.SettingError, r"data\.task\.bits: this field is missing", SPEC.override, assignment)
        return
    changed = SPEC.override(assignment)
    found: Any = changed
    for step in path.split("."):
        found = getattr(found, step)
    assert found == value and type(found) is type(value)
    section, field = path.split(".")[:2]
    assert lengen.replace(changed, **{section: {field: getattr(getattr(SPEC, section), field)}}) == SPEC
    assert SPEC.override() == SPEC


def test_parts_are_judged_together_keep_shared_fields_and_are_laid_over_each_profile():
    changed = SPEC.override(
        "data.task=copy", "data.format=linear", "data.format.scratchpad=false", "data.format.pad_query=false",
        "data.format.pad_response=false", "data.format.reverse_response=false", "test.counts=1",
    )  # fmt: skip
    assert changed.data.task.kind == "copy" and changed.data.task.digits == 3
    assert SPEC.override("train.steps=5").data.hints == ()
    refused(lengen.SettingError, r"data\.hints", SPEC.override, "data.hints=copy")
    assert SPEC.override("model.encoding=none", "data.position_ids=none").model.encoding == lengen.NoEncoding()
    assert SPEC.override(*NO_IDS) == SPEC.override(*NO_IDS[::-1])
    beside = (
        "model.architecture=encoder_decoder", "model.architecture.attention_bias=given",
        "model.architecture.causal=false", "data.format.pad_query=false", "data.format.pad_response=false",
        "data.format.width=9",
    )  # fmt: skip
    assert SPEC.override(*beside).model.attention_bias == lengen.Given() and not SPEC.override(*beside).model.causal
    assert SPEC.override('data.position_ids={"kind": "cyclic", "period": 3}').data.position_ids == lengen.Cyclic(3)
    layers = ({"train.steps": 5}, ByProfile(cpu={"train": {"steps": 7}, "model.encoding": Rotary()}))
    found = at_profiles(BASE, *layers)
    assert {name: spec.train.steps for name, spec in found.items()} == {
        "paper": 5, "cpu": 7, "night": 7, "smoke": 5,
    }, "a night is as cpu where it says nothing"  # fmt: skip
    assert found["cpu"].model.encoding == Rotary() != found["paper"].model.encoding
    assert {spec.train.steps for spec in at_profiles(BASE, *reversed(layers)).values()} == {5}, "the last one is on top"
    assert at_profiles(BASE) == BASE
    other = at_profiles(BASE, ByProfile(cpu={"train.steps": 7}, night={"train.steps": 9}))
    assert (other["cpu"].train.steps, other["night"].train.steps) == (7, 9), "a night may be something else"
    one = at_profiles({"paper": BASE["paper"]}, {"data": {"format": Linear(pad_to=4)}})
    assert list(one) == ["paper"] and one["paper"].data.format == Linear(pad_to=4), "profiles that have a base"
    refused(SettingError, "no field 'step' in train", at_profiles, BASE, ByProfile(smoke={"train": {"step": 1}}))


@pytest.mark.parametrize(("assignment", "message"), [
    ("steps=5", "expected section.field=value"), ("train.steps", "expected section.field=value"),
    ("trian.steps=5", "there is no section 'trian'; nearest: train"),
    ("train.setps=5", "section 'train' has no field 'setps'; nearest: steps"),
    ("train.qqqqqq=5", "has no field 'qqqqqq'; one of: steps, batch"),
    ("data.task.base=5", "part 'addition' has no field 'base'; one of: digits, operands"),
    ("data.format.scratchpod=true", "part 'linear' has no field 'scratchpod'; nearest: scratchpad"),
    ("data.position_ids.kind=none", "set data.position_ids to the kind itself"),
    ("data.spaces.ratio=1", "data.spaces is null and has no fields"),
    ("data.position_ids=couple", "unknown scheme of position ids 'couple'; nearest: coupled"),
    ("model.encoding=fira", "unknown encoding 'fira'; nearest: fire"),
    ("train.steps=many", "steps=many: expected a whole number"), ("train.steps=1.5", "train.steps=1.5: expected int"),
    ("train.lr=fast", "train.lr=fast: expected a number"),
    ("data.format.scratchpad=maybe", "data.format.scratchpad=maybe: expected true or false"),
    ("data.position_ids.max_position=a", 'max_position[0]="a": expected int'),
    ("data.position_ids.max_position=1.5", "max_position[0]=1.5: expected int"),
    ("train.steps=5,6", "steps=5,6: expected a whole number"), ("train.steps=(((((", "(((((: expected a whole number"),
    ("train.steps=1if", "steps=1if: expected a whole number"), ("train.steps=2026-01-01", "expected a whole number"),
    ("test.lengths={1}", "expected int"), ("train.compile=1", "train.compile=1: expected bool"),
    ("test.attention=3,4", "test.attention[0]=3: expected array"),
    ("test.probes=[[12,3]]", "test.probes[0][0]=12: expected str"),
    ("test.lengths=4..1", "counts down or too far; expected first..last"),
    ("test.lengths=1..999999999", "counts down or too far; expected first..last"),
])  # fmt: skip
def test_a_bad_override_gets_one_sentence(assignment, message):
    with pytest.raises(lengen.SettingError) as caught:
        SPEC.override("train.batch=9", assignment)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and isinstance(caught.value, ValueError)


def parts_of(axis: type) -> list[Any]:
    """A part of every kind of an axis, its required fields filled in."""
    found = []
    for kind in kinds(axis).values():
        required = [item for item in msgspec.structs.fields(kind) if item.default is msgspec.NODEFAULT]
        found.append(
            kind(
                **{
                    item.name: (1, 2) if item.name in ("lengths", "max_position") and "tuple" in str(item.type) else 3
                    for item in required
                }
            )
        )
    return found


SETTINGS = st.builds(
    lambda task, format, ids, encoding, architecture, tempered, spaces, lengths, batch: replace(
        spec(lengen.DataSpec(task=task, format=format, position_ids=ids, spaces=spaces)),
        model=replace(SPEC.model, encoding=encoding, architecture=architecture, tempered=tempered),
        train=replace(SPEC.train, batch=batch),
        test=replace(SPEC.test, lengths=tuple(lengths)),
    ),
    st.sampled_from(list(ACCEPTED)),
    st.sampled_from([*parts_of(lengen.Format), lengen.Linear(width=9, reverse_response=True)]),
    st.sampled_from(parts_of(lengen.PositionIds)),
    st.sampled_from([*parts_of(lengen.Encoding), lengen.RelativeKeys(clip=3)]),
    st.sampled_from(
        [
            lengen.Encoder(),
            lengen.EncoderDecoder(),
            lengen.EncoderDecoder(attention_bias=lengen.Window(2)),
            lengen.EncoderDecoder(attention_bias=lengen.Given(), causal=False),
        ]
    ),
    st.sampled_from([None, lengen.Tempered(), lengen.Tempered(start=1.0)]),
    st.sampled_from([None, lengen.RandomSpaces(ratio=0.5), lengen.RandomSpaces(ratio=0.5, fresh=False)]),
    st.lists(st.integers(1, 99), min_size=1, max_size=3),
    st.integers(1, 9),
)


@given(SETTINGS, SETTINGS)
def test_a_setting_survives_json_and_hashes_are_equal_exactly_for_equal_settings(one, other):
    back = lengen.from_dict(json.loads(json.dumps(one.to_dict())))
    assert back == one and back.hash() == one.hash() and len(one.hash()) == 16
    assert (one.hash() == other.hash()) == (one == other)


def spelled_out(value: Any) -> Any:
    """Nested plain data in which no default is left out, however deep."""
    if isinstance(value, msgspec.Struct):
        kind = {"kind": value.kind} if hasattr(value, "kind") else {}
        return kind | {item.name: spelled_out(getattr(value, item.name)) for item in msgspec.structs.fields(value)}
    return [spelled_out(item) for item in value] if isinstance(value, tuple) else value


def without_defaults(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        kind = {"kind": value.kind} if hasattr(value, "kind") else {}
        kept = {
            item.name: getattr(value, item.name)
            for item in msgspec.structs.fields(value)
            if getattr(value, item.name) != item.default
        }
        return kind | {name: without_defaults(held) for name, held in kept.items()}
    return [without_defaults(item) for item in value] if isinstance(value, tuple) else value


@given(SETTINGS)
def test_a_default_that_is_spelled_out_changes_no_hash(setting):
    for values in (spelled_out(setting), without_defaults(setting)):
        assert lengen.from_dict(values) == setting and lengen.from_dict(values).hash() == setting.hash()


class Extra(lengen.Section, frozen=True):
    more: tuple[int, ...] = (1,)
    late: int = 0


class Longer(lengen.Spec, frozen=True):
    extra: Extra

    def trainings(self) -> tuple[lengen.Spec, ...]:
        return (lengen.replace(self, train={"steps": 1}), *super().trainings())


LONGER = Longer(data=SPEC.data, model=SPEC.model, train=SPEC.train, test=SPEC.test, extra=Extra())


def test_a_section_of_a_subclass_is_read_by_it_alone_and_may_be_trained_before():
    assert SPEC.trainings() == (SPEC,)
    assert [spec.train.steps for spec in LONGER.trainings()] == [1, SPEC.train.steps]
    assert not SPEC.constructed
    values = json.loads(json.dumps(LONGER.to_dict()))
    assert lengen.from_dict(values, Longer) == LONGER and lengen.from_dict(values, Longer).hash() == LONGER.hash()
    assert lengen.from_dict(values) == SPEC and type(lengen.from_dict(values)) is lengen.Spec
    del values["extra"]["late"]
    assert lengen.from_dict(values, Longer) == LONGER, "stored before the field came"
    assert LONGER.hash() != SPEC.hash()
    assert LONGER.override("extra.more=2,3", "train.steps=7").extra.more == (2, 3)
    assert LONGER.override("extra.late=1").hash() != LONGER.hash() == LONGER.override("extra.late=0").hash()
    refused(lengen.SettingError, "there is no section 'extra'", SPEC.override, "extra.more=2")


@pytest.mark.parametrize(("here", "assignments", "message"),
    [(here, *row) for here, rows in SENSELESS.items() for row in rows])  # fmt: skip
def test_values_that_make_no_sense_get_one_sentence(here, assignments, message):
    refused(lengen.SettingError, message, HERE[here].override, *assignments.split())


def test_a_part_that_is_defined_later_is_found_and_the_last_of_a_kind_is_the_one():
    class Base(Axis):
        AXIS = "a thing of this test"

    class First(lengen.Part, Base, frozen=True, tag="one"):
        pass

    assert kinds(Base) == {"one": First}

    class Again(lengen.Part, Base, frozen=True, tag="one"):
        pass

    class Other(First, frozen=True, tag="other"):
        pass

    assert kinds(Base) == {"one": Again, "other": Other}
    First.__module__ = "lengen.tasks"
    type("Later", (Axis,), {})  # what is known is read again
    refused(SettingError, "Again and First have one tag, 'one'", kinds, Base)

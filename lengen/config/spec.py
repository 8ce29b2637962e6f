"""The specification of a run: what enters is the published setting, what leaves is everything needed to run it again.

A setting is a composition: task x format x position ids x encoding x architecture x training. It prints as nested JSON,
has a hash, and is changed field by field: ``--set data.format.scratchpad=true``, ``--set model.encoding=rope``.
"""

import hashlib
import json
import typing
from typing import Any

import msgspec

from lengen.config.model import Decoder, LoopsByLength, ModelSpec
from lengen.config.override import assign
from lengen.config.part import LONGEST, Part, SettingError, build, fields_of, kind_of, nearest, plain
from lengen.config.sections import DataSpec, Section, TestSpec, TrainSpec


class Spec(Section, frozen=True):
    """Everything that decides the outcome of a run but its seed.

    A paper whose runs have stages or measurements of their own makes a subclass, with sections of its own, and names
    the procedure, construction or measurements for it in its `lengen.paper.Paper`.
    """

    data: DataSpec
    model: ModelSpec
    train: TrainSpec
    test: TestSpec

    @property
    def constructed(self) -> bool:
        """The weights are set by hand, by the construction that the paper declares; else they are trained."""
        return False

    def trainings(self) -> "tuple[Spec, ...]":
        """What is trained, in order: this, after whatever a subclass trains before it."""
        return (self,)

    def check(self) -> None:
        """Raise `SettingError` for bad values of the sections that a subclass adds."""

    def admit(self, lengths: tuple[int, ...]) -> None:
        """Raise `SettingError` for operands of these lengths, where a model was made for fewer or shorter ones."""

    def to_dict(self) -> dict[str, Any]:
        """Nested plain dictionary, ready for JSON."""
        return plain(self)

    def changed(self) -> dict[str, Any]:
        """Nested plain data of the fields that are not at their default, and the kinds of parts."""
        return _without_defaults(self)

    def hash(self) -> str:
        """First 16 hex digits of the SHA-256 of the canonical JSON: equal exactly for equal specifications.

        Fields at their default stay out of it, so a field that comes later moves no stored run; a default never
        changes.
        """
        canonical = json.dumps(self.changed(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def override(self, *assignments: str) -> typing.Self:
        """A copy with ``path=value`` assignments applied and checked; raises `SettingError`.

        A value is a word, a number, JSON, a list of numbers with ranges (``1,2,5..9``), or the kind of a part, which
        keeps the fields that the part before it had, too.

        >>> from lengen.config import Coupled, Linear, Parity, Spec, DataSpec, ModelSpec, TrainSpec, TestSpec
        >>> data = DataSpec(task=Parity(3), format=Linear(scratchpad=True), position_ids=Coupled((5,)))
        >>> model = ModelSpec(layers=1, heads=1, width=8, head_dim=8, ff_width=8)
        >>> spec = Spec(data=data, model=model, train=TrainSpec(steps=9, batch=2, lr=0.1), test=TestSpec(lengths=(4,)))
        >>> spec.override("train.steps=500", "data.format.scratchpad=false", "model.encoding=fire").model.encoding
        Fire()
        """
        if not assignments:
            return self
        values = self.to_dict()
        for assignment in assignments:
            assign(values, type(self), assignment)
        try:
            spec = from_dict(values, type(self))
            check(spec)
        except SettingError as error:
            said = str(error)
            paths = [assignment.partition("=")[0].strip() for assignment in assignments]
            named = any(said.startswith(path) for path in paths)  # what was set is what is wrong: once is enough
            raise SettingError(f"--set {said}" if named else f"--set {', '.join(assignments)}: {said}") from None
        return spec


Kind = typing.TypeVar("Kind", bound=Spec)


def _without_defaults(setting: msgspec.Struct) -> dict[str, Any]:
    """Nested fields that are not at their default, and the kinds of parts."""
    found: dict[str, Any] = {"kind": setting.kind} if isinstance(setting, Part) else {}
    for item in fields_of(type(setting)):
        value = getattr(setting, item.name)
        if item.default is not msgspec.NODEFAULT and value == item.default and type(value) is type(item.default):
            continue
        found[item.name] = _bare(value)
    return found


def _bare(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _without_defaults(value)
    if isinstance(value, tuple):
        return [_bare(item) for item in value]
    return float(value) if isinstance(value, float) else value


def check(spec: Spec) -> None:
    """Raise `SettingError` for a value out of range, or for parts that do not go together."""
    build(plain(spec), type(spec))  # bounds and types of every field
    data, model, train, test = spec.data, spec.model, spec.train, spec.test
    architecture = model.architecture
    assert isinstance(data.task, Part) and isinstance(data.format, Part) and isinstance(architecture, Part)
    data.check()
    data.task.check_counts(test.counts)
    if data.task.NUMBERS and max(test.lengths) > LONGEST:
        raise SettingError(f"test.lengths={max(test.lengths)}: expected numbers of at most {LONGEST} digits")
    model.check()
    model.encoding.check(model, data.position_ids)
    spec.check()
    if data.spaces is not None and not (data.format.begin if hasattr(data.format, "begin") else True):
        raise SettingError(
            "data.spaces: random spaces stand behind the $ that begins a query, and data.format.begin=false writes "
            "none; set data.format.begin=true"
        )
    for place, part in [("data.task", data.task), *(("data.hints", hint) for hint in data.hints)]:
        if train.one_length and not part.SKEWED:
            raise SettingError(
                f"train.one_length=true: only tasks with a distribution of lengths draw examples of one length, and "
                f"{place}={kind_of(part)} has none; set train.one_length=false"
            )
    window = train.batch * train.bucket * (1 + len(data.hints))
    if train.one_length and 0 < data.examples < window:
        raise SettingError(
            f"data.examples={data.examples}: a streamed training set holds at least {window} examples, train.bucket "
            f"batches of each task"
        )
    width = getattr(data.format, "width", 0)
    if width and width < (longest := _longest_number(spec)):
        raise SettingError(
            f"data.format.width={width}: expected at least {longest}, the digits of the longest number of a trained or "
            f"tested problem, its result included"
        )
    bias = model.attention_bias
    if architecture.SPLIT and bias is not None and (data.spaces is not None or not width):
        assert isinstance(bias, Part)
        raise SettingError(
            f"model.architecture.attention_bias={bias.kind}: beside an encoder it is laid on queries of one length; "
            + ("set data.spaces=null" if width else "set data.format.width, to which all numbers are padded")
        )
    if data.hints and not isinstance(architecture, Decoder):
        raise SettingError(
            f"data.hints: auxiliary tasks need model.architecture=decoder, and it is {architecture.kind}"
        )
    if data.hints and model.tied:
        raise SettingError("data.hints: every task has an output head of its own; set model.tied=false")
    if data.hints and data.examples and not train.one_length:
        raise SettingError(
            f"data.examples={data.examples}: with data.hints a training set is streamed, for which all batches share "
            f"one length; set data.examples=0 or train.one_length=true"
        )
    if train.loss == "all" and not architecture.IN_ORDER:
        raise SettingError(
            f"train.loss=all: model.architecture={architecture.kind} does not see the tokens it is trained on; set "
            f"train.loss=response"
        )
    padding = max(task.trailing for task in (data.task, *data.hints))
    if train.loss == "all" and padding:
        raise SettingError(
            f"train.loss=all: the {padding} PAD tokens behind an answer (padding of the task) are targets of "
            f"train.loss=response alone; set that, or padding of the task to 0"
        )
    if model.reads_prompts and train.loss != "response":
        raise SettingError(
            f"{model.reads_prompts}: with train.loss={train.loss} nothing tells where a prompt ends; set "
            f"train.loss=response"
        )
    if model.loops_by_length is not None:
        _check_loops(spec, model.loops_by_length)
    if not architecture.IN_ORDER and data.format.build(data.task).follows:
        raise SettingError(
            f"model.architecture={architecture.kind}: the blanks that it fills would tell how long an answer is, which "
            f"here depends on its digits; write answers of one length, as data.format.pad_response=true or "
            f"data.format.width does"
        )
    if test.sampled and not (architecture.IN_ORDER and model.causal):
        raise SettingError(
            f"test.sampled={test.sampled}: only models that write token by token are sampled; set test.sampled=0"
        )
    if test.track and not model.causal:
        raise SettingError(
            f"test.track={test.track}: losses are of tokens given those before them, and with "
            f"model.architecture.causal=false tokens see later ones; set test.track=0"
        )
    if test.attention and not isinstance(architecture, Decoder):
        raise SettingError(
            "test.attention: averaged maps need model.architecture=decoder; name problems in test.probes"
        )


def _longest_number(spec: Spec) -> int:
    """Digits of the longest operand or answer that a trained or tested problem could have."""
    data, test = spec.data, spec.test
    cells = [(data.task, length, count) for length in test.lengths for count in test.counts]
    cells += [(task, length, task.most) for task in (data.task, *data.hints) for length in {*task.trained_lengths}]
    extents = [task.extent(shape) for task, *cell in cells for shape in task.longest_shapes(*cell)]
    return max(max(*extent.operands, extent.answer) for extent in extents)


def _check_loops(spec: Spec, rule: LoopsByLength) -> None:
    """Raise `SettingError` where nobody knows how often to loop before the response is written."""
    if spec.train.loss != "response":
        raise SettingError(
            f"model.loops_by_length: with train.loss={spec.train.loss} nothing tells where a prompt ends; set "
            f"train.loss=response"
        )
    if spec.train.compile:
        raise SettingError(
            "train.compile=true: with model.loops_by_length every batch has loops of its own, each of which would be "
            "compiled; set train.compile=false"
        )
    written = rule.of == "response" and spec.model.architecture.IN_ORDER
    if written and spec.data.format.build(spec.data.task).follows:
        raise SettingError(
            f"model.loops_by_length.of=response: answers of data.task={kind_of(spec.data.task)} end where the model "
            f"ends them, so their length is not known before they are written; pad them, or set "
            f"model.loops_by_length.of=prompt"
        )
    data, test = spec.data, spec.test
    lengths, counts = {*data.task.trained_lengths, *test.lengths}, {data.task.most, *test.counts}
    loops = {spec.model.loops_of(*data.tokens(length, count)) for length in lengths for count in counts}
    if len(loops) == 1:
        (same,) = loops
        raise SettingError(
            f"model.loops_by_length: every problem of data.task={kind_of(data.task)} in data.format="
            f"{kind_of(data.format)} would loop {same} time{'s' * (same > 1)}; set model.loops={same} instead"
        )


def change(spec: Kind, **sections: dict[str, Any]) -> Kind:
    """A copy with fields of named sections replaced: ``change(spec, model={"layers": 1})``."""
    parts = {name: msgspec.structs.replace(getattr(spec, name), **fields) for name, fields in sections.items()}
    return msgspec.structs.replace(spec, **parts)


def replace(part: typing.Any, **fields: Any) -> Any:
    """A copy of a part or section with fields replaced."""
    return msgspec.structs.replace(part, **fields)


def from_dict(values: dict[str, Any], sort: type[Kind] = Spec) -> Kind:  # type: ignore[assignment]
    """The inverse of `Spec.to_dict`, for specifications read back from run.json; raises `SettingError`.

    ``sort`` is the class, where a paper has sections of its own; read as a plain `Spec` they are left out.
    """
    named = {item.name for item in fields_of(sort)}
    if not isinstance(values, dict):
        raise SettingError("the setting: expected sections by their names")
    return build({name: value for name, value in values.items() if name in named}, sort)


__all__ = [
    "DataSpec",
    "ModelSpec",
    "Spec",
    "TestSpec",
    "TrainSpec",
    "change",
    "check",
    "from_dict",
    "nearest",
    "replace",
]

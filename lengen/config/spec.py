"""The specification of a run: plain frozen dataclasses, no torch.

What enters is the published setting; what leaves is everything needed to run it again. A specification
is data: it prints as JSON, has a hash, and can be changed field by field with ``--set data.length=5``.
A published setting is a composition: task x format x position ids x encoding x architecture x training.
"""

import dataclasses
import difflib
import hashlib
import json
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lengen.config.sections import DataSpec, ModelSpec, TestSpec, TrainSpec
from lengen.progress import Progress

if typing.TYPE_CHECKING:
    from lengen.callbacks.measurement import Measurement
    from lengen.models import Transformer
    from lengen.training.run import Outcome

__all__ = ["DataSpec", "ModelSpec", "Spec", "SpecError", "TestSpec", "TrainSpec", "change", "check", "from_dict"]


class SpecError(ValueError):
    """A specification or an override that makes no sense; the message is one sentence for the user."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Everything that decides the outcome of a run but its seed.

    A paper whose runs have stages of their own makes a subclass, with sections of its own and methods that say what
    is done; they import what they need when they are called, so that planning needs no torch.
    """

    data: DataSpec
    model: ModelSpec
    train: TrainSpec
    test: TestSpec

    def run(self, seed: int, folder: Path, report: Callable[[Progress], None]) -> "Outcome":
        """Make a run in ``folder``: train and measure, going on from what a killed process left there."""
        from lengen.training.run import execute

        return execute(self, seed, folder, report)

    @property
    def constructed(self) -> bool:
        """Whether `construct` sets all weights, so that nothing is trained."""
        return False

    def construct(self, model: "Transformer") -> None:
        """Set the weights, all zero so far, of a model that is not trained."""

    def callbacks(self) -> "list[Measurement]":
        """Measurements of its own in its run."""
        return []

    def trainings(self) -> "tuple[Spec, ...]":
        """What is trained, in order: this, after whatever a subclass trains before it."""
        return (self,)

    def check(self) -> None:
        """Raise `SpecError` for bad values of the sections that a subclass adds."""

    def admit(self, lengths: tuple[int, ...]) -> None:
        """Raise `SpecError` for operands of these lengths, where a model was made for fewer or shorter ones."""

    def to_dict(self) -> dict[str, typing.Any]:
        """Nested plain dictionary, ready for JSON."""
        return dataclasses.asdict(self)

    def hash(self) -> str:
        """First 16 hex digits of the SHA-256 of the canonical JSON: equal exactly for equal specifications."""
        sections = {item.name: _canonical(getattr(self, item.name)) for item in dataclasses.fields(self)}
        canonical = json.dumps(sections, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def override(self, *assignments: str) -> typing.Self:
        """A copy with ``section.field=value`` assignments applied, checked by name and type.

        >>> data = DataSpec(task="parity", length=3, max_position=(5,))
        >>> model = ModelSpec(layers=1, heads=1, width=8, head_dim=8, ff_width=8)
        >>> spec = Spec(data=data, model=model, train=TrainSpec(steps=9, batch=2, lr=0.1), test=TestSpec(lengths=(4,)))
        >>> spec.override("train.steps=500").train.steps
        500
        """
        spec = self
        for assignment in assignments:
            spec = _assign(spec, assignment)
        if assignments:
            check(spec)
        return spec


def _canonical(section: typing.Any) -> dict[str, typing.Any]:
    """Fields of a section without those that are `later` and at their default."""
    return {
        item.name: getattr(section, item.name)
        for item in dataclasses.fields(section)
        if not (item.metadata.get("later") and getattr(section, item.name) == item.default)
    }


LEAST = {
    "data.length": 1, "data.count": 1, "data.examples": 0, "data.fixed_length": 0, "data.limit": 0, "data.period": 0,
    "data.pad_to": 0, "data.spaces": 0, "data.max_offset": 0, "model.loops": 1, "train.warmup_steps": 0,
    "test.track": 0, "test.sampled": 0, "data.alphabet": 0, "data.short": 0, "data.skew": 0, "data.repeats": 0,
    "model.encoder_layers": 0, "model.dropout": 0, "model.window": 0, "model.stride": 1, "train.patience": 1,
    "model.layers": 1, "model.heads": 1, "model.width": 1, "model.head_dim": 1, "model.ff_width": 1,
    "train.steps": 0, "train.batch": 1, "train.lr": 0, "train.weight_decay": 0, "train.warmup": 0, "train.final_lr": 0,
    "train.clip": 0, "train.bucket": 1, "train.evaluations": 0, "test.examples": 1, "test.attention_examples": 1,
}  # fmt: skip
"""Smallest sensible value of each number."""
PRECISIONS = ("32-true", "bf16-mixed", "64-true", "bf16-true")
ARCHITECTURES = ("decoder", "encoder_decoder", "encoder")
BIASES = ("none", "window", "given")
INJECTED = ("none", "input", "coordinates")
LOSSES = ("response", "all")
TEMPERATURES = ("none", "log", "one_plus_log")
COUNTED = ("position", "prompt")


def check(spec: Spec) -> None:
    """Raise `SpecError` for a value out of range, or for parts that do not go together."""
    spec.check()
    data, model, train, test = spec.data, spec.model, spec.train, spec.test
    for path, least in LEAST.items():
        section, _, name = path.partition(".")
        value = getattr(getattr(spec, section), name)
        if not value >= least:  # so that nan is refused
            raise SpecError(f"{path}={value}: expected at least {least}")
    for name, values in (("lengths", test.lengths), ("counts", test.counts)):
        if not values or min(values) < 1:
            raise SpecError(f"test.{name}={list(values)}: expected one value or more, each at least 1")
    for path, value, choices in (
        ("model.architecture", model.architecture, ARCHITECTURES),
        ("model.bias", model.bias, BIASES),
        ("model.inject", model.inject, INJECTED),
        ("model.temperature", model.temperature, TEMPERATURES),
        ("model.temperature_of", model.temperature_of, COUNTED),
        ("train.loss", train.loss, LOSSES),
        ("train.precision", train.precision, PRECISIONS),
    ):
        if value not in choices:
            raise SpecError(f"{path}={value}: expected one of {', '.join(choices)}")
    if any(min(cell) < 1 for cell in test.attention):
        raise SpecError(f"test.attention={test.attention}: expected pairs (length, count), each at least 1")
    if train.warmup > 1:
        raise SpecError(f"train.warmup={train.warmup}: expected a share of the steps, at most 1")
    for path, share in (
        ("model.dropout", model.dropout),
        ("train.stop_at", train.stop_at),
        ("data.skew", data.skew),
        ("data.repeats", data.repeats),
    ):
        if not 0 <= share <= 1:
            raise SpecError(f"{path}={share}: expected a share, 0 to 1")
    _check_sequences(spec)
    if not 2 <= data.base <= 16:
        raise SpecError(f"data.base={data.base}: expected a base from 2 to 16")
    if data.fixed_length and data.fixed_length < max(*test.lengths, data.length):
        raise SpecError(
            f"data.fixed_length={data.fixed_length}: expected at least the longest trained or tested operand, "
            f"{max(*test.lengths, data.length)} digits"
        )
    if not data.fixed_length and (data.base != 10 or data.aligned or data.limit):
        raise SpecError("data.fixed_length=0: data.base, data.aligned and data.limit are for numbers of a fixed length")
    if data.lengths and (data.task != "n_by_n" or min(data.lengths) < 1 or max(data.lengths) != data.length):
        raise SpecError(
            f"data.lengths={list(data.lengths)}: expected trained lengths of n_by_n, the longest of them "
            f"data.length={data.length}"
        )
    if data.position_ids == "cyclic" and data.period < 1:
        raise SpecError(f"data.period={data.period}: cyclic position ids need a period of at least 1")
    if model.architecture != "encoder_decoder" and model.bias != "none":
        raise SpecError(f"model.bias={model.bias}: fixed biases need model.architecture=encoder_decoder")
    if model.architecture != "encoder_decoder" and not model.causal:
        raise SpecError("model.causal=false: a bias that decides instead needs model.architecture=encoder_decoder")
    if model.architecture == "encoder" and train.loss != "response":
        raise SpecError(
            f"train.loss={train.loss}: an encoder does not see the tokens it is trained on, so it needs "
            f"train.loss=response"
        )
    if test.sampled and (model.architecture == "encoder" or not model.causal):
        raise SpecError(
            f"test.sampled={test.sampled}: only models that write token by token are sampled; set test.sampled=0"
        )
    if model.architecture != "decoder" and test.attention:
        raise SpecError("test.attention: averaged maps need model.architecture=decoder; name problems in test.probes")
    if data.task in ("addition", "n_by_n") and data.count < 2:
        raise SpecError(f"data.count={data.count}: {data.task} needs at least 2 operands")
    if data.position_ids == "none" and model.encoding != "none":
        raise SpecError(
            f"data.position_ids=none: model.encoding={model.encoding} needs ids; choose coupled, consecutive or cyclic"
        )
    if data.position_ids == "consecutive" and model.encoding == "learned" and len(data.max_position) != 1:
        raise SpecError(
            f"data.max_position={list(data.max_position)}: expected 1 value, the longest sequence, for learned "
            f"encodings of consecutive ids"
        )
    if model.encoding == "rope" and model.head_dim % 2:
        raise SpecError(f"model.head_dim={model.head_dim}: rope turns pairs and needs an even number")


def _check_sequences(spec: Spec) -> None:
    """What streamed training sets, auxiliary tasks and tempered attention ask for."""
    data, model, train = spec.data, spec.model, spec.train
    if data.skew and not 2 <= data.short < data.length:
        raise SpecError(
            f"data.short={data.short}: with data.skew={data.skew} expected a length from 2 to {data.length - 1}, below "
            f"the longest trained"
        )
    window = train.batch * train.bucket * (1 + len(data.hints))
    if train.one_length and 0 < data.examples < window:
        raise SpecError(
            f"data.examples={data.examples}: a streamed training set holds at least {window} examples, train.bucket "
            f"batches of each task"
        )
    if model.architecture != "decoder" and (data.hints or model.temperature != "none"):
        raise SpecError(
            f"model.architecture={model.architecture}: auxiliary tasks (data.hints) and tempered attention "
            f"(model.temperature) need model.architecture=decoder"
        )
    if model.temperature_of == "prompt" and train.loss != "response":
        raise SpecError(
            f"model.temperature_of=prompt: with train.loss={train.loss} nothing tells where a prompt ends; set "
            f"train.loss=response"
        )
    if data.hints and (model.tied or not train.one_length):
        raise SpecError(
            "data.hints: every task has an output head and batches of its own; set model.tied=false and "
            "train.one_length=true"
        )


Kind = typing.TypeVar("Kind", bound=Spec)


def change(spec: Kind, **sections: dict[str, typing.Any]) -> Kind:
    """A copy with fields of named sections replaced: ``change(spec, model={"layers": 1})``."""
    parts = {name: dataclasses.replace(getattr(spec, name), **fields) for name, fields in sections.items()}
    return dataclasses.replace(spec, **parts)


def from_dict(values: dict[str, typing.Any], sort: type[Kind] = Spec) -> Kind:  # type: ignore[assignment]
    """The inverse of `Spec.to_dict`, for specifications read back from run.json.

    ``sort`` is the class, where a paper has sections of its own; read as a plain `Spec` they are left out.
    """
    sections = typing.get_type_hints(sort)
    parts = {}
    for name, kind in sections.items():
        hints = typing.get_type_hints(kind)
        parts[name] = kind(**{key: _tuples(value) for key, value in values[name].items() if key in hints})
    return sort(**parts)


def _tuples(value: typing.Any) -> typing.Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _assign(spec: Kind, assignment: str) -> Kind:
    path, equals, text = assignment.partition("=")
    section_name, dot, field_name = path.strip().partition(".")
    if not equals or not dot:
        raise SpecError(f"--set {assignment}: expected section.field=value, for example train.steps=500")
    sections = [item.name for item in dataclasses.fields(spec)]
    if section_name not in sections:
        raise SpecError(f"--set {path}: there is no section '{section_name}'{nearest(section_name, sections)}")
    section = getattr(spec, section_name)
    hints = typing.get_type_hints(type(section))
    if field_name not in hints:
        raise SpecError(
            f"--set {path}: section '{section_name}' has no field '{field_name}'{nearest(field_name, list(hints))}"
        )
    value = _parse(path, text.strip(), hints[field_name])
    return dataclasses.replace(spec, **{section_name: dataclasses.replace(section, **{field_name: value})})


def _parse(path: str, text: str, kind: typing.Any) -> typing.Any:
    """Text of an override to the field's type; bad text raises `SpecError` naming the type."""
    try:
        if kind is str:
            return text
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind in (int, float):
            return kind(text)
        value = _tuples(json.loads(text if text.startswith("[") else f"[{text}]"))
        inner = typing.get_args(kind)[0]
        if typing.get_origin(inner) is tuple:
            sort, *others = typing.get_args(inner)
            size = None if others == [...] else 1 + len(others)
            if not all(isinstance(item, tuple) and size in (None, len(item)) for item in value):
                raise ValueError
            if not all(isinstance(part, sort) for item in value for part in item):
                raise ValueError
        elif not all(isinstance(item, (int, inner)) and not isinstance(item, bool) for item in value):
            raise ValueError
        return value
    except (ValueError, KeyError):
        name = kind.__name__ if isinstance(kind, type) and not isinstance(kind, types.GenericAlias) else str(kind)
        raise SpecError(f"--set {path}={text}: expected a value of type {name}") from None


def nearest(word: str, words: typing.Sequence[str]) -> str:
    """A suggestion for a mistyped word: '; nearest: a, b', or the whole choice where nothing is near."""
    close = difflib.get_close_matches(word, words, n=3, cutoff=0.5)
    return "; nearest: " + ", ".join(close) if close else "; one of: " + ", ".join(words)

"""The specification of a run: the published setting enters, everything needed to run it again leaves.

A setting is a composition: task x format x position ids x encoding x architecture x training. It prints as nested JSON,
has a hash, and is changed field by field: ``--set data.format.scratchpad=true``, ``--set model.encoding=rope``.
"""

import hashlib
import json
import sys
import typing
from itertools import accumulate
from typing import Any, Literal

import msgspec
from msgspec import structs

from lengen.part import Part, SettingError, build, fields_of, plain
from lengen.settings.changes import assign
from lengen.settings.compatibility import check_parts, check_sections
from lengen.settings.model import ModelSpec
from lengen.settings.sections import DataSpec, Section, TestSpec, TrainSpec

Role = Literal["procedures", "constructions", "measurements"]


def declared(setting: object, role: Role) -> Any | None:
    """Return the entry of a role for the nearest class of a setting, loaded now; None if no paper declares one.

    A class belongs to the ``PAPER`` of its module, or else of the nearest package around it.
    """
    for cls in type(setting).__mro__:
        outwards = accumulate(cls.__module__.split("."), "{}.{}".format)
        papers = [getattr(sys.modules.get(module), "PAPER", None) for module in outwards]
        nearest = next(filter(None, reversed(papers)), None)
        if (entry := getattr(nearest, role, {}).get(cls.__name__)) is not None:
            return entry()
    return None


class Spec(Section, frozen=True):
    """Everything that decides the outcome of a run but its seed.

    A paper whose runs have stages or measurements of their own makes a subclass, with sections of its own, and names
    the procedure, construction or measurements for it in its `lengen.paper.Paper`.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy", digits=3)
        >>> spec.override("train.steps=9").train.steps
        9
        >>> lengen.from_dict(spec.to_dict()) == spec
        True
    """

    data: DataSpec
    """Task, format and position ids, and the number of examples."""
    model: ModelSpec
    """The network."""
    train: TrainSpec
    """Its training."""
    test: TestSpec
    """Tested lengths and examples."""

    @property
    def constructed(self) -> bool:
        """The weights are set by hand, by the construction that the paper declares; else they are trained."""
        return False

    def trainings(self) -> "tuple[Spec, ...]":
        """Return all trainings in order: this one, after those of a subclass before it."""
        return (self,)

    def check(self) -> None:
        """Raise `SettingError` for bad values of the sections that a subclass adds."""

    def admit(self, lengths: tuple[int, ...]) -> None:
        """Raise `SettingError` if the model was made for fewer or shorter operands than these lengths."""

    def to_dict(self) -> dict[str, Any]:
        """Return a nested plain dictionary, ready for JSON."""
        return plain(self)

    def changed(self) -> dict[str, Any]:
        """Return nested plain data of the fields that are not at their default, and the kinds of parts."""
        return _without_defaults(self)

    def hash(self) -> str:
        """Return the first 16 hex digits of the SHA-256 of the canonical JSON: equal exactly for equal specifications.

        Fields at their default stay out of it, so a field that comes later moves no stored run; a default never
        changes.
        """
        canonical = json.dumps(self.changed(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def override(self, *assignments: str) -> typing.Self:
        """Return a copy with ``path=value`` assignments applied and checked; raises `SettingError`.

        A value is a word, a number, JSON, a list of numbers with ranges (``1,2,5..9``), or the kind of a part, which
        keeps the fields that the part before it had, too.

        >>> from lengen import Coupled, Linear, Parity, Spec, DataSpec, ModelSpec, TrainSpec, TestSpec
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
            validate(spec)
        except SettingError as error:
            sentence = str(error)
            paths = [assignment.partition("=")[0].strip() for assignment in assignments]
            named = any(sentence.startswith(path) for path in paths)  # what was set is what is wrong: once is enough
            raise SettingError(f"--set {sentence}" if named else f"--set {' '.join(assignments)}: {sentence}") from None
        return spec


Kind = typing.TypeVar("Kind", bound=Spec)
Setting = typing.TypeVar("Setting", bound=msgspec.Struct)


def _without_defaults(setting: msgspec.Struct) -> dict[str, Any]:
    """Return nested fields that are not at their default, and the kinds of parts."""
    fields: dict[str, Any] = {"kind": setting.kind} if isinstance(setting, Part) else {}
    names, defaults = setting.__struct_fields__, setting.__struct_defaults__
    needed = len(names) - len(defaults)
    for place, name in enumerate(names):
        value = getattr(setting, name)
        default = defaults[place - needed] if place >= needed else msgspec.NODEFAULT
        if value != default or type(value) is not type(default):
            fields[name] = _bare(value)
    return fields


def _bare(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _without_defaults(value)
    if isinstance(value, tuple):
        return [_bare(item) for item in value]
    return float(value) if isinstance(value, float) else value


def validate(spec: Spec) -> None:
    """Raise `SettingError` for a value out of range, or for parts that do not go together.

    Args:
        spec: The setting to judge.

    Raises:
        SettingError: The first thing that is wrong; one sentence that begins with the field.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy")
        >>> lengen.validate(lengen.replace(spec, train={"lr": -1.0}))
        Traceback (most recent call last):
        ...
        lengen.part.SettingError: train.lr=-1.0: ...
    """
    if not isinstance(spec, Spec):
        raise SettingError(f"{spec!r:.40} is no setting; expected what lengen.setting returns")
    build(plain(spec), type(spec))  # bounds and types of every field
    check_parts(spec.data, spec.model, spec.test)
    spec.check()
    check_sections(spec.data, spec.model, spec.train, spec.test)


def replace(setting: Setting, **fields: Any) -> Setting:
    """Return a copy of a setting, or of a part of one, with fields replaced; nothing is checked (`validate` does).

    Args:
        setting: A `Spec`, a section or a part, such as a format.
        fields: New values by their names; a dictionary names fields of the section or part that the field holds.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy", layers=2)
        >>> lengen.replace(spec, model={"layers": 1}, train={"steps": 9}).model.layers
        1
        >>> lengen.replace(lengen.Linear(), scratchpad=True).scratchpad
        True
    """
    inner = {k: structs.replace(getattr(setting, k), **v) for k, v in fields.items() if isinstance(v, dict)}
    return structs.replace(setting, **fields | inner)


def from_dict(values: dict[str, Any], sort: type[Kind] = Spec) -> Kind:  # type: ignore[assignment]
    """Return the specification of plain data: the inverse of `Spec.to_dict`, as run.json holds it.

    Args:
        values: Nested plain data.
        sort: The class, where a paper has sections of its own; read as a plain `Spec` they are left out.

    Raises:
        SettingError: The first field that cannot be read; one sentence.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy", digits=3)
        >>> lengen.from_dict(spec.to_dict()) == spec
        True
    """
    named = {item.name for item in fields_of(sort)}
    if not isinstance(values, dict):
        raise SettingError("the setting: expected sections by their names")
    return build({name: value for name, value in values.items() if name in named}, sort)

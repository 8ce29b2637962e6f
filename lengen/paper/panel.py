"""Experiments as a table: a row is a base, axes of variants and what each value of an axis changes."""

import fnmatch
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lengen.paper.experiment import PROFILES, Experiment
from lengen.paper.profiles import ByProfile, Layer, at_profiles
from lengen.settings.spec import Spec

NO_SIZE = ("large", "long", "unread")
"""Reasons to skip under which a variant has no size at the profile at all."""


@dataclass(frozen=True)
class Value:
    """A value of an axis: its label in pictures, and its changes, the last on top."""

    label: str
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True)
class Axis:
    """One varied setting: part of the name of an experiment -> value."""

    name: str
    values: Mapping[str, Value]


def axis(name: str, values: Mapping[str, Any] | Sequence[Any], field: str = "", unit: str = "") -> Axis:
    """Return an axis.

    Args:
        values: part of a name -> `Value`, or label with layers, or label. With a ``field`` (``model.heads``): numbers,
            or part of a name -> number, or (number at the paper profile, number below it).
        unit: follows the number in a label.
    """
    items = values.items() if isinstance(values, Mapping) else ((str(value), value) for value in values)
    return Axis(name, {slug: _value(slug, value, field, unit) for slug, value in items})


def _value(slug: str, value: Any, field: str, unit: str) -> Value:
    if isinstance(value, Value):
        return value
    if field:
        paper, small = value if isinstance(value, tuple) else (value, value)
        label = f"{{{field}}} {unit}".strip()
        return Value(label, (ByProfile(paper={field: paper}, cpu={field: small}, smoke={field: paper}),))
    label, *layers = value if isinstance(value, tuple) else (value,)
    return Value(label, tuple(layers))


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A published figure or table as a row: its experiments are the product of its axes."""

    paper: str
    name: str
    place: str
    says: str | Callable[..., str]
    """The claim; of several ones, a function of the parts of a variant's name."""
    axes: tuple[Axis, ...]
    base: Mapping[str, Spec] = field(default_factory=dict)
    """Profile -> setting that the axes change."""
    layers: tuple[Layer, ...] = ()
    """Changes of every variant, below those of the axes."""
    derived: tuple[Layer, ...] = ()
    """Changes above those of the axes."""
    make: Callable[..., Mapping[str, Spec]] | None = None
    """In place of ``base``: the specifications by profile, from the parts of a variant's name."""
    smoke: Callable[[Spec], Spec] | None = None
    """Makes the smoke size of the paper's, if ``base`` has none."""
    named: str = ""
    """Format of a variant's name from the parts; by default joined by hyphens."""
    seeds: int = 1
    night: int | Callable[..., int] = 3
    """Seeds of a night, or a function of the parts of a name."""
    skip: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Profile -> reason (a key of `REASONS`) -> variants, as patterns apart by spaces."""
    ours: Mapping[str, str] = field(default_factory=dict)
    """Variant -> why this suite has it, though the paper does not."""
    shown: Callable[..., tuple[str, ...]] | None = None

    def experiments(self) -> tuple[Experiment, ...]:
        """Return one experiment per variant, the last axis fastest."""
        return tuple(self._one(slugs) for slugs in itertools.product(*(one.values for one in self.axes)))

    def _one(self, slugs: tuple[str, ...]) -> Experiment:
        variant = self.named.format(*slugs) if self.named else "-".join(filter(None, slugs))
        values = [one.values[slug] for one, slug in zip(self.axes, slugs, strict=True)]
        skip = {
            profile: reason
            for profile, reasons in self.skip.items()
            for reason, patterns in reasons.items()
            if any(fnmatch.fnmatchcase(variant, pattern) for pattern in patterns.split())
        }
        specs = self.make(*slugs) if self.make else self._specs(values)
        return Experiment(
            name=f"{self.paper}/{self.name}/{variant}",
            claim=self.says if isinstance(self.says, str) else self.says(*slugs),
            place=self.place,
            specs={
                profile: specs[profile] for profile in PROFILES if profile in specs and skip.get(profile) not in NO_SIZE
            },
            skip=skip,
            seeds=self.seeds,
            repeats={"night": self.night if isinstance(self.night, int) else self.night(*slugs)},
            ours=self.ours.get(variant, ""),
            shown=self.shown(*slugs) if self.shown else (),
            at={one.name: value.label for one, value in zip(self.axes, values, strict=True)},
        )

    def _specs(self, values: Sequence[Value]) -> dict[str, Spec]:
        layers = (*self.layers, *(layer for value in values for layer in value.layers), *self.derived)
        found = at_profiles(self.base, *layers)
        return {"smoke": self.smoke(found["paper"]), **found} if self.smoke else found


def rows_of(paper: str, **shared: Any) -> Callable[..., tuple[Experiment, ...]]:
    """Return the function of name, place and fields of a `Panel` that returns the experiments of a row of a paper."""

    def row(name: str, place: str, **fields: Any) -> tuple[Experiment, ...]:
        return Panel(paper=paper, name=name, place=place, **shared, **fields).experiments()

    return row

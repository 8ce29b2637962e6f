"""Experiments at every profile, as rows of a table, and the figures that draw them.

Papers list their experiments as plain data (`papers/<paper>/experiments.py`). The program reads the list to show, plan,
run, draw and compare; nothing here knows how a run is made.
"""

import fnmatch
import itertools
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from lengen.settings.changes import Changes, overlay
from lengen.settings.spec import Spec

if TYPE_CHECKING:
    from lengen.results.records import Run


Kind = TypeVar("Kind", bound=Spec)


@dataclass(frozen=True, kw_only=True)
class ByProfile:
    """Changes that profiles do not share."""

    paper: Changes = field(default_factory=dict)
    night: Changes | None = None
    """As cpu if it is None."""
    cpu: Changes = field(default_factory=dict)
    smoke: Changes = field(default_factory=dict)

    def at(self, profile: str) -> Changes:
        """Return the changes of one profile."""
        if profile == "night" and self.night is None:
            return self.cpu
        changes: Changes = getattr(self, profile)
        return changes


Layer = Changes | ByProfile | Callable[[Spec], Changes]
"""Changes to a setting: of every profile, of each profile, or found from the setting so far."""


def laid(spec: Kind, profile: str, *layers: Layer) -> Kind:
    """Return a setting with layers laid over it, the last on top; raises `SettingError`."""
    for layer in layers:
        change = layer.at(profile) if isinstance(layer, ByProfile) else layer(spec) if callable(layer) else layer
        spec = overlay(spec, change)
    return spec


def at_profiles(bases: Mapping[str, Kind], *layers: Layer) -> dict[str, Kind]:
    """Return the base of each profile with layers laid over it, the last on top; raises `SettingError`."""
    return {profile: laid(base, profile, *layers) for profile, base in bases.items()}


def of_width(width: int, heads: int, hidden: int) -> Changes:
    """Return the fields of a model whose heads share its width, with ``hidden`` times as many feed-forward units."""
    return {"width": width, "heads": heads, "head_dim": width // heads, "ff_width": hidden * width}


Runs = Mapping[str, Sequence["Run"]]
"""Name of an experiment -> its finished runs, one per seed."""

PROFILES = ("smoke", "cpu", "night", "paper")
"""The sizes of an experiment: seconds (CI), minutes or hours of two cores, the published hyper-parameters."""
REPEATS = {"smoke": 1, "cpu": 1, "night": 3}
"""Seeds of a run at each profile, unless an experiment has others; at the paper profile the published ones."""
REASONS = {
    "minutes": "minutes more than a run of the whole paper has on two cores: runs when named",
    "hours": "hours more than a night has for this paper: runs when named",
    "ours": "no setting of the paper: runs when named",
    "large": "too large for two cores",
    "long": "takes longer than runs of this size may",
    "unread": "nothing published is about it, and its hours go to what a statement rests on",
}
"""Why a profile leaves an experiment out, by the word that experiments use."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    name: str
    """``paper/figure/variant``."""
    claim: str
    """The paper's claim on this setting, in one sentence."""
    place: str
    """Figure, table or section of the paper."""
    specs: Mapping[str, Spec]
    """One specification per profile; a profile without one is not run there, and is in ``skip``."""
    skip: Mapping[str, str] = field(default_factory=dict)
    """Profile -> why a run of the whole paper leaves it out: a key of `REASONS`, or a sentence."""
    seeds: int
    """Seeds of the published result (the paper profile's default)."""
    repeats: Mapping[str, int] = field(default_factory=dict)
    """Seeds by profile, if they are not those of `REPEATS`."""
    ours: str = ""
    """Why this suite has it, if the paper has no such experiment; no published claim may rest on it."""
    shown: tuple[str, ...] = ()
    """Overrides under which ``encode`` and ``solve`` write a problem: its part of a shared run."""
    at: Mapping[str, str] = field(default_factory=dict)
    """Name of an axis of its figure -> label of its value there, in which ``{model.width}`` is a field of the run's
    specification, because smaller profiles have other sizes; empty for an experiment by itself."""

    def default_seeds(self, profile: str) -> range:
        """Return the seeds of a run that names none."""
        return range(self.repeats.get(profile, REPEATS.get(profile, self.seeds)))

    @property
    def absent(self) -> Mapping[str, str]:
        """Profiles without a specification, and why."""
        return {profile: REASONS.get(why, why) for profile, why in self.skip.items() if profile not in self.specs}

    @property
    def extra(self) -> Mapping[str, str]:
        """Profiles at which it runs only when its figure is named, and why."""
        return {profile: REASONS.get(why, why) for profile, why in self.skip.items() if profile in self.specs}

    @property
    def paper(self) -> str:
        return self.name.split("/")[0]

    @property
    def figure(self) -> str:
        return self.name.split("/")[1]

    @property
    def variant(self) -> str:
        return self.name.split("/")[2]


def constructed(
    row: str, place: str, variant: str, claim: str, label: str, smoke: Spec, cpu: Spec, paper: Spec
) -> Experiment:
    """Return an experiment without training: seeds make no difference, and a night needs no more of it than minutes."""
    specs, at, night = {"smoke": smoke, "cpu": cpu, "night": cpu, "paper": paper}, {"weights": label}, {"night": 1}
    return Experiment(name=f"{row}/{variant}", claim=claim, place=place, specs=specs, seeds=1, repeats=night, at=at)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published figure: the experiments it reads, wherever their home is, and the drawing."""

    name: str
    """Name within the paper, e.g. ``fig1``."""
    title: str
    """At most eight words."""
    experiments: tuple[Experiment, ...] = ()
    """Its experiments, in drawing order."""
    how: str
    """``module:function``, called with this figure, its runs, published values and the ``options``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    caption: str = ""
    """Content of the picture in a sentence or two, for the page and the alternative text; numbers of runs are added."""
    csv: str = ""
    """``module:function``: of the runs, what is drawn as CSV text, for a file beside the picture."""
    probes: bool = False
    """It draws the projections of one problem, so ``probe`` can draw it for any other."""
    seeds: Literal["median", "one", "each"] = "median"
    """Seeds that it shows, for the caption."""
    png: bool = False
    """Its committed picture has a PNG beside the SVG, for a page that shows that."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the experiments that it draws."""
        return tuple(item.name for item in self.experiments)

    @property
    def table(self) -> Callable[[Runs], str] | None:
        """The function of ``csv``."""
        return pkgutil.resolve_name(self.csv) if self.csv else None

    def draw(self, runs: Runs, published: Mapping[str, Sequence[Any]] | None = None) -> Any:
        """Return the matplotlib Figure; imports what draws it."""
        return pkgutil.resolve_name(self.how)(self, runs, published or {}, **self.options)


NAMES = ("grid", "curves", "table", "training", "attention")
GRID, CURVES, TABLE, TRAINING, ATTENTION = (f"lengen.plotting:{name}" for name in NAMES)
"""The drawings that several figures share."""


def figure_of(
    name: str, title: str, how: str, *groups: Sequence[Experiment], caption: str = "", csv: str = "",
    probes: bool = False, seeds: Literal["median", "one", "each"] = "median", png: bool = False, **options: Any,
) -> Figure:  # fmt: skip
    """Return the figure that draws these groups of experiments, in their order."""
    drawn = tuple(item for group in groups for item in group)
    return Figure(
        name=name, title=title, experiments=drawn, how=how, options=options, caption=caption, csv=csv, probes=probes,
        seeds=seeds, png=png,
    )  # fmt: skip


NO_SIZE = ("large", "long", "unread")
"""Reasons to skip under which a variant has no size at the profile at all."""


@dataclass(frozen=True)
class AxisValue:
    """A value of an axis: its label in pictures, and its changes, the last on top."""

    label: str
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True)
class Axis:
    """One varied setting: part of the name of an experiment -> value."""

    name: str
    values: Mapping[str, AxisValue]


def axis(name: str, values: Mapping[str, Any] | Sequence[Any], field: str = "", unit: str = "") -> Axis:
    """Return an axis.

    Args:
        values: part of a name -> `AxisValue`, or label with layers, or label. With a ``field`` (``model.heads``):
            numbers, or part of a name -> number, or (number at the paper profile, number below it).
        unit: follows the number in a label.
    """
    items = values.items() if isinstance(values, Mapping) else ((str(value), value) for value in values)
    return Axis(name, {slug: _value(slug, value, field, unit) for slug, value in items})


def _value(slug: str, value: Any, field: str, unit: str) -> AxisValue:
    if isinstance(value, AxisValue):
        return value
    if field:
        paper, small = value if isinstance(value, tuple) else (value, value)
        label = f"{{{field}}} {unit}".strip()
        return AxisValue(label, (ByProfile(paper={field: paper}, cpu={field: small}, smoke={field: paper}),))
    label, *layers = value if isinstance(value, tuple) else (value,)
    return AxisValue(label, tuple(layers))


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
        return tuple(self._one(slugs) for slugs in itertools.product(*(axis.values for axis in self.axes)))

    def _one(self, slugs: tuple[str, ...]) -> Experiment:
        variant = self.named.format(*slugs) if self.named else "-".join(filter(None, slugs))
        values = [axis.values[slug] for axis, slug in zip(self.axes, slugs, strict=True)]
        skip = {
            profile: reason
            for profile, reasons in self.skip.items()
            for reason, patterns in reasons.items()
            if any(fnmatch.fnmatchcase(variant, pattern) for pattern in patterns.split())
        }
        layers = (*self.layers, *(layer for value in values for layer in value.layers), *self.derived)
        specs = self.make(*slugs) if self.make else at_profiles(self.base, *layers)
        if self.smoke is not None:
            specs = {"smoke": self.smoke(specs["paper"]), **specs}
        sized = {name: specs[name] for name in PROFILES if name in specs and skip.get(name) not in NO_SIZE}
        return Experiment(
            name=f"{self.paper}/{self.name}/{variant}",
            claim=self.says if isinstance(self.says, str) else self.says(*slugs),
            place=self.place,
            specs=sized,
            skip=skip,
            seeds=self.seeds,
            repeats={"night": self.night if isinstance(self.night, int) else self.night(*slugs)},
            ours=self.ours.get(variant, ""),
            shown=self.shown(*slugs) if self.shown else (),
            at={axis.name: value.label for axis, value in zip(self.axes, values, strict=True)},
        )


def rows_of(paper: str, **shared: Any) -> Callable[..., tuple[Experiment, ...]]:
    """Return the function of name, place and fields of a `Panel` that returns the experiments of a row of a paper."""

    def row(name: str, place: str, **fields: Any) -> tuple[Experiment, ...]:
        return Panel(paper=paper, name=name, place=place, **shared, **fields).experiments()

    return row

"""Experiments, each a published setting with its claim, place and sizes, and the figures that draw them.

Papers list their experiments as plain data (`papers/<paper>/experiments.py`). The program reads the list to show, plan,
run, draw and compare; nothing here knows how a run is made.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lengen.settings.spec import Spec

if TYPE_CHECKING:
    from lengen.results.records import Run

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


def constructed(name: str, claim: str, place: str, smoke: Spec, cpu: Spec, paper: Spec, label: str = "") -> Experiment:
    """Return an experiment without training: seeds make no difference, and a night needs no more of it than minutes."""
    specs = {"smoke": smoke, "cpu": cpu, "night": cpu, "paper": paper}
    at = {"weights": label} if label else {}
    return Experiment(name=name, claim=claim, place=place, specs=specs, seeds=1, repeats={"night": 1}, at=at)


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


GRID, CURVES, TABLE, TRAINING, ATTENTION = (
    f"lengen.plotting:{name}" for name in ("grid", "curves", "table", "training", "attention")
)
"""The drawings that several figures share."""


def figure_of(
    name: str, title: str, how: str, *groups: Sequence[Experiment], caption: str = "", csv: str = "",
    probes: bool = False, seeds: Literal["median", "one", "each"] = "median", png: bool = False, **options: Any,
) -> Figure:  # fmt: skip
    """Return the figure that draws these groups of experiments, in their order."""
    found = tuple(item for group in groups for item in group)
    return Figure(
        name=name, title=title, experiments=found, how=how, options=options, caption=caption, csv=csv, probes=probes,
        seeds=seeds, png=png,
    )  # fmt: skip

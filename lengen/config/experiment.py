"""An experiment: one published setting with its claim, its place and its three sizes; no torch.

Papers list their experiments as plain data (`papers/<paper>/experiments.py`). The conductor reads the
list to show, plan, run, draw and compare; nothing here knows how a run is made.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lengen.config.spec import Spec

if TYPE_CHECKING:
    from lengen.records import Run

Runs = Mapping[str, Sequence["Run"]]
"""Name of an experiment -> its finished runs, one per seed."""

PROFILES = ("smoke", "cpu", "night", "paper")
"""The sizes of an experiment: seconds (CI), minutes or hours of two cores, the published hyper-parameters."""
REPEATS = {"smoke": 1, "cpu": 1, "night": 3}
"""Seeds of a run at each profile where an experiment says nothing else; at the paper profile the published ones."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    name: str
    """``paper/figure/variant``."""
    claim: str
    """What the paper says of this setting, in one sentence."""
    place: str
    """Where it stands: figure, table or section."""
    specs: Mapping[str, Spec]
    """One specification per profile; a profile that is absent is not run there."""
    absent: Mapping[str, str]
    """Why a profile is absent: shown by ``list``. Every profile is in ``specs`` or here."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Profiles at which a run of the whole paper leaves it out, and why; it runs when its figure is named."""
    seeds: int
    """Seeds of the published result (the paper profile's default)."""
    repeats: Mapping[str, int] = field(default_factory=dict)
    """Seeds by profile, where they are not those of `REPEATS`."""
    ours: str = ""
    """Why this suite has it, where the paper has no such experiment; no published claim may rest on it."""
    shown: tuple[str, ...] = ()
    """Overrides under which ``encode`` and ``solve`` write a problem: what this experiment looks at in a shared run."""

    def default_seeds(self, profile: str) -> range:
        """The seeds of a run that names none."""
        return range(self.repeats.get(profile, REPEATS.get(profile, self.seeds)))

    @property
    def paper(self) -> str:
        return self.name.split("/")[0]

    @property
    def figure(self) -> str:
        return self.name.split("/")[1]

    @property
    def variant(self) -> str:
        return self.name.split("/")[2]


def constructed(name: str, claim: str, place: str, smoke: Spec, cpu: Spec, paper: Spec) -> Experiment:
    """An experiment without training, whose seeds make no difference: a night asks no more of it than minutes."""
    specs = {"smoke": smoke, "cpu": cpu, "night": cpu, "paper": paper}
    return Experiment(name=name, claim=claim, place=place, specs=specs, absent={}, seeds=1, repeats={"night": 1})


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published figure: the experiments it reads, wherever their home is, and the function that draws it."""

    name: str
    """Name within the paper, e.g. ``fig1``."""
    title: str
    """Caption in one line."""
    reads: tuple[str, ...]
    """Names of the experiments it draws, in drawing order."""
    draw: Callable[..., Any]
    """``draw(runs)`` gives a matplotlib Figure; it imports what draws when it is called. A title that it has says what
    the figure found."""
    table: Callable[[Runs], str] | None = None
    """``table(runs)`` gives what is drawn as CSV text, for a file beside the picture."""
    probes: bool = False
    """It draws the projections of one problem, so ``probe`` can draw it for any other."""
    published: bool = False
    """It is ``draw(runs, published)`` and draws what the paper published of its experiments beside them
    (`lengen.plotting.published`)."""


def figure_of(
    name: str,
    title: str,
    draw: Callable[..., Any],
    *experiments: tuple[Experiment, ...],
    table: Callable[[Runs], str] | None = None,
    probes: bool = False,
    published: bool = False,
) -> Figure:
    """A figure that draws these groups of experiments, in their order."""
    reads = tuple(item.name for group in experiments for item in group)
    return Figure(name=name, title=title, reads=reads, draw=draw, table=table, probes=probes, published=published)

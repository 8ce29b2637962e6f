"""Which experiments exist: papers found, selectors resolved, shared specifications traced to their home.

What enters are the lists in ``papers/<paper>/experiments.py``; what leaves are `Experiment` and `Figure` objects.
Two experiments of a paper whose specifications are equal at a profile are one run, stored under the first of them.
"""

import fnmatch
import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import papers as papers_package
from lengen.config.experiment import Experiment, Figure
from lengen.config.spec import nearest
from lengen.records import Run
from reproduce.store.store import Store

WILDCARDS = frozenset("*?[")


class SelectorError(ValueError):
    """A selector that names nothing; the message gives the nearest names."""


@cache
def papers() -> tuple[str, ...]:
    """Names of the papers that declare experiments, sorted."""
    folders = [Path(place) for place in papers_package.__path__]
    return tuple(sorted(path.parent.name for folder in folders for path in folder.glob("*/experiments.py")))


def experiments(paper: str | None = None) -> tuple[Experiment, ...]:
    """Experiments of one paper, or of all, in the order of declaration."""
    names = papers() if paper is None else (paper,)
    return tuple(item for name in names for item in _module(name).EXPERIMENTS)


def figures(paper: str) -> tuple[Figure, ...]:
    """Figures of one paper in the order of declaration."""
    return tuple(_module(paper).FIGURES)


def deviations(paper: str) -> Mapping[str, str]:
    """Numbered deviations of one paper: number -> sentence with its reason."""
    return dict(_module(paper).DEVIATIONS)


def select(selector: str) -> tuple[Experiment, ...]:
    """Experiments that a selector names: ``paper``, ``paper/figure`` or ``paper/figure/variant``, with wildcards.

    Raises `SelectorError` with the nearest names where it names none.
    """
    parts = selector.strip("/").split("/")
    if len(parts) == 2 and parts[0] in papers() and parts[1] not in _children((parts[0],)):
        drawn = {name for figure in figures(parts[0]) if figure.name == parts[1] for name in figure.reads}
        if drawn:  # a figure of experiments whose home is elsewhere
            return tuple(item for item in experiments(parts[0]) if item.name in drawn)
    if len(parts) > 3:
        raise SelectorError(f"selector '{selector}': expected paper, paper/figure or paper/figure/variant")
    found: list[tuple[str, ...]] = [()]
    for level, part in enumerate(parts):
        choices = [(*head, name) for head in found for name in _children(head)]
        found = [names for names in choices if fnmatch.fnmatchcase(names[-1], part)]
        if not found:
            kind = ("paper", "figure or table", "variant")[level]
            where = f" in {'/'.join(parts[:level])}" if level else ""
            known = list(dict.fromkeys(names[-1] for names in choices))
            hint = "; one of: " + ", ".join(known) if WILDCARDS & set(part) else nearest(part, known)
            raise SelectorError(f"selector '{selector}': there is no {kind} '{part}'{where}{hint}")
    chosen = set(found)
    return tuple(
        item
        for paper in dict.fromkeys(names[0] for names in found)
        for item in experiments(paper)
        if tuple(item.name.split("/"))[: len(parts)] in chosen
    )


def select_one(selector: str) -> Experiment:
    """The single experiment that a selector names; `SelectorError` where it names several."""
    found = select(selector)
    if len(found) > 1:
        examples = ", ".join(item.name for item in found[:3])
        raise SelectorError(f"selector '{selector}' names {len(found)} experiments: name one, such as {examples}")
    return found[0]


def home(experiment: Experiment, profile: str) -> Experiment:
    """The first experiment of the paper with the same specification at this profile; itself where it has none."""
    return _homes(experiment.paper, profile).get(experiment.name, experiment)


def declared_runs(store: Store, experiment: Experiment, profile: str) -> list[Run]:
    """The runs that count for a figure or a comparison: at most one per seed, sorted by seed.

    Per seed the newest version made from the declared specification; in the reference store, where there is none,
    the newest version made without overrides.
    """
    if profile not in experiment.specs:
        return []
    declared = experiment.specs[profile].hash()
    chosen: dict[int, Run] = {}
    runs = [run for run in store.of(home(experiment, profile).name, profile) if counts(run, experiment, profile)]
    for run in sorted(runs, key=lambda run: (run.info["spec_hash"] == declared, run.version)):
        chosen[run.seed] = run
    return [chosen[seed] for seed in sorted(chosen)]


def counts(run: Run, experiment: Experiment, profile: str) -> bool:
    """Whether a run may stand for an experiment at a profile: its specification is the declared one, or it lies in
    the reference store and was made without overrides."""
    if (run.experiment, run.profile) != (home(experiment, profile).name, profile):
        return False
    as_declared = run.info["spec_hash"] == experiment.specs[profile].hash()
    return as_declared or (run.store == "reference" and run.info["overrides"] == [])


@cache
def _homes(paper: str, profile: str) -> dict[str, Experiment]:
    first: dict[str, Experiment] = {}
    homes = {}
    for item in experiments(paper):
        if profile in item.specs:
            homes[item.name] = first.setdefault(item.specs[profile].hash(), item)
    return homes


def _module(paper: str):
    if paper not in papers():
        raise SelectorError(f"there is no paper '{paper}'{nearest(paper, papers())}")
    return importlib.import_module(f"papers.{paper}.experiments")


def _children(head: tuple[str, ...]) -> list[str]:
    """Names one level below: papers, figures of a paper, variants of a figure."""
    if not head:
        return list(papers())
    names = [item.name.split("/") for item in experiments(head[0])]
    return list(dict.fromkeys(name[len(head)] for name in names if tuple(name[: len(head)]) == head))

"""A paper as one object: what it declares, loaded when it is asked for; the standard library alone.

Each folder ``papers/<name>`` offers its object as ``PAPER`` in ``__init__.py``. Everything that takes time to load
stands behind a function that imports it (`later`), so that all papers can be named before anything is installed.
"""

import functools
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lengen.experiment import Experiment, Figure
    from lengen.metrics.run_measures import Family, Measure
    from lengen.settings.spec import Spec


def later(place: str) -> Callable[[], Any]:
    """Return a function that imports ``module:name``, or a whole ``module``, when it is called."""
    return functools.partial(pkgutil.resolve_name, place)


def calling(place: str) -> Callable[..., Any]:
    """Return a function that imports the function ``module:name`` when it is called, and calls it."""
    return lambda *values: pkgutil.resolve_name(place)(*values)


def listed(page: Path) -> Callable[[], Mapping[str, str]]:
    """Return a function that reads the numbered items ``- **D1** text`` of a Markdown page."""
    return lambda: dict(re.findall(r"(?m)^- \*\*(\w+)\*\* (.+)$", page.read_text(encoding="utf-8")))


@dataclass(frozen=True, kw_only=True)
class Paper:
    """Declarations of a paper."""

    name: str
    """Name of its folder, and first part of the names of its experiments."""
    number: int
    """Its place in the order of the papers, from 1: see `alias`."""
    title: str
    """Title of the publication."""
    published: Path
    """Its published values and statements, a TOML file; without such a file there is nothing to compare."""
    arxiv: str = ""
    """Its arXiv identifier, if it has one."""
    openreview: str = ""
    """Its OpenReview forum, if it has one that is known here."""
    experiments: "Callable[[], Sequence[Experiment]]"
    """Its experiments in the order of declaration."""
    apart: str = ""
    """Reason why ``make reproduce`` and ``make night`` leave out its runs, and the command that makes them, in half a
    sentence."""
    figures: "Callable[[], Sequence[Figure]]" = tuple
    """Its figures in the order of declaration."""
    deviations: Callable[[], Mapping[str, str]] = dict
    """Numbered deviations from its text: number -> sentence with its reason."""
    measures: "Callable[[], Mapping[str, Measure | Family]]" = dict
    """Measures of its own that published values and statements name."""
    procedures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """Class name of a setting -> the function that runs it, with the arguments of `lengen.training.run.execute`; other
    settings are run by `execute` itself."""
    constructions: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """Class name of a constructed setting -> the function of model and setting that sets the weights."""
    measurements: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """Class name of a setting -> the function of the setting that returns its `Measurement`s."""
    adders: "Callable[[], Mapping[str, Spec | None]]" = dict
    """Experiments whose models ``adderboard`` lets add two numbers of ten digits, each with the specification that
    constructs such a model; None: with the weights of a run."""

    @property
    def alias(self) -> str:
        """Its other name, ``paper<number>``: ``make reproduce-paper<number>``; empty for one that stands apart."""
        return "" if self.apart else f"paper{self.number}"

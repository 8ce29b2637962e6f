"""Published hyper-parameters beside those of the paper profile, for which no run is needed.

The list ``settings`` of ``papers/<paper>/published.toml`` enters, `Setting` objects leave.
"""

import fnmatch
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lengen.experiment import Experiment
from lengen.part import SettingError
from lengen.settings.changes import read
from reproduce.catalogue import CATALOGUE, PublishedError

PROFILES = ("paper", "night", "cpu")
"""Profiles in the order in which their runs are preferred at equal distance."""
CHECKED = PROFILES[::-1]
"""Profiles whose runs are compared, the smallest first."""

KEYS = {"prefix", "place", "experiments", "rows", "deviations", "relation"}
RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
"""Beside "=", which a tolerance may widen."""


@dataclass(frozen=True)
class Setting:
    """One published hyper-parameter and ours."""

    id: str
    place: str
    published: object
    experiments: tuple[str, ...]
    unequal: Mapping[str, object]
    """Experiment -> our value, if it is another one."""
    deviations: tuple[str, ...] = ()


def settings(paper: str) -> list[Setting]:
    """Return every published hyper-parameter of a paper; raises `PublishedError` with one sentence."""
    path = CATALOGUE.paper(paper).published
    known = {item.name: item for item in CATALOGUE.experiments(paper)}
    groups = enumerate(CATALOGUE.published(paper).get("settings", []), 1)
    return [setting for index, group in groups for setting in _group(group, f"{path}: settings {index}", known)]


def _group(group: Mapping[str, Any], where: str, known: Mapping[str, Experiment]) -> Iterator[Setting]:
    for key in group:
        if key not in KEYS:
            raise PublishedError(f"{where}: there is no key '{key}'; one of: {', '.join(sorted(KEYS))}")
    names = [name for pattern in group["experiments"] for name in fnmatch.filter(known, pattern)]
    if not names:
        raise PublishedError(f"{where}: no experiment is called {group['experiments']}")
    for row in group["rows"]:
        if not isinstance(row, list) or len(row) not in (4, 5):
            raise PublishedError(f"{where}: row {row!r} is not [id, words, field, value] or [..., tolerance]")
        name, _, field, value, *rest = row
        try:
            ours = _ours(field, [known[each] for each in names])
        except SettingError as error:
            raise PublishedError(f"{where}: row '{name}': {error}") from None
        relation, tolerance = group.get("relation", "="), rest[0] if rest else 0.0
        yield Setting(
            "-".join(filter(None, (group.get("prefix", "setting"), name))),
            group["place"], value, tuple(names),
            {each: number for each, number in ours.items() if not _holds(number, relation, value, tolerance)},
            tuple(group.get("deviations", ())),
        )  # fmt: skip


def _ours(field: str, experiments: list[Experiment]) -> dict[str, object]:
    """Return our value of every experiment with a paper profile; of ``experiments`` their number."""
    if field == "experiments":
        return {experiments[0].name: len(experiments)}
    return {each.name: _read(each, field) for each in experiments if "paper" in each.specs}


def _read(experiment: Experiment, field: str) -> object:
    spec = experiment.specs["paper"]
    if field == "seeds":
        return experiment.seeds
    if field == "parameters":  # of the blocks: embeddings are below 0.5 % of those printed in millions
        return spec.model.layers * spec.model.block_weights
    return read(spec, field)


def _holds(ours: object, relation: str, published: Any, tolerance: float) -> bool:
    if isinstance(published, bool | str | list) or isinstance(ours, bool | str | list):
        return type(ours) is type(published) and ours == published
    if relation != "=":
        return RELATIONS[relation](ours, published)
    return bool(abs(ours - published) <= tolerance + 1e-9 * abs(published))

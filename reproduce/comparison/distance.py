"""Distance of a run from the paper, decided by two specifications."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from lengen.part import build
from lengen.results.records import Run
from lengen.settings.sections import DataSpec
from lengen.settings.spec import Spec
from reproduce.runs.catalogue import hash_of

SETTING = "published setting"
"""Every hyper-parameter is the published one."""
LENGTHS = "published lengths"
"""The same text of the problem and the same trained range; another model, amount of training or hyper-parameter."""
SHORTER = "shorter problems"
"""Another trained range, or another text of the problem."""
PROOF = "no training"
"""Weights set by hand."""
OWN = "problems of this suite"
"""No paper has them."""
NEAR = (SETTING, LENGTHS)
"""Distances at which a published number stands beside ours."""

ORDER = (SETTING, LENGTHS, PROOF, OWN, SHORTER, "")
"""From near to far; nothing was run at the last."""
PROFILES = ("paper", "night", "cpu")
"""Profiles in the order in which their runs are preferred at equal distance."""
CHECKED = PROFILES[::-1]
"""Profiles whose runs are compared, the smallest first."""

DRAWN = frozenset({"limit", "short", "skew"})
"""Fields of a task that decide how often each problem is drawn."""
PLACES = frozenset({"width"})
"""Fields of a format that decide to how many places all operands are padded."""


def distance(run: Run, paper: Spec | None) -> str:
    """Return the distance of a run from the published specification of its experiment."""
    if run.constructed:
        return PROOF
    if paper is None:
        return OWN
    if run.info["spec_hash"] == hash_of(paper):
        return SETTING
    return LENGTHS if _stored(msgspec.json.encode(run.info["spec"]["data"])) == _declared(paper.data) else SHORTER


@cache  # runs share few data sections
def _stored(data: bytes) -> dict[str, Any]:
    """`problem` of a stored data section, with fields that are younger than the run."""
    return _declared(build(msgspec.json.decode(data), DataSpec, "data"))


@cache
def _declared(data: DataSpec) -> dict[str, Any]:
    return problem(msgspec.to_builtins(data))


def farthest(distances: Iterable[str]) -> str:
    """Return the farthest of several distances."""
    return max(distances, key=ORDER.index, default="")


def problem(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a data section without all that leaves trained range and text of the problems as they are.

    >>> task = {"kind": "addition", "digits": 6, "limit": 0}
    >>> problem({"task": task, "format": {"kind": "sum", "width": 61}, "examples": 0})
    {'task': {'kind': 'addition', 'digits': 6}, 'format': {'kind': 'sum'}, 'spaces': None, 'hints': []}
    """

    def without(part: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
        return {name: value for name, value in part.items() if name not in names}

    return {
        "task": without(data["task"], DRAWN),
        "format": without(data["format"], PLACES),
        "spaces": data.get("spaces"),
        "hints": [without(hint, DRAWN) for hint in data.get("hints") or ()],
    }

"""Distance of a run from the published specification of its experiment: its kind, and the hyper-parameters that differ.

A run and a specification enter, a word or the differing fields leave. A hyper-parameter is of size if an update costs
more with it, or if it sets how many updates are made and at what rate; all others can be as published at any size.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lengen.part import build
from lengen.results.records import Run
from lengen.settings.sections import DataSpec
from lengen.settings.spec import Spec
from reproduce.catalogue import hash_of

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
    return LENGTHS if _problem(run.spec.data) == _problem(paper.data) else SHORTER


@cache  # runs share few data sections
def _problem(data: DataSpec) -> dict[str, Any]:
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


# ------------------------------------------------------------------ the hyper-parameters that differ

FIELDS = tomllib.loads(Path(__file__).with_name("fields.toml").read_text(encoding="utf-8"))
"""Fields that are no hyper-parameter, those of size, and words for some."""
Differences = Mapping[str, tuple[object, object]]
"""Field -> ours and the published value."""


def differing(paper: Spec | None, runs: Iterable[Run]) -> Differences:
    """Return the hyper-parameters in which runs are not the published specification, in the order of its fields."""
    fields: dict[str, tuple[object, object]] = {}
    for run in runs:
        if paper is not None and not run.constructed:
            fields |= differences(build(run.info["spec"], type(paper), "spec"), paper)
    return fields


@cache  # the seeds of an experiment share a specification, and its values the runs
def differences(spec: Spec, paper: Spec) -> Differences:
    """Return the hyper-parameters in which a specification is not the published one."""
    ours, theirs = (dict(_leaves(msgspec.to_builtins(part))) for part in (spec, paper))
    return {
        field: (ours.get(field), theirs.get(field))
        for field in dict.fromkeys((*theirs, *ours))
        if ours.get(field) != theirs.get(field) and not under(field, FIELDS["aside"])
    }


def _leaves(values: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{place}{name}.")
        else:
            yield f"{place}{name}", value


def under(field: str, sections: Iterable[str]) -> bool:
    """Return True for a field that is one of these, or lies in one."""
    return any(field == section or field.startswith(f"{section}.") for section in sections)


def in_words(every: Iterable[Differences]) -> str:
    """Return differences with ours and, in brackets, the published value.

    >>> in_words([{"model.layers": (2, 6), "train.steps": (400, 50_000)}])
    'layers 2 (6), updates 400 (50,000)'
    """
    ours: dict[str, dict[str, None]] = {}
    published: dict[str, object] = {}
    for fields in every:
        for field, (mine, theirs) in fields.items():
            ours.setdefault(field, {})[_value(mine)] = None
            published[field] = theirs
    return ", ".join(f"{_name(field)} {' or '.join(each)} ({_value(published[field])})" for field, each in ours.items())


def _name(field: str) -> str:
    return str(FIELDS["words"].get(field, "")) or field.removesuffix(".kind").rpartition(".")[2].replace("_", " ")


def _value(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(_value, value)) or "none"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)

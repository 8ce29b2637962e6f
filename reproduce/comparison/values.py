"""Published measurements: the accuracies that a paper prints, with the problems they belong to.

``papers/<paper>/published.toml`` enters, `Value` objects leave, in the order of the file. Their lengths and counts are
those of the published specification. A measurement that a paper prints at several places is one value; a table that is
printed ``again`` gives none.
"""

import fnmatch
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from lengen.config.experiment import Experiment
from lengen.measures import trained_range
from reproduce.comparison.regions import REGIONS, inside
from reproduce.runs.catalogue import CATALOGUE


@dataclass(frozen=True, kw_only=True)
class Value:
    """One published measurement."""

    id: str
    paper: str
    place: str
    words: str
    experiments: tuple[str, ...]
    """Names; of several the least favourable is compared, unless ``across`` pools their seeds."""
    published: float
    """In percent if ``unit`` is "%"."""
    unit: str = "%"
    relation: str = "="
    lengths: tuple[int, ...] = ()
    """Tested lengths; none for a measure of the whole run."""
    counts: tuple[int, ...] = (1,)
    measure: str = "exact"
    mode: str = "teacher_forced"
    statistic: str = "minimum"
    """Taken over the cells of each seed's model: minimum, mean or maximum."""
    across: str = ""
    """Taken over the seeds of all experiments: mean or deviation; else the median over seeds."""


@cache
def values(paper: str) -> tuple[Value, ...]:
    """Every published measurement of a paper, each once."""
    path = CATALOGUE.paper(paper).published
    if not path.exists():
        return ()
    known = {item.name: item for item in CATALOGUE.experiments(paper) if "paper" in item.specs}
    found: dict[tuple[Any, ...], Value] = {}
    for value in _entries(tomllib.loads(path.read_text(encoding="utf-8")), paper, known):
        homes = tuple(CATALOGUE.home(known[name], "paper").name for name in value.experiments)
        key = (homes, value.lengths, value.counts, value.measure, value.mode, value.statistic, value.across)
        first = found.get(key)
        if first is None:
            found[key] = value
        elif value.place not in first.place:
            found[key] = replace(first, place=f"{first.place}; {value.place}")
    return tuple(found.values())


def _entries(table: Mapping[str, Any], paper: str, known: Mapping[str, Experiment]) -> Iterator[Value]:
    for group in (group for group in table.get("table", []) if not group.get("again")):
        yield from _group(group, paper, known)
    for row in table.get("number", []):
        printed = not str(row.get("how_read", "printed")).startswith("in words")
        if row.get("kind", "measured") == "measured" and printed and isinstance(row.get("value"), int | float):
            yield _number(row, paper, known)


def _group(group: Mapping[str, Any], paper: str, known: Mapping[str, Experiment]) -> Iterator[Value]:
    """Values of a table: one for each row and column, but for texts such as "N/A"."""
    columns: Sequence[int | str] = group.get("lengths", group.get("regions", ()))
    for name, words, pattern, numbers, *_ in group["rows"]:
        for column, number in zip(columns, numbers, strict=True):
            if not isinstance(number, str):
                where = {"lengths": [column, column]} if isinstance(column, int) else {"region": column}
                yield _value(
                    f"{group['prefix']}-{name}-{column}", words, [pattern], float(number), "%", {**group, **where},
                    paper, known,
                )  # fmt: skip


def _number(row: Mapping[str, Any], paper: str, known: Mapping[str, Experiment]) -> Value:
    share = not row.get("measure", "exact").startswith(("values.", "scalar.seconds", "response"))
    published = round(row["value"] * 100, 8) if share else float(row["value"])
    return _value(row["id"], row["statement"], row["experiments"], published, "%" * share, row, paper, known)


def _value(
    name: str,
    words: str,
    patterns: Sequence[str],
    published: float,
    unit: str,
    row: Mapping[str, Any],
    paper: str,
    known: Mapping[str, Experiment],
) -> Value:
    names = tuple(item for pattern in patterns for item in fnmatch.filter(known, pattern))
    measure = row.get("measure", "exact")
    whole = measure.startswith("scalar.")
    lengths, counts = ((), (1,)) if whole else _cells(known[names[0]], row)
    return Value(
        id=name,
        paper=paper,
        place=row["place"],
        words=words,
        experiments=names,
        published=published,
        unit=unit,
        relation=row.get("relation", "="),
        lengths=lengths,
        counts=counts,
        measure=measure,
        mode=row.get("mode", "teacher_forced"),
        statistic=row.get("statistic", "minimum"),
        across=row.get("across", ""),
    )


def _cells(experiment: Experiment, row: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lengths and counts that the published specification tests in the region and bounds of an entry."""
    spec = experiment.specs["paper"]
    span = trained_range(spec.data)
    tested = spec.test.counts if span.second > 1 or len(spec.test.counts) > 1 else (1,)
    cells = [(length, count) for length in spec.test.lengths for count in tested]
    asked = inside(cells, span, REGIONS[row.get("region", "all")], row.get("lengths"), row.get("counts"))
    if not asked:  # printed at a length that the specification leaves out
        return tuple(row["lengths"][-1:]), tuple(row.get("counts", (1,))[-1:])
    return tuple(sorted({n for n, _ in asked})), tuple(sorted({m for _, m in asked}))

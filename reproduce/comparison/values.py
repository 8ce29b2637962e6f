"""Published measurements: the accuracies that a paper prints, with the problems they belong to.

``papers/<paper>/published.toml`` enters, `Value` objects leave, in the order of the file. Their lengths and counts are
those of the published specification. A measurement that a paper prints at several places is one value; a table that is
printed ``again`` gives none.
"""

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lengen.metrics.measures import trained_range
from lengen.paper.experiment import Experiment
from reproduce.comparison.published import PublishedError, load
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
    region: str = "all"
    """Name of the test cells that lengths and counts come from."""
    measure: str = "exact"
    mode: str = "teacher_forced"
    statistic: str = "minimum"
    """Taken over the cells of each seed's model: minimum, mean or maximum."""
    across: str = ""
    """Taken over the seeds of all experiments: mean or deviation; else the median over seeds."""


def values(paper: str, again: bool = False) -> tuple[Value, ...]:
    """Every published measurement of a paper, each once; with ``again`` those of tables that are printed again, too."""
    path = CATALOGUE.paper(paper).published
    known = {item.name: item for item in CATALOGUE.experiments(paper) if "paper" in item.specs}
    found: dict[tuple[Any, ...], Value] = {}
    for value in _entries(load(path), paper, known, again):
        homes = tuple(CATALOGUE.home(known[name], "paper").name for name in value.experiments)
        key = (homes, value.lengths, value.counts, value.measure, value.mode, value.statistic, value.across)
        first = found.get(key)
        if first is None:
            found[key] = value
        elif value.place not in first.place:
            found[key] = replace(first, place=f"{first.place}; {value.place}")
    return tuple(found.values())


def _entries(table: Mapping[str, Any], paper: str, known: Mapping[str, Experiment], again: bool) -> Iterator[Value]:
    """Yield the values of all tables, or of those that are not printed ``again``."""
    for group in table.get("table", []):
        if again or not group.get("again"):
            yield from group_values(group, paper, known)


def group_values(group: Mapping[str, Any], paper: str, known: Mapping[str, Experiment]) -> Iterator[Value]:
    """Yield one value for each row and column; texts such as "N/A" are none, and ">=90" is a bound.

    Columns are ``lengths`` or ``regions``; a table of one column may name its problems as ``over`` instead.
    """
    columns: Sequence[Any] = group.get("lengths") or group.get("regions") or [group["over"]]
    for name, words, experiments, numbers in group["rows"]:
        for column, printed in zip(columns, numbers, strict=True):
            if (found := _printed(printed)) is not None:
                suffix = f"-{column}" if "over" not in group else ""
                where = {"lengths": [column, column]} if isinstance(column, int) else column
                where = {"region": column} if isinstance(column, str) else where
                patterns = [experiments] if isinstance(experiments, str) else experiments
                names = tuple(item for pattern in patterns for item in fnmatch.filter(known, pattern))
                if not names:
                    raise PublishedError(
                        f"{paper}: table '{group['prefix']}', row '{name}': no experiment {experiments}"
                    )
                yield _value(f"{group['prefix']}-{name}{suffix}", words, names, found, {**group, **where}, paper, known)


def _printed(value: int | float | str) -> tuple[str, float] | None:
    """Return relation and number.

    >>> _printed(98.2), _printed("<1"), _printed(">=67.8"), _printed("N/A")
    (('=', 98.2), ('<', 1.0), ('>=', 67.8), None)
    """
    if not isinstance(value, str):
        return "=", float(value)
    found = re.fullmatch(r"([<>]=?)([\d.]+)", value)
    return (found[1], float(found[2])) if found else None


def _value(
    name: str,
    words: str,
    names: tuple[str, ...],
    printed: tuple[str, float],
    row: Mapping[str, Any],
    paper: str,
    known: Mapping[str, Experiment],
) -> Value:
    measure = row.get("measure", "exact")
    whole = measure.startswith("scalar.")
    lengths, counts = ((), (1,)) if whole else _cells(known[names[0]], row)
    return Value(
        id=name,
        paper=paper,
        place=row["place"],
        words=words,
        experiments=names,
        published=printed[1],
        unit=row.get("unit", "%"),
        relation=printed[0],
        lengths=lengths,
        counts=counts,
        region=row.get("region", "all"),
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
    asked = inside(
        cells,
        span,
        REGIONS[row.get("region", "all")],
        row.get("lengths"),
        row.get("counts"),
    )
    if not asked:  # printed at a length that the specification leaves out
        return tuple(row["lengths"][-1:]), tuple(row.get("counts", (1,))[-1:])
    return tuple(sorted({n for n, _ in asked})), tuple(sorted({m for _, m in asked}))

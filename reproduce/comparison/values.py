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

from lengen.metrics.measures import short, trained_range
from lengen.paper.experiment import Experiment
from reproduce.comparison.numbers import span
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

    @property
    def printed(self) -> str:
        """The published number with its relation."""
        return f"{'' if self.relation == '=' else f'{self.relation} '}{self.published:g}"

    @property
    def name(self) -> str:
        """Its experiment without the paper, and how many more it is about."""
        first, *more = self.experiments
        return short(first) + (f" +{len(more)}" if more else "")

    @property
    def at(self) -> str:
        """Its lengths and counts, short: of many lengths the first and the last."""
        lengths = span(self.lengths) if len(self.lengths) < 4 else f"{min(self.lengths)}-{max(self.lengths)}"
        return lengths if len(self.counts) < 2 else f"{lengths} x {span(self.counts)}"


OPTIONAL = ("unit", "region", "measure", "mode", "statistic", "across")
"""Fields of a value that a table may leave out."""


def values(paper: str, again: bool = False) -> tuple[Value, ...]:
    """Every published measurement of a paper, each once; with ``again`` once for each experiment, in tables that are
    printed again, too."""
    path = CATALOGUE.paper(paper).published
    known = {item.name: item for item in CATALOGUE.experiments(paper) if "paper" in item.specs}
    found: dict[tuple[Any, ...], Value] = {}
    tables = [table for table in load(path).get("table", []) if again or not table.get("again")]
    for value in (value for table in tables for value in group_values(table, paper, known)):
        homes = tuple(CATALOGUE.home(known[name], "paper").name for name in value.experiments)
        names = value.experiments if again else homes
        key = (names, value.lengths, value.counts, value.measure, value.mode, value.statistic, value.across)
        first = found.get(key)
        if first is None:
            found[key] = value
        elif value.place not in first.place:
            found[key] = replace(first, place=f"{first.place}; {value.place}")
    return tuple(found.values())


def group_values(group: Mapping[str, Any], paper: str, known: Mapping[str, Experiment]) -> Iterator[Value]:
    """Yield one value for each row and column; texts such as "N/A" are none, and ">=90" is a bound.

    Columns are ``lengths`` or ``regions``; a table of one column may name its problems as ``over`` instead.
    """
    columns: Sequence[Any] = group.get("lengths") or group.get("regions") or [group["over"]]
    for name, words, experiments, numbers in group["rows"]:
        patterns = [experiments] if isinstance(experiments, str) else experiments
        names = tuple(item for pattern in patterns for item in fnmatch.filter(known, pattern))
        if not names:
            raise PublishedError(f"{paper}: table '{group['prefix']}', row '{name}': no experiment {experiments}")
        for column, printed in zip(columns, numbers, strict=True):
            if (found := _printed(printed)) is None:
                continue
            where = {"lengths": [column, column]} if isinstance(column, int) else column
            row = {**group, **({"region": column} if isinstance(column, str) else where)}
            whole = row.get("measure", "").startswith("scalar.")
            lengths, counts = ((), (1,)) if whole else _cells(known[names[0]], row)
            yield Value(
                id=f"{group['prefix']}-{name}" + (f"-{column}" if "over" not in group else ""),
                paper=paper, place=row["place"], words=words, experiments=names, relation=found[0], published=found[1],
                lengths=lengths, counts=counts, **{field: row[field] for field in OPTIONAL if field in row},
            )  # fmt: skip


def _printed(value: int | float | str) -> tuple[str, float] | None:
    """Return relation and number.

    >>> _printed(98.2), _printed("<1"), _printed(">=67.8"), _printed("N/A")
    (('=', 98.2), ('<', 1.0), ('>=', 67.8), None)
    """
    if not isinstance(value, str):
        return "=", float(value)
    found = re.fullmatch(r"([<>]=?)([\d.]+)", value)
    return (found[1], float(found[2])) if found else None


def _cells(experiment: Experiment, row: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lengths and counts that the published specification tests in the region and bounds of an entry."""
    spec = experiment.specs["paper"]
    trained = trained_range(spec.data)
    tested = spec.test.counts if trained.second > 1 or len(spec.test.counts) > 1 else (1,)
    cells = [(length, count) for length in spec.test.lengths for count in tested]
    asked = inside(cells, trained, REGIONS[row.get("region", "all")], row.get("lengths"), row.get("counts"))
    if not asked:  # printed at a length that the specification leaves out
        return tuple(row["lengths"][-1:]), tuple(row.get("counts", (1,))[-1:])
    return tuple(sorted({n for n, _ in asked})), tuple(sorted({m for _, m in asked}))

"""Published measurements beside ours: a line for every accuracy that a paper prints, and how many lie within 5 points.

``papers/<paper>/published.toml`` enters and `Value` objects leave, in the order of the file. Their lengths and counts
are those of the published specification. A measurement that a paper prints at several places is one value; a table that
is printed ``again`` gives none. With stored runs a value becomes a `Line`, a row of a table or part of a score.
"""

import fnmatch
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, stdev
from typing import Any, Literal

from lengen.experiment import Experiment
from lengen.metrics.run_measures import Missing, OfRun, short
from lengen.results.records import Run, to_table
from reproduce.catalogue import CATALOGUE, PublishedError
from reproduce.comparison.last_comparison import MET, apart
from reproduce.comparison.published_settings import PROFILES
from reproduce.comparison.region_measures import REGIONS, Stored, inside, measure_of, ratios, tested, vocabulary
from reproduce.comparison.setting_distance import NEAR, Differences, differing, distance, farthest

COLUMNS = (
    "paper", "place", "experiment", "length", "count", "published", "ours", "points", "distance", "seeds",
    "relation", "unit", "profile", "compared", "each_seed", "id", "beyond", "source", "within_seeds", "differs",
    "measure", "mode",
)  # fmt: skip
"""Columns of published.csv."""
STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {"minimum": min, "maximum": max, "mean": fmean}


def number(value: float | None) -> str:
    """Return a number with at most two decimals, three below 0.005, nothing for None.

    >>> number(99.95), number(100.0), number(-0.0001), number(0.003), number(None)
    ('99.95', '100', '0', '0.003', '')
    """
    if value is None:
        return ""
    if abs(value) < 0.0005:
        return "0"
    return f"{value:.3f}" if abs(value) < 0.005 else f"{value:.2f}".rstrip("0").rstrip(".")


def span(numbers: Sequence[int]) -> str:
    """Return numbers as ranges of those that follow one another.

    >>> span((1, 2, 3, 4, 5, 6, 7, 9)), span((50,)), span((5, 10, 20))
    ('1-7 9', '50', '5 10 20')
    """
    places = itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    parts = [[number for _, number in pairs] for _, pairs in places]
    return " ".join(f"{part[0]}-{part[-1]}" if len(part) > 2 else " ".join(map(str, part)) for part in parts)


def probability(p: float | None) -> str:
    """Return a probability with two digits; nothing for None."""
    return "" if p is None else f"{p:.2g}"


Source = Literal["text", "table", "figure", "data"]
"""Origin of a published number: printed in a text or a table, read off a curve, data of the authors."""


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
    source: Source = "text"

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


OPTIONAL = ("unit", "region", "measure", "mode", "statistic", "across", "source")
"""Fields of a value that a table may leave out."""


def values(paper: str, again: bool = False) -> tuple[Value, ...]:
    """Return every published measurement of a paper, each once.

    With ``again`` once for each experiment, in tables that are printed again, too.
    """
    known = {item.name: item for item in CATALOGUE.experiments(paper) if "paper" in item.specs}
    by_key: dict[tuple[Any, ...], Value] = {}
    tables = [table for table in CATALOGUE.published(paper).get("table", []) if again or not table.get("again")]
    for value in (value for table in tables for value in group_values(table, paper, known)):
        homes = tuple(CATALOGUE.home(known[name], "paper").name for name in value.experiments)
        names = value.experiments if again else homes
        key = (names, value.lengths, value.counts, value.measure, value.mode, value.statistic, value.across)
        first = by_key.get(key)
        if first is None:
            by_key[key] = value
        elif value.place not in first.place:
            by_key[key] = replace(first, place=f"{first.place}; {value.place}")
    return tuple(by_key.values())


def group_values(group: Mapping[str, Any], paper: str, known: Mapping[str, Experiment]) -> Iterator[Value]:
    """Yield one value for each row and column; texts such as "N/A" are none, and ">=90" is a bound.

    Columns are ``lengths`` or ``regions``; a table of one column may name its problems as ``over`` instead.
    """
    columns: Sequence[Any] = group.get("lengths") or group.get("regions") or [group["over"]]
    group = {"source": "table" if group["place"].startswith("Table") else "text", **group}
    for name, words, experiments, numbers in group["rows"]:
        patterns = [experiments] if isinstance(experiments, str) else experiments
        names = tuple(item for pattern in patterns for item in fnmatch.filter(known, pattern))
        if not names:
            raise PublishedError(f"{paper}: table '{group['prefix']}', row '{name}': no experiment {experiments}")
        for column, printed in zip(columns, numbers, strict=True):
            if (bound := _printed(printed)) is None:
                continue
            where = {"lengths": [column, column]} if isinstance(column, int) else column
            row = {**group, **({"region": column} if isinstance(column, str) else where)}
            whole = row.get("measure", "").startswith("scalar.")
            lengths, counts = ((), (1,)) if whole else _cells(known[names[0]], row)
            yield Value(
                id=f"{group['prefix']}-{name}" + (f"-{column}" if "over" not in group else ""),
                paper=paper, place=row["place"], words=words, experiments=names, relation=bound[0], published=bound[1],
                lengths=lengths, counts=counts, **{field: row[field] for field in OPTIONAL if field in row},
            )  # fmt: skip


def _printed(value: int | float | str) -> tuple[str, float] | None:
    """Return the relation and the number of a printed value.

    >>> _printed(98.2), _printed("<1"), _printed(">=67.8"), _printed("N/A")
    (('=', 98.2), ('<', 1.0), ('>=', 67.8), None)
    """
    if not isinstance(value, str):
        return "=", float(value)
    parts = re.fullmatch(r"([<>]=?)([\d.]+)", value)
    return (parts[1], float(parts[2])) if parts else None


def _cells(experiment: Experiment, row: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the lengths and counts that the published specification tests in the region and bounds of an entry."""
    spec = experiment.specs["paper"]
    trained = spec.data.trained
    tested = spec.test.counts if trained.second > 1 or len(spec.test.counts) > 1 else (1,)
    cells = [(length, count) for length in spec.test.lengths for count in tested]
    chosen = inside(cells, trained, REGIONS[row.get("region", "all")], row.get("lengths"), row.get("counts"))
    if not chosen:  # printed at a length that the specification leaves out
        return tuple(row["lengths"][-1:]), tuple(row.get("counts", (1,))[-1:])
    return tuple(sorted({n for n, _ in chosen})), tuple(sorted({m for _, m in chosen}))


@dataclass(frozen=True)
class Line:
    """A published measurement and what was measured here."""

    value: Value
    distance: str = ""
    """Empty if nothing was run, or nothing tested there."""
    profile: str = ""
    seeds: tuple[float, ...] = ()
    """One value per seed in the unit of the published one, of many cells its own worst; empty if nothing can be
    compared."""
    ours: float | None = None
    """Median over seeds, of many cells the worst median, or the statistic that the value is across seeds."""
    of: str = ""
    """The experiment that has these values, of several the least favourable; empty if their seeds are pooled."""
    trained: int = 0
    """Seeds that were trained, whether or not they are compared."""
    differs: Differences = field(default_factory=dict)
    """Hyper-parameters other than published, of all its experiments."""

    @property
    def points(self) -> float | None:
        """Ours less published."""
        return None if self.ours is None else self.ours - self.value.published

    @property
    def apart(self) -> float:
        """Points by which ours misses the published value; 0 without ours."""
        return apart(self.points or 0, self.value.relation)

    @property
    def gap(self) -> float | None:
        """Ours less published, and 0 on the right side of a printed bound."""
        return self.points if self.apart else self.points and 0.0

    @property
    def name(self) -> str:
        """The experiment that has these values, and of how many it is the least favourable."""
        more = len(self.value.experiments) - 1
        return f"{short(self.of)} (furthest of {more + 1})" if self.of and more else self.value.name

    @property
    def within_seeds(self) -> bool:
        """True if the published value lies between our smallest and largest seed, or a seed meets its bound."""
        return bool(self.seeds) and (
            min(self.seeds) <= self.value.published <= max(self.seeds)
            or any(not apart(seed - self.value.published, self.value.relation) for seed in self.seeds)
        )

    @property
    def compared(self) -> bool:
        """A share that stands beside a published one."""
        return self.ours is not None and self.value.unit == "%"

    @property
    def beyond(self) -> bool:
        """True if some of its cells lie outside the trained range of the published specification."""
        trained = CATALOGUE.select_one(self.value.experiments[0]).specs["paper"].data.trained
        return any(not trained.has((n, m)) for n in self.value.lengths for m in self.value.counts)


@dataclass(frozen=True)
class Score:
    """Number of published shares that are met."""

    printed: int
    compared: int
    within_5: int
    within_2: int

    def __str__(self) -> str:
        """Return the score in words."""
        return f"{self.within_5} of {self.compared} published values within 5 points ({self.within_2} within 2)"


def score(lines: Iterable[Line]) -> Score:
    """Count the lines within 5 points and within 2."""
    shares = [line for line in lines if line.value.unit == "%"]
    gaps = [line.apart for line in shares if line.ours is not None]
    return Score(len(shares), len(gaps), *(sum(round(gap, 9) <= most for gap in gaps) for most in (MET, 2)))


def printed(lines: Iterable[Line]) -> list[Line]:
    """Return the lines of printed values, without those read off a curve."""
    return [line for line in lines if line.value.source != "figure"]


def hard(lines: Iterable[Line], most: float = 100) -> Score:
    """Count the printed values beyond the trained range, more than next to nothing and at most so many percent."""
    return score(line for line in printed(lines)
                 if line.compared and line.beyond and MET < line.value.published <= most)  # fmt: skip


MIDDLE = 94.99
"""Most percent of a value that neither a perfect model nor one that knows nothing reaches."""


def met_by_constant(lines: Iterable[Line]) -> int:
    """Count the printed values that 100 % inside the trained range and 0 % beyond it would meet."""
    constant = ((0.0 if line.beyond else 100.0, line.value) for line in printed(lines) if line.compared)
    return sum(apart(ours - value.published, value.relation) <= MET for ours, value in constant)


def lines(paper: str, stored: Stored) -> list[Line]:
    """Return a line for every published measurement of a paper."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}
    return [_line(value, [known[name] for name in value.experiments], stored) for value in values(paper)]


def _line(value: Value, experiments: Sequence[Experiment], stored: Stored) -> Line:
    lacking = Line(value)
    for profile in PROFILES:
        runs = [stored(experiment.name, profile) for experiment in experiments]
        if not all(runs):
            continue
        where = farthest(distance(run, item.specs.get("paper")) for item, some in zip(experiments, runs, strict=True)
                          for run in some)  # fmt: skip
        trained = min(map(len, runs))
        if where in NEAR:
            try:
                line = _compared(value, where, profile, runs)
                every = (differing(item.specs.get("paper"), some) for item, some in zip(experiments, runs, strict=True))
                return replace(line, differs={name: pair for some in every for name, pair in some.items()})
            except Missing:
                pass  # trained as published, and not tested there
        if not lacking.trained:
            lacking = Line(value, "" if where in NEAR else where, profile, trained=trained)
    return lacking


def _compared(value: Value, where: str, profile: str, runs: Sequence[Sequence[Run]]) -> Line:
    """Return the line of the least favourable experiment (of equals the one with the fewest seeds), or of all seeds."""
    scale = 100 if value.unit == "%" else 1
    each = [over_cells(value, some) for some in runs]
    if value.across:
        pooled = [scale * seed for _, seeds in each for seed in seeds]
        ours = (fmean if value.across == "mean" else stdev)(pooled)
        return Line(value, where, profile, tuple(pooled), ours, trained=len(pooled))
    pairs = [(*medians, some[0].experiment) for medians, some in zip(each, runs, strict=True)]
    ours, seeds, of = min(pairs, key=lambda pair: (_favour(value, scale * pair[0]), len(pair[1])))
    return Line(value, where, profile, tuple(scale * seed for seed in seeds), scale * ours, of, len(seeds))


def _favour(value: Value, ours: float) -> float:
    """Return how favourable a value of ours is to the published one."""
    if value.relation in (">", ">="):
        return ours
    return -ours if value.relation in ("<", "<=") else -abs(ours - value.published)


def over_cells(value: Value, runs: Sequence[Run]) -> tuple[float, list[float]]:
    """Return a published value's statistic over its cells: that of the medians over seeds, and that of each run alone.

    The mean over cells is taken of each run, and the median over seeds of these means.

    Raises:
        Missing: a run lacks the measure, or the largest of the lengths and counts was not tested.
    """
    kind = measure_of(vocabulary(value.paper), value.measure)
    if isinstance(kind, OfRun):
        whole = [top / bottom for top, bottom in map(kind.value, runs)]
        return median(whole), whole
    most = max(value.counts)
    cells = sorted((n, m) for n, m in tested(runs, most) if n in value.lengths and m in value.counts)
    if (max(value.lengths), most) not in cells:
        raise Missing(f"not tested at {max(value.lengths)} x {most}")
    by_cell = []
    for cell, pairs in zip(cells, zip(*ratios(kind, runs, cells, value.mode), strict=True), strict=True):
        if not all(bottom for _, bottom in pairs):
            raise Missing(f"no problem at {cell[0]} x {cell[1]}")
        by_cell.append([top / bottom for top, bottom in pairs])
    statistic = STATISTICS[value.statistic]
    each = [statistic(rates) for rates in zip(*by_cell, strict=True)]
    return median(each) if value.statistic == "mean" else statistic([median(rates) for rates in by_cell]), each


def yes(true: bool) -> str:
    """Return yes or no."""
    return "yes" if true else "no"


def to_csv(lines: Iterable[Line]) -> str:
    """Return the lines as comma-separated values: shares in percent, points as ours less published."""
    return to_table(COLUMNS, map(_row, lines))


def _row(line: Line) -> tuple[object, ...]:
    value = line.value
    seeds = line.trained or "" if line.distance else ""
    return (
        value.paper, value.place, " ".join(value.experiments), span(value.lengths), span(value.counts),
        f"{value.published:g}", number(line.ours), number(line.points), line.distance, seeds,
        value.relation, value.unit, line.profile, line.of, " ".join(map(number, line.seeds)), value.id,
        yes(line.beyond), value.source, yes(line.within_seeds) if line.ours is not None else "",
        " ".join(line.differs), value.measure, value.mode,
    )  # fmt: skip

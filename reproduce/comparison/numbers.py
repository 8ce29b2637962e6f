"""Published numbers: measured ones against runs of the published setting, settings against the declared specification.

A `Number` enters, a `Finding` leaves. A measured number is taken like the paper took it: first the median over seeds
in every cell, then the smallest, the largest or the mean over cells. Its interval is Wilson's at the examples of one
seed (of that cell, or of all cells for a mean). A number ``across`` experiments is the mean or deviation of one value
per run instead, and its interval the jackknife's over runs. A setting needs no run: the paper-profile specification is
read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lengen.config.experiment import Experiment
from lengen.config.spec import ModelSpec, nearest
from lengen.intervals import Interval, median, seed_interval, wilson
from lengen.records import Run
from reproduce.comparison.across import ACROSS
from reproduce.comparison.entries import Number
from reproduce.comparison.evidence import DIFFERS, REPRODUCED, Evidence, Finding, favour, level, together
from reproduce.comparison.families import measure_of
from reproduce.comparison.measures import Missing, short
from reproduce.comparison.published import PublishedError
from reproduce.comparison.regions import REGION_WORDS, Cell, cells_of


def measure(number: Number, evidence: Evidence) -> Finding:
    """Measure a number on the runs of a profile; raises `Missing` where runs or cells are missing."""
    if number.across:
        return _across(number, evidence)
    found = [(name, _one(number, name, evidence.runs(name))) for name in evidence.names(number.experiments)]
    low, high = band(number)
    worst = min((finding for _, finding in found), key=lambda f: favour(f.ours, number.relation, low, high))
    notes = [f"{short(name)} {finding.ours:.4g}" for name, finding in found] if len(found) > 1 else []
    seeds = min(finding.seeds for _, finding in found)
    if seeds < number.seeds:
        notes.append(f"{seeds} seed{'s' if seeds > 1 else ''} instead of {number.seeds}")
    verdict = together(finding.verdict for _, finding in found)
    return worst._replace(verdict=verdict, seeds=seeds, notes=(*notes, *worst.notes))


def _across(number: Number, evidence: Evidence) -> Finding:
    """The mean or deviation over all runs, each reduced over its cells; ``n`` counts runs."""
    names = evidence.names(number.experiments)
    values = [_one(number, name, [run]).ours for name in names for run in evidence.runs(name)]
    value, interval = ACROSS[number.across].of(values)
    verdict = level(interval, (value,), number.relation, *band(number))
    seeds = min(len(evidence.runs(name)) for name in names)
    return Finding(verdict, value, interval, len(values), seeds, (f"{len(values)} runs of {len(names)} experiments",))


def band(number: Number) -> tuple[float, float]:
    """Lower and upper end that a measured number is compared with."""
    if number.low is not None and number.high is not None:
        return number.low, number.high
    value = float(number.value)  # type: ignore[arg-type]
    return value - number.tolerance, value + number.tolerance


def _one(number: Number, name: str, runs: Sequence[Run]) -> Finding:
    kind = measure_of(number.measure)
    if not kind.by_cell:
        values = [top / bottom for top, bottom in (kind.counts(run, (), number.mode) for run in runs)]
        value, n, place = median(values), len(values), ""
        interval = Interval(min(values), max(values))
    else:
        value, n, place = _over_cells(number, name, runs)
        interval = wilson(round(value * n), n) if kind.proportion else Interval(value, value)
    low, high = band(number)
    verdict = level(interval, (value,), number.relation, low, high)
    return Finding(verdict, value, interval, n, len(runs), (place,) if place else ())


def _over_cells(number: Number, name: str, runs: Sequence[Run]) -> tuple[float, int, str]:
    """Value, the examples of one seed behind it, and where it was found."""
    kind = measure_of(number.measure)
    cells = sorted(cells_of(runs, number.region, number.lengths, number.counts))
    corner = tuple(bounds[1] for bounds in (number.lengths, number.counts) if bounds)
    reached = tuple(
        max((cell[axis] for cell in cells), default=0)
        for axis, bounds in enumerate((number.lengths, number.counts))
        if bounds
    )
    if not cells or reached != corner:
        where = " x ".join(map(str, corner)) or REGION_WORDS[number.region]
        raise Missing(f"{short(name)} was not tested up to {where} at this profile")
    medians: dict[Cell, float] = {}
    sizes: dict[Cell, int] = {}
    for cell in cells:
        counts = [kind.counts(run, (cell,), number.mode) for run in runs]
        if not all(bottom for _, bottom in counts):
            raise Missing(f"{short(name)} was tested on no example at {cell}")
        medians[cell], sizes[cell] = median([top / bottom for top, bottom in counts]), counts[0][1]
    if number.statistic == "mean":
        return sum(medians.values()) / len(medians), sum(sizes.values()), ""
    cell = (min if number.statistic == "minimum" else max)(cells, key=lambda cell: medians[cell])
    spread = seed_interval([top / bottom for top, bottom in (kind.counts(run, (cell,), number.mode) for run in runs)])
    words = f"at {' x '.join(map(str, cell))}" if len(cells) > 1 else ""
    if len(runs) > 1:
        words += f"{' ' if words else ''}seeds {spread.low:.3f} to {spread.high:.3f}"
    return medians[cell], sizes[cell], words


def setting(
    number: Number, experiments: Mapping[str, Experiment], names: Sequence[str]
) -> tuple[str, object, list[str]]:
    """Verdict, our value and notes of a hyper-parameter, read from the paper-profile specifications that there are."""
    if number.field == "experiments":
        found: list[tuple[str, object]] = [(number.experiments[0], len(names))]
    else:
        found = [(name, _read(number, experiments[name])) for name in names if "paper" in experiments[name].specs]
    wrong = [(name, value) for name, value in found if not _holds(number, value)]
    notes = [f"{short(name)} has {value}" for name, value in wrong[:3]]
    return (DIFFERS if wrong else REPRODUCED), (wrong or found)[0][1], notes


def _holds(number: Number, ours: object) -> bool:
    published = number.value
    if isinstance(published, (bool, str, list)) or isinstance(ours, (bool, str, list)):
        return type(ours) is type(published) and ours == published
    low, high = band(number)
    value, slack = float(ours), 1e-9 * max(abs(low), abs(high))  # type: ignore[arg-type]
    if number.relation in (">", ">="):
        return value >= low - slack
    return value <= high + slack and (number.relation in ("<", "<=") or value >= low - slack)


def _read(number: Number, experiment: Experiment) -> object:
    """A field of the paper-profile specification: ``section.field``, then an index, ``last`` or ``len`` for tuples."""
    where = f"published.toml: number '{number.id}'"
    spec = experiment.specs["paper"]
    if number.field == "seeds":
        return experiment.seeds
    if number.field == "parameters":
        return block_parameters(spec.model)
    values: dict[str, Any] = spec.to_dict()
    section, _, rest = number.field.partition(".")
    name, _, part = rest.partition(".")
    if section not in values or name not in values[section]:
        known = [f"{key}.{item}" for key, fields in values.items() for item in fields]
        raise PublishedError(f"{where}: there is no specification field '{number.field}'{nearest(number.field, known)}")
    value = values[section][name]
    if part:
        if not isinstance(value, tuple) or not (part in ("len", "last") or part.isdecimal()):
            raise PublishedError(f"{where}: '{number.field}' ends in '{part}'; expected an index, last or len")
        if part == "len":
            return len(value)
        index = len(value) - 1 if part == "last" else int(part)
        return _plain(value[index]) if 0 <= index < len(value) else "absent"
    return _plain(value)


def _plain(value: object) -> object:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def block_parameters(model: ModelSpec) -> int:
    """Weights of the blocks: attention 4 w h k and feed-forward 3 w f (2 w f when not gated) per layer.

    Embeddings, position tables and norms are left out: below 0.5 % at the published sizes, printed in millions.
    """
    gated = 3 if "glu" in model.activation else 2
    attention = 4 * model.width * model.heads * model.head_dim
    return model.layers * (attention + gated * model.width * model.ff_width)

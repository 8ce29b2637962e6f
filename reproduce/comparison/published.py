"""Reads ``papers/<paper>/published.toml``: what a paper says, as data that can be checked.

The file enters, `Published` leaves: numbers (a value with its place, how it was read and how it was aggregated), claims
(of the kind that ``check`` names), settings (hyper-parameters, which are numbers of kind "setting" written as one row
each) and tables (measured numbers by length or region, one row per experiment). Every mistake in the file is one
sentence that names the file, the entry and the field.
"""

import fnmatch
import re
import tomllib
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lengen.config.experiment import PROFILES, Experiment
from lengen.config.spec import Spec, nearest
from lengen.measures import Scored
from reproduce.comparison.checks import CLAIMS, Claim, Compare, Level, Paired, Pooled
from reproduce.comparison.measures import Vocabulary, paper_measures
from reproduce.comparison.numbers import NUMBERS, Number

WILDCARDS = frozenset("*?[")
"""Characters of shell wildcards, which no side of a claim may have."""


class PublishedError(ValueError):
    """A published.toml that cannot be used; the message is one sentence for the user."""


@dataclass(frozen=True)
class Published:
    """All entries of one paper, in the order of the file."""

    numbers: tuple[Number, ...]
    claims: tuple[Claim, ...]
    deviations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Profile -> numbers of the deviations that concern every row of that profile."""
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    """Measures and regions that its entries name."""

    def naming(self, experiments: Iterable[Experiment]) -> set[str]:
        """The ids of its numbers and claims that name one of these experiments, whether or not it has run."""
        names = [experiment.name for experiment in experiments]
        entries: list[Number | Claim] = [*self.numbers, *self.claims]
        return {entry.id for entry in entries if any(fnmatch.filter(names, pattern) for pattern in entry.names)}


def load(path: Path) -> Published:
    """Read and check a published.toml, in the folder of its paper; raises `PublishedError` with one sentence."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PublishedError(f"{path}: cannot be read ({error.strerror}); expected the published numbers") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PublishedError(f"{path}: expected TOML; {error}") from None
    return parse(table, str(path), paper_measures(path.parent.name))


def parse(table: Mapping[str, typing.Any], where: str, vocabulary: Vocabulary | None = None) -> Published:
    """Check the parsed table; ``where`` names the file in messages."""
    vocabulary = vocabulary or Vocabulary()
    _known(where, "table", table, ("number", "table", "settings", "claim", "deviations"))
    for name in ("number", "table", "settings", "claim"):
        if not isinstance(table.get(name, []), list) or not all(isinstance(row, dict) for row in table.get(name, [])):
            raise PublishedError(f"{where}: '{name}' is not a list of tables; write [[{name}]] above each entry")
    rows = [(f"{where}: number {index}", row) for index, row in enumerate(table.get("number", []), 1)]
    for index, group in enumerate(table.get("settings", []), 1):
        rows += [(f"{where}: settings {index}", row) for row in _settings(group, f"{where}: settings {index}")]
    for index, group in enumerate(table.get("table", []), 1):
        rows += [(f"{where}: table {index}", row) for row in _table(group, f"{where}: table {index}", vocabulary)]
    numbers = [_entry("kind", {"kind": "measured"} | row, place, vocabulary) for place, row in rows]
    claims = [
        read_claim(row, f"{where}: claim {index}", vocabulary) for index, row in enumerate(table.get("claim", []), 1)
    ]
    seen: set[str] = set()
    for entry in (*numbers, *claims):
        if entry.id in seen:
            raise PublishedError(f"{where}: the id '{entry.id}' stands twice; every entry needs its own")
        seen.add(entry.id)
    _linked(claims, where)
    shared = table.get("deviations", {})
    _known(where, "profile", shared, PROFILES)
    deviations = {profile: tuple(names) for profile, names in shared.items()}
    return Published(tuple(numbers), tuple(claims), deviations, vocabulary)


def read_claim(row: Mapping[str, typing.Any], where: str, vocabulary: Vocabulary) -> Claim:
    """One entry of the list ``claim``; raises `PublishedError`, also for what cannot fail by its own definition."""
    claim: Claim = _entry("check", row, where, vocabulary)
    where = f"{where} ('{claim.id}')"
    if claim.learned is not None:
        if claim.learned.measure:
            _measure(where, "learned.measure", claim.learned.measure, vocabulary)
        if claim.learned.region:
            _choice(where, "learned.region", claim.learned.region, vocabulary.regions)
    _can_fail(claim, where, vocabulary)
    return claim


def _linked(claims: Sequence[Claim], where: str) -> None:
    """Whether the claims that others are parts of, or are asked after, are there, and lead nowhere in a circle."""
    known = {claim.id: claim for claim in claims}
    for claim in claims:
        for name in ("part_of", "given"):
            told = f"{where}: claim '{claim.id}': '{name}' is '{(other := getattr(claim, name))}'"
            if other and other not in known:
                raise PublishedError(f"{told}, which is no claim of this file{nearest(other, list(known))}")
            if other and (getattr(known[other], name) if name == "part_of" else other == claim.id):
                raise PublishedError(f"{told}; expected a claim that is itself no part of another, nor this one")
        path = [claim.id]
        while following := known[path[-1]].given:
            if following in path:
                raise PublishedError(f"{where}: claim '{claim.id}' is asked after itself; break the circle of 'given'")
            path.append(following)


def _can_fail(claim: Claim, where: str, vocabulary: Vocabulary) -> None:
    """Refuse what holds by definition: no share lies below 0 or above 1, and a response that is right as a whole is
    right in every part, so on the same runs and cells no share of right parts lies below exact match."""
    if isinstance(claim, Level) and vocabulary.measure(claim.measure).proportion:
        low = claim.threshold if claim.low is None else claim.low
        high = claim.threshold if claim.high is None else claim.high
        asks = {">=": low > 0, ">": low >= 0, "<=": high < 1, "<": high <= 1}.get(claim.relation, low > 0 or high < 1)
        if not asks:
            raise PublishedError(
                f"{where}: {claim.measure} is a share, which lies between 0 and 1, so '{claim.relation}' holds by "
                "definition; give 'threshold' a share that can be missed"
            )
    if not isinstance(claim, Compare | Paired | Pooled) or claim.one.region != claim.other.region:
        return
    same = {*claim.left} == {*claim.right} and (len(claim.left) == 1 or not isinstance(claim, Compare))
    both = [vocabulary.measure(side.measure) for side in (claim.one, claim.other)]
    shares = all(isinstance(measure, Scored) and measure.proportion and measure.denominator == "n" for measure in both)
    names = [claim.one.measure, claim.other.measure]
    if not same or not shares or names.count("exact") != 1:
        return
    larger = names[0] != "exact"
    if (claim.relation == ">") is larger and (claim.threshold <= 0 if larger else claim.threshold >= 0):
        raise PublishedError(
            f"{where}: {names[not larger]} is never below exact match on the same runs, so this holds by definition; "
            f"give 'threshold' the {'least' if larger else 'largest, negative'} difference that says something"
        )


def _settings(group: Mapping[str, typing.Any], where: str) -> list[dict[str, typing.Any]]:
    """Rows ``[id, statement, field, value]`` (and a tolerance) of one published table, as numbers."""
    _known(where, "key", group, ("prefix", "place", "experiments", "rows", "deviations"))
    numbers = []
    for row in group.get("rows", []):
        if not isinstance(row, list) or len(row) not in (4, 5):
            raise PublishedError(f"{where}: row {row!r} is not [id, statement, field, value] or [..., tolerance]")
        shared = {name: group[name] for name in ("place", "experiments", "deviations") if name in group}
        own = {
            "id": f"{group.get('prefix', 'setting')}-{row[0]}",
            "statement": row[1],
            "field": row[2],
            "value": row[3],
            "tolerance": row[4] if len(row) == 5 else 0.0,
        }
        numbers.append({"kind": "setting", "relation": "="} | shared | own)
    return numbers


SHARED = ("place", "how_read", "deviations", "measure", "mode", "statistic", "across", "aggregation", "seeds")
"""Keys of a table that all its numbers take as they are."""


def _table(group: Mapping[str, typing.Any], where: str, vocabulary: Vocabulary) -> list[dict[str, typing.Any]]:
    """Rows ``[id, statement, experiment, values]`` (and a tolerance) of accuracies printed in percent, as numbers.

    There is one value per length of ``lengths``, or per region of ``regions``; a text, such as "N/A", stands where the
    table has no number.
    """
    _known(where, "key", group, ("prefix", "lengths", "regions", "tolerance", "rows", "again", *SHARED))
    if "lengths" in group and "regions" in group:
        raise PublishedError(f"{where}: expected 'lengths' or 'regions', not both")
    columns = [(str(n), f"{n} digits", {"lengths": [n, n]}) for n in group.get("lengths", [])]
    for name in group.get("regions", []):
        _choice(where, "region", name, vocabulary.regions)
        columns.append((name, vocabulary.regions[name].words, {"region": name}))
    shared = {"aggregation": "exact match"} | {name: group[name] for name in SHARED if name in group}
    numbers = []
    for row in group.get("rows", []):
        if not isinstance(row, list) or len(row) not in (4, 5) or not isinstance(row[3], list):
            raise PublishedError(f"{where}: row {row!r} is not [id, statement, experiment, values] or [..., tolerance]")
        if len(row[3]) != len(columns):
            raise PublishedError(f"{where}: row '{row[0]}' has {len(row[3])} values; expected {len(columns)}")
        for (column, words, cells), value in zip(columns, row[3], strict=True):
            if isinstance(value, str):
                continue
            own = {
                "id": f"{group.get('prefix', 'table')}-{row[0]}-{column}",
                "statement": f"{row[1]}, {words}",
                "value": round(value / 100, 10),
                "tolerance": row[4] if len(row) == 5 else group.get("tolerance", 0.0),
                "experiments": [row[2]],
                "relation": "=",
            }
            numbers.append(own | cells | shared)
    return numbers


def _entry(tag: str, row: Mapping[str, typing.Any], where: str, vocabulary: Vocabulary) -> typing.Any:
    """The claim (``tag`` is "check") or number ("kind") of a row."""
    noun, kinds = {"check": ("claim", CLAIMS), "kind": ("number", NUMBERS)}[tag]
    where = f"{where} ('{row['id']}')" if isinstance(row.get("id"), str) else where
    if tag not in row:
        raise PublishedError(f"{where}: '{tag}' is missing; every {noun} needs it")
    _choice(where, tag, row[tag], kinds)
    kind = kinds[row[tag]]
    fields = {item.name: item for item in msgspec.structs.fields(kind)}
    _known(where, f"key of {_a(f'{row[tag]} {noun}')}", row, (tag, *fields))
    missing = [name for name, item in fields.items() if item.required and name not in row]
    if missing:
        raise PublishedError(f"{where}: '{missing[0]}' is missing; every {row[tag]} {noun} needs it")
    try:
        entry = msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        raise PublishedError(f"{where}: {_sentence(str(error), row)}") from None
    for name in ("measure", "right_measure", "region", "right_region"):
        if value := getattr(entry, name, ""):
            if name.endswith("measure"):
                _measure(where, name, value, vocabulary)
            else:
                _choice(where, name, value, vocabulary.regions)
    for name in ("left", "right", "beside"):
        for experiment in getattr(entry, name, ()):
            if WILDCARDS & {*experiment}:
                raise PublishedError(
                    f"{where}: '{name}' has the wildcard '{experiment}'; name every experiment, so that one more "
                    "changes no verdict"
                )
    if getattr(entry, "by", None) is not None and entry.by not in _settable():
        hint = nearest(entry.by, _settable())
        raise PublishedError(f"{where}: 'by' is '{entry.by}', which is no field of a specification{hint}")
    return entry


def _sentence(message: str, row: Mapping[str, typing.Any]) -> str:
    """What msgspec says of a value, as the end of a sentence that names the field."""
    what, _, path = message.partition(" - at `$.")
    name = re.split(r"[\[.`]", path)[0]
    if not path:
        return message
    if "field `" in what:  # of a table within the entry
        return f"'{name}': {what[0].lower()}{what[1:].replace('`', chr(39))}"
    expected = re.search(r"Expected (.*?)(?:, got .*)?$", what)
    if expected is None:  # not one of the values that a field may have
        return f"{name} '{row[name]}' is unknown"
    return f"'{name}' is {row[name]!r}; expected {expected[1].replace('`', '').replace('array', 'list')}"


def _measure(where: str, name: str, value: str, vocabulary: Vocabulary) -> None:
    try:
        vocabulary.measure(value)
    except KeyError:
        hint = nearest(value.partition(".")[0], vocabulary.names())
        raise PublishedError(f"{where}: {name} '{value}' is unknown{hint}") from None


def _choice(where: str, name: str, value: typing.Any, allowed: Mapping[str, object]) -> None:
    if value not in allowed:
        raise PublishedError(f"{where}: {name} '{value}' is unknown{nearest(str(value), list(allowed))}")


def _settable() -> list[str]:
    """Every ``section.field`` of a specification, and how far its task is trained."""
    sections = typing.get_type_hints(Spec)
    fields = [f"{name}.{item.name}" for name, kind in sections.items() for item in msgspec.structs.fields(kind)]
    return [*fields, "data.task.longest", "data.task.most"]


def _known(where: str, what: str, row: Mapping[str, typing.Any], allowed: Sequence[str]) -> None:
    for key in row:
        if key not in allowed:
            raise PublishedError(f"{where}: there is no {what} '{key}'{nearest(key, list(allowed))}")


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"

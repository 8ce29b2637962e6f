"""Reads ``papers/<paper>/published.toml``: what a paper says, as data that can be checked.

The file enters, `Published` leaves: numbers (a value with its place, how it was read and how it was aggregated), claims
(a predicate named by its check, its two sides, measure and region), settings (hyper-parameters, which are numbers of
kind "setting" written as one row each) and tables (measured numbers by length or region, one row per experiment). Every
mistake in the file is one sentence that names the entry.
"""

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path

from lengen.config.experiment import PROFILES
from lengen.config.spec import Spec, nearest
from lengen.records import MODES
from reproduce.comparison.across import ACROSS
from reproduce.comparison.entries import CHECKS, KINDS, RELATIONS, STATISTICS, Claim, Number, Published
from reproduce.comparison.families import FAMILIES, measure_of
from reproduce.comparison.measures import MEASURES
from reproduce.comparison.regions import REGION_WORDS, REGIONS


class PublishedError(ValueError):
    """A published.toml that cannot be used; the message is one sentence for the user."""


def load(path: Path) -> Published:
    """Read and check a published.toml; raises `PublishedError` with one sentence."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PublishedError(f"{path}: cannot be read ({error.strerror}); expected the published numbers") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PublishedError(f"{path}: expected TOML; {error}") from None
    return parse(table, str(path))


def parse(table: Mapping[str, typing.Any], where: str) -> Published:
    """Check the parsed table; ``where`` names the file in messages."""
    _known(where, "table", table, ("number", "table", "settings", "claim", "deviations"))
    for name in ("number", "table", "settings", "claim"):
        if not isinstance(table.get(name, []), list) or not all(isinstance(row, dict) for row in table.get(name, [])):
            raise PublishedError(f"{where}: '{name}' is not a list of tables; write [[{name}]] above each entry")
    numbers = [_entry(Number, row, f"{where}: number {index}") for index, row in enumerate(table.get("number", []), 1)]
    for index, group in enumerate(table.get("settings", []), 1):
        numbers += _settings(group, f"{where}: settings {index}")
    for index, group in enumerate(table.get("table", []), 1):
        numbers += _table(group, f"{where}: table {index}")
    claims = [_entry(Claim, row, f"{where}: claim {index}") for index, row in enumerate(table.get("claim", []), 1)]
    seen: set[str] = set()
    entries: list[Number | Claim] = [*numbers, *claims]
    for entry in entries:
        if entry.id in seen:
            raise PublishedError(f"{where}: the id '{entry.id}' stands twice; every entry needs its own")
        seen.add(entry.id)
    shared = table.get("deviations", {})
    _known(where, "profile", shared, PROFILES)
    return Published(tuple(numbers), tuple(claims), {profile: tuple(names) for profile, names in shared.items()})


def _settings(group: Mapping[str, typing.Any], where: str) -> list[Number]:
    """Rows ``[id, statement, field, value]`` (and a tolerance) of one published table, as numbers."""
    _known(where, "key", group, ("prefix", "place", "experiments", "rows", "deviations"))
    numbers = []
    for row in group.get("rows", []):
        if not isinstance(row, list) or len(row) not in (4, 5):
            raise PublishedError(f"{where}: row {row!r} is not [id, statement, field, value] or [..., tolerance]")
        values = {
            "id": f"{group.get('prefix', 'setting')}-{row[0]}",
            "place": group.get("place"),
            "statement": row[1],
            "field": row[2],
            "value": row[3],
            "tolerance": float(row[4]) if len(row) == 5 else 0.0,
            "experiments": group.get("experiments", []),
            "deviations": group.get("deviations", []),
            "relation": "=",
            "kind": "setting",
            "aggregation": "hyper-parameter",
        }
        numbers.append(_entry(Number, values, where))
    return numbers


SHARED = ("how_read", "deviations", "measure", "mode", "statistic", "across", "aggregation", "seeds")
"""Keys of a table that all its numbers take as they are."""


def _table(group: Mapping[str, typing.Any], where: str) -> list[Number]:
    """Rows ``[id, statement, experiment, values]`` (and a tolerance) of accuracies printed in percent, as numbers.

    There is one value per length of ``lengths``, or per region of ``regions``; a text, such as "N/A", stands where the
    table has no number.
    """
    _known(where, "key", group, ("prefix", "place", "lengths", "regions", "tolerance", "rows", *SHARED))
    if "lengths" in group and "regions" in group:
        raise PublishedError(f"{where}: expected 'lengths' or 'regions', not both")
    columns = [(str(n), f"{n} digits", {"lengths": [n, n]}) for n in group.get("lengths", [])]
    columns += [(name, REGION_WORDS.get(name, ""), {"region": name}) for name in group.get("regions", [])]
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
            values = {
                "id": f"{group.get('prefix', 'table')}-{row[0]}-{column}",
                "place": group.get("place"),
                "statement": f"{row[1]}, {words}",
                "value": round(value / 100, 10),
                "tolerance": float(row[4] if len(row) == 5 else group.get("tolerance", 0.0)),
                "experiments": [row[2]],
                "relation": "=",
            }
            numbers.append(_entry(Number, values | cells | shared, where))
    return numbers


Kind = typing.TypeVar("Kind", Number, Claim)


def _entry(kind: type[Kind], row: Mapping[str, typing.Any], where: str) -> Kind:
    where = f"{where} ('{row['id']}')" if isinstance(row.get("id"), str) else where
    fields = {item.name: item for item in dataclasses.fields(kind)}
    hints = typing.get_type_hints(kind)
    _known(where, "key", row, tuple(fields))
    missing = [name for name, item in fields.items() if item.default is dataclasses.MISSING and row.get(name) is None]
    if missing:
        raise PublishedError(f"{where}: '{missing[0]}' is missing; every {kind.__name__.lower()} needs it")
    values = {name: _typed(where, name, value, hints[name]) for name, value in row.items()}
    entry = kind(**values)
    _check_names(where, entry)
    return entry


def _typed(where: str, name: str, value: typing.Any, hint: typing.Any) -> typing.Any:
    """The value in the field's type; whole numbers serve where a float is expected."""
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        if isinstance(value, list) and all(type(item) is inner for item in value):
            return tuple(value)
    elif isinstance(hint, types.UnionType) and list[int] in typing.get_args(hint):
        if isinstance(value, (bool, int, float, str, list)):
            return value
    elif float in (hint, *typing.get_args(hint)):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif type(value) is hint:
        return value
    text = hint.__name__ if isinstance(hint, type) and typing.get_origin(hint) is None else str(hint)
    raise PublishedError(f"{where}: '{name}' is {value!r}; expected {text.replace('tuple', 'list')}")


def _check_names(where: str, entry: Number | Claim) -> None:
    measures = (*MEASURES, *FAMILIES)
    choices: dict[str, tuple[str, ...]] = {
        "relation": RELATIONS,
        "measure": measures,
        "mode": MODES,
        "region": tuple(REGIONS),
    }
    if isinstance(entry, Number):
        choices |= {"kind": KINDS, "statistic": STATISTICS, "across": ("", *ACROSS)}
    else:
        choices |= {"check": CHECKS, "pick": ("", "largest"), "right_measure": ("", *measures)}
        choices |= {"right_mode": ("", *MODES), "right_region": ("", *REGIONS)}
    for name, allowed in choices.items():
        value = getattr(entry, name)
        if name.endswith("measure") and value and _is_measure(value):
            continue
        if value not in allowed or value in FAMILIES:
            hint = nearest(value.partition(".")[0], [known for known in allowed if known])
            raise PublishedError(f"{where}: {name} '{value}' is unknown{hint}")
    if entry.relation == "~" and (entry.low is None or entry.high is None):
        raise PublishedError(f"{where}: relation '~' needs the band 'low' and 'high'")
    for name in ("lengths", "counts"):
        if len(getattr(entry, name)) not in (0, 2):
            raise PublishedError(f"{where}: '{name}' needs a smallest and a largest value, or nothing")
    if isinstance(entry, Number):
        if entry.kind == "remark" and not entry.remark:
            raise PublishedError(f"{where}: a remark needs 'remark', the reason why nothing is compared")
        if entry.kind != "remark" and ((entry.value is None and entry.relation != "~") or not entry.experiments):
            raise PublishedError(f"{where}: a {entry.kind} number needs 'value' and 'experiments'")
        if entry.kind == "measured" and isinstance(entry.value, (str, list)):
            raise PublishedError(f"{where}: 'value' is {entry.value!r}; expected a number to compare runs with")
        if entry.kind == "setting" and not entry.field:
            raise PublishedError(f"{where}: a setting needs 'field', the specification field it is checked against")
        return
    two_sided = entry.check in ("compare", "paired", "pooled", "gain", "varied")
    if two_sided and (not entry.right or entry.relation not in ("<", ">")):
        raise PublishedError(f"{where}: check '{entry.check}' needs 'right' and the relation '<' or '>'")
    if entry.check in ("ordered", "gain") and entry.by not in _fields():
        hint = nearest(entry.by, _fields())
        raise PublishedError(f"{where}: check '{entry.check}' needs 'by', the specification field that sorts{hint}")


def _is_measure(name: str) -> bool:
    try:
        measure_of(name)
    except KeyError:
        return False
    return True


def _fields() -> list[str]:
    """Every ``section.field`` of a specification."""
    sections = typing.get_type_hints(Spec)
    return [f"{name}.{item.name}" for name, kind in sections.items() for item in dataclasses.fields(kind)]


def _known(where: str, what: str, row: Mapping[str, typing.Any], allowed: tuple[str, ...]) -> None:
    for key in row:
        if key not in allowed:
            raise PublishedError(f"{where}: there is no {what} '{key}'{nearest(key, list(allowed))}")

"""One experiment for people: what is claimed, its setting at every size, what is published, how to run it.

An experiment and the entries that name it enter, what rich prints leaves.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lengen.paper.experiment import PROFILES, Experiment
from reproduce.output.terminal import COLOURS, GAP, table, width
from reproduce.runs.estimate import cost, in_words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


class Entry(NamedTuple):
    """A published number or claim that names an experiment."""

    id: str
    answer: str
    """Answer, or value of ours, by the last comparison; empty where there is none."""
    sentence: str


def description(experiment: Experiment, published: Sequence[Entry], full: bool = False) -> "list[RenderableType]":
    """Claim and place; what its settings change of the defaults, or all of them (``full``); published entries and
    their answers; commands."""
    from rich.text import Text

    profiles = [profile for profile in PROFILES if profile in experiment.specs]
    parts: list[RenderableType] = [Text(experiment.name, "bold"), Text(f"{experiment.place}: {experiment.claim}")]
    if not profiles:
        return [*parts, Text(), *(Text(f"not run: {why}") for why in dict.fromkeys(experiment.absent.values()))]
    rows = fields("", [experiment.specs[profile].to_dict() for profile in profiles])
    if not full:
        changed = {row[0] for profile in profiles for row in fields("", [experiment.specs[profile].changed()])}
        rows = [row for row in rows if row[0] in changed]
    alike = [row for row in rows if len(set(row[1:])) == 1 and len(profiles) > 1]
    parts += [Text(), _setting(alike, ["at every size"])] if alike else []
    apart = [row for row in rows if row not in alike]
    apart.append(["estimated", *(in_words(cost(experiment.specs[profile], profile).total) for profile in profiles)])
    if full:
        apart.append(["hash", *(experiment.specs[profile].hash() for profile in profiles)])
    parts += [Text(), _setting(apart, profiles)]
    if not full:
        parts += [Text(), Text("Everything else is at its default: --full shows it.", "dim")]
    for profile, reason in experiment.absent.items():
        parts += [Text(), Text(f"no {profile} size: {reason}")]
    for profile, reason in experiment.extra.items():
        parts += [Text(), Text(f"extra at the {profile} profile: {reason}")]
    if published:
        parts += [Text(), _entries(published)]
    parts += [Text(), *(Text(f"python -m reproduce run {experiment.name} --profile {name}") for name in profiles)]
    return parts


def _setting(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> "Table":
    """Fields with their value at each size, or with the one that all sizes share; lists break at their commas."""
    from rich.text import Text

    cells = [["", *heads], *(row[: len(heads) + 1] for row in rows)]
    columns = list(zip(*cells, strict=True))
    longest = [max(map(len, column)) for column in columns]
    words = [max(len(word) for cell in column for word in _broken(cell).split()) for column in columns[1:]]
    for most, gap in ((max(words, default=0), GAP), (WORD, 1), (WORD // 2, 1)):
        wide = [longest[0], *(min(most, word) for word in words)]
        if sum(wide) + gap * len(heads) <= width():
            break
    for _ in range(width() - sum(wide) - gap * len(heads)):  # what the line has left goes where most is lacking
        lacking = [need - given for need, given in zip(longest, wide, strict=True)]
        wide[lacking.index(max(lacking))] += max(lacking) > 0
    found = table("", *heads)
    found.padding = (0, gap, 0, 0)
    for number, (column, given) in enumerate(zip(found.columns, wide, strict=True)):
        column.no_wrap, column.width = number == 0, given
    for row in cells[1:]:
        found.add_row(
            *(Text(cell if len(cell) <= given else _broken(cell)) for cell, given in zip(row, wide, strict=True))
        )
    return found


def _broken(cell: str) -> str:
    """A list that may break behind each comma."""
    return cell.replace(",", ", ")


def _entries(published: Sequence[Entry]) -> "Table":
    from rich.text import Text

    found = table("published", "here")
    for entry in published:
        said = Text(entry.id, "bold").append(f": {entry.sentence}", "not bold")
        found.add_row(said, Text(entry.answer, COLOURS.get(entry.answer, "dim")))
    return found


WORD = 14
"""Characters of a value that stay together where the lines are short, half of them where they are shorter still."""
ABSENT = object()
"""Stands for the field of a part that another profile has and this one has not."""


def fields(path: str, values: Sequence[Any]) -> list[list[str]]:
    """A row for each field of what stands at a path of several settings, plain data; parts by their kind, then theirs.

    >>> fields("data.task", [{"kind": "parity", "bits": 3}, {"kind": "addition", "digits": 5}])
    [['data.task', 'parity', 'addition'], ['data.task.bits', '3', ''], ['data.task.digits', '', '5']]
    """
    nested = [value if isinstance(value, dict) else {} for value in values]
    own = [value.get("kind", ABSENT) if isinstance(value, dict) else value for value in values]
    rows = [[path, *map(_value, own)]] if any(value is not ABSENT for value in own) else []
    for name in dict.fromkeys(name for inner in nested for name in inner if name != "kind"):
        rows += fields(f"{path}.{name}".lstrip("."), [inner.get(name, ABSENT) for inner in nested])
    return rows


def _value(value: object) -> str:
    """A field's value; long ranges of whole numbers as first..last."""
    if value is None or value is ABSENT:
        return "" if value is ABSENT else "none"
    if isinstance(value, list):
        if len(value) > 3 and all(isinstance(item, int) for item in value):
            return _ranges(value)
        return json.dumps(value).replace(" ", "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ranges(values: Sequence[int]) -> str:
    """Whole numbers, those that follow one another at equal distances as first..last.

    >>> _ranges([5, 10, 15, 20, 21, 25, 30]), _ranges([1, 2, 3, 4, 6, 9])
    ('5..20 by 5,21,25,30', '1..4,6,9')
    """
    groups: list[list[int]] = []
    for item in values:
        last = groups[-1] if groups else []
        if last and item > last[-1] and (len(last) == 1 or item - last[-1] == last[1] - last[0]):
            last.append(item)
        else:
            groups.append([item])
    return ",".join(map(_range, groups))


def _range(group: Sequence[int]) -> str:
    """Numbers at equal distances: as first..last if that is shorter."""
    step = group[1] - group[0] if len(group) > 1 else 0
    if len(group) < (3 if step == 1 else 4):
        return ",".join(map(str, group))
    return f"{group[0]}..{group[-1]}" + f" by {step}" * (step > 1)

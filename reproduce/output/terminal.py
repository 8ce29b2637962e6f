"""What people read: the list, the description of an experiment, the comparison, an encoded problem; text out.

No torch, no matplotlib; rich only for the comparison.
"""

import itertools
import json
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lengen.config.experiment import PROFILES, Experiment
from reproduce.runs.catalogue import CATALOGUE
from reproduce.runs.estimate import cost, in_words

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from reproduce.comparison.compare import Row

COLOURS = {"reproduced": "green", "differs": "red", "undecided": "yellow", "untested": "magenta", "floor": "magenta"}
PIPED_WIDTH = 180
"""Characters of a table where there is no terminal."""


class Finished(NamedTuple):
    """Finished runs of one experiment in one store."""

    declared: int
    """Those that count."""
    overridden: int
    """Those made with ``--set``, which do not."""

    def __str__(self) -> str:
        return f"{self.declared} +{self.overridden} with --set" if self.overridden else str(self.declared)


def listing(chosen: Sequence[Experiment], counts: Sequence[Mapping[str, Finished]]) -> str:
    """A line per experiment: name, profiles, time at cpu size, finished runs, place with claim or reason.

    ``counts`` are for the reference and for the local store. Lines are cut to the width of a terminal,
    and whole where there is none.
    """
    rows: list[tuple[str, ...]] = [("experiment", "profiles", "cpu time", "reference", "local", "published claim")]
    for item in chosen:
        time = in_words(cost(item.specs["cpu"], "cpu").total) if "cpu" in item.specs else "-"
        finished = [str(count[item.name]) for count in counts]
        profiles = " ".join(profile for profile in PROFILES if profile in item.specs)
        rows.append((item.name, profiles, time, *finished, f"{item.place}:{_remark(item)} {item.claim}"))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[5]]) for row in rows
    ]
    return "\n".join(line[:limit] for line in lines)


def _remark(item: Experiment) -> str:
    """Why an experiment has no cpu size, whose run it shares there, or why a run of the paper leaves it out."""
    if "cpu" not in item.specs:
        return f" [not at cpu size: {item.absent.get('cpu', 'not declared')}]"
    shared = CATALOGUE.home(item, "cpu")
    if shared.name != item.name:
        return f" [at cpu size the run of {shared.name}]"
    return f" [{item.extra['cpu']}]" if "cpu" in item.extra else ""


def projections(found: Mapping[str, "np.ndarray"], most: int = 3) -> str:
    """A line per token, layer and stage of a probe: the ``most`` symbols with the largest projections on each basis."""
    rows: list[tuple[str, ...]] = [("position", "token", "layer", "MLP", "encoder basis", "decoder basis")]
    vocabulary = found["vocabulary"].tolist()
    layers, stages, positions, _ = found["encoder"].shape
    for position, layer, stage in itertools.product(range(positions), range(layers), range(stages)):
        sides = []
        for basis in ("encoder", "decoder"):
            values = found[basis][layer, stage, position].astype(float)
            largest = (-values).argsort(kind="stable")[:most]
            sides.append("  ".join(f"{vocabulary[place]} {values[place]:.2f}" for place in largest))
        where = (str(position), str(found["tokens"][position]), str(layer + 1), ("before", "after")[stage])
        rows.append((*where, *sides))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def description(experiment: Experiment, published: Sequence[tuple[str, str]]) -> str:
    """Claim, place, specification at each profile side by side, published entries, commands."""
    lines = [experiment.name, f"  {experiment.place}: {experiment.claim}", ""]
    profiles = [profile for profile in PROFILES if profile in experiment.specs]
    rows = [["", *profiles], ["hash", *(experiment.specs[profile].hash() for profile in profiles)]]
    rows += fields("", [experiment.specs[profile].to_dict() for profile in profiles])
    rows.append(["estimated", *(in_words(cost(experiment.specs[profile], profile).total) for profile in profiles)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(profiles) + 1)]
    lines += [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    for profile, reason in experiment.absent.items():
        lines += ["", f"  no {profile} size: {reason}"]
    for profile, reason in experiment.extra.items():
        lines += ["", f"  extra at the {profile} profile: {reason}"]
    if published:
        width = max(len(name) for name, _ in published)
        lines += ["", "  published", *(f"  {name:<{width}}  {sentence}" for name, sentence in published)]
    lines += ["", *(f"  python -m reproduce run {experiment.name} --profile {profile}" for profile in profiles)]
    return "\n".join(lines)


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
            steps = {after - before for before, after in itertools.pairwise(value)}
            if len(steps) == 1:
                step = steps.pop()
                return f"{value[0]}..{value[-1]}" + (f" by {step}" if step != 1 else "")
        return json.dumps(value).replace(" ", "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def comparison(reference: Sequence["Row"], yours: Sequence["Row"]) -> "Table":
    """Asked | reference | yours for every claim, and for the numbers that have a verdict."""
    from rich.table import Table
    from rich.text import Text

    from reproduce.comparison.tables import asked_of

    table = Table(expand=False, show_lines=False, pad_edge=False)
    for name in ("id", "statement", "profile", "asked", "reference", *(["yours"] if yours else [])):
        table.add_column(name, overflow="fold")
    first = {_key(row): row for row in reference}
    mine = {_key(row): row for row in yours}
    for key, row in (first | mine).items():
        sides = [side.get(key) for side in ((first, mine) if yours else (first,))]
        if row.kind == "claim" or any(side and side.verdict in COLOURS and side.seeds for side in sides):
            cells = [Text(text) for text in (row.id, row.statement, row.profile, asked_of(row))]
            table.add_row(*cells, *(Text(*_verdict(side)) for side in sides))
    return table


def beside(rows: Sequence[tuple[str, ...]], form: str) -> str:
    """Runs made with ``--set`` and the declared ones, as a table or, where ``form`` is md, as one of Markdown."""
    if not rows:
        return "no run was made with --set"
    names = ("experiment", "profile", "seed", "made with", "in the trained range", "outside")
    said = "Runs made with --set beside those of the declared setting; they decide no verdict:"
    if form == "md":
        lines = [f"| {' | '.join(row)} |" for row in (names, ["---"] * len(names), *rows)]
        return "\n".join([said, "", *lines])
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (names, *rows))
    return "\n".join([said, *(f"  {line.rstrip()}" for line in padded)])


def tally(reference: Sequence["Row"], yours: Sequence["Row"]) -> str:
    """The score card: headline claims and all claims, by verdict, for each store."""
    from reproduce.comparison import score_card

    lines = []
    for name, rows in (("reference", reference), ("yours", yours)):
        if rows:
            lines += [f"{name}, {score_card.line(*counted)}" for counted in score_card.card(rows)]
    return "\n".join(lines)


def _key(row: "Row") -> tuple[str, str]:
    return (row.id, row.profile)


def _verdict(row: "Row | None") -> tuple[str, str]:
    """Verdict with value and interval, and its colour."""
    if row is None:
        return "not run", "dim"
    value = f" {row.ours:.4g}" if isinstance(row.ours, float) else ""
    interval = f" [{row.ci_low:.3g}, {row.ci_high:.3g}]" if row.ci_low is not None and row.ci_high is not None else ""
    return f"{row.verdict}{value}{interval}", COLOURS.get(row.verdict, "dim")


def print_wide(table: "Table") -> None:
    """Print a table as wide as the terminal, or 180 characters wide where there is none."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else PIPED_WIDTH).print(table)


def aligned(encoded: Mapping[str, Any]) -> str:
    """An encoded problem as rows with one column per token: tokens, each level of ids, loss."""
    if "source" in encoded:
        return "\n\n".join(f"{side}\n{textwrap.indent(aligned(encoded[side]), '  ')}" for side in ("source", "target"))
    rows = {"tokens": encoded["tokens"]}
    levels = encoded["position_ids"]
    rows |= {f"ids {level}" if len(levels) > 1 else "ids": ids for level, ids in enumerate(levels, start=1)}
    if "loss" in encoded:
        rows["loss"] = encoded["loss"]
    cells = {name: [str(cell) for cell in row] for name, row in rows.items()}
    widths = [max(map(len, column)) for column in zip(*cells.values(), strict=True)]
    label = max(map(len, cells))
    return "\n".join(
        f"{name:<{label}}  " + " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for name, row in cells.items()
    )

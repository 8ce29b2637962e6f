"""The page of measured speed and its figure, written from the files of ``results/bench``: no number is typed.

What enters are the entries that ``python -m reproduce.bench --out`` wrote, per machine, and those of other people's
code in ``peers.json``; what leaves are Markdown and an SVG. What was not measured has no place on the page.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lengen.timing import Entry, Spread, slower
from reproduce.bench.rounding import OVERRIDE, Pair, as_cells
from reproduce.output.markdown import table

PEERS = "peers.json"
COMMAND = "python -m reproduce.bench --page"
HEADER = f"""\
# Speed

Written by `{COMMAND}` from [results/bench](../results/bench); every number stands beside the command that measured it
(the first machine's are older, and have neither commands nor percentiles).
Ratios are medians over turns in which both sides did the same work one after the other on one machine, in
processor time where nothing else is said; in brackets the tenth and ninetieth percentile over the turns, which are the
noise. Absolute numbers are of that machine and only stand beside the ratios."""
AXES = {
    "digits": "digits",
    "operands": "operands",
    "width": "width",
    "depth": "layers",
    "batch": "batch",
}
"""Axis of the scaling -> its label."""


class PageError(ValueError):
    """There is nothing to write a page of; one sentence."""


class Measured(NamedTuple):
    """All that was measured on one machine."""

    machine: str
    entries: dict[str, Entry]
    commits: Sequence[str] = ()
    """Of the checkouts that were measured."""

    def under(self, prefix: str) -> list[Entry]:
        """Entries whose name begins so, and has nothing more below."""
        return [
            found for name, found in self.entries.items() if name.startswith(prefix) and "/" not in name[len(prefix) :]
        ]


def load(folder: Path) -> tuple[list[Measured], list[dict[str, Any]]]:
    """What the files of a folder hold, machine by machine, and what other people's code was measured at.

    What was measured alone counts more than what was measured with all, and stands in the file with the longer name.
    """
    machines: dict[str, Measured] = {}
    for path in sorted(folder.glob("*.json"), key=lambda path: (len(path.name), path.name)):
        if path.name == PEERS:
            continue
        entries = {one["name"]: _entry(one) for one in json.loads(path.read_text(encoding="utf-8"))}
        machine = entries.pop("machine", None)
        name = f"{machine.what}, {machine.against}" if machine else path.stem
        measured = machines.setdefault(name, Measured(name, {}))
        measured.entries.update(entries)
        if machine and machine.command:
            commits = tuple(dict.fromkeys((*measured.commits, machine.command)))
            machines[name] = measured._replace(commits=commits)
    if not machines:
        raise PageError(f"{folder}: no measurements in it; run python -m reproduce.bench --out {folder}/ first")
    peers = folder / PEERS
    return list(machines.values()), json.loads(peers.read_text(encoding="utf-8")) if peers.exists() else []


def _entry(found: Mapping[str, Any]) -> Entry:
    """An entry of a file; older files have no spread."""
    nothing = float("nan")
    return Entry(**{"low": nothing, "high": nothing, **found})


def page(
    machines: Sequence[Measured],
    peers: Sequence[Mapping[str, Any]],
    figure: str = "",
    rounded: Sequence[Pair] = (),
) -> str:
    """The whole page; ``figure`` names the file of the picture, if there is one, ``rounded`` is what rounding did."""
    parts = [HEADER]
    for measured in machines:
        sections = [
            compared(measured),
            starts(measured),
            within(measured),
            scaled(measured),
            fitted(measured),
        ]
        at = ", ".join(f"`{commit}`" for commit in measured.commits)
        note = [f"Measured at {at}; settings have the sizes that they had there."] if at else []
        parts += [f"## {measured.machine}", *note, *(section for section in sections if section)]
        if figure and measured is with_scaling(machines):
            parts.append(f"![time and memory of a training step along each axis, both logarithmic]({figure})")
    if peers:
        parts.append(others(peers))
    if rounded:
        parts.append(precision(rounded))
    return "\n\n".join(parts) + "\n"


def compared(measured: Measured) -> str:
    """This checkout against another: ratio, both sides, and what became slower."""
    rows, worse, against = [], [], []
    for name, found in measured.entries.items():
        base, now = measured.entries.get(f"{name}/base"), measured.entries.get(f"{name}/now")
        if base is None or now is None:
            continue
        against.append(found.against)
        if slower(found):
            worse.append(f"`{name}`")
        rows.append(
            (name, found.what, with_spread(found), value(base), value(now), base.unit, _code(found.command)),
        )
    if not rows:
        return ""
    said = (
        f"Slower by more than the noise: {', '.join(worse)}."
        if worse
        else "Nothing became slower by more than its noise."
    )
    head = ("name", "what", "times faster", "base", "now", "unit", "made by")
    return f"### Against {', '.join(dict.fromkeys(against))}\n\n{table(head, rows)}\n\n{said}"


def starts(measured: Measured) -> str:
    """What a training takes until its first step has ended, on both sides."""
    rows = []
    for name, base in measured.entries.items():
        if name.endswith("/start/base") and (now := measured.entries.get(f"{name.removesuffix('base')}now")):
            words = (name.removesuffix("/start/base"), base.what, value(base), value(now), base.unit)
            rows.append((*words, _code(base.command)))
    return (
        f"### Start of a training\n\n{table(('name', 'what', 'base', 'now', 'unit', 'made by'), rows)}" if rows else ""
    )


def within(measured: Measured) -> str:
    """What is held against another way of doing the same, within this checkout."""
    rows = [
        (found.name, found.what, with_spread(found), found.unit, found.against, _code(found.command))
        for found in measured.under("")
        if f"{found.name}/base" not in measured.entries
    ]
    return (
        f"### Within the suite\n\n{table(('name', 'what', 'value', 'unit', 'against', 'made by'), rows)}"
        if rows
        else ""
    )


def scaled(measured: Measured) -> str:
    """Time and memory of a training step along each axis, with the exponents."""
    rows, points = [], []
    for axis in AXES:
        time, memory = (measured.entries.get(f"step_{kind}/{axis}") for kind in ("time", "memory"))
        if time is None or memory is None:
            continue
        rows.append(
            (AXES[axis], time.what.partition(" time of ")[2], with_spread(time), value(memory), _code(time.command))
        )
        for size, seconds, held in along(measured, axis):
            points.append((AXES[axis], size, with_spread(seconds), value(held)))
    if not rows:
        return ""
    exponents = table(("axis", "exponent of", "time", "memory", "made by"), rows)
    made = "\n\nThe points through which they were fitted, of the same command:\n\n"
    return f"### Scaling\n\n{exponents}{made}{table(('axis', 'size', 'ms a step', 'MiB at most'), points)}"


def along(measured: Measured, axis: str) -> list[tuple[int, Entry, Entry]]:
    """Size, time and memory of the points of an axis, in order of size."""
    found = [
        (int(entry.name.rpartition("/")[2]), entry, measured.entries[entry.name.replace("time", "memory", 1)])
        for entry in measured.under(f"step_time/{axis}/")
    ]
    return sorted(found, key=lambda point: point[0])


def fitted(measured: Measured) -> str:
    """The longest sequence and the largest model for an amount of memory."""
    rows = [
        (
            f"{found.name.rpartition('/')[2]} GiB",
            found.what,
            value(found),
            found.unit,
            found.against,
            _code(found.command),
        )
        for prefix in ("longest_sequence/", "largest_model/")
        for found in measured.under(prefix)
    ]
    return f"### What fits\n\n{table(('memory', 'what', 'largest', 'unit', 'how', 'made by'), rows)}" if rows else ""


def precision(rounded: Sequence[Pair]) -> str:
    """What training with rounded products does to exact match, setting by setting."""
    note = (
        f"Committed runs of one setting, with `--set {OVERRIDE}` and without, made by one commit on one machine: exact "
        "match in percent, seed by seed, the difference of the means and its standard deviation from the spread of the "
        "seeds. *Alike* is a difference within two deviations; evaluation is in float32 on both sides."
    )
    head = ("setting", "tested", "float32", "bfloat16 products", "difference", "")
    return f"## Accuracy with rounded products\n\n{note}\n\n{table(head, as_cells(rounded))}"


def others(peers: Sequence[Mapping[str, Any]]) -> str:
    """Other people's code: what it was, at which version and setting, and how many times faster ours is."""
    rows = [
        (
            one["name"],
            one.get("what", ""),
            number(one["value"]) + _bracketed(one.get("spread")),
            *(str(one.get(key, "")) for key in ("ours", "theirs", "against", "version", "setting", "how")),
        )
        for one in peers
    ]
    note = (
        "Measured outside of the repository with the model classes of their authors, both sides in turns; the numbers "
        f"are those of [{PEERS}](../results/bench/{PEERS}), and none of their code is here."
    )
    head = ("name", "what", "times faster", "ours", "theirs", "against", "version", "setting", "how")
    return f"## Other people's code\n\n{note}\n\n{table(head, rows)}"


def _bracketed(spread: object) -> str:
    if not spread:
        return ""
    if isinstance(spread, Sequence) and not isinstance(spread, str):
        return f" ({' to '.join(number(float(bound)) for bound in spread)})"
    return f" ({spread})"


def number(measured: float) -> str:
    """Three digits of it.

    >>> number(1234.5), number(0.98765), number(2.0)
    ('1,230', '0.988', '2')
    """
    return f"{float(f'{measured:.3g}'):,.10g}"


def value(found: Entry) -> str:
    """The value alone."""
    return number(found.value)


def with_spread(found: Entry | Spread) -> str:
    """The value, and in brackets its spread where it was repeated."""
    repeated = found.low == found.low and (found.low, found.high) != (found.value, found.value)
    return number(found.value) + (f" ({number(found.low)} to {number(found.high)})" if repeated else "")


def _code(command: str) -> str:
    return f"`{command}`" if command else "–"


def with_scaling(machines: Sequence[Measured]) -> Measured | None:
    """The machine whose scaling is drawn: the first on which it was measured."""
    return next((one for one in machines if any(along(one, axis) for axis in AXES)), None)


def drawn(measured: Measured) -> bytes:
    """Time and memory of a training step along each axis, both logarithmic, with the fitted power laws: an SVG."""
    import numpy as np
    from matplotlib.figure import Figure

    from lengen.plotting.style import BLACK, COLOURS, pictures, style

    axes_names = [axis for axis in AXES if along(measured, axis)]
    with style():
        figure = Figure(figsize=(2.0 * len(axes_names) + 0.6, 3.6), layout="constrained")
        panels = figure.subplots(2, len(axes_names), sharey="row", sharex="col", squeeze=False)
        for column, axis in enumerate(axes_names):
            points = along(measured, axis)
            sizes = np.array([size for size, _, _ in points], dtype=float)
            of_points = {"time": [time for _, time, _ in points], "memory": [memory for _, _, memory in points]}
            for row, (kind, label) in enumerate((("time", "ms a step"), ("memory", "MiB at most"))):
                panel = panels[row, column]
                costs = np.array([found.value for found in of_points[kind]])
                power = measured.entries[f"step_{kind}/{axis}"].value
                through = np.exp(np.mean(np.log(costs)) + power * (np.log(sizes) - np.mean(np.log(sizes))))
                panel.loglog(sizes, through, color=BLACK, linewidth=0.8, linestyle=(0, (4, 2)))
                panel.loglog(sizes, costs, color=COLOURS[row], marker="o", linestyle="none")
                panel.set_title(f"exponent {power:.2f}")
                panel.set_xticks(sizes, [f"{size:g}" for size in sizes])
                panel.minorticks_off()
                if not column:
                    panel.set_ylabel(label)
                if row:
                    panel.set_xlabel(AXES[axis])
        return pictures(figure)["svg"]

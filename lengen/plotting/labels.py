"""What axes, panels and footnotes say of runs: lengths, sizes, seeds, in words."""

from collections.abc import Iterable, Mapping, Sequence

from lengen.plotting.settings import setting
from lengen.records import Run

AXES = {"length": "Operand length (digits)", "count": "Number of operands"}
"""Labels of axes by the name of a grid's axis, where the task has no others."""
LENGTHS = {
    "parity": "Length (bits)",
    "running_xor": "Length (bits)",
    "n_by_one": "Length of the first operand (digits)",
    **dict.fromkeys(("listops_sm", "listops_max", "listops_min"), "Arguments"),
    "listops": "Digits of the expression",
    "sorting": "Length of the sequence (numbers)",
    "increment": "Length of the number (digits)",
}
"""Labels of a length axis by task."""


def length_axis(run: Run) -> str:
    """Label of the axis of a run's lengths."""
    return LENGTHS.get(str(setting(run, "task")), AXES["length"])


def plural(count: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "layer"), plural(2000, "example")
    ('1 layer', '2,000 examples')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def depth(run: Run) -> str:
    """Layers, loops or recurrent steps."""
    layers, loops = setting(run, "layers"), setting(run, "loops")
    if setting(run, "shared"):
        return f"{layers * loops} recurrent steps"
    return f"{plural(layers, 'layer')} × {loops} loops" if loops > 1 else plural(layers, "layer")


def size(run: Run) -> str:
    """Layers, width and heads."""
    return f"{depth(run)}, width {setting(run, 'width')}, {plural(setting(run, 'heads'), 'head')}"


def blocks(values: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of every block of consecutive whole numbers.

    >>> blocks((1, 2, 3, 4, 6))
    [(1, 4), (6, 6)]
    """
    found: list[tuple[int, int]] = []
    for value in sorted(values):
        if found and value == found[-1][1] + 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found


def spans(values: Iterable[int]) -> str:
    """Whole numbers in words, as short as they can be.

    >>> spans((1, 2, 3, 4, 6))
    '1–4, 6'
    """
    return ", ".join(
        str(low) if low == high else f"{low}–{high}" if high > low + 1 else f"{low}, {high}"
        for low, high in blocks(values)
    )


def sampled(values: Iterable[int]) -> str:
    """What the label of an axis of tested values says where some between them were not tested.

    >>> sampled((1, 2, 3)), sampled((1, 2, 4, 9))
    ('', ', sampled')
    """
    return ", sampled" if len(blocks(values)) > 1 else ""


def seeds(count: int) -> str:
    """How many seeds a panel shows, for its title."""
    return "1 seed" if count == 1 else f"median of {count} seeds"


def over_seeds(sentence: str, settings: Iterable[Sequence[object]]) -> str:
    """A sentence about medians over seeds, which says so where a setting has several."""
    return f"{sentence}; medians over seeds" if sentence and any(len(some) > 1 for some in settings) else sentence


def seeds_note(runs: Mapping[str, Sequence[Run]], *, lines: bool = True, interval: bool = False) -> str:
    """How many seeds stand behind each setting, for a footnote; with ``lines`` also what is drawn of several, and with
    ``interval`` of one."""
    counts = sorted({len(some) for some in runs.values() if some})
    note = "Seeds of a setting: " + " or ".join(map(str, counts)) + "."
    if lines and counts and counts[-1] > 1:
        note += " Lines: medians; bands: ranges over seeds."
    if interval and 1 in counts:
        note += " Band of one seed: 95 % Wilson interval."
    return note

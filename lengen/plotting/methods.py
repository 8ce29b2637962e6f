"""Looks of lines: a method has the same colour and marker in every figure of every paper."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl

from lengen.plotting.style import BLACK, COLOURS, MARKERS


class Look(NamedTuple):
    """Colour, dash and marker of a line, for screen and print."""

    colour: Any
    marker: str = "o"
    line: str = "-"


LOOKS: Mapping[str, Look] = {
    "NoPE": Look(BLACK, "v"),
    "no positions": Look(BLACK, "v"),
    "sinusoids": Look(COLOURS[1], "s"),
    "absolute positions": Look(COLOURS[1], "s"),
    "learned positions": Look(COLOURS[4], "h", "--"),
    "RoPE": Look(COLOURS[2], "^"),
    "ALiBi": Look(COLOURS[3], "D"),
    "RPE": Look(COLOURS[4], "h"),
    "FIRE": Look(COLOURS[9], "D"),
    "Position coupling": Look(COLOURS[0], "o"),
    "Abacus": Look(COLOURS[5], "o"),
    "ABC": Look(COLOURS[0], "p"),
    "additions only": Look(COLOURS[3], "o"),
    "with sub-tasks": Look(COLOURS[2], "^", "--"),
    "no hints": Look(BLACK, "o", "--"),
    "successor hints": Look(COLOURS[0], "s"),
    "count hints": Look(COLOURS[1], "^"),
    "fill hints": Look(COLOURS[2], "D"),
    "carry hints": Look(COLOURS[9], "s"),
    "all hints": Look(COLOURS[3], "P"),
    "standard softmax": Look(COLOURS[0], "s", "--"),
    "tempered softmax": Look(COLOURS[4], "v"),
    "constructed": Look(COLOURS[1], "s"),
    "as printed": Look(COLOURS[3], "D"),
}
"""Looks of methods, by their label; others take what is free, in their order."""
ORDER = (0, 1, 2, 3, 4, 9, 5)
"""Colours that are legible in print."""
LINES = ("-", "--", "-.", ":")
ORDERED = mpl.colormaps["viridis"]
"""Lines that have an order, from dark to light."""


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return a look for every label: colour, marker and dashes together are different for the first 28."""
    wanted = list(labels)
    found = {label: LOOKS[label] for label in wanted if label in LOOKS}
    taken = [look.colour for look in found.values()]
    free = [COLOURS[k] for k in ORDER if COLOURS[k] not in taken] or [COLOURS[k] for k in ORDER]
    given = {look.marker for look in found.values()}
    markers = [marker for marker in MARKERS[:7] if marker not in given] or MARKERS[:7]
    others = [label for label in wanted if label not in found]
    for k, label in enumerate(others):
        round_ = k // len(free)
        found[label] = Look(free[k % len(free)], markers[(k + round_) % len(markers)], LINES[round_ % len(LINES)])
    return {label: found[label] for label in wanted}


def in_order(labels: Sequence[str]) -> dict[str, Look]:
    """Return a look for every label of lines that have an order."""
    last = max(len(labels) - 1, 1)
    return {label: Look(ORDERED(0.88 * k / last), MARKERS[k % 7]) for k, label in enumerate(labels)}

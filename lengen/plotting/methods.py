"""Methods with their name, colour and marker, and looks of lines that are none of them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lengen.plotting.settings import setting
from lengen.plotting.style import BLACK, COLOURS, MARKERS
from lengen.records import Run


class Look(NamedTuple):
    """How a line is told from the others, in colour and in print."""

    colour: object
    marker: str = "o"
    line: str = "-"
    """Dashes; the markers of a line that is not solid are hollow."""


class Method(NamedTuple):
    """What one method is called, and how it looks in every figure of every paper."""

    name: str
    look: Look


METHODS: Mapping[str, Method] = {
    # position schemes
    "none": Method("NoPE", Look(BLACK, "v")),
    "sinusoidal": Method("Absolute positions", Look(COLOURS[1], "s")),
    "learned": Method("Learned absolute positions", Look(COLOURS[1], "h")),
    "rope": Method("RoPE", Look(COLOURS[2], "^")),
    "alibi": Method("ALiBi", Look(COLOURS[3], "D")),
    "rpe": Method("RPE", Look(COLOURS[4], "h")),
    "fire": Method("FIRE", Look(COLOURS[9], "D")),
    "fire_ratio": Method("FIRE (ratio)", Look(COLOURS[9], "p")),
    "coupled": Method("Position Coupling", Look(COLOURS[0], "o")),
    "abacus": Method("Abacus", Look(COLOURS[5], "o")),
    "randomised": Method("Randomised positions", Look(COLOURS[5], "s")),
    # biases and position ids of an encoder-decoder
    "abc": Method("ABC", Look(COLOURS[0], "p")),
    "window": Method("window", Look(COLOURS[9], "<")),
    "cyclic": Method("cyclic positions", Look(COLOURS[4], ">")),
    # formats of a looped decoder, mixtures of training data
    "uninjected": Method("without input injection", Look(BLACK, "o", "--")),
    "input": Method("with input injection", Look(COLOURS[0], "s")),
    "add": Method("additions only\n(add)", Look(COLOURS[3], "o")),
    "mix": Method("with sub-tasks\n(mix)", Look(COLOURS[2], "^", "--")),
    # auxiliary tasks and the softmax
    "unhinted": Method("no hints", Look(BLACK, "o", "--")),
    "successor": Method("successor hints", Look(COLOURS[0], "s")),
    "count": Method("count hints", Look(COLOURS[1], "^")),
    "fill": Method("fill hints", Look(COLOURS[2], "D")),
    "fill_as_drawn": Method("fill (mask as drawn) hints", Look(COLOURS[5], "v")),
    "carries": Method("carry hints", Look(COLOURS[9], "s")),
    "hints": Method("all hints at once", Look(COLOURS[3], "<")),
    "log": Method("tempered softmax", Look(COLOURS[4], "v")),
    "one_plus_log": Method("softmax with 1 + β ln n", Look(COLOURS[5], "p")),
    "constructed": Method("constructed", Look(COLOURS[1], "s")),
    "printed": Method("constructed as printed", Look(COLOURS[3], "D")),
}
"""The one table of methods: the same colour in every figure of every paper. Those that may meet in one differ in colour
and marker."""
LINES = ("-", "--", "-.", ":")


def position_scheme(run: Run) -> str:
    """The method in `METHODS` by which a run's model knows positions: a scheme of ids with a name, or the encoding."""
    ids, encoding = (setting(run, name) for name in ("position_ids", "encoding"))
    return str(ids) if ids in ("coupled", "abacus", "randomised") else str(encoding)


def looks(methods: Mapping[str, str]) -> dict[str, Look]:
    """Experiment -> look, from experiment -> key of `METHODS`.

    Where a figure has a method several times, all keep its colour; the later ones get other markers and dashes.
    """
    found: dict[str, Look] = {}
    for name, method in methods.items():
        look = METHODS[method].look
        others = [known for known in found.values() if known.colour == look.colour]
        if others:
            taken = {known.marker for known in found.values()} | {METHODS[key].look.marker for key in methods.values()}
            marker = next((marker for marker in (*MARKERS, "p", "h", "<", ">") if marker not in taken), look.marker)
            line = next((line for line in LINES if line not in {known.line for known in others}), look.line)
            look = Look(look.colour, marker, line)
        found[name] = look
    return found


def in_order(names: Iterable[str]) -> dict[str, Look]:
    """A look for every one of many settings that are no methods of the table, in their order: colour, marker and dashes
    together are different for the first 28."""
    order = (0, 1, 2, 3, 4, 9, 5)  # the first seven that are legible in print
    return {
        name: Look(COLOURS[order[k % 7]], MARKERS[(k + k // 7) % 7], LINES[k // 7 % len(LINES)])
        for k, name in enumerate(names)
    }

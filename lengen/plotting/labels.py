"""What figures call things: settings read from a run, methods with their name, colour and marker, words for both.

Everything is read from the specification a run was made from, never from the name of an experiment, because smaller
profiles train other sizes under the same names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lengen.config.formats import DigitSteps, MultiplicationStages
from lengen.config.part import kind_of
from lengen.config.spec import Spec, from_dict
from lengen.config.tasks import Task
from lengen.plotting.style import BLACK, COLOURS, MARKERS
from lengen.records import Run


def _hint(task: Task) -> str:
    """The method in `METHODS` that an auxiliary task is."""
    return "fill_as_drawn" if task.trailing else task.name


def _scratchpad(spec: Spec) -> bool:
    return isinstance(spec.data.format, DigitSteps | MultiplicationStages) or bool(_of("format", "scratchpad")(spec))


def _of(part: str, field: str, default: Any = 0) -> Callable[[Spec], Any]:
    """A field of a part of the data section, where the part has it."""
    return lambda spec: getattr(getattr(spec.data, part), field, default)


def _of_model(field: str) -> Callable[[Spec], Any]:
    return lambda spec: getattr(spec.model, field)


SETTINGS: Mapping[str, Callable[[Spec], Any]] = {
    "task": lambda spec: spec.data.task.name,
    "length": lambda spec: spec.data.task.longest,
    "lengths": _of("task", "lengths", ()),
    "count": lambda spec: spec.data.task.most,
    "alphabet": _of("task", "alphabet"),
    "repeats": _of("task", "repeats"),
    "base": _of("task", "base", 10),
    "examples": lambda spec: spec.data.examples,
    "scratchpad": _scratchpad,
    "pad": _of("format", "pad_query", False),
    "pad_to": _of("format", "pad_to"),
    "fixed_length": _of("format", "width"),
    "reverse_query": _of("format", "reverse_query", False),
    "reverse_response": _of("format", "reverse_response", False),
    "subtasks": _of("format", "names", ()),
    "spaces": lambda spec: spec.data.spaces.ratio if spec.data.spaces else 0.0,
    "hints": lambda spec: tuple(_hint(task) for task in spec.data.hints),
    "position_ids": lambda spec: kind_of(spec.data.position_ids),
    "period": _of("position_ids", "period"),
    "max_position": lambda spec: spec.data.position_ids.sizes,
    "encoding": lambda spec: kind_of(spec.model.encoding),
    "architecture": lambda spec: kind_of(spec.model.architecture),
    "layers": _of_model("layers"),
    "loops": _of_model("loops"),
    "shared": _of_model("shared"),
    "inject": _of_model("inject"),
    "heads": _of_model("heads"),
    "head_dim": _of_model("head_dim"),
    "width": _of_model("width"),
    "window": lambda spec: getattr(spec.model.attention_bias, "width", 0),
    "temperature": lambda spec: spec.model.tempered.form if spec.model.tempered else "none",
    "temperature_of": lambda spec: spec.model.tempered.of if spec.model.tempered else "position",
    "steps": lambda spec: spec.train.steps,
    "batch": lambda spec: spec.train.batch,
    "precision": lambda spec: spec.train.precision,
    "tested_lengths": lambda spec: spec.test.lengths,
    "tested_counts": lambda spec: spec.test.counts,
}
"""Every setting that a figure reads, by the name it has in figures."""


def setting(run: Run, name: str) -> Any:
    """A setting of a run, by its name in `SETTINGS`; or by its path where a paper has sections of its own."""
    values: Any = run.info["spec"]
    if name in SETTINGS:
        return SETTINGS[name](from_dict(values))
    for part in name.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


# -- methods -----------------------------------------------------------------------------------------------


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


# -- words -------------------------------------------------------------------------------------------------

AXES = {"length": "Operand length (digits)", "count": "Number of operands"}
"""Labels of axes by the name of a grid's axis, where the task has no others."""
LENGTHS = {
    "parity": "Length (bits)",
    "running_xor": "Length (bits)",
    "n_by_one": "Length of the first operand (digits)",
    **dict.fromkeys(("listops_sm", "listops_max", "listops_min"), "Arguments"),
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

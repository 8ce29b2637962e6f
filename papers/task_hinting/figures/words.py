"""Labels of lines and words of footnotes: the runs of an experiment go in, what tells them apart leaves.

Everything but the paper's names of training-set sizes is read from the specification a run was made from.
"""

import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from lengen.config.sections import NUMBER_FORMATS
from lengen.plotting import METHODS, Range, Runs, first, plural, setting
from lengen.records import Run

SHORTEST = 2
"""Shortest training sequence, Appendix B."""
MILLION = 10**6


def trained(run: Run) -> Range:
    """Shortest and longest trained length."""
    return SHORTEST, int(setting(run, "length"))


def method(run: Run) -> str:
    """What a run has that the plainest one has not, a key of `lengen.plotting.METHODS`."""
    if run.constructed:
        return "printed" if setting(run, "theorem.variant") == "printed" else "constructed"
    hints = setting(run, "hints")
    if setting(run, "temperature") != "none":
        return str(setting(run, "temperature"))
    return "hints" if len(hints) > 1 else hints[0] if hints else "unhinted"


SLUGS = {
    **{f"{size}m": f"{size}M examples" for size in (1, 10, 40, 160)},
    **{f"depth-{depth}": f"{depth} layers" for depth in (2, 4, 8, 12)},
    "none": "no hints",
    "successor": "successor hints",
    "successor-equal": "successor hints with as many updates of sorting",
    "none-twice": "no hints, twice the updates",
    "all": "all hints at once",
    "standard": "standard softmax",
    "tempered": "tempered softmax",
    **{f"tempered-{size}m": f"tempered softmax with {size}M examples" for size in (1, 10, 40)},
    "tempered-prompt": "tempered softmax, n of the prompt",
    "one-plus-log": "softmax with 1 + β ln n",
    "hinting": "carry hints",
    "fixed": "fixed positions",
    "learned": "learned positions",
    "construction": "the construction",
    "as-printed": "the construction as printed",
    "repeats": "the construction on repeated numbers",
    **{held.name: f"the construction in {held.name}" for held in NUMBER_FORMATS.values()},
    **{f"bound-{held.name}": f"the construction at the bound of {held.name}" for held in NUMBER_FORMATS.values()},
}
"""What the names of experiments stand for, where one has no run."""

# -- what tells the runs of a figure apart -----------------------------------------------------------------


def hints(run: Run) -> str:
    """The auxiliary tasks."""
    names = [METHODS[name].name.removesuffix(" hints") for name in setting(run, "hints")]
    if len(names) > 2:
        return f"all {len(names)} hints at once"
    return f"{' and '.join(names)} hints" if names else "no hints"


def softmax(run: Run) -> str:
    """Standard or tempered attention, and what n counts where it is not the published choice."""
    temperature = setting(run, "temperature")
    if temperature == "none":
        return "standard softmax"
    return METHODS[temperature].name + ", n of the prompt" * (setting(run, "temperature_of") == "prompt")


def examples(run: Run) -> str:
    """Size of the training set; with auxiliary tasks it is split equally."""
    count, tasks = int(setting(run, "examples")), 1 + len(setting(run, "hints"))
    if not count:
        return "fresh examples without end"
    return f"{tasks} × {count // tasks:,} examples" if tasks > 1 else f"{count:,} examples"


def steps(runs: Sequence[Run], name: str) -> int:
    """Updates that were made, median over seeds: ``steps`` of all tasks or ``main_steps``; as planned where no run
    recorded them."""
    tasks = 1 + len(setting(runs[0], "hints")) if name == "main_steps" else 1
    planned = -(-int(setting(runs[0], "steps")) // tasks)
    found = []
    for run in runs:
        scalars: Any = run.info.get("scalars", {})
        found += [float(scalars[key]) for key in (name, "steps") if key in scalars][:1]
    return round(median(found)) if found else planned


def epochs(runs: Sequence[Run]) -> str:
    """How often the training set was seen.

    An epoch of a hint run is one of each task: they take turns, and their sets are of one size.
    """
    seen = steps(runs, "steps") * int(setting(runs[0], "batch")) / max(int(setting(runs[0], "examples")), 1)
    return f"{seen:.0f} epochs" if seen >= 9.95 else f"{seen:.1f} epochs"


def size(runs: Sequence[Run], variant: str) -> str:
    """The paper's name of a training-set size where the variant has one, what it is in these runs, and the epochs."""
    match = re.search(r"(?:^|-)(\d+)m$", variant)
    count = int(setting(runs[0], "examples"))
    words = [examples(runs[0])] if not match or count != int(match[1]) * MILLION else []
    if match is None:
        return words[0]
    words += [epochs(runs)] * bool(count)
    here = "here " * (count != int(match[1]) * MILLION)
    return f"{match[1]}M ({here}{', '.join(words)})"


def updates(runs: Sequence[Run]) -> str:
    """Updates of the main task."""
    return f"{steps(runs, 'main_steps'):,} updates of {setting(runs[0], 'task')}"


POSITIONS = {"none": "no positions", "sinusoidal": "fixed positions", "learned": "learned positions"}
"""Position embeddings by the kind of encoding."""
FACTS = {
    "hints": lambda runs, variant: hints(runs[0]),
    "softmax": lambda runs, variant: softmax(runs[0]),
    "positions": lambda runs, variant: POSITIONS[str(setting(runs[0], "encoding"))],
    "depth": lambda runs, variant: plural(setting(runs[0], "layers"), "layer"),
    "size": size,
    "updates": lambda runs, variant: updates(runs),
}
"""What a label can say."""


def labels(runs: Runs, *facts: str) -> dict[str, str]:
    """A label for every experiment with runs: the first of `FACTS` named, and the others where the runs differ in them.

    Experiments that would share a label have their variant added.
    """
    shown = {name: some for name, some in runs.items() if some}
    said = {fact: {name: FACTS[fact](some, _variant(name)) for name, some in shown.items()} for fact in facts}
    used = [fact for fact in facts if fact == facts[0] or len(set(said[fact].values())) > 1]
    found = {name: ", ".join(said[fact][name] for fact in used) for name in shown}
    words = list(found.values())
    return {name: label if words.count(label) == 1 else f"{label} ({_variant(name)})" for name, label in found.items()}


def _variant(name: str) -> str:
    return name.rpartition("/")[2]


# -- footnotes ---------------------------------------------------------------------------------------------


def model(runs: Mapping[str, Sequence[Run]]) -> str:
    """Layers, width and heads of the runs of a figure."""
    layers = sorted({int(setting(run, "layers")) for some in runs.values() for run in some})
    stack = "1 layer" if layers == [1] else f"{', '.join(map(str, layers))} layers"
    return f"{stack}, width {setting(first(runs), 'width')}, {setting(first(runs), 'heads')} heads"


def said_once(runs: Runs, fact: str) -> str:
    """What the experiments of a figure say of themselves, each once, joined by "or"."""
    shown = {FACTS[fact](some, _variant(name)): None for name, some in runs.items() if some}
    return " or ".join(shown)

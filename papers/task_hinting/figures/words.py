"""Words and lengths of figures: a run goes in, labels and trained lengths leave; no torch.

Everything but the paper's names of training-set sizes is read from the specification a run was made from, because
smaller profiles train other sizes under the same names.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lengen import plotting
from lengen.intervals import median
from lengen.records import Run

SHORTEST = 2
"""Shortest training sequence, Appendix B."""
HINTS = {"fill_as_drawn": "fill (mask as drawn)", "carries": "carry"}
"""Auxiliary tasks whose names are not words."""
SOFTMAX = {"none": "standard softmax", "log": "tempered softmax", "one_plus_log": "softmax with 1 + β ln n"}
MILLION = 10**6


def setting(run: Run, section: str, name: str, default: Any) -> Any:
    """A field of a run's specification; the default where it is older than the field."""
    spec: Mapping[str, Mapping[str, Any]] = run.info["spec"]  # type: ignore[assignment]
    return spec[section].get(name, default)


def trained(run: Run) -> plotting.Range:
    """Shortest and longest trained length."""
    return SHORTEST, int(setting(run, "data", "length", SHORTEST))


def task(run: Run) -> str:
    """The main task."""
    return str(setting(run, "data", "task", "sorting"))


def axis(run: Run) -> str:
    """Label of a length axis."""
    return "Length of the number (digits)" if task(run) == "increment" else "Length of the sequence (numbers)"


# -- what tells the runs of a figure apart -----------------------------------------------------------------


def hints(run: Run) -> str:
    """The auxiliary tasks."""
    names = [HINTS.get(name, name) for name in setting(run, "data", "hints", ())]
    if len(names) > 2:
        return f"all {len(names)} hints at once"
    return f"{' and '.join(names)} hints" if names else "no hints"


def softmax(run: Run) -> str:
    """Standard or tempered attention, and what n counts where it is not the published choice."""
    words = SOFTMAX[setting(run, "model", "temperature", "none")]
    asked = setting(run, "model", "temperature_of", "position") == "prompt" and words != SOFTMAX["none"]
    return words + ", n of the prompt" * asked


def depth(run: Run) -> str:
    """Number of layers."""
    layers = setting(run, "model", "layers", 1)
    return "1 layer" if layers == 1 else f"{layers} layers"


def examples(run: Run) -> str:
    """Size of the training set; with auxiliary tasks it is split equally."""
    count, tasks = int(setting(run, "data", "examples", 0)), 1 + len(setting(run, "data", "hints", ()))
    if not count:
        return "fresh examples without end"
    return f"{tasks} × {count // tasks:,} examples" if tasks > 1 else f"{count:,} examples"


def steps(runs: Sequence[Run], name: str) -> int:
    """Updates that were made, median over seeds: ``steps`` of all tasks or ``main_steps``; as planned where no run
    recorded them."""
    tasks = 1 + len(setting(runs[0], "data", "hints", ())) if name == "main_steps" else 1
    planned = -(-int(setting(runs[0], "train", "steps", 0)) // tasks)
    found = []
    for run in runs:
        scalars: Any = run.info.get("scalars", {})
        found += [float(scalars[key]) for key in (name, "steps") if key in scalars][:1]
    return round(median(found)) if found else planned


def epochs(runs: Sequence[Run]) -> str:
    """How often the training set was seen.

    An epoch of a hint run is one of each task: they take turns, and their sets are of one size.
    """
    count = int(setting(runs[0], "data", "examples", 0))
    seen = steps(runs, "steps") * int(setting(runs[0], "train", "batch", 1)) / max(count, 1)
    return f"{seen:.0f} epochs" if seen >= 9.95 else f"{seen:.1f} epochs"


def size(runs: Sequence[Run], variant: str) -> str:
    """The paper's name of a training-set size where the variant has one, what it is in these runs, and the epochs."""
    match = re.search(r"(?:^|-)(\d+)m$", variant)
    count = int(setting(runs[0], "data", "examples", 0))
    words = [examples(runs[0])] if not match or count != int(match[1]) * MILLION else []
    if match is None:
        return words[0]
    words += [epochs(runs)] * bool(count)
    here = "here " * (count != int(match[1]) * MILLION)
    return f"{match[1]}M ({here}{', '.join(words)})"


def updates(runs: Sequence[Run]) -> str:
    """Updates of the main task."""
    return f"{steps(runs, 'main_steps'):,} updates of {task(runs[0])}"


FACTS = {
    "hints": lambda runs, variant: hints(runs[0]),
    "softmax": lambda runs, variant: softmax(runs[0]),
    "depth": lambda runs, variant: depth(runs[0]),
    "size": size,
    "updates": lambda runs, variant: updates(runs),
}
"""What a label can say."""


def labels(runs: Mapping[str, Sequence[Run]], *facts: str) -> dict[str, str]:
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
    every = [run for some in runs.values() for run in some]
    layers = sorted({int(setting(run, "model", "layers", 1)) for run in every})
    stack = "1 layer" if layers == [1] else f"{', '.join(map(str, layers))} layers"
    run = every[0]
    return f"{stack}, width {setting(run, 'model', 'width', 0)}, {setting(run, 'model', 'heads', 0)} heads"


def seeds(runs: Mapping[str, Sequence[Run]]) -> str:
    """How many seeds stand behind each setting, and what is drawn of several."""
    counts = sorted({len(some) for some in runs.values() if some})
    several = " Lines: medians; bands: ranges over seeds." if counts and counts[-1] > 1 else ""
    return "Seeds of a setting: " + " or ".join(map(str, counts)) + f".{several}"


def absent(runs: Mapping[str, Sequence[Run]]) -> str:
    """The footnote that names experiments without a run."""
    return plotting.not_run([name for name, some in runs.items() if not some])

"""Words in figures: the name of an experiment and its specification go in, labels leave.

Which task and which setting an experiment is stands in its name; every size is read from the specification,
because smaller profiles train other sizes under the same names.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lengen import plotting
from lengen.records import Run

TASKS = {"successor": "Successor", "addition": "Addition", "parity": "Parity", "n-by-one": "N × 1"}
LENGTHS = {"parity": "Length (bits)", "n-by-one": "Length of the first operand (digits)", "listops": "Arguments"}
KINDS = {
    "vanilla": "Vanilla (sinusoidal)",
    "alibi": "ALiBi",
    "rope": "RoPE",
    "rpe": "RPE",
    "abc": "ABC",
    "text": "The text: pre-softmax scores,\nline means, 2 $\\sigma$",
    "code": "The authors' code: probabilities,\nline sums, 4.5 and 0.87 $\\sigma$",
    "sinusoidal": "Sinusoidal positions\nkept in retraining",
    "sm": "SM",
    "max": "MAX",
    "min": "MIN",
}
"""Labels of settings that have no size in them."""


class Named(NamedTuple):
    """What the name of an experiment says: ``table1/n-by-one-abc`` is the task n-by-one and the kind abc."""

    task: str
    """A key of `TASKS`, or ``listops``."""
    kind: str
    """Setting; empty where there is only one."""


def named(experiment: str) -> Named:
    """Task and kind of an experiment's name, ``paper/figure/variant``."""
    variant = experiment.split("/")[-1]
    for task in TASKS:
        if variant == task or variant.startswith(f"{task}-"):
            return Named(task, variant[len(task) + 1 :])
    return Named("listops", variant)


def setting(run: Run, section: str, name: str, default: Any) -> Any:
    """A field of a run's specification; the default where it is older than the field."""
    spec: Mapping[str, Mapping[str, Any]] = run.info["spec"]  # type: ignore[assignment]
    return spec[section].get(name, default)


def trained(run: Run) -> int:
    """Longest operand in training, in digits."""
    return int(setting(run, "data", "length", 1))


def task_title(task: str, run: Run) -> str:
    """Title of a panel: the task with its sizes."""
    unit = {"parity": "bits", "listops": "arguments"}.get(task, "digits")
    fixed = setting(run, "data", "fixed_length", 0)
    padded = f", padded to {fixed}" if fixed else ""
    return f"{TASKS.get(task, 'ListOps, one operator')}\ntrained on 1 to {trained(run)} {unit}{padded}"


def kind_label(kind: str, run: Run) -> str:
    """Label of a curve."""
    width = setting(run, "model", "window", 0) or 1
    if kind == "window":
        return f"+ w = {width}"
    if kind == "cyclic":
        return f"+ T = {setting(run, 'data', 'period', 0) or 3}"
    if kind == "nope":
        return f"NoPE + w = {width}"
    if kind.isdecimal():
        return f"Base {setting(run, 'data', 'base', int(kind))}"
    return KINDS.get(kind, kind)


def absent(runs: Mapping[str, Sequence[Run]]) -> str:
    """The footnote that names experiments without a run; empty where all ran."""
    return plotting.not_run([name for name, some in runs.items() if not some])

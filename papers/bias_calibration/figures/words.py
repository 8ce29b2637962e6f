"""Which task and which kind of model an experiment is; every size is read from the specification of its runs."""

from typing import NamedTuple

from lengen.config import ListOps
from lengen.plotting import METHODS, setting
from lengen.records import Run

TASKS = {
    "successor": "Successor",
    "addition": "Addition",
    "parity": "Parity",
    "n-by-one": "N × 1",
    "multiplication": "Multiplication",
    "nested": "Nested ListOps",
}
IN_TEXT = {task: name if name == "N × 1" else name[0].lower() + name[1:] for task, name in TASKS.items()}
"""Tasks inside a sentence."""
METHOD = {
    "vanilla": "sinusoidal",
    "nope": "none",
    **dict.fromkeys(("text", "code", "sinusoidal"), "abc"),
    **dict.fromkeys(("w1", "w2", "t4", "4", "8", "16", "sm", "max", "min"), "cyclic"),
}
"""Kinds whose method in `lengen.plotting.METHODS` has another name, and settings of a method."""
KINDS = {
    "vanilla": "Vanilla (sinusoidal)",
    **{kind: METHODS[kind].name for kind in ("alibi", "rope", "rpe", "abc")},
    "text": "The text: pre-softmax scores,\nline means, 2 $\\sigma$",
    "code": "The authors' code: probabilities,\nline sums, 4.5 and 0.87 $\\sigma$",
    "sm": "SM",
    "max": "MAX",
    "min": "MIN",
}
"""Labels of kinds that have no size in them."""


SLUGS = {
    **IN_TEXT,
    **{
        f"{task}-{kind}": f"{IN_TEXT[task]} {label}"
        for task in TASKS
        for kind, label in {
            **{kind: METHODS[kind].name for kind in ("alibi", "rope", "rpe", "abc")},
            "vanilla": "vanilla",
            "window": "with a window",
            "cyclic": "with cyclic positions",
            "nope": "with a window and no positions",
            "text": "calibrated as in the text",
            "code": "calibrated as in the authors' code",
            "sinusoidal": "with positions kept in retraining",
            "w1": "with a window of 1",
            "w2": "with a window of 2",
            "t4": "with a period of 4",
            **{str(base): f"in base {base}" for base in (4, 8, 16)},
        }.items()
    },
    "rpe": METHODS["rpe"].name,
    "abc": METHODS["abc"].name,
    "sm": "sums",
    "max": "maxima",
    "min": "minima",
}
"""What the names of experiments stand for, where one has no run."""


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


def trained(run: Run) -> int:
    """Longest operand in training, in digits."""
    return int(setting(run, "length"))


def task_title(task: str, run: Run) -> str:
    """Title of a panel: the task with its sizes."""
    unit = {"parity": "bits", "listops": "arguments"}.get(task, "digits")
    shortest = ListOps.FEWEST if task == "nested" else 1
    fixed = setting(run, "fixed_length")
    padded = f", padded to {fixed}" if fixed else ""
    return f"{TASKS.get(task, 'ListOps, one operator')}\ntrained on {shortest} to {trained(run)} {unit}{padded}"


def padded(run: Run) -> int:
    """Digits that every number is padded to."""
    return int(setting(run, "fixed_length") or 0)


def kind_label(kind: str, run: Run, common: int) -> str:
    """Label of a curve, which says so where its numbers are not padded to the ``common`` length."""
    return _kind(kind, run) + ("" if padded(run) == common else f",\npadded to {padded(run)}")


SPOKEN = {
    "vanilla": "vanilla",
    "window": "a window",
    "cyclic": "a window and cyclic positions",
    "nope": "a window and no positions",
    "text": "calibrated as in the text",
    "code": "calibrated as in the code",
}
"""Kinds in a sentence, where their label is none."""


def spoken(kind: str, run: Run) -> str:
    """A kind in a sentence."""
    return SPOKEN.get(kind) or _kind(kind, run).replace("\n", " ")


def _kind(kind: str, run: Run) -> str:
    width = setting(run, "window") or 1
    if kind == "window":
        return f"+ w = {width}"
    if kind == "cyclic":
        return f"+ T = {setting(run, 'period') or 3}"
    if kind == "nope":
        return f"NoPE + w = {width}"
    if kind in ("w1", "w2", "t4"):
        return f"w = {width}, T = {setting(run, 'period')}"
    if kind == "sinusoidal":
        kept = "dropped" if setting(run, "encoding") == "none" else "kept"
        return f"Sinusoidal positions\n{kept} in retraining"
    if kind.isdecimal():
        return f"Base {setting(run, 'base') or kind}"
    return KINDS.get(kind, kind)

"""Words and ranges of figures: a run goes in, labels and trained, missing and longer lengths leave; no torch.

Everything is read from the specification a run was made from, because smaller profiles train other sizes under
the same names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lengen import plotting
from lengen.records import Run

ROLES = ("trained", "gap", "longer")
"""What a tested length is to a model: trained, left out between trained ones, or longer than every trained one."""
POSITIONS = {"abacus": "Abacus", "randomised": "Randomised positions", "none": "No position ids"}
ENCODINGS = {
    "sinusoidal": "Absolute positions",
    "learned": "Learned absolute positions",
    "none": "No positions",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "fire": "FIRE",
}
TASKS = {
    "add": "Addition\n(add)",
    "rev": "Reversing\n(rev)",
    "ali": "Digit alignment\n(ali)",
    "mad": "Modular addition\n(mad)",
    "car": "Carry detection\n(car)",
}
"""Sub-tasks in the order of Figure 4.9."""
MANY = 8
"""Names of missing experiments that a footnote spells out."""


def setting(run: Run, section: str, name: str, default: Any) -> Any:
    """A field of a run's specification; the default where it is older than the field."""
    spec: Mapping[str, Mapping[str, Any]] = run.info["spec"]  # type: ignore[assignment]
    return spec[section].get(name, default)


def trained(run: Run) -> tuple[int, ...]:
    """Digits of the operands in training, ascending."""
    known = setting(run, "data", "lengths", ()) or range(1, int(setting(run, "data", "length", 1)) + 1)
    return tuple(sorted(int(length) for length in known))


def lengths(run: Run) -> tuple[int, ...]:
    """Digits of the operands in the tests, ascending."""
    return tuple(sorted(int(length) for length in setting(run, "test", "lengths", ())))


def role(run: Run, length: int) -> str:
    """One of `ROLES`."""
    known = trained(run)
    return "trained" if length in known else "longer" if length > known[-1] else "gap"


def by_role(run: Run, wanted: str) -> tuple[int, ...]:
    """The tested lengths of one role, ascending."""
    return tuple(length for length in lengths(run) if role(run, length) == wanted)


def groups(run: Run) -> list[tuple[int, ...]]:
    """What is shown together: all tested lengths that were trained, then every other one by itself."""
    inside = by_role(run, "trained")
    return [group for group in (inside, *((length,) for length in lengths(run) if length not in inside)) if group]


def blocks(values: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of every block of consecutive lengths.

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
    """Lengths in words, as short as they can be.

    >>> spans((1, 2, 3, 4, 6))
    '1–4, 6'
    """
    return ", ".join(
        str(low) if low == high else f"{low}–{high}" if high > low + 1 else f"{low}, {high}"
        for low, high in blocks(values)
    )


def group_label(run: Run, group: Sequence[int]) -> str:
    """Label of lengths that are shown together, with what they are to the model."""
    kinds = {"trained": "trained", "gap": "left out", "longer": "longer"}
    return f"{spans(group)} digits\n({kinds[role(run, group[0])]})"


def label(run: Run) -> str:
    """The setting: positions, then whatever else the format does."""
    ids, encoding = (setting(run, *field, "") for field in (("data", "position_ids"), ("model", "encoding")))
    words = [POSITIONS.get(ids) or ENCODINGS.get(encoding, f"{encoding} positions")]
    pad, spaces = setting(run, "data", "pad_to", 0), setting(run, "data", "spaces", 0.0)
    words += [f"zero-padded to {pad} digits"] * bool(pad)
    words += [f"random spaces (ρ = {spaces:g})"] * bool(spaces)
    reverse = (setting(run, "data", "reverse_query", False), setting(run, "data", "reverse_response", False))
    words += {
        (True, True): ["operands and answer reversed"],
        (True, False): ["reversed operands"],
        (False, True): ["reversed answer"],
    }.get(reverse, [])
    words += ["scratchpad"] * bool(setting(run, "data", "scratchpad", False))
    return ", ".join(words)


def size(run: Run) -> str:
    """Layers, recurrence, width and heads."""
    layers, loops = setting(run, "model", "layers", 1), setting(run, "model", "loops", 1)
    stack = f"{layers} layer" if layers == 1 else f"{layers} layers"
    if setting(run, "model", "shared", False):
        stack = f"{layers * loops} recurrent steps"
    elif loops > 1:
        stack += f" × {loops} loops"
    return f"{stack}, width {setting(run, 'model', 'width', 0)}, {setting(run, 'model', 'heads', 0)} heads"


def trained_on(run: Run) -> str:
    """The trained lengths, for the title of a panel."""
    known = trained(run)
    return f"trained on {spans(known)} " + ("digit" if known == (1,) else "digits")


def examples(count: int) -> str:
    """A training set's size, as the thesis writes it.

    >>> examples(10_000), examples(1_000_000), examples(1_500), examples(0)
    ('10K', '1M', '1,500', 'fresh')
    """
    if not count:
        return "fresh"
    for unit, letter in ((10**6, "M"), (10**3, "K")):
        if count % unit == 0:
            return f"{count // unit}{letter}"
    return f"{count:,}"


def distinct(runs: Mapping[str, Sequence[Run]]) -> list[Run]:
    """Every run once: experiments with equal specifications share theirs."""
    found = {(run.experiment, run.seed, run.version, run.store): run for some in runs.values() for run in some}
    return list(found.values())


def size_of_sweep(runs: Sequence[Run]) -> str:
    """What the runs of a sweep have in common, and how many there are, for a footnote."""
    stacks = sorted({int(setting(run, "model", "layers", 1)) for run in runs})
    words = f"{' or '.join(map(str, stacks))} layers, {trained_on(runs[0])}"
    return f"{label(runs[0])}; {words}; {len(runs)} run{'s' * (len(runs) > 1)}."


def braces(names: Iterable[str]) -> list[str]:
    """The same names, those that differ in one part between hyphens or slashes put together as a shell would.

    >>> braces(["a/1m-add", "a/1m-mix", "a/10m-add", "a/10m-mix", "b/x"])
    ['a/{1m,10m}-{add,mix}', 'b/x']
    """
    found: list[tuple[tuple[str, ...], ...]] = [tuple((part,) for part in re.split("([-/])", name)) for name in names]
    for place in reversed(range(max(map(len, found), default=0))):
        merged: dict[tuple[object, ...], tuple[tuple[str, ...], ...]] = {}
        for parts in found:
            others = (parts[:place], parts[place + 1 :])
            known = merged.get(others)
            if known is not None and place < len(parts):
                parts = (*parts[:place], known[place] + parts[place], *parts[place + 1 :])
            merged[others] = parts
        found = list(merged.values())
    return ["".join(part[0] if len(part) == 1 else f"{{{','.join(part)}}}" for part in parts) for parts in found]


def absent(runs: Mapping[str, Sequence[Run]]) -> list[str]:
    """The footnotes that name experiments without a run: one, or one a group in braces where there are many."""
    names = [name for name, some in runs.items() if not some]
    if len(names) <= MANY:
        return [plotting.not_run(names)]
    first, *rest = braces(name.split("/", 1)[1] for name in names)  # without the paper: some figures are narrow
    return [plotting.not_run([first]), *rest]


def seeds(runs: Mapping[str, Sequence[Run]]) -> str:
    """How many seeds stand behind each setting, for a footnote."""
    counts = sorted({len(some) for some in runs.values() if some})
    return "Seeds of a setting: " + " or ".join(map(str, counts)) + "."

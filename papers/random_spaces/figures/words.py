"""What a setting is called, and what the runs of a sweep have in common."""

from collections.abc import Sequence

from lengen.plotting import METHODS, plural, position_scheme, setting, size
from lengen.records import Run
from papers.random_spaces.lengths import trained_on

SLUGS = {
    "ape": "absolute positions",
    "ape-spaces": "absolute positions with random spaces",
    "reversed": "reversed answer",
    "reversed-operands": "reversed operands",
    "zero-pad": "zero padding",
    "spaces": "random spaces",
    "nope": "no positions",
    "randomised": "randomised positions",
    "1-3_digit": "trained on 1 and 3 digits",
    "1-7_digit": "trained on 1 to 7 digits",
    "generalize_to_longer": "trained on longer operands",
    "add": "additions only",
    "mix": "with sub-tasks",
    "rev": "reversing",
    "ali": "digit alignment",
    "mad": "modular addition",
    "car": "carry detection",
    "injected": "looped decoder with input injection",
    "plain": "looped decoder without input injection",
}
"""What the names of experiments stand for, where one has no run."""


def label(run: Run) -> str:
    """The setting: positions, then whatever else the format does."""
    scheme = position_scheme(run)
    words = ["No positions" if scheme == "none" else METHODS[scheme].name]
    pad, spaces = setting(run, "pad_to"), setting(run, "spaces")
    words += [f"zero-padded to {pad} digits"] * bool(pad)
    words += [f"random spaces (ρ = {spaces:g})"] * bool(spaces)
    reverse = (bool(setting(run, "reverse_query")), bool(setting(run, "reverse_response")))
    words += {
        (True, True): ["operands and answer reversed"],
        (True, False): ["reversed operands"],
        (False, True): ["reversed answer"],
    }.get(reverse, [])
    words += ["scratchpad"] * bool(setting(run, "scratchpad"))
    return ", ".join(words)


def model(run: Run) -> str:
    """Setting, trained lengths and size in one line."""
    return f"{label(run)}, {trained_on(run)}, {size(run)}"


def sweep(runs: Sequence[Run]) -> str:
    """What the runs of a sweep have in common, and how many there are, for a footnote."""
    stacks = sorted({int(setting(run, "layers")) for run in runs})
    words = f"{' or '.join(map(str, stacks))} layers, {trained_on(runs[0])}"
    return f"{label(runs[0])}; {words}; {plural(len(runs), 'run')}."

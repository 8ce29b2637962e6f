"""Tricks in how a model is trained and applied. Each docstring: what it is, its source, and what the source reports."""

from collections.abc import Mapping

from lengen.settings.changes import overlay
from lengen.settings.model import LoopsByLength
from papers.matrix.settings import TASKS, ChosenSpec, Refused, Row, lowest_first

PER_LOOP = 2
"""Tokens of the prompt for which the block is applied once more."""
ROWS: Mapping[str, Row] = {row.task(2).name: row for row in TASKS.values()}
"""Rows of the matrix by the name of their task."""


def hint(spec: ChosenSpec) -> ChosenSpec:
    """Training alternates with an auxiliary task of the same lengths, which has an output head of its own.

    "Improving Length-Generalization in Transformers via Task Hinting", Section 3.1 and Figure 3.6: sorting with
    successor hints; Section 6 and Table 3: adding one with carries, which helps less. Of the other tasks it says
    nothing: their hints are parts of them, or the task that reads the same digits.
    """
    return _hinted(spec, spec.data.task.longest)


def association(spec: ChosenSpec) -> ChosenSpec:
    """Training alternates with a related task that is trained to the longest tested length.

    Cai et al. 2025 (2506.09251), "Extrapolation by Association": length generalisation transfers from a longer related
    task to the main one, among arithmetic operations, among transformations of strings, and among mazes.
    """
    return _hinted(spec, max(spec.test.lengths))


def _hinted(spec: ChosenSpec, longest: int) -> ChosenSpec:
    task = spec.data.task
    row = ROWS[task.name]
    if row.hint is None:
        raise Refused(f"not built: {row.no_hint}")
    part = row.hint(longest)
    if part.UNITS_FIRST:
        spec = lowest_first(spec)
    return overlay(spec, {"data.hints": (part,)})


def looped(spec: ChosenSpec) -> ChosenSpec:
    """One block, applied the more often the longer the prompt is, with the input added each time; units first.

    Fan et al. 2024 (2409.15647): such loops generalise far better; its code trains parity to 20 bits and tests 50, sums
    and copies to 20 digits and tests 30.
    """
    test = spec.test
    prompt, _ = spec.data.tokens(max(test.lengths), max(test.counts))
    rule = LoopsByLength(of="prompt", tokens=PER_LOOP, most=int(prompt) // PER_LOOP + 2)
    return overlay(lowest_first(spec), {"model": {"layers": 1, "loops_by_length": rule, "inject": "input"}})

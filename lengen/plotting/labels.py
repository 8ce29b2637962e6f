"""Words of axes: lengths by task, whole numbers as spans."""

from collections.abc import Iterable

from lengen.results.records import Run

LENGTHS = {
    "parity": "Bits",
    "running_xor": "Bits",
    "n_by_one": "Digits of first operand",
    **dict.fromkeys(("listops_sm", "listops_max", "listops_min"), "Arguments"),
    "listops": "Digits of the expression",
    "sorting": "Numbers",
    "copy": "Symbols",
    "reverse": "Symbols",
}
"""Label of a length axis by task; else it is digits."""


def length_axis(run: Run) -> str:
    """Return the label of the axis of a run's lengths."""
    return LENGTHS.get(run.spec.data.task.name, "Digits")


def blocks(values: Iterable[int]) -> list[tuple[int, int]]:
    """Return first and last of every block of consecutive whole numbers.

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
    """Return whole numbers in words, as short as they can be.

    >>> spans((1, 2, 3, 4, 6))
    '1–4, 6'
    """
    return ", ".join(
        str(low) if low == high else f"{low}–{high}" if high > low + 1 else f"{low}, {high}"
        for low, high in blocks(values)
    )

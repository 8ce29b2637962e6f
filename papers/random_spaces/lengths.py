"""Roles of lengths in a run: trained, left out between trained ones, or longer than every trained one.

Everything is read from the specification a run was made from, because smaller profiles train other sizes under
the same names.
"""

from lengen.results.records import Run

ROLES = {"trained": "trained", "gap": "left out", "longer": "longer"}
"""Roles of a tested length, and the word for each."""


def trained(run: Run) -> tuple[int, ...]:
    """Digits of the operands in training, ascending."""
    return run.trained.every


def tested(run: Run) -> tuple[int, ...]:
    """Digits of the operands in the tests, ascending."""
    return tuple(sorted(run.spec.test.lengths))


def role(run: Run, length: int) -> str:
    """Return one of `ROLES`."""
    known = trained(run)
    return "trained" if length in known else "longer" if length > known[-1] else "gap"


def tested_trained(run: Run) -> tuple[int, ...]:
    """Return the tested lengths that were trained, ascending."""
    return tuple(length for length in tested(run) if role(run, length) == "trained")


def groups(run: Run) -> list[tuple[int, ...]]:
    """Return the lengths that are shown together: all trained ones, then every other one by itself."""
    inside = tested_trained(run)
    return [group for group in (inside, *((length,) for length in tested(run) if length not in inside)) if group]

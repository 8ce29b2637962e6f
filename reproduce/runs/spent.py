"""What a stored run took: seconds of training, of measuring, and of everything."""

from lengen.records import Run


def training(run: Run) -> float:
    """Seconds of the whole training.

    Before checkpoints kept the time, ``seconds_training`` of an interrupted run had those of its last process alone;
    seconds a step, times steps, tell them.
    """
    scalars = run.info.get("scalars")
    steps = scalars.get("steps") if isinstance(scalars, dict) else None
    if not isinstance(steps, int | float):
        steps = 0
    return max(number(run, "seconds_training"), steps * number(run, "seconds_per_step"))


def measuring(run: Run) -> float:
    """Seconds of measuring, since the last interruption."""
    return number(run, "seconds_measuring")


def whole(run: Run) -> float:
    """Seconds that making the run took, at least: ``seconds`` has trainings that were tried and left, too, but is that
    of its last process alone."""
    return max(number(run, "seconds"), training(run) + measuring(run))


def number(run: Run, name: str) -> float:
    """A number of run.json; 0 where it holds none."""
    value = run.info.get(name)
    return value if isinstance(value, int | float) else 0.0

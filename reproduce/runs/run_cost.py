"""Cost of a stored run: seconds by the clock of training, of measuring and of everything, and tokens."""

from collections.abc import Sequence
from statistics import median

from lengen.results.records import Run
from lengen.settings.spec import Spec


def updates_made(spec: Spec, runs: Sequence[Run]) -> float | None:
    """Return the share of its updates that a run of this setting makes.

    It is all, or as many as the median of ``runs`` if it stops early, yet no fewer than its ``patience`` needs; None if
    there are no runs to tell.
    """
    train = spec.train
    if not train.stop_at:
        return 1.0
    if not runs:
        return None
    share = median(run.scalar("steps", train.steps) for run in runs) / train.steps
    return min(max(share, train.patience / train.evaluations), 1.0)


def training(run: Run) -> float:
    """Return the seconds of all its trainings, those included that were tried and left."""
    return max(_kept(run), run.scalar("seconds_of_all_trainings", 0.0))


def _kept(run: Run) -> float:
    """Return the seconds of training its model.

    Before checkpoints kept the time, ``seconds_training`` of an interrupted run had those of its last process alone;
    seconds a step, times steps, tell them.
    """
    return max(number(run, "seconds_training"), run.scalar("steps", 0.0) * number(run, "seconds_per_step"))


def tokens(run: Run) -> float:
    """Return the tokens that its model was trained on, as the run counted them: padding included."""
    return number(run, "tokens_per_second") * _kept(run)


def measuring(run: Run) -> float:
    """Return the seconds of measuring, since the last interruption."""
    return number(run, "seconds_measuring")


def whole(run: Run) -> float:
    """Return the seconds that making the run took, at least.

    ``seconds`` is that of its last process alone, and with what was done between trainings.
    """
    return max(number(run, "seconds"), training(run) + measuring(run))


def number(run: Run, name: str) -> float:
    """Return a number of run.json; 0 where it holds none."""
    value = run.info.get(name)
    return value if isinstance(value, int | float) else 0.0

"""One run of the matrix: try each learning rate shortly, train with the best, and once more where that did not learn.

A `ChosenSpec` enters; the scores of the last training leave, with the rate, what chose it and the trainings' costs
among the scalars. Every training has a folder of its own, so a killed run goes on in whichever it was.
"""

import json
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lightning.pytorch.loggers.logger import Logger

from lengen.callbacks import METRICS, VALIDATION, read_metrics
from lengen.callbacks.metrics_logger import TRAIN_LOSS
from lengen.config.spec import Spec
from lengen.measures import Trained
from lengen.progress import Progress
from lengen.records import Grid
from lengen.training import run as lengen
from lengen.training.divergence import DivergedError
from lengen.whole_files import write_whole
from papers.matrix.spec import ChosenSpec

LAST = 0.2
"""Share of a short training whose losses are averaged, to tell rates apart that validate equally."""
DONE = "done.json"
"""What is known of a training that is over, in its folder."""


class Trial(NamedTuple):
    """What a short training with one rate came to, on problems of the trained range."""

    rate: float
    validation: float
    """Exact match on fresh problems."""
    loss: float
    """Mean loss of its last steps, whose problems were fresh, too."""
    seconds: float


class First(NamedTuple):
    """How the training with one budget ended."""

    learned: float
    """Exact match at the longest trained length."""
    seconds: float


def best(trials: Sequence[Trial]) -> Trial:
    """The trial with the highest validation; of equal ones that with the lowest loss.

    >>> best([Trial(1e-3, 0.5, 0.4, 1.0), Trial(3e-3, 0.5, 0.3, 1.0), Trial(1e-2, 0.0, 2.0, 1.0)]).rate
    0.003
    """
    return max(trials, key=lambda trial: (trial.validation, -trial.loss))


def at_longest(grid: Grid, span: Trained) -> float:
    """Exact match at the longest trained length, over all trained counts."""
    cells = [cell for cell in grid.scores if cell[0] == span.length and span.has(cell)]
    counts = [grid.scores[cell]["teacher_forced"] for cell in cells]
    return sum(count["correct"] for count in counts) / sum(count["n"] for count in counts)


def execute(
    spec: ChosenSpec,
    seed: int,
    folder: Path,
    report: Callable[[Progress], None],
    loggers: Sequence[Logger] = (),
) -> lengen.Outcome:
    """Make one run; called again after a kill it goes on. ``loggers`` get the values of the training that is kept."""
    spec.check()
    trials = [_try(spec.trial(rate), seed, folder / f"trial-{number}") for number, rate in enumerate(spec.choice.rates)]
    rate = best(trials).rate
    (learned, seconds), outcome = _first(spec, rate, seed, folder / "first", report, loggers)
    kept, times = "first", 1
    if learned < spec.choice.learned and spec.choice.retry > 1:
        kept, times = "retry", spec.choice.retry
        place = folder / kept
        place.mkdir(exist_ok=True)
        outcome = spec.trained(rate, times).run(seed, place, report, loggers)
        seconds += outcome.info["seconds_training"]
    assert outcome is not None
    for name in (METRICS, lengen.WEIGHTS):
        shutil.copyfile(folder / kept / name, folder / name)
    scalars = {
        **outcome.info["scalars"],
        "lr": rate,
        "budgets": times,
        "exact_at_longest_of_first": learned,
        "seconds_of_all_trainings": round(seconds + sum(trial.seconds for trial in trials), 1),
        **{f"validation_at_{trial.rate:g}": trial.validation for trial in trials},
        **{f"loss_at_{trial.rate:g}": trial.loss for trial in trials if math.isfinite(trial.loss)},
    }
    tried = ", ".join(f"{trial.rate:g}" for trial in trials)
    notes = [f"learning rate {rate:g} of {tried}"]
    if times > 1:
        notes.append(
            f"trained again with {times} times the budget: exact match at the trained length was {learned:.2f}"
        )
    return replace(outcome, info=outcome.info | {"scalars": scalars, "notes": [*notes, *outcome.info.get("notes", [])]})


def _try(trial: Spec, seed: int, folder: Path) -> Trial:
    """A short training, where it has not been made; a loss that diverged is the worst there is."""
    done = folder / DONE
    if not done.exists():
        folder.mkdir(exist_ok=True)
        try:
            info = lengen.execute(trial, seed, folder, lambda progress: None).info
        except DivergedError:
            found = Trial(trial.train.lr, 0.0, math.inf, 0.0)
        else:
            losses = [value for _, name, value in read_metrics(folder / METRICS) if name == TRAIN_LOSS]
            tail = losses[-max(1, round(LAST * len(losses))) :]
            validation = info["scalars"][VALIDATION]
            found = Trial(trial.train.lr, validation, sum(tail) / len(tail), info["seconds_training"])
        write_whole(done, json.dumps(found._asdict()))
    return Trial(**json.loads(done.read_text()))


def _first(
    spec: ChosenSpec,
    rate: float,
    seed: int,
    folder: Path,
    report: Callable[[Progress], None],
    loggers: Sequence[Logger],
) -> tuple[First, lengen.Outcome | None]:
    """The training with one budget; without its outcome where it is over and another one follows."""
    done = folder / DONE
    before = First(**json.loads(done.read_text())) if done.exists() else None
    if before is not None and before.learned < spec.choice.learned and spec.choice.retry > 1:
        return before, None
    folder.mkdir(exist_ok=True)
    outcome = spec.trained(rate).run(seed, folder, report, loggers)
    task = spec.data.task
    seconds = outcome.info["seconds_training"] if before is None else before.seconds
    found = First(at_longest(outcome.grid, Trained(task.longest, task.most)), seconds)
    write_whole(done, json.dumps(found._asdict()))
    return found, outcome

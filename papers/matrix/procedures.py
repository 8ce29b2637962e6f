"""Runs of the matrix: a whole budget with each learning rate until one teaches the trained range, or a calibrated bias.

Where none does, there is one further training with the best of them.

A `ChosenSpec` enters; the scores of the training that is kept leave, with its rate, what each rate came to and the
trainings' costs among the scalars. Every training has a folder of its own, so a killed run goes on in whichever it was.

What is looked at are the test problems of the longest trained length, up to four times, and the same ones say whether
the cell has learned: that is judged a little kindly. The further training is kept whatever it comes to, also where the
shorter one with that rate was better.
"""

import contextlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from lengen.callbacks.loggers import METRICS, VALIDATION, Loggers
from lengen.data.task_data import TaskData
from lengen.decoding.inside import longest_problems, mean_attention, of_response
from lengen.metrics.measures import exact_at_longest
from lengen.models import Decoder, Transformer
from lengen.models.bias import LineBias
from lengen.results.progress import DivergedError, Report, write_whole
from lengen.settings.sections import Trained
from lengen.settings.spec import Spec
from lengen.training import calibration
from lengen.training import run as lengen
from lengen.training.kernels import of_parts
from lengen.training.procedure import run_setting
from lengen.training.run import Outcome
from papers.matrix.settings import CalibratedSpec, ChosenSpec

DONE = "done.json"
"""Result of a finished training, in its folder."""


class Tried(NamedTuple):
    """Result of a training with one learning rate, on problems of the trained range."""

    rate: float
    learned: float
    """Exact match at the longest trained length."""
    validation: float
    """Exact match on fresh problems of all trained lengths."""
    seconds: float


def best(tried: Sequence[Tried]) -> Tried:
    """Return the training with the highest exact match at the longest trained length.

    Of equal ones that with the highest validation.

    >>> best([Tried(1e-3, 0.5, 0.4, 1.0), Tried(3e-3, 0.5, 0.6, 1.0), Tried(1e-2, 0.0, 0.9, 1.0)]).rate
    0.003
    """
    return max(tried, key=lambda attempt: (attempt.learned, attempt.validation))


def execute_chosen(spec: ChosenSpec, seed: int, folder: Path, report: Report, loggers: Loggers = ()) -> Outcome:
    """Make one run; called again after a kill it goes on. ``loggers`` get the values of all of its trainings."""
    spec.check()
    tried: list[Tried] = []
    last, outcome = folder, None
    for rate in spec.choice.rates:
        last = folder / f"rate-{rate:g}"
        attempt, outcome = _train(spec, spec.trained(rate), seed, last, report, loggers)
        tried.append(attempt)
        if attempt.learned >= spec.choice.learned:
            break
    chosen = best(tried)
    times = spec.choice.retry if chosen.learned < spec.choice.learned else 1
    part = folder / ("further" if times > 1 else f"rate-{chosen.rate:g}")
    if outcome is None or part != last:
        part.mkdir(exist_ok=True)
        outcome = run_setting(spec.trained(chosen.rate, times), seed, part, report, loggers)
    seconds = sum(attempt.seconds for attempt in tried) + outcome.info["seconds_training"] * (times > 1)
    for name in (METRICS, lengen.WEIGHTS):
        shutil.copyfile(part / name, folder / name)
    scalars = {
        **outcome.info["scalars"],
        "lr": chosen.rate,
        "budgets": times,
        "seconds_of_all_trainings": round(seconds, 1),
        **{f"exact_at_longest_with_{attempt.rate:g}": attempt.learned for attempt in tried},
    }
    notes = [f"learning rate {chosen.rate:g}, after {len(tried)} of {len(spec.choice.rates)}"]
    if times > 1:
        reached = f"exact match at the trained length was {chosen.learned:.2f}"
        notes.append(f"trained again with {times} times the budget: {reached}")
    notes += outcome.info.get("notes", [])
    return replace(outcome, info=outcome.info | {"scalars": scalars, "notes": notes, "kernels_of": of_parts(folder)})


def _train(
    spec: ChosenSpec, training: Spec, seed: int, folder: Path, report: Report, loggers: Loggers
) -> tuple[Tried, Outcome | None]:
    """Return a training with one rate; without its outcome if it was over before.

    A loss that diverged is the worst there is.
    """
    done, rate = folder / DONE, training.train.lr
    try:
        return Tried(**json.loads(done.read_text())), None
    except (OSError, ValueError, TypeError):  # not there, or what a power failure left: its training goes on
        pass
    folder.mkdir(exist_ok=True)
    outcome, attempt = None, Tried(rate, -1.0, 0.0, 0.0)
    with contextlib.suppress(DivergedError):
        outcome = run_setting(training, seed, folder, report, loggers)
        learned = exact_at_longest(outcome.grid, Trained(spec.data.task.longest, spec.data.task.most))
        attempt = Tried(rate, learned, outcome.info["scalars"][VALIDATION], outcome.info["seconds_training"])
    write_whole(done, json.dumps(attempt._asdict()))
    return attempt, outcome


# A `CalibratedSpec` enters; the scores of the second model leave, with what is known of the first and of the bias.


Lines = tuple[torch.Tensor, dict[str, torch.Tensor]]
"""(H,) bool, True if a head has a line, and the tables of `lengen.models.bias.LineBias`."""


def execute_calibrated(spec: CalibratedSpec, seed: int, folder: Path, report: Report, loggers: Loggers = ()) -> Outcome:
    """Make both trainings; called again after a kill it goes on in whichever it was."""

    def lines(model: Transformer, data: TaskData) -> Lines:
        heads = calibrate(model, data, spec, seed)
        return heads, lines_of(model).state_dict()

    def give(model: Transformer, lines: Lines) -> None:
        lines_of(model).load_state_dict(lines[1])

    return calibration.execute(spec.trainings(), seed, folder, report, loggers, lines, give, _records)


def _records(lines: Lines, began: dict[str, Any], info: dict[str, Any]) -> calibration.Records:
    """Return the lines, how many are open, and how far the first model came."""
    heads, tables = lines
    scalars = {
        f"{calibration.FIRST}_{VALIDATION}": began["scalars"][VALIDATION],
        "transparent_heads": float((~heads).sum()),
        "lines_own": float((tables["own.table"][:, heads] > -torch.inf).sum()),
        "lines_cross": float((tables["cross.table"][:, heads] > -torch.inf).sum()),
    }
    notes = [] if heads.any() else ["no line passed the threshold in any head: the second model has no bias"]
    arrays = {f"lines.{name.removesuffix('.table')}": table for name, table in tables.items()}
    return calibration.Records(scalars, notes, arrays)


def calibrate(model: Transformer, data: TaskData, spec: CalibratedSpec, seed: int) -> torch.Tensor:
    """Set the lines of a model by its own attention; returns (H,) bool, True if a head has one.

    Probabilities of the last layer, averaged over problems of the trained length.
    """
    problems = longest_problems(data, spec.calibration.examples, seed)
    mean = mean_attention(model, data, problems, sides=of_response(spec.lines.rows))
    sigmas = spec.calibration.sigma_own, spec.calibration.sigma_cross
    return lines_of(model).calibrate(mean["self"], mean["cross"], *sigmas)


def lines_of(model: Transformer) -> LineBias:
    """Return the lines of a decoder that has some."""
    assert isinstance(model, Decoder) and model.lines is not None
    return model.lines

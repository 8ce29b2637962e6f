"""The token budget of a cell: what an example costs, and what the model of a finished run was trained on."""

import statistics
from functools import cache

from lengen.position_ids.consecutive import NoPositionIds
from lengen.results.records import Run
from lengen.settings.sections import DataSpec
from lengen.settings.spec import from_dict, replace
from papers.matrix.spec import CalibratedChoice, ChosenSpec


def step_tokens(spec: ChosenSpec) -> float:
    """Return tokens of a step, of all the trainings that share a budget: batch times an example of each.

    As the budget counts: lengths and counts as often as each other, numbers with their leading zeros, no padding of a
    batch. It is the same for all seeds, and so are the steps.
    """
    return sum(spec.train.batch * mean_tokens(replace(data, position_ids=NoPositionIds())) for data in spec.read())


@cache  # most tricks write alike
def mean_tokens(data: DataSpec) -> float:
    """Return tokens of a training example, over all trained lengths and counts, auxiliary tasks in turn."""
    pairs = []
    for task in (data.task, *data.hints):
        some = replace(data, task=task, hints=())
        counts = range(min(2, task.most), task.most + 1)
        pairs.append(statistics.fmean(sum(some.tokens(n, m)) for n in task.trained_lengths for m in counts))
    return statistics.fmean(pairs)


def tokens(run: Run) -> float:
    """Return tokens that the model of a run was trained on.

    They are those of the training that was kept, of a calibrated bias of both its models, and not those of rates that
    were tried and left.
    """
    values = run.info["spec"]
    assert isinstance(values, dict)
    spec = from_dict(values, CalibratedChoice if "calibration" in values else ChosenSpec)
    return run.scalar("budgets", 1.0) * spec.train.steps * step_tokens(spec)

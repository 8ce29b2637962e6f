"""The benchmark: frozen problems as plain text, predictions of anyone's model, headline numbers.

    from lengen.benchmark import measures, predictions, problems, score
    asked = problems("addition", size=6)
    grid = score(asked, predictions(lambda prompts: ["0"] * len(prompts), asked))
    measures(grid, size=6).reach

Nothing of it loads torch; docs/benchmark.md is the protocol.
"""

from lengen.benchmark.evaluating import answerer, evaluate, problems
from lengen.benchmark.problem import Problem, checksums, read_line, read_lines, training
from lengen.benchmark.scoring import (
    Measures,
    PredictionError,
    by_id,
    by_seed,
    levels,
    measures,
    over_seeds,
    predictions,
    read_predictions,
    score,
)
from lengen.benchmark.submission import Header, header, read_header, read_submission, write_submission
from lengen.benchmark.tasks import TASKS, Task, TaskError, task_of

__all__ = [
    "TASKS",
    "Header",
    "Measures",
    "PredictionError",
    "Problem",
    "Task",
    "TaskError",
    "answerer",
    "by_id",
    "by_seed",
    "checksums",
    "evaluate",
    "header",
    "levels",
    "measures",
    "over_seeds",
    "predictions",
    "problems",
    "read_header",
    "read_line",
    "read_lines",
    "read_predictions",
    "read_submission",
    "score",
    "task_of",
    "training",
    "write_submission",
]

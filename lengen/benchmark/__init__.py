"""The benchmark: frozen problems as plain text, predictions of anyone's model, headline numbers.

    from lengen.benchmark import evaluate, problems, score
    test = problems("addition", size=6)
    score(test, [problem.answer for problem in test]).reach
    evaluate(lambda prompts: ["0"] * len(prompts), test).reach

Nothing of it loads torch; docs/benchmark.md is the protocol.
"""

from lengen.benchmark.evaluating import answerer, evaluate, problems
from lengen.benchmark.problem import Problem, checksums, frozen, read_line, read_lines, sum_of, training
from lengen.benchmark.scoring import (
    Measures,
    PredictionError,
    Scores,
    by_id,
    by_seed,
    levels,
    measures,
    over_seeds,
    predictions,
    read_predictions,
    read_samples,
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
    "Scores",
    "Task",
    "TaskError",
    "answerer",
    "by_id",
    "by_seed",
    "checksums",
    "evaluate",
    "frozen",
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
    "read_samples",
    "read_submission",
    "score",
    "sum_of",
    "task_of",
    "training",
    "write_submission",
]

"""Anything that answers prompts, on the problems of a task: a function, or a model of this suite."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lengen.benchmark.frozen import frozen
from lengen.benchmark.problem import Problem
from lengen.benchmark.scoring import Answerer, check_problems, predictions, score
from lengen.benchmark.tasks import TaskError, task_of
from lengen.results.records import Grid

if TYPE_CHECKING:
    from lengen.loading import Model


def evaluate(
    answer: "Answerer | Model",
    task: str,
    size: int | None = None,
    *,
    problems: Sequence[Problem] | None = None,
    units_first: bool = False,
) -> Grid:
    """Return the counts of what a function, or a model of `lengen.load`, answers to a task's problems.

    Args:
        answer: From a list of prompts such as ``12+34=`` to a list of as many texts.
        task: A task of the benchmark.
        size: Its longest trained length, which decides the problems; None: that of the papers.
        problems: Problems of one's own, as `lengen.benchmark.read_line` reads them.
        units_first: Digits of numbers stand least significant first in the answers.

    Example:
        >>> import lengen
        >>> grid = lengen.evaluate(lambda prompts: ["0"] * len(prompts), "copy", size=6)
        >>> grid.accuracy(6)
        0.0
    """
    known = task_of(task)
    if problems is not None and size is not None:
        raise TaskError(f"size={size}: problems of one's own are asked; leave it out")
    asked = frozen(task, known.papers if size is None else size) if problems is None else list(problems)
    check_problems(asked)
    if other := {problem.task for problem in asked} - {known.name}:
        raise TaskError(f"task={task!r}: the problems are of {', '.join(sorted(other))}; name their task")
    said = predictions(answerer(answer, task, asked), asked)
    return score(asked, said, units_first=units_first)


def answerer(answer: "Answerer | Model", task: str, asked: Sequence[Problem]) -> Answerer:
    """Return the function itself, or one that lets a model of this suite answer.

    `TaskError` for one of another task.
    """
    if hasattr(answer, "state_dict"):
        raise TaskError(
            f"a network ({type(answer).__name__}) answers no text: expected a function from prompts to texts, as "
            f"lengen.character_model makes of a network over characters, or the model of lengen.load"
        )
    if callable(answer):
        return answer
    if not hasattr(answer, "answers"):
        raise TaskError(f"{answer!r} answers nothing: expected a function from prompts to texts, or a lengen Model")
    known, first = task_of(task), asked[0]
    try:
        computed = answer.true(first.operands)
    except ValueError as error:
        raise TaskError(f"{answer} is of another task than {task} and cannot read {first.prompt}: {error}") from None
    if computed != first.answer:
        raise TaskError(
            f"{answer} is of another task than {task}: by its own, {first.prompt} gives {computed}, not {first.answer}"
        )
    return lambda prompts: answer.answers([known.read_prompt(prompt) for prompt in prompts])

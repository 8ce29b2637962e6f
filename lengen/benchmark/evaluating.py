"""Problems of a task or setting by its name, and a function or model that answers them."""

from collections.abc import Sequence
from itertools import product
from numbers import Integral
from typing import TYPE_CHECKING

from lengen.benchmark.problem import Problem, frozen, training
from lengen.benchmark.scoring import Answerer, check_problems, predictions, score
from lengen.benchmark.tasks import TaskError, task_of
from lengen.clone import setting
from lengen.results.records import Grid

if TYPE_CHECKING:
    from lengen.loading import Model
    from lengen.settings.spec import Spec


EXAMPLES = 100_000
"""Training problems of a task if no number is given."""


def problems(
    source: "str | Spec", size: int | None = None, *, split: str = "test", examples: int | None = None, seed: int = 0
) -> list[Problem]:
    """Return the frozen problems of a task, training problems of it, or those that a setting is tested on.

    Args:
        source: A task of the benchmark, an experiment such as ``coupling/fig1/coupling-scratchpad``, or a setting.
        size: The longest trained length of a task; None: all frozen problems.
        split: "test"; or "train" for problems of a task among which is no frozen one.
        examples: Problems to train on, or of each tested cell of a setting.
        seed: Decides training problems of a task, and all problems of a setting.

    Example:
        >>> import lengen
        >>> problem = lengen.problems("addition", size=6)[0]
        >>> problem.prompt, problem.answer
        ('84+92=', '176')
    """
    if split not in ("test", "train"):
        raise TaskError(f"split={split!r}: expected 'test' or 'train'")
    if examples is not None and not (isinstance(examples, Integral) and examples > 0):
        raise TaskError(f"examples={examples!r}: expected a whole number, at least 1")
    if not (isinstance(seed, Integral) and seed >= 0):
        raise TaskError(f"seed={seed!r}: expected a whole number from 0 on")
    if isinstance(source, str) and "/" not in source:
        task = task_of(source)
        if split == "test":
            if seed:
                raise TaskError(f"seed={seed}: the test problems of {source} are frozen; leave it out")
            if examples is not None:
                raise TaskError(f"examples={examples}: the test problems of {source} are frozen; leave it out")
            return frozen(source, size)
        size = task.papers if size is None else size
        task.lengths(size)  # a size that there is
        held_out = frozenset(problem.prompt for problem in frozen(source))
        return list(training(task, size, seed, examples or EXAMPLES, held_out))
    if split != "test" or size is not None:
        raise TaskError(f"{source!r:.60} is no task of the benchmark: only those have a size and split='train'")
    from lengen.benchmark.lines import tests
    from lengen.data.task_data import TaskData

    spec = setting(source) if isinstance(source, str) else source
    if not hasattr(spec, "test"):
        raise TaskError(f"{source!r:.60}: expected a task of the benchmark, an experiment by its name, or a Spec")
    test, name = spec.test, source if isinstance(source, str) else spec.data.task.name
    lines = tests(TaskData(spec, seed), product(test.lengths, test.counts), examples or test.examples, name)
    found = (Problem(**{key: line[key] for key in Problem._fields}) for line in lines)
    return [problem._replace(operands=tuple(problem.operands)) for problem in found]


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

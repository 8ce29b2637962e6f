"""Problems of a task or setting by its name, and a function, file or model that answers them."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from numbers import Integral
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lengen.benchmark.problem import Problem, frozen, held_out, training
from lengen.benchmark.scoring import Scores, answer_of, check_problems, in_order, score, size_of
from lengen.benchmark.tasks import TaskError, task_of
from lengen.clone import setting

if TYPE_CHECKING:
    from lengen.settings.spec import Spec
    from lengen.trained_model import Model


Answerer = Callable[[list[str]], Sequence[str | None]]
"""Prompts such as ``12+34=`` to texts; None if there is no answer."""


@contextmanager
def _going_on() -> Iterator[None]:
    """Make an end of the program that a module wants when it is imported an `ImportError`."""
    try:
        yield
    except SystemExit as end:
        raise ImportError(f"it ends the program when it is imported ({end})") from None


def loaded(path: Path) -> ModuleType:
    """Return the module of a file, which may import its neighbours; whatever the file raises is raised.

    It is known under a name of its own, so it hides no module, and none hides it.
    """
    name, folder = f"user_file_{path.stem}", str(path.resolve().parent)
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)  # dataclasses look for their module there
    if folder not in sys.path:
        sys.path.append(folder)
    with _going_on():
        spec.loader.exec_module(module)
    return module


def imported(name: str) -> ModuleType:
    """Import a module of an installed package or of the current folder."""
    sys.path.insert(0, "")
    try:
        with _going_on():
            return import_module(name)
    finally:
        sys.path.remove("")


EXAMPLES = 100_000
"""Training problems of a task if no number is given."""


def problems(
    source: "str | Spec",
    size: int | None = None,
    *,
    split: str = "test",
    examples: int | None = None,
    seed: int = 0,
    version: int = 2,
) -> list[Problem]:
    """Return the test problems of a task, training problems of it, or those that a setting is tested on.

    Args:
        source: A task of the benchmark, an experiment such as ``coupling/fig1/coupling-scratchpad``, or a setting.
        size: The longest trained length of a task; None: of all sizes.
        split: "test"; "carry" for those with chains of carries; or "train" for problems that are not tested.
        examples: Problems to train on, or of each tested cell of a setting.
        seed: Decides training problems of a task, and all problems of a setting.
        version: Of the protocol, 1 or 2.

    Example:
        >>> import lengen
        >>> problem = lengen.problems("addition", size=6)[0]
        >>> problem.prompt, problem.answer
        ('46+47=', '93')
    """
    return list(stream(source, size, split, examples, seed, version))


def stream(
    source: "str | Spec", size: int | None, split: str, examples: int | None, seed: int, version: int
) -> Iterable[Problem]:
    """Return the same as `problems`; training problems one after another, without a list of them."""
    if split not in ("test", "carry", "train"):
        raise TaskError(f"split={split!r}: expected 'test', 'carry' or 'train'")
    if version not in (1, 2):
        raise TaskError(f"version={version!r}: expected 1 or 2")
    if examples is not None and not (isinstance(examples, Integral) and examples > 0):
        raise TaskError(f"examples={examples!r}: expected a whole number, at least 1")
    if not (isinstance(seed, Integral) and seed >= 0):
        raise TaskError(f"seed={seed!r}: expected a whole number from 0 on")
    if isinstance(source, str) and "/" not in source:
        task = task_of(source, version)
        if split != "train":
            for name, value in (("seed", seed or None), ("examples", examples)):
                if value is not None:
                    raise TaskError(f"{name}={value}: the test problems of {source} are frozen; leave it out")
            return frozen(source, size, version, "uniform" if split == "test" else split)
        size = task.papers if size is None else size
        task.lengths(size, version)  # a size that there is
        tested = held_out(source, size) if version > 1 else {problem.prompt for problem in frozen(source, version=1)}
        return training(task, size, seed, examples or EXAMPLES, tested, version)
    if split != "test" or size is not None:
        raise TaskError(f"{source!r:.60} is no task of the benchmark: only those have a size and split='train'")
    from lengen.benchmark.problems_of_a_setting import tests
    from lengen.data.task_data import TaskData

    spec = setting(source) if isinstance(source, str) else source
    if not hasattr(spec, "test"):
        raise TaskError(f"{source!r:.60}: expected a task of the benchmark, an experiment by its name, or a Spec")
    test, name = spec.test, source if isinstance(source, str) else spec.data.task.name
    lines = tests(TaskData(spec, seed), product(test.lengths, test.counts), examples or test.examples, name)
    return [Problem(**{key: line[key] for key in Problem._fields}) for line in lines]


def predictions(
    answer: Answerer, problems: Sequence[Problem], at_once: int = 100, units_first: bool = False
) -> list[dict[str, Any]]:
    """Return the predictions of a callable for the prompts of problems.

    Of all problems of a size of protocol 2 the shortest are asked first, until two lengths in a row have nothing right.
    Raises `TaskError` if the callable returns anything but texts.
    """
    size, version = size_of(problems) if problems else (0, 1)
    if not size or version == 1:
        return _answered(answer, problems, at_once)
    rows: list[dict[str, Any]] = []
    right: list[int] = []
    for length in sorted({max(problem.cell) for problem in problems}):
        if right[-2:] == [0, 0]:
            break
        part = [problem for problem in problems if max(problem.cell) == length]
        answers = {row["id"]: row for row in _answered(answer, part, at_once)}
        rows += answers.values()
        texts = [answer_of(answers.get(problem.id, {}), problem.task, units_first) for problem in part]
        right.append(sum(text == problem.answer for text, problem in zip(texts, part, strict=True)))
    return rows


def _answered(answer: Answerer, problems: Sequence[Problem], at_once: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for start in range(0, len(problems), at_once):
        part = problems[start : start + at_once]
        try:
            texts = answer([problem.prompt for problem in part])
        except (Exception, SystemExit) as error:  # whatever a stranger's function raises
            fault = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise TaskError(
                f"the function failed for {part[0].prompt!r:.40} and {len(part) - 1} more ({fault}); expected that it "
                "takes a list of prompts and returns a list of as many texts"
            ) from error
        sized = isinstance(texts, Sequence) or getattr(texts, "ndim", 0)  # or an array
        if isinstance(texts, str | bytes) or not sized or len(texts) != len(part):
            raise TaskError(f"the function returned {texts!r:.40} for {len(part)} prompts; expected a list of as many")
        if wrong := [text for text in texts if not isinstance(text, str | Integral | None)]:
            raise TaskError(f"the function returned {wrong[0]!r:.40} for a prompt; expected text, or None")
        rows += in_order(part, [text if text is None else str(text) for text in texts])
    return rows


def evaluate(
    answer: "Answerer | Model",
    task: str | Sequence[Problem],
    size: int | None = None,
    *,
    problems: Sequence[Problem] | None = None,
    units_first: bool = False,
    version: int = 2,
) -> Scores:
    """Return the counts of what a function, or a model of `lengen.load`, answers to a task's problems.

    Problems of a whole size are asked from the shortest on, until two lengths in a row have nothing right.

    Args:
        answer: From a list of prompts such as ``12+34=`` to a list of as many texts.
        task: A task of the benchmark, or the problems to answer.
        size: Its longest trained length, which decides the problems; None: that of the papers.
        problems: Problems of one's own, as `lengen.benchmark.read_line` reads them.
        units_first: Digits of numbers stand least significant first in the answers.
        version: Of the protocol, 1 or 2.

    Example:
        >>> import lengen
        >>> grid = lengen.evaluate(lambda prompts: ["0"] * len(prompts), "copy", size=6)
        >>> grid.accuracy(6), grid.reach
        (0.0, 0)
    """
    if not isinstance(task, str):
        if problems is not None:
            raise TaskError("problems= are given, and so are others in place of the task; name the task")
        problems = list(task) if isinstance(task, Iterable) else [task]
        check_problems(problems)
        task = problems[0].task
    if problems is not None and size is not None:
        raise TaskError(f"size={size}: problems of one's own are asked; leave it out")
    chosen = list(problems or ())
    if problems is None:
        chosen = list(stream(task, task_of(task).papers if size is None else size, "test", None, 0, version))
    check_problems(chosen)
    if other := {problem.task for problem in chosen} - {task}:
        raise TaskError(f"task={task!r}: the problems are of {', '.join(sorted(other))}; name their task")
    rows = predictions(answerer(answer, task, chosen), chosen, units_first=units_first)
    return score(chosen, rows, units_first=units_first)


def answerer(answer: "Answerer | Model", task: str, problems: Sequence[Problem]) -> Answerer:
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
    known, first = task_of(task), problems[0]
    try:
        computed = answer.true(first.operands)
    except ValueError as error:
        raise TaskError(f"{answer} is of another task than {task} and cannot read {first.prompt}: {error}") from None
    if computed != first.answer:
        raise TaskError(
            f"{answer} is of another task than {task}: by its own, {first.prompt} gives {computed}, not {first.answer}"
        )
    return lambda prompts: answer.answers([known.read_prompt(prompt) for prompt in prompts])

"""Problems by the name of a task of the benchmark or of an experiment, or of a setting; torch for settings alone."""

from itertools import product
from numbers import Integral
from typing import TYPE_CHECKING

from lengen.benchmark.frozen import frozen
from lengen.benchmark.problem import Problem, training
from lengen.benchmark.tasks import TaskError, task_of
from lengen.clone import setting

if TYPE_CHECKING:
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

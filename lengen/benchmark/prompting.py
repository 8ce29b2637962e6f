"""Language models and the benchmark: what they are asked, and the answer in what they reply."""

import re
from collections.abc import Callable

from lengen.benchmark.problem import Problem, held_out, training
from lengen.benchmark.tasks import Task

ASK = "Answer with the result alone, without any other word."
"""Instruction to a chat before the problem."""
SEED = 0
"""Seed of the training problems that are shown as examples."""
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
WRAPPED = re.compile(r"\\boxed\{([^{}]*)\}|\*\*([^*]+)\*\*|`([^`]+)`")
"""Forms in which a chat marks its answer."""


def examples(task: Task, size: int, number: int) -> list[Problem]:
    """Return solved problems to show: training problems of the size, so none of them is tested."""
    return list(training(task, size, SEED, number, held_out(task.name, size)))


def form(task: Task, size: int, shots: int, chat: bool) -> Callable[[str], str]:
    """Return a function from a prompt to a model's text: an instruction to a chat, solved examples, the prompt."""
    shown = examples(task, size, shots) if shots else []
    head = f"{ASK}\n\n" * chat + "".join(f"{problem.prompt}{problem.answer}\n" for problem in shown)
    return lambda prompt: head + prompt


def extracted(reply: str, task: Task) -> str:
    r"""Return the answer in a reply, which may be a sentence; empty if it holds none.

    It is sought behind the last ``</think>``; in the first line that is not blank, if this is an answer as it stands or
    behind an equals sign; else in what the reply marks last by ``\boxed{}``, bold or code; else it is the last answer
    of the reply. Commas that part thousands are left out of numbers.

    >>> from lengen.benchmark import task_of
    >>> [extracted(text, task_of("addition")) for text in ("\n46\n13+1=14", "12+34 = 46.", "The sum is **1,046**.")]
    ['46', '46', '1046']
    """
    text = reply.rpartition("</think>")[2].replace("$", "")
    if task.numbers:
        text = THOUSANDS.sub("", text)
    answer = r"-?\d+(?:[ ,]+\d+)*" if task.apart and task.name != "max" else r"-?\d+"
    first = next((line.rpartition("=")[2].strip(" .") for line in text.splitlines() if line.strip()), "")
    if re.fullmatch(answer, first):
        return first
    marked = ["".join(groups) for groups in WRAPPED.findall(text)]
    answers = re.findall(answer, marked[-1] if marked and re.search(answer, marked[-1]) else text)
    return answers[-1] if answers else ""

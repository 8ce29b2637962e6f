"""The community's check of small transformers that add two numbers of ten digits: its problems, its rules, its count.

The rules are those of AdderBoard (github.com/anadim/AdderBoard, its README.md and verify.py as of commit 525088b,
2026-03-04): ten edge cases, then 10,000 pairs drawn with seed 2025 from all numbers of up to ten digits; 99 % of them
all qualify. Answers are written token by token, and an error counts as a wrong one.
"""

import random
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from lengen.benchmark import problems_and_answerers
from lengen.benchmark.problem import Problem, of_operands
from lengen.benchmark.scoring import PredictionError
from lengen.benchmark.tasks import TASKS
from lengen.data.task_data import TaskData
from lengen.digits import OperandError
from lengen.part import SettingError
from lengen.settings.spec import Spec
from lengen.solve import Answers, Report, answers, silent
from lengen.training.model_building import load

DIGITS = 10
LARGEST = 10**DIGITS - 1
SEED, PAIRS = 2025, 10_000
QUALIFIES = 0.99
"""Share of right answers, edge cases included, from which on a model is listed."""
EDGES = (
    (0, 0), (0, 1), (LARGEST, 0), (LARGEST, 1), (LARGEST, LARGEST), (5_000_000_000, 5_000_000_000),
    (1_111_111_111, 8_888_888_889), (1_234_567_890, 9_876_543_210), (LARGEST, LARGEST), (1, LARGEST),
)  # fmt: skip
"""The edge cases as printed there; one of them twice."""
WIDTH = 100
"""Characters of a line of text at most: longer ones are hard to read."""
LISTED = 3
"""Wrong sums that are listed."""


class Judged(NamedTuple):
    """A model and the result of its check."""

    model: str
    weights: str
    """Origin of the weights: hand-coded, or trained, with the training data."""
    parameters: int
    """Entries of every trained or set tensor, shared ones once; those that a submission declares if it is no module."""
    edges: int
    """Right sums of the ten edge cases."""
    pairs: int
    """Right sums of the drawn pairs."""
    drawn: int
    """Pairs that were drawn."""
    refused: int
    """Problems without an answer: they count as wrong."""
    why: str
    """Why the first of them has none."""
    wrong: tuple[str, ...]
    """The first wrong sums."""

    @property
    def share(self) -> float:
        """Share of right answers among all problems, as the check counts them."""
        return (self.edges + self.pairs) / (len(EDGES) + self.drawn)

    @property
    def qualifies(self) -> bool:
        """True if the model is listed: of all pairs enough are right."""
        return self.drawn == PAIRS and self.share >= QUALIFIES


def problems(pairs: int = PAIRS) -> list[Problem]:
    """Return the edge cases, then random pairs, first and second number in turn from Python's own generator.

    >>> problems(1)[-1].prompt
    '2395527356+9334186774='
    """
    source, task = random.Random(SEED), TASKS["addition"]
    drawn = [(source.randint(0, LARGEST), source.randint(0, LARGEST)) for _ in range(pairs)]
    texts = [(str(first), str(second)) for first, second in (*EDGES, *drawn)]
    return [
        of_operands(task, f"adderboard/{place:05}", (len(pair[0]), len(pair[1])), pair)
        for place, pair in enumerate(texts)
    ]


def adds(data: TaskData) -> bool:
    """Return True if the task of a setting is the addition of two numbers."""
    task, _ = data.trained(data.spec.data.task.name)
    try:
        return task.text(task.parse(["12", "34"])) == ["46"]
    except (OperandError, SettingError):
        return False


def submitted(path: Path) -> tuple[Callable[[list[str]], list[str | None]], object, dict[str, Any]]:
    """Return the function from prompts to texts, the model and the metadata of a file in the form of the list.

    ``build_model()`` returns a model and its metadata, ``add(model, a, b)`` a sum; one for which it raises an error has
    no text, and the metadata then have the first error as ``error``. Raises `PredictionError` for another file.
    """
    try:
        module = problems_and_answerers.loaded(path)
        model, metadata = module.build_model()
        add, metadata = module.add, dict(metadata, params=int(metadata.get("params", 0)))
    except (Exception, SystemExit) as error:  # a foreign file may raise anything
        raise PredictionError(
            f"{path}: {type(error).__name__}: {error}; expected build_model() that returns (model, metadata), "
            "params in metadata as a number, and add(model, a, b) that returns their sum"
        ) from None

    def answer(prompts: list[str]) -> list[str | None]:
        texts: list[str | None] = []
        for prompt in prompts:
            first, second = map(int, prompt.rstrip("=").split("+"))
            try:
                total = add(model, first, second)
                if isinstance(total, str):
                    raise TypeError("add returned a text, which equals no number")
                texts.append(str(first + second if total == first + second else total))  # as the check compares
            except (Exception, SystemExit) as error:  # a foreign function may raise anything
                texts.append(None)
                metadata.setdefault("error", f"{first} + {second}: {type(error).__name__}: {error}")
        return texts

    return answer, model, metadata


def judged(
    name: str, weights: str, model: object, tested: Sequence[Problem], answered: Answers, declared: int = 0
) -> Judged:
    """Count the right ones of the texts given to these `problems`."""
    task, tensors = TASKS["addition"], model.parameters() if isinstance(model, nn.Module) else ()
    parameters = sum(tensor.numel() for tensor in tensors) or declared
    texts = [text if text is None else task.cleaned(text) for text in answered.texts]
    right = [text == problem.answer for problem, text in zip(tested, texts, strict=True)]
    wrong = [
        f"{problem.prompt}{problem.answer}, {'no sum' if text is None else f'not {text}'}"
        for problem, text in zip(tested, texts, strict=True)
        if text != problem.answer
    ]
    edges, pairs, refused, shown = right[: len(EDGES)], right[len(EDGES) :], texts.count(None), tuple(wrong[:LISTED])
    return Judged(name, weights, parameters, sum(edges), sum(pairs), len(pairs), refused, answered.why, shown)


def judge_submission(path: Path, pairs: int = PAIRS, report: Report = silent) -> Judged:
    """Judge a file in the form of the list; raises `PredictionError` for another."""
    answer, model, metadata = submitted(path)
    tested, texts = problems(pairs), []
    for problem in tested:
        texts += answer([problem.prompt])
        report(len(texts), len(tested))
    weights = f"by {metadata.get('author', 'nobody named')}; {metadata['params'] or 'no'} parameters declared"
    answered, name = Answers(texts, str(metadata.get("error", ""))), str(metadata.get("name", path.stem))
    return judged(name, weights, model, tested, answered, metadata["params"])


def judge(spec: Spec, weights: Path | None, name: str, pairs: int = PAIRS, report: Report = silent) -> Judged:
    """Let a model of this suite answer; raises `PredictionError` for one that adds no two numbers."""
    data = TaskData(spec, seed=0)
    if not adds(data):
        raise PredictionError(f"{name} adds no two numbers, its task is {spec.data.task.name}: name one that does")
    module, tested, longest = load(spec, weights), problems(pairs), spec.data.task.longest
    answered = answers(data, module, [problem.operands for problem in tested], report)
    beyond = f"; none of {DIGITS}, so it is tested beyond its trained range" if longest < DIGITS else ""
    origin = "hand-coded" if weights is None else f"trained on numbers of up to {longest} digits{beyond}"
    return judged(name, origin, module, tested, answered)


def text(judged: Judged, width: int = WIDTH) -> str:
    """Return the result of the check, a line for each point."""
    verdict = f"{QUALIFIES:.0%} are asked: {'met' if judged.qualifies else 'not met'}"
    if judged.drawn != PAIRS:
        verdict = f"no verdict: {PAIRS:,} pairs are asked"
    lines = {
        "model": judged.model,
        "weights": judged.weights,
        "parameters": f"{judged.parameters:,}, shared ones once",
        "edge cases": f"{judged.edges} of {len(EDGES)} right",
        "random pairs": f"{judged.pairs:,} of {judged.drawn:,} right (seed {SEED})",
        "together": f"{100 * judged.share:.2f} %; {verdict}",
        **{f"wrong {number}": line for number, line in enumerate(judged.wrong, start=1)},
    }
    if judged.refused:
        lines["no sum"] = f"{judged.refused}, counted as wrong: {judged.why}"
    left = max(map(len, lines)) + 2
    return "\n".join(
        textwrap.fill(line, min(WIDTH, width), initial_indent=name.ljust(left), subsequent_indent=" " * left)
        for name, line in lines.items()
    )

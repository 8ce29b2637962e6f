"""The community's check of small transformers that add two numbers of ten digits: its problems, its rules, its count.

The rules are those of AdderBoard (github.com/anadim/AdderBoard, its README.md and verify.py as of commit 525088b,
2026-03-04): ten edge cases, then 10,000 pairs drawn with seed 2025 from all numbers of up to ten digits; 99 % of them
all qualify. Answers are written token by token, and an error counts as a wrong one.
"""

import dataclasses
import random
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from lengen.benchmark import evaluating
from lengen.benchmark.problem import Problem, of_operands
from lengen.benchmark.scoring import MODE, PredictionError, Scores, score
from lengen.benchmark.tasks import TASKS
from lengen.data.task_data import TaskData
from lengen.digits import OperandError
from lengen.models import Transformer
from lengen.part import SettingError
from lengen.settings.spec import Spec
from lengen.solve import Answers, answers
from lengen.training.build import load

DIGITS = 10
LARGEST = 10**DIGITS - 1
SEED, PAIRS = 2025, 10_000
QUALIFIES = 0.99
"""Share of right answers, edge cases included, from which on a model is listed."""
EDGES = (
    (0, 0),
    (0, 1),
    (LARGEST, 0),
    (LARGEST, 1),
    (LARGEST, LARGEST),
    (5_000_000_000, 5_000_000_000),
    (1_111_111_111, 8_888_888_889),
    (1_234_567_890, 9_876_543_210),
    (LARGEST, LARGEST),
    (1, LARGEST),
)
"""The edge cases as printed there; one of them twice."""
WIDTH = 100
"""Characters of a line of text at most: longer ones are hard to read."""
LISTED = 3
"""Wrong sums that are listed."""
IN_ORDER, AT_ONCE = "kept: each token is read again before the next", "broken: written at once"
"""Verdicts on rule 2."""
COUNTED = (
    "kept: one generation loop (lengen.decoding.decoding.write) serves every task, carries no state but the tokens, "
    "and hands the model ids that count tokens, whatever they say"
)
BY_MEANING = (
    "open: one generation loop (lengen.decoding.decoding.write) serves every task and carries no state but the tokens. "
    "But the position ids that it hands the model are made by code that knows what tokens mean: digits of one place "
    "value share an id, so which of them belong together is told to the model, not found by it. The rules allow custom "
    "positional encodings and forbid code that pairs digits by hand. Read strictly, this is such code; that is for the "
    "keepers of the list to decide, and no place in it is claimed here"
)
"""Verdict on rule 4, "the model does the work, not the code", for ids that depend on the meaning of tokens."""
Report = Callable[[int, int], None]
"""Of the number of answered problems, and of all."""


def silent(done: int, of: int) -> None:
    """Report nothing."""


class Sums(NamedTuple):
    """Counts of right sums by kind."""

    edges: int
    """Of the ten edge cases."""
    pairs: int
    """Of the drawn pairs."""
    drawn: int
    """Pairs that were drawn."""
    refused: int
    """Problems, of both kinds, that do not fit the model: they count as wrong."""
    why: str
    """Why not: the sentence of the first of them."""
    wrong: tuple[str, ...] = ()
    """The first wrong ones."""

    @property
    def share(self) -> float:
        """Share of right answers among all problems, as the check counts them."""
        return (self.edges + self.pairs) / (len(EDGES) + self.drawn)


class Parameters(NamedTuple):
    """Parameters of a model as the rules count them: entries of every trained or set tensor, shared ones once."""

    unique: int
    positions: int
    """Of these in the encoding of positions: fixed ones, which are no parameters, would not count."""
    zeros: int
    """Of these that are zero; the rules have no word for them, and count whatever a submission declares."""


@dataclass(frozen=True)
class Judged:
    """A model and the result of its check."""

    model: str
    weights: str
    """Origin of the weights: hand-coded, or trained, with the training data."""
    precision: str
    sums: Sums
    parameters: Parameters
    rules: dict[str, str]
    """Rule of the list -> whether it is kept."""
    qualifies: bool
    """By accuracy, over all of the pairs."""


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
        module = evaluating.loaded(path)
        model, metadata = module.build_model()
        add, metadata = module.add, dict(metadata, params=int(metadata.get("params", 0)))
    except Exception as error:  # a foreign file may raise anything
        raise PredictionError(
            f"{path}: {type(error).__name__}: {error}; expected build_model() that returns (model, metadata), "
            "params in metadata as a number, and add(model, a, b) that returns their sum"
        ) from None

    def answer(prompts: list[str]) -> list[str | None]:
        texts: list[str | None] = []
        for prompt in prompts:
            first, second = map(int, prompt.rstrip("=").split("+"))
            try:
                texts.append(str(add(model, first, second)))
            except Exception as error:  # a foreign function may raise anything
                texts.append(None)
                metadata.setdefault("error", f"{first} + {second}: {type(error).__name__}: {error}")
        return texts

    return answer, model, metadata


def sums(problems: Sequence[Problem], answers: Answers) -> Sums:
    """Count the right ones of the texts given to `problems`, as `score` counts them."""
    pairs = list(zip(problems, answers.texts, strict=True))
    parts = (slice(len(EDGES)), slice(len(EDGES), None))
    grids = [score(problems[part], answers.texts[part]) if problems[part] else Scores(("length",)) for part in parts]
    edges, drawn = (int(grid.total(grid.scores, MODE).get("correct", 0)) for grid in grids)
    task = TASKS["addition"]
    wrong = [pair for pair in pairs if pair[1] is None or task.cleaned(pair[1]) != pair[0].answer]
    listed = tuple(mistake(*pair) for pair in wrong[:LISTED])
    return Sums(edges, drawn, len(pairs) - len(EDGES), answers.texts.count(None), answers.why, listed)


def mistake(problem: Problem, answer: str | None) -> str:
    """Return a wrong sum, its answer, and the places that are wrong, from the units: digits, and carries into them.

    >>> from lengen.benchmark import read_line
    >>> mistake(read_line("57+48", "addition"), "95")
    '57 + 48 = 105, not 95; wrong places 2, 3; carries go into 2, 3'
    """
    first, second = map(int, problem.operands)
    text = f"{first} + {second} = {problem.answer}, " + ("no sum" if answer is None else f"not {answer}")
    if answer is None or not answer.isdigit():
        return text
    size = max(len(problem.answer), len(answer))
    pairs = zip(problem.answer.zfill(size)[::-1], answer.zfill(size)[::-1], strict=True)
    places = [place for place, (a, b) in enumerate(pairs, start=1) if a != b]
    carried = [
        place for place in places if first % 10 ** (place - 1) + second % 10 ** (place - 1) >= 10 ** (place - 1) > 1
    ]
    into = f"; carries go into {', '.join(map(str, carried))}" if carried else "; no carry goes into them"
    return f"{text}; wrong places {', '.join(map(str, places))}{into}"


def counted(model: object, declared: int = 0) -> Parameters:
    """Count the parameters of a model, shared ones once; those that a submission declares if it is no module."""
    if not isinstance(model, nn.Module):
        return Parameters(declared, 0, 0)
    encoding = model.encoding.parameters() if isinstance(model, Transformer) else ()
    held = list(model.parameters())
    zeros = sum(int((tensor == 0).sum()) for tensor in held)
    unique = sum(tensor.numel() for tensor in held)
    return Parameters(unique or declared, sum(tensor.numel() for tensor in encoding), zeros)


def _judged(held: object, declared: int, right: Sums, **told: Any) -> Judged:
    """Return what the sums of a model say of it; ``told``: the other fields."""
    tensors = iter(held.parameters()) if isinstance(held, nn.Module) else iter(())
    precision = next((str(tensor.dtype).removeprefix("torch.") for tensor in tensors), "no tensors")
    qualifies = right.drawn == PAIRS and right.share >= QUALIFIES
    return Judged(precision=precision, sums=right, parameters=counted(held, declared), qualifies=qualifies, **told)


def judge_submission(path: Path, pairs: int = PAIRS, report: Report = silent) -> Judged:
    """Judge a file in the form of the list; raises `PredictionError` for another."""
    answer, model, metadata = submitted(path)
    asked, texts = problems(pairs), []
    for problem in asked:
        texts += answer([problem.prompt])
        report(len(texts), len(asked))
    weights = f"by {metadata.get('author', 'nobody named')}; {metadata['params'] or 'no'} parameters declared"
    rules = {"1 to 4": f"for a person to read: {metadata.get('architecture', 'no architecture declared')}"}
    right, name = sums(asked, Answers(texts, str(metadata.get("error", "")))), str(metadata.get("name", path.stem))
    return _judged(model, metadata["params"], right, model=name, weights=weights, rules=rules)


def judge(spec: Spec, weights: Path | None, name: str, pairs: int = PAIRS, report: Report = silent) -> Judged:
    """Let a model of this suite answer; raises `PredictionError` for one that adds no two numbers."""
    data = TaskData(spec, seed=0)
    if not adds(data):
        raise PredictionError(f"{name} adds no two numbers, its task is {spec.data.task.name}: name one that does")
    module, asked = load(spec, weights), problems(pairs)
    given = answers(data, module, [problem.operands for problem in asked], report)
    layers, longest = spec.model.layers, spec.data.task.longest
    beyond = f"; none of {DIGITS}, so it is tested beyond its trained range" if longest < DIGITS else ""
    origin = "hand-coded" if weights is None else f"trained on numbers of up to {longest} digits{beyond}"
    rules = {
        "1 self-attention": f"kept: {layers} layer{'s' * (layers != 1)} of {spec.model.heads} heads",
        "2 autoregressive": IN_ORDER if module.writes_in_order and module.spec.causal else AT_ONCE,
        "3 forward pass": "kept: tokens and position ids in, logits out",
        "4 no work by code": COUNTED if spec.data.position_ids.COUNTS_TOKENS else BY_MEANING,
    }
    return _judged(module, 0, sums(asked, given), model=name, weights=origin, rules=rules)


def plain(judged: Judged) -> dict[str, object]:
    """Return the result of the check as data for JSON."""
    counts = {"sums": judged.sums._asdict(), "parameters": judged.parameters._asdict()}
    return dataclasses.asdict(judged) | counts


def text(judged: Judged, before: Sequence[Judged] = (), width: int = WIDTH) -> str:
    """Return the result of the check, a line for each point; rules in short if ``before`` has the same text in full."""
    right, held = judged.sums, judged.parameters
    verdict = f"{QUALIFIES:.0%} are asked: {'met' if judged.qualifies else 'not met'}"
    if right.drawn != PAIRS:
        verdict = f"no verdict: {PAIRS:,} pairs are asked"
    zeros = f"{held.positions:,} of them encode positions, {held.zeros:,} are zero"
    lines = {
        "model": judged.model,
        "weights": judged.weights,
        "precision": judged.precision,
        "edge cases": f"{right.edges} of {len(EDGES)} right",
        "random pairs": f"{right.pairs:,} of {right.drawn:,} right (seed {SEED})",
        "together": f"{100 * right.share:.2f} %; {verdict}",
        "parameters": f"{held.unique:,}, shared ones once; {zeros}",
        **{f"rule {rule}": _shortened(rule, verdict, before) for rule, verdict in judged.rules.items()},
        **{f"wrong {number}": line for number, line in enumerate(right.wrong, start=1)},
    }
    if right.refused:
        lines["no sum"] = f"{right.refused}, counted as wrong: {right.why}"
    left = max(map(len, lines)) + 2
    return "\n".join(
        textwrap.fill(line, min(WIDTH, width), initial_indent=name.ljust(left), subsequent_indent=" " * left)
        for name, line in lines.items()
    )


def _shortened(rule: str, verdict: str, before: Sequence[Judged]) -> str:
    """Return the text on a rule: its first words alone if a model above has the same in full."""
    above = any(other.rules[rule] == verdict for other in before)
    answer, _, words = verdict.partition(":")
    return f"{answer}: the same as said above" if above and len(words) > WIDTH else verdict

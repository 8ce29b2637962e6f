"""Problems put to a model: one as it is read, one as it is solved with what its residual stream shows, and many."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lengen.data.batch_and_random_spaces import response_start
from lengen.data.batch_writer import Writer
from lengen.data.reading_problems import cleaned
from lengen.data.reading_responses import can_run_free, final_answer
from lengen.data.task_data import TaskData, targets
from lengen.decoding.decoding import generate, most_likely, true_responses
from lengen.digits import OperandError, Problems
from lengen.model_probing import probe
from lengen.models import Decoder, Transformer
from lengen.part import LONGEST, SettingError
from lengen.settings import model as architectures
from lengen.settings.spec import Spec
from lengen.tasks.base import Task
from lengen.tasks.two_operand_addition import TwoOperandAddition
from lengen.training.model_building import few_threads, load

AT_ONCE = 500
"""Problems of one batch."""


def encode(spec: Spec, operands: list[str], task: str = "") -> dict[str, Any]:
    """Return the tokens, position ids (one row per level, test-time offset) and loss mask of one problem.

    ``task`` names an auxiliary task; without it the main one is asked. Beside an encoder these three stand under
    "source" and under "target". Raises `OperandError` for operands that the task cannot take or that exceed the maximum
    position id.
    """
    data = TaskData(spec, seed=0)
    chosen, writer = data.trained(task or spec.data.task.name)
    batch = writer.write(_parsed(spec, chosen, operands))

    def side(tokens: Tensor, ids: Tensor, loss: Tensor) -> dict[str, list[Any]]:
        texts = [data.vocab.decode([token]) or "PAD" for token in tokens[0]]
        return {"tokens": texts, "position_ids": ids[:, 0].tolist(), "loss": loss[0].int().tolist()}

    target = side(batch.tokens, batch.ids, targets(batch, spec.train.loss))
    if batch.source is None:
        return target
    nothing = torch.zeros_like(batch.source.tokens)
    return {"source": side(batch.source.tokens, batch.source.ids, nothing), "target": target}


def _parsed(spec: Spec, task: Task, operands: list[str]) -> Problems:
    """Return one problem.

    Raises `OperandError` or `SettingError` for operands that the task or the model cannot take.
    """
    longest = max([len(operands), *map(len, operands)])
    if longest > LONGEST:
        raise OperandError(f"{longest} digits or operands are too many: expected at most {LONGEST}")
    problems = task.parse(operands)
    spec.admit(tuple(problems.lengths[0].tolist()))
    return problems


Solved = dict[str, object]
"""Of a problem, what `answer` returns."""
Report = Callable[[int, int], None]
"""Receiver of progress: how much is done, and of how much."""


def silent(done: int, of: int) -> None:
    """Report nothing."""


def solve(spec: Spec, weights: Path | None, operands: list[str], task: str = "", report: Report = silent) -> Solved:
    """Return `answer` of the model with these weights, or of the one that the specification constructs."""
    return answer(TaskData(spec, seed=0), load(spec, weights), operands, task, report)


def solve_each(spec: Spec, weights: Path | None, problems: Iterable[list[str]], task: str = "") -> Iterator[Solved]:
    """Yield `solve` for one problem after the other, by a model that is loaded once."""
    data, model = TaskData(spec, seed=0), load(spec, weights)
    for operands in problems:
        yield answer(data, model, operands, task)


@torch.no_grad()
def answer(data: TaskData, model: Transformer, operands: list[str], task: str = "", report: Report = silent) -> Solved:
    """Return the greedy free-running response of a trained or constructed model to one problem.

    The model does not see the answer.

    Returns ``prompt`` and ``output`` as text, the true ``answer``, whether the final answer of the output is
    ``correct``, and that final answer as it ``read``s: as a plain number, but in sub-tasks and auxiliary tasks as it is
    written; and a ``note`` if no problem of training is of this kind. ``task`` names an auxiliary task; without it the
    main one is asked. ``report`` is told of every token: how many are written, and how many there are at most.
    """
    spec = data.spec
    if not can_run_free(spec.data):
        fault = "this format cannot be solved free-running: without padding and most significant digit first"
        raise SettingError(f"{fault}, the id of a digit depends on a length not yet written; choose another variant")
    chosen, writer = data.trained(task or spec.data.task.name)
    problems = _parsed(spec, chosen, operands)
    batch = writer.write(problems)
    prompt = batch.tokens[:, : int(response_start(batch)[0])] if batch.source is None else batch.source.tokens
    vocab = data.vocab
    most = int(writer.plan(problems)[1].max())

    def choose(logits: Tensor, rows: Tensor, slots: Tensor) -> Tensor:
        report(int(slots.max()), most)
        return most_likely(logits, rows, slots)

    with few_threads(model):
        written = generate(model, writer, problems, choose=choose)
    ((truth,), (text,)) = (read(writer, chosen, response) for response in (true_responses(batch), written))
    note = unlike_training(chosen, problems)
    solved: Solved = {"prompt": vocab.decode(prompt[0]), "output": vocab.decode(written[0]), "answer": truth}
    return solved | {"correct": text == truth, "read": text} | ({"note": note} if note else {})


def in_words(solved: Mapping[str, object]) -> list[str]:
    """Return the lines in which people are shown a solution, and what else stands beside it."""
    names = {"read": "model says", "answer": "expected"}
    order = ("prompt", "output", "read", "answer", "correct", "note", "model")
    shown = {key: str(solved[key]) for key in order if key in solved}
    return [f"{names.get(key, key):<12}{text.lower() if key == 'correct' else text}" for key, text in shown.items()]


def in_a_line(solved: Mapping[str, object]) -> str:
    """Return one of many solutions: the problem, what the model says and, if that is wrong, what was expected."""
    verdict = "right" if solved["correct"] else f"wrong, expected {solved['answer']}"
    return f"{solved['prompt']} {solved['read']} ({verdict})"


def unlike_training(task: Task, problems: Problems) -> str:
    """Return one sentence if a task is trained and tested on operands of equal length and these differ.

    Else nothing.
    """
    lengths = problems.lengths[0].tolist()
    if not isinstance(task, TwoOperandAddition) or len(set(lengths)) == 1:
        return ""
    trained = task.trained_lengths
    span = f"{trained[0]} to {trained[-1]}" if len(trained) == trained[-1] - trained[0] + 1 else f"{list(trained)}"
    return f"the model was trained and tested on operands of equal length, {span} digits; these have {lengths}"


def read(writer: Writer, task: Task, responses: Tensor) -> list[str]:
    """Return the final answers of responses (B, R) as text: plain numbers, those of other tasks as written."""
    format = writer.format
    backwards = format.reversed_answer and not format.last_token_only and not task.UNITS_FIRST
    texts = []
    for answer in final_answer(format, writer.vocab, responses):
        text = writer.vocab.decode(answer)
        if not writer.output:
            plain = format.plain_answer and text.isalnum()
            text = cleaned(text, number=True, units_first=backwards) if plain else text[::-1] if backwards else text
        texts.append(text)
    return texts


class Answers(NamedTuple):
    """Answers in the order of the problems."""

    texts: list[str | None]
    """None for a problem that the model cannot be given."""
    why: str = ""
    """The sentence of the first of those."""


def answers(data: TaskData, model: Transformer, rows: Sequence[Sequence[str]], report: Report = silent) -> Answers:
    """Let a model answer problems, given by their operands, token by token; ``report`` gets their number so far."""
    task, writer = data.trained(data.spec.data.task.name)
    texts: list[str | None] = [None] * len(rows)
    why = "" if can_run_free(data.spec.data) else "this format cannot be written without its true answer"
    groups: dict[tuple[int, ...], list[tuple[int, Problems]]] = {}
    done = 0
    for place, row in enumerate(rows):
        try:
            problem = task.parse(list(row))
            shape = tuple(problem.lengths[0].tolist())
            data.spec.admit(shape)
            groups.setdefault(shape, []).append((place, problem))
        except (OperandError, SettingError) as error:
            why, done = why or str(error), done + 1
    for group in groups.values() if can_run_free(data.spec.data) else ():
        for start in range(0, len(group), AT_ONCE):
            places, parts = zip(*group[start : start + AT_ONCE], strict=True)
            problems = Problems.joined(parts)
            try:
                for place, text in zip(places, read(writer, task, generate(model, writer, problems)), strict=True):
                    texts[place] = text
            except (OperandError, SettingError) as error:
                why = why or str(error)
            done += len(parts)
            report(done, len(rows))
    return Answers(texts, why)


def probe_trained(spec: Spec, weights: Path | None, operands: list[str]) -> dict[str, np.ndarray]:
    """Return `probe` of a stored or constructed model; raises `SettingError` if there is nothing to project on."""
    if not isinstance(spec.model.architecture, architectures.Decoder) or spec.model.tied:
        fault = "probes need model.architecture=decoder with an output head of its own, model.tied=false"
        raise SettingError(f"model.tied={str(spec.model.tied).lower()}: {fault}")
    model = load(spec, weights)
    assert isinstance(model, Decoder)
    return probe(model, TaskData(spec, 0), operands)

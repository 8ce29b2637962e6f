"""The problems of a setting as lines of plain data: those that it is tested on, and its stream of training."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from lengen.benchmark.problem import Problem
from lengen.benchmark.scoring import MODE, Prediction, PredictionError, by_id
from lengen.data.batch_and_random_spaces import Batch, response_start
from lengen.data.reading_problems import cleaned
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import true_responses
from lengen.digits import OperandError
from lengen.metrics import count as metric_counts
from lengen.part import SettingError
from lengen.results.records import Counts, Grid
from lengen.tasks.base import typed

JsonLine = dict[str, Any]


def of_tests(data: TaskData, name: str, examples: int) -> str:
    """Return the beginning of ids of test problems: the name, then a seed and a number of examples that are not usual.

    Usual are seed 0 and all examples that the setting tests; others draw other problems.
    """
    seed = f"/seed={data.seed}" if data.seed else ""
    part = f"/examples={examples}" if examples != data.spec.test.examples else ""
    return f"{name}{seed}{part}"


def tests(data: TaskData, cells: Iterable[tuple[int, int]], examples: int, name: str) -> Iterator[JsonLine]:
    """Yield the test problems of cells, with prompt and response as the setting writes them beside the plain ones.

    Raises `SettingError` for a task whose operands cannot be read back.
    """
    task, writer, start = data.task, data.writer, of_tests(data, name, examples)
    operator = task.SIGNS.operator or " "
    for length, count in cells:
        problems = data.test(length, count, examples)
        rows, answers = typed(task, problems), task.text(problems)
        is_read_back = False
        with suppress(OperandError):
            is_read_back = task.text(task.parse(rows[0])) == answers[:1]
        if not is_read_back:
            fault = f"problems of {task.name} have no plain operands that it reads back"
            raise SettingError(f"{fault}; choose another task")
        batch = writer.write(problems)
        for place, (row, answer) in enumerate(zip(rows, answers, strict=True)):
            id = f"{start}/length={length}/count={count}/{place:05}"
            operands, prompt = tuple(row), operator.join(row) + "="
            problem = Problem(id, data.spec.data.task.name, length, count, operands, prompt, answer)
            yield problem._asdict() | _written(data, batch, place)


def training(data: TaskData, steps: Iterable[int], name: str) -> Iterator[JsonLine]:
    """Yield the training examples of steps as the setting writes them, exactly those that a run of this seed sees."""
    for step in steps:
        batch = data.batch(step)
        for place, tokens in enumerate(batch.tokens):
            text = data.vocab.decode(tokens)
            if batch.source is not None:
                text = data.vocab.decode(batch.source.tokens[place]) + text
            id = f"{name}/train/seed={data.seed}/step={step}/{place:04}"
            yield {"id": id, "task": data.spec.data.task.name, "text": text, "split": "train"}


def _written(data: TaskData, batch: Batch, place: int) -> JsonLine:
    tokens: Tensor = batch.tokens[place]
    if batch.source is not None:
        text = data.vocab.decode(batch.source.tokens[place])
        return {"written_prompt": text, "written_response": data.vocab.decode(tokens[1:])}
    start = int(response_start(batch)[place])
    return {"written_prompt": data.vocab.decode(tokens[:start]), "written_response": data.vocab.decode(tokens[start:])}


def scored(data: TaskData, name: str, rows: Sequence[Prediction], units_first: bool = False) -> Grid:
    """Count predictions for a setting's own problems: ``raw`` ones by all metrics of its runs, or answers.

    Raises `PredictionError` for an id that no problem has, or for both kinds in one cell.
    """
    test, predicted = data.spec.test, by_id(rows)
    grid = Grid(("length", "count") if len(test.counts) > 1 else ("length",))
    named = (re.search(r"/examples=(\d+)/", id) for id in predicted)  # by `of_tests`
    examples = next((int(number[1]) for number in named if number), test.examples)
    start, known = of_tests(data, name, examples), set()
    kind = {"number": data.task.ROWS.numbers, "apart": not data.task.ROWS.numbers}
    for length, second in product(test.lengths, test.counts):
        prefix = f"{start}/length={length}/count={second}/"
        if predicted and not any(id.startswith(prefix) for id in predicted):
            continue  # a cell that was left out as a whole
        problems = data.test(length, second, examples)
        ids = [f"{prefix}{place:05}" for place in range(len(problems.lengths))]
        known |= set(ids)
        answers = [predicted.get(id, {}) for id in ids]
        if any("raw" in row for row in answers):
            if any("prediction" in row for row in answers):
                raise PredictionError(f"{prefix}: some rows have raw and some have prediction; give one of both in all")
            texts = [data.vocab.encode(str(row.get("raw") or ""), unknown=len(data.vocab)) for row in answers]
            written, true = pad_sequence(texts, batch_first=True), true_responses(data.writer.write(problems))
            counts = metric_counts(written, true, data.format, data.vocab, own_text=True)
        else:
            right = sum(
                "prediction" in row
                and cleaned(str(row["prediction"]), units_first=units_first, **kind) == cleaned(answer, **kind)
                for row, answer in zip(answers, data.task.text(problems), strict=True)
            )
            counts = Counts(n=len(ids), correct=right, answer_correct=right)
        counts["absent"] = sum(not row for row in answers)
        grid.add((length, second)[: len(grid.axes)], MODE, counts)
    if unknown := predicted.keys() - known:
        raise PredictionError(
            f"{len(unknown)} predictions are of no problem of {name}, such as {min(unknown)}: score with the --profile "
            f"and --seed of their export; expected ids such as {start}/length={test.lengths[0]}/"
            f"count={test.counts[0]}/00000"
        )
    return grid

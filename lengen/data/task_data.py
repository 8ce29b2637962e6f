"""The data of one specification and seed: training batches by step, validation examples, test cells; no Lightning."""

import dataclasses

from lengen.config.spec import DataSpec, Spec, SpecError, check, nearest
from lengen.config.token_counts import VALIDATION
from lengen.data.random_spaces import Spaces
from lengen.data.training_batches import Stream, TrainBatch
from lengen.data.writer import Batch, Writer
from lengen.formats import build_format
from lengen.position_ids import build_position_ids
from lengen.randomness import generator
from lengen.tasks import OF_NUMBERS, SEQUENCES, Problems, SequenceTask, Task, build_task


class TaskData:
    """Training, validation and test problems of one specification and seed.

    With auxiliary tasks training alternates: step s trains task s modulo their number, the main one first, and each has
    an equal part of the training set (Section 3.1 of "Improving Length-Generalization in Transformers via Task
    Hinting").
    """

    def __init__(self, spec: Spec, seed: int) -> None:
        check(spec)
        self.spec = spec
        self.seed = seed
        self.task, self.writer = self._written(spec.data, 0)
        self.format = self.writer.format
        if spec.train.one_length and not isinstance(self.task, SequenceTask):
            raise SpecError("train.one_length=true: only tasks on sequences draw examples of one length")
        examples = spec.data.examples // (1 + len(spec.data.hints))
        self.streams = [Stream(spec, self.task, self.writer, seed, examples)]
        for output, hint in enumerate(spec.data.hints, start=1):
            _check_hint(spec.data, hint)
            task, writer = self._written(dataclasses.replace(spec.data, task=hint, hints=()), output)
            self.streams.append(Stream(spec, task, writer, seed, examples, hint))

    def trained(self, name: str) -> tuple[Task, Writer]:
        """The main task or an auxiliary one by its name, and what writes its problems; raises `SpecError`."""
        names = [self.spec.data.task, *self.spec.data.hints]
        if name not in names:
            raise SpecError(f"'{name}' is no task of this setting; it trains {', '.join(names)}")
        stream = self.streams[names.index(name)]
        return stream.task, stream.writer

    def _written(self, data: DataSpec, output: int) -> tuple[Task, Writer]:
        """A task and what writes its problems."""
        format = build_format(data)
        split = self.spec.model.architecture == "encoder_decoder"
        spaces = None
        if data.spaces:
            spaces = Spaces(data.spaces, format.vocab.id(" "), data.fresh_spaces, self.seed)
        return build_task(data), Writer(format, build_position_ids(data, format.levels), split, spaces, output)

    def batch(self, step: int) -> TrainBatch:
        """The training batch of a step, the same whenever it is asked for."""
        number, which = divmod(step, len(self.streams))
        return self.streams[which].batch(number)

    def main_steps(self, steps: int) -> int:
        """How many of the first ``steps`` steps train the main task."""
        return -(-steps // len(self.streams))

    def validation(self) -> Batch:
        """In-distribution examples with the test-time offset, from a stream of their own."""
        data = self.spec.data
        stream = generator("validation", self.seed)
        return self.writer.write(self.task.validation(VALIDATION, data.length, data.count, stream))

    def test(self, length: int, count: int, examples: int) -> Problems:
        """Test problems of one cell; the same for every model and every seed of a task."""
        return self.task.test(examples, length, count, generator(f"test {self.spec.data.task}", length, count))


def _check_hint(data: DataSpec, hint: str) -> None:
    """Raise `SpecError` for what is no auxiliary task of ``data.task``."""
    if hint not in SEQUENCES:
        raise SpecError(
            f"data.hints={list(data.hints)}: {hint}: unknown auxiliary task{nearest(hint, list(SEQUENCES))}"
        )
    if data.hints.count(hint) > 1:
        raise SpecError(f"data.hints={list(data.hints)}: expected different auxiliary tasks")
    if (hint in OF_NUMBERS) != (data.task in OF_NUMBERS):
        raise SpecError(f"data.hints={list(data.hints)}: {hint} has other symbols than {data.task}")

"""The data of one specification and seed: training batches by step, validation examples, test cells; no Lightning."""

from collections.abc import Sequence
from typing import Any

from lengen.data.batch import Batch, TrainBatch
from lengen.data.first_batch import check_first_batch
from lengen.data.random_spaces import Spaces
from lengen.data.training_batches import Stream
from lengen.data.writer import Writer
from lengen.digits.problems import Problems, whole
from lengen.digits.randomness import generator
from lengen.part import LONGEST, SettingError
from lengen.settings.model import EncoderDecoder
from lengen.settings.sections import VALIDATION
from lengen.settings.spec import Spec, from_dict, validate
from lengen.tasks.base import Task

CHECKED = 10_000
"""Problems of a cell that are written before anything trains, to see whether there is room for them."""


class TaskData:
    """Training, validation and test problems of one specification and seed.

    With auxiliary tasks training alternates: step s trains task s modulo their number, the main one first, and each has
    an equal part of the training set (Section 3.1 of "Improving Length-Generalization in Transformers via Task
    Hinting"). An auxiliary task has lengths of its own: where they go beyond those of the main task this is
    extrapolation by association (2506.09251), in which the length of a related, longer task is reported to carry over
    to the short one for variants of addition, operations on strings and mazes; there all tasks share one output head.

    Args:
        spec: The specification, or what its `to_dict` gives.
        seed: Decides the training and validation problems.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("copy", digits=3), seed=0)
        >>> data.vocab.decode(data.writer.write(data.task.parse(["041"])).tokens[0])
        '$041=041$'
    """

    def __init__(self, spec: Spec | dict[str, Any], seed: int) -> None:
        self.spec = spec = spec if isinstance(spec, Spec) else from_dict(spec)
        validate(spec)
        self.seed = whole("seed", seed, least=0)
        self.vocab = spec.data.vocab
        self.streams = [self._stream(output, task) for output, task in enumerate((spec.data.task, *spec.data.hints))]
        self.task, self.writer = self.streams[0].task, self.streams[0].writer
        self.format = self.writer.format
        for stream in self.streams:
            check_first_batch(stream.task, stream.writer)

    def trained(self, name: str) -> tuple[Task, Writer]:
        """Return the main task or an auxiliary one by its name, and what writes its problems; raises `SettingError`."""
        trained = (self.spec.data.task, *self.spec.data.hints)
        for task, stream in zip(trained, self.streams, strict=True):
            if name == task.name:
                return stream.task, stream.writer
        known = ", ".join(task.name for task in trained)
        raise SettingError(f"'{name}' is not a task of this setting; it trains {known}")

    def _stream(self, output: int, given: Task) -> Stream:
        """Return the training batches of the main task (``output`` 0) or of an auxiliary one."""
        data = self.spec.data
        format = data.format.build(given)
        task = given.with_subtasks(format.kinds)
        spaces = None
        if data.spaces is not None:
            spaces = Spaces(data.spaces.ratio, self.vocab.id(" "), data.spaces.fresh, self.seed)
        # Operations and brackets stand behind the digits among the symbols of a task, and are none.
        digits = sum(symbol.isalnum() for symbol in task.symbols)
        architecture = self.spec.model.architecture
        hands_over = isinstance(architecture, EncoderDecoder) and architecture.hands_over
        writer = Writer(
            task, format, self.vocab, data.position_ids, architecture.SPLIT, spaces, output, hands_over, digits
        )
        examples = data.examples // (1 + len(data.hints))
        return Stream(self.spec, task, writer, self.seed, examples, task.name if output else "")

    def check_room(self, problems: Problems) -> None:
        """Raise `OperandError` if the position ids or the format have no room for these problems or their responses."""
        self.writer.write(problems)
        self.writer.plan(problems)

    def check_cells(self, lengths: Sequence[int], counts: Sequence[int], examples: int) -> None:
        """Raise `OperandError` or `SettingError` for test cells that have no problems, or no room (`check_room`)."""
        self._check_cell(max(lengths), max(counts), examples)
        for count in counts:  # the more repeats, the fewer numbers an alphabet has to have
            for length in (min(lengths), max(lengths)):
                self.test(length, count, 1)

    def _check_cell(self, length: int, count: int, examples: int) -> None:
        self.check_room(self.test(length, count, min(examples, CHECKED)))  # all of a cell have its length

    def check_all(self) -> None:
        """Raise, before anything trains, for what is tested, validated or probed and has no problems or no room."""
        test = self.spec.test
        self.check_cells(test.lengths, test.counts, test.examples)
        for length, count in test.attention:
            self._check_cell(length, count, test.examples)
        self.check_room(self.validation_problems())
        for operands in test.probes:
            self.check_room(self.task.parse(list(operands)))

    def batch(self, step: int) -> TrainBatch:
        """Return the training batch of a step, the same at every call."""
        number, which = divmod(whole("step", step, least=0), len(self.streams))
        return self.streams[which].batch(number)

    def train_on(self, problems: Problems) -> None:
        """Train the main task on these problems; raises `SettingError` if batches share one length."""
        if self.spec.train.one_length:
            raise SettingError("train.one_length=true draws batches of one length; set it to false to train on a file")
        self.streams[0].fix(problems)

    def main_steps(self, steps: int) -> int:
        """Count the training steps of the main task among the first ``steps``."""
        return -(-steps // len(self.streams))

    def validation(self) -> Batch:
        """Draw in-distribution examples with the test-time offset, drawn from a stream of their own."""
        return self.writer.write(self.validation_problems())

    def validation_problems(self) -> Problems:
        """Return the problems of `validation`."""
        return self.task.validation(VALIDATION, generator("validation", self.seed))

    def test(self, length: int, count: int, examples: int) -> Problems:
        """Return test problems of one cell; the same for every model and every seed of a task.

        Raises `OperandError` for a length, a count or a number of examples that no cell has, and `SettingError` for a
        count that no problem of the task has.
        """
        length, count = whole("length", length, LONGEST), whole("count", count, LONGEST)
        self.task.check_counts((count,))
        examples = whole("examples", examples)
        stream = generator(f"test {self.spec.data.task.name}", length, count)
        return self.task.test(examples, length, count, stream)

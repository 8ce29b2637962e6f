"""The data of one specification and seed: training batches by step, validation examples, test cells; no Lightning."""

from lengen.config import tasks as parts
from lengen.config.sections import VALIDATION
from lengen.config.spec import Spec, SpecError, check
from lengen.data.batch import Batch, TrainBatch
from lengen.data.random_spaces import Spaces
from lengen.data.training_batches import Stream
from lengen.data.writer import Writer
from lengen.randomness import generator
from lengen.tasks import Problems, Task
from lengen.vocab import PRINTABLE, Vocab


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
        self.vocab = vocabulary(spec)
        self.task, self.writer = self._written(spec.data.task, 0)
        self.format = self.writer.format
        examples = spec.data.examples // (1 + len(spec.data.hints))
        self.streams = [Stream(spec, self.task, self.writer, seed, examples)]
        for output, hint in enumerate(spec.data.hints, start=1):
            task, writer = self._written(hint, output)
            self.streams.append(Stream(spec, task, writer, seed, examples, hint.name))

    def trained(self, name: str) -> tuple[Task, Writer]:
        """The main task or an auxiliary one by its name, and what writes its problems; raises `SpecError`."""
        trained = (self.spec.data.task, *self.spec.data.hints)
        for part, stream in zip(trained, self.streams, strict=True):
            if name == part.name:
                return stream.task, stream.writer
        raise SpecError(f"'{name}' is not a task of this setting; it trains {', '.join(part.name for part in trained)}")

    def _written(self, part: parts.Task, output: int) -> tuple[Task, Writer]:
        """A task and what writes its problems."""
        data = self.spec.data
        format, task = data.format.build(part), part.build()
        task.ask(format.kinds)
        spaces = None
        if data.spaces is not None:
            spaces = Spaces(data.spaces.ratio, self.vocab.id(" "), data.spaces.fresh, self.seed)
        scheme = data.position_ids.build(len(part.symbols))
        split = self.spec.model.architecture.SPLIT
        return task, Writer(task, format, self.vocab, scheme, split, spaces, output)

    def batch(self, step: int) -> TrainBatch:
        """The training batch of a step, the same whenever it is asked for."""
        number, which = divmod(step, len(self.streams))
        return self.streams[which].batch(number)

    def main_steps(self, steps: int) -> int:
        """How many of the first ``steps`` steps train the main task."""
        return -(-steps // len(self.streams))

    def validation(self) -> Batch:
        """In-distribution examples with the test-time offset, drawn from a stream of their own."""
        return self.writer.write(self.task.validation(VALIDATION, generator("validation", self.seed)))

    def test(self, length: int, count: int, examples: int) -> Problems:
        """Test problems of one cell; the same for every model and every seed of a task."""
        stream = generator(f"test {self.spec.data.task.name}", length, count)
        return self.task.test(examples, length, count, stream)


def vocabulary(spec: Spec) -> Vocab:
    """The symbols of a setting: those of its format, with the space where queries may hold some; or all printable."""
    data = spec.data
    if data.vocabulary == "printable":
        return PRINTABLE
    symbols = [symbol for task in (data.task, *data.hints) for symbol in data.format.build(task).symbols]
    return Vocab(tuple(dict.fromkeys(symbols if data.spaces is None else [*symbols, " "])))

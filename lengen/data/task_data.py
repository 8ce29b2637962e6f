"""The data of one specification and seed: training batches by number, validation examples, test cells; no Lightning.

``bucket`` batches are drawn together, sorted by length and cut, so that a batch pads little. Every example of the
published distribution keeps its weight: the loss of a batch is its sum over target tokens divided by the mean number
of targets in its window (`Batch.scale`), so a batch of short examples counts for as little as its tokens do.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lengen.data.batch_and_random_spaces import Batch, Spaces
from lengen.data.batch_writer import Writer
from lengen.digits import OperandError, Problems, generator, whole
from lengen.formats.base import PAD, Layout, Written
from lengen.part import LONGEST, SettingError
from lengen.settings.model import EncoderDecoder
from lengen.settings.sections import VALIDATION
from lengen.settings.spec import Spec, from_dict, validate
from lengen.tasks.base import ANSWER, OPERANDS, Task, typed
from lengen.tasks.sequence_base import Skewed


@dataclass(eq=False)
class Stream:
    """The training batches of one task.

    ``name`` keeps the random numbers of auxiliary tasks apart; the main one has none. ``examples`` is the size of the
    training set, 0 for fresh examples without end.
    """

    spec: Spec
    task: Task
    writer: Writer
    seed: int
    examples: int
    name: str = ""

    def __post_init__(self) -> None:
        self.suffix = f" {self.name}" if self.name else ""
        self._window: tuple[int, list[Batch]] = (-1, [])
        self._fixed: Problems | None = None

    def fix(self, problems: Problems) -> None:
        """Take these problems as the training set."""
        self.examples, self._fixed = len(problems.lengths), problems.packed()

    def batch(self, number: int) -> Batch:
        """Return the batch of that number, the same at every call."""
        window, place = divmod(number, self.spec.train.bucket)
        if self._window[0] != window:
            self._window = (window, self._draw(window))
        return self._window[1][place]

    def _draw(self, window: int) -> list[Batch]:
        stream = generator("train" + self.suffix, self.seed, window)
        batches = [batch._replace(loss=targets(batch, self.spec.train.loss)) for batch in self._written(window, stream)]
        scale = torch.tensor(sum(int(batch.loss.sum()) for batch in batches) / len(batches))
        shuffled = torch.randperm(len(batches), generator=stream).tolist()
        return [batches[place]._replace(scale=scale) for place in shuffled]

    def written(self, window: int) -> list[Batch]:
        """Return the batches that are drawn together, by length.

        Their responses are targets whatever is trained on.
        """
        return self._written(window, generator("train" + self.suffix, self.seed, window))

    def _written(self, window: int, stream: torch.Generator) -> list[Batch]:
        train = self.spec.train
        problems = self._problems(window, train.batch * train.bucket, stream)
        order = torch.argsort(self.writer.lengths(problems), stable=True)
        return [self.writer.write(problems.select(part), stream) for part in torch.split(order, train.batch)]

    def _problems(self, window: int, n: int, stream: torch.Generator) -> Problems:
        """Return fresh problems, a streamed set's, or the next ``n`` of the fixed set in the order of its epoch."""
        if self.spec.train.one_length:
            assert isinstance(self.task, Skewed)
            drawn = stream if self.examples == 0 else self._streamed(window)
            lengths = self.task.draw_lengths(self.spec.train.bucket, drawn)
            return self.task.of_lengths(lengths.repeat_interleave(self.spec.train.batch), drawn)
        if self.examples == 0:
            return self.task.train(n, stream)
        if self._fixed is None:
            self._fixed = self.task.fixed_set(self.examples, self.seed)
        place = torch.arange(window * n, (window + 1) * n)
        index = torch.empty_like(place)
        for epoch in range(int(place[0]) // self.examples, int(place[-1]) // self.examples + 1):
            order = torch.randperm(self.examples, generator=generator("order", self.seed, epoch))
            here = place // self.examples == epoch
            index[here] = order[place[here] % self.examples]
        chosen = self._fixed.select(index)
        kinds = None if chosen.kinds is None else chosen.kinds.long()
        return Problems(chosen.operands.long(), chosen.lengths.long(), kinds)

    def _streamed(self, window: int) -> torch.Generator:
        """Return the generator that draws a window of a streamed training set, anew in every epoch.

        The set is never stored.

        The set is as many whole windows as fit into ``examples``; an epoch shuffles them.
        """
        windows = self.examples // (self.spec.train.batch * self.spec.train.bucket)
        epoch, place = divmod(window, windows)
        order = torch.randperm(windows, generator=generator("order" + self.suffix, self.seed, epoch))
        return generator("set" + self.suffix, self.seed, int(order[place]))


def targets(batch: Batch, loss: str) -> Tensor:
    """Return (B, T) bool: the tokens that a specification trains on.

    These are the response or all but the first (`TrainSpec.loss`).
    """
    return batch.loss if loss == "response" else (batch.tokens != PAD) & (torch.arange(batch.tokens.shape[1]) > 0)


# The first batch: what the methods of a task, its format and its position ids return, checked once, before it is used.
# A wrong one would train without a word, or fail far from here: digits that are missing read as zeros, those below zero
# as the last symbols.


FIRST_BATCH = 8
"""Problems of a first batch."""


def check_first_batch(task: Task, writer: Writer) -> None:
    """Raise `SettingError` for the first method that returns what it must not; nothing else has changed afterwards.

    Problems that a model has no room for are left to `TaskData.check_cells`.
    """
    stream = generator("first batch", 0)
    problems = task.train(FIRST_BATCH, stream)
    _check_task(task, problems)
    try:
        _check_format(task, writer.format, problems)
        batch = writer.write(problems, stream)
    except OperandError:
        return
    where = f"{type(writer.scheme).__name__}.ids"
    for part in (batch, batch.source) if batch.source else (batch,):
        (rows, length), held = part.tokens.shape, tuple(part.ids.shape)
        _check_integers(where, part.ids, (writer.scheme.levels, None, length))
        _expect(held[1] in (1, rows), where, f"shape {held}", f"(levels, {rows} or 1, {length})")
    responds = bool(batch.loss.any(dim=1).all())
    _expect(responds, f"{type(writer.format).__name__}.layout", "a sequence without response", RESPOND)


RESPOND = "Layout.respond() before it"


def _check_task(task: Task, problems: Problems) -> None:
    """Check the problems that a task draws, their answers, and what it reads of a text."""
    name = type(task).__name__
    _expect(isinstance(problems, Problems), f"{name}.train", type(problems).__name__, "lengen.digits.Problems")
    symbols = task.first() + len(task.all_symbols)
    _check_integers(f"{name}.train, operands", problems.operands, (FIRST_BATCH, None, None), symbols)
    _check_integers(f"{name}.train, lengths", problems.lengths, (FIRST_BATCH, problems.operands.shape[1]))
    digits = max(task.extent(tuple(shape)).answer for shape in task.shapes(problems).tolist())
    answers = task.answer(problems)
    _check_integers(f"{name}.answer", answers, (FIRST_BATCH, None), symbols)
    promised = f"({FIRST_BATCH}, {digits}): the digits that {name}.extent promises"
    _expect(answers.shape[1] >= digits, f"{name}.answer", f"shape {tuple(answers.shape)}", promised)
    for row, text in zip(typed(task, problems), task.text(problems), strict=True) if problems.kinds is None else ():
        with contextlib.suppress(OperandError):  # some tasks draw what nobody types
            read = task.text(task.parse(row))[0]
            _expect(read == text, f"{name}.parse({row})", f"a problem with the answer {read!r}", repr(text))


def _check_format(task: Task, format: Written, problems: Problems) -> None:
    """Check the rows of intermediate results and the layouts of a format."""
    for row in set(format.rows) - {OPERANDS, ANSWER}:
        stages = task.stages(row, problems, format.width)
        _check_integers(f"{type(task).__name__}.stages({row!r})", stages, (FIRST_BATCH, None, None))
    if format.exact:
        return
    for shape, size in zip(task.shapes(problems).tolist(), task.answer_sizes(problems).tolist(), strict=True):
        where, layout = f"{type(format).__name__}.layout({tuple(shape)})", format.layout(tuple(shape))
        _check_layout(where, layout, format)
        places = {digit.place for digit in layout.digits if digit and digit.row == ANSWER}
        missing = min(set(range(size)) - places, default=size) if places else size
        _expect(missing == size, where, f"no slot for place {missing} of an answer", "one for each")


def _check_layout(where: str, layout: Layout, format: Written) -> None:
    """Check the slots of a layout."""
    _expect(isinstance(layout, Layout), where, type(layout).__name__, "lengen.formats.base.Layout")
    slots, begins = len(layout.symbols), layout.response
    for column in ("digits", "coordinates", "hints"):
        held = len(getattr(layout, column))
        _expect(held == slots, where, f"{held} {column} of {slots} slots", "one for each")
    _expect(0 < begins < slots, where, f"a response that begins at slot {begins} of {slots}", RESPOND)
    wrong = {digit.row for digit in layout.digits if digit} - set(format.rows)
    _expect(not wrong, where, f"digits of rows {sorted(wrong)}", f"those that its rows name, {list(format.rows)}")
    right = all(len(place) == format.levels for place in layout.coordinates)
    _expect(right, where, "other numbers of coordinates", f"{format.levels} a slot, its levels")


def _check_integers(where: str, values: Tensor, shape: tuple[int | None, ...], below: int = 0) -> None:
    """Check type and shape, of which None is any, and that values are from 0 on, and below a bound if it is given."""
    _expect(isinstance(values, Tensor), where, type(values).__name__, "a tensor of integers")
    inexact = values.is_floating_point() or values.is_complex() or values.dtype == torch.bool
    _expect(not inexact, where, values.dtype, "integers, such as torch.int64")
    held, wanted = tuple(values.shape), tuple("any" if size is None else size for size in shape)
    fits = len(held) == len(shape) and all(want in ("any", have) for have, want in zip(held, wanted, strict=True))
    _expect(fits, where, f"shape {held}", wanted)
    low, high = (int(values.min()), int(values.max())) if values.numel() else (0, 0)
    span = f"0 to {below - 1}" if below else "at least 0"
    _expect(low >= 0 and (not below or high < below), where, f"values from {low} to {high}", span)


def _expect(right: bool, where: str, held: object, expected: object) -> None:
    if not right:
        raise SettingError(f"{where}: found {held}; expected {expected}")


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
        for stream in self.streams:
            if name == stream.task.name:
                return stream.task, stream.writer
        known = ", ".join(stream.task.name for stream in self.streams)
        raise SettingError(f"'{name}' is not a task of this setting; it trains {known}")

    def _stream(self, output: int, plain: Task) -> Stream:
        """Return the training batches of the main task (``output`` 0) or of an auxiliary one."""
        data = self.spec.data
        format = data.format.build(plain)
        task = plain.with_subtasks(format.kinds)
        spaces = None
        if data.spaces is not None:
            spaces = Spaces(data.spaces.ratio, self.vocab.id(" "), data.spaces.fresh, self.seed)
        architecture = self.spec.model.architecture
        hands_over = isinstance(architecture, EncoderDecoder) and architecture.hands_over
        writer = Writer(task, format, self.vocab, data.position_ids, architecture.SPLIT, spaces, output, hands_over)
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

    def batch(self, step: int) -> Batch:
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

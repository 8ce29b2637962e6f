"""The other sections of a setting: what is written, how it is trained and what is tested."""

import functools
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from lengen.formats.base import PRINTABLE, Format, Vocab, Written
from lengen.part import Count, Length, NotNegative, SettingError, Share, Size
from lengen.position_ids.base import PositionIds
from lengen.position_ids.sequence_places import Consecutive
from lengen.tasks.base import Task


class NumberFormat(NamedTuple):
    """Number format of all weights and sums of a model.

    Example:
        >>> import lengen
        >>> lengen.NUMBER_FORMATS["bf16-true"].bits
        8
    """

    name: str
    """As torch calls it."""
    bits: int
    """Significant bits: integers up to 2 to this power are exact."""


_FORMATS = (("32-true", "float32", 24), ("64-true", "float64", 53), ("bf16-true", "bfloat16", 8))
NUMBER_FORMATS = {precision: NumberFormat(name, bits) for precision, name, bits in _FORMATS}
"""By ``train.precision``, where weights and sums have one format."""
VALIDATION = 256
"""In-distribution examples that validate during training."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a setting that every setting has.

    Example:
        >>> import lengen
        >>> issubclass(lengen.DataSpec, lengen.Section)
        True
    """


class RandomSpaces(Section, frozen=True):
    """Random spaces in training queries.

    (Section 4.2.1 of "Length Generalization on Multi-Digit Integer Addition with Transformers").

    Example:
        >>> import lengen
        >>> spaces = lengen.RandomSpaces(ratio=0.5)
        >>> lengen.setting("two_operand_addition", spaces=spaces).data.spaces.ratio
        0.5
    """

    ratio: Share
    """Largest number of spaces, as a share of the query's tokens after ``$``, ``=`` included."""
    fresh: bool = True
    """Spaces are drawn anew whenever an example is seen; False: once for each problem."""


@dataclass(frozen=True)
class Trained:
    """Trained range: longest operand and second axis (operands, digits of the second factor; 1 for parity)."""

    length: int
    second: int
    lengths: frozenset[int] = frozenset()
    """Trained lengths where some below the longest are left out; empty: all of 1 to ``length``."""

    @property
    def size(self) -> tuple[int, int]:
        """Largest trained length and second value."""
        return self.length, self.second

    @property
    def every(self) -> tuple[int, ...]:
        """All trained lengths, ascending."""
        return tuple(sorted(self.lengths or range(1, self.length + 1)))

    def has(self, cell: Sequence[int]) -> bool:
        """Return True if a test cell was trained: its length, and its count if it has one.

        >>> span = Trained(5, 2, frozenset({1, 5}))
        >>> span.has((5, 2)), span.has((5,)), span.has((5, 3)), span.has((4, 2))
        (True, True, False, False)
        """
        length, second, *_ = (*cell, 1)
        return (length in self.lengths if self.lengths else length <= self.length) and second <= self.second


@functools.lru_cache(maxsize=256)
def _written(format: Format, task: Task) -> Written:
    """Return the format of a task, made once for the thousands of test cells whose tokens estimates of time need."""
    return format.build(task)


@functools.lru_cache(maxsize=1024)
def _trained(task: Task) -> Trained:
    """Return the trained range of a task: comparisons ask for it cell by cell."""
    return Trained(task.longest, task.most, frozenset(getattr(task, "lengths", ())))


class DataSpec(Section, frozen=True):
    """Training data: a task, its format and position ids, and the number of examples.

    Example:
        >>> import lengen
        >>> data = lengen.DataSpec(task=lengen.Copy(digits=3), format=lengen.Linear())
        >>> "".join(data.symbols)
        '0123456789='
    """

    task: Task
    """The operation and its trained range."""
    format: Format
    """Format of written problems."""
    position_ids: PositionIds = Consecutive()
    """Integers that belong to the tokens."""
    examples: Count = 0
    """Size of the fixed training set; 0 draws fresh examples for every step."""
    vocabulary: Literal["task", "printable"] = "task"
    """Symbols: those that the format writes, or 100 printable characters."""
    spaces: RandomSpaces | None = None
    """Random spaces in training queries."""
    hints: tuple[Task, ...] = ()
    """Auxiliary tasks: training alternates between ``task`` and these, each with an output head and a trained range of
    its own, which may be longer than that of ``task`` (`lengen.data.task_data`)."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbols of its format for all of its tasks, digits first, with the space where queries may hold some."""
        symbols = [symbol for task in (self.task, *self.hints) for symbol in self.format.build(task).symbols]
        return tuple(dict.fromkeys(symbols if self.spaces is None else [*symbols, " "]))

    @property
    def vocab(self) -> Vocab:
        """The symbols that it writes, or all printable ones."""
        return PRINTABLE if self.vocabulary == "printable" else Vocab(self.symbols)

    @property
    def share_of_spaces(self) -> float:
        """Largest number of random spaces, as a share of a query's tokens; 0 without them."""
        return self.spaces.ratio if self.spaces else 0.0

    @property
    def trained(self) -> Trained:
        """The trained range of its task."""
        return _trained(self.task)

    def tokens(self, length: int, count: int) -> tuple[float, float]:
        """Return tokens of prompt and response of an example with operands of ``length`` digits.

        Leading zeros are included.
        """
        prompt, response = _written(self.format, self.task).tokens(length, count)
        return prompt * (1 + (self.spaces.ratio / 2 if self.spaces else 0)), response

    def check(self) -> None:
        """Raise `SettingError` for parts that do not go together."""
        self.task.check()
        self.format.check(self.task)
        self.position_ids.check(self.format)
        names = [hint.name for hint in self.hints]
        for hint in self.hints:
            hint.check()
            if names.count(hint.name) > 1:
                raise SettingError(f"data.hints: {hint.kind} stands there twice; expected different auxiliary tasks")
            if hint.name == self.task.name and hint.longest > self.task.longest:
                fault = f"{hint.kind} is data.task={self.task.kind} itself, at lengths beyond those it is trained on"
                raise SettingError(f"data.hints: {fault}; to train more lengths of it, change data.task")
            if hint.symbols != self.task.symbols:
                fault = f"data.hints: {hint.kind} has other symbols than data.task={self.task.kind}"
                raise SettingError(f"{fault}; expected an auxiliary task with the same digits")
            try:
                self.format.check(hint)
            except SettingError as error:
                raise SettingError(f"data.hints: {error}") from None
        foreign = any(len(symbol) > 1 or symbol not in string.printable for symbol in self.symbols)
        if self.vocabulary == "printable" and foreign:
            fault = f"{self.task.kind} is written with symbols that are no printable ASCII characters"
            raise SettingError(f"data.vocabulary=printable: {fault}; set data.vocabulary=task")


Decay = Annotated[float, Meta(ge=0, lt=1)]
"""A share that is left of what was, below all of it."""


class TrainSpec(Section, frozen=True):
    """Training of a model.

    Example:
        >>> import lengen
        >>> lengen.TrainSpec(steps=50, batch=32, lr=1e-3).precision
        '32-true'
    """

    steps: Count
    """Optimizer steps."""
    batch: Size
    """Examples per step."""
    lr: NotNegative
    """Peak learning rate."""
    betas: tuple[Decay, Decay] = (0.9, 0.95)
    """Adam's exponential decay rates."""
    eps: NotNegative = 1e-8
    """Constant that Adam adds to the root of the second moment."""
    weight_decay: NotNegative = 0.0
    """Decoupled weight decay (AdamW)."""
    warmup: Share = 0.01
    """Share of the steps with linear warm-up."""
    warmup_steps: Count = 0
    """Steps of linear warm-up; if given, ``warmup`` is ignored."""
    final_lr: NotNegative = 0.1
    """The cosine ends at this share of the peak learning rate."""
    clip: NotNegative = 1.0
    """Largest gradient norm; 0 clips nothing."""
    bucket: Size = 16
    """Batches drawn together and sorted by length, to save padding; 1 keeps batches unsorted."""
    evaluations: Count = 10
    """Points of the run that validate in distribution and write a checkpoint, at most: every ceil(steps / evaluations)
    steps and after the last one, so 100 steps with 30 have 25; with 0 after the last step alone."""
    precision: Literal["32-true", "bf16-products", "bf16-mixed", "64-true", "bf16-true"] = "32-true"
    """Lightning's precision; bf16-products rounds the operands of a block's products to bfloat16 in training, and
    holds and evaluates everything in float32."""
    compile: bool = False
    """Compile the model with torch.compile, also if that would not pay by the rule of `lengen.training.compilation`."""
    stop_at: Share = 0.0
    """Stop once validation exact match was at least this at ``patience`` evaluations in a row; 0 never stops."""
    patience: Size = 3
    """Evaluations in a row that have to reach ``stop_at``."""
    loss: Literal["response", "all"] = "response"
    """Tokens trained on: the response, or all but the first."""
    one_length: bool = False
    """A batch shares one length, and a training set is streamed: its batches are drawn again in every epoch."""


Cell = tuple[Length, Length]
"""A tested operand length and value of the second axis."""


class TestSpec(Section, frozen=True):
    """Tests of a trained model.

    Example:
        >>> import lengen
        >>> lengen.TestSpec(lengths=(1, 2, 3), examples=100).counts
        (1,)
    """

    __test__ = False  # its name makes pytest look

    lengths: Annotated[tuple[Size, ...], Meta(min_length=1)]
    """Tested operand lengths (first axis)."""
    counts: Annotated[tuple[Length, ...], Meta(min_length=1)] = (1,)
    """Tested values of the second axis; a single value gives a curve, several a grid."""
    examples: Size = 1000
    """Examples per cell; every model sees the same ones."""
    free_running: bool = True
    """Also let the model write its own text where it errs, to score the final answer and edit distance."""
    attention: tuple[Cell, ...] = ()
    """Cells (length, count) whose attention is recorded; the first one also as an averaged map."""
    attention_examples: Size = 1000
    """Examples averaged for an attention record."""
    probes: tuple[tuple[str, ...], ...] = ()
    """Problems, by their operands, on which the attention of the last layer is recorded."""
    track: Count = 0
    """Examples per tested length that are scored at every evaluation of the training; 0 scores none."""
    sampled: Count = 0
    """Examples per cell whose responses are also sampled at temperature 1."""

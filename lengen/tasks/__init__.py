"""The mathematics: one file per task, or per family of tasks."""

from collections.abc import Callable

from lengen.config.spec import DataSpec, SpecError, nearest
from lengen.tasks.addition import Addition
from lengen.tasks.arithmetic import OPERATIONS, Arithmetic
from lengen.tasks.base import OperandError, Problems, Task
from lengen.tasks.increment import Increment
from lengen.tasks.length_distribution import SHORTEST, SequenceTask, Skew
from lengen.tasks.multiplication import Multiplication
from lengen.tasks.n_by_n import NByN
from lengen.tasks.occurrences import Count, Fill
from lengen.tasks.parity import Parity
from lengen.tasks.sorting import Sorting, Successor

TASKS: dict[str, Callable[[], Task]] = {"addition": Addition, "multiplication": Multiplication, "parity": Parity}
"""Tasks on numbers as long as they are; those at a fixed length are `lengen.tasks.arithmetic.OPERATIONS`."""


SEQUENCES: dict[str, Callable[[DataSpec, Skew], SequenceTask]] = {
    "sorting": lambda data, skew: Sorting(data.alphabet, skew, data.repeats),
    "successor": lambda data, skew: Successor(data.alphabet, skew, data.repeats),
    "count": lambda data, skew: Count(data.alphabet, skew),
    "fill": lambda data, skew: Fill(data.alphabet, skew),
    "fill_as_drawn": lambda data, skew: Fill(data.alphabet, skew),
    "increment": lambda data, skew: Increment(skew, data.repeats),
    "carries": lambda data, skew: Increment(skew, data.repeats),
}
"""Tasks on sequences, the main ones and those that training alternates with; ``lengen.formats`` tells apart how the two
that share their problems with another are written."""
LARGEST_ALPHABET = 250
"""Token ids of batches are written as bytes."""
OF_NUMBERS = ("increment", "carries")
"""Those of them whose symbols are decimal digits; the others draw from an alphabet."""


def of_sequences(data: DataSpec) -> bool:
    """Whether a specification names one of `SEQUENCES`; an alphabet tells successors from those of numbers."""
    return data.task in SEQUENCES and not data.fixed_length and (data.alphabet > 0 or data.task not in OPERATIONS)


def build_task(data: DataSpec) -> Task:
    """The task a specification names; raises `SpecError` for an unknown one."""
    if of_sequences(data):
        if data.length < SHORTEST:
            raise SpecError(f"data.length={data.length}: the shortest training sequence has {SHORTEST} tokens")
        if data.task not in OF_NUMBERS and not 2 <= data.alphabet <= LARGEST_ALPHABET:
            raise SpecError(
                f"data.alphabet={data.alphabet}: {data.task} draws numbers from 1 to data.alphabet; expected 2 to "
                f"{LARGEST_ALPHABET}"
            )
        return SEQUENCES[data.task](data, Skew(data.short, data.skew))
    if data.fixed_length and data.task in OPERATIONS:
        return Arithmetic(OPERATIONS[data.task], data.base, data.limit)
    if data.task == "n_by_n" and not data.fixed_length:
        return NByN(data.lengths or tuple(range(1, data.length + 1)), len(data.subtasks))
    if data.task in TASKS and not data.fixed_length:
        return TASKS[data.task]()
    if data.task in OPERATIONS:
        raise SpecError(f"data.fixed_length=0: the task {data.task} needs the digits that its numbers are padded to")
    names = list(OPERATIONS) if data.fixed_length else [*TASKS, "n_by_n", *SEQUENCES]
    raise SpecError(f"data.task={data.task}: unknown task{nearest(data.task, names)}")


__all__ = [
    "OF_NUMBERS",
    "OPERATIONS",
    "SEQUENCES",
    "TASKS",
    "Addition",
    "Arithmetic",
    "Count",
    "Fill",
    "Increment",
    "Multiplication",
    "NByN",
    "OperandError",
    "Parity",
    "Problems",
    "SequenceTask",
    "Skew",
    "Sorting",
    "Successor",
    "Task",
    "build_task",
    "of_sequences",
]

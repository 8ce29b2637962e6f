"""How problems are written: one file per task's language, composed from padding, reversal and scratchpads."""

import json
from collections.abc import Callable

from lengen.config.spec import DataSpec, SpecError, nearest
from lengen.formats.addition import AdditionFormat
from lengen.formats.base import Format, final_answer, follow
from lengen.formats.fixed import FixedFormat
from lengen.formats.increment import IncrementFormat
from lengen.formats.multiplication import MultiplicationFormat
from lengen.formats.parity import ParityFormat
from lengen.formats.sequences import CountFormat, FillFormat, SequenceFormat, SortingFormat, SuccessorFormat
from lengen.formats.steps import StepsFormat
from lengen.formats.subtasks import CARRIES, SUBTASKS, SubtaskFormat
from lengen.tasks import Arithmetic, build_task, of_sequences
from lengen.vocab import PRINTABLE, Vocab

SORTED: dict[str, Callable[[int], SequenceFormat]] = {
    "sorting": SortingFormat,
    "successor": SuccessorFormat,
    "count": CountFormat,
    "fill": FillFormat,
    "fill_as_drawn": lambda alphabet: FillFormat(alphabet, padding=2),
}
"""How the tasks on sequences of an alphabet are written."""


def build_format(data: DataSpec) -> Format:
    """The format a specification names, with its vocabulary; raises `SpecError` for a way of writing that a task does
    not have."""
    format = _build(data)
    format.vocab = _vocabulary(data, format.vocab)
    return format


def _build(data: DataSpec) -> Format:
    task = build_task(data)  # refuses what is no task
    if of_sequences(data):
        return _sequence(data)
    if data.task == "n_by_n":
        return _two_operands(data)
    _insist(data, f"{data.task} has no sub-tasks; only n_by_n has", subtasks=())
    if data.task != "addition" or data.fixed_length:
        _insist(data, "only n_by_n and addition without a fixed length are padded to a length", pad_to=0)
    if data.fixed_length:
        assert isinstance(task, Arithmetic)
        if task.operation.running and not data.reverse_response:
            raise SpecError(
                f"data.reverse_response=false: the last result of {data.task} is the answer, so it comes last"
            )
        return FixedFormat(task, data.fixed_length, aligned=data.aligned, reverse_response=data.reverse_response)
    if data.task == "addition":
        return AdditionFormat(
            scratchpad=data.scratchpad,
            pad=data.pad,
            pad_to=data.pad_to,
            reverse_query=data.reverse_query,
            reverse_response=data.reverse_response,
        )
    if not data.pad:
        raise SpecError(f"data.pad=false: {data.task} has no format without padding; only addition has")
    if data.task == "multiplication":
        return MultiplicationFormat(
            scratchpad=data.scratchpad, reverse_query=data.reverse_query, reverse_response=data.reverse_response
        )
    return ParityFormat(scratchpad=data.scratchpad)


def _two_operands(data: DataSpec) -> Format:
    """The sub-tasks, the scratchpad or the plain sum of n_by_n."""
    if not (data.subtasks or data.scratchpad):
        return AdditionFormat(
            scratchpad=False,
            pad=data.pad,
            pad_to=data.pad_to,
            reverse_query=data.reverse_query,
            reverse_response=data.reverse_response,
        )
    if data.position_ids == "coupled":
        raise SpecError("data.position_ids=coupled: scratchpad and sub-tasks of n_by_n have no coupled ids")
    if data.subtasks:
        who = "sub-tasks are written plain"
        _insist(data, who, scratchpad=False, pad=False, pad_to=0, reverse_query=False, reverse_response=False)
        return SubtaskFormat(data.subtasks, carries=data.carries)
    _insist(data, "with the scratchpad of n_by_n operands stand as they are", pad=False, pad_to=0, reverse_query=False)
    return StepsFormat(reverse_response=data.reverse_response)


def _sequence(data: DataSpec) -> Format:
    """Sequences have one way of writing; only the digits of increment may stand in either order."""
    who = f"sequences of {data.task} are written plain, without coordinates"
    _insist(data, who, scratchpad=False, pad=False, pad_to=0, reverse_query=False)
    _insist(data, who, subtasks=(), vocabulary="task", spaces=0.0)
    if data.position_ids == "coupled":
        raise SpecError(f"data.position_ids=coupled: {who}; choose none or consecutive")
    if data.task in SORTED:
        _insist(data, who, reverse_response=False)
        return SORTED[data.task](data.alphabet)
    return IncrementFormat(carries=data.task == "carries", reverse_response=data.reverse_response)


def _insist(data: DataSpec, reason: str, **wanted: object) -> None:
    """Raise `SpecError` for a field that a format does not follow."""
    for name, value in wanted.items():
        found = getattr(data, name)
        if found != value:
            raise SpecError(f"data.{name}={json.dumps(found)}: {reason}; set data.{name}={json.dumps(value)}")


def _vocabulary(data: DataSpec, own: Vocab) -> Vocab:
    """A format's own symbols, with the space where queries may hold some; or all printable characters."""
    if data.vocabulary == "printable":
        return PRINTABLE
    if data.vocabulary != "task":
        choices = ["task", "printable"]
        raise SpecError(f"data.vocabulary={data.vocabulary}: unknown vocabulary{nearest(data.vocabulary, choices)}")
    return Vocab("".join(own.symbols) + " ") if data.spaces > 0 and " " not in own.symbols else own


def can_run_free(format: Format, data: DataSpec) -> bool:
    """Whether a model can be given position ids for text of its own.

    It cannot where coupled ids depend on a length not yet written: without padding and most significant digit
    first, the id of a number's first digit is its length. The published figure for that setting is
    teacher-forced, where the true length is in the ids.
    """
    return not (format.minimal and data.position_ids == "coupled" and not data.reverse_response)


__all__ = [
    "CARRIES",
    "SUBTASKS",
    "AdditionFormat",
    "FillFormat",
    "FixedFormat",
    "Format",
    "IncrementFormat",
    "MultiplicationFormat",
    "ParityFormat",
    "SequenceFormat",
    "SortingFormat",
    "StepsFormat",
    "SubtaskFormat",
    "build_format",
    "can_run_free",
    "final_answer",
    "follow",
]

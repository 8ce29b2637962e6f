"""How problems are written: one file per task's language, composed from padding, reversal and scratchpads."""

from lengen.formats.addition import AdditionFormat
from lengen.formats.base import Format, final_answer, follow
from lengen.formats.fixed import FixedFormat
from lengen.formats.multiplication import MultiplicationFormat
from lengen.formats.parity import ParityFormat
from lengen.spec import DataSpec, SpecError
from lengen.tasks import Arithmetic, build_task


def build_format(data: DataSpec) -> Format:
    """The format a specification names; raises `SpecError` for a way of writing that a task does not have."""
    if data.fixed_length:
        task = build_task(data)
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


def can_run_free(format: Format, data: DataSpec) -> bool:
    """Whether a model can be given position ids for text of its own.

    It cannot where coupled ids depend on a length not yet written: without padding and most significant digit
    first, the id of a number's first digit is its length. The published figure for that setting is
    teacher-forced, where the true length is in the ids.
    """
    return not (format.minimal and data.position_ids == "coupled" and not data.reverse_response)


__all__ = [
    "AdditionFormat",
    "FixedFormat",
    "Format",
    "MultiplicationFormat",
    "ParityFormat",
    "build_format",
    "can_run_free",
    "final_answer",
    "follow",
]

"""The first batch: what the methods of a task, its format and its position ids return, checked once, before it is used.

A wrong one would train without a word, or fail far from here: digits that are missing read as zeros, those below zero
as the last symbols.
"""

from typing import NoReturn

import torch
from torch import Tensor

from lengen.data.writer import Writer
from lengen.digits import OperandError, Problems, generator
from lengen.formats.base import Layout, Written
from lengen.part import SettingError
from lengen.tasks.base import ANSWER, OPERANDS, Task, typed

PROBLEMS = 8
"""Problems of a first batch."""


def check_first_batch(task: Task, writer: Writer) -> None:
    """Raise `SettingError` for the first method that returns what it must not; nothing else has changed afterwards.

    Problems that a model has no room for are left to `TaskData.check_cells`.
    """
    stream = generator("first batch", 0)
    problems = task.train(PROBLEMS, stream)
    check_task(task, problems)
    try:
        check_format(task, writer.format, problems)
        batch = writer.write(problems, stream)
    except OperandError:
        return
    scheme = type(writer.scheme).__name__
    for part in (batch, batch.source) if batch.source else (batch,):
        check_ids(f"{scheme}.ids", part.ids, part.tokens, writer.scheme.levels)
    if not bool(batch.loss.any(dim=1).all()):
        refuse(f"{type(writer.format).__name__}.layout", "a sequence without response", "Layout.respond() before it")


def check_task(task: Task, problems: Problems) -> None:
    """Check the problems that a task draws, their answers, and what it reads of a text."""
    name = type(task).__name__
    if not isinstance(problems, Problems):
        refuse(f"{name}.train", type(problems).__name__, "lengen.digits.Problems")
    symbols = task.first(), task.first() + len(task.all_symbols)
    check_integers(f"{name}.train, operands", problems.operands, (PROBLEMS, None, None), (0, symbols[1]))
    check_integers(f"{name}.train, lengths", problems.lengths, (PROBLEMS, problems.operands.shape[1]))
    shapes = {tuple(shape) for shape in task.shapes(problems).tolist()}
    digits = max(task.extent(shape).answer for shape in shapes)
    answers = task.answer(problems)
    check_integers(f"{name}.answer", answers, (PROBLEMS, None), (0, symbols[1]))
    if answers.shape[1] < digits:
        promised = f"({PROBLEMS}, {digits}): the digits that {name}.extent promises"
        refuse(f"{name}.answer", f"shape {tuple(answers.shape)}", promised)
    if problems.kinds is not None:
        return
    texts = task.text(problems)
    for row, text in zip(typed(task, problems), texts, strict=True):
        try:
            read = task.text(task.parse(row))[0]
        except OperandError:  # some tasks draw what nobody types
            continue
        if read != text:
            refuse(f"{name}.parse({row})", f"a problem with the answer {read!r}", repr(text))


def check_format(task: Task, format: Written, problems: Problems) -> None:
    """Check the rows of intermediate results and the layouts of a format."""
    name = type(format).__name__
    for row in set(format.rows) - {OPERANDS, ANSWER}:
        rows = task.stages(row, problems, format.width)
        check_integers(f"{type(task).__name__}.stages({row!r})", rows, (PROBLEMS, None, None), (0, None))
    if format.exact:
        return
    for shape, size in zip(task.shapes(problems).tolist(), task.answer_sizes(problems).tolist(), strict=True):
        layout = format.layout(tuple(shape))
        check_layout(f"{name}.layout({tuple(shape)})", layout, format)
        places = {digit.place for digit in layout.digits if digit and digit.row == ANSWER}
        if places and (missing := set(range(size)) - places):
            refuse(f"{name}.layout({tuple(shape)})", f"no slot for place {min(missing)} of an answer", "one for each")


def check_layout(where: str, layout: Layout, format: Written) -> None:
    """Check the slots of a layout."""
    if not isinstance(layout, Layout):
        refuse(where, type(layout).__name__, "lengen.formats.base.Layout")
    slots = len(layout.symbols)
    for column in ("digits", "coordinates", "hints"):
        if (held := len(getattr(layout, column))) != slots:
            refuse(where, f"{held} {column} of {slots} slots", "one for each")
    if not 0 < layout.response < slots:
        refuse(where, f"a response that begins at slot {layout.response} of {slots}", "Layout.respond() before it")
    if wrong := {digit.row for digit in layout.digits if digit} - set(format.rows):
        refuse(where, f"digits of rows {sorted(wrong)}", f"those that its rows name, {list(format.rows)}")
    if any(len(place) != format.levels for place in layout.coordinates):
        refuse(where, "other numbers of coordinates", f"{format.levels} a slot, its levels")


def check_ids(where: str, ids: Tensor, tokens: Tensor, levels: int) -> None:
    """Check position ids of tokens (B, T)."""
    check_integers(where, ids, (levels, None, tokens.shape[1]), (0, None))
    if ids.shape[1] not in (1, len(tokens)):
        refuse(where, f"shape {tuple(ids.shape)}", f"(levels, {len(tokens)} or 1, {tokens.shape[1]})")


def check_integers(
    where: str, values: Tensor, shape: tuple[int | None, ...], bounds: tuple[int, int | None] | None = None
) -> None:
    """Check type and shape, of which None is any, and that values are from the first bound up to below the second."""
    if not isinstance(values, Tensor):
        refuse(where, type(values).__name__, "a tensor of integers")
    if values.is_floating_point() or values.is_complex() or values.dtype == torch.bool:
        refuse(where, str(values.dtype), "integers, such as torch.int64")
    if len(values.shape) != len(shape) or any(
        want not in (None, have) for have, want in zip(values.shape, shape, strict=True)
    ):
        refuse(where, f"shape {tuple(values.shape)}", str(tuple("any" if size is None else size for size in shape)))
    if bounds is not None and values.numel():
        low, high = int(values.min()), int(values.max())
        if low < bounds[0] or (bounds[1] is not None and high >= bounds[1]):
            span = f"at least {bounds[0]}" if bounds[1] is None else f"{bounds[0]} to {bounds[1] - 1}"
            refuse(where, f"values from {low} to {high}", span)


def refuse(where: str, found: str, expected: str) -> NoReturn:
    """Raise `SettingError` with one sentence."""
    raise SettingError(f"{where}: found {found}; expected {expected}")

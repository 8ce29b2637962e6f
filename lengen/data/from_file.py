"""Training problems of a text file: lines such as ``12+34=46``, or a table ``a,b,answer``."""

from pathlib import Path

import torch

from lengen.data.writer import Writer
from lengen.digits.problems import OperandError, Problems
from lengen.tasks.base import Task

NAMED = 5
"""Wrong lines that a message names."""


def read_problems(path: Path, task: Task, writer: Writer) -> Problems:
    """Return the problems of a file, in their order; raises `OperandError` that names the wrong lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise OperandError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found: list[Problems] = []
    wrong: list[str] = []
    longest = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip() or (number == 1 and not any(char.isdigit() for char in line)):
            continue  # blank, or the header of a table
        try:
            found.append(task.read_line(line))
            if writer.lengths(found[-1]).max() > longest:
                longest = int(writer.lengths(found[-1]).max())
                writer.write(found[-1])  # raises if its position ids do not suffice
        except OperandError as error:
            wrong.append(f"line {number}: '{line.strip()[:60]}': {error}")
    if wrong or not found:
        more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise OperandError(f"{path}: {'; '.join(wrong[:NAMED]) or 'it holds no problem'}{more}")
    return joined(found)


def joined(problems: list[Problems]) -> Problems:
    """Return problems of any sizes as one batch."""
    count, width = (max(one.operands.shape[axis] for one in problems) for axis in (1, 2))
    operands = torch.zeros(len(problems), count, width, dtype=torch.uint8)
    lengths = torch.zeros(len(problems), count, dtype=torch.int16)
    for place, (digits, sizes, _) in enumerate(problems):
        operands[place, : digits.shape[1], : digits.shape[2]] = digits[0]
        lengths[place, : sizes.shape[1]] = sizes[0]
    return Problems(operands.long(), lengths.long())

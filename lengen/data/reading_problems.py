"""Problems as lines of text, such as ``12+34=46``, ``12,34,46`` and ``12 34``.

The one reader of such lines, of what people type, and of answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.digits import OperandError, Problems
from lengen.tasks.base import Row, Task

if TYPE_CHECKING:
    from lengen.data.batch_writer import Writer

BYTE_ORDER_MARK = "\ufeff"
"""First character of text files of Windows."""
NAMED = 5
"""Wrong lines that a message names."""
OPERATORS = "+*×/%<>⊥"
"""Characters between operands, of this task or of another."""
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")


class SpellingError(ValueError):
    """Operands that no task could read; one sentence."""


def parted(text: str, operator: str = "", table: bool = True) -> tuple[list[str], str]:
    """Return the operands of a line and its answer, which is empty if it has none.

    Args:
        text: The line.
        operator: Sign between its operands; empty: they stand between blanks.
        table: Without an equals sign it may be a row between commas, the answer last.

    >>> parted("12+34=46", "+"), parted("12,34,46", "+"), parted("53 7 12=", table=False)
    ((['12', '34'], '46'), (['12', '34'], '46'), (['53', '7', '12'], ''))
    """
    query, equals, answer = text.removeprefix(BYTE_ORDER_MARK).strip().partition("=")
    operands = query.split(operator or None)
    if table and not equals and "," in query:
        *operands, answer = query.split(",")
    return [operand.strip() for operand in operands], answer.strip()


def cleaned(text: str, *, number: bool, apart: bool = False, units_first: bool = False) -> str:
    """Return an answer as it is compared.

    That is a number without leading zeros, most significant digit first, or words one blank apart.

    Args:
        text: The answer.
        number: It is a number; blanks between its digits mean nothing.
        apart: It is a sequence of words: commas and blanks part them. Else it is one word, and blanks mean nothing.
        units_first: The number's digits stand least significant first.

    >>> cleaned(" 0046 ", number=True), cleaned("64", number=True, units_first=True)
    ('46', '46')
    >>> cleaned("007", number=False), cleaned("7, 12  53", number=False, apart=True)
    ('007', '7 12 53')
    """
    if apart:
        return " ".join(text.replace(",", " ").split())
    text = "".join(text.split())
    if not number:
        return text
    text = text[::-1] if units_first else text
    return text.lstrip("0") or "0" * bool(text)


def filled(lines: Iterable[str], header: bool = True) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not blank nor, if there may be one, the header of a table.

    Dollar signs around a line, as in data of Lee et al. 2023 (2307.03381), mean nothing.

    >>> list(filled(["$12+34=46$", "", "7+8=15"]))
    [(1, '12+34=46'), (3, '7+8=15')]
    """
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix(BYTE_ORDER_MARK).strip().strip("$")
        if text and not (header and number == 1 and not any(char.isdigit() for char in text)):
            yield number, text


def listed(wrong: Sequence[str]) -> str:
    """Return the first sentences on wrong lines, and how many more there are."""
    return "; ".join(wrong[:NAMED]) + (f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else "")


# ------------------------------------------------------------------ problems to train on


def read_problem(line: str, task: Task) -> Problems:
    """Return the problem of a line; raises `OperandError` for a line without an answer or with a wrong one.

    >>> from lengen import Addition
    >>> read_problem("12+34=46", Addition(digits=2)).lengths.tolist()
    [[2, 2]]
    """
    operands, text = parted(line, task.SIGNS.operator)
    problem = task.parse(operands)
    (true,), rows = task.text(problem), task.ROWS
    number = rows.numbers and rows.answer is not Row.SEQUENCE and not task.LAST_DIGIT
    answer = cleaned(text, number=number, apart=not number)
    if answer != true:
        raise OperandError(f"the answer is {true}, not {answer}" if answer else "it has no answer; expected 12+34=46")
    return problem


def read_problems(path: Path, task: Task, writer: Writer) -> Problems:
    """Return the problems of a file, in their order; raises `OperandError` that names the wrong lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise OperandError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    problems: list[Problems] = []
    wrong: list[str] = []
    longest = 0
    for number, line in filled(lines):
        try:
            problems.append(read_problem(line, task))
            if writer.lengths(problems[-1]).max() > longest:
                longest = int(writer.lengths(problems[-1]).max())
                writer.write(problems[-1])  # raises if its position ids do not suffice
        except OperandError as error:
            wrong.append(f"line {number}: '{line[:60]}': {error}")
    if wrong or not problems:
        raise OperandError(f"{path}: {listed(wrong) or 'it holds no problem'}")
    return Problems.joined(problems)


# ------------------------------------------------------------------ what people type


def typed_operands(words: Sequence[str], task: Task) -> list[str]:
    """Return the operands that were meant; the text behind an equals sign is left out.

    Raises `SpellingError` if they ask for something else, or hold what no number of the task holds.

    >>> from lengen import Addition
    >>> typed_operands(["12+34="], Addition(digits=2)), typed_operands(["12,", "34"], Addition(digits=2))
    (['12', '34'], ['12', '34'])
    """
    text, equals, _ = " ".join(words).partition("=")
    letters = {char for symbol in (*task.symbols, *"0123456789") for char in symbol.upper()}
    if equals and not text.strip():
        raise SpellingError(f"'{' '.join(words)}' has no operands before =: write 12 34 or 12+34=")
    for word in text.replace(", ", " ").split():
        if THOUSANDS.fullmatch(word):
            number, several = word.replace(",", ""), word.replace(",", " ")
            raise SpellingError(f"'{word}' could be one number or several: write {number}, or {several}")
    sign = task.SIGNS.operator
    for char in OPERATORS:
        if char in text and char != sign and not (char == "×" and sign == "*"):
            shown = f" ({sign})" if sign else ""
            raise SpellingError(f"'{text.strip()}' asks for {char}, and this task is {task.name}{shown}: write 12 34")
    for char in {",", "×", sign or ","}:
        text = text.replace(char, " ")
    operands, _ = parted(text)
    for word in operands:
        if wrong := next((char for char in word if char.upper() not in letters), ""):
            symbols = "".join(task.symbols) if all(len(symbol) == 1 for symbol in task.symbols) else "its symbols"
            allowed = "digits 0-9" if symbols in ("0123456789", "01") else symbols
            fault = f"operand '{word}' is not a number: expected {allowed} only, and not {wrong!r}"
            raise SpellingError(f"{fault}; write 12 34, or 12+34")
    return operands


def typed_lines(stream: Iterable[str], task: Task | None) -> Iterator[list[str]]:
    """Yield the operands of every line that holds some; a sentence names the line that is wrong.

    Without a task its words.
    """
    for number, line in filled(stream, header=False):
        if not line.startswith("#"):
            try:
                yield line.split() if task is None else typed_operands(line.split(), task)
            except SpellingError as error:
                raise SpellingError(f"line {number}: {error}") from None

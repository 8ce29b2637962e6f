"""Operands as people write them: ``12 34``, ``12+34``, ``527+412=``, ``5, 3, 1``; a line each from a file or pipe.

Words and the task of a setting enter, which loads no torch; operands leave, or one sentence.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from reproduce.runs.catalogue import SelectorError

if TYPE_CHECKING:
    from lengen.tasks.base import Task

OPERATORS = "+*×/%<>⊥"
"""Characters between operands, of this task or of another."""
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")


class SpellingError(ValueError):
    """Operands that no task could read; one sentence."""


def spelled(words: Sequence[str], task: "Task") -> list[str]:
    """The operands that were meant; what follows an equals sign is left out.

    Raises `SpellingError` if they ask for something else, or hold what no number of the task holds.
    """
    text = " ".join(words)
    letters = {char for symbol in (*task.symbols, *"0123456789") for char in symbol.upper()}
    text, equals, _ = text.partition("=")
    if equals and not text.strip():
        raise SpellingError(f"'{' '.join(words)}' has no operands before =: write 12 34 or 12+34=")
    for word in text.replace(", ", " ").split():
        if THOUSANDS.fullmatch(word):
            one, several = word.replace(",", ""), word.replace(",", " ")
            raise SpellingError(f"'{word}' could be one number or several: write {one}, or {several}")
    for char in OPERATORS:
        if char in text and char != task.SIGNS.operator and not (char == "×" and task.SIGNS.operator == "*"):
            operator = f" ({task.SIGNS.operator})" if task.SIGNS.operator else ""
            raise SpellingError(
                f"'{text.strip()}' asks for {char}, and this task is {task.name}{operator}: write 12 34"
            )
    for char in {",", "×", task.SIGNS.operator or ","}:
        text = text.replace(char, " ")
    found = text.split()
    for word in found:
        if wrong := next((char for char in word if char.upper() not in letters), ""):
            symbols = "".join(task.symbols) if all(len(symbol) == 1 for symbol in task.symbols) else "its symbols"
            allowed = "digits 0-9" if symbols in ("0123456789", "01") else symbols
            raise SpellingError(
                f"operand '{word}' is not a number: expected {allowed} only, and not {wrong!r}; write 12 34, or 12+34"
            )
    return found


def lines(stream: Iterable[str], task: "Task | None") -> Iterator[list[str]]:
    """The operands of every line that holds some; a sentence names the line that is wrong. Without a task the words."""
    for number, line in enumerate((one.removeprefix("\ufeff") for one in stream), start=1):
        words = line.split()
        if words and not line.startswith("#"):
            try:
                yield words if task is None else spelled(words, task)
            except SpellingError as error:
                raise SpellingError(f"line {number}: {error}") from None


def nothing_given(selector: str, piped: bool = True) -> SelectorError:
    """The sentence for a command without a problem; ``piped``: it reads problems from the standard input, too."""
    other = ", or pipe a line for each problem" if piped else ""
    return SelectorError(f"no problem for {selector}: type its operands, as in 57 48{other}")

"""Tables as Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table; bars in cells are escaped, and a cell has one line.

    >>> print(table(("a", "b"), [(1, "x|y")]))
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    lines = ["| " + " | ".join(map(_cell, line)) + " |" for line in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")

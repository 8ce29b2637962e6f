"""Parts of Markdown pages: tables, and what is folded."""

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


def folded(title: str, text: str, attribute: str = "") -> str:
    """Return a text that opens under its title; the ``attribute`` ``markdown`` is for pages of the site."""
    return f"<details{f' {attribute}' * bool(attribute)}><summary>{title}</summary>\n\n{text.strip()}\n\n</details>"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")

"""Pages with code that runs: Markdown whose ``python`` fences are executed, ``text`` fences being what they print.

As in a notebook, a cell that ends with an expression shows its value. The notebooks of docs/notebooks are such pages
(jupytext opens them as they are). After a change: ``python -m tests.pages docs/notebooks/first_steps.md`` runs a page
and writes what it printed.
"""

import ast
import contextlib
import io
import re
import sys
from pathlib import Path

CELL = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def executed(text: str) -> str:
    """A page after its cells ran, one after the other in one namespace: each followed by what it printed."""
    known: dict[str, object] = {"__name__": "__page__"}

    def ran(cell: re.Match[str]) -> str:
        printed = output(cell["code"], known)
        return f"```python\n{cell['code']}```\n" + (f"\n```text\n{printed}```\n" if printed else "")

    return CELL.sub(ran, text)


def output(code: str, known: dict[str, object]) -> str:
    """What a cell prints, the value of its last expression included; ``known`` is its namespace."""
    *statements, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        statements, last = [*statements, last], None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(statements, []), "<page>", "exec"), known)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<page>", "eval"), known)
        if value is not None:
            print(value if isinstance(value, str) else repr(value))
    return printed.getvalue()


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(executed(page.read_text(encoding="utf-8")), encoding="utf-8")

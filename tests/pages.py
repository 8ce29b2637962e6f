"""Pages with code that runs: Markdown whose ``python`` fences are executed, ``text`` fences being what they print.

As in a notebook, a cell that ends with an expression shows its value. After a change: ``python -m tests.pages
docs/verdicts.md`` runs a page where it lies and writes what it printed; with ``--check`` it says what would change.
"""

import ast
import contextlib
import difflib
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
    stale = []
    for page in map(Path, (name for name in sys.argv[1:] if name != "--check")):
        text = page.read_text(encoding="utf-8")
        with contextlib.chdir(page.parent):
            ran = executed(text)
        if ran != text and "--check" in sys.argv:
            stale += difflib.unified_diff(
                text.splitlines(), ran.splitlines(), f"{page}", "what it prints now", lineterm=""
            )
        elif ran != text:
            page.write_text(ran, encoding="utf-8")
    sys.exit("\n".join(stale) or None)

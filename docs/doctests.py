"""An extension of the API pages: examples in docstrings, ``>>> ...`` up to the next blank line, are shown as code."""

import re

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


def fenced(docstring: str) -> str:
    """A docstring with its examples as fenced code."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", docstring)


class Doctests(griffe.Extension):
    """Fences the examples of every docstring before it is read."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

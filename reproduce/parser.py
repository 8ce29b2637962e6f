"""The parser of the command line and of its parts: an error is one sentence, with what to type instead."""

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from reproduce.store.files import one_line

ASSIGNED = re.compile(r"(?:--)?([A-Za-z_]\w*(?:\.\w+)+=.*)", re.DOTALL)
"""A setting without ``--set``."""


def with_options(words: Sequence[str]) -> list[str]:
    """Return what was typed with ``--set`` before each setting of a run, and ``--help`` for ``help``.

    >>> with_options(["run", "paper1", "train.steps=5", "--set", "model.width=8"]), with_options(["help", "run"])
    (['run', 'paper1', '--set', 'train.steps=5', '--set', 'model.width=8'], ['run', '--help'])
    """
    if words[:1] == ["help"]:
        return [*words[1:2], "--help"]
    pairs = zip(["", *words], words, strict=False)
    settings = [(words[0] == "run" and before != "--set" and ASSIGNED.fullmatch(word), word) for before, word in pairs]
    return [part for match, word in settings for part in (["--set", match[1]] if match else [word])]


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, with what to type instead where that is known."""

    typed: Sequence[str] = ()
    """The whole command line."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **{"allow_abbrev": False, **options})

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return options; operands and further selectors may stand behind options, where argparse leaves them over."""
        options, rest = self.parse_known_args(args, namespace)
        if rest and not any(word.startswith("-") and word != "-" for word in rest):
            if hasattr(options, "operands"):
                options.operands, rest = [*options.operands, *rest], []
            elif getattr(options, "several", False) and options.selector and not any(map(str.isdecimal, rest)):
                # a number belongs to the option before it
                options.selector, rest = " ".join([options.selector, *rest]), []
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options

    def error(self, message: str) -> NoReturn:
        commands = next((item.choices for item in self._actions if isinstance(item, argparse._SubParsersAction)), {})
        chosen = commands.get(self.typed[0] if self.typed else "", self)
        if match := re.match(r"argument COMMAND: invalid choice: '(.*?)' \(", message, re.DOTALL):
            message = f"there is no command '{match[1]}'; "
            message += _nearest(match[1], list(commands)) or f"one of: {', '.join(commands)}"
        elif match := re.match(r"unrecognized arguments: (-[^\s=]+)", message):
            options = [name for action in chosen._actions for name in action.option_strings]
            nearest = _nearest(match[1], options)
            message = f"there is no {match[1]}; {nearest}" if nearest else message
        print(one_line(f"{self.prog}: {message}; see {chosen.prog} --help"), file=sys.stderr)
        raise SystemExit(2)


def _nearest(word: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, names, 1)
    return f"nearest: {close[0]}" if close else ""

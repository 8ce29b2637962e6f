"""The parser of the command line and of its parts: an error is one sentence."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from reproduce.store.atomic_files import one_line


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, with what to type instead where that is known."""

    typed: Sequence[str] = ()
    """The whole command line."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **{"allow_abbrev": False, **options})

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return options.

        Operands and further selectors may stand behind options, too, where argparse leaves them over.
        """
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
        from reproduce.habits import advice

        commands = next((item.choices for item in self._actions if isinstance(item, argparse._SubParsersAction)), {})
        chosen = commands.get(self.typed[0] if self.typed else "", self)
        options = [name for action in chosen._actions for name in action.option_strings]
        said = advice(message, self.typed, options, list(commands))
        print(one_line(f"{self.prog}: {said}; see {chosen.prog} --help"), file=sys.stderr)
        raise SystemExit(2)

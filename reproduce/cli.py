"""The command line.

Exit codes: 0 done, 1 some runs failed, 2 bad input or a folder that cannot be used, 130 interrupted by Ctrl-C, 143
by SIGTERM. Nothing here imports torch; `reproduce.commands.command_table` names the commands.
"""

import argparse
import contextlib
import difflib
import gc
import io
import os
import pkgutil
import re
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from lengen.cli import Argument, Command
from lengen.clone import is_sentence
from reproduce.commands.command_table import COMMANDS
from reproduce.store.files import existing, one_line

ASSIGNED = re.compile(r"(?:--)?([A-Za-z_]\w*(?:\.\w+)+=.*)", re.DOTALL)
"""A setting without ``--set``."""


def with_options(words: Sequence[str]) -> list[str]:
    """Return what was typed, with ``--set`` before settings of a run, seeds as one list, and ``--help`` for ``help``.

    >>> with_options(["run", "paper1", "train.steps=5", "--set", "model.width=8"]), with_options(["help", "run"])
    (['run', 'paper1', '--set', 'train.steps=5', '--set', 'model.width=8'], ['run', '--help'])
    >>> with_options(["run", "paper1", "--seeds", "0", "1", "2"])
    ['run', 'paper1', '--seeds', '0,1,2']
    """
    if words[:1] == ["help"]:
        return [*words[1:2], "--help"]
    pairs = zip(["", *words], words, strict=False)
    settings = [(words[0] == "run" and before != "--set" and ASSIGNED.fullmatch(word), word) for before, word in pairs]
    typed: list[str] = []
    for match, word in settings:
        if word.isdecimal() and typed[-2:-1] == ["--seeds"] and typed[-1].replace(",", "").isdecimal():
            typed[-1] += f",{word}"
        else:
            typed += ["--set", match[1]] if match else [word]
    return typed


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
    bare = {name.lstrip("-"): name for name in names}
    close = difflib.get_close_matches(word.lower().lstrip("-"), bare, 1)
    return f"nearest: {bare[close[0]]}" if close else ""


BRIEF = ("list", "show", "compare")
"""Commands that end before collecting garbage pays: it takes a fifth of their time."""
LOST = re.compile(r"--[\w-]+=--")
"""A value that argparse takes for the end of the options before Python 3.13, and loses."""

REMEDIES = {
    FileNotFoundError: "name one that is there",
    FileExistsError: "name a folder",
    NotADirectoryError: "name a folder",
    IsADirectoryError: "name a file",
}
"""Remedies of errors of the system; anything else lacks room or permission."""


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM while runs are made; no KeyboardInterrupt, because Lightning turns those into exit code 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def program() -> str:
    """Return the program as it was called."""
    return "reproduce" if Path(sys.argv[0]).stem == "reproduce" else "python -m reproduce"


def parser() -> Parser:
    """Return the whole command line."""
    top = Parser(prog=program(), description="Reproduce papers on length generalization, statement by statement.")
    top.add_argument("-V", "--version", action="store_true", help="version of this program and its commit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for row in COMMANDS:
        command = commands.add_parser(row.name, help=row.help)
        for argument in row.arguments:
            _add(command, argument)
    return top


def _add(command: argparse.ArgumentParser, argument: Argument) -> None:
    added: Any = command.add_argument(*argument.names, **argument.fields)
    if added.dest == "selector":
        added.completer = lambda prefix, **_: _resolved("completion:selectors")(prefix)  # loaded if a shell needs them


def _resolved(name: str) -> Any:
    """Return a function of a command, loaded when it is needed."""
    return pkgutil.resolve_name(f"reproduce.commands.{name}")


def _answer(row: Command, options: argparse.Namespace) -> int:
    """Answer one command; one that trains with handlers for signals while it does."""
    answer = _resolved(row.answer)
    if not row.trains:
        return int(answer(options))
    handlers = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return int(answer(options))
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interrupt(number: int, _: object) -> None:
    raise Interrupted(number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one command and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if "_ARGCOMPLETE" in os.environ:  # a shell wants to know how the line may go on
        import argcomplete

        argcomplete.autocomplete(parser())

    typed = with_options(arguments)
    for word in typed:
        if LOST.fullmatch(word):
            return _refuse(f"{word}: expected a value behind =; see {program()} --help")
    try:
        top = parser()
        top.typed = typed
        options = top.parse_args(typed)
    except SystemExit as end:
        return int(end.code or 0)
    if options.command is None:
        return _answer_without_command(top, options)
    options.arguments = arguments
    if options.command not in BRIEF:
        gc.enable()
    try:
        return _answer_all(options)
    except (Interrupted, KeyboardInterrupt) as stop:
        number = stop.number if isinstance(stop, Interrupted) else signal.SIGINT
        print(f"interrupted{_goes_on(options)}", file=sys.stderr)
        return 128 + number
    except BrokenPipeError:
        # the reader of a pipe went away: nothing left to say, and the interpreter must not try to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        place = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        remedy = REMEDIES.get(type(error), "make room or give permission")
        return _refuse(f"{place}{error.strerror or error}; {remedy}")
    except Exception as error:
        from reproduce.runs.plan import FatalError

        if not is_sentence(error) and not isinstance(error, FatalError):
            raise
        return _refuse(str(error))


def _answer_without_command(top: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Print the version if it is asked for, else the help of the whole program."""
    if options.version:
        from lengen import __version__
        from reproduce.store.checkout import commit

        print(f"lengen {__version__} ({commit()[0]})")
    else:
        top.print_help()
    return 0


def _answer_all(options: argparse.Namespace) -> int:
    """Answer the command for each of its selectors; the exit code is 1 if one of theirs is."""
    row = next(row for row in COMMANDS if row.name == options.command)
    codes = [_answer(row, chosen) for chosen in _one_by_one(options)]
    if sys.stdout is not None:  # closed by the shell
        sys.stdout.flush()
    return 1 if 1 in codes else max(codes)


def _one_by_one(options: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the same options once for each selector; the command run takes all of them at once."""
    selector_text = getattr(options, "selector", None)
    if selector_text is None or options.command == "export":  # which takes the name of a task, too
        return [options]
    from reproduce.catalogue import CATALOGUE, SelectorError

    words = selector_text.split() if getattr(options, "several", False) else []  # one alone may be a file with a space
    selectors = CATALOGUE.side_by_side(words) if len(words) > 1 else [CATALOGUE.canonical(selector_text)]
    if options.command == "run":
        selectors = [" ".join(selectors)]
    if len(selectors) > 1 and getattr(options, "format", "table") in ("csv", "json"):
        raise SelectorError(f"--format {options.format} takes one selector: run the command once for each")
    return [argparse.Namespace(**{**vars(options), "selector": selector}) for selector in selectors]


def _goes_on(options: argparse.Namespace) -> str:
    """Return the effect of the same command on the files of an interrupted one."""
    if options.command != "run":
        return ""
    if options.fresh:
        return ": the same command will begin anew; without --fresh it will resume what has no finished version"
    return ": the same command will resume where it stopped"


def _refuse(sentence: str) -> int:
    print(one_line(f"{program()}: {sentence}"), file=sys.stderr)
    return 2


def home_for_matplotlib() -> None:
    """Give matplotlib, which others load as well, a folder for its cache when the home folder cannot be written."""
    if "MPLCONFIGDIR" in os.environ:
        return
    place = Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) / "matplotlib"
    if not os.access(existing(place), os.W_OK):
        owner = os.getuid() if hasattr(os, "getuid") else "user"
        made = Path(tempfile.gettempdir()) / f"lengen-matplotlib-{owner}"
        with contextlib.suppress(OSError):
            made.mkdir(mode=0o700, exist_ok=True)
            os.environ["MPLCONFIGDIR"] = str(made)


def entry() -> NoReturn:
    """Answer the shell's command; a character that its encoding lacks is read and printed as an escape."""
    gc.disable()  # while the program loads; commands that make much have it again
    home_for_matplotlib()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace", line_buffering=True)  # stdout in order with stderr
    sys.exit(main())

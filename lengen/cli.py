"""The command line of the library: what needs no clone. The program of a clone takes its rows from here, too.

Nothing here loads torch or pandas: a command is loaded when it is given.
"""

import argparse
import json
import os
import pkgutil
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lengen.clone import SHIPPED, is_sentence

EXPORTS = ("jsonl", "txt", "csv", "parquet", "lm-eval")


class Argument(NamedTuple):
    """An argument of a command, as argparse takes it."""

    names: tuple[str, ...]
    fields: dict[str, Any]


class Command(NamedTuple):
    """A row of a table of commands."""

    name: str
    help: str
    answer: str
    """``module:function`` of the options."""
    arguments: tuple[Argument, ...] = ()
    trains: bool = False
    """It trains, so Ctrl-C and SIGTERM end it as interrupted."""


def is_whole(text: str) -> bool:
    """Return True for digits of a number that is not too long."""
    return text.isascii() and text.isdecimal() and len(text) < 10


def seed(text: str) -> int:
    """Return one seed."""
    if not is_whole(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: expected a whole number from 0")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number from 1."""
    if not (is_whole(text) and int(text) > 0):
        raise argparse.ArgumentTypeError(f"'{text}': expected a whole number from 1")
    return int(text)


def file(*endings: str) -> Callable[[str], str]:
    """Return a parser of file names that takes those with one of the endings; without endings any file or folder.

    >>> file(".csv")("scores.csv"), file()("out")
    ('scores.csv', 'out')
    """

    def read(text: str) -> str:
        if text.strip() and text.isprintable() and (not endings or text.endswith(endings)):
            return text
        raise argparse.ArgumentTypeError(f"'{text}' is no such name: expected {' or '.join(endings) or 'a file'}")

    return read


def argument(*names: str, **fields: Any) -> Argument:
    """Return an argument."""
    return Argument(names, fields)


def flag(*names: str) -> Argument:
    """Return an option without a value; the last of the names is its help."""
    return Argument(names[:-1], {"action": "store_true", "help": names[-1]})


# fmt: off
JSON = flag("--json", "one line of JSON")
SIZE = argument("--size", type=positive, metavar="N",
                help="longest trained length, which decides a task's problems (default: that of the papers)")
SPLIT = argument("--split", choices=("test", "carry", "train"), default="test",
                 help="test (default), chains of carries, or problems to train on")
PROTOCOL = argument("--protocol", type=int, choices=(1, 2), default=2, help="version of the protocol (default 2)")
SCORED = (
    flag("--units-first", "digits of predicted numbers stand least significant first"),
    argument("--picture", type=file(".png", ".svg"), metavar="FILE", help="draw exact match: .png or .svg"),
    argument("--scores", type=file(".csv"), metavar="FILE", help="write the counts: .csv"),
    JSON,
)
"""Options of what is scored."""
EXPORT = (
    argument("selector", nargs="?", metavar="TASK", help="a task of docs/benchmark.md, all, or a clone's experiment"),
    SPLIT,
    argument("--format", choices=EXPORTS, default="jsonl", help="default jsonl"),
    argument("--out", type=file(), metavar="DIR", help="folder of the files and their card"),
    argument("--hub", type=file(), metavar="DIR", help="folder of a dataset for Hugging Face's Hub"),
    argument("--size", type=positive, metavar="N",
             help="longest trained length of a task (default: every size; to train on, that of the papers)"),
    argument("--examples", type=positive, metavar="N", help="problems of a cell, or of a task's training"),
    PROTOCOL,
)
SCORE = (
    argument("task", metavar="TASK", help="a task of docs/benchmark.md, or an experiment of a clone"),
    argument("predictions", nargs="?", type=file(), metavar="FILE", help="lines of JSON: id, prediction, seed"),
    argument("--lm-eval", nargs="+", type=file(".jsonl"), metavar="FILE",
             help="samples that lm-evaluation-harness logged, in place of predictions"),
    SIZE, *SCORED,
)
EVALUATE = (
    argument("function", nargs="?", metavar="MODULE:FUNCTION",
             help="from prompts to texts; FILE.py:FUNCTION, or a file in AdderBoard's form, too"),
    argument("--hf", type=file(), metavar="DIR", help="a causal language model of transformers"),
    argument("--shots", type=positive, metavar="N", help="of --hf: solved problems that stand before each"),
    flag("--chat", "of --hf: ask in the chat template of its tokenizer"),
    argument("--run", metavar="SELECTOR", help="a model as solve takes it: shipped, a folder, an experiment"),
    argument("--on", required=True, metavar="TASK", help="a task of docs/benchmark.md"),
    argument("--problems", type=file(), metavar="FILE", help="lines such as 12+34=46; - is stdin"),
    argument("--out", type=file(".jsonl"), metavar="FILE", help="write the predictions: .jsonl"),
    argument("--submission", type=file(), metavar="DIR", help="write the two files of a submission"),
    argument("--name", metavar="TEXT", help="name of the model in a submission"),
    argument("--split", choices=("test", "carry"), default="test", help="test (default), or chains of carries"),
    PROTOCOL, SIZE, *SCORED,
)
ADDERBOARD = (
    argument("selector", nargs="?", metavar="SELECTOR", help="my_submission.py, or a model as --run of evaluate"),
    argument("--pairs", type=positive, metavar="N", help="random pairs (default: those of the check)"),
    JSON,
)
SEED = argument("--seed", type=seed, metavar="K", help="of training problems, or of the predictions (default 0)")
PROBLEMS = (
    argument("task", metavar="TASK", help="a task of docs/benchmark.md"), SPLIT, SIZE, SEED, PROTOCOL,
    argument("--examples", type=positive, metavar="N", help="problems to train on"),
)
HELP = {
    "problems": "print the problems of a task as lines of JSON",
    "export": "problems of a task as files, as a dataset of the Hub, or as tasks of lm-evaluation-harness",
    "score": "predictions made elsewhere: exact match, reach, area, kinds of error",
    "evaluate": "let a function or a model answer a task of the benchmark",
    "adderboard": "the community's check of ten-digit addition",
}
COMMANDS = (
    Command("problems", HELP["problems"], "lengen.benchmark.commands:problems", PROBLEMS),
    Command("export", HELP["export"], "lengen.benchmark.commands:export", (*EXPORT, SEED)),
    Command("score", HELP["score"], "lengen.benchmark.commands:score", (*SCORE, SEED)),
    Command("evaluate", HELP["evaluate"], "lengen.benchmark.commands:evaluate", (*EVALUATE, SEED)),
    Command("adderboard", HELP["adderboard"], "lengen.benchmark.commands:adderboard", ADDERBOARD),
    Command("solve", "let a model answer one problem", "lengen.cli:solve", (
        argument("model", help=f"{', '.join(SHIPPED)}; or the folder of a run; in a clone also an experiment"),
        argument("operands", nargs="+", metavar="OPERAND"),
    )),
)
# fmt: on


def solve(options: argparse.Namespace, _: Any) -> None:
    """Let a model answer one problem."""
    import lengen

    print(json.dumps(lengen.load(options.model).solve(options.operands), ensure_ascii=False, indent=1))


def parser() -> argparse.ArgumentParser:
    """Return the whole command line."""
    from lengen import __version__

    top = argparse.ArgumentParser("lengen", description="Arithmetic by length: a benchmark, and models that answer it.")
    top.add_argument("-V", "--version", action="version", version=f"lengen {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for row in COMMANDS:
        command = commands.add_parser(row.name, help=row.help, allow_abbrev=False)
        for argument in row.arguments:
            command.add_argument(*argument.names, **argument.fields)
    return top


def sentence(error: Exception) -> str:
    """Return what went wrong, where, and what to do about it."""
    if isinstance(error, ModuleNotFoundError) and error.name in ("pandas", "matplotlib", "seaborn"):
        return f"tables and pictures need {error.name}: pip install 'lengen[reproduce]'"
    if isinstance(error, OSError) and error.strerror:
        place = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        return f"{place}{error.strerror}; make room, give permission, or name another file or folder"
    return str(error)


def entry(arguments: Sequence[str] | None = None) -> int:
    """Answer one command and return the exit code: 2 for what the user can mend, which is told in one sentence."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = parser().parse_args(["--help"] if given in ([], ["help"]) else given)
    row = next(row for row in COMMANDS if row.name == options.command)
    os.environ["MPLBACKEND"] = "agg"  # it only draws files; a notebook hands down a backend of its own
    warnings.formatwarning = lambda message, *_: f"lengen: {message}\n"
    from lengen.benchmark.commands import Sources

    try:
        pkgutil.resolve_name(row.answer)(options, Sources())
    except BrokenPipeError:
        sys.stderr.close()
    except KeyboardInterrupt:
        print("lengen: interrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError, ModuleNotFoundError) as error:
        if isinstance(error, ValueError) and not is_sentence(error):
            raise
        print(f"lengen: {sentence(error)}", file=sys.stderr)
        return 2
    return 0

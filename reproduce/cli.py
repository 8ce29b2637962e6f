"""The command line: arguments go in, an exit code comes out; every expected error ends here as one sentence.

Exit codes: 0 done, 1 some runs failed, 2 bad input or a folder that cannot be used, 130 interrupted by Ctrl-C, 143
by SIGTERM. Nothing here imports torch; the commands themselves are in `reproduce.commands`.
"""

import argparse
import contextlib
import io
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from lengen.paper.experiment import PROFILES
from reproduce import is_sentence
from reproduce.commands.parser import Parser

FORMATS = ("table", "md", "csv", "json")
EXPORTS = ("jsonl", "txt", "csv", "parquet", "lm-eval")
LOGGERS = ("tensorboard", "wandb")
SHELLS = ("bash", "zsh", "fish", "powershell")
"""Those that argcomplete writes scripts for."""
MOST_SEEDS = 1000


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM while runs are made; no KeyboardInterrupt, because Lightning turns those into exit code 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


LOST = re.compile(r"--[\w-]+=--")
"""A value that argparse takes for the end of the options before Python 3.13, and loses."""


def program() -> str:
    """The program as it was called."""
    return "reproduce" if Path(sys.argv[0]).stem == "reproduce" else "python -m reproduce"


def seeds(text: str) -> tuple[int, ...]:
    """Seeds of ``--seeds``: ``5`` is seed 5, ``0..2`` and ``0-2`` are 0, 1, 2, ``0,2`` is 0 and 2; each once, in order.

    >>> seeds("5"), seeds("0..2"), seeds("0-2"), seeds("0,2"), seeds("0..1,7")
    ((5,), (0, 1, 2), (0, 1, 2), (0, 2), (0, 1, 7))
    """
    chosen: list[int] = []
    for part in text.split(","):
        first, dots, last = re.sub(r"(?<=\d)-(?=\d)", "..", part.strip()).partition("..")
        if not _is_whole(first) or (dots and not _is_whole(last)):
            raise argparse.ArgumentTypeError(f"'{text}' is no list of seeds: expected 5, 0..2 or 0,2")
        if dots and int(last) < int(first):
            raise argparse.ArgumentTypeError(f"'{text}' counts down: expected the smaller seed first, {last}..{first}")
        if dots and int(last) - int(first) >= MOST_SEEDS:
            raise argparse.ArgumentTypeError(f"'{text}' names more than {MOST_SEEDS} seeds")
        chosen += range(int(first), int(last if dots else first) + 1)
    return tuple(dict.fromkeys(chosen))


def names(text: str) -> tuple[str, ...]:
    """Names of ``--task`` and ``--tricks``, between commas.

    >>> names("abacus, fire")
    ('abacus', 'fire')
    """
    chosen = tuple(part.strip() for part in text.split(","))
    if not all(chosen):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of names: expected some between commas, such as a,b")
    return chosen


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def seed(text: str) -> int:
    """One seed."""
    if not _is_whole(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: expected a whole number from 0")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if not (_is_whole(text) and int(text) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of them: expected a whole number from 1")
    return int(text)


def file(*endings: str) -> Callable[[str], str]:
    """Reads the name of a file with one of the endings, or of any file or folder.

    >>> file(".csv")("scores.csv"), file()("out")
    ('scores.csv', 'out')
    """

    def read(text: str) -> str:
        if text.strip() and text.isprintable() and (not endings or text.endswith(endings)):
            return text
        raise argparse.ArgumentTypeError(
            f"'{text}' is no such name: expected one {' or '.join(endings) or 'of a file'}"
        )

    return read


def steps(text: str) -> range:
    """Steps of ``--steps``.

    >>> steps("0..99"), steps("5")
    (range(0, 100), range(5, 6))
    """
    first, dots, last = text.partition("..")
    if not (_is_whole(first) and (not dots or _is_whole(last))):
        raise argparse.ArgumentTypeError(f"'{text}' is no range of steps: expected 0..99 or 5")
    return range(int(first), int(last if dots else first) + 1)


def share_of(least: int) -> Callable[[str], float]:
    """Reads a number of cores or GPUs: a whole number from ``least``, or a part of one.

    >>> share_of(0)("0.25"), share_of(1)("2")
    (0.25, 2.0)
    """

    def read(text: str) -> float:
        whole, _, part = text.partition(".")
        if _is_whole(whole or "0") and (not part or _is_whole(part)) and (whole or part):
            number = float(text)
            if (number.is_integer() and number >= least) or 0 < number < 1:
                return number
        expected = f"expected a whole number from {least}, or a part of one such as 0.25"
        raise argparse.ArgumentTypeError(f"'{text}' is no number of cores or GPUs: {expected}")

    return read


def _results() -> ModuleType:
    """The commands that read, loaded when one is given."""
    from reproduce.commands import results

    return results


def _problem() -> ModuleType:
    """The commands that put a problem to a model, loaded when one is given."""
    from reproduce.commands import problem

    return problem


def _doctor(_: argparse.Namespace) -> int:
    """The command doctor, loaded when it is given."""
    from reproduce.commands import doctor

    return doctor.doctor_command()


def _completion(options: argparse.Namespace) -> int:
    """The command completion, loaded when it is given."""
    from reproduce.commands import completion

    return completion.completion_command(options)


def _selectors(prefix: str, **found: object) -> list[str]:
    """Completions of a selector, loaded when a shell needs them."""
    from reproduce.commands import completion

    return completion.selectors(prefix, **found)


def _bench(options: argparse.Namespace) -> int:
    """The command bench, loaded when it is given."""
    from reproduce.bench import __main__ as bench

    return bench.main(options.arguments[1:])


def _adderboard(options: argparse.Namespace) -> int:
    """The command adderboard, loaded when it is given."""
    from reproduce.commands import adderboard

    return adderboard.adderboard_command(options)


def _exchange() -> ModuleType:
    """The commands that hand problems out and take predictions in, loaded when one is given."""
    from reproduce.commands import exchange

    return exchange


def _run(options: argparse.Namespace) -> int:
    """The commands that train, with handlers for signals while they do."""
    from reproduce.commands import rerun, run

    handlers = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return rerun.rerun_command(options) if options.command == "rerun" else run.run_command(options)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interrupt(number: int, _: object) -> None:
    raise Interrupted(number)


class Joined(argparse.Action):
    """Several words as one, between spaces; none of them: None, or refused if one is needed."""

    def __call__(self, parser: Any, options: argparse.Namespace, values: Any, option: str | None = None) -> None:
        if self.nargs == "+" and not "".join(values):
            raise argparse.ArgumentError(self, "expected a selector, such as paper1 or paper1/fig1; list has them all")
        setattr(options, self.dest, " ".join(values) or None)


def _takes_a_selector(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    words = "paper, paper/figure or paper/figure/variant; a paper by name or as paper1; wildcards * ? [] allowed"
    words += "; several side by side" * (nargs in ("+", "*"))
    several = nargs in ("+", "*")
    action: Any = {"action": Joined} if several else {}
    argument = command.add_argument("selector", nargs=nargs, metavar="SELECTOR", help=words, **action)
    argument.completer = _selectors  # type: ignore[attr-defined]


def _takes_a_run(command: argparse.ArgumentParser, overrides: bool = True) -> None:
    """Options that say which stored run of an experiment answers."""
    command.add_argument("--profile", choices=PROFILES, help="of the run to take (default: any)")
    command.add_argument("--seed", type=seed, metavar="K", help="of the run to take (default: any)")
    if overrides:
        words = "the newest run, even if it was made with --set"
        command.add_argument("--with-overrides", action="store_true", help=words)


def parser() -> Parser:
    """The whole command line; each command names the function that answers it as ``answer``."""
    top = Parser(prog=program(), description="Reproduce papers on length generalization, claim by claim.")
    top.add_argument("-V", "--version", action="store_true", help="version of this program and its commit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    command = commands.add_parser("list", help="papers, a paper's figures or a figure's variants, with verdicts")
    command.set_defaults(answer=lambda options: _results().list_command(options))
    _takes_a_selector(command, nargs="*")

    command = commands.add_parser("show", help="an experiment: setting, published numbers and claims, commands")
    command.set_defaults(answer=lambda options: _results().show_command(options))
    _takes_a_selector(command, nargs="+")
    command.add_argument("--full", action="store_true", help="every field, not only what differs from its default")

    command = commands.add_parser("doctor", help="what this machine has, what it lacks, and what to do about it")
    command.set_defaults(answer=_doctor)

    command = commands.add_parser("run", help="train, measure and store; resumes and skips what is finished")
    command.set_defaults(answer=_run)
    _takes_a_selector(command, nargs="+")
    command.add_argument(
        "--profile",
        "-p",
        choices=PROFILES,
        help="size of the experiments (default: cpu; night where that alone is there beside smoke)",
    )
    words = "which seeds: 3 is seed 3 alone, 0..2 are three, 0,2 are two"
    command.add_argument("--seeds", "--seed", type=seeds, metavar="0..2", help=words)
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="A.B=V",
        dest="overrides",
        help="change the spec; repeatable, and A.B=V alone is read as well",
    )
    for option, level in (("--task", "second"), ("--tricks", "third")):
        command.add_argument(
            option,
            type=names,
            default=(),
            metavar="A,B",
            help=f"of the selected experiments only those whose name has one of these as its {level} part; wildcards",
        )
    command.add_argument("--dry-run", "-n", action="store_true", help="say what would run, and for how long")
    command.add_argument("--fresh", action="store_true", help="redo all selected runs, finished or not")
    command.add_argument("--missing", action="store_true", help="only runs that results/reference lacks")
    command.add_argument(
        "--jobs", "-j", type=positive, metavar="N", help="runs side by side (default: cores; 1 on a GPU)"
    )
    command.add_argument(
        "--executor",
        choices=("local", "ray", "slurm"),
        default="local",
        help="run here, on a Ray cluster, or submit to Slurm: docs/clusters.md",
    )
    command.add_argument("--address", metavar="HOST:PORT", help="of the Ray cluster (default: $RAY_ADDRESS)")
    command.add_argument("--cpus-per-run", type=share_of(1), metavar="N", help="cores of a run there (default 1)")
    command.add_argument(
        "--gpus-per-run",
        type=share_of(0),
        metavar="N",
        help="GPUs of a run on Ray, 0.25 for four on one (default: 1 at the paper profile, else 0)",
    )
    command.add_argument("--workers", type=positive, metavar="N", help="workers to submit to Slurm (default 8)")
    command.add_argument(
        "--sbatch-args",
        action="append",
        default=[],
        metavar="=ARGS",
        help='further arguments of sbatch, as in --sbatch-args="--partition=gpu --time=12:00:00"; repeatable',
    )
    command.add_argument(
        "--share",
        action="store_true",
        help="share runs with other commands: end once they are making all that is left, and draw nothing",
    )
    command.add_argument(
        "--logger",
        action="append",
        choices=LOGGERS,
        default=[],
        dest="loggers",
        help="log to this beside metrics.csv, into the run's folder loggers; repeatable",
    )
    command.add_argument(
        "--without-gpu", action="store_true", help="start the paper profile on a machine that has no GPU, too"
    )

    command = commands.add_parser("rerun", help="repeat a stored run, and say whether it gives the same numbers")
    command.set_defaults(answer=_run)
    command.add_argument("run", metavar="RUN", help="folder of a run, or paper/figure/variant for its newest")
    _takes_a_run(command, overrides=False)

    beside = "also what was made with --set, beside the rest; it decides no verdict"
    for name, text, answer in (
        ("figures", "draw the figures of stored runs", lambda options: _results().figures_command(options)),
        (
            "compare",
            "published numbers and claims against stored runs",
            lambda options: _results().compare_command(options),
        ),
        ("report", "one site with everything", lambda options: _results().report_command(options)),
    ):
        command = commands.add_parser(name, help=text)
        command.set_defaults(answer=answer)
        _takes_a_selector(command, nargs="*")
        if name != "report":
            command.add_argument("--format", choices=FORMATS, default="table", help="how to print (default table)")
        if name == "compare":
            command.add_argument("--with-overrides", action="store_true", help=beside)
        if name == "figures":
            words = "write committed pictures, too, when other versions than the locked ones draw them"
            command.add_argument("--any-versions", action="store_true", help=words)
        if name == "compare":
            command.add_argument(
                "--check-history", action="store_true", help="check against git that claims stood as runs recorded them"
            )

    command = commands.add_parser("promote", help="copy finished local runs into results/reference")
    command.set_defaults(answer=lambda options: _results().promote_command(options))
    _takes_a_selector(command, nargs="+")
    command.add_argument("--profile", choices=PROFILES, help="default: cpu, night and paper")
    command.add_argument("--seeds", type=seeds, metavar="0..2", help="of these alone: 5, 0..2 or 0,2")
    command.add_argument("--weights", action="store_true", help="with model.safetensors, where it is below 4 MB")
    command.add_argument("--from", dest="source", metavar="DIR", help="runs of another results folder")

    for name, text, answer in (
        ("encode", "how a problem looks to the model", lambda options: _problem().encode_command(options)),
        (
            "probe",
            "what a trained model's residual stream shows, layer by layer",
            lambda options: _problem().probe_command(options),
        ),
        ("solve", "let a trained model answer", lambda options: _problem().solve_command(options)),
    ):
        command = commands.add_parser(name, help=text)
        command.set_defaults(answer=answer)
        _takes_a_selector(command)
        words = "a number, a digit of a string, or a sum as in 57+48="
        words += "; none, or -: a line of the standard input is a problem" * (name == "solve")
        command.add_argument("operands", nargs="*", metavar="OPERAND", help=words)
        command.add_argument("--json", action="store_true", help="one line of JSON")
        if name == "probe":
            command.add_argument(
                "--out", metavar="FILE", help="draw the selected figure for this problem: .png or .svg"
            )
        else:
            words = "an auxiliary task of the setting (default: its main task)"
            command.add_argument("--task", default="", help=words)
        if name != "encode":
            _takes_a_run(command)

    command = commands.add_parser(
        "completion", help='complete the program reproduce in a shell: eval "$(reproduce completion bash)"'
    )
    command.set_defaults(answer=_completion)
    command.add_argument("shell", nargs="?", choices=SHELLS, default=SHELLS[0], help=f"default {SHELLS[0]}")

    command = commands.add_parser("bench", help="measure speed on this machine, as ratios", add_help=False)
    command.set_defaults(answer=_bench)

    command = commands.add_parser(
        "adderboard", help="the community's check of ten-digit addition, on this suite's models"
    )
    command.set_defaults(answer=_adderboard)
    command.add_argument(
        "selector",
        nargs="?",
        metavar="SELECTOR",
        help="an experiment, or my_submission.py (default: those offered)",
    )
    _takes_a_run(command)
    command.add_argument("--pairs", type=positive, metavar="N", help="random pairs (default: those of the check)")
    command.add_argument("--json", action="store_true", help="one line of JSON")
    _exchanges(commands)
    return top


def _exchanges(commands: "argparse._SubParsersAction[Parser]") -> None:
    """The commands export, score and evaluate."""
    command = commands.add_parser("export", help="problems of a task or an experiment as files; a run for Hugging Face")
    command.set_defaults(answer=lambda options: _exchange().export_command(options))
    command.add_argument("selector", metavar="SELECTOR", help="a task of docs/benchmark.md, or an experiment")
    command.add_argument("--split", choices=("test", "train"), default="test", help="default test")
    command.add_argument("--format", choices=EXPORTS, default="jsonl", help="default jsonl")
    command.add_argument("--out", type=file(), metavar="DIR", help="folder of the files and their card")
    command.add_argument("--hf", type=file(), metavar="DIR", help="folder of the run: config.json, tokenizer, a card")
    _takes_problems(command)
    command.add_argument("--examples", type=positive, metavar="N", help="problems of a cell, or of a task's training")
    command.add_argument("--steps", type=steps, metavar="0..99", help="of an experiment's training (default: all)")
    _takes_a_run(command, overrides=False)

    command = commands.add_parser("score", help="predictions made elsewhere: exact match, reach, edit distance")
    command.set_defaults(answer=lambda options: _exchange().score_command(options))
    command.add_argument("task", metavar="TASK", help="a task of docs/benchmark.md, or an experiment")
    command.add_argument("predictions", type=file(), metavar="FILE", help="lines of JSON: id, prediction, seed")
    _takes_problems(command)
    _tells(command)
    _takes_a_run(command, overrides=False)

    command = commands.add_parser("evaluate", help="let a function or a model answer a task of the benchmark")
    command.set_defaults(answer=lambda options: _exchange().evaluate_command(options))
    command.add_argument("function", nargs="?", metavar="MODULE:FUNCTION", help="from a list of prompts to texts")
    command.add_argument("--hf", type=file(), metavar="DIR", help="a causal language model of transformers")
    command.add_argument("--run", metavar="SELECTOR", help="a stored run, or a constructed model, of this suite")
    command.add_argument("--on", required=True, metavar="TASK", help="a task of docs/benchmark.md")
    command.add_argument("--problems", type=file(), metavar="FILE", help="lines such as 12+34=46; - is stdin")
    command.add_argument("--out", type=file(".jsonl"), metavar="FILE", help="write the predictions: .jsonl")
    command.add_argument("--submission", type=file(), metavar="DIR", help="write the two files of a submission")
    command.add_argument("--name", metavar="TEXT", help="name of the model in a submission")
    _takes_problems(command)
    _tells(command)
    _takes_a_run(command, overrides=False)


def _takes_problems(command: argparse.ArgumentParser) -> None:
    words = "longest trained length, which decides a task's problems (default: that of the papers)"
    command.add_argument("--size", type=positive, metavar="N", help=words)


def _tells(command: argparse.ArgumentParser) -> None:
    """Options of what is scored."""
    words = "digits of predicted numbers stand least significant first"
    command.add_argument("--units-first", action="store_true", help=words)
    command.add_argument("--beside", metavar="SELECTOR", help="an experiment whose newest run is printed beside")
    command.add_argument("--picture", type=file(".png", ".svg"), metavar="FILE", help="draw exact match: .png or .svg")
    command.add_argument("--scores", type=file(".csv"), metavar="FILE", help="write the counts: .csv")
    command.add_argument("--json", action="store_true", help="one line of JSON")


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one command; the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if "_ARGCOMPLETE" in os.environ:  # a shell wants to know how the line may go on
        from reproduce.commands import completion

        completion.answer(parser())

    from reproduce.commands.habits import usual

    typed = usual(arguments)
    for word in typed:
        if LOST.fullmatch(word):
            return _refuse(f"{word}: expected a value behind =; see {program()} --help")
    try:
        top = parser()
        top.typed = typed
        if typed[:1] == ["bench"]:
            options = argparse.Namespace(command="bench", answer=_bench)
        else:
            options = top.parse_args(typed)
    except SystemExit as end:
        return int(end.code or 0)
    if options.command is None:
        if options.version:
            from reproduce.store.provenance import commit, suite_version

            print(f"lengen-suite {suite_version()} ({commit()[0]})")
        else:
            top.print_help()
        return 0
    options.arguments = arguments
    try:
        code = max(options.answer(chosen) for chosen in _one_by_one(options))
        sys.stdout.flush()
        return code
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
        return _refuse(f"{place}{error.strerror or error}; make room or give permission")
    except Exception as error:
        from reproduce.runs.perform import FatalError

        if not is_sentence(error) and not isinstance(error, FatalError):
            raise
        return _refuse(str(error))


def _one_by_one(options: argparse.Namespace) -> list[argparse.Namespace]:
    """The same options once for each selector; the command run takes all of them at once."""
    given = getattr(options, "selector", None)
    if given is None or options.command == "export":  # which takes the name of a task, too
        return [options]
    from reproduce.runs.catalogue import CATALOGUE, SelectorError

    selectors = [CATALOGUE.canonical(name) for name in given.split() or [given]]
    if options.command == "run":
        selectors = [" ".join(selectors)]
    if len(selectors) > 1 and getattr(options, "format", "table") in ("csv", "json"):
        raise SelectorError(f"--format {options.format} takes one selector: run the command once for each")
    return [argparse.Namespace(**{**vars(options), "selector": selector}) for selector in selectors]


def _goes_on(options: argparse.Namespace) -> str:
    """Effect of the same command on the files of an interrupted one."""
    if options.command != "run":
        return ""
    if options.fresh:
        return ": the same command will begin anew; without --fresh it will resume what has no finished version"
    return ": the same command will resume where it stopped"


def _refuse(sentence: str) -> int:
    from reproduce.store.atomic_files import one_line

    print(one_line(f"{program()}: {sentence}"), file=sys.stderr)
    return 2


def home_for_matplotlib() -> None:
    """Give matplotlib, which others load as well, a folder for its cache when the home folder cannot be written."""
    if "MPLCONFIGDIR" in os.environ:
        return
    place = Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) / "matplotlib"
    nearest = next((path for path in (place, *place.parents) if path.exists()), None)
    if nearest is None or not os.access(nearest, os.W_OK):
        owner = os.getuid() if hasattr(os, "getuid") else "user"
        made = Path(tempfile.gettempdir()) / f"lengen-matplotlib-{owner}"
        with contextlib.suppress(OSError):
            made.mkdir(mode=0o700, exist_ok=True)
            os.environ["MPLCONFIGDIR"] = str(made)


def entry() -> NoReturn:
    """Entry point of the shell; a character that its encoding lacks is printed as an escape."""
    home_for_matplotlib()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main())

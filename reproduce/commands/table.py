"""The table of commands, and readers of their values. No command is loaded before it is given."""

import argparse
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from lengen.experiment import PROFILES

MOST_SEEDS = 1000


def seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of ``--seeds``: ``5`` is 5, ``0..2`` and ``0-2`` are 0, 1, 2, ``0,2`` is 0 and 2; each once.

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


def seed(text: str) -> int:
    """Return one seed."""
    if not _is_whole(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: expected a whole number from 0")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number from 1."""
    if not (_is_whole(text) and int(text) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of them: expected a whole number from 1")
    return int(text)


def file(*endings: str) -> Callable[[str], str]:
    """Return a parser of file names that takes those with one of the endings; without endings any file or folder.

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
    """Return the steps of ``--steps``.

    >>> steps("0..99"), steps("5")
    (range(0, 100), range(5, 6))
    """
    first, dots, last = text.partition("..")
    if not (_is_whole(first) and (not dots or _is_whole(last))):
        raise argparse.ArgumentTypeError(f"'{text}' is no range of steps: expected 0..99 or 5")
    if dots and int(last) < int(first):
        raise argparse.ArgumentTypeError(f"'{text}' counts down: expected the smaller step first, {last}..{first}")
    return range(int(first), int(last if dots else first) + 1)


def share_of(least: int) -> Callable[[str], float]:
    """Return a reader of a number of cores or GPUs: a whole number from ``least``, or a part of one.

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


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


class Joined(argparse.Action):
    """Several words as one, between spaces; none of them: None, or refused if one is needed."""

    def __call__(self, parser: Any, options: argparse.Namespace, values: Any, option: str | None = None) -> None:
        if self.nargs == "+" and not "".join(values):
            raise argparse.ArgumentError(self, "expected a selector, such as paper1 or paper1/fig1; list has them all")
        setattr(options, self.dest, " ".join(values) or None)
        options.several = True  # more may stand behind options


FORMATS = ("table", "md", "csv", "json")
EXPORTS = ("jsonl", "txt", "csv", "parquet", "lm-eval")
LOGGERS = ("tensorboard", "wandb")
SHELLS = ("bash", "zsh", "fish", "powershell")
"""Those that argcomplete writes scripts for."""


class Argument(NamedTuple):
    """An argument of a command, as argparse takes it."""

    names: tuple[str, ...]
    fields: dict[str, Any]


class Command(NamedTuple):
    """A row of the table."""

    name: str
    help: str
    answer: str
    """``module:function`` in `reproduce.commands`: of the options, the exit code."""
    arguments: tuple[Argument, ...] = ()
    trains: bool = False
    """It trains, so Ctrl-C and SIGTERM end it as interrupted."""


def _a(*names: str, **fields: Any) -> Argument:
    return Argument(names, fields)


def _flag(*names: str) -> Argument:
    """Return an option without a value; the last of the names is its help."""
    return Argument(names[:-1], {"action": "store_true", "help": names[-1]})


# fmt: off
_WHERE = "paper, paper/figure or paper/figure/variant; a paper by name or as paper1; wildcards * ? [] allowed"
_SEVERAL = f"{_WHERE}; several side by side"
SELECTOR = _a("selector", metavar="SELECTOR", help=_WHERE)
SELECTORS = _a("selector", nargs="+", metavar="SELECTOR", help=_SEVERAL, action=Joined)
ANY = _a("selector", nargs="*", metavar="SELECTOR", help=_SEVERAL, action=Joined)
OF_A_RUN = (
    _a("--profile", choices=PROFILES, help="of the run to take (default: any)"),
    _a("--seed", type=seed, metavar="K", help="of the run to take (default: any)"),
)
"""The stored run of an experiment that answers."""
A_RUN = (
    *OF_A_RUN,
    _flag("--with-overrides", "the newest run, even if it was made with --set"),
)
FORMAT = _a("--format", choices=FORMATS, default="table", help="how to print (default table)")
JSON = _flag("--json", "one line of JSON")
_OPERAND = "a number, a digit of a string, or a sum as in 57+48="
OPERANDS = _a("operands", nargs="*", metavar="OPERAND", help=_OPERAND)
LINES = _a("operands", nargs="*", metavar="OPERAND",
           help=f"{_OPERAND}; none, or -: a line of the standard input is a problem")
AUXILIARY = _a("--task", default="", help="an auxiliary task of the setting (default: its main task)")
SIZE = _a("--size", type=positive, metavar="N",
          help="longest trained length, which decides a task's problems (default: that of the papers)")
SCORED = (
    _flag("--units-first", "digits of predicted numbers stand least significant first"),
    _a("--beside", metavar="SELECTOR", help="an experiment whose newest run is printed beside"),
    _a("--picture", type=file(".png", ".svg"), metavar="FILE", help="draw exact match: .png or .svg"),
    _a("--scores", type=file(".csv"), metavar="FILE", help="write the counts: .csv"),
    JSON,
)
"""Options of what is scored."""
RUN = (
    SELECTORS,
    _a("--profile", "-p", choices=PROFILES,
       help="size of the experiments (default: cpu; night where that alone is there beside smoke)"),
    _a("--seeds", "--seed", type=seeds, metavar="0..2",
       help="which seeds: 3 is seed 3 alone, 0..2 are three, 0,2 are two"),
    _a("--set", action="append", default=[], metavar="A.B=V", dest="overrides",
       help="change the spec; repeatable, and A.B=V alone is read as well"),
    _flag("--dry-run", "-n", "say what would run, and for how long"),
    _flag("--fresh", "redo all selected runs, finished or not"),
    _flag("--missing", "only runs that results/reference lacks"),
    _flag("--telling-first", "undecided statements first, then missed values; ends with how to send the results"),
    _a("--jobs", "-j", type=positive, metavar="N", help="runs side by side (default: cores; 1 on a GPU)"),
    _a("--executor", choices=("local", "ray", "slurm"), default="local",
       help="run here, on a Ray cluster, or submit to Slurm: docs/clusters.md"),
    _a("--address", metavar="HOST:PORT", help="of the Ray cluster (default: $RAY_ADDRESS)"),
    _a("--cpus-per-run", type=share_of(1), metavar="N", help="cores of a run there (default 1)"),
    _a("--gpus-per-run", type=share_of(0), metavar="N",
       help="GPUs of a run on Ray, 0.25 for four on one (default: 1 at the paper profile, else 0)"),
    _a("--workers", type=positive, metavar="N", help="workers to submit to Slurm (default 8)"),
    _a("--sbatch-args", action="append", default=[], metavar="=ARGS",
       help='further arguments of sbatch, as in --sbatch-args="--partition=gpu --time=12:00:00"; repeatable'),
    _flag("--share", "share runs with other commands: end once they are making all that is left, and draw nothing"),
    _a("--logger", action="append", choices=LOGGERS, default=[], dest="loggers",
       help="log to this beside metrics.csv, into the run's folder loggers; repeatable"),
    _flag("--without-gpu", "start the paper profile on a machine that has no GPU, too"),
)

COMMANDS = (
    Command("list", "papers, a paper's figures or a figure's variants, with answers", "results:list_command", (ANY,)),
    Command("show", "an experiment: setting, published numbers, statements, commands", "results:show_command", (
        SELECTORS,
        _flag("--full", "every field, not only what differs from its default"),
    )),
    Command("doctor", "what this machine has, what it lacks, and what to do about it", "doctor:doctor_command"),
    Command("run", "train, measure and store; resumes and skips what is finished", "run:run_command", RUN, trains=True),
    Command("rerun", "repeat a stored run, and say whether it gives the same numbers", "rerun:rerun_command", (
        _a("run", metavar="RUN", help="folder of a run, or paper/figure/variant for its newest"),
        *OF_A_RUN,
    ), trains=True),
    Command("figures", "draw the figures of stored runs", "results:figures_command", (
        ANY,
        FORMAT,
        _flag("--any-versions", "write committed pictures, too, when other versions than the locked ones draw them"),
    )),
    Command("compare", "published numbers and statements against stored runs", "compare:compare_command", (
        ANY,
        FORMAT,
        _flag("--all", "every published value, not only those that are missed"),
        _flag("--check-history", "check against git that statements stood as runs recorded them"),
    )),
    Command("report", "one site with everything", "results:report_command", (ANY,)),
    Command("promote", "copy finished local runs into results/reference", "promote:promote_command", (
        SELECTORS,
        _a("--profile", choices=PROFILES, help="default: cpu, night and paper"),
        _a("--seeds", type=seeds, metavar="0..2", help="of these alone: 5, 0..2 or 0,2"),
        _flag("--weights", "with model.safetensors, where it is below 4 MB"),
        _a("--from", dest="source", metavar="DIR", help="runs of another results folder"),
    )),
    Command("encode", "how a problem looks to the model", "problem:encode_command", (
        SELECTOR, OPERANDS, JSON, AUXILIARY,
    )),
    Command("probe", "what a trained model's residual stream shows, layer by layer", "problem:probe_command", (
        SELECTOR,
        OPERANDS,
        JSON,
        _a("--out", metavar="FILE", help="draw the selected figure for this problem: .png or .svg"),
        *A_RUN,
    )),
    Command("solve", "let a trained model answer", "problem:solve_command", (
        SELECTOR, LINES, JSON, AUXILIARY, *A_RUN,
    )),
    Command("completion", 'complete the program reproduce in a shell: eval "$(reproduce completion bash)"',
            "completion:completion_command", (
        _a("shell", nargs="?", choices=SHELLS, default=SHELLS[0], help=f"default {SHELLS[0]}"),
    )),
    Command("adderboard", "the community's check of ten-digit addition, on this suite's models",
            "evaluate:adderboard_command", (
        _a("selector", nargs="?", metavar="SELECTOR",
           help="an experiment, or my_submission.py (default: those offered)"),
        *A_RUN,
        _a("--pairs", type=positive, metavar="N", help="random pairs (default: those of the check)"),
        JSON,
    )),
    Command("export", "problems of a task or an experiment as files; a run for Hugging Face",
            "export:export_command", (
        _a("selector", metavar="SELECTOR", help="a task of docs/benchmark.md, or an experiment"),
        _a("--split", choices=("test", "train"), default="test", help="default test"),
        _a("--format", choices=EXPORTS, default="jsonl", help="default jsonl"),
        _a("--out", type=file(), metavar="DIR", help="folder of the files and their card"),
        _a("--hf", type=file(), metavar="DIR", help="folder of the run: config.json, tokenizer, a card"),
        _a("--size", type=positive, metavar="N",
           help="longest trained length of a task (default: problems of every size; to train on, that of the papers)"),
        _a("--examples", type=positive, metavar="N", help="problems of a cell, or of a task's training"),
        _a("--steps", type=steps, metavar="0..99", help="of an experiment's training (default: all)"),
        *OF_A_RUN,
    )),
    Command("score", "predictions made elsewhere: exact match, reach, edit distance", "evaluate:score_command", (
        _a("task", metavar="TASK", help="a task of docs/benchmark.md, or an experiment"),
        _a("predictions", type=file(), metavar="FILE", help="lines of JSON: id, prediction, seed"),
        SIZE, *SCORED, *OF_A_RUN,
    )),
    Command("evaluate", "let a function or a model answer a task of the benchmark", "evaluate:evaluate_command", (
        _a("function", nargs="?", metavar="MODULE:FUNCTION", help="from prompts to texts; FILE.py:FUNCTION, too"),
        _a("--hf", type=file(), metavar="DIR", help="a causal language model of transformers"),
        _a("--run", metavar="SELECTOR", help="a stored run, or a constructed model, of this suite"),
        _a("--on", required=True, metavar="TASK", help="a task of docs/benchmark.md"),
        _a("--problems", type=file(), metavar="FILE", help="lines such as 12+34=46; - is stdin"),
        _a("--out", type=file(".jsonl"), metavar="FILE", help="write the predictions: .jsonl"),
        _a("--submission", type=file(), metavar="DIR", help="write the two files of a submission"),
        _a("--name", metavar="TEXT", help="name of the model in a submission"),
        SIZE, *SCORED, OF_A_RUN[0],
        _a("--seed", type=seed, metavar="K",
           help="of the run to take (default: any), or of the predictions (default: 0)"),
    )),
)
# fmt: on

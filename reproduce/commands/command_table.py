"""The table of commands, and readers of their values. No command is loaded before it is given."""

import argparse
import re
from collections.abc import Callable
from typing import Any

from lengen.cli import (
    ADDERBOARD,
    EVALUATE,
    EXPORT,
    HELP,
    JSON,
    PROBLEMS,
    SCORE,
    Command,
    argument,
    flag,
    is_whole,
    positive,
    seed,
)
from lengen.cli import file as file
from lengen.experiment import PROFILES

MOST_SEEDS = 1000
PICTURES = ("svg", "png", "pdf")


def _from_to(part: str, text: str, word: str, expected: str) -> range:
    """Return the whole numbers that ``5`` or ``0..2`` names, a part of a text that is ``expected`` to be of others."""
    first, dots, last = part.partition("..")
    if not is_whole(first) or (dots and not is_whole(last)):
        raise argparse.ArgumentTypeError(f"'{text}' is no {expected}")
    if dots and int(last) < int(first):
        raise argparse.ArgumentTypeError(f"'{text}' counts down: expected the smaller {word} first, {last}..{first}")
    return range(int(first), int(last if dots else first) + 1)


def seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of ``--seeds``: ``5`` is 5, ``0..2`` and ``0-2`` are 0, 1, 2, ``0,2`` is 0 and 2; each once.

    >>> seeds("5"), seeds("0..2"), seeds("0-2"), seeds("0,2"), seeds("0..1,7")
    ((5,), (0, 1, 2), (0, 1, 2), (0, 2), (0, 1, 7))
    """
    chosen: list[int] = []
    for part in text.split(","):
        dotted = re.sub(r"(?<=\d)-(?=\d)", "..", part.strip())
        numbers = _from_to(dotted, text, "seed", "list of seeds: expected 5, 0..2 or 0,2")
        if numbers.stop - numbers.start > MOST_SEEDS:
            raise argparse.ArgumentTypeError(f"'{text}' names more than {MOST_SEEDS} seeds")
        chosen += numbers
    return tuple(dict.fromkeys(chosen))


def kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of pictures of ``--to``.

    >>> kinds("png,pdf")
    ('png', 'pdf')
    """
    named = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",")))
    if not set(named) <= set(PICTURES):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of kinds: expected some of {', '.join(PICTURES)}")
    return named


def steps(text: str) -> range:
    """Return the steps of ``--steps``.

    >>> steps("0..99"), steps("5")
    (range(0, 100), range(5, 6))
    """
    return _from_to(text, text, "step", "range of steps: expected 0..99 or 5")


def share_of(least: int) -> Callable[[str], float]:
    """Return a reader of a number of cores or GPUs: a whole number from ``least``, or a part of one.

    >>> share_of(0)("0.25"), share_of(1)("2")
    (0.25, 2.0)
    """

    def read(text: str) -> float:
        whole, _, part = text.partition(".")
        if is_whole(whole or "0") and (not part or is_whole(part)) and (whole or part):
            number = float(text)
            if (number.is_integer() and number >= least) or 0 < number < 1:
                return number
        expected = f"expected a whole number from {least}, or a part of one such as 0.25"
        raise argparse.ArgumentTypeError(f"'{text}' is no number of cores or GPUs: {expected}")

    return read


class Joined(argparse.Action):
    """Several words as one, between spaces; none of them: None, or refused if one is needed."""

    def __call__(self, parser: Any, options: argparse.Namespace, values: Any, option: str | None = None) -> None:
        if self.nargs == "+" and not "".join(values):
            raise argparse.ArgumentError(self, "expected a selector, such as paper1 or paper1/fig1; list has them all")
        setattr(options, self.dest, " ".join(values) or None)
        options.several = True  # more may stand behind options


FORMATS = ("table", "md", "csv", "json")
LOGGERS = ("tensorboard", "wandb")
SHELLS = ("bash", "zsh", "fish", "powershell")
"""Those that argcomplete writes scripts for."""


# fmt: off
_WHERE = "paper, paper/figure or paper/figure/variant; a paper by name or as paper1; wildcards * ? [] allowed"
_SEVERAL = f"{_WHERE}; several side by side"
SELECTOR = argument("selector", metavar="SELECTOR", help=_WHERE)
SELECTORS = argument("selector", nargs="+", metavar="SELECTOR", help=_SEVERAL, action=Joined)
ANY = argument("selector", nargs="*", metavar="SELECTOR", help=_SEVERAL, action=Joined)
OF_A_RUN = (
    argument("--profile", choices=PROFILES, help="of the run to take (default: any)"),
    argument("--seed", type=seed, metavar="K", help="of the run to take (default: any)"),
)
"""The stored run of an experiment that answers."""
A_RUN = (
    *OF_A_RUN,
    flag("--with-overrides", "the newest run, even if it was made with --set"),
)
MINE = flag("--mine", "your newest runs, also those made with --set or --lengths, over the committed ones")
FORMAT = argument("--format", choices=FORMATS, default="table", help="how to print (default table)")
_OPERAND = "a number, a digit of a string, or a sum as in 57+48="
OPERANDS = argument("operands", nargs="*", metavar="OPERAND", help=_OPERAND)
LINES = argument("operands", nargs="*", metavar="OPERAND",
           help=f"{_OPERAND}; none, or -: a line of the standard input is a problem")
AUXILIARY = argument("--task", default="", help="an auxiliary task of the setting (default: its main task)")
BESIDE = argument("--beside", metavar="SELECTOR", help="an experiment whose newest run is printed beside")
RUN = (
    SELECTORS,
    argument("--profile", "-p", choices=PROFILES,
       help="size of the experiments (default: cpu; night where that alone is there beside smoke)"),
    argument("--seeds", "--seed", type=seeds, metavar="0..2",
       help="which seeds: 3 is seed 3 alone, 0..2 are three, 0,2 are two"),
    argument("--set", action="append", default=[], metavar="A.B=V", dest="overrides",
       help="change the spec; repeatable, and A.B=V alone is read as well"),
    argument("--lengths", metavar="20,40,150",
       help="test these lengths instead; position ids and padding are raised with them"),
    flag("--dry-run", "-n", "say what would run, and for how long"),
    flag("--fresh", "redo all selected runs, finished or not"),
    flag("--missing", "only runs that results/reference lacks"),
    flag("--telling-first", "undecided statements first, then missed values; ends with how to send the results"),
    argument("--jobs", "-j", type=positive, metavar="N", help="runs side by side (default: cores; 1 on a GPU)"),
    argument("--executor", choices=("local", "ray", "slurm"), default="local",
       help="run here, on a Ray cluster, or submit to Slurm: docs/clusters.md"),
    argument("--address", metavar="HOST:PORT", help="of the Ray cluster (default: $RAY_ADDRESS)"),
    argument("--cpus-per-run", type=share_of(1), metavar="N", help="cores of a run there (default 1)"),
    argument("--gpus-per-run", type=share_of(0), metavar="N",
       help="GPUs of a run on Ray, 0.25 for four on one (default: 1 at the paper profile, else 0)"),
    argument("--workers", type=positive, metavar="N", help="workers to submit to Slurm (default 8)"),
    argument("--sbatch-args", action="append", default=[], metavar="=ARGS",
       help='further arguments of sbatch, as in --sbatch-args="--partition=gpu --time=12:00:00"; repeatable'),
    flag("--share", "share runs with other commands: end once they are making all that is left, and draw nothing"),
    argument("--logger", action="append", choices=LOGGERS, default=[], dest="loggers",
       help="log to this beside metrics.csv, into the run's folder loggers; repeatable"),
    flag("--without-gpu", "start the paper profile on a machine that has no GPU, too"),
)

COMMANDS = (
    Command(
        "list", "papers, a paper's figures or a figure's variants, with answers", "show_results:list_command", (ANY,)
    ),
    Command("show", "an experiment: setting, published numbers, statements, commands", "show_results:show_command", (
        SELECTORS,
        flag("--full", "every field, not only what differs from its default"),
    )),
    Command("doctor", "what this machine has, what it lacks, and what to do about it", "doctor:doctor_command"),
    Command("run", "train, measure and store; resumes and skips what is finished", "run:run_command", RUN, trains=True),
    Command("rerun", "repeat a stored run, and say whether it gives the same numbers", "rerun:rerun_command", (
        argument("run", metavar="RUN", help="folder of a run, or paper/figure/variant for its newest"),
        *OF_A_RUN,
    ), trains=True),
    Command("figures", "draw the figures of stored runs", "show_results:figures_command", (
        ANY,
        FORMAT,
        MINE,
        argument("--to", type=kinds, metavar="png,pdf", default=(), help="kinds of pictures: svg, png, pdf"),
        flag("--any-versions", "write committed pictures, too, when other versions than the locked ones draw them"),
    )),
    Command("compare", "published numbers and statements against stored runs", "compare:compare_command", (
        ANY,
        FORMAT,
        MINE,
        flag("--all", "every published value, not only those that are missed"),
        flag("--check-history", "check against git that statements stood as runs recorded them"),
    )),
    Command("report", "one site with everything", "show_results:report_command", (ANY,)),
    Command("promote", "copy finished local runs into results/reference", "promote:promote_command", (
        SELECTORS,
        argument("--profile", choices=PROFILES, help="default: cpu, night and paper"),
        argument("--seeds", type=seeds, metavar="0..2", help="of these alone: 5, 0..2 or 0,2"),
        flag("--weights", "with model.safetensors, where it is below 4 MB"),
        argument("--from", dest="source", metavar="DIR", help="runs of another results folder"),
    )),
    Command("encode", "how a problem looks to the model", "solve:encode_command", (
        SELECTOR, OPERANDS, JSON, AUXILIARY,
    )),
    Command("probe", "what a trained model's residual stream shows, layer by layer", "solve:probe_command", (
        SELECTOR,
        OPERANDS,
        JSON,
        argument("--out", metavar="FILE", help="draw the selected figure for this problem: .png or .svg"),
        *A_RUN,
    )),
    Command("solve", "let a trained model answer", "solve:solve_command", (
        SELECTOR, LINES, JSON, AUXILIARY, *A_RUN,
    )),
    Command("completion", 'complete the program reproduce in a shell: eval "$(reproduce completion bash)"',
            "completion:completion_command", (
        argument("shell", nargs="?", choices=SHELLS, default=SHELLS[0], help=f"default {SHELLS[0]}"),
    )),
    Command("adderboard", f"{HELP['adderboard']}, on this suite's models", "benchmark_commands:adderboard_command",
            (*ADDERBOARD, *A_RUN)),
    Command("problems", HELP["problems"], "benchmark_commands:problems_command", PROBLEMS),
    Command("export", f"{HELP['export']}; a run for Hugging Face", "benchmark_commands:export_command", (
        *EXPORT,
        argument("--hf", type=file(), metavar="DIR", help="folder of the run: config.json, tokenizer, a card"),
        argument("--steps", type=steps, metavar="0..99", help="of an experiment's training (default: all)"),
        *OF_A_RUN,
    )),
    Command("score", HELP["score"], "benchmark_commands:score_command", (*SCORE, BESIDE, *OF_A_RUN)),
    Command("evaluate", HELP["evaluate"], "benchmark_commands:evaluate_command", (
        *EVALUATE, BESIDE, OF_A_RUN[0],
        argument("--seed", type=seed, metavar="K",
           help="of the run to take (default: any), or of the predictions (default: 0)"),
    )),
)
# fmt: on

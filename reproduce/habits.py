"""Habits of other programs' command lines: read as they are meant, or answered with what to type here.

What was typed enters; arguments of the parser, or a sentence, leave. Loads nothing but the standard library.
"""

import difflib
import itertools
import re
from collections.abc import Collection, Sequence

ASSIGNED = re.compile(r"(?:--)?([A-Za-z_]\w*(?:\.\w+)+=.*)", re.DOTALL)
"""A setting as Hydra (``train.steps=5``) and Lightning's command line (``--train.steps=5``) take it."""
DOTTED = re.compile(r"--([A-Za-z_]\w*(?:\.\w+)+)")
COMMANDS = {
    "ls": "list", "status": "list", "papers": "list", "info": "show", "describe": "show", "config": "show",
    "train": "run", "fit": "run", "start": "run", "resume": "run", "repeat": "rerun", "plot": "figures",
    "draw": "figures", "eval": "compare", "test": "compare", "site": "report", "check": "doctor",
    "answer": "solve", "predict": "solve", "benchmark": "bench",
}  # fmt: skip
"""Names of other programs' commands -> ours."""
ANSWERS = {
    ("--config", "-c", "--config-file", "--cfg"): "settings stand in papers/*/experiments.py, --set A.B=V changes one",
    ("--resume", "--continue", "--restart"): "a run resumes by itself, --fresh begins anew",
    ("--force", "-f", "--overwrite"): "type --fresh to redo finished runs",
    ("--device", "--gpu", "--gpus", "--cuda", "--cpu", "--accelerator"): (
        "--profile paper uses the GPU, the other profiles a core per run; --gpus-per-run goes with --executor ray"
    ),
    ("--output-dir", "--output", "--out-dir", "--out", "-o", "--results"): "set LENGEN_RESULTS=FOLDER for local runs",
    ("--multirun", "-m", "--sweep"): "--set takes one value: run the command once for each",
    ("--verbose", "-v", "--quiet", "-q", "--debug"): "there is one level of words; 2>/dev/null hides progress",
    ("--num-workers", "--threads", "--processes"): "type --jobs N for runs side by side",
    ("--steps", "--max-steps", "--max_steps", "--lr", "--epochs", "--batch-size", "--batch"): (
        "type --set train.steps=N; show SELECTOR lists what can be set"
    ),
    ("--tag", "--name", "--experiment"): "name experiments as PAPER/FIGURE/VARIANT",
    ("--all",): "type '*' for every paper",
}
"""Options of other programs -> what to do here."""


def usual(arguments: Sequence[str]) -> list[str]:
    """Return arguments as the parser takes them.

    >>> usual(["run", "paper1/fig1", "train.steps=5", "--train.lr", "0.1", "--seeds", "0", "2"])
    ['run', 'paper1/fig1', '--set', 'train.steps=5', '--set', 'train.lr=0.1', '--seeds', '0,2']
    >>> usual(["run", "paper1", "--set", "train.steps=5", "model.width=8"]), usual(["help", "run"]), usual(["help"])
    (['run', 'paper1', '--set', 'train.steps=5', '--set', 'model.width=8'], ['run', '--help'], ['--help'])
    """
    if arguments[:1] == ["help"]:
        return [*arguments[1:2], "--help"]
    if arguments[:1] != ["run"]:
        return list(arguments)
    found: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            return [*found, word, *words]
        before = found[-1] if found else ""
        if before != "--set" and (match := ASSIGNED.fullmatch(word)):
            found += ["--set", match[1]]
        elif (match := DOTTED.fullmatch(word)) and words and not words[0].startswith("--"):
            found += ["--set", f"{match[1]}={words.pop(0)}"]
        elif word in ("--seeds", "--seed"):
            numbers = list(itertools.takewhile(lambda text: text.isascii() and text.isdecimal(), words))
            words = words[len(numbers) :]
            found += [word, *([",".join(numbers)] if numbers else [])]
        else:
            found.append(word)
    return found


def advice(message: str, typed: Sequence[str], options: Collection[str], commands: Collection[str]) -> str:
    """Return the parser's message on a mistake, with the text to type instead.

    ``options`` are those of the command that was typed, ``commands`` all of them.
    """
    if match := re.match(r"argument COMMAND: invalid choice: '(.*?)' \(", message, re.DOTALL):
        word = match[1]
        close = COMMANDS.get(word) or next(iter(difflib.get_close_matches(word, commands, 1)), "")
        return f"there is no command '{word}'; " + (f"nearest: {close}" if close else f"one of: {', '.join(commands)}")
    if "argument --logger" in message and "'csv'" in message:
        return f"{message}; metrics.csv is always written"
    if match := re.match(r"unrecognized arguments: (\S+)", message):
        word, equals, value = match[1].partition("=")
        if not word.startswith("-"):
            return message
        if said := next((said for names, said in ANSWERS.items() if word in names), ""):
            return f"there is no {word}: {said}"
        if DOTTED.fullmatch(word):
            return f"there is no {word}: --set of the command run changes a setting, run SELECTOR --set {word[2:]}=V"
        if alike := difflib.get_close_matches(word, options, 1):
            return f"there is no {word}; nearest: {alike[0]}{equals}{value}"
    return message

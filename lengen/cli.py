"""The command line of the library, for what needs no clone: problems of the benchmark, scores, answers of a model."""

import argparse
import json
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import lengen
from lengen import benchmark
from lengen.results.records import Grid


def problems(options: argparse.Namespace) -> None:
    """Print the frozen problems of a task, or problems to train on, as lines of JSON."""
    for problem in lengen.problems(options.task, options.size, split=options.split, examples=options.examples):
        print(problem.line())


def score(options: argparse.Namespace) -> None:
    """Score a file of predictions."""
    task = benchmark.task_of(options.task)
    size = options.size or task.papers
    rows = benchmark.by_seed(benchmark.read_predictions(options.predictions))
    asked = lengen.problems(task.name, size)
    show({seed: lengen.score(asked, part, units_first=options.units_first) for seed, part in rows.items()}, size)


def evaluate(options: argparse.Namespace) -> None:
    """Let a function of a file answer the problems of a task."""
    file, _, name = options.function.rpartition(":")
    if not Path(file).is_file():
        raise benchmark.TaskError(
            f"{options.function}: expected FILE.py:FUNCTION, which takes prompts and returns texts"
        )
    names = runpy.run_path(file)
    if name not in names:
        raise benchmark.TaskError(f"{file} has no function {name}")
    size = options.size or benchmark.task_of(options.task).papers
    show({0: lengen.evaluate(names[name], options.task, size, units_first=options.units_first)}, size)


def solve(options: argparse.Namespace) -> None:
    """Let a model answer one problem."""
    print(json.dumps(lengen.load(options.model).solve(options.operands), ensure_ascii=False, indent=1))


def show(grids: Mapping[int, Grid], size: int) -> None:
    """Print the headline numbers of each seed."""
    print("seed  reach  in range  area")
    for seed, grid in sorted(grids.items()):
        found = benchmark.measures(grid, size)
        print(f"{seed:4}  {found.reach:5}  {found.in_range:8.3f}  {found.area:.3f}")


def parser() -> argparse.ArgumentParser:
    """Return the whole command line."""
    top = argparse.ArgumentParser("lengen", description=__doc__, allow_abbrev=False)
    top.add_argument("-V", "--version", action="version", version=f"lengen {lengen.__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for answer in (problems, score, evaluate, solve):
        command = commands.add_parser(answer.__name__, help=answer.__doc__, allow_abbrev=False)
        command.set_defaults(answer=answer)
        if answer is evaluate:
            command.add_argument("function", metavar="FILE.py:FUNCTION", help="from prompts to as many texts")
        if answer is solve:
            command.add_argument("model", help="folder of a run; in a clone also the name of an experiment")
            command.add_argument("operands", nargs="+")
            continue
        command.add_argument("task", help=", ".join(benchmark.TASKS))
        if answer is score:
            command.add_argument("predictions", type=Path, help="lines of JSON with id and prediction")
        command.add_argument("--size", type=int, help="longest trained length; by default that of the papers")
        if answer is problems:
            command.add_argument("--split", choices=("test", "train"), default="test")
            command.add_argument("--examples", type=int, help="problems to train on")
        else:
            command.add_argument("--units-first", action="store_true", help="answers begin with the units")
    return top


def entry(arguments: Sequence[str] | None = None) -> int:
    """Answer one command and return the exit code: 2 for what the user can mend, which is told in one sentence."""
    options = parser().parse_args(arguments)
    try:
        options.answer(options)
    except ValueError as error:
        if not type(error).__module__.startswith("lengen."):
            raise
        print(f"lengen: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
    return 0

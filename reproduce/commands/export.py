"""The command export: problems of a task or an experiment as files, or a run as a folder for Hugging Face.

Parsed options enter; files and their names on stdout leave. Tasks of the benchmark are exported without torch.
"""

import argparse
import itertools
import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lengen import benchmark
from lengen.benchmark.problem import WRITERS, Lines
from reproduce.catalogue import CATALOGUE
from reproduce.commands.problem import find, of_task_or_experiment, setting, shown_name
from reproduce.store.files import readable

PROBLEMS = "Problems of arithmetic for length generalization, written by `reproduce"
"""In the card of exported problems; the command follows."""


class ExportError(ValueError):
    """Problems or a folder that cannot be used; one sentence."""


def export_command(options: argparse.Namespace) -> int:
    """Write the problems of a task or an experiment, or a run as a folder for Hugging Face."""
    if options.hf:
        if options.out:
            raise ExportError("--hf DIR exports a run and --out DIR its problems: name one of them")
        if options.steps or options.examples or options.size or (options.split, options.format) != ("test", "jsonl"):
            raise ExportError("--hf exports a run: leave --split, --format, --size, --examples and --steps out")
        print("\n".join(map(readable, _export_run(options))))
        return 0
    if not options.out:
        raise ExportError("export: expected --out DIR, the folder of the problems, or --hf DIR")
    if options.format == "parquet" and find_spec("pyarrow") is None:
        raise ExportError("--format parquet needs pyarrow: pip install pyarrow, or take --format jsonl")
    if options.format == "lm-eval" and options.split != "test":
        raise ExportError("--format lm-eval takes test problems; add --split test")
    folder, name = Path(options.out), options.selector.replace("/", "-")
    lines = _lines(options)
    _own(folder, PROBLEMS)
    folder.mkdir(parents=True, exist_ok=True)
    card = folder / "README.md"
    card.write_text(_card(options, ()), encoding="utf-8")  # so that an interrupted export can be repeated
    files = WRITERS[options.format](lines, folder, f"{name}-{options.split}")
    card.write_text(_card(options, files), encoding="utf-8")
    print("\n".join(readable(path) for path in (*files, card)))
    return 0


def _own(folder: Path, mark: str) -> None:
    """Raise `ExportError` for a folder with files that this command did not write, whose card lacks the ``mark``."""
    if folder.is_dir() and any(folder.iterdir()):
        path = folder / "README.md"
        if not path.is_file() or mark not in path.read_text(encoding="utf-8", errors="replace"):
            raise ExportError(f"{readable(folder)} holds other files: name a new folder")


def _lines(options: argparse.Namespace) -> Lines:
    frozen = options.selector in benchmark.TASKS
    foreign = {"--steps": options.steps, "--profile": options.profile} if frozen else {"--size": options.size}
    for option, is_set in foreign.items():
        if is_set:
            of = "an experiment" if frozen else "a task of the benchmark"
            raise ExportError(f"{option} is of {of}, and {options.selector} is none: leave it out")
    if frozen and options.split == "test" and options.seed is not None:
        raise ExportError("--seed is of --split train, and a task has the same test problems always: leave it out")
    if frozen:
        drawn = benchmark.problems(
            options.selector, options.size, split=options.split, examples=options.examples, seed=options.seed or 0
        )
        return (problem._asdict() for problem in drawn)
    from lengen.benchmark import lines
    from lengen.data.task_data import TaskData

    name = of_task_or_experiment(options.selector).name
    data = TaskData(setting(name, options.profile), options.seed or 0)
    test, name = data.spec.test, shown_name(name, options.profile)
    if options.split == "test":
        if options.steps:
            raise ExportError("--steps is of training: add --split train, or leave it out")
        return lines.tests(data, itertools.product(test.lengths, test.counts), options.examples or test.examples, name)
    if options.steps and options.steps.stop > data.spec.train.steps:
        raise ExportError(f"--steps: {name} trains {data.spec.train.steps:,} steps; the last is one less")
    if options.examples:
        raise ExportError("--examples is of tests here: for training name optimizer steps, as --steps 0..99 does")
    return lines.training(data, options.steps or range(data.spec.train.steps), name)


def _card(options: argparse.Namespace, files: Sequence[Path]) -> str:
    """Return a data set card."""
    from lengen.huggingface import card

    data = [path.name for path in files if path.suffix in (".jsonl", ".csv", ".parquet", ".txt")]
    files_of_split = [{"split": options.split, "path": name} for name in data]
    frozen = ""
    if options.selector in benchmark.TASKS and options.split == "test":
        frozen = f" They are of the frozen file with SHA-256 {benchmark.checksums()[options.selector]}."
    head = {
        "license": "mit",
        "pretty_name": f"{options.selector}, {options.split}",
        "configs": [{"config_name": "default", "data_files": files_of_split}],
    }
    text = (
        f"# {options.selector}: {options.split}\n\n{PROBLEMS} "
        f"{shlex.join(options.arguments)}`.{frozen}\n\n`prompt` and `answer` are "
        f"plain text; `written_prompt`, `written_response` and `text` are what a setting of the suite writes of them.\n"
    )
    return card(head, text)


def _export_run(options: argparse.Namespace) -> Sequence[Path]:
    from lengen import huggingface

    model = find(CATALOGUE.select_one(options.selector), options.profile, options.seed)
    if model.weights is None:
        raise ExportError(
            f"{model.name}: its weights are set by hand, and only runs are exported; load it with "
            f"lengen.load({options.selector!r})"
        )
    assert model.run is not None
    _own(Path(options.hf), "this folder was written by `reproduce export`")
    return huggingface.export(model.spec, model.weights, Path(options.hf), model.run.experiment, model.run.grid)

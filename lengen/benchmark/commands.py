"""The commands of the benchmark: export, score, evaluate and adderboard; each prints its answer.

Parsed options enter, a `Sources` says what names of models and settings mean; the program of a clone has one that knows
its stored runs. Tasks of the benchmark are exported and scored without torch.
"""

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengen import benchmark, clone
from lengen.benchmark import exporting, problems_and_answerers, scoring
from lengen.benchmark.problem import SPLITS
from lengen.benchmark.scoring import Beside, PredictionError, Scores
from lengen.benchmark.submission import Header, chain_of, header, write_submission
from lengen.benchmark.tasks import SINCE_2
from lengen.results.records import Grid

if TYPE_CHECKING:
    from lengen.benchmark.adderboard import Judged
    from lengen.settings.spec import Spec
    from lengen.solve import Report
    from lengen.trained_model import Model

PROBLEMS = "Problems of arithmetic for length generalization, written by `lengen"
"""In the card of exported problems; the command follows."""


class ExportError(ValueError):
    """Problems or a folder that cannot be used; one sentence."""


class Sources:
    """Meanings of names for the commands: here a model is a folder or one that `lengen.load` finds."""

    def readable(self, path: Path) -> str:
        """Return a path as it is printed."""
        return str(path)

    def model(self, options: argparse.Namespace) -> "tuple[Model, int]":
        """Return the model of ``--run``, and its seed."""
        from lengen.trained_model import RUN, load

        path = Path(options.run) / RUN
        seed = json.loads(path.read_text(encoding="utf-8")).get("seed", 0) if path.is_file() else 0
        return load(options.run), seed

    def examples(self, options: argparse.Namespace, seed: int, spec: "Spec") -> int:
        """Return the training examples behind the weights of ``--run``."""
        return sum(part.train.steps * part.train.batch for part in spec.trainings())

    def setting(self, name: str, profile: str | None) -> "tuple[Spec, str]":
        """Return the setting of an experiment and its name in ids of problems."""
        return clone.setting(name), name

    def beside(self, options: argparse.Namespace) -> Beside:
        """Return the name and the scores that are printed beside."""
        return None

    def adders(self, options: argparse.Namespace, report: "Report") -> "list[Judged]":
        """Return the results of the models that are judged, of this suite."""
        from lengen.benchmark import adderboard
        from lengen.trained_model import load

        if options.selector is None:
            raise PredictionError("adderboard: expected a file in the form of the list, or the folder of a run")
        model = load(options.selector)
        return [adderboard.judge(model.spec, model.weights, model.name, options.pairs or adderboard.PAIRS, report)]


def adderboard(
    options: argparse.Namespace, sources: Sources, report: "Report" = lambda done, of: None, width: int = 100
) -> None:
    """Let a file in the form of the list, or a model, add numbers of ten digits."""
    from lengen.benchmark import adderboard

    if str(options.selector).endswith(".py"):
        judged = [adderboard.judge_submission(Path(options.selector), options.pairs or adderboard.PAIRS, report)]
    else:
        judged = sources.adders(options, report)
    if options.json:
        rows = [result._asdict() | {"qualifies": result.qualifies} for result in judged]
        print(json.dumps(rows, ensure_ascii=False))
    else:
        print("\n\n".join(adderboard.text(result, width) for result in judged))


# ------------------------------------------------------------------ score and evaluate


def check_apart(options: argparse.Namespace) -> None:
    """Raise `PredictionError` for a file that would be read and written."""
    named = [getattr(options, name, None) or [] for name in ("predictions", "problems", "lm_eval")]
    read = [Path(name).resolve() for names in named for name in ([names] if isinstance(names, str) else names)]
    for option in ("out", "scores", "picture"):
        name = getattr(options, option, None)
        if name and Path(name).resolve() in read:
            raise PredictionError(f"--{option} {name} would replace what is read: name another file")


def warn(sentence: str) -> None:
    """Print a sentence beside the scores, unless it is empty."""
    if sentence:
        print(sentence, file=sys.stderr)


def score(options: argparse.Namespace, sources: Sources) -> None:
    """Score a file of predictions, or the logged samples of lm-evaluation-harness."""
    check_apart(options)
    beside = sources.beside(options)
    if (options.predictions is None) is (options.lm_eval is None):
        raise PredictionError("score: expected a file of predictions, or --lm-eval samples_*.jsonl")
    read = benchmark.read_samples if options.lm_eval else benchmark.read_predictions
    # a lone -- is read as nothing
    rows = [row for name in options.lm_eval or [options.predictions or ""] for row in read(Path(name))]
    scoring.check_given(rows, f"{options.predictions}: ")
    warn(scoring.decoration(rows))
    if options.task in benchmark.TASKS:
        of_task(options, rows, sources, beside)
        return
    if options.size:
        raise PredictionError(f"--size is of a task, and {options.task} is an experiment; leave it out")
    spec, name = sources.setting(options.task, getattr(options, "profile", None))
    from lengen.benchmark.problems_of_a_setting import scored
    from lengen.data.task_data import TaskData

    data = TaskData(spec, options.seed or 0)
    grids = {seed: scored(data, name, part, options.units_first) for seed, part in benchmark.by_seed(rows).items()}
    tell(options, grids, spec.data.task.longest, sources, beside)


def of_task(options: argparse.Namespace, rows: list[dict[str, Any]], sources: Sources, beside: Beside) -> None:
    """Score predictions for the problems of a task, whose ids name the protocol; chains of carries apart."""
    task = benchmark.task_of(options.task)
    size, ids = options.size or task.papers, {row["id"] for row in rows}
    is_first = task.name not in SINCE_2 and ids and not any(id.startswith(f"{task.name}/2/") for id in ids)
    version = 1 if is_first else 2
    splits = {chain_of(id) for id in ids} or {"uniform"}
    parts = {split: benchmark.frozen(task.name, size, version, split) for split in SPLITS if split in splits}
    rows = of_size(rows, {problem.id for part in parts.values() for problem in part}, task.name, size, version)
    for split, problems in parts.items():
        by_seed = benchmark.by_seed(row for row in rows if chain_of(row["id"]) == split)
        grids = {seed: scoring.score(problems, part, units_first=options.units_first) for seed, part in by_seed.items()}
        tell(options, grids, size, sources, beside, split if len(parts) > 1 else "")


def of_size(rows: list[dict[str, Any]], ids: Set[str], task: str, size: int, version: int) -> list[dict[str, Any]]:
    """Return predictions without those of problems of other sizes alone, whose number is said."""
    strange = {row["id"] for row in rows} - ids
    splits = {chain_of(id) for id in strange}
    others = strange & {problem.id for split in splits for problem in benchmark.frozen(task, None, version, split)}
    rest = [row for row in rows if row["id"] not in others]
    if rows and not rest:
        raise PredictionError(f"all {len(rows)} predictions are of other sizes than {size}: --size N scores them")
    if left := len(rows) - len(rest):
        print(f"{left} predictions are of other sizes than {size} and left out: --size N scores them", file=sys.stderr)
    return rest


def evaluate(options: argparse.Namespace, sources: Sources) -> None:
    """Let a function, a folder of transformers or a model of this suite answer a task of the benchmark."""
    check_apart(options)
    task = benchmark.task_of(options.on, options.protocol)
    size = options.size or task.papers
    problems = benchmark.problems(task.name, size, split=options.split, version=options.protocol)
    if options.problems:
        problems = of_file(options.problems, task)
    for wrong, sentence in (
        (options.submission and options.problems, "--submission is of the frozen problems: leave --problems out"),
        (options.name and not options.submission, "--name is of a submission: add --submission DIR, or leave it out"),
        ((options.shots or options.chat) and not options.hf, "--shots and --chat are of --hf DIR: leave them out"),
    ):
        if wrong:
            raise PredictionError(sentence)
    answerer, seed = answerer_of(options, sources, task, size)
    head = None
    if options.submission:
        head = header_of(options, task, size, answerer, seed, sources)
        Path(options.submission).mkdir(parents=True, exist_ok=True)
    beside = sources.beside(options)
    answer = benchmark.answerer(answerer, task.name, problems)
    parts: dict[str, list[benchmark.Problem]] = defaultdict(list)
    for problem in problems:
        parts[problem.split].append(problem)
    rows, grids = [], {}
    for split, some in parts.items():
        drawn = benchmark.predictions(answer, some, units_first=options.units_first)
        rows += [row | {"seed": seed} for row in drawn]
        grids[split] = benchmark.score(some, drawn, units_first=options.units_first)
    warn(scoring.decoration(rows))
    if options.out:
        Path(options.out).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    if head is not None:
        files = write_submission(Path(options.submission), head, rows)
        if not options.json:
            print("\n".join(map(sources.readable, files)) + "\n")
    for split, grid in grids.items():
        tell(options, {seed: grid}, size, sources, beside, split if len(grids) > 1 else "")


def of_file(name: str, task: benchmark.Task) -> list[benchmark.Problem]:
    """Return the problems of a file, or of the standard input, which is ``-``."""
    stdin = name == "-"
    try:
        text = sys.stdin.read() if stdin else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PredictionError(f"--problems {name} cannot be read: {reason}") from None
    problems = benchmark.read_lines(text.splitlines(), task, "stdin" if stdin else name)
    if not problems:
        raise PredictionError(f"--problems {name} has no problem; expected lines such as {task.example}")
    return problems


def header_of(
    options: argparse.Namespace, task: benchmark.Task, size: int, answerer: Any, seed: int, sources: Sources
) -> Header:
    """Return the header of a submission, as far as it is known; a person adds the rest of a foreign model's."""
    fields: dict[str, Any] = {"seeds": (seed,), "kind": "program" if options.function else "trained"}
    if options.units_first:
        fields["order"] = "units first"
    if options.hf:
        fields["parameters"] = getattr(answerer, "parameters", 0)
        if options.chat or options.shots:
            note = f"{options.shots or 0} examples{', in its chat template' * options.chat}"
            fields |= {"kind": "prompted", "note": note}
    if options.run:
        spec = answerer.spec
        data = spec.data.task
        axes = {"addition": (1, data.longest), "": (1, 1)}  # of addition the second axis is digits, for ours operands
        axis = axes.get(task.name if task.second else "", (min(data.counts), data.most))
        fields["parameters"] = sum(parameter.numel() for parameter in answerer.module.parameters())
        fields["kind"] = "constructed" if answerer.weights is None else "trained"
        fields["note"] = f"reproduce evaluate --run {options.run} --on {task.name} --size {size}"
        fields["scratchpad"] = spec.data.format.scratchpad
        if answerer.weights is not None:
            examples = sources.examples(options, seed, spec)
            fields["trained"] = {"length": (1, data.longest), "count": axis, "examples": examples}
    name = options.name or options.run or Path(options.function or options.hf).name
    return header(name, task.name, size, options.protocol, **fields)


def answerer_of(options: argparse.Namespace, sources: Sources, task: benchmark.Task, size: int) -> tuple[Any, int]:
    """Return the answerer and its seed: that of a run, else the one that its predictions are given."""
    if len([value for value in (options.function, options.hf, options.run) if value]) != 1:
        raise PredictionError("evaluate: expected one of MODULE:FUNCTION, --hf DIR and --run SELECTOR")
    if options.run:
        return sources.model(options)
    if not options.hf:
        return function(options.function), options.seed or 0
    from lengen.benchmark import prompting
    from lengen.huggingface import from_folder

    form = prompting.form(task, size, options.shots or 0, options.chat)
    prompted: dict[str, Any] = {"form": form, "read": lambda text: prompting.extracted(text, task)}
    answer = from_folder(Path(options.hf), chat=options.chat, **(prompted if options.chat or options.shots else {}))
    if options.chat or options.shots:
        print(f"what the model reads of the first problem:\n{form(task.example)}", file=sys.stderr)
    return answer, options.seed or 0


def function(name: str) -> problems_and_answerers.Answerer:
    """Return the function of ``module:function`` or ``folder/file.py:function``; raises `PredictionError`.

    A file of the current folder goes before modules that are installed. A file alone has the form of AdderBoard.
    """
    if name.endswith(".py") and Path(name).is_file():
        from lengen.benchmark.adderboard import submitted

        return submitted(Path(name))[0]
    module, _, attribute = name.rpartition(":")
    file = Path(f"{module.removesuffix('.py')}.py")
    try:
        if not module or not attribute.isidentifier():
            raise ValueError("no function is named")
        if not file.is_file() and (module.endswith(".py") or os.sep in module):
            raise ValueError(f"there is no file {file}")
        held = problems_and_answerers.loaded(file) if file.is_file() else problems_and_answerers.imported(module)
        answer: problems_and_answerers.Answerer | None = getattr(held, attribute, None)
        if answer is None:
            raise ValueError(f"it has no {attribute}")
    except Exception as error:  # a foreign module may raise anything
        raise PredictionError(f"'{name}': {error}; expected MODULE:FUNCTION, such as mymodel:answer") from None
    return answer


def tell(
    options: argparse.Namespace, grids: Mapping[int, Grid], size: int, sources: Sources, beside: Beside, split: str = ""
) -> None:
    """Print the headline numbers and a line for every length; draw or write what was asked for."""
    first = next(iter(grids.values()))
    for option in ("scores", "picture"):
        if (len(grids) > 1 or split) and getattr(options, option):
            held = "the problems are of several splits" if split else f"the predictions are of {len(grids)}"
            raise PredictionError(f"--{option} is of one seed, and {held}")
    if options.scores:
        Path(options.scores).write_text(first.to_csv(), encoding="utf-8", newline="")
    if options.picture:
        scoring.draw(Path(options.picture), dict([("predictions", first), *([beside] if beside else [])]))
        if not options.json:
            print(sources.readable(Path(options.picture)))
    if split and not options.json:
        print(f"\n{split}")
    frozen = not getattr(options, "problems", None)
    if options.json:
        print(json.dumps([row | ({"split": split} if split else {}) for row in scoring.rows(grids, size, frozen)]))
        return
    warn(scoring.absent(grids, size))
    version = next((grid.version for grid in grids.values() if isinstance(grid, Scores) and grid.size), 0)
    if version:
        print(f"protocol  lengen-text/{version}, {getattr(options, 'on', None) or options.task}, size {size}")
    print("\n".join(scoring.lines(grids, size, frozen, beside)))


# ------------------------------------------------------------------ export


def export(options: argparse.Namespace, sources: Sources) -> None:
    """Write the problems of a task or an experiment as files, a dataset of the Hub, or tasks of a harness."""
    form = "--hub" if options.hub else "--format lm-eval" if options.format == "lm-eval" else ""
    out = options.hub or options.out
    if options.hub and options.out:
        raise ExportError("--hub DIR writes a dataset and --out DIR problems: name one of them")
    if not out:
        raise ExportError("export: expected --out DIR, the folder of the problems, or --hub DIR")
    if options.format == "parquet" and find_spec("pyarrow") is None:
        raise ExportError("--format parquet needs pyarrow: pip install pyarrow, or take --format jsonl")
    if form and (options.split != "test" or options.examples or options.protocol == 1):
        raise ExportError(f"{form} takes test problems of protocol 2; add --split test, and leave the rest out")
    if options.selector is None:
        raise ExportError("export: expected a task of docs/benchmark.md; or all, with --hub DIR or --format lm-eval")
    if form and options.selector != "all":
        benchmark.task_of(options.selector).lengths(options.size or benchmark.task_of(options.selector).papers)
    lines = () if form else lines_of(options, sources)
    folder, page = Path(out), Path(out) / "README.md"
    owned(folder, (PROBLEMS, "lengen-text" if form else "written by `reproduce"), sources)
    folder.mkdir(parents=True, exist_ok=True)
    page.write_text(f"{PROBLEMS} export`.\n", encoding="utf-8")  # so that an interrupted export can be repeated
    if form:
        write = exporting.hub if options.hub else exporting.harness
        tasks = benchmark.TASKS.values() if options.selector == "all" else [benchmark.TASKS[options.selector]]
        pairs = [(task, size) for task in tasks for size in task.sizes() if options.size in (None, size)]
        files = write(pairs, folder)
    else:
        name = f"{options.selector.replace('/', '-')}-{options.split}"
        files = exporting.WRITERS[options.format](lines, folder, name)
        page.write_text(card_of(options, files), encoding="utf-8")
        files.append(page)
    print("\n".join(map(sources.readable, files)))


def owned(folder: Path, marks: Iterable[str], sources: Sources) -> None:
    """Raise `ExportError` for a folder with files that no export wrote, whose card lacks all ``marks``."""
    if folder.is_dir() and any(folder.iterdir()):
        path = folder / "README.md"
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        if not any(mark in text for mark in marks):
            raise ExportError(f"{sources.readable(folder)} holds other files: name a new folder")


def lines_of(options: argparse.Namespace, sources: Sources) -> exporting.Lines:
    """Return the problems that are exported, as plain data."""
    frozen = options.selector in benchmark.TASKS
    steps, profile = getattr(options, "steps", None), getattr(options, "profile", None)
    foreign = {"--steps": steps, "--profile": profile} if frozen else {"--size": options.size}
    for option, is_set in foreign.items():
        if is_set:
            of = "an experiment" if frozen else "a task of the benchmark"
            raise ExportError(f"{option} is of {of}, and {options.selector} is none: leave it out")
    if frozen and options.split != "train" and options.seed is not None:
        raise ExportError("--seed is of --split train, and a task has the same test problems always: leave it out")
    if frozen:
        return (problem._asdict() for problem in drawn(options, options.selector, options.size))
    spec, name = sources.setting(options.selector, profile)
    from lengen.benchmark import problems_of_a_setting as lines
    from lengen.data.task_data import TaskData

    data, test = TaskData(spec, options.seed or 0), spec.test
    if options.split != "train":
        if steps:
            raise ExportError("--steps is of training: add --split train, or leave it out")
        return lines.tests(data, product(test.lengths, test.counts), options.examples or test.examples, name)
    if steps and steps.stop > spec.train.steps:
        raise ExportError(f"--steps: {name} trains {spec.train.steps:,} steps; the last is one less")
    if options.examples:
        raise ExportError("--examples is of tests here: for training name optimizer steps, as --steps 0..99 does")
    return lines.training(data, steps or range(spec.train.steps), name)


def drawn(options: argparse.Namespace, task: str, size: int | None) -> Iterable[benchmark.Problem]:
    """Return the problems of a task that options name."""
    return problems_and_answerers.stream(
        task, size, options.split, options.examples, options.seed or 0, options.protocol
    )


def problems(options: argparse.Namespace, _: Sources) -> None:
    """Print the problems of a task as lines of JSON."""
    size = options.size or benchmark.task_of(options.task, options.protocol).papers
    sys.stdout.writelines(f"{problem.line()}\n" for problem in drawn(options, options.task, size))


def card_of(options: argparse.Namespace, files: Sequence[Path]) -> str:
    """Return a data set card."""
    frozen, data = "", [{"split": options.split, "path": path.name} for path in files]
    if options.selector in benchmark.TASKS and options.split == "test":
        task, version = benchmark.task_of(options.selector), options.protocol
        sizes = task.sizes(version) if options.size is None else (options.size,)
        sums = Counter(benchmark.sum_of(task.name, size, version) for size in sizes)
        frozen = f" The SHA-256 of the problems of each size: {', '.join(sums)}."
    text = (
        f"# {options.selector}: {options.split}\n\n{PROBLEMS} export`.{frozen}\n\n`prompt` and `answer` are plain "
        f"text; `written_prompt`, `written_response` and `text` are what a setting of the suite writes of them.\n"
    )
    configs = [{"config_name": "default", "data_files": data}]
    return exporting.dataset_card(f"{options.selector}, {options.split}", text, configs=configs)

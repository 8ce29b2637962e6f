"""The commands export, score and evaluate: problems go out, predictions come in, anyone's model is scored.

What enters are parsed options; what leaves are files, text on stdout and an exit code. Tasks of the benchmark are
exported and scored without torch.
"""

import argparse
import importlib
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengen import benchmark
from lengen.paper.experiment import Experiment
from lengen.results.records import Counts, Grid
from reproduce.commands.problem import find, setting
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.atomic_files import readable

if TYPE_CHECKING:
    from lengen.data.task_data import TaskData

FORMATS = ("jsonl", "txt", "csv", "parquet", "lm-eval")
COLUMNS = ("id", "task", "length", "count", "prompt", "answer", "text", "split")
"""Columns of tables of problems: those that its lines have."""


class ExchangeError(ValueError):
    """Problems, predictions or a function that cannot be used; one sentence."""


# ---------------------------------------------------------------------- export


def export_command(options: argparse.Namespace) -> int:
    """Write the problems of a task or an experiment, or a run as a folder for Hugging Face."""
    if options.hf:
        return _export_run(options)
    if not options.out:
        raise ExchangeError("export: expected --out DIR, the folder of the problems, or --hf DIR")
    folder, name = Path(options.out), options.selector.replace("/", "-")
    lines = iter(_lines(options))
    _own(folder, "README.md")
    folder.mkdir(parents=True, exist_ok=True)
    files = WRITERS[options.format](lines, folder, f"{name}-{options.split}")
    card = folder / "README.md"
    card.write_text(_card(options, files), encoding="utf-8")
    print("\n".join(readable(path) for path in (*files, card)))
    return 0


def _own(folder: Path, mark: str) -> None:
    """Raise `ExchangeError` for a folder with files that were not written by this command."""
    if folder.is_dir() and any(folder.iterdir()):
        path = folder / mark
        if not path.is_file() or "reproduce export" not in path.read_text(encoding="utf-8", errors="replace"):
            raise ExchangeError(f"{readable(folder)} holds other files: name a new folder")


def _lines(options: argparse.Namespace) -> Iterable[Mapping[str, Any]]:
    if options.selector in benchmark.TASKS:
        drawn = benchmark.problems(
            options.selector, options.size, split=options.split, examples=options.examples, seed=options.seed or 0
        )
        return (problem._asdict() for problem in drawn)
    from lengen.data import lines

    experiment = CATALOGUE.select_one(options.selector)
    data = _data(experiment, options.profile, options.seed)
    test = data.spec.test
    if options.split == "test":
        cells = itertools.product(test.lengths, test.counts)
        return lines.tests(data, cells, options.examples or test.examples, experiment.name)
    return lines.training(data, options.steps or range(data.spec.train.steps), experiment.name)


def _data(experiment: Experiment, profile: str | None, seed: int | None) -> "TaskData":
    from lengen.data.task_data import TaskData

    return TaskData(setting(experiment.name, profile), seed or 0)


def _jsonl(lines: Iterator[Mapping[str, Any]], folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.jsonl"
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return [path]


def _txt(lines: Iterator[Mapping[str, Any]], folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.txt"
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines((line.get("text") or line["prompt"] + line["answer"]) + "\n" for line in lines)
    return [path]


def _table(lines: Iterator[Mapping[str, Any]]) -> Any:
    import pandas as pd

    frame = pd.DataFrame(list(lines))
    return frame[[column for column in COLUMNS if column in frame.columns]]


def _csv(lines: Iterator[Mapping[str, Any]], folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.csv"
    _table(lines).to_csv(path, index=False, lineterminator="\n")
    return [path]


def _parquet(lines: Iterator[Mapping[str, Any]], folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.parquet"
    try:
        _table(lines).to_parquet(path, index=False)
    except ImportError:
        raise ExchangeError("--format parquet needs pyarrow: pip install pyarrow, or take --format jsonl") from None
    return [path]


def _lm_eval(lines: Iterator[Mapping[str, Any]], folder: Path, name: str) -> list[Path]:
    """A file of problems and a task of the evaluation harness for every length."""
    return list(_by_length(list(lines), folder, name))


def _by_length(lines: Sequence[Mapping[str, Any]], folder: Path, name: str) -> Iterator[Path]:
    by: dict[int, list[Mapping[str, Any]]] = {}
    for line in lines:
        if "prompt" not in line:
            raise ExchangeError("--format lm-eval is of test problems: expected --split test")
        by.setdefault(max(line["length"], line["count"]), []).append(line)
    ignored = json.dumps(_ignored([line["answer"] for line in lines]))
    for length, some in sorted(by.items()):
        (data,) = _jsonl(iter(some), folder, f"{name}-{length:03}")
        yield data
        task = folder / f"lengen_{name}_{length:03}.yaml".replace("-", "_")
        text = HARNESS.format(task=task.stem, data=data.resolve().as_posix(), ignored=ignored)
        task.write_text(text, encoding="utf-8")
        yield task


def _ignored(answers: Sequence[str]) -> list[str]:
    """Patterns of what means nothing in answers: blanks but between numbers, and leading zeros but of strings."""
    blanks = "^\\s+|[\\s$]+$" if any(" " in answer for answer in answers) else "[\\s$]"
    strings = any(len(answer) > 1 and answer.startswith("0") for answer in answers)
    return [blanks] if strings else [blanks, "^0+(?=[0-9])"]


HARNESS = """\
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{data}"}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
target_delimiter: ""
generation_kwargs: {{until: ["\\n"], do_sample: false}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true, regexes_to_ignore: {ignored}}}
metadata: {{version: 1.0}}
"""
WRITERS: dict[str, Callable[[Iterator[Mapping[str, Any]], Path, str], list[Path]]] = dict(
    zip(FORMATS, (_jsonl, _txt, _csv, _parquet, _lm_eval), strict=True)
)


def _card(options: argparse.Namespace, files: Sequence[Path]) -> str:
    """A data set card."""
    data = [path.name for path in files if path.suffix in (".jsonl", ".csv", ".parquet", ".txt")]
    listed = "".join(f"  - split: {options.split}\n    path: {name}\n" for name in data)
    frozen = ""
    if options.selector in benchmark.TASKS and options.split == "test":
        frozen = (
            f" They are frozen: SHA-256 {benchmark.header('', options.selector, 0, kind='program').problems_sha256}."
        )
    return (
        f"---\nlicense: mit\npretty_name: {options.selector}, {options.split}\nconfigs:\n- config_name: default\n"
        f"  data_files:\n{listed}---\n\n# {options.selector}: {options.split}\n\nProblems of arithmetic for length "
        f"generalization, written by `reproduce {' '.join(options.arguments)}`.{frozen}\n\n`prompt` and `answer` are "
        f"plain text; `written_prompt`, `written_response` and `text` are what a setting of the suite writes of them.\n"
    )


def _export_run(options: argparse.Namespace) -> int:
    from lengen import huggingface

    model = find(CATALOGUE.select_one(options.selector), options.profile, options.seed)
    if model.weights is None:
        raise ExchangeError(
            f"{model.name}: weights set by hand are no run to export; lengen.load({options.selector!r})"
        )
    assert model.run is not None
    _own(Path(options.hf), huggingface.CARD)
    files = huggingface.export(model.spec, model.weights, Path(options.hf), model.run.experiment, model.run.grid)
    print("\n".join(map(readable, files)))
    return 0


# ---------------------------------------------------------------------- score and evaluate


def score_command(options: argparse.Namespace) -> int:
    """Score a file of predictions, and print it beside a stored run."""
    rows = benchmark.read_predictions(Path(options.predictions or ""))  # a lone -- is read as nothing
    if options.task in benchmark.TASKS:
        task = benchmark.task_of(options.task)
        size = options.size or task.papers
        asked = benchmark.problems(task.name, size)
        grids = {
            seed: benchmark.score(asked, part, units_first=options.units_first)
            for seed, part in benchmark.by_seed(rows).items()
        }
        return _tell(options, grids, size)
    experiment = CATALOGUE.select_one(options.task)
    data = _data(experiment, options.profile, options.seed)
    grids = {seed: _of_experiment(data, experiment.name, part) for seed, part in benchmark.by_seed(rows).items()}
    return _tell(options, grids, data.spec.data.task.longest)


def _of_experiment(data: "TaskData", name: str, rows: Sequence[Mapping[str, Any]]) -> Grid:
    """Counts of predictions for an experiment's own problems: of ``raw`` by all metrics of its runs, or of answers."""
    from lengen.data import lines
    from lengen.metrics import count

    test, given = data.spec.test, {row["id"]: row for row in rows}
    grid = Grid(("length", "count") if len(test.counts) > 1 else ("length",))
    known = set()
    for length, second in itertools.product(test.lengths, test.counts):
        prefix = f"{name}/length={length}/count={second}/"
        if not any(id.startswith(prefix) for id in given):
            continue  # a cell that was left out as a whole
        problems = data.test(length, second, test.examples)
        ids = [f"{prefix}{place:05}" for place in range(len(problems.lengths))]
        known |= set(ids)
        found = [given.get(id, {}) for id in ids]
        if any("raw" in row for row in found):
            written = lines.responses(data, [row.get("raw") for row in found])
            counts = count(written, lines.true(data, problems), data.format, data.vocab, own_text=True)
        else:
            answers = data.task.text(problems)
            right = sum(row.get("prediction") == answer for row, answer in zip(found, answers, strict=True))
            counts = Counts(n=len(ids), correct=right, answer_correct=right)
        counts["absent"] = sum(not row for row in found)
        grid.add((length, second)[: len(grid.axes)], benchmark.scoring.MODE, counts)
    if unknown := given.keys() - known:
        raise ExchangeError(f"{len(unknown)} predictions are of no problem of {name}, such as {min(unknown)}")
    return grid


def evaluate_command(options: argparse.Namespace) -> int:
    """Let a function, a folder of transformers or a run of this suite answer a task of the benchmark."""
    task = benchmark.task_of(options.on)
    size = options.size or task.papers
    asked = benchmark.problems(task.name, size)
    if options.problems:
        stdin = options.problems == "-"
        text = sys.stdin.read() if stdin else Path(options.problems).read_text(encoding="utf-8")
        asked = benchmark.read_lines(text.splitlines(), task, "stdin" if stdin else options.problems)
    given = _answerer(options)
    answer = benchmark.answerer(given, task.name, asked)
    rows = [row | {"seed": options.seed or 0} for row in benchmark.predictions(answer, asked)]
    if options.out:
        path = Path(options.out)
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    grid = benchmark.score(asked, rows, units_first=options.units_first)
    if options.submission:
        if options.problems:
            raise ExchangeError("--submission is of the frozen problems: leave --problems out")
        files = benchmark.write_submission(Path(options.submission), _header(options, task, size, given), rows)
        print("\n".join(map(readable, files)) + "\n")
    return _tell(options, {options.seed or 0: grid}, size)


def _header(options: argparse.Namespace, task: benchmark.Task, size: int, given: Any) -> benchmark.Header:
    """The header of a submission, as far as it is known; a person adds the rest of a foreign model's."""
    fields: dict[str, Any] = {"seeds": (options.seed or 0,), "kind": "program" if options.function else "trained"}
    if options.units_first:
        fields["order"] = "units first"
    if options.run:
        spec = given.spec
        data = spec.data.task
        axes = {"addition": (1, data.longest), "": (1, 1)}  # of addition the second axis is digits, for ours operands
        axis = axes.get(task.name if task.second else "", (min(data.counts), data.most))
        fields["parameters"] = sum(one.numel() for one in given.module.parameters())
        fields["kind"] = "constructed" if given.weights is None else "trained"
        fields["note"] = f"reproduce evaluate --run {options.run} --on {task.name} --size {size}"
        fields["scratchpad"] = spec.data.format.scratchpad
        if given.weights is not None:
            experiment = CATALOGUE.select_one(options.run)
            run = find(experiment, options.profile).run
            # The paper's own setting has all trainings; what is loaded is the last one.
            trainings = experiment.specs[run.profile].trainings() if run else ()
            examples = sum(part.train.steps * part.train.batch for part in trainings)
            fields["trained"] = {"length": (1, data.longest), "count": axis, "examples": examples}
    name = options.name or options.run or options.function or options.hf
    return benchmark.header(name, task.name, size, **fields)


def _answerer(options: argparse.Namespace) -> Any:
    given = [value for value in (options.function, options.hf, options.run) if value]
    if len(given) != 1:
        raise ExchangeError("evaluate: expected one of MODULE:FUNCTION, --hf DIR and --run SELECTOR")
    if options.hf:
        from lengen.huggingface import from_folder

        return from_folder(Path(options.hf))
    if options.run:
        from lengen.inspection.library import Found
        from lengen.inspection.library import Model as Loaded

        model = find(CATALOGUE.select_one(options.run), options.profile)
        return Loaded(Found(model.spec, model.weights, model.name))
    return function(options.function)


def function(name: str) -> Callable[[list[str]], Sequence[str]]:
    """The function of ``module:function``, looked for in the current folder, too; raises `ExchangeError`."""
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")
    try:
        found: Callable[[list[str]], Sequence[str]] = getattr(
            importlib.import_module(module.removesuffix(".py").replace("/", ".")), attribute
        )
    except Exception as error:  # a foreign module may raise anything
        raise ExchangeError(f"'{name}': {error}; expected MODULE:FUNCTION, such as mymodel:answer") from None
    finally:
        sys.path.remove("")
    return found


def _tell(options: argparse.Namespace, grids: Mapping[int, Grid], size: int) -> int:
    """Print the headline numbers and a line for every length; draw or write what was asked for."""
    stored = _beside(options.beside) if options.beside else None
    if options.scores:
        if len(grids) > 1:
            raise ExchangeError(f"--scores is of one seed, and the predictions are of {len(grids)}")
        Path(options.scores).write_text(next(iter(grids.values())).to_csv(), encoding="utf-8", newline="")
    found = [benchmark.measures(grid, size) for grid in grids.values()]
    by_seed = [benchmark.levels(grid) for grid in grids.values()]
    if options.json:
        print(json.dumps([one._asdict() | {"seed": seed} for seed, one in zip(grids, found, strict=True)]))
        return 0
    names = ("in_range", "reach", "area", "edits", "absent")
    for name in () if getattr(options, "problems", None) else names:
        values = [getattr(one, name) for one in found]
        print(
            f"{name.replace('_', ' '):<10}{benchmark.over_seeds(values).text(0 if name in ('reach', 'absent') else 3)}"
        )
    if absent := max(one.absent for one in found):
        print(f"{absent} problems have no prediction and count as wrong", file=sys.stderr)
    theirs = benchmark.levels(stored.grid) if stored is not None else {}
    print(f"\n{'length':>6}{'problems':>10}  exact match" + (f"{'':14}{options.beside}" if stored is not None else ""))
    for length in sorted({*by_seed[0], *theirs}):
        counts = [levels[length] for levels in by_seed if length in levels]
        said = benchmark.over_seeds([one.rate("correct") for one in counts]).text(3) if counts else "-"
        ours = f"{theirs[length].rate('correct'):.3f}" if length in theirs else "-" if theirs else ""
        problems = int(counts[0]["n"]) if counts else 0
        print(f"{length:>6}{problems:>10}  {said:<25}{ours}".rstrip())
    for line in _published(options.beside) if options.beside else ():
        print(line)
    if options.picture:
        _draw(
            options.picture,
            {"predictions": next(iter(grids.values()))} | ({options.beside: stored.grid} if stored else {}),
        )
    return 0


def _beside(selector: str) -> Any:
    """The newest stored run of an experiment, whether it has weights or not."""
    from reproduce.runs.newest import newest
    from reproduce.store.locations import stores

    run, store = newest(CATALOGUE.select_one(selector), stores(), otherwise="promote one of {} made with --set")
    return store.load(run)


def _published(selector: str) -> Iterator[str]:
    """Yield a line for each published accuracy of an experiment."""
    from reproduce.comparison.values import values

    experiment = CATALOGUE.select_one(selector)
    for value in values(experiment.paper):
        if experiment.name in value.experiments and value.measure == "exact" and value.lengths and not value.across:
            first, last = min(value.lengths), max(value.lengths)
            lengths = f"length {first}" if first == last else f"lengths {first} to {last}"
            yield f"published: {value.printed} {value.unit}, {lengths} ({value.place})"


def _draw(path: str, grids: Mapping[str, Grid]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(grids), figsize=(4.5 * len(grids), 3.5), squeeze=False, layout="constrained")
    for ax, (name, grid) in zip(axes[0], grids.items(), strict=True):
        grid.plot(ax)
        ax.set_title(name, fontsize="small")
    figure.savefig(path)
    print(readable(Path(path)))

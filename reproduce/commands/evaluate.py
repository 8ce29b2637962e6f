"""The commands that judge models: evaluate, score and adderboard.

Parsed options enter; files, text on stdout and an exit code leave. Tasks of the benchmark are scored without torch.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengen import benchmark
from lengen.benchmark import evaluating, scoring
from lengen.benchmark.scoring import PredictionError
from lengen.results.records import Grid, Run
from reproduce.catalogue import CATALOGUE, hash_of, newest
from reproduce.commands.problem import Model, find, of_task_or_experiment, setting, shown_name, without_runs
from reproduce.pages.terminal import width
from reproduce.runs.display import counter
from reproduce.store.checkout import stores
from reproduce.store.files import check_place, readable


def adderboard_command(options: argparse.Namespace) -> int:
    """Judge the named model, or every one that a paper offers for it."""
    from lengen.benchmark import adderboard

    pairs, report = options.pairs or adderboard.PAIRS, counter("sums", sys.stderr)
    if str(options.selector).endswith(".py"):
        without_runs(f"{options.selector} is a file", **_of_a_run(options))
        judged = [adderboard.judge_submission(Path(options.selector), pairs, report)]
    else:
        judged = [adderboard.judge(*model[:3], pairs, report) for model in _models(options)]
    if options.json:
        print(json.dumps([adderboard.plain(result) for result in judged], ensure_ascii=False))
    else:
        texts = [adderboard.text(result, judged[:place], width()) for place, result in enumerate(judged)]
        print("\n\n".join(texts))
    return 0


def _models(options: argparse.Namespace) -> list[Model]:
    """Return the model that a paper constructs at the wanted size, else the newest run with weights."""
    offered = {name: spec for paper in CATALOGUE.papers() for name, spec in CATALOGUE.paper(paper).adders().items()}
    names = list(offered) if options.selector is None else [CATALOGUE.select_one(options.selector).name]
    models = []
    for name in names:
        spec = offered.get(name)
        if spec is not None:
            without_runs(f"{name} is constructed", **_of_a_run(options))
            models.append(Model(spec, None, f"{name}, constructed for two numbers of ten digits", None))
        else:
            models.append(find(CATALOGUE.select_one(name), **_of_a_run(options)))
    return models


def _of_a_run(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that choose a stored run."""
    return {key: getattr(options, key) for key in ("profile", "seed", "with_overrides")}


def score_command(options: argparse.Namespace) -> int:
    """Score a file of predictions, and print it beside a stored run."""
    stored = _stored(options)
    path = Path(options.predictions or "")  # a lone -- is read as nothing
    rows = benchmark.read_predictions(path)
    benchmark.scoring.check_given(rows, f"{path}: ")
    for option in ("scores", "picture"):
        check_place(option, getattr(options, option))
    if options.task in benchmark.TASKS:
        if not options.beside and (options.profile is not None or options.seed is not None):
            raise PredictionError("--profile and --seed choose the run of --beside SELECTOR: add it, or leave them out")
        task = benchmark.task_of(options.task)
        size = options.size or task.papers
        problems = benchmark.problems(task.name, size)
        rows = _of_size(rows, problems, size)
        grids = {
            seed: benchmark.score(problems, part, units_first=options.units_first)
            for seed, part in benchmark.by_seed(rows).items()
        }
        return _tell(options, grids, size, stored)
    from lengen.benchmark.lines import scored
    from lengen.data.task_data import TaskData

    name = of_task_or_experiment(options.task).name
    if options.size:
        raise PredictionError(f"--size is of a task, and {name} is an experiment; leave it out")
    data = TaskData(setting(name, options.profile), options.seed or 0)
    name = shown_name(name, options.profile)
    grids = {seed: scored(data, name, part, options.units_first) for seed, part in benchmark.by_seed(rows).items()}
    return _tell(options, grids, data.spec.data.task.longest, stored)


def _of_size(rows: list[dict[str, Any]], problems: Sequence[benchmark.Problem], size: int) -> list[dict[str, Any]]:
    """Return predictions without those of frozen problems of other sizes alone, whose number is said."""
    others = {problem.id for problem in benchmark.problems(problems[0].task)} - {problem.id for problem in problems}
    rest = [row for row in rows if row["id"] not in others]
    if rows and not rest:
        raise PredictionError(f"all {len(rows)} predictions are of other sizes than {size}: --size N scores them")
    if left := len(rows) - len(rest):
        print(f"{left} predictions are of other sizes than {size} and left out: --size N scores them", file=sys.stderr)
    return rest


def evaluate_command(options: argparse.Namespace) -> int:
    """Let a function, a folder of transformers or a run of this suite answer a task of the benchmark."""
    task = benchmark.task_of(options.on)
    size = options.size or task.papers
    problems = benchmark.problems(task.name, size)
    if options.problems:
        problems = _of_file(options.problems, task)
    if options.submission and options.problems:
        raise PredictionError("--submission is of the frozen problems: leave --problems out")
    if options.name and not options.submission:
        raise PredictionError("--name is of a submission: add --submission DIR, or leave it out")
    if options.profile is not None and not options.run:
        raise PredictionError("--profile chooses the run of --run SELECTOR: add it, or leave it out")
    answerer, seed = _answerer(options)
    for option in ("out", "scores", "picture"):
        check_place(option, getattr(options, option))
    head = None
    if options.submission:
        head = _header(options, task, size, answerer, seed)
        Path(options.submission).mkdir(parents=True, exist_ok=True)
    stored = _stored(options)
    answer = benchmark.answerer(answerer, task.name, problems)
    rows = [row | {"seed": seed} for row in benchmark.predictions(answer, problems)]
    if options.out:
        path = Path(options.out)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    grid = benchmark.score(problems, rows, units_first=options.units_first)
    if head is not None:
        files = benchmark.write_submission(Path(options.submission), head, rows)
        if not options.json:
            print("\n".join(map(readable, files)) + "\n")
    return _tell(options, {seed: grid}, size, stored)


def _of_file(name: str, task: benchmark.Task) -> list[benchmark.Problem]:
    """Return the problems of a file, or of the standard input, which is ``-``."""
    stdin = name == "-"
    try:
        text = sys.stdin.read() if stdin else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PredictionError(f"--problems {name} cannot be read: {reason}") from None
    problems = benchmark.read_lines(text.splitlines(), task, "stdin" if stdin else name)
    if not problems:
        raise PredictionError(f"--problems {name} has no problem; expected lines such as 12+34=46")
    return problems


def _header(options: argparse.Namespace, task: benchmark.Task, size: int, answerer: Any, seed: int) -> benchmark.Header:
    """Return the header of a submission, as far as it is known.

    A person adds the rest of a foreign model's.
    """
    fields: dict[str, Any] = {"seeds": (seed,), "kind": "program" if options.function else "trained"}
    if options.units_first:
        fields["order"] = "units first"
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
            examples = sum(part.train.steps * part.train.batch for part in _trainings(options, seed, spec))
            fields["trained"] = {"length": (1, data.longest), "count": axis, "examples": examples}
    name = options.name or options.run or Path(options.function or options.hf).name
    return benchmark.header(name, task.name, size, **fields)


def _trainings(options: argparse.Namespace, seed: int, spec: Any) -> Sequence[Any]:
    """Return the trainings behind loaded weights.

    The declared setting has all of them, what is loaded the last one alone.
    """
    if (folder := _folder(options.run)) is not None:
        info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        declared = {item.name: item.specs for item in CATALOGUE.experiments()}.get(info.get("experiment", ""), {})
        known = declared.get(info.get("profile", ""))
        return (known if known and hash_of(known) == info.get("spec_hash") else spec).trainings()
    experiment = CATALOGUE.select_one(options.run)
    run = find(experiment, options.profile, seed).run
    return experiment.specs[run.profile].trainings() if run else ()


def _folder(run: str) -> Path | None:
    """Return the folder that is meant, as `lengen.load` tells one from a selector; None of a selector."""
    return Path(run) if (Path(run) / "run.json").is_file() else None


def _answerer(options: argparse.Namespace) -> tuple[Any, int]:
    """Return the answerer and its seed: that of a run, else the one that its predictions are given."""
    sources = [value for value in (options.function, options.hf, options.run) if value]
    if len(sources) != 1:
        raise PredictionError("evaluate: expected one of MODULE:FUNCTION, --hf DIR and --run SELECTOR")
    if options.hf:
        from lengen.huggingface import from_folder

        return from_folder(Path(options.hf)), options.seed or 0
    if options.run:
        from lengen.loading import Found, load
        from lengen.loading import Model as Loaded

        if (folder := _folder(options.run)) is not None:
            if options.seed is not None or options.profile is not None:
                raise PredictionError(f"--run {options.run} is the folder of one run: leave --seed and --profile out")
            return load(folder), json.loads((folder / "run.json").read_text(encoding="utf-8")).get("seed", 0)
        model = find(CATALOGUE.select_one(options.run), options.profile, options.seed)
        return Loaded(Found(model.spec, model.weights, model.name)), model.run.seed if model.run else 0
    return evaluating.function(options.function), options.seed or 0


def _stored(options: argparse.Namespace) -> Run | None:
    """Return the run that is printed beside, if one is."""
    if not options.beside:
        return None
    choice = (options.profile, options.seed) if getattr(options, "run", None) is None else ()  # else they choose --run
    run, store = newest(
        CATALOGUE.select_one(options.beside), stores(), *choice, otherwise="promote one of {} made with --set"
    )
    return store.load(run)


def _tell(options: argparse.Namespace, grids: Mapping[int, Grid], size: int, stored: Run | None) -> int:
    """Print the headline numbers and a line for every length; draw or write what was asked for."""
    if len(grids) > 1 and (options.scores or options.picture):
        option = "--scores" if options.scores else "--picture"
        raise PredictionError(f"{option} is of one seed, and the predictions are of {len(grids)}")
    if options.scores:
        Path(options.scores).write_text(next(iter(grids.values())).to_csv(), encoding="utf-8", newline="")
    if options.picture:
        shown = {"predictions": next(iter(grids.values()))}
        scoring.draw(Path(options.picture), shown | ({options.beside: stored.grid} if stored else {}))
        if not options.json:
            print(readable(Path(options.picture)))
    frozen = not getattr(options, "problems", None)
    if options.json:
        print(json.dumps(scoring.rows(grids, size, frozen)))
        return 0
    if absent := scoring.absent(grids, size):
        print(absent, file=sys.stderr)
    print("\n".join(scoring.lines(grids, size, frozen, (options.beside, stored.grid) if stored else None)))
    for line in _published(options.beside) if options.beside else ():
        print(line)
    return 0


def _published(selector: str) -> Iterator[str]:
    """Yield a line for each published accuracy of an experiment."""
    from reproduce.comparison.values import values

    experiment = CATALOGUE.select_one(selector)
    for value in values(experiment.paper):
        if experiment.name in value.experiments and value.measure == "exact" and value.lengths and not value.across:
            first, last = min(value.lengths), max(value.lengths)
            lengths = f"length {first}" if first == last else f"lengths {first} to {last}"
            yield f"published: {value.printed} {value.unit}, {lengths} ({value.place})"

"""The commands score and evaluate: predictions of anyone's model, read from a file or asked for, are scored.

Parsed options enter; files, text on stdout and an exit code leave. Tasks of the benchmark are scored without torch.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengen import benchmark
from lengen.benchmark import user_file
from lengen.benchmark.scoring import PredictionError
from lengen.data.lines import cleaned
from lengen.results.records import Counts, Grid, Run
from reproduce.commands.problem import find, of_task_or_experiment, setting, shown_name
from reproduce.runs.catalogue import CATALOGUE, hash_of
from reproduce.runs.newest import newest
from reproduce.store.atomic_files import check_place, readable
from reproduce.store.locations import stores

if TYPE_CHECKING:
    from lengen.data.task_data import TaskData


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
        asked = benchmark.problems(task.name, size)
        scored = _of_size(rows, asked, size)
        grids = {
            seed: benchmark.score(asked, part, units_first=options.units_first)
            for seed, part in benchmark.by_seed(scored).items()
        }
        return _tell(options, grids, size, stored)
    from lengen.data.task_data import TaskData

    name = of_task_or_experiment(options.task).name
    if options.size:
        raise PredictionError(f"--size is of a task, and {name} is an experiment; leave it out")
    data = TaskData(setting(name, options.profile), options.seed or 0)
    name = shown_name(name, options.profile)
    grids = {
        seed: _of_experiment(data, name, part, options.units_first) for seed, part in benchmark.by_seed(rows).items()
    }
    return _tell(options, grids, data.spec.data.task.longest, stored)


def _of_size(rows: Sequence[Mapping[str, Any]], asked: Sequence[benchmark.Problem], size: int) -> Sequence[Any]:
    """Predictions without those of frozen problems of other sizes alone, whose number is said."""
    others = {one.id for one in benchmark.problems(asked[0].task)} - {one.id for one in asked}
    kept = [row for row in rows if row["id"] not in others]
    if rows and not kept:
        raise PredictionError(f"all {len(rows)} predictions are of other sizes than {size}: --size N scores them")
    if left := len(rows) - len(kept):
        print(f"{left} predictions are of other sizes than {size} and left out: --size N scores them", file=sys.stderr)
    return kept


def _of_experiment(data: "TaskData", name: str, rows: Sequence[Mapping[str, Any]], units_first: bool = False) -> Grid:
    """Counts of predictions for an experiment's own problems: of ``raw`` by all metrics of its runs, or of answers."""
    from lengen.benchmark import lines
    from lengen.metrics import count

    test, given = data.spec.test, benchmark.by_id(rows)
    grid = Grid(("length", "count") if len(test.counts) > 1 else ("length",))
    drawn = lines.examples_of(given, test.examples)
    start, known = lines.of_tests(data, name, drawn), set()
    for length, second in itertools.product(test.lengths, test.counts):
        prefix = f"{start}/length={length}/count={second}/"
        if given and not any(id.startswith(prefix) for id in given):
            continue  # a cell that was left out as a whole
        problems = data.test(length, second, drawn)
        ids = [f"{prefix}{place:05}" for place in range(len(problems.lengths))]
        known |= set(ids)
        found = [given.get(id, {}) for id in ids]
        if any("raw" in row for row in found):
            if any("prediction" in row for row in found):
                raise PredictionError(f"{prefix}: some rows have raw and some have prediction; give one of both in all")
            written = lines.responses(data, [row.get("raw") for row in found])
            counts = count(written, lines.true(data, problems), data.format, data.vocab, own_text=True)
        else:
            kind = {"number": data.task.ROWS.numbers, "apart": not data.task.ROWS.numbers}
            right = sum(
                "prediction" in row
                and cleaned(str(row["prediction"]), units_first=units_first, **kind) == cleaned(answer, **kind)
                for row, answer in zip(found, data.task.text(problems), strict=True)
            )
            counts = Counts(n=len(ids), correct=right, answer_correct=right)
        counts["absent"] = sum(not row for row in found)
        grid.add((length, second)[: len(grid.axes)], benchmark.scoring.MODE, counts)
    if unknown := given.keys() - known:
        raise PredictionError(
            f"{len(unknown)} predictions are of no problem of {name}, such as {min(unknown)}: score with the --profile "
            f"and --seed of their export; expected ids such as {start}/length={test.lengths[0]}/"
            f"count={test.counts[0]}/00000"
        )
    return grid


def evaluate_command(options: argparse.Namespace) -> int:
    """Let a function, a folder of transformers or a run of this suite answer a task of the benchmark."""
    task = benchmark.task_of(options.on)
    size = options.size or task.papers
    asked = benchmark.problems(task.name, size)
    if options.problems:
        stdin = options.problems == "-"
        try:
            text = sys.stdin.read() if stdin else Path(options.problems).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or error
            raise PredictionError(f"--problems {options.problems} cannot be read: {said}") from None
        asked = benchmark.read_lines(text.splitlines(), task, "stdin" if stdin else options.problems)
        if not asked:
            raise PredictionError(f"--problems {options.problems} has no problem; expected lines such as 12+34=46")
    if options.submission and options.problems:
        raise PredictionError("--submission is of the frozen problems: leave --problems out")
    if options.name and not options.submission:
        raise PredictionError("--name is of a submission: add --submission DIR, or leave it out")
    if options.profile is not None and not options.run:
        raise PredictionError("--profile chooses the run of --run SELECTOR: add it, or leave it out")
    given, seed = _answerer(options)
    for option in ("out", "scores", "picture"):
        check_place(option, getattr(options, option))
    head = None
    if options.submission:
        head = _header(options, task, size, given, seed)
        Path(options.submission).mkdir(parents=True, exist_ok=True)
    stored = _stored(options)
    answer = benchmark.answerer(given, task.name, asked)
    rows = [row | {"seed": seed} for row in benchmark.predictions(answer, asked)]
    if options.out:
        path = Path(options.out)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    grid = benchmark.score(asked, rows, units_first=options.units_first)
    if head is not None:
        files = benchmark.write_submission(Path(options.submission), head, rows)
        if not options.json:
            print("\n".join(map(readable, files)) + "\n")
    return _tell(options, {seed: grid}, size, stored)


def _header(options: argparse.Namespace, task: benchmark.Task, size: int, given: Any, seed: int) -> benchmark.Header:
    """The header of a submission, as far as it is known; a person adds the rest of a foreign model's."""
    fields: dict[str, Any] = {"seeds": (seed,), "kind": "program" if options.function else "trained"}
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
            examples = sum(part.train.steps * part.train.batch for part in _trainings(options, seed, spec))
            fields["trained"] = {"length": (1, data.longest), "count": axis, "examples": examples}
    name = options.name or options.run or Path(options.function or options.hf).name
    return benchmark.header(name, task.name, size, **fields)


def _trainings(options: argparse.Namespace, seed: int, spec: Any) -> Sequence[Any]:
    """The trainings behind loaded weights: the declared setting has all of them, what is loaded the last one alone."""
    if (folder := _folder(options.run)) is not None:
        info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        declared = {item.name: item.specs for item in CATALOGUE.experiments()}.get(info.get("experiment", ""), {})
        known = declared.get(info.get("profile", ""))
        return (known if known and hash_of(known) == info.get("spec_hash") else spec).trainings()
    experiment = CATALOGUE.select_one(options.run)
    run = find(experiment, options.profile, seed).run
    return experiment.specs[run.profile].trainings() if run else ()


def _folder(run: str) -> Path | None:
    """The folder that is meant, as `lengen.load` tells one from a selector; None of a selector."""
    return Path(run) if (Path(run) / "run.json").is_file() else None


def _answerer(options: argparse.Namespace) -> tuple[Any, int]:
    """Return what answers, and its seed: that of a run, else the one that its predictions are given."""
    given = [value for value in (options.function, options.hf, options.run) if value]
    if len(given) != 1:
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
    return user_file.function(options.function), options.seed or 0


def _stored(options: argparse.Namespace) -> Run | None:
    """The run that is printed beside, if one is."""
    if not options.beside:
        return None
    own = (options.profile, options.seed) if getattr(options, "run", None) is None else ()  # else they choose --run
    run, store = newest(
        CATALOGUE.select_one(options.beside), stores(), *own, otherwise="promote one of {} made with --set"
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
        _draw(options.picture, shown | ({options.beside: stored.grid} if stored else {}))
        if not options.json:
            print(readable(Path(options.picture)))
    found = [benchmark.measures(grid, size) for grid in grids.values()]
    by_seed = [benchmark.levels(grid) for grid in grids.values()]
    if options.json:
        unknown = dict.fromkeys(("reach", "area")) if getattr(options, "problems", None) else {}
        rows = [one._asdict() | {"seed": seed} | unknown for seed, one in zip(grids, found, strict=True)]
        print(json.dumps([{name: _or_null(value) for name, value in row.items()} for row in rows]))
        return 0
    names = ("in_range", "reach", "area", "edits", "absent")
    for name in ("in_range", "edits", "absent") if getattr(options, "problems", None) else names:
        values = [getattr(one, name) for one in found]
        digits = 0 if name in ("reach", "absent") else 3
        print(f"{name.replace('_', ' '):<10}{benchmark.over_seeds(values).text(digits)}")
    if absent := max(one.absent for one in found):
        where = " of a seed" if len(found) > 1 else ""
        print(f"{absent} problems{where} have no prediction and count as wrong", file=sys.stderr)
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
    return 0


def _or_null(value: Any) -> Any:
    """A number, or numbers, for JSON, which has no nan: None where nothing was measured."""
    if isinstance(value, tuple):
        return [_or_null(one) for one in value]
    return None if value != value else value


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

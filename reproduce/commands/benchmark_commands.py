"""The commands evaluate, score, adderboard and export of `lengen.benchmark.commands`, with the runs of this clone."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengen.benchmark import TASKS, commands
from lengen.benchmark.commands import ExportError
from lengen.benchmark.scoring import PredictionError
from lengen.results.records import Grid
from reproduce.catalogue import CATALOGUE, hash_of, newest
from reproduce.commands.solve import Model, find, of_task_or_experiment, setting, shown_name, warned, without_runs
from reproduce.comparison.published_values import values
from reproduce.pages.terminal import width
from reproduce.runs.display import counter
from reproduce.store.checkout import stores
from reproduce.store.files import check_place, readable

if TYPE_CHECKING:
    from lengen.benchmark.adderboard import Judged
    from lengen.settings.spec import Spec
    from lengen.solve import Report
    from lengen.trained_model import Model as Loaded


class Stored(commands.Sources):
    """The experiments and stored runs of this clone."""

    def readable(self, path: Path) -> str:
        return readable(path)

    def model(self, options: argparse.Namespace) -> "tuple[Loaded, int]":
        """Return a folder's model, else that of the newest run, and the seed."""
        if _folder(options.run) is not None:
            if options.seed is not None or options.profile is not None:
                raise PredictionError(f"--run {options.run} is the folder of one run: leave --seed and --profile out")
            return super().model(options)
        model = warned(find(CATALOGUE.select_one(options.run), options.profile, options.seed))
        from lengen.trained_model import Found
        from lengen.trained_model import Model as Loaded

        return Loaded(Found(model.spec, model.weights, model.name)), model.run.seed if model.run else 0

    def examples(self, options: argparse.Namespace, seed: int, spec: "Spec") -> int:
        """Return the examples of all trainings; the setting of loaded weights has the last one alone."""
        if (folder := _folder(options.run)) is not None:
            info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            declared = {item.name: item.specs for item in CATALOGUE.experiments()}.get(info.get("experiment", ""), {})
            known = declared.get(info.get("profile", ""))
            parts = (known if known and hash_of(known) == info.get("spec_hash") else spec).trainings()
        else:
            experiment = CATALOGUE.select_one(options.run)
            run = find(experiment, options.profile, seed).run
            parts = experiment.specs[run.profile].trainings() if run else ()
        return sum(part.train.steps * part.train.batch for part in parts)

    def setting(self, name: str, profile: str | None) -> "tuple[Spec, str]":
        known = of_task_or_experiment(name).name
        return setting(known, profile), shown_name(known, profile)

    def beside(self, options: argparse.Namespace) -> tuple[str, Grid] | None:
        if not options.beside:
            return None
        choice = (options.profile, options.seed) if getattr(options, "run", None) is None else ()  # else of --run
        run, store = newest(
            CATALOGUE.select_one(options.beside), stores(), *choice, otherwise="promote one of {} made with --set"
        )
        return options.beside, store.load(run).grid

    def adders(self, options: argparse.Namespace, report: "Report") -> "list[Judged]":
        """Judge the model that a paper constructs at the wanted size, else the newest run with weights."""
        from lengen.benchmark import adderboard

        offered = {name: spec for paper in CATALOGUE.papers() for name, spec in CATALOGUE.paper(paper).adders().items()}
        names = list(offered) if options.selector is None else [CATALOGUE.select_one(options.selector).name]
        models = []
        for name in names:
            if (spec := offered.get(name)) is not None:
                without_runs(f"{name} is constructed", **_of_a_run(options))
                models.append(Model(spec, None, f"{name}, constructed for two numbers of ten digits", None))
            else:
                models.append(warned(find(CATALOGUE.select_one(name), **_of_a_run(options))))
        pairs = options.pairs or adderboard.PAIRS
        return [adderboard.judge(model.spec, model.weights, model.name, pairs, report) for model in models]


def _of_a_run(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that choose a stored run."""
    return {key: getattr(options, key) for key in ("profile", "seed", "with_overrides")}


def _folder(run: str) -> Path | None:
    """Return the folder that is meant, as `lengen.load` tells one from a selector; None of a selector."""
    return Path(run) if (Path(run) / "run.json").is_file() else None


def adderboard_command(options: argparse.Namespace) -> int:
    """Judge the named model or file, or every model that a paper offers for it."""
    if str(options.selector).endswith(".py"):
        without_runs(f"{options.selector} is a file", **_of_a_run(options))
    commands.adderboard(options, Stored(), counter("sums", sys.stderr), width())
    return 0


def problems_command(options: argparse.Namespace) -> int:
    """Print the problems of a task."""
    commands.problems(options, Stored())
    return 0


def score_command(options: argparse.Namespace) -> int:
    """Score a file of predictions, and print it beside a stored run."""
    if options.task in TASKS and not options.beside and (options.profile is not None or options.seed is not None):
        raise PredictionError("--profile and --seed choose the run of --beside SELECTOR: add it, or leave them out")
    return _answered(options, commands.score)


def evaluate_command(options: argparse.Namespace) -> int:
    """Let a function, a folder of transformers or a run of this suite answer a task of the benchmark."""
    if options.profile is not None and not options.run:
        raise PredictionError("--profile chooses the run of --run SELECTOR: add it, or leave it out")
    return _answered(options, commands.evaluate)


def _answered(options: argparse.Namespace, command: Callable[[argparse.Namespace, Stored], None]) -> int:
    """Answer, and print a line for each published accuracy of the experiment that stands beside."""
    for option in ("out", "scores", "picture"):
        check_place(option, getattr(options, option, None))
    command(options, Stored())
    if not options.beside or options.json:
        return 0
    experiment = CATALOGUE.select_one(options.beside)
    for value in values(experiment.paper):
        if experiment.name in value.experiments and value.measure == "exact" and value.lengths and not value.across:
            first, last = min(value.lengths), max(value.lengths)
            lengths = f"length {first}" if first == last else f"lengths {first} to {last}"
            print(f"published: {value.printed} {value.unit}, {lengths} ({value.place})")
    return 0


def export_command(options: argparse.Namespace) -> int:
    """Write the problems of a task or an experiment, or a run as a folder for Hugging Face."""
    if not options.hf:
        commands.export(options, Stored())
        return 0
    if options.out or options.hub:
        raise ExportError("--hf DIR exports a run and --out DIR its problems: name one of them")
    if options.steps or options.examples or options.size or (options.split, options.format) != ("test", "jsonl"):
        raise ExportError("--hf exports a run: leave --split, --format, --size, --examples and --steps out")
    if options.selector is None:
        raise ExportError("--hf exports a run: name its experiment")
    print("\n".join(map(readable, _export_run(options))))
    return 0


def _export_run(options: argparse.Namespace) -> Sequence[Path]:
    from lengen import huggingface

    model = warned(find(CATALOGUE.select_one(options.selector), options.profile, options.seed))
    if model.weights is None:
        raise ExportError(
            f"{model.name}: its weights are set by hand, and only runs are exported; load it with "
            f"lengen.load({options.selector!r})"
        )
    assert model.run is not None
    commands.owned(Path(options.hf), ("this folder was written by `reproduce export`",), Stored())
    return huggingface.export(model.spec, model.weights, Path(options.hf), model.run.experiment, model.run.grid)

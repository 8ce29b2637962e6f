"""The commands that put one problem to a model: encode, solve, probe.

What enters are parsed options; what leaves is text on stdout and an exit code. They import torch; a picture of a probe
imports matplotlib.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lengen import benchmark
from lengen.data.reading_problems import typed_lines, typed_operands
from lengen.experiment import PROFILES, Experiment, Figure
from lengen.results.records import Run, said_against
from lengen.settings.spec import Spec
from reproduce.catalogue import CATALOGUE, SelectorError, check_profile, newest
from reproduce.pages import terminal
from reproduce.runs.display import counter, waiting
from reproduce.store.checkout import stores
from reproduce.store.files import check_place, one_line, readable
from reproduce.store.run_folder import WEIGHTS

if TYPE_CHECKING:
    from lengen.trained_model import Found

CHANGED = "take one of {} made with --set by --with-overrides"
"""Advice if all runs are changed ones."""


def of_task_or_experiment(name: str) -> Experiment:
    """Return the experiment that is named where a task of the benchmark could be, and is not.

    Raises `SelectorError`, or `TaskError` for a word that can be of neither.
    """
    try:
        return CATALOGUE.select_one(name)
    except SelectorError:
        if "/" not in name and name not in CATALOGUE.papers():
            benchmark.task_of(name)
        raise


def encode_command(options: argparse.Namespace) -> int:
    """Show one problem as the model of the published setting reads it."""
    spec = _spec(CATALOGUE.select_one(options.selector))
    operands = _operands(options, spec)
    with waiting("loading torch"):
        from lengen import solve as show

    encoded = show.encode(spec, operands, options.task)
    print(json.dumps(encoded, ensure_ascii=False) if options.json else terminal.aligned(encoded, terminal.width()))
    return 0


def solve_command(options: argparse.Namespace) -> int:
    """Decode greedily with the newest finished run that kept its weights; a smoke run has to be named.

    Without operands a line of the standard input is a problem, and a line is printed for each.
    """
    experiment = CATALOGUE.select_one(options.selector)
    spec = _spec(experiment)
    piped = options.operands in ([], ["-"])
    problems = _lines(options, spec) if piped else [_operands(options, spec)]
    with waiting("loading torch"):
        from lengen import solve as show

    model = _answering(experiment, options, problems, options.task)
    report = counter("tokens written", sys.stderr)
    if piped:
        for solved in show.solve_each(model.spec, model.weights, problems, options.task):
            print(json.dumps(solved, ensure_ascii=False) if options.json else show.in_a_line(solved), flush=True)
        return 0
    solved = show.solve(model.spec, model.weights, problems[0], options.task, report)
    words = "\n".join(show.in_words(solved | {"model": model.name}))
    print(json.dumps(solved, ensure_ascii=False) if options.json else words)
    return 0


def _operands(options: argparse.Namespace, spec: Spec) -> list[str]:
    """Return the operands of the one problem that was typed, before torch is loaded."""
    if not options.operands:
        raise nothing_given(options.selector, piped=False)
    return list(options.operands) if getattr(options, "task", "") else typed_operands(options.operands, spec.data.task)


def _lines(options: argparse.Namespace, spec: Spec) -> list[list[str]]:
    """Return the problems of the standard input."""
    if sys.stdin is None or (not options.operands and sys.stdin.isatty()):
        raise nothing_given(options.selector)
    problems = list(typed_lines(sys.stdin, None if options.task else spec.data.task))
    if not problems:
        raise nothing_given(options.selector)
    return problems


def nothing_given(selector: str, piped: bool = True) -> SelectorError:
    """Return the sentence for a command without a problem; ``piped``: it reads the standard input, too."""
    other = ", or pipe a line for each problem" if piped else ""
    return SelectorError(f"no problem for {selector}: type its operands, as in 57 48{other}")


def probe_command(options: argparse.Namespace) -> int:
    """Show the residual stream of a trained model on one problem, projected on its embedding and output head."""
    experiment = CATALOGUE.select_one(options.selector)
    figure = _picture(experiment, options.out) if options.out else None
    operands = _operands(options, _spec(experiment))
    with waiting("loading torch"):
        from lengen import solve as show

    model = _answering(experiment, options, [operands])
    projections = show.probe_trained(model.spec, model.weights, operands)
    if options.json:
        print(json.dumps({name: value.tolist() for name, value in projections.items()}, ensure_ascii=False))
    else:
        print(terminal.projections(projections, limit=terminal.width()))
        print(f"model    {model.name}")
    if figure is not None:
        from reproduce.figures import render

        target = Path(options.out)
        assert model.run is not None
        shown = dataclasses.replace(model.run, arrays={f"probe0.{name}": value for name, value in projections.items()})
        target.write_bytes(render(figure, {experiment.name: [shown]})[target.suffix[1:]])
        if not options.json:
            print(readable(target))
    return 0


def _picture(experiment: Experiment, out: str) -> Figure:
    """Return the figure that ``probe`` draws into the file ``out``; raises `SelectorError` or `StoreError`."""
    check_place("out", out)
    if Path(out).suffix not in (".png", ".svg"):
        raise SelectorError(f"--out {out}: expected a name that ends in .png or .svg")
    known = {figure.name: figure for figure in CATALOGUE.figures(experiment.paper) if figure.probes}
    if experiment.figure not in known:
        names = " or ".join(f"{experiment.paper}/{name}" for name in known) or "another paper"
        raise SelectorError(f"--out {out}: {experiment.name} has no picture of a probe; expected {names}")
    return known[experiment.figure]


def _spec(experiment: Experiment) -> Spec:
    """Return the published specification, or the largest there is; raises `SelectorError` if there is none."""
    check_profile(experiment, None)
    largest = next(profile for profile in reversed(PROFILES) if profile in experiment.specs)
    return experiment.specs[largest].override(*experiment.shown)


class Model(NamedTuple):
    """Model that answers a problem."""

    spec: Spec
    weights: Path | None
    """None: the specification constructs them."""
    name: str
    run: Run | None


def _answering(
    experiment: Experiment, options: argparse.Namespace, problems: Sequence[list[str]], task: str = ""
) -> Model:
    """Return the model that answers problems, which are checked before a run is looked for."""
    from lengen import solve as show

    for operands in problems:
        show.encode(_spec(experiment), operands, task)
    model = find(experiment, options.profile, options.seed, options.with_overrides)
    model = model._replace(spec=model.spec.override(*experiment.shown))
    show.encode(model.spec, problems[0], task)
    return warned(model)


def find(
    experiment: Experiment, profile: str | None = None, seed: int | None = None, with_overrides: bool = False
) -> Model:
    """Return the newest finished run of an experiment's declared setting, or the model that it constructs.

    ``with_overrides``: the newest run, even if it was made with ``--set``. A smoke run answers if its profile is named.
    Raises `StoreError` with the run to make where there is none, `SelectorError` where one of a constructed
    model is asked for.
    """
    check_profile(experiment, profile)
    if not _spec(experiment).constructed:
        run, store = newest(
            experiment, stores(), profile, seed, weights=True, with_overrides=with_overrides, otherwise=CHANGED
        )
        made = "".join(f" --set {override}" for override in run.info["overrides"])
        name = one_line(f"{run.experiment} {run.profile} seed {run.seed} v{run.version} ({run.store}){made}")
        return Model(run.spec, store.whole(run, WEIGHTS), name, run)
    without_runs(f"{experiment.name} is constructed", seed=seed, with_overrides=with_overrides)
    if profile is None:
        return Model(_spec(experiment), None, f"{experiment.name}, constructed: nothing to train", None)
    return Model(experiment.specs[profile], None, f"{experiment.name} {profile}, constructed", None)


def warned(model: Model) -> Model:
    """Return a model; what its run says against itself, such as that it never left chance, is said on stderr."""
    if model.run is not None and (against := said_against(model.run.info)):
        print(one_line(f"{model.name}: {against}"), file=sys.stderr)
    return model


def without_runs(model: str, **options: object) -> None:
    """Refuse options that choose a run of a model without any, as "NAME is constructed".

    Raises `SelectorError`; None and False: not given.
    """
    flags = [f"--{key.replace('_', '-')}" for key, value in options.items() if value is not None and value is not False]
    if flags:
        message = f"{model} and has no runs for {' and '.join(flags)} to choose from"
        raise SelectorError(f"{message}: leave that out, or name a trained model")


def setting(name: str, profile: str | None = None) -> Spec:
    """Return the setting of an experiment: of the profile, else of its first of cpu, night, paper and smoke."""
    experiment = CATALOGUE.select_one(name)
    check_profile(experiment, profile)
    known = [size for size in ("cpu", *PROFILES) if size in experiment.specs and size != "smoke"] or ["smoke"]
    return experiment.specs[profile or known[0]]


def shown_name(name: str, profile: str | None) -> str:
    """Return the name of a setting in ids of its problems: the experiment, and a profile that is not the usual one."""
    usual = setting(name) == setting(name, profile)
    return name if usual else f"{name}/{profile}"


def named(name: str) -> "Found":
    """Return the parts of the model of an experiment, or of its size ``NAME/smoke``, for `lengen.load`."""
    from lengen.trained_model import Found

    stem, _, last = name.rpartition("/")
    profile = last if last in PROFILES and stem.count("/") == 2 else None
    experiment = CATALOGUE.select_one(stem if profile else name)
    model = find(experiment, profile)
    note = "" if model.run is None else said_against(model.run.info)
    return Found(model.spec.override(*experiment.shown), model.weights, model.name, note)

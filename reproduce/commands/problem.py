"""The commands that put one problem to a model: encode, solve, probe.

What enters are parsed options; what leaves is text on stdout and an exit code. They import torch; a picture of a probe
imports matplotlib.
"""

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lengen.config.experiment import PROFILES, Experiment, Figure
from lengen.config.spec import Spec, from_dict
from lengen.records import Run
from reproduce.output import terminal
from reproduce.runs.catalogue import CATALOGUE, SelectorError
from reproduce.runs.display import counter
from reproduce.runs.newest import check_profile, newest
from reproduce.store.atomic_files import one_line, readable
from reproduce.store.locations import stores
from reproduce.store.store import WEIGHTS

if TYPE_CHECKING:
    from lengen.library import Found

CHANGED = "take one of {} made with --set by --with-overrides"
"""What to do where all runs are changed ones."""


def encode_command(options: argparse.Namespace) -> int:
    """How one problem looks to the model of the published setting."""
    experiment = CATALOGUE.select_one(options.selector)
    from lengen.inspection import problem as show

    encoded = show.encode(_spec(experiment).override(*experiment.shown), options.operands, options.task)
    print(json.dumps(encoded, ensure_ascii=False) if options.json else terminal.aligned(encoded, terminal.width()))
    return 0


def solve_command(options: argparse.Namespace) -> int:
    """Greedy decoding with the newest finished run that kept its weights; smoke runs only where there is no other."""
    experiment = CATALOGUE.select_one(options.selector)
    from lengen.inspection import problem as show

    # Bad operands are told before a run is looked for.
    show.encode(_spec(experiment).override(*experiment.shown), options.operands, options.task)
    model = find(experiment, options.profile, options.seed, options.with_overrides)
    spec = model.spec.override(*experiment.shown)
    solved: dict[str, Any] = show.solve(
        spec, model.weights, options.operands, options.task, counter("tokens written", sys.stderr)
    )
    if options.json:
        print(json.dumps(solved, ensure_ascii=False))
    else:
        print(
            "\n".join(
                f"{name:<8} {str(value).lower() if isinstance(value, bool) else value}"
                for name, value in solved.items()
            )
        )
        print(f"model    {model.name}")
    return 0


def probe_command(options: argparse.Namespace) -> int:
    """The residual stream of a trained model on one problem, projected on its embedding and on its output head."""
    experiment = CATALOGUE.select_one(options.selector)
    figure = _picture(experiment, options.out) if options.out else None
    from lengen.inspection import problem as show
    from lengen.inspection import projections

    show.encode(_spec(experiment), options.operands)
    model = find(experiment, options.profile, options.seed, options.with_overrides)
    found = projections.probe_trained(model.spec, model.weights, options.operands)
    if options.json:
        print(json.dumps({name: value.tolist() for name, value in found.items()}, ensure_ascii=False))
    else:
        print(terminal.projections(found, limit=terminal.width()))
        print(f"model    {model.name}")
    if figure is not None:
        from reproduce.output.figures import render

        target = Path(options.out)
        assert model.run is not None
        shown = dataclasses.replace(model.run, arrays={f"probe0.{name}": value for name, value in found.items()})
        target.write_bytes(render(figure, {experiment.name: [shown]})[target.suffix[1:]])
        if not options.json:
            print(readable(target))
    return 0


def _picture(experiment: Experiment, out: str) -> Figure:
    """The figure that ``probe`` draws into the file ``out``; raises `SelectorError`."""
    if Path(out).suffix not in (".png", ".svg"):
        raise SelectorError(f"--out {out}: expected a name that ends in .png or .svg")
    known = {figure.name: figure for figure in CATALOGUE.figures(experiment.paper) if figure.probes}
    if experiment.figure not in known:
        names = " or ".join(f"{experiment.paper}/{name}" for name in known) or "another paper"
        raise SelectorError(f"--out {out}: {experiment.name} has no picture of a probe; expected {names}")
    return known[experiment.figure]


def _spec(experiment: Experiment) -> Spec:
    """The published specification, or the largest there is."""
    return experiment.specs[next(profile for profile in reversed(PROFILES) if profile in experiment.specs)]


class Model(NamedTuple):
    """What answers a problem."""

    spec: Spec
    weights: Path | None
    """None: the specification constructs them."""
    name: str
    run: Run | None


def find(
    experiment: Experiment, profile: str | None = None, seed: int | None = None, with_overrides: bool = False
) -> Model:
    """The newest finished run of an experiment's declared setting, or the model that it constructs, which needs no run.

    ``with_overrides``: the newest run, even if it was made with ``--set``. Smoke runs answer where there is no other.
    Raises `StoreError` with the run to make where there is none, `SelectorError` where one of a constructed
    model is asked for.
    """
    check_profile(experiment, profile)
    if not _spec(experiment).constructed:
        run, store = newest(
            experiment, stores(), profile, seed, weights=True, with_overrides=with_overrides, otherwise=CHANGED
        )
        made = "".join(f" --set {override}" for override in run.info["overrides"])  # type: ignore[attr-defined]
        name = one_line(f"{run.experiment} {run.profile} seed {run.seed} v{run.version} ({run.store}){made}")
        # As a plain specification, without the sections of its paper.
        return Model(from_dict(run.info["spec"]), store.whole(run, WEIGHTS), name, run)  # type: ignore[arg-type]
    without_runs(experiment.name, seed=seed, with_overrides=with_overrides)
    if profile is None:
        return Model(_spec(experiment), None, f"{experiment.name}, constructed: nothing to train", None)
    return Model(experiment.specs[profile], None, f"{experiment.name} {profile}, constructed", None)


def without_runs(name: str, **options: object) -> None:
    """Refuse options that choose a run of a constructed model, by a `SelectorError`; None and False: not given."""
    given = [f"--{key.replace('_', '-')}" for key, value in options.items() if value is not None and value is not False]
    if given:
        said = f"{name} is constructed and has no runs for {' and '.join(given)} to choose from"
        raise SelectorError(f"{said}: leave that out, or name a trained model")


def named(name: str) -> "Found":
    """What the model of an experiment is made of, for `lengen.load`."""
    from lengen.library import Found

    experiment = CATALOGUE.select_one(name)
    model = find(experiment)
    return Found(model.spec.override(*experiment.shown), model.weights, model.name)

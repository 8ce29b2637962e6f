"""The commands that put one problem to a model: encode, solve, probe.

What enters are parsed options; what leaves is text on stdout and an exit code. They import torch; a picture of a probe
imports matplotlib.
"""

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from lengen.config.experiment import PROFILES, Experiment, Figure
from lengen.config.spec import Spec, from_dict
from lengen.records import Run
from reproduce.commands.results import stores
from reproduce.output import terminal
from reproduce.runs import catalogue as registry
from reproduce.runs.catalogue import SelectorError
from reproduce.runs.display import counter
from reproduce.store.atomic_files import readable
from reproduce.store.store import WEIGHTS, StoreError


def encode_command(options: argparse.Namespace) -> int:
    """How one problem looks to the model of the published setting."""
    experiment = registry.select_one(options.selector)
    from lengen.inspection import problem as show

    encoded = show.encode(_spec(experiment).override(*experiment.shown), options.operands, options.task)
    print(json.dumps(encoded, ensure_ascii=False) if options.json else terminal.aligned(encoded))
    return 0


def solve_command(options: argparse.Namespace) -> int:
    """Greedy decoding with the newest finished run that kept its weights; smoke runs only where there is no other."""
    experiment = registry.select_one(options.selector)
    from lengen.inspection import problem as show

    # Bad operands are told before a run is looked for.
    show.encode(_spec(experiment).override(*experiment.shown), options.operands, options.task)
    model = _model(experiment, options.profile, options.seed)
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
    experiment = registry.select_one(options.selector)
    figure = _picture(experiment, options.out) if options.out else None
    from lengen.inspection import problem as show
    from lengen.inspection import projections

    show.encode(_spec(experiment), options.operands)
    model = _model(experiment, options.profile, options.seed)
    found = projections.probe_trained(model.spec, model.weights, options.operands)
    if options.json:
        print(json.dumps({name: value.tolist() for name, value in found.items()}, ensure_ascii=False))
    else:
        print(terminal.projections(found))
        print(f"model    {model.name}")
    if figure is not None:
        from reproduce.output.figures import render

        target = Path(options.out)
        assert model.run is not None
        shown = dataclasses.replace(model.run, arrays={f"probe0.{name}": value for name, value in found.items()})
        target.write_bytes(render(experiment.paper, figure, {experiment.name: [shown]})[target.suffix[1:]])
        if not options.json:
            print(readable(target))
    return 0


def _picture(experiment: Experiment, out: str) -> Figure:
    """The figure that ``probe`` draws into the file ``out``; raises `SelectorError`."""
    if Path(out).suffix not in (".png", ".svg"):
        raise SelectorError(f"--out {out}: expected a name that ends in .png or .svg")
    known = {figure.name: figure for figure in registry.figures(experiment.paper) if figure.probes}
    if experiment.figure not in known:
        names = " or ".join(f"{experiment.paper}/{name}" for name in known) or "another paper"
        raise SelectorError(f"--out {out}: {experiment.name} has no picture of a probe; expected {names}")
    return known[experiment.figure]


def _spec(experiment: Experiment) -> Spec:
    """The published specification, or the largest there is."""
    return experiment.specs[next(profile for profile in reversed(PROFILES) if profile in experiment.specs)]


class _Model(NamedTuple):
    """What answers a problem."""

    spec: Spec
    weights: Path | None
    """None: the specification constructs them."""
    name: str
    run: Run | None


def _model(experiment: Experiment, profile: str | None, seed: int | None) -> _Model:
    """The newest finished run of an experiment, or the model that it constructs, which needs no run."""
    if not _spec(experiment).CONSTRUCT:
        run, folder = _trained(experiment, profile, seed)
        name = f"{run.experiment} {run.profile} seed {run.seed} v{run.version} ({run.store})"
        # As a plain specification, without the sections of its paper.
        return _Model(from_dict(run.info["spec"]), folder / WEIGHTS, name, run)  # type: ignore[arg-type]
    if profile is None:
        return _Model(_spec(experiment), None, f"{experiment.name}, constructed: nothing to train", None)
    if profile not in experiment.specs:
        raise SelectorError(f"--profile {profile}: {experiment.name} has no such size")
    return _Model(experiment.specs[profile], None, f"{experiment.name} {profile}, constructed", None)


def _trained(experiment: Experiment, profile: str | None, seed: int | None) -> tuple[Run, Path]:
    """The run that answers, and its folder."""
    homes = {(registry.home(experiment, at).name, at) for at in experiment.specs if profile in (None, at)}
    found = [
        (run.profile != "smoke", str(run.info.get("finished")), run.version, run, store.folder(run))
        for store in stores()
        for run in store.headers(experiment.paper)
        if (run.experiment, run.profile) in homes
        and seed in (None, run.seed)
        and (store.folder(run) / WEIGHTS).is_file()
    ]
    if not found:
        wanted = f" --profile {profile}" * (profile is not None) + f" --seeds {seed}" * (seed is not None)
        raise StoreError(
            f"{experiment.name} has no finished run with weights here: make one with "
            f"python -m reproduce run {experiment.name}{wanted}"
        )
    *_, run, folder = max(found, key=lambda item: item[:3])
    return run, folder

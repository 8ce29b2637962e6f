"""Newest finished run of an experiment's declared setting.

An experiment and stores enter; a run and the store that holds it leave, or one sentence that says which run to make.
"""

from collections.abc import Sequence

from lengen.experiment import Experiment
from lengen.results.records import Run
from reproduce.runs.catalogue import CATALOGUE, SelectorError
from reproduce.store.files import StoreError
from reproduce.store.store import WEIGHTS, Store


def check_profile(experiment: Experiment, profile: str | None) -> None:
    """Raise `SelectorError` for a profile that the experiment does not have, or if it has none; None stands for any."""
    if not experiment.specs:
        why = "; ".join(dict.fromkeys(experiment.absent.values()))
        raise SelectorError(f"{experiment.name} cannot be run ({why}); choose another variant")
    if profile is not None and profile not in experiment.specs:
        reason = experiment.absent.get(profile, "not declared")
        raise SelectorError(
            f"--profile {profile}: {experiment.name} has no such size ({reason}); it has {', '.join(experiment.specs)}"
        )


def newest(
    experiment: Experiment,
    stores: Sequence[Store],
    profile: str | None = None,
    seed: int | None = None,
    *,
    weights: bool = False,
    with_overrides: bool = False,
    otherwise: str,
) -> tuple[Run, Store]:
    """Return the newest finished run without its records, and its store; a smoke run only for want of others.

    Args:
        experiment: whose run it is.
        stores: where to look.
        profile: of the run; None: any.
        seed: of the run; None: any.
        weights: only a run that kept its weights.
        with_overrides: take the newest even if it was made with ``--set``.
        otherwise: what the user may do with ``{}`` runs made with ``--set``, where there is no other.

    Raises:
        SelectorError: for a profile that the experiment does not have.
        StoreError: with the command that makes the run where there is none.
    """
    check_profile(experiment, profile)
    held = [
        (run, store, at)
        for store in stores
        for run in store.headers(experiment.paper, holding=WEIGHTS if weights else None)
        for at in experiment.specs
        if profile in (None, at) and seed in (None, run.seed)
    ]
    runs = [(run, store) for run, store, at in held if CATALOGUE.counts(run, experiment, at)]
    changed = [(run, store) for run, store, at in held if CATALOGUE.overridden(run, experiment, at)]
    if with_overrides:
        runs += changed
    if not runs:
        what = "finished run with weights" if weights else "finished run"
        hint = f", or {otherwise.format(len(changed))}" if changed else ""
        raise StoreError(f"{experiment.name} has no {what} here: {_advice(experiment, profile, seed)}{hint}")
    return max(runs, key=lambda it: (it[0].profile != "smoke", str(it[0].info.get("finished")), it[0].version))


def _advice(experiment: Experiment, profile: str | None, seed: int | None) -> str:
    """Return the command for the missing run, at a size that exists: cpu, which is the default, or else the largest."""
    chosen = profile or ("cpu" if "cpu" in experiment.specs else next(reversed(list(experiment.specs))))
    wanted = f" --profile {chosen}" * (chosen != "cpu" or profile is not None)
    wanted += f" --seeds {seed}" * (seed is not None)
    advice = f"make one with python -m reproduce run {experiment.name}{wanted}"
    if profile is None and chosen != "cpu":
        advice += f" (it has no cpu size: {experiment.absent.get('cpu', 'not declared')})"
    return advice

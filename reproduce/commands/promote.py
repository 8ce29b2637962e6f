"""The command promote: finished local runs are added to the committed tables, and what follows from them is renewed.

Parsed options enter; runs in results/reference, pictures, comparisons and pages leave.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lengen.results.records import Run
from reproduce import figures, generated_files
from reproduce.catalogue import CATALOGUE, hash_of
from reproduce.comparison.published_settings import CHECKED
from reproduce.pages import comparison
from reproduce.runs.display import counter
from reproduce.store.checkout import checkout, stores
from reproduce.store.files import StoreError, readable
from reproduce.store.store import LocalStore, Store

MOST = 8
"""Seeds that are promoted unless others are named; settings are tried on those beyond."""


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def promote_command(options: argparse.Namespace) -> int:
    """Add finished local runs of settings as they are declared now to the committed tables.

    Seeds from `MOST` on, on which settings are tried, stay behind unless named: they would be evidence chosen by its
    outcome.
    """
    reference, local = stores()
    if options.source is not None:
        local = _local(Path(options.source))
    profiles = (options.profile,) if options.profile else CHECKED
    declared = list(_declared(options.selector, profiles, local))
    if not declared:
        size = f" --profile {options.profile}" if options.profile else ""
        raise StoreError(
            f"{readable(local.path)} has no finished run of {options.selector} at profile {' or '.join(profiles)}: "
            f"make one with python -m reproduce run {options.selector}{size}"
        )
    runs = list(_of_seeds(declared, options.seeds, local))
    if not runs:
        raise StoreError(f"{readable(local.path)} has finished runs of {options.selector}, but of no seed to promote")
    adopted = reference.adopt(runs, local, options.weights, _say)
    for run in adopted:
        print(f"{run.experiment} {run.profile} seed {run.seed}")
        if run.info.get("dirty"):
            reason = "made from a checkout with changes, which no commit holds: nobody else can make it again"
            _say(f"{run.experiment} seed {run.seed}: {reason}")
    if already := len(runs) - len(adopted):
        print(f"{already} run{'s' * (already != 1)} already there")
    for paper in dict.fromkeys(run.experiment.split("/")[0] for run in runs):
        _, paths = comparison.save(paper, [reference])
        drawn = figures.draw(paper, reference, tell=counter("figures drawn", sys.stderr))
        print("\n".join(map(readable, (*drawn, *paths))))
        for path in figures.sweep(paper, reference, drawn):
            print(f"{readable(path)}: deleted, no run is behind it any more or a larger profile shows the figure")
    repository = checkout()
    if repository is not None and reference.path.parent == repository / "results":
        for path in generated_files.write(repository):
            print(readable(path))
    return 0


def _declared(selector: str, profiles: Sequence[str], local: Store) -> Iterator[Run]:
    """Yield the finished runs of settings as they are declared now; runs made with ``--set`` stay behind."""
    for profile in profiles:
        chosen = [item for item in CATALOGUE.select(selector) if profile in item.specs]
        for home in {home.name: home for home in (CATALOGUE.home(item, profile) for item in chosen)}.values():
            for run in local.of(home.name, profile):
                if run.info["overrides"]:
                    continue
                if run.info["spec_hash"] == hash_of(home.specs[profile]):
                    yield run
                else:
                    _say(f"{readable(local.folder(run))}: of an earlier setting, not promoted")


def _of_seeds(runs: Sequence[Run], seeds: Sequence[int] | None, local: Store) -> Iterator[Run]:
    """Yield the runs of these seeds, or of those below `MOST`, and name what is lacking or left out."""
    if seeds is not None:
        for name, profile in dict.fromkeys((run.experiment, run.profile) for run in runs):
            there = {run.seed for run in runs if (run.experiment, run.profile) == (name, profile)}
            if lacking := ", ".join(str(seed) for seed in seeds if seed not in there):
                _say(f"{name} {profile}: no finished run of seed {lacking}, not promoted")
    for run in runs:
        if run.seed in (range(MOST) if seeds is None else seeds):
            yield run
        elif seeds is None:
            reason = f"seed {run.seed} is for trying settings (statements have seeds 0 to {MOST - 1}), not promoted"
            _say(f"{readable(local.folder(run))}: {reason}; --seeds {run.seed} would")


def _local(folder: Path) -> LocalStore:
    """Return the local store in another results folder, or the folder of local runs itself."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise StoreError(f"--from {readable(folder)}: there is no such folder; expected results/local of a checkout")
    return LocalStore(folder) if (folder / "local").is_dir() else LocalStore(folder.parent, folder.name)

"""The command ``rerun``: a stored run is made again, and its numbers are held against those that were stored.

What enters is a run of the committed results or of one's own; what leaves is a line for each kind of number, and the
exit code 0 where all are the same, 1 where one is not. The repetition lies in a temporary folder, which is deleted;
nothing in a results folder is touched.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from lengen.results.records import Run
from lengen.settings.spec import Spec, from_dict
from reproduce.pages.terminal import tell
from reproduce.runs.catalogue import CATALOGUE, SelectorError
from reproduce.runs.display import Display
from reproduce.runs.estimate import cost_on
from reproduce.runs.local import Local
from reproduce.runs.newest import newest
from reproduce.runs.plan import Job, Order, run
from reproduce.runs.run_differences import Line, compared, otherwise, same
from reproduce.store.files import StoreError, readable, write_text
from reproduce.store.locations import stores
from reproduce.store.provenance import provenance
from reproduce.store.store import LocalStore, Store

INSIDE = re.compile(r"\w[\w.+-]*(/\w[\w.+-]*)*")
"""Folder of one training of a run, below the run's."""
WORDS = {True: "same", False: "differs", None: "-"}


def rerun_command(options: argparse.Namespace) -> int:
    """Repeat a stored run with its seed, its specification and its precision; 1 where a number came out otherwise."""
    stored, source = chosen(options.run, options.profile, options.seed)
    spec = setting(stored)
    job = Job(stored.experiment, stored.profile, stored.seed, spec, tuple(stored.info["overrides"]))
    print(f"{stored.experiment} {stored.profile} seed {stored.seed} once more, in a temporary folder", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="rerun-") as place:
        local = LocalStore(Path(place))
        _as_then(stored, local, spec)
        order = Order(local.root, provenance(options.arguments))
        with Display({job: cost_on(spec, gpu=stored.info.get("device") == "cuda")}, 1) as display:
            report = run([job], {}, order, Local(1), display)
        if not report.runs:
            return 1  # the display said why
        (again,) = report.runs
        lines = compared(stored, source.folder(stored), again, local.folder(again))
        differences = otherwise(stored.info, again.info)
    tell(*told(lines, differences, gpu=stored.info.get("device") == "cuda"))
    return 0 if same(lines) else 1


def told(lines: list[Line], differences: list[str], *, gpu: bool = False) -> list[str]:
    """Return the compared records, a line each, the differences in making the runs, and one sentence in the end."""
    shown = [f"{WORDS[line.same]:<8} {line.what:<34} {line.said}" for line in lines]
    shown += [f"made otherwise: {difference}" for difference in differences]
    count = sum(line.same is False for line in lines)
    if not count:
        return [*shown, "the same numbers"]
    remark = "; other processors and versions round otherwise, which training enlarges" if differences else ""
    remark = remark or "; a GPU rounds otherwise each time, which training enlarges" * gpu
    return [*shown, f"other numbers in {count} of {sum(line.same is not None for line in lines)} respects{remark}"]


def chosen(text: str, profile: str | None = None, seed: int | None = None) -> tuple[Run, Store]:
    """Return a run and its store: that of a version folder, or the newest finished one of a declared setting.

    Raises `StoreError` or `SelectorError` where there is none.
    """
    folder = Path(text)
    if (folder / "run.json").is_file():
        return _in_folder(folder.resolve(), profile, seed)
    if re.search(r"(^|/)v\d+/*$", text):
        raise StoreError(f"{text} holds no finished run: expected a folder such as results/local/.../seed-0/v1")
    experiment = CATALOGUE.select_one(text)
    run, store = newest(experiment, stores(), profile, seed, otherwise="name the folder of one of {} made with --set")
    return store.load(run), store


def _in_folder(folder: Path, profile: str | None, seed: int | None) -> tuple[Run, Store]:
    if profile is not None or seed is not None:
        raise SelectorError("a folder is one run: leave out --profile and --seed, or name paper/figure/variant")
    parts = folder.parts
    if len(parts) < 8 or not re.fullmatch(r"v[1-9]\d*", parts[-1]) or not re.fullmatch(r"seed-\d+", parts[-2]):
        raise StoreError(
            f"{readable(folder)} is no folder of a run: expected .../local/paper/figure/variant/profile/seed-0/v1"
        )
    store = LocalStore(folder.parents[6], parts[-7])
    return store.at(folder), store


def setting(run: Run) -> Spec:
    """Return the specification of a stored run, with the sections of its paper.

    Raises `StoreError` where today's program reads another one from it.
    """
    paper = run.experiment.split("/")[0]
    specs = {item.name: item.specs for item in CATALOGUE.experiments(paper)}.get(run.experiment, {})
    sort = type(specs[run.profile]) if run.profile in specs else Spec
    spec = from_dict(run.info["spec"], sort)
    if spec.hash() != run.info["spec_hash"]:
        raise StoreError(
            f"{run.experiment} seed {run.seed} v{run.version}: its specification has another hash here than "
            f"then, {run.info['spec_hash']}; repeat it with the commit it names, {str(run.info.get('commit'))[:12]}"
        )
    return spec


def _as_then(stored: Run, local: LocalStore, spec: Spec) -> None:
    """Lay out what the run chose for itself: its kernels, and its threads where they are not one."""
    import torch

    from lengen.training.kernels import FILE, Kernels

    with local.workspace(stored.experiment, stored.profile, stored.seed, spec.hash()) as space:
        of_parts: Mapping[str, object] = stored.info.get("kernels_of", {})
        for part, recorded in {"": stored.info.get("kernels"), **of_parts}.items():
            if part and not INSIDE.fullmatch(part):
                raise StoreError(f"{stored.experiment}: it has kernels of '{part}': expected a folder of its run")
            try:
                kernels = msgspec.convert(recorded, Kernels)
            except msgspec.ValidationError:  # none were chosen, or before runs recorded them
                continue
            write_text(space.folder / part / FILE, msgspec.json.encode(kernels).decode())
    threads = stored.info.get("threads")
    if stored.profile == "paper" and isinstance(threads, int) and 0 < threads < 1024:
        torch.set_num_threads(threads)

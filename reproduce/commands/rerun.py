"""The command rerun: a stored run is made again, and held against itself.

What enters is a run of the committed results or of one's own; what leaves is a line for each kind of number, and the
exit code 0 where all are the same, 1 where one is not. The repetition lies in a temporary folder, which is deleted;
nothing in a results folder is touched.
"""

import argparse
import hashlib
import math
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from lengen.metrics.run_measures import shares
from lengen.results.records import Run
from lengen.settings.spec import Spec, from_dict
from reproduce.catalogue import CATALOGUE, SelectorError, newest
from reproduce.pages.terminal import tell
from reproduce.runs.costs import cost_on
from reproduce.runs.display import Display
from reproduce.runs.local import Local
from reproduce.runs.plan import Job, Order, run
from reproduce.store.checkout import provenance, stores
from reproduce.store.files import StoreError, readable, write_text
from reproduce.store.run_folder import WEIGHTS, damaged
from reproduce.store.store import WEIGHTS_SUM, LocalStore, Store

# Two finished runs enter, each with the folder of its files; what leaves is one line per kind of number. Times are no
# numbers of a run: they are not compared.


TIME = "seconds"
"""Part of the names of measured times."""
DESCRIBED = ("processor", "instruction_sets", "device", "threads", "platform", "versions", "commit")
"""Entries of run.json on the making of a run that can move its numbers."""


NOTHING = "nothing to compare"
"""Word for records that neither run has."""


class Check(NamedTuple):
    """One kind of number in two runs."""

    what: str
    same: bool | None
    """None where one of the runs has none to compare."""
    words: str
    """The numbers that are the same, or how they differ."""


def compared(stored: Run, folder: Path, again: Run, folder_again: Path) -> list[Check]:
    """Return a line for the weights, for every kind of record and for the accuracies that answers rest on.

    Raises `StoreError` where the stored weights are not the file its run wrote.
    """
    accuracies = zip(("in the trained range", "outside of it"), shares(stored), shares(again), strict=True)
    now = numbers(again)
    lines = [
        weights(stored, folder, again, folder_again),
        *(arrays(what, was, now[what]) for what, was in numbers(stored).items()),
        *(accuracy(f"exact match {where}", then, is_now) for where, then, is_now in accuracies),
    ]
    return [line for line in lines if line.words != NOTHING]


def numbers(run: Run) -> dict[str, Mapping[str, Any]]:
    """Return the records of a run by kind: name -> number or array."""
    scalars = {name: value for name, value in run.info.get("scalars", {}).items() if TIME not in name}
    attention = run.attention
    scores = {" ".join(map(str, (*cell, mode))): counts for cell, mode, counts in run.grid.entries()}
    return {
        "metrics": {f"{name} {step}": value for step, name, value in run.metrics},
        "scores": {f"{place} {name}": count for place, counts in scores.items() for name, count in counts.items()},
        "key counts": {" ".join(map(str, row[:4])): row.keys_sum for row in run.key_counts},
        "attention": {} if attention is None else {"weights": attention.weights, "tokens": np.array(attention.tokens)},
        "arrays": run.arrays,
        "scalars": {name: value for name, value in scalars.items() if isinstance(value, int | float)},
    }


def otherwise(stored: Mapping[str, Any], again: Mapping[str, Any]) -> list[str]:
    """Return the differences between the circumstances of two runs, by their run.json.

    Each is a sentence each, the processor first.
    """
    sentences = []
    for name in DESCRIBED:
        before, after = stored.get(name), again.get(name)
        if name == "versions" and isinstance(before, Mapping) and isinstance(after, Mapping):
            changed = [(key, was, after.get(key)) for key, was in before.items() if was != after.get(key)]
            sentences += [f"{key} was {was}, here it is {now}" for key, was, now in changed]
        elif name == "instruction_sets" and before is not None and before != after:
            was, now = (" ".join(map(str, names or ())) or "unknown" for names in (before, after))
            sentences.append(f"instruction sets were {was}, here they are {now}")
        elif before is not None and before != after:
            was, now = (str(value)[:12] if name == "commit" else _short(value) for value in (before, after))
            sentences.append(f"{name} was {was}, here it is {now}")
    before, after = _kernels(stored), _kernels(again)
    if before and before != after:
        sentences.append(f"kernels were {before}, here they are {after or 'not recorded'}")
    if stored.get("dirty"):
        sentences.append("the stored run was made with uncommitted changes")
    return sentences


def _kernels(info: Mapping[str, Any]) -> str:
    """Return the kernels that a run trained with, and the update from which it went on without compiling.

    Empty if none are recorded.
    """
    held = info.get("kernels") or {}
    if "compiled" not in held:
        return ""
    left = re.search("not compiled from update [0-9,]+ on", held["why"])
    how = "compiled" if held["compiled"] else "not compiled"
    graphs = " with CUDA graphs" if held["compiled"] and "with CUDA graphs" in held["why"] else ""
    return f"{how}{graphs} ({f'{left[0]}; ' if left else ''}products {held['products']})"


def weights(stored: Run, folder: Path, again: Run, folder_again: Path) -> Check:
    """Return the weights by their sha256; where they differ and are kept, by how much."""
    was, now = (str(dict(run.info["files"]).get(WEIGHTS) or run.info.get(WEIGHTS_SUM, "")) for run in (stored, again))
    if not was or not now:
        return Check("weights", None, f"the stored run kept none, nor their sum; here {now[:16] or 'none'}")
    if was == now:
        return Check("weights", True, f"sha256 {was[:16]}")
    from safetensors.torch import load_file

    path = folder / WEIGHTS
    message = f"sha256 {was[:16]} was stored, here it is {now[:16]}"
    if not path.is_file():
        return Check("weights", False, message)
    if hashlib.sha256(path.read_bytes()).hexdigest() != was:
        raise StoreError(damaged(path))
    before, after = (
        {name: tensor.double().numpy() for name, tensor in load_file(file).items()}
        for file in (path, folder_again / WEIGHTS)
    )
    if {name: array.shape for name, array in before.items()} != {name: array.shape for name, array in after.items()}:
        return Check("weights", False, f"{message}; their tensors have other names or shapes")
    return Check("weights", False, f"{message}; {arrays('weights', before, after).words}")


def arrays(what: str, stored: Mapping[str, Any], again: Mapping[str, Any]) -> Check:
    """Hold named numbers and arrays against each other: how many differ, the first that does, the largest distance."""
    if not stored:
        return Check(what, None, NOTHING)
    shared = [name for name in stored if name in again and np.shape(stored[name]) == np.shape(again[name])]
    missing = len(stored) - len(shared)
    lacking = f"; {missing} of the stored are not made any more, or of another shape" if missing else ""
    gaps = {name: apart_by(stored[name], again[name]) for name in shared}
    elements = sum(gap.size for gap in gaps.values())
    differing = sum(int(np.count_nonzero(gap)) for gap in gaps.values())
    if not differing:
        return Check(what, not missing, f"{elements} number{'s' * (elements != 1)}{lacking}")
    first = next(name for name in shared if np.any(gaps[name]))
    place = int(np.argmax(np.ravel(gaps[first]) > 0))
    was, now = (np.ravel(side[first])[place].item() for side in (stored, again))
    most = max(float(np.max(gap, initial=0.0)) for gap in gaps.values())
    message = f"{differing} of {elements} numbers differ, first {first}: {_short(was)} was stored, here it is "
    return Check(what, False, f"{message}{_short(now)}; by {most:.3g} at most{lacking}")


def apart_by(left: Any, right: Any) -> np.ndarray:
    """Return the distances of the elements of two arrays: 0 between NaN and NaN, infinite between NaN and a number.

    >>> apart_by([1.0, math.nan, math.nan, math.inf], [1.5, math.nan, 1.0, math.inf])
    array([0.5, 0. , inf, 0. ])
    >>> apart_by(["a", "b"], ["a", "c"])
    array([ 0., inf])
    """
    left, right = np.asarray(left), np.asarray(right)
    if not all(array.dtype.kind in "fiub" for array in (left, right)):
        return np.where(left == right, 0.0, math.inf)
    with np.errstate(invalid="ignore"):
        gap = np.abs(left.astype(np.float64) - right.astype(np.float64))
    alike = (left == right) | (np.isnan(left) & np.isnan(right))
    return np.where(alike, 0.0, np.where(np.isnan(gap), math.inf, gap))


def accuracy(what: str, stored: float, again: float) -> Check:
    """Return one accuracy in percent, with the difference in percentage points."""
    if math.isnan(stored):
        return Check(what, None, "not tested")
    stored_text = f"{100 * stored:.2f} %"
    if stored == again:
        return Check(what, True, stored_text)
    now = f"here it is {100 * again:.2f} % ({100 * (again - stored):+.2f})"
    return Check(what, False, f"{stored_text} was stored, {now}")


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


INSIDE = re.compile(r"\w[\w.+-]*(/\w[\w.+-]*)*")
"""Folder of one training of a run, below the run's."""
WORDS = {True: "same", False: "differs", None: "-"}


def rerun_command(options: argparse.Namespace) -> int:
    """Repeat a stored run with its seed, its specification and its precision; 1 where a number came out otherwise."""
    stored, source = chosen(options.run, options.profile, options.seed)
    spec, gpu = setting(stored), stored.info.get("device") == "cuda"
    job = Job(stored.experiment, stored.profile, stored.seed, spec, tuple(stored.info["overrides"]))
    print(f"{stored.experiment} {stored.profile} seed {stored.seed} once more, in a temporary folder", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="rerun-") as place:
        local = LocalStore(Path(place))
        _as_then(stored, local, spec)
        order = Order(local.root, provenance(options.arguments))
        with Display({job: cost_on(spec, gpu=gpu)}, 1) as display:
            report = run([job], {}, order, Local(1), display)
        if not report.runs:
            return 1  # the display said why
        (again,) = report.runs
        lines = compared(stored, source.folder(stored), again, local.folder(again))
        differences = otherwise(stored.info, again.info)
    tell(*(f"{WORDS[line.same]:<8} {line.what:<34} {line.words}" for line in lines))
    tell(*(f"made otherwise: {difference}" for difference in differences))
    changed = sum(line.same is False for line in lines)
    if not changed:
        tell("the same numbers")
        return 0
    remark = "; other processors and versions round otherwise, which training enlarges" if differences else ""
    remark = remark or "; a GPU rounds otherwise each time, which training enlarges" * gpu
    tell(f"other numbers in {changed} of {sum(line.same is not None for line in lines)} respects{remark}")
    return 1


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
        expected = "expected .../local/paper/figure/variant/profile/seed-0/v1"
        raise StoreError(f"{readable(folder)} is no folder of a run: {expected}")
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

    from lengen.training.compilation import FILE, Kernels

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

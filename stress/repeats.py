"""Same setting, same run: every architecture with every encoding, made in this process and in one of two workers.

Settings enter, names of those whose files differ leave. All runs have one thread, as every run below the paper profile.
"""

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path

from lengen.part import kinds
from lengen.settings.model import Architecture, Encoding
from lengen.settings.spec import Spec, replace
from reproduce.runs.costs import cost
from reproduce.runs.display import Display
from reproduce.runs.local import Local
from reproduce.runs.plan import Job, Order, run
from reproduce.store.store import LocalStore
from tests.fixtures.settings import settings

SMALL = {"train": {"steps": 3, "evaluations": 2, "bucket": 2}, "test": {"lengths": (1, 2), "examples": 4}}


def every() -> dict[str, Spec]:
    """Every architecture with every encoding, and what else changes a forward pass, at the size of a moment.

    A bias that a calibration sets is left out: a training without one is refused.
    """
    return {
        name: replace(spec, **SMALL)
        for name, spec in settings().items()
        if (bias := spec.model.attention_bias) is None or not bias.SET
    }


def some() -> dict[str, Spec]:
    """Few of them, in which every architecture and every encoding is once at least."""
    architectures, encodings = list(kinds(Architecture)), list(kinds(Encoding))
    named = {f"{kind}-{architectures[at % len(architectures)]}" for at, kind in enumerate(encodings)}
    return {name: spec for name, spec in every().items() if name in named}


def pairs(specs: Mapping[str, Spec]) -> set[tuple[str, str]]:
    """Kinds of architecture and encoding that settings have."""
    return {(spec.model.architecture.kind, spec.model.encoding.kind) for spec in specs.values()}  # type: ignore[attr-defined]


def differing(specs: Mapping[str, Spec], place: Path) -> list[str]:
    """Settings whose weights or records are not the same bytes when they are made once here and once by two workers."""
    jobs = [Job(f"toy/fig1/{name}", "smoke", 0, spec) for name, spec in specs.items()]
    found = []
    for workers in (1, 2):
        root = place / f"jobs-{workers}"
        costs = {job: cost(job.spec, "cpu") for job in jobs}
        report = run(jobs, {}, Order(root, {}), Local(workers), Display(costs, workers, stream=io.StringIO()))
        assert not report.failures, report.failures
        store = LocalStore(root)
        found.append({made.experiment: sums(store.folder(made)) for made in report.runs})
    assert len(found[0]) == len(specs)
    return [name for name in found[0] if found[0][name] != found[1].get(name)]


def sums(folder: Path) -> dict[str, str]:
    """The sha256 of every file of a run but run.json and checkpoints, which hold times."""
    files = [path for path in folder.iterdir() if path.suffix in (".csv", ".npz", ".safetensors")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}

"""A Ray cluster of several nodes on this machine, for as long as a test needs it, and ways to hurt it."""

import contextlib
import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reproduce.runs.plan import Job
from tests.reproduce.program import CHECKOUT

STORE = 100 * 2**20
"""Bytes of the object store of a node."""


def missing() -> str:
    """Why there can be no cluster here, and what to do about it; else nothing."""
    absent = importlib.util.find_spec("ray") is None
    return "ray is not installed: pip install '.[cluster]' adds it" if absent else ""


@contextlib.contextmanager
def cluster(nodes: int = 3, cpus: int = 1) -> Iterator[Any]:
    """So many nodes with so many cores; gives `ray.cluster_utils.Cluster`."""
    names = {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(CHECKOUT), "RAY_DEDUP_LOGS": "0"}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    made = started(nodes, cpus)
    try:
        yield made
    finally:
        made.shutdown()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def started(nodes: int, cpus: int) -> Any:
    """So many nodes; on a busy machine one may not be there within the half minute that Ray gives it, so try again."""
    from ray.cluster_utils import Cluster

    for tries_left in (2, 1, 0):
        made = Cluster()
        try:
            for _ in range(nodes):
                made.add_node(num_cpus=cpus, object_store_memory=STORE, include_dashboard=False)
            return made
        except Exception:
            made.shutdown()
            if not tries_left:
                raise
    raise AssertionError("the last try returns or raises")


def workers(cluster: Any) -> list[int]:
    """Processes of a cluster that make a run at the moment."""
    raylets = {info.process.pid for node in cluster.list_all_nodes() for info in node.all_processes.get("raylet", ())}
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            parent = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent in raylets and (place / "cmdline").read_bytes().startswith(b"ray::_run"):
                found.append(int(place.name))
    return sorted(found)


def kill(process: int) -> bool:
    """Whether a process was there to be killed."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Heard:
    """A `reproduce.runs.plan.Watch` that keeps what it is told."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.done: dict[str, int] = {}

    def started(self, job: Job) -> None:
        pass

    def progressed(self, job: Job, progress: Any) -> None:
        pass

    def finished(self, job: Job, version: int) -> None:
        self.done[job.name] = self.done.get(job.name, 0) + 1

    def failed(self, job: Job, sentence: str) -> None:
        self.sentences.append(f"{job.name} failed: {sentence}")

    def postponed(self, job: Job, sentence: str) -> None:
        self.sentences.append(f"{job.name} postponed: {sentence}")

    def told(self, sentence: str) -> None:
        self.sentences.append(sentence)

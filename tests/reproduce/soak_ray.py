"""Many small runs on a Ray cluster of three nodes whose workers are killed at random, and one node in the middle.

``python -m tests.reproduce.soak_ray --runs 200 --kills 40 --out results/soak`` makes the cheapest smoke runs of every
paper on the cluster, and then on this machine alone. In the end every run has to be there once, byte-equal to the local
one.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reproduce.runs import perform as runner
from reproduce.runs.catalogue import CATALOGUE
from reproduce.runs.estimate import cost, usable_cores
from reproduce.runs.executors import Local
from reproduce.runs.on_ray import OnRay
from reproduce.runs.perform import Job, Order, plan
from reproduce.store.store import Store
from tests.reproduce import rays
from tests.reproduce.kills import compared, content

NODES = 3
LATER = 3.0
"""Seconds by which a kill may follow the end of another run."""


class Soaked(NamedTuple):
    """What was done, and what differed in the end: file -> what is wrong with it."""

    runs: int
    papers: int
    nodes: int
    killed_workers: int
    killed_nodes: int
    deaths_seen: int
    """Deaths that the driver answered by asking again."""
    finished_once: int
    files: int
    differing: dict[str, str]
    failures: dict[str, str]
    seconds_here: float
    seconds_on_ray: float
    seed: int
    ray: str


def cheapest(runs: int) -> list[Job]:
    """So many smoke runs of as many experiments as there are, those that take least first, then further seeds."""
    found: list[Job] = []
    while len(found) < runs:
        seed = found[-1].seed + 1 if found else 0
        made = [job for paper in CATALOGUE.papers() for job in plan(CATALOGUE.experiments(paper), "smoke", [seed]).jobs]
        found += sorted(made, key=lambda job: cost(job.spec, "smoke").total)
    return found[:runs]


class Killer(threading.Thread):
    """Kills workers of a cluster at random moments, and one node in the middle.

    Moments are numbers of finished runs and up to `LATER` seconds: a busy machine has as many of them as an idle one.
    """

    def __init__(self, cluster: Any, heard: rays.Heard, runs: int, kills: int, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.cluster, self.heard, self.chance = cluster, heard, chance
        self.moments = sorted(chance.uniform(0, 0.95 * runs) for _ in range(kills))
        self.workers = self.nodes = 0
        self.over = threading.Event()

    def run(self) -> None:
        for number, moment in enumerate(self.moments):
            while len(self.heard.done) < moment and not self.over.wait(0.05):
                pass
            self.over.wait(self.chance.uniform(0, LATER))
            while not (busy := rays.workers(self.cluster)) and not self.over.wait(0.05):
                pass
            if busy:
                self.workers += rays.kill(self.chance.choice(busy))
            if number == len(self.moments) // 2 and not self.over.is_set():
                node = self.chance.choice(sorted(self.cluster.worker_nodes, key=lambda node: node.unique_id))
                self.cluster.remove_node(node, allow_graceful=False)
                self.nodes += 1


def soak(jobs: Sequence[Job], kills: int, seed: int, place: Path) -> Soaked:
    """Make the jobs twice; ``place`` gets two results folders."""
    order, heard = Order(place / "ray", {"commit": "soak"}), rays.Heard()
    with rays.cluster(NODES) as cluster:
        import ray

        began = time.monotonic()
        killer = Killer(cluster, heard, len(jobs), kills, random.Random(seed))
        killer.start()
        with OnRay(order, cluster.address) as engine:
            failures = runner.run(jobs, {}, order, engine, heard).failures
        seconds_on_ray = time.monotonic() - began
        killer.over.set()
        killer.join()
        version = ray.__version__

    began = time.monotonic()
    runner.run(jobs, {}, Order(place / "here", {"commit": "soak"}), Local(usable_cores()), rays.Heard())
    seconds_here = time.monotonic() - began

    expected, found = content(place / "here"), content(place / "ray")
    once = [name for name, times in heard.done.items() if times == 1]
    versions = [run.version for run in Store(place / "ray", "local").runs()]
    return Soaked(
        runs=len(jobs),
        papers=len({job.experiment.split("/")[0] for job in jobs}),
        nodes=NODES,
        killed_workers=killer.workers,
        killed_nodes=killer.nodes,
        deaths_seen=sum("goes on elsewhere" in sentence for sentence in heard.sentences),
        finished_once=min(len(once), versions.count(1)),
        files=len(expected),
        differing=compared(expected, found),
        failures=failures,
        seconds_here=round(seconds_here, 1),
        seconds_on_ray=round(seconds_on_ray, 1),
        seed=seed,
        ray=version,
    )


def report(soaked: Soaked) -> str:
    """One sentence."""
    return (
        f"{soaked.runs} smoke runs of {soaked.papers} papers on {soaked.nodes} nodes of Ray {soaked.ray}, "
        f"{soaked.killed_workers} workers and {soaked.killed_nodes} node killed: {soaked.finished_once} runs finished "
        f"once, {len(soaked.differing)} of {soaked.files} files differ from those of runs made here "
        f"({soaked.seconds_here:.0f} s here, {soaked.seconds_on_ray:.0f} s there)"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=40, help="workers; one node is killed beside")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder of ray.json")
    options = parser.parse_args(arguments)
    if rays.missing():
        parser.error(rays.missing())
    with tempfile.TemporaryDirectory() as place:
        soaked = soak(cheapest(options.runs), options.kills, options.seed, Path(place))
    print(report(soaked))
    for name, wrong in (soaked.differing | soaked.failures).items():
        print(f"  {name}: {wrong}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "ray.json").write_text(json.dumps(soaked._asdict(), indent=1, sort_keys=True) + "\n")
    return bool(soaked.differing or soaked.failures or soaked.finished_once != soaked.runs)


if __name__ == "__main__":
    sys.exit(main())

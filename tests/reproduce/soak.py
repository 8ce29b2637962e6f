"""Kills at random moments, and what is left after starting again: byte-equal to what nobody disturbed.

``python -m tests.reproduce.soak --kills 50 --out results/soak`` trains, measures, draws, compares and promotes two
small runs in a folder of its own, kills one or two concurrent commands at random moments by SIGKILL, SIGTERM or
SIGINT, starts again, and in the end compares weights, CSV files, figures and comparison with those of a folder that
nobody disturbed.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
SELECTOR = "coupling/fig3/nope-plain"
COMMANDS = (
    ["run", SELECTOR, "--profile", "smoke", "--seeds", "0..1", "--jobs", "1"],
    ["promote", SELECTOR, "--profile", "smoke", "--weights"],
    ["figures", "coupling/fig3"],
    ["compare", "coupling/fig3"],
)
"""Training, measuring, writing; promoting; drawing; comparing."""
EQUAL = (".csv", ".safetensors", ".npz", ".svg", ".png", ".md")
"""Files that have to be byte-equal; run.json and checkpoints hold times."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Soaked(NamedTuple):
    """What was done, and what differed in the end: file -> what is wrong with it."""

    by_command: dict[str, int]
    by_signal: dict[str, int]
    concurrent: int
    files: int
    differing: dict[str, str]
    seed: int
    seconds: float


def start(root: Path, command: list[str]) -> subprocess.Popen[str]:
    """One command in its own session, so that a signal reaches it and its workers, as a terminal's would."""
    environment = {**os.environ, "LENGEN_RESULTS": str(root), "PYTHONPATH": str(CHECKOUT), "OMP_NUM_THREADS": "1"}
    call = [sys.executable, "-m", "reproduce", *command]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen(call, env=environment, cwd=CHECKOUT, **quiet)  # type: ignore[call-overload,no-any-return]


def complete(root: Path, command: list[str]) -> float:
    """One command to its end, in seconds; raises `RuntimeError` where it fails."""
    began = time.monotonic()
    process = start(root, command)
    said = process.communicate()[1]
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said[-2000:]}")
    return time.monotonic() - began


def content(root: Path) -> dict[str, str]:
    """Place below the folder -> sha256, of every file that has to be byte-equal."""
    files = (path for path in root.rglob("*") if path.suffix in EQUAL and ".work" not in path.parts)
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def compared(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """File -> how the second folder differs from the first."""
    found = {name: "missing" for name in one.keys() - other.keys()} | {
        name: "too many" for name in other.keys() - one.keys()
    }
    return found | {name: "other bytes" for name in one.keys() & other.keys() if one[name] != other[name]}


def soak(kills: int, seed: int, place: Path, chain: Sequence[list[str]] = COMMANDS) -> Soaked:
    """Kill so many commands, each in its turn, at random moments; ``place`` gets two results folders."""
    began, chance = time.monotonic(), random.Random(seed)
    whole, hurt = place / "whole", place / "hurt"
    commands: Counter[str] = Counter()
    signals: Counter[str] = Counter()
    concurrent = 0
    for number, command in enumerate(chain):
        usual = complete(whole, command)
        for _ in range((kills + len(chain) - 1 - number) // len(chain)):
            processes = [start(hurt, command) for _ in range(chance.choice((1, 2)))]
            concurrent += len(processes) == 2
            time.sleep(chance.uniform(0.2, 0.95) * usual)
            for process in processes:
                sent = chance.choice(SIGNALS)
                if process.poll() is None:
                    os.killpg(process.pid, sent)
                    commands[command[0]] += 1
                    signals[sent.name] += 1
            for process in processes:
                process.communicate()
        complete(hurt, command)
    expected = content(whole)
    differing = compared(expected, content(hurt))
    seconds = round(time.monotonic() - began, 1)
    return Soaked(dict(commands), dict(signals), concurrent, len(expected), differing, seed, seconds)


def report(soaked: Soaked) -> str:
    """One sentence."""
    kills = ", ".join(f"{count} of {name}" for name, count in sorted(soaked.by_command.items()))
    return (
        f"{sum(soaked.by_command.values())} commands killed at random moments ({kills}), "
        f"{soaked.concurrent} times two at once: "
        f"{len(soaked.differing)} of {soaked.files} files differ from those of an undisturbed folder"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="moments, shared among the commands")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder of soak.json")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        soaked = soak(options.kills, options.seed, Path(place))
    print(report(soaked))
    for name, wrong in soaked.differing.items():
        print(f"  {name}: {wrong}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "soak.json").write_text(json.dumps(soaked._asdict(), indent=1, sort_keys=True) + "\n")
    return bool(soaked.differing)


if __name__ == "__main__":
    sys.exit(main())

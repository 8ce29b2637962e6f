"""Hard knocks for as long as one likes.

They are kills, strangers' files, faults of storage, races, the same run twice, and folders and environments as people
have them.

``python -m stress.soak --kills 50 --inputs 100000 --out results/soak`` prints a line for each and writes them
all to ``soak.json``, with the commit they were measured on; the tests do the same, shorter.
"""

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lengen.this_machine import machine
from reproduce.store.checkout import commit

MIB = 2**20


def kills(number: int, seed: int, place: Path) -> tuple[str, dict[str, Any], bool]:
    """Commands killed at random moments of every stage."""
    from stress.kills import kill, load

    load()
    found = kill(number, seed, place)
    stages = ", ".join(f"{count} {stage}" for stage, count in sorted(found.by_stage.items()))
    said = (
        f"{found.kills} kills ({stages}; {found.of_two} of them beside a second command), {found.restarts} times run "
        f"to the end again: {len(found.differing)} of {found.files} files differ from undisturbed ones"
    )
    return said, {"kills": found.kills, **found._asdict()}, not found.differing and found.kills >= number


def strangers(number: int, seed: int, place: Path) -> tuple[str, dict[str, Any], bool]:
    """Foreign files given to every reader; the first that is answered wrongly ends it with its error."""
    from stress.strangers import MEMORY, attack_all

    found, grown = attack_all(number, place, seed)
    inputs, refused = (sum(getattr(one, name) for one in found.values()) for name in ("inputs", "refused"))
    said = (
        f"{inputs} inputs to {len(found)} readers, {refused} refused in one sentence: no traceback, nothing executed, "
        f"nothing written elsewhere, no markup; memory grew by {grown // MIB} MiB, allowed are {MEMORY // MIB}"
    )
    by_reader = {name: one._asdict() for name, one in found.items()}
    facts = {"inputs": inputs, "refused": refused, "by_reader": by_reader, "memory_mib": grown // MIB}
    return said, facts, grown <= MEMORY


def faults(number: int, seed: int, place: Path) -> tuple[str, dict[str, Any], bool]:
    """Full disks, read-only folders, damaged files of finished runs and of unfinished ones."""
    from stress import faults as storage

    missing = storage.why_no_disk()
    full = storage.Full({}, {}, 0) if missing else storage.full_disk(place / "full", number)
    files = storage.damaged_files(place / "files", seed)
    left = storage.damaged_leftovers(place / "left", seed, number)
    sizes = sum(full.tried.values())
    total = sizes + full.read_only + sum(files.values()) + sum(left.values())
    said = (
        f"{total} faults injected ({sizes} full disks, {full.read_only} read-only ones, {sum(files.values())} damaged "
        f"files of finished runs, {sum(left.values())} of unfinished ones): one sentence or the work done, no other "
        f"run touched, nothing deleted{f'; {missing}' if missing else ''}"
    )
    facts = {"faults": total, "full_disk": full._asdict(), "damaged": files, "damaged_unfinished": left}
    return said, {**facts, "skipped": missing}, True


def races(number: int, seed: int, place: Path) -> tuple[str, dict[str, Any], bool]:
    """Several processes at once on one selector."""
    from stress.kills import load
    from stress.races import race

    load()
    found = race(place, number)
    said = f"{found.processes} processes raced for {found.runs} runs: {len(found.wrong)} made twice or otherwise"
    return said, found._asdict(), not found.wrong


def repeats(number: int, seed: int, place: Path) -> tuple[str, dict[str, Any], bool]:
    """Every architecture with every encoding, made here and by two workers."""
    from stress.repeats import differing, every

    specs = every()
    wrong = differing(specs, place)
    said = f"{len(specs)} settings made here and by two workers: {len(wrong)} with other bytes"
    return said, {"settings": len(specs), "differing": wrong}, not wrong


def machines(number: int, seed: int, place: Path) -> tuple[str, dict[str, Any], bool]:
    """Folders and environments as people have them; the first so many of the list."""
    from stress.machines import COMMANDS, MACHINES, tried

    names = list(MACHINES)[:number]
    wrong = [sentence for name in names for sentence in tried(name, place)]
    said = f"{len(names)} folders and environments, {len(COMMANDS)} commands in each: {len(wrong)} wrong"
    return "; ".join([said, *wrong]), {"machines": names, "wrong": wrong}, not wrong


PARTS: dict[str, tuple[Callable[[int, int, Path], tuple[str, dict[str, Any], bool]], int]] = {
    "kills": (kills, 50),
    "races": (races, 2),
    "repeats": (repeats, 1),
    "strangers": (strangers, 100_000),
    "faults": (faults, 20),
    "machines": (machines, 100),
}
"""Name -> what it does, and how much of it where nothing is said; first what forks, before anything starts a thread."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, (_, usual) in PARTS.items():
        option = "inputs" if name == "strangers" else name
        parser.add_argument(f"--{option}", type=int, default=usual, dest=name, help=f"default {usual}; 0: none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder of soak.json")
    options = parser.parse_args(arguments)
    at, dirty = commit()
    processor = machine()
    report: dict[str, Any] = {
        "commit": at,
        "dirty": dirty,
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "processor": f"{processor.model}, {processor.cores} cores",
        "seed": options.seed,
    }
    good = True
    for name, (work, _) in PARTS.items():
        number = getattr(options, name)
        if not number:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"soak-{name}-") as place:
            said, facts, fine = work(number, options.seed, Path(place))
        good = good and fine
        report[name] = {"said": said, "seconds": round(time.monotonic() - began, 1), **facts}
        print(f"{name}: {said} ({report[name]['seconds']} s)", flush=True)
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / "soak.json").write_text(json.dumps({**report, "passed": good}, indent=1) + "\n")
    print("nothing was lost" if good else "something was lost: see above")
    return not good


if __name__ == "__main__":
    sys.exit(main())

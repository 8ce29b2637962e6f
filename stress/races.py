"""Several processes at once on one selector: they share the work, no run is made twice, and the bytes are those of one.

Counts of processes leave, and what was wrong.
"""

from pathlib import Path
from typing import NamedTuple

from stress.kills import SELECTOR, compared, complete, content, forked

PROCESSES = 4
RUN = ["run", SELECTOR, "--profile", "smoke", "--seeds", "0..3", "--jobs", "1"]
PROMOTE = ["promote", SELECTOR, "--profile", "smoke", "--weights"]


class Raced(NamedTuple):
    """What was done, and what was wrong with it."""

    processes: int
    runs: int
    """Runs that they had to make, all rounds together."""
    wrong: list[str]


def race(place: Path, rounds: int) -> Raced:
    """So many rounds of four processes that train, then four that promote."""
    whole, wrong, runs = place / "whole", [], 0
    for words in (RUN, PROMOTE):
        complete(whole, words, place / "notes")
    expected = content(whole)
    for number in range(rounds):
        root = place / f"round-{number}"
        for words in (RUN, PROMOTE):
            started = [forked(root, words, place / f"notes-{at}") for at in range(PROCESSES)]
            said = [one.process.communicate()[1] for one in started]
            wrong += [text for one, text in zip(started, said, strict=True) if one.process.returncode]
        versions = sorted(path.parent for path in root.rglob("run.json"))
        wrong += [f"made twice: {path}" for path in versions if path.name != "v1"]
        wrong += [f"{name}: {what}" for name, what in compared(expected, content(root)).items()]
        runs += len(versions)
    return Raced(2 * PROCESSES * rounds, runs, wrong)

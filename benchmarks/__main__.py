"""Speed on this machine as ratios: ``make bench``, or ``python -m benchmarks``.

Prints a table and, with ``--out``, writes a file: a list of entries with the keys of `benchmarks.timing.Entry`. One
thread, and the processor only.
"""

import argparse
import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import torch

from benchmarks.calibration import calibration
from benchmarks.speed import FULL, Sizes, data_speed, decoding, edit_distance
from benchmarks.timing import Entry, fixed
from benchmarks.trainer import training
from benchmarks.writing import writing
from lengen.this_machine import machine
from reproduce.pages import terminal
from reproduce.store.checkout import commit
from reproduce.store.files import StoreError, write_text

BENCHMARKS: dict[str, Callable[[Sizes], list[Entry]]] = {
    "data": data_speed,
    "decoding": decoding,
    "training": training,
    "edit-distance": edit_distance,
    "calibration": calibration,
    "writing": writing,
}


def measure(names: Sequence[str], sizes: Sizes) -> list[Entry]:
    """Run benchmarks one after another on one thread, and print a line before each and a table of all."""
    entries, threads = list[Entry](), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for name in names:
            print(f"measuring {name} ...", flush=True)
            entries += [entry._replace(command=f"make bench ONLY={name}") for entry in BENCHMARKS[name](sizes)]
    finally:
        torch.set_num_threads(threads)
    shown = terminal.table("", ("value", "right"), "spread", "unit")
    for entry in entries:
        spread = "" if entry.low == entry.high else f"{entry.low:.3g} to {entry.high:.3g}"
        what = f"{entry.what}; against: {entry.against}" if entry.against else entry.what
        shown.add_row(terminal.entry(entry.name, what), f"{entry.value:,.3g}", spread, entry.unit)
    terminal.show(f"speed on {machine()}", "", shown)
    return entries


def file_name() -> str:
    """Return processor and number of cores as a file name; no host name."""
    name = re.sub(r"\(.*?\)|@.*", "", machine().model)
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{slug or 'unknown'}-{machine().cores}-cores"


def write(entries: Sequence[Entry], place: str, suffix: str) -> None:
    """Write the entries, led by one for the machine, to a file or into a folder."""
    path = Path(place)
    if path.is_dir() or place.endswith("/"):
        path /= f"{file_name()}{suffix}.json"
    where = fixed("machine", str(machine()), machine().cores, "cores", f"torch {version('torch')}")
    where = where._replace(command=commit()[0][:7])
    numbers = ("value", "low", "high")
    rows = [
        {key: float(f"{value:.4g}") if key in numbers else value for key, value in entry._asdict().items()}
        for entry in (where, *entries)
    ]
    write_text(path, json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {os.path.relpath(path)}")


def main(arguments: Sequence[str] | None = None, sizes: Sizes = FULL) -> None:
    """Measure, print the table, write the file that was named; exit code 2 for a mistake of the user."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", choices=BENCHMARKS, help="one benchmark alone")
    parser.add_argument("--out", metavar="FILE", help="write JSON there; into a folder, as MACHINE.json")
    options = parser.parse_args(arguments)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # times are processor times
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    entries = measure([options.only] if options.only else list(BENCHMARKS), sizes)
    if options.out is not None:
        try:
            write(entries, options.out, f"-{options.only}" if options.only else "")
        except StoreError as error:
            parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    sys.exit(main())

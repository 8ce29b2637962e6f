"""Speed on this machine: ``python -m reproduce.bench``.

What enters is nothing but the code; what leaves is a table and ``results/bench/<machine>.json``, a list of entries
with the keys of `Entry`. One thread, and the processor only, also where there is a GPU.
"""

import json
import logging
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from reproduce.bench.calibration import calibration
from reproduce.bench.speed import FULL, Entry, Sizes, data_speed, decoding, edit_distance
from reproduce.bench.trainer import training
from reproduce.store.atomic_files import StoreError, write_text
from reproduce.store.store import results_root


def measure(sizes: Sizes, tell: Callable[[str], None]) -> list[Entry]:
    """Everything, one kind after another, on one thread; ``tell`` gets a line before each."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    entries = []
    try:
        for title, part in (
            ("data", data_speed),
            ("decoding", decoding),
            ("training", training),
            ("edit distance", edit_distance),
            ("calibration", calibration),
        ):
            tell(f"measuring {title} ...")
            entries += part(sizes)
    finally:
        torch.set_num_threads(threads)
    return entries


def machine() -> str:
    """Processor and number of cores, as a file name; no host name."""
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text()) if cpuinfo.exists() else None
    name = found[1] if found else platform.processor() or platform.machine()
    slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)|@.*", "", name).lower()).strip("-")
    return f"{slug or 'unknown'}-{os.cpu_count()}-cores"


def main(sizes: Sizes = FULL) -> int:
    """Measure, print the table, write the file; 2 where the file cannot be written."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # processor time says nothing of a GPU
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    console = Console()
    entries = measure(sizes, lambda line: console.print(line, style="dim"))
    table = Table("name", "value", "unit", "against", "what", title=f"speed on {machine()}")
    for entry in entries:
        table.add_row(
            entry.name,
            f"{entry.value:,.2f}" if entry.value < 1000 else f"{entry.value:,.0f}",
            entry.unit,
            entry.against,
            entry.what,
        )
    console.print(table)
    path = results_root() / "bench" / f"{machine()}.json"
    rounded = [entry._replace(value=float(f"{entry.value:.4g}"))._asdict() for entry in entries]
    try:
        write_text(path, json.dumps(rounded, indent=1) + "\n")
    except StoreError as error:
        print(error, file=sys.stderr)
        return 2
    console.print(f"written to {os.path.relpath(path)}", style="dim")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Speed on this machine: ``python -m reproduce.bench``.

What leaves is a table, and where ``--out`` asks for it a file: a list of entries with the keys of
`lengen.timing.Entry`. One thread, and the processor only, also where there is a GPU.
"""

import argparse
import json
import logging
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reproduce.cli import Parser
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.atomic_files import StoreError, write_text

if TYPE_CHECKING:
    from lengen.timing import Entry

OURS = ("data", "decoding", "training", "edit-distance")
"""What is measured of the shared library; papers add what they offer as `Paper.benchmarks`."""


def parser() -> argparse.ArgumentParser:
    """The command line; nothing is measured and nothing loaded before it is read."""
    top = Parser(prog="python -m reproduce.bench", description="Measure speed on this machine, as ratios.")
    top.add_argument("--only", metavar="NAME", help="one benchmark alone; a name that is none lists them")
    top.add_argument("--out", metavar="FILE", help="write JSON there; into a folder, as MACHINE.json")
    return top


def benchmarks(tiny: bool = False) -> "dict[str, Callable[[], list[Entry]]]":
    """Name -> what measures it: the library's own, then those that papers offer."""
    from reproduce.bench import speed
    from reproduce.bench.trainer import training

    sizes = speed.TINY if tiny else speed.FULL
    measured = (speed.data_speed, speed.decoding, training, speed.edit_distance)
    found: dict[str, Callable[[], list[Entry]]] = {
        name: partial(function, sizes) for name, function in zip(OURS, measured, strict=True)
    }
    offered = [CATALOGUE.paper(name).benchmarks() for name in CATALOGUE.papers()]
    return found | {name: partial(function, tiny) for some in offered for name, function in some.items()}


def measure(chosen: "Mapping[str, Callable[[], list[Entry]]]", tell: Callable[[str], None]) -> "list[Entry]":
    """Everything, one kind after another, on one thread; ``tell`` gets a line before each."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    entries = []
    try:
        for name, function in chosen.items():
            tell(f"measuring {name} ...")
            entries += function()
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


def main(arguments: Sequence[str] | None = None, tiny: bool = False) -> int:
    """Measure, print the table, write the file that was asked for; 2 where that is not possible."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # processor time says nothing of a GPU
    chosen = benchmarks(tiny)
    if options.only is not None and options.only not in chosen:
        return _refuse(f"--only {options.only}: there is no such benchmark; one of: {', '.join(chosen)}")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    if options.only is not None:
        chosen = {options.only: chosen[options.only]}
    entries = _shown(chosen)
    if options.out is None:
        return 0
    path = Path(options.out)
    path = path / f"{machine()}.json" if path.is_dir() or options.out.endswith("/") else path
    rounded = [entry._replace(value=float(f"{entry.value:.4g}"))._asdict() for entry in entries]
    try:
        write_text(path, json.dumps(rounded, indent=1) + "\n")
    except StoreError as error:
        return _refuse(str(error))
    print(f"written to {os.path.relpath(path)}")
    return 0


def _refuse(sentence: str) -> int:
    print(f"python -m reproduce.bench: {sentence}", file=sys.stderr)
    return 2


def _shown(chosen: "Mapping[str, Callable[[], list[Entry]]]") -> "list[Entry]":
    """The measurements, and a table of them on the terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    entries = measure(chosen, lambda line: console.print(line, style="dim"))
    table = Table("name", "value", "unit", "against", "what", title=f"speed on {machine()}")
    for entry in entries:
        value = f"{entry.value:,.2f}" if entry.value < 1000 else f"{entry.value:,.0f}"
        table.add_row(entry.name, value, entry.unit, entry.against, entry.what)
    console.print(table)
    return entries


if __name__ == "__main__":
    sys.exit(main())

"""Speed on this machine: ``python -m reproduce.bench``.

Prints a table and, with ``--out``, writes a file: a list of entries with the keys of `lengen.inspection.timing.Entry`.
One thread, and the processor only.
"""

import argparse
import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.results.machine import cores, machine
from reproduce import is_sentence
from reproduce.parser import Parser
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.atomic_files import write_text

if TYPE_CHECKING:
    from lengen.inspection.timing import Entry

    Chosen = Mapping[str, Callable[[], list[Entry]]]

PROGRAM = "python -m reproduce.bench"


class BenchError(ValueError):
    """An unknown benchmark; one sentence."""


def parser() -> argparse.ArgumentParser:
    """The command line; nothing is loaded or measured before it is read."""
    top = Parser(prog=PROGRAM, description="Measure speed on this machine, as ratios.")
    top.add_argument("--only", metavar="NAME", help="one benchmark alone; an unknown name lists them")
    top.add_argument("--out", metavar="FILE", help="write JSON there; into a folder, as MACHINE.json")
    return top


def benchmarks(tiny: bool = False) -> "Chosen":
    """Name -> benchmark: the library's own, then those of the papers (`lengen.paper.paper.Paper.benchmarks`)."""
    from reproduce.bench import speed
    from reproduce.bench.trainer import training

    sizes = speed.TINY if tiny else speed.FULL
    own = {
        "data": speed.data_speed,
        "decoding": speed.decoding,
        "training": training,
        "edit-distance": speed.edit_distance,
    }
    found: dict[str, Callable[[], list[Entry]]] = {name: partial(function, sizes) for name, function in own.items()}
    for paper in CATALOGUE.papers():
        found |= {name: partial(function, tiny) for name, function in CATALOGUE.paper(paper).benchmarks().items()}
    return found


def measure(chosen: "Chosen", tell: Callable[[str], None]) -> "list[Entry]":
    """Run the benchmarks one after another on one thread; ``tell`` gets a line before each."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    entries = []
    try:
        for name, function in chosen.items():
            tell(f"measuring {name} ...")
            entries += [entry._replace(command=f"{PROGRAM} --only {name}") for entry in function()]
    finally:
        torch.set_num_threads(threads)
    return entries


def file_name() -> str:
    """Processor and number of cores as a file name; no host name."""
    name = re.sub(r"\(.*?\)|@.*", "", machine().model)
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{slug or 'unknown'}-{cores()}-cores"


def main(arguments: Sequence[str] | None = None, tiny: bool = False) -> int:
    """Measure, print the table, write the file that was named; 2 for a mistake of the user."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # times are processor times
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    try:
        chosen = benchmarks(tiny)
        if options.only is not None and options.only not in chosen:
            raise BenchError(f"--only {options.only}: there is no such benchmark; one of: {', '.join(chosen)}")
        entries = _shown({options.only: chosen[options.only]} if options.only else chosen)
        if options.out is not None:
            _write(entries, options.out, f"-{options.only}" if options.only else "")
    except ValueError as error:
        if not isinstance(error, BenchError) and not is_sentence(error):
            raise
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    return 0


def _shown(chosen: "Chosen") -> "list[Entry]":
    """Measure, and print the entries as a table."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    entries = measure(chosen, lambda line: console.print(line, style="dim", highlight=False))
    table = Table(title=f"speed on {machine()}")
    for head, whole in (("name", True), ("value (spread)", True), ("unit", False), ("against", False), ("what", False)):
        table.add_column(head, no_wrap=whole, overflow="fold")
    for entry in entries:
        spread = "" if entry.low == entry.high else f" ({entry.low:.3g} to {entry.high:.3g})"
        table.add_row(entry.name, f"{entry.value:,.3g}{spread}", entry.unit, entry.against, entry.what)
    console.print(table)
    return entries


def _write(entries: "Sequence[Entry]", name: str, suffix: str) -> None:
    """Write the entries, led by one for the machine, to a file or into a folder."""
    from importlib.metadata import version

    from lengen.inspection.timing import fixed
    from reproduce.store.provenance import commit

    path = Path(name)
    if path.is_dir() or name.endswith("/"):
        path /= f"{file_name()}{suffix}.json"
    where = fixed("machine", str(machine()), cores(), "cores", f"torch {version('torch')}")
    where = where._replace(command=commit()[0][:7])
    numbers = ("value", "low", "high")
    kept = [
        {key: float(f"{found:.4g}") if key in numbers else found for key, found in entry._asdict().items()}
        for entry in (where, *entries)
    ]
    write_text(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {os.path.relpath(path)}")


if __name__ == "__main__":
    sys.exit(main())

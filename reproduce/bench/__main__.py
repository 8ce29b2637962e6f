"""Speed on this machine: ``python -m reproduce.bench``.

What leaves is a table, and where ``--out`` asks for it a file: a list of entries with the keys of
`lengen.timing.Entry`. One thread, and the processor only. ``--against`` compares two
checkouts, ``--page`` writes docs/performance.md from the files.
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
from typing import TYPE_CHECKING, TypeVar

from lengen.machine import cores, machine
from reproduce import is_sentence
from reproduce.cli import Parser
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.atomic_files import write_bytes, write_text
from reproduce.store.provenance import checkout

if TYPE_CHECKING:
    from lengen.timing import Entry

    Chosen = Mapping[str, Callable[[], list[Entry]]]

OURS = ("data", "decoding", "training", "edit-distance", "scaling", "limits")
"""What is measured of the shared library; papers add what they offer as `Paper.benchmarks`."""
WHEN_NAMED = ("limits",)
"""Benchmarks that take long: measured only if ``--only`` names them."""
PROGRAM = "python -m reproduce.bench"
Item = TypeVar("Item")


def parser() -> argparse.ArgumentParser:
    """The command line; nothing is measured and nothing loaded before it is read."""
    top = Parser(prog=PROGRAM, description="Measure speed on this machine, as ratios.")
    top.add_argument("--only", metavar="NAME", help="one benchmark alone; a name that is none lists them")
    top.add_argument("--out", metavar="FILE", help="write JSON there; into a folder, as MACHINE.json")
    top.add_argument(
        "--against", metavar="BASE", help="compare this checkout with another: its folder, or a git revision"
    )
    top.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="with --against: a setting of this checkout's trainings alone",
    )
    top.add_argument(
        "--page",
        metavar="FILE",
        nargs="?",
        const="",
        help="measure nothing: write the page of results/bench, here or as docs/performance.md",
    )
    return top


def benchmarks(tiny: bool = False) -> "dict[str, Callable[[], list[Entry]]]":
    """Name -> what measures it: the library's own, then those that papers offer."""
    from reproduce.bench import limits, scaling, speed
    from reproduce.bench.trainer import training

    sizes = speed.TINY if tiny else speed.FULL
    measured = (
        speed.data_speed,
        speed.decoding,
        training,
        speed.edit_distance,
        scaling.scaling,
        limits.limits,
    )
    found: dict[str, Callable[[], list[Entry]]] = {
        name: partial(function, sizes) for name, function in zip(OURS, measured, strict=True)
    }
    offered = [CATALOGUE.paper(name).benchmarks() for name in CATALOGUE.papers()]
    return found | {name: partial(function, tiny) for some in offered for name, function in some.items()}


def measure(chosen: "Chosen", tell: Callable[[str], None], command: str = PROGRAM) -> "list[Entry]":
    """Everything, one kind after another, on one thread; ``tell`` gets a line before each."""
    import torch

    from reproduce.bench.against import AgainstError
    from reproduce.bench.usage import UsageError

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    entries = []
    try:
        for name, function in chosen.items():
            tell(f"measuring {name} ...")
            try:
                entries += [entry._replace(command=f"{command} --only {name}") for entry in function()]
            except (AgainstError, UsageError) as error:  # the others may do
                tell(f"{name} is left out: {error}")
    finally:
        torch.set_num_threads(threads)
    return entries


def file_name() -> str:
    """Processor and number of cores, as a file name; no host name."""
    name = re.sub(r"\(.*?\)|@.*", "", machine().model)
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{slug or 'unknown'}-{cores()}-cores"


def main(arguments: Sequence[str] | None = None, tiny: bool = False) -> int:
    """Measure, print the table, write the file that was asked for; 2 where that is not possible."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # processor time says nothing of a GPU
    try:
        if options.page is not None:
            return _write_page(options.page)
        return _compare(options, tiny) if options.against is not None else _measure(options, tiny)
    except ValueError as error:
        # BenchError is of __main__ where this file is the program.
        if not isinstance(error, BenchError) and not is_sentence(error):
            raise
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2


class BenchError(ValueError):
    """A benchmark that is none; one sentence."""


def _measure(options: argparse.Namespace, tiny: bool) -> int:
    """This checkout alone."""
    if options.set:
        raise BenchError("--set is for trainings that are compared: name the other checkout with --against BASE")
    chosen = benchmarks(tiny)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    usual = {name: function for name, function in chosen.items() if name not in WHEN_NAMED}
    named = {name: {name: function} for name, function in chosen.items()}
    entries = _shown(_picked(options.only, usual, named), PROGRAM)
    return _keep(entries, options, "")


def _compare(options: argparse.Namespace, tiny: bool) -> int:
    """This checkout against another."""
    from lengen.timing import slower
    from reproduce.bench import against

    effort = (against.TINY if tiny else against.FULL)._replace(sets=tuple(options.set))
    groups = against.comparisons(effort)
    every = {name: function for group in groups.values() for name, function in group.items()}
    chosen = _picked(options.only, every, {name: {name: function} for name, function in every.items()} | groups)
    with against.sides(options.against) as (base, now):
        bound = {name: partial(function, base, now) for name, function in chosen.items()}
        typed = "".join(f" --set {item}" for item in options.set)
        entries = _shown(bound, f"{PROGRAM} --against {base.name}{typed}")
        worse = [entry.name for entry in entries if entry.unit == "times faster" and slower(entry)]
        print(f"slower than {base.name} by more than the noise: {', '.join(worse) or 'nothing'}")
        return _keep(entries, options, f"-against-{base.name}")


def _picked(only: str | None, usual: Mapping[str, Item], named: Mapping[str, Mapping[str, Item]]) -> Mapping[str, Item]:
    """What ``--only`` names, else the usual."""
    if only is not None and only not in named:
        raise BenchError(f"--only {only}: there is no such benchmark; one of: {', '.join(named)}")
    return usual if only is None else named[only]


def _keep(entries: "Sequence[Entry]", options: argparse.Namespace, suffix: str) -> int:
    """Write what was measured, and where, to the file that was asked for, if one was."""
    if options.out is None:
        return 0
    from importlib.metadata import version

    from lengen.timing import fixed
    from reproduce.store.provenance import commit

    path = Path(options.out)
    if path.is_dir() or options.out.endswith("/"):
        path /= f"{file_name()}{suffix}{f'-{options.only}' if options.only else ''}.json"
    where = fixed("machine", str(machine()), cores(), "cores", f"torch {version('torch')}")
    where = where._replace(command=commit()[0][:7])
    numbers = ("value", "low", "high")
    kept = [
        {key: float(f"{found:.4g}") if key in numbers else found for key, found in entry._asdict().items()}
        for entry in (where, *entries)
    ]
    write_text(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {os.path.relpath(path)}")
    return 0


def _write_page(name: str) -> int:
    """docs/performance.md, or the page that was named, and its figure beside it."""
    from reproduce.bench import page, rounding
    from reproduce.store.store import Store

    root = checkout() or Path.cwd()
    path = Path(name) if name else root / "docs" / "performance.md"
    machines, peers = page.load(root / "results" / "bench")
    shown = page.with_scaling(machines)
    figure = path.with_suffix(".svg")
    compared = Store(root / "results" / "bench", "runs")  # beside the reference: settings may move on, these stay
    if shown is not None:
        write_bytes(figure, page.drawn(shown))
    write_text(path, page.page(machines, peers, figure.name if shown is not None else "", rounding.pairs(compared)))
    print(f"written to {os.path.relpath(path)}")
    return 0


def _shown(chosen: "Chosen", command: str) -> "list[Entry]":
    """The measurements, and a table of them on the terminal."""
    from rich.console import Console
    from rich.table import Table

    from reproduce.bench.page import with_spread

    console = Console()
    entries = measure(chosen, lambda line: console.print(line, style="dim", highlight=False), command)
    table = Table(title=f"speed on {machine()}")
    for head, whole in (("name", True), ("value (spread)", True), ("unit", False), ("against", False), ("what", False)):
        table.add_column(head, no_wrap=whole, overflow="fold")
    for entry in entries:
        table.add_row(entry.name, with_spread(entry), entry.unit, entry.against, entry.what)
    console.print(table)
    return entries


if __name__ == "__main__":
    sys.exit(main())

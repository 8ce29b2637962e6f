"""The command export: as `lengen.benchmark.commands` answers it, and a run as a folder for Hugging Face."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from lengen.benchmark import commands
from lengen.benchmark.commands import ExportError
from reproduce.catalogue import CATALOGUE
from reproduce.commands.evaluate import Stored
from reproduce.commands.problem import find, warned
from reproduce.store.files import readable


def export_command(options: argparse.Namespace) -> int:
    """Write the problems of a task or an experiment, or a run as a folder for Hugging Face."""
    if not options.hf:
        commands.export(options, Stored())
        return 0
    if options.out or options.hub:
        raise ExportError("--hf DIR exports a run and --out DIR its problems: name one of them")
    if options.steps or options.examples or options.size or (options.split, options.format) != ("test", "jsonl"):
        raise ExportError("--hf exports a run: leave --split, --format, --size, --examples and --steps out")
    if options.selector is None:
        raise ExportError("--hf exports a run: name its experiment")
    print("\n".join(map(readable, _export_run(options))))
    return 0


def _export_run(options: argparse.Namespace) -> Sequence[Path]:
    from lengen import huggingface

    model = warned(find(CATALOGUE.select_one(options.selector), options.profile, options.seed))
    if model.weights is None:
        raise ExportError(
            f"{model.name}: its weights are set by hand, and only runs are exported; load it with "
            f"lengen.load({options.selector!r})"
        )
    assert model.run is not None
    commands.owned(Path(options.hf), ("this folder was written by `reproduce export`",), Stored())
    return huggingface.export(model.spec, model.weights, Path(options.hf), model.run.experiment, model.run.grid)

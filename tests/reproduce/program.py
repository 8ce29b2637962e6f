"""The real program on the toy paper, in a process of its own.

``python -m tests.reproduce.program FOLDER KIND command ...`` is ``python -m reproduce command ...``; the paper lies in
FOLDER, and its runs do what the class KIND of `tests.reproduce.fakes` says.
"""

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def started(results: Path, *arguments: str, kind: str = "Instant") -> "subprocess.Popen[str]":
    """Start it with this results folder, in a session of its own."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "LENGEN_RESULTS": str(results)}
    paper = str(results.parent / "papers" / "toy")
    return subprocess.Popen(
        [sys.executable, "-m", "tests.reproduce.program", paper, kind, *arguments],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


if __name__ == "__main__":
    from reproduce import cli
    from reproduce.runs import local
    from reproduce.runs.catalogue import CATALOGUE
    from tests.reproduce import fakes

    CATALOGUE.fill(fakes.toy(Path(sys.argv[1]), getattr(fakes, sys.argv[2])))
    local.LOADED = ()  # a toy needs no torch
    sys.exit(cli.main(sys.argv[3:]))

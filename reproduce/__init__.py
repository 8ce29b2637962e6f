"""The conductor: lists, plans, runs, stores, draws and compares experiments; no model in it.

The way of a run: `cli` -> `catalogue` (which experiments) -> `runs.plan` (which jobs) -> `runs.worker` (makes
them) -> `lengen.training` -> `store` (what they leave) -> `figures`, `comparison` (what is read from it).
"""

import os
import sys
from pathlib import Path

_home = Path(__file__).resolve().parents[1]
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and Path(sys.path[0]).resolve() != _home:
    del sys.path[0]  # the current folder: its modules are not those of the program, whatever they are called

from lengen.this_machine import sleep_while_waiting  # noqa: E402

# in every process of the program, before libraries are loaded
sleep_while_waiting()
os.environ["MPLBACKEND"] = "agg"  # it only draws files; a notebook hands down a backend of its own

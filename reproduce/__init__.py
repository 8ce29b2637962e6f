"""The conductor: lists, plans, runs, stores, draws and compares experiments; no model in it.

The way of a run: `cli` -> `catalogue` (which experiments) -> `runs.plan` (which jobs) -> `runs.worker` (makes
them) -> `lengen.training` -> `store` (what they leave) -> `figures`, `comparison` (what is read from it).
"""

from lengen.machine import sleep_while_waiting

sleep_while_waiting()  # in every process of the program: trainings load torch later

PROGRAM = ("lengen", "papers", "reproduce")
"""The packages of the program: all of its code lies in their folders."""


def is_sentence(error: BaseException) -> bool:
    """Return True if an error is a sentence for the user: a ValueError of one of our own types."""
    return isinstance(error, ValueError) and type(error).__module__.partition(".")[0] in PROGRAM

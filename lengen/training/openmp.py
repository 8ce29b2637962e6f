"""OpenMP's threads, as the environment sets them up before torch is loaded; no torch."""

import os
import sys

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Environment variables by which a user chooses how threads wait: then nothing is changed."""


def sleep_while_waiting() -> None:
    """Let threads that wait for others sleep, unless torch is loaded.

    They spin otherwise, and take the cores from whoever is waited for.
    """
    if "torch" not in sys.modules and not any(name in os.environ for name in WAITING):
        os.environ.update(OMP_WAIT_POLICY="PASSIVE", KMP_BLOCKTIME="0")

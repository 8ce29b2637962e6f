"""This machine: its processor, on which speed and the last bits of numbers depend, and OpenMP's threads; no torch."""

import os
import platform
import re
import sys
from pathlib import Path
from typing import NamedTuple

CPUINFO = Path("/proc/cpuinfo")
"""Linux's description of the processor."""
INSTRUCTION_SETS = (
    *("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"),
    *("asimd", "asimddp", "bf16", "i8mm", "sve", "sve2"),
)
"""Those that matrix products are written for, in the order in which they are named: x86, then ARM."""
ROUNDS_NATIVELY = {"avx512_bf16", "amx_bf16"}
"""Instruction sets with products of bfloat16 numbers; without them every operand is converted, slower than float32."""


class Machine(NamedTuple):
    """Name, instruction sets and number of cores of a processor."""

    model: str
    instruction_sets: tuple[str, ...]
    """Those of `INSTRUCTION_SETS` that it has; none if the system does not list them."""
    cores: int

    def __str__(self) -> str:
        return f"{self.model}, {self.cores} cores ({' '.join(self.instruction_sets) or 'instruction sets unknown'})"


def machine() -> Machine:
    """Return the processor of this machine; no host name."""
    text = CPUINFO.read_text() if CPUINFO.exists() else ""
    model, instruction_sets = read_cpuinfo(text)
    name = model or platform.processor() or platform.machine() or "unknown"
    return Machine(name, instruction_sets, os.cpu_count() or 1)


def read_cpuinfo(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Return model ("" if it is not named) and instruction sets in a ``/proc/cpuinfo``.

    >>> read_cpuinfo("processor : 0\nmodel name : AMD EPYC 7B13\nflags : fpu fma avx2 sse\n")
    ('AMD EPYC 7B13', ('avx2', 'fma'))
    """
    model = re.search(r"^model name[ \t]*:[ \t]*(\S.*?)\s*$", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)[ \t]*:(.*)$", text, re.MULTILINE)
    has = set(flags[1].split()) if flags else set()
    return model[1] if model else "", tuple(name for name in INSTRUCTION_SETS if name in has)


WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Environment variables by which a user chooses how threads wait: then nothing is changed."""


def sleep_while_waiting() -> None:
    """Let threads that wait for others sleep, unless torch is loaded.

    They spin otherwise, and take the cores from whoever is waited for.
    """
    if "torch" not in sys.modules and not any(name in os.environ for name in WAITING):
        os.environ.update(OMP_WAIT_POLICY="PASSIVE", KMP_BLOCKTIME="0")

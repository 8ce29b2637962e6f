"""The command ``doctor``: what this machine has and lacks; one line each, with a remedy where one is needed.

What enters is the machine, the installed packages and the results folder; what leaves are `Finding` objects, printed.
Nothing is changed but a folder that is made below the results and removed again.
"""

import argparse
import contextlib
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from filelock import SoftFileLease, Timeout

from lengen.this_machine import machine
from reproduce.pages.terminal import width
from reproduce.store.checkout import checkout, differing, git_fault, locked, results_root
from reproduce.store.files import StoreError, existing, readable, write_text
from reproduce.store.lease import HEARTBEAT, LEASE, STALE, leased, silent

OLDEST = (3, 11)
"""The first Python that runs this."""
ROOM = 2.0
"""GB that a night of runs with its checkpoints takes at most."""
FAST = ("avx2", "asimd")
"""Without one of these a product of matrices takes several times as long."""
NAMED = 5
"""At most so many packages or leases are named in a line."""


class Finding(NamedTuple):
    """One line: what was looked at, its state, and what to do about it, where something is wrong."""

    what: str
    state: str
    remedy: str = ""

    def __str__(self) -> str:
        line = f"{'look' if self.remedy else 'ok':<5}{self.what:<13}{self.state}"
        return f"{line}: {self.remedy}" if self.remedy else line


def doctor_command(_: argparse.Namespace) -> int:
    """Print a line for each finding; 1 where one has a remedy."""
    wrong = False
    for finding in findings(results_root(), lambda line: print(f"     {line} ...", file=sys.stderr, flush=True)):
        print(textwrap.fill(str(finding), width(), subsequent_indent=" " * 18, break_on_hyphens=False), flush=True)
        wrong |= bool(finding.remedy)
    return int(wrong)


def findings(root: Path, tell: Callable[[str], None]) -> Iterator[Finding]:
    """Yield every finding, quick ones first; ``tell`` gets a line before each one that takes seconds."""
    yield python(sys.version_info[:3])
    yield instructions(*machine()[:2])
    yield disk(root)
    yield from folder(root)
    yield silent_leases(root, time.time())
    yield packages()
    yield git()
    tell("loading torch, some seconds")
    yield from torch()
    tell("trying torch.compile, up to a minute the first time")
    yield compiler()


def python(version: tuple[int, ...]) -> Finding:
    """Check that this Python is new enough."""
    here = f"{'.'.join(map(str, version))} on {platform.system()} {platform.machine()}"
    name = ".".join(map(str, OLDEST))
    remedy = f"install Python {name} or newer, make PYTHON=python{name}"
    return Finding("Python", here, "" if version >= OLDEST else remedy)


def instructions(model: str, sets: tuple[str, ...]) -> Finding:
    """List the processor's instructions for products of matrices."""
    if not sets:
        return Finding("processor", f"{model}, which does not tell its instruction sets")
    slow = not any(name in sets for name in FAST)
    remedy = "runs will take several times the estimated time; choose a machine with AVX2 or Neon" if slow else ""
    return Finding("processor", f"{model} ({' '.join(sets)})", remedy)


def disk(root: Path) -> Finding:
    """Measure the room below the results folder."""
    free = shutil.disk_usage(existing(root)).free / 1e9
    remedy = f"make room, {ROOM:g} GB are needed, or set LENGEN_RESULTS to another disk" if free < ROOM else ""
    return Finding("disk", f"{free:.1f} GB free at {readable(root)}", remedy)


def folder(root: Path) -> Iterator[Finding]:
    """Check that the results folder takes files and leases."""
    where = existing(root)
    place = readable(where)
    if not where.is_dir():
        yield Finding("permission", f"{place} is no folder", "move it away, or set LENGEN_RESULTS to a folder")
        return
    try:
        with tempfile.TemporaryDirectory(dir=where, prefix=".doctor-") as made:
            write_text(Path(made) / "file", "content")
            yield Finding("permission", f"{place} can be written")
            yield _leases(Path(made), place)
    except (OSError, StoreError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        yield Finding("permission", f"{place}: {reason}", "give permission, or set LENGEN_RESULTS to another folder")


def _leases(made: Path, place: str) -> Finding:
    """Check that a lease is held, and refused to a second owner."""
    remedy = "set LENGEN_RESULTS to a folder of another file system"
    try:
        with leased(made) as held:
            held.check()
            second = SoftFileLease(made / LEASE, lease_duration=STALE, heartbeat_interval=HEARTBEAT)
            with contextlib.suppress(Timeout), second.acquire(timeout=0):
                return Finding("leases", f"{place} lets two in", remedy)
    except StoreError as error:
        return Finding("leases", str(error), remedy)
    return Finding("leases", f"{place} can hold them")


def silent_leases(root: Path, now: float) -> Finding:
    """List the runs that somebody began and does not go on with."""
    owners = {path: owner for path in sorted(root.glob(f"**/{LEASE}")) if (owner := silent(path, now))}
    if not owners:
        return Finding("stale leases", "none")
    named = ", ".join(f"{readable(path)} ({owner})" for path, owner in list(owners.items())[:NAMED])
    remedy = "the next command that makes these runs takes them over; nothing needs to be deleted"
    return Finding("stale leases", f"{len(owners)}, {named}", remedy)


def packages() -> Finding:
    """Compare installed versions with requirements.lock."""
    if not (wanted := locked()):
        return Finding("packages", "installed without a repository: there is no requirements.lock to compare with")
    other = [f"{name} {here or 'absent'} for {version}" for name, version, here in differing(wanted)]
    if not other:
        return Finding("packages", f"{len(wanted)} as in requirements.lock")
    more = f" and {len(other) - NAMED} more" if len(other) > NAMED else ""
    return Finding("packages", f"{', '.join(other[:NAMED])}{more}", "rm .venv/.installed and make setup installs them")


def git() -> Finding:
    """Check that git reads this repository: runs record its commit."""
    if fault := git_fault():
        return Finding("git", fault, "until git reads this repository, runs record no commit")
    here = (root := checkout()) is not None and (root / ".git").exists()
    return Finding("git", "reads this repository" if here else "installed without a repository")


def torch() -> Iterator[Finding]:
    """Check PyTorch, and that it can use the GPU that is here; it is loaded last, because that takes a second."""
    try:
        import torch
    except (ImportError, OSError) as error:
        yield Finding("torch", f"cannot be loaded ({str(error).splitlines()[0]})", "make setup installs it")
        return
    threads = torch.get_num_threads()
    yield Finding("torch", f"{torch.__version__}, {threads} thread{'s' * (threads > 1)}")
    usable = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    yield cuda(torch.version.cuda or "", usable, driver())


def compiler() -> Finding:
    """Compile a line as trainings do, with this compiler, path of torch and folder for temporary files."""
    try:
        from lengen.training.compilation import compile_line
    except (ImportError, OSError):
        return Finding("compiler", "not tried without torch")
    try:
        compile_line()
    except Exception as error:  # of a compiler, a linker or a file system
        message = " ".join(str(error).split())[:160]
        remedy = "trainings go on uncompiled and take half as long again; install g++, or move to a path without spaces"
        return Finding("compiler", f"torch.compile fails ({type(error).__name__}: {message})", remedy)
    return Finding("compiler", "torch.compile works")


def driver() -> str:
    """Return the version of the NVIDIA driver; "" where there is none."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.partition("\n")[0].strip()


def cuda(built: str, usable: str, driver: str) -> Finding:
    """Compare the CUDA version that torch was built for, the GPU that it can use, and the driver."""
    if usable:
        return Finding("CUDA", f"{built}, driver {driver or 'unknown'}, {usable}")
    if not driver:
        return Finding("CUDA", "no GPU here: profiles smoke, cpu and night need none, --profile paper does")
    if not built:
        remedy = "make setup TORCH=cuda, or TORCH='torch --index-url URL' with the index of pytorch.org for this driver"
        return Finding("CUDA", f"driver {driver}, but torch was built without CUDA", remedy)
    remedy = (
        f"update the driver, or install a torch that was built for it: {built} is newer than it, or the GPU is in use"
    )
    return Finding("CUDA", f"driver {driver}, but torch for CUDA {built} cannot use the GPU", remedy)

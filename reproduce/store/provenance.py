"""Where a run comes from: commit, versions, platform, command; torch-free.

What enters is this checkout and the installed packages; what leaves is plain data for run.json. Nothing in it
names the machine or a place on its disk, so results of different machines can stand in one repository.
"""

import functools
import hashlib
import platform
import shlex
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from lengen.machine import machine
from reproduce import PROGRAM

PACKAGES = ("torch", "lightning", "torchmetrics", "numpy", "safetensors")
"""Packages whose version can change a result."""


def checkout() -> Path | None:
    """The repository that this program runs from; None where it is installed without one."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() else None


def provenance(arguments: Sequence[str]) -> dict[str, object]:
    """Commit, dirty flag, versions, platform and command line of what is about to run.

    ``arguments`` are those after ``python -m reproduce``; ``commit`` is ``unknown`` outside a git checkout.
    """
    at, dirty = commit()
    command = shlex.join(["python", "-m", "reproduce", *arguments])
    return {"commit": at, "dirty": dirty, **this_machine(), "command": command}


def this_machine() -> dict[str, object]:
    """What of the provenance is of the machine that trains: versions, platform, processor."""
    processor = machine()
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": processor.model,
        "instruction_sets": list(processor.instruction_sets),
    }


@functools.cache
def code_digest() -> str:
    """A sha256 over the program's own files: two machines that have it in common run the same code."""
    root, digest = Path(__file__).resolve().parents[2], hashlib.sha256()
    for path in sorted(
        path for name in PROGRAM for path in (root / name).rglob("*.*") if path.suffix in (".py", ".toml")
    ):
        digest.update(f"{path.relative_to(root).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def commit() -> tuple[str, bool]:
    """The commit of this checkout, ``unknown`` where it is none, and whether the program differs from it."""
    try:
        return _git("rev-parse", "HEAD"), bool(_git("status", "--porcelain", "--", *PROGRAM))
    except (OSError, subprocess.SubprocessError):
        return "unknown", True


def _git(*arguments: str) -> str:
    root = checkout()
    if root is None:
        raise FileNotFoundError("no repository")
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"

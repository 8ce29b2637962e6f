"""Provenance of a run: commit, versions, platform, command; and what differs from requirements.lock.

What enters is this checkout and the installed packages; what leaves is plain data for run.json. Nothing in it
names the machine or a place on its disk, so results of different machines can stand in one repository.
"""

import functools
import hashlib
import platform
import re
import shlex
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from lengen import __version__
from lengen.results.machine import machine
from reproduce import PROGRAM

PACKAGES = ("torch", "lightning", "torchmetrics", "numpy", "safetensors")
"""Packages whose version can change a result."""


def checkout() -> Path | None:
    """Return the repository that this program runs from, with or without git; None if it is installed without one."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() else None


def provenance(arguments: Sequence[str]) -> dict[str, object]:
    """Return commit, dirty flag, digest and version of the code, versions, platform and command line of a run.

    ``arguments`` are those after ``python -m reproduce``; ``commit`` is ``unknown`` if no git tracks this code.
    """
    at, dirty = commit()
    command = shlex.join(["python", "-m", "reproduce", *arguments])
    code = {"version": __version__, "sha256": code_digest()}
    return {"commit": at, "dirty": dirty, "code": code, **this_machine(), "command": command}


def this_machine() -> dict[str, object]:
    """Return the part of the provenance that belongs to the machine: versions, platform, processor."""
    processor = machine()
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": processor.model,
        "instruction_sets": list(processor.instruction_sets),
    }


@functools.cache
def code_digest() -> str:
    """Return a sha256 over the program's own files: machines that share it run the same code.

    It is the same with any line ends.
    """
    home, digest = Path(__file__).resolve().parents[2], hashlib.sha256()
    paths = (path for name in PROGRAM for path in (home / name).rglob("*.*") if path.suffix in (".py", ".toml"))
    for name, path in sorted((path.relative_to(home).as_posix(), path) for path in paths):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def commit() -> tuple[str, bool]:
    """Return the commit of this code and whether the program differs from it; ``unknown`` and True if there is none.

    A repository around this folder counts only if it tracks this file.
    """
    try:
        _git("ls-files", "--error-unmatch", "--", str(Path(__file__).resolve()))
        changes = _git("status", "--porcelain", "--untracked-files=normal", "--", *PROGRAM)
        return _git("rev-parse", "HEAD"), bool(changes)
    except (OSError, subprocess.SubprocessError):
        return "unknown", True


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(checkout()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


# The text of a lock and the installed packages enter; names and versions that differ leave.


def versions(lock: str) -> dict[str, str]:
    r"""Return the versions of a requirements file by name.

    >>> versions("# a comment\nnumpy==2.2.1 \\\n    --hash=sha256:00\nmsgspec==0.19.0\n")
    {'numpy': '2.2.1', 'msgspec': '0.19.0'}
    """
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE))


def differing(locked: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (package, version in the lock file, version here or "") of those that differ."""
    for name, wanted in locked.items():
        try:
            here = metadata.version(name)
        except metadata.PackageNotFoundError:
            here = ""
        if here != wanted:
            yield name, wanted, here


def others(packages: Collection[str]) -> str:
    """Return those packages whose version is not the locked one.

    They read as ``matplotlib 3.10.0 (locked: 3.11.2)``; "" if there is none, or no lock.
    """
    root = checkout()
    if root is None or not (root / "requirements.lock").is_file():
        return ""
    locked = versions((root / "requirements.lock").read_text(encoding="utf-8"))
    different = differing({name: wanted for name, wanted in locked.items() if name in packages})
    return ", ".join(f"{name} {here or 'absent'} (locked: {wanted})" for name, wanted, here in different)

"""Installed versions against those of requirements.lock; torch-free.

The text of a lock and the installed packages enter; names and versions that differ leave.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from importlib import metadata

from reproduce.store.provenance import checkout


def versions(lock: str) -> dict[str, str]:
    r"""Return name -> version of a requirements file.

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
    """Return packages of these whose version is not the locked one, as ``matplotlib 3.10.0 (locked: 3.11.2)``.

    "" if there is none, or no lock.
    """
    root = checkout()
    if root is None or not (root / "requirements.lock").is_file():
        return ""
    locked = versions((root / "requirements.lock").read_text(encoding="utf-8"))
    found = differing({name: wanted for name, wanted in locked.items() if name in packages})
    return ", ".join(f"{name} {here or 'absent'} (locked: {wanted})" for name, wanted, here in found)

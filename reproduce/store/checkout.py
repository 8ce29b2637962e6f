"""This checkout: the folders of its results, and the provenance of its runs: commit, versions, platform, command.

What enters is this checkout and the installed packages; what leaves is plain data for run.json. Nothing in it
names the machine or a place on its disk, so results of different machines can stand in one repository.
"""

import functools
import hashlib
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from lengen import __version__
from lengen.clone import CODE
from lengen.this_machine import machine
from reproduce.store.files import StoreError, one_line, readable
from reproduce.store.reference import RUNS, Reference
from reproduce.store.store import LocalStore, Store

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
        "versions": {"python": platform.python_version(), **{name: installed(name) or "absent" for name in PACKAGES}},
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
    paths = (path for name in CODE for path in (home / name).rglob("*.*") if path.suffix in (".py", ".toml"))
    for name, path in sorted((path.relative_to(home).as_posix(), path) for path in paths):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def commit() -> tuple[str, bool]:
    """Return the commit of this code and whether the program differs from it; ``unknown`` and True if there is none.

    A repository around this folder counts only if it tracks this file. If git fails, stderr has its words, once.
    """
    at, dirty, fault = _asked_of_git()
    if fault:
        _say(f"git: {fault}")
    return at, dirty


def git_fault() -> str:
    """Return in git's words why it cannot read the repository of this program; "" if it can, or there is none."""
    return _asked_of_git()[2]


def _asked_of_git() -> tuple[str, bool, str]:
    """Return commit, dirty flag and git's fault."""
    fault, root = "", checkout()
    try:
        _git("ls-files", "--error-unmatch", "--", str(Path(__file__).resolve()))
        changes = _git("status", "--porcelain", "--untracked-files=normal", "--", *CODE)
        return _git("rev-parse", "HEAD"), bool(changes), ""
    except subprocess.CalledProcessError as error:
        fault = one_line(" ".join(error.stderr.split())) if error.returncode != 1 else ""  # 1: it is not tracked
    except (OSError, subprocess.SubprocessError) as error:
        fault = "it is not installed here" if isinstance(error, FileNotFoundError) else str(error)
    in_repository = root is not None and any((folder / ".git").exists() for folder in (root, *root.parents))
    return "unknown", True, fault if in_repository else ""


def missing_commits() -> str:
    """Return why git has not the commits that runs name, and what to do."""
    if fault := git_fault():
        return f"git: {fault}"
    try:
        shallow = _git("rev-parse", "--is-shallow-repository") == "true"
    except (OSError, subprocess.SubprocessError):
        return "there is no git repository here: look them up in a clone"
    missing = "fetch the whole history (git fetch --unshallow)"
    return f"{missing if shallow else 'git does not have their commits: fetch them'} to look the others up"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(checkout()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def installed(package: str) -> str:
    """Return the version of an installed package; "" if it is absent."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def versions(lock: str) -> dict[str, str]:
    r"""Return the versions of a requirements file by name.

    >>> versions("# a comment\nnumpy==2.2.1 \\\n    --hash=sha256:00\nmsgspec==0.19.0\n")
    {'numpy': '2.2.1', 'msgspec': '0.19.0'}
    """
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE))


def locked() -> dict[str, str]:
    """Return the versions of requirements.lock by name; none where this was installed without a repository."""
    root = checkout()
    lock = root and root / "requirements.lock"
    return versions(lock.read_text(encoding="utf-8")) if lock and lock.is_file() else {}


def differing(wanted: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return (package, wanted version, version here or "") of the packages that differ."""
    here = {name: installed(name) for name in wanted}
    return [(name, version, here[name]) for name, version in wanted.items() if here[name] != version]


def others(packages: Collection[str]) -> str:
    """Return those packages whose version is not the locked one.

    They read as ``matplotlib 3.10.0 (locked: 3.11.2)``; "" if there is none, or no lock.
    """
    wanted = {name: version for name, version in locked().items() if name in packages}
    return ", ".join(f"{name} {here or 'absent'} (locked: {version})" for name, version, here in differing(wanted))


def results_root() -> Path:
    """Return the folder of the local runs.

    It is ``$LENGEN_RESULTS`` if it is set; else ``results`` of this checkout, or of the current folder if the program
    was installed without its repository.
    """
    chosen = os.environ.get("LENGEN_RESULTS", "").strip()
    if not chosen:
        return (checkout() or Path.cwd()) / "results"
    expanded = os.path.expanduser(chosen)
    if expanded.startswith("~"):
        raise StoreError(f"LENGEN_RESULTS names {chosen}: there is no home folder of {expanded.partition(os.sep)[0]}")
    return Path(expanded).absolute()


def reference_root() -> Path:
    """Return the folder of the committed results.

    It is that of this checkout, wherever local runs go, unless ``$LENGEN_RESULTS`` holds a ``reference`` of its own or
    there is no checkout.
    """
    root, repository = results_root(), checkout()
    return root if repository is None or (root / "reference").is_dir() else repository / "results"


def stores() -> tuple[Reference, LocalStore]:
    """Return the reference and the local store; a line on stderr says where there are no results.

    It also says where there are none of the committed.
    """
    if absent := no_results() or no_reference():
        _say(absent)
    return Reference(reference_root()), LocalStore(results_root())


def mine() -> LocalStore:
    """Return the local store, in which runs made with ``--set`` or ``--lengths`` represent their experiments too."""
    return LocalStore(results_root(), mine=True)


def with_runs(paper: str) -> list[Store]:
    """Return the reference store, and the local one where it has runs of this paper."""
    reference, local = stores()
    return [reference, local] if local.headers(paper) else [reference]


@functools.cache
def _say(sentence: str) -> None:
    """Print a line on stderr, once a process: a command asks for its stores several times."""
    print(one_line(sentence), file=sys.stderr)


def no_results() -> str:
    """Return a sentence where ``$LENGEN_RESULTS`` names no results folder, maybe by a slip; else nothing."""
    root = results_root()
    if "LENGEN_RESULTS" not in os.environ or any((root / name).is_dir() for name in ("reference", "local")):
        return ""
    holds = "holds neither reference nor local" if root.is_dir() else "is no folder"
    fault = holds if root.exists() else "is not there"
    lost = "no run of yours" if reference_root() != root else "no run"
    return f"LENGEN_RESULTS names {readable(root)}, which {fault}: {lost} is found; set it to a folder with results"


def _left_out(root: Path) -> list[str]:
    """Return the papers whose committed results git has and a sparse checkout has not."""
    papers = sorted(path.parent.name for path in (root / "papers").glob("*/__init__.py"))
    places = [f"results/reference/{name}" for name in papers if not (root / "results" / "reference" / name).is_dir()]
    if not places:
        return []
    try:
        return [Path(line).name for line in _git("ls-tree", "--name-only", "HEAD", "--", *places).splitlines()]
    except (OSError, subprocess.SubprocessError):
        return []


def no_reference() -> str:
    """Return a sentence where committed results cannot be here: not installed, or not checked out; else nothing."""
    place, root = reference_root() / "reference", checkout()
    if root is not None and place == root / "results" / "reference":
        absent = _left_out(root) if place.is_dir() else [""]
        names = [readable(place / name) for name in absent]
        remedy = f"git sparse-checkout add {' '.join(f'results/reference/{name}'.rstrip('/') for name in absent)}"
        return f"{', '.join(names)}: committed results that are not checked out; {remedy} brings them" if names else ""
    if root is not None or "LENGEN_RESULTS" in os.environ or any(place.glob(f"*/*/{RUNS}")):
        return ""
    return (
        f"{readable(place)} is not there: the committed results are part of the repository, not of the installed "
        "package; run in a clone of it, or set LENGEN_RESULTS to its folder results"
    )

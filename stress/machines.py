"""The program in folders and environments as people have them: a list of places, and what is typed in each.

In a copy of this checkout, with ``.venv`` as a link, a run is made, compared and drawn; what fails is a sentence.
"""

import contextlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RUN = "coupling/fig1/coupling-scratchpad"
COMMANDS = (
    ("list", "coupling/fig1"),
    ("run", RUN, "--profile", "smoke", "--seeds", "0"),
    ("compare", "coupling/fig1"),
    ("figures", "coupling/fig1"),
    ("solve", "coupling/thm4.1/construction", "12+34"),
)
"""What is typed in every place."""
TOLD = 300
"""Characters of what a failed command wrote that are told."""


class Machine(NamedTuple):
    """A place to try."""

    folder: str
    """Name of the folder that holds the copy."""
    copy: Callable[[Path], None]
    """Makes the copy at a path."""
    environment: Mapping[str, str] = {}
    """What is otherwise in the environment; ``{here}`` stands for the folder."""


def clone(*options: str) -> Callable[[Path], None]:
    """A clone, with settings of git."""

    def made(place: Path) -> None:
        words = [word for option in options for word in ("-c", option)]
        subprocess.run(["git", "clone", "-q", *words, str(ROOT), str(place)], check=True)

    return made


def unzipped(place: Path) -> None:
    """What a downloaded archive holds: no git."""
    archive = place.with_suffix(".zip")
    subprocess.run(["git", "-C", str(ROOT), "archive", "-o", str(archive), "HEAD"], check=True)
    with zipfile.ZipFile(archive) as file:
        file.extractall(place)
    archive.unlink()


MACHINES: dict[str, Machine] = {
    "a folder with a space": Machine("my code", clone()),
    "a folder with an umlaut": Machine("straße", clone()),
    "a folder with a quote and a dollar sign": Machine("o'$HOME", clone()),
    "a clone with core.autocrlf=true": Machine("crlf", clone("core.autocrlf=true", "core.eol=crlf")),
    "a zip without git": Machine("zip", unzipped),
    "TMPDIR with a space": Machine("tmpdir", clone(), {"TMPDIR": "{here}/a tmp"}),
    "no home folder": Machine("home", clone(), {"HOME": "{here}/none/of/it", "USER": "nobody"}),
    "a broken C++ compiler": Machine("cxx", clone(), {"CXX": "/bin/false"}),
    "20 columns": Machine("narrow", clone(), {"COLUMNS": "20"}),
    "the C locale": Machine("locale", clone(), {"LC_ALL": "C", "LANG": "C"}),
    "LENGEN_RESULTS elsewhere": Machine("elsewhere", clone(), {"LENGEN_RESULTS": "{here}/a disk"}),
    "a wrong clock zone": Machine("zone", clone(), {"TZ": "Pacific/Kiritimati"}),
}
"""Name -> a place; those that CI or this machine lacks (macOS, Windows) stand in docs/machines.md."""


def tried(name: str, place: Path) -> list[str]:
    """What went wrong on a machine, a sentence each."""
    machine = MACHINES[name]
    here = place / machine.folder
    here.mkdir(parents=True)
    copy = here / "suite"
    machine.copy(copy)
    with contextlib.suppress(FileExistsError):
        (copy / ".venv").symlink_to(ROOT / ".venv")
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "LENGEN_RESULTS")}
    given = {key: value.format(here=here) for key, value in machine.environment.items()}
    if "TMPDIR" in given:
        Path(given["TMPDIR"]).mkdir()
    wrong = []
    for command in COMMANDS:
        done = subprocess.run(
            [".venv/bin/python", "-m", "reproduce", *command],
            cwd=copy,
            env={**environment, "OMP_NUM_THREADS": "1", **given},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        if done.returncode or "Traceback" in done.stderr:
            wrong.append(f"{name}: {' '.join(command)} ended with {done.returncode}: {done.stderr[-TOLD:].strip()}")
    if (copy / ".git").is_dir():
        status = subprocess.run(["git", "status", "--porcelain"], cwd=copy, capture_output=True, text=True).stdout
        changed = [line for line in status.splitlines() if not line.endswith(".venv")]
        wrong += [f"{name}: {len(changed)} tracked files changed: {changed[:3]}"] if changed else []
    shutil.rmtree(here)
    return wrong

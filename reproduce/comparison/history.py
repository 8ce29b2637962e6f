"""Age of statements: what each asks as a digest, kept as a run is started, and held against git.

Statements enter; digests, and whether a run was started with them, leave. Runs of earlier versions recorded the digests
of ``claim`` entries; they are read as well.
"""

import hashlib
import json
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lengen.results.records import Run
from reproduce.comparison.statements import Statement, statements
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.files import StoreError

AS_NOW, OTHERWISE, UNKNOWN = "as recorded", "otherwise", "could not be looked up"
CODES = {AS_NOW: 0, OTHERWISE: 1, UNKNOWN: 3}
"""Exit codes of ``compare --check-history``; 2 is a mistake of the user."""
ASIDE = {"id", "place", "words", "short", "quote", "remark", "details", "repaired", "unseen"}
"""Fields of a statement and of its parts that decide no answer."""
EARLIER = {"threshold": 0.0, "measure": "exact", "mode": "teacher_forced", "region": "outside"}
"""Fields that a ``claim`` of earlier versions had without writing them."""
EARLIER_ASIDE = {"id", "place", "deviations", "how_read", "headline", "part_of", "remark", "beside", "check"}


def digest(statement: Statement) -> str:
    """Return what a statement asks, in 16 hexadecimal digits."""
    row = msgspec.to_builtins(statement)
    parts = [{k: v for k, v in part.items() if k not in ASIDE and v not in (None, [], "")} for part in row["parts"]]
    return _sum({name: value for name, value in row.items() if name not in ASIDE} | {"parts": parts})


def digest_of_claim(row: Mapping[str, Any]) -> str:
    """Return the digest of a ``claim`` entry of earlier versions, from its table."""
    asked = {"check": row["check"]} | {
        name: value
        for name, value in (EARLIER | dict(row)).items()
        if name not in EARLIER_ASIDE and value is not None and value != "" and value != []
    }
    for name in ("threshold", "limit", "low", "high"):
        if isinstance(asked.get(name), int) and not isinstance(asked.get(name), bool):
            asked[name] = float(asked[name])
    if "learned" in asked:
        asked["learned"] = {name: value for name, value in asked["learned"].items() if name != "why" and value != ""}
    return _sum(asked)


def _sum(asked: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def knew(info: Mapping[str, object], statement: Statement) -> bool:
    """Return True if a run was started when the statement stood as it does now."""
    recorded = info.get("claims")
    return isinstance(recorded, dict) and digest(statement) in recorded.values()


def standing(paper: str, profile: str) -> Mapping[str, Mapping[str, str]]:
    """Return for every home of a run at a profile the statements that rest on it, each with its digest."""
    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}
    found: dict[str, dict[str, str]] = {}
    for statement in statements(paper):
        for name in statement.names:
            found.setdefault(CATALOGUE.home(experiments[name], profile).name, {})[statement.id] = digest(statement)
    return found


def history(runs: Iterable[Run], repository: Path | None) -> tuple[Counter[str], list[str]]:
    """Hold what runs recorded against published.toml at the commit that each names.

    Returns how many runs stand as recorded, otherwise, or could not be looked up, and a sentence for each that stands
    otherwise. ``repository`` is None outside a checkout.
    """
    counts: Counter[str] = Counter()
    told: list[str] = []
    for run in runs:
        recorded = run.info.get("claims")
        if not isinstance(recorded, dict):
            continue
        paper, commit = run.experiment.split("/")[0], str(run.info.get("commit"))
        known = None if repository is None else _at(repository, commit, f"papers/{paper}/published.toml")
        if known is None:
            counts[UNKNOWN] += 1
            continue
        wrong = [name for name, value in recorded.items() if known.get(name) != value]
        counts[OTHERWISE if wrong else AS_NOW] += 1
        told += [
            f"{run.experiment} {run.profile} seed {run.seed}: {name} was another one at {commit}" for name in wrong
        ]
    return counts, told


@cache
def _at(repository: Path, commit: str, path: str) -> Mapping[str, str] | None:
    """Return the digests of a published.toml at a commit; None if git does not have it."""
    command = ["git", "-C", str(repository), "show", "--end-of-options", f"{commit}:{path}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise StoreError("--check-history asks git, which is not installed here: install it") from None
    if done.returncode:
        return None
    table = tomllib.loads(done.stdout.decode("utf-8"))
    found = {row["id"]: digest_of_claim(row) for row in table.get("claim", []) if "check" in row}
    for row in table.get("statement", []):
        found[row["id"]] = digest(msgspec.convert(row, Statement))
    return found

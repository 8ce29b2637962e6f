"""Whether a claim is older than its runs: what it asks as a digest, kept as a run is started.

Claims and runs enter; digests, and the answer yes, no or unknown leave. A digest holds everything that a claim says
which decides a verdict and nothing else: a remark, a place or a name may change without making a claim younger.
Measures and regions stand in it by their names; that regions stay what they were is held by a test.
"""

import contextlib
import hashlib
import json
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from lengen.records import Run
from reproduce.comparison.checks import Claim
from reproduce.comparison.measures import paper_measures
from reproduce.comparison.published import PublishedError, load, read_claim
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.atomic_files import StoreError

YES, NO, UNKNOWN = "yes", "no", "unknown"
TOLD = ("id", "place", "deviations", "how_read", "headline", "part_of", "remark", "beside")
"""Fields of a claim that decide no verdict."""


def digest(claim: Claim) -> str:
    """What a claim asks, in 16 hexadecimal digits; fields without a value are left out, so a new one changes
    nothing."""
    asked = {"check": claim.kind} | {
        name: value
        for name, value in msgspec.to_builtins(claim).items()
        if name not in TOLD and value is not None and value != "" and value != []
    }
    if claim.learned is not None:
        asked["learned"] = {
            name: value for name, value in asked["learned"].items() if name != "why" and value not in ("", None)
        }
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def standing(paper: str, profile: str) -> Mapping[str, Mapping[str, str]]:
    """Home of a run at a profile -> the claims that rest on it, each with its digest, as they stand now."""
    path = CATALOGUE.paper(paper).published
    if not path.exists():
        return {}
    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}
    found: dict[str, dict[str, str]] = {}
    for claim in load(path).claims:
        for name in claim.names:
            if name in experiments:
                found.setdefault(CATALOGUE.home(experiments[name], profile).name, {})[claim.id] = digest(claim)
    return found


def frozen(claim: Claim, runs: Iterable[Run]) -> str:
    """Whether every run was started when the claim stood as it does now; unknown where one does not say."""
    recorded = [run.info.get("claims") for run in runs]
    wanted = digest(claim)
    if any(isinstance(claims, dict) and wanted not in claims.values() for claims in recorded):
        return NO
    return YES if recorded and all(isinstance(claims, dict) for claims in recorded) else UNKNOWN


def contradicted(run: Run, repository: Path) -> list[str]:
    """Claims of a run.json whose digest is not that of published.toml at the commit it names, a sentence each.

    A run that recorded none has nothing to check. ``repository`` is a checkout that has the commit.
    """
    claims = run.info.get("claims")
    if not isinstance(claims, dict):
        return []
    paper, commit = run.experiment.split("/")[0], str(run.info.get("commit"))
    where = f"{run.experiment} {run.profile} seed {run.seed}"
    place = f"papers/{paper}/published.toml"
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), "show", "--end-of-options", f"{commit}:{place}"],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise StoreError("--check-history asks git, which is not installed here: install it") from None
    if done.returncode:
        return [f"{where}: git has no {place} at {commit}; fetch the whole history"]
    known = {}
    for row in tomllib.loads(done.stdout).get("claim", []):
        with contextlib.suppress(PublishedError):  # of words that a paper no longer has
            known[row["id"]] = digest(read_claim(row, place, paper_measures(paper)))
    wrong = [name for name, value in claims.items() if known.get(name) != value]
    return [f"{where}: claim {name} was another one at {commit}, or none" for name in wrong]

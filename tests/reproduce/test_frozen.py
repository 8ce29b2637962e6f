"""What a claim asks has a digest; runs record it when they are started, and git tells whether it stood so."""

import dataclasses
import subprocess

import msgspec
import pytest

from lengen.records import Run
from reproduce.cli import main
from reproduce.comparison.frozen import contradicted, digest, frozen, standing
from reproduce.comparison.published import load
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.atomic_files import StoreError
from reproduce.store.store import Store
from tests.reproduce.fakes import PUBLISHED, FailsOnce, install_toy
from tests.reproduce.made import claim, experiment, run

A = experiment("p/f/a")
TWO = {"check": "compare", "relation": ">", "right": ["p/f/b"]}


@pytest.fixture
def toy(monkeypatch, tmp_path):
    yield install_toy(monkeypatch, tmp_path)
    CATALOGUE.fill()


@pytest.mark.parametrize(
    "changed",
    [
        {"statement": "more"},
        {"threshold": 0.6},
        {"relation": ">"},
        {"left": ["p/f/b"]},
        {"region": "far"},
        {"measure": "answer"},
        {"mode": "free_running"},
        {"lengths": [1, 9]},
        {"counts": [1, 2]},
        {"relation": "~", "low": 0.4, "high": 0.6},
        {"given": ""} | TWO,
        {"learned": {"why": "w", "least": 0.5}},
        {"learned": {"why": "w"}},
    ],
)
def test_what_is_asked_changes_the_digest(changed):
    assert digest(claim(threshold=0.5, **changed) if "threshold" not in changed else claim(**changed)) != digest(
        claim(threshold=0.5)
    )


def test_what_is_told_beside_it_does_not():
    entry = claim(threshold=0.5, learned={"why": "first", "least": 0.5})
    for told in (
        {"id": "other", "place": "Fig. 2", "deviations": ("D1",), "how_read": "printed"},
        {"headline": True, "part_of": "x"},
        {"remark": "one layer", "beside": ("p/f/b",)},
        {"learned": msgspec.structs.replace(entry.learned, why="second")},
    ):
        assert digest(msgspec.structs.replace(entry, **told)) == digest(entry)
    assert digest(claim(**TWO)) != digest(claim(**TWO, limit=0.1))


def test_a_digest_stays_what_it_is():
    """Runs keep it for good: who changes this number makes every claim younger than its runs."""
    assert digest(claim(threshold=0.5)) == "d25287800af08439"


def test_every_run_has_to_say_so():
    entry = claim()
    said, other = ({"claims": {"c": value}} for value in (digest(entry), "0" * 16))
    made = run(A, 1.0)
    with_info = [dataclasses.replace(made, info={**made.info, **more}) for more in (said, other, {})]
    assert frozen(entry, with_info[:1]) == "yes"
    assert frozen(entry, with_info[1:2]) == frozen(entry, with_info) == "no"
    assert frozen(entry, [with_info[0], with_info[2]]) == frozen(entry, []) == "unknown"


def test_a_run_records_the_claims_that_rest_on_it_as_the_command_starts(toy, capsys):
    published = load(CATALOGUE.paper("toy").published)
    assert standing("toy", "cpu") == {"toy/fig1/alpha": {"adds": digest(published.claims[0])}}
    assert main(["run", "toy/fig1", "--profile", "cpu", "--jobs", "1"]) == 0
    store = Store(toy, "local")
    recorded = {item.experiment: item.info["claims"] for item in store.headers("toy")}
    assert recorded == {"toy/fig1/alpha": {"adds": digest(published.claims[0])}, "toy/fig1/beta": {}}


def test_a_claim_that_changes_while_its_run_is_stopped_is_younger_than_it(monkeypatch, tmp_path):
    results = install_toy(monkeypatch, tmp_path, FailsOnce)
    try:
        path = CATALOGUE.paper("toy").published
        asked = [digest(load(path).claims[0])]
        command = ["run", "toy/fig1/alpha", "--seeds", "0", "--jobs", "1"]
        assert main(command) == 1
        path.write_text(PUBLISHED.replace("0.5", "0.4"))  # after a look at metrics.csv
        assert main([*command, "--without-gpu"]) == 0
    finally:
        CATALOGUE.fill()
    (made,) = Store(results, "local").runs("toy")
    asked.append(digest(load(path).claims[0]))
    assert made.info["claims"] == {"adds": asked[0]} != {"adds": asked[1]}
    assert frozen(load(path).claims[0], [made]) == "no"
    assert made.info["command"] == "python -m reproduce run toy/fig1/alpha --seeds 0 --jobs 1"
    assert (results / "local/toy/fig1/alpha/cpu/seed-0/v1/last.ckpt").read_text() == "first\nstep\n", "it was resumed"


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_git_tells_whether_a_claim_stood_as_its_run_says(toy, tmp_path, monkeypatch):
    repository = tmp_path / "checkout"
    file = repository / "papers" / "toy" / "published.toml"
    file.parent.mkdir(parents=True)
    git(tmp_path, "init", "-q", str(repository))
    commits = []
    for text in (PUBLISHED, PUBLISHED.replace("0.5", "0.4"), "[[claim]]\nid = 'adds'\ncheck = 'unheard of'\n"):
        file.write_text(text)
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "more")
        commits.append(git(repository, "rev-parse", "HEAD"))

    def told(commit, **info) -> list[str]:
        made = run(A, 1.0)
        return contradicted(
            Run("toy/fig1/alpha", "cpu", 0, 1, "reference", {"commit": commit, **info}, made.grid), repository
        )

    now = {"adds": digest(load(CATALOGUE.paper("toy").published).claims[0])}
    assert told(commits[0], claims=now) == []
    assert told(commits[0]) == [], "a run from before recorded nothing"
    for commit in commits[1:]:
        assert told(commit, claims=now) == [
            f"toy/fig1/alpha cpu seed 0: claim adds was another one at {commit}, or none"
        ]
    for unknown in ("0" * 40, "--output=written"):
        assert "git has no papers/toy/published.toml" in told(unknown, claims=now)[0]
    assert not (repository / "written").exists()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match="asks git, which is not installed here"):
        told(commits[0], claims=now)


def test_the_committed_runs_recorded_what_stood_at_their_commits(capsys):
    assert main(["compare", "coupling", "--check-history", "--format", "json"]) == 0
    assert "0 stood otherwise" in capsys.readouterr().err

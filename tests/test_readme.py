"""The front page: its commands are real, its table is what the committed runs say, its links lead somewhere."""

import json
import re
import shlex
from pathlib import Path

import pytest

from lengen.inspection.problem import encode
from reproduce.cli import parser
from reproduce.comparison.compare import compare
from reproduce.comparison.tables import MARKERS, Row, claims_block, refresh
from reproduce.output import terminal
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("papers/*/README.md"))]


def commands() -> list[str]:
    """Arguments of every ``python -m reproduce`` line of the READMEs, comments left out."""
    lines = [line.split("#")[0] for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    found = [re.match(r" {4}(?:\.venv/bin/)?python -m reproduce (.+)", line) for line in lines]
    return [match.group(1).strip() for match in found if match]


@pytest.mark.parametrize("arguments", commands())
def test_every_command_of_the_readmes_is_one(arguments: str) -> None:
    options = parser().parse_args(shlex.split(arguments))
    selector = getattr(options, "selector", None)
    chosen = () if selector is None else CATALOGUE.select(selector)
    assert selector is None or chosen
    if selector is not None and "/" in selector:
        assert len({item.figure for item in chosen}) == 1, f"{selector} names {len(chosen)} experiments"


def test_the_readmes_have_commands_and_make_targets_that_exist() -> None:
    assert len(commands()) >= 8
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    numbers = [CATALOGUE.paper(name).number for name in CATALOGUE.papers()]
    targets |= {f"{target}-paper{number}" for number in numbers for target in ("reproduce", "night")}
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"(?:`| {4})make ([a-z0-9-]+)", text))
    assert {"reproduce-paper1", "test", "figures", "compare"} <= named <= targets


def test_links_and_pictures_are_there() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_printed_encoding_is_what_encode_prints() -> None:
    experiment = CATALOGUE.select_one("coupling/fig1/coupling-scratchpad")
    printed = terminal.aligned(encode(experiment.specs["paper"], ["57", "48", "96"]))
    assert all(f"    {line.rstrip()}" in README for line in printed.splitlines())


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_the_tables_of_claims_are_what_the_reference_runs_say(paper: str) -> None:
    """In the front page, or in the paper's own."""
    begin, end = (marker.format(paper=paper) for marker in MARKERS)
    own = CATALOGUE.paper(paper).published.with_name("README.md").read_text(encoding="utf-8")
    (page,) = (text for text in (README, own) if begin in text)
    block = page[page.index(begin) + len(begin) : page.index(end)].strip()
    rows = compare(paper, [Store(ROOT / "results", "reference")])
    assert block == claims_block(rows)
    assert block.startswith("| score card | claims | reproduced |") and "| headline claims |" in block


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_committed_runs_name_their_commit_and_their_specification_is_the_declared_one(paper: str) -> None:
    store = Store(ROOT / "results", "reference")
    runs = store.headers(paper)
    published = any("paper" in item.specs for item in CATALOGUE.experiments(paper))
    assert runs or not published, "without a published setting there may be none yet"
    at_night = {run.experiment for run in runs if run.profile == "night"}
    for run in runs:
        info = json.loads((store.folder(run) / "run.json").read_text())
        assert info["status"] == "finished" and info["dirty"] is False
        assert info["overrides"] == [] and re.fullmatch(r"[0-9a-f]{40}", info["commit"])
        specs = CATALOGUE.select_one(run.experiment).specs
        assert run.profile in specs, f"{run.experiment} has no {run.profile} size any more"
        as_declared = info["spec_hash"] == specs[run.profile].hash()
        waiting = run.profile == "cpu" and run.experiment not in at_night  # an earlier size speaks until a night has
        assert as_declared or waiting, f"{run.experiment} {run.profile} is another setting now"


def test_refreshing_replaces_the_block_and_nothing_else(tmp_path: Path) -> None:
    begin, end = (marker.format(paper="toy") for marker in MARKERS)
    page = tmp_path / "README.md"
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    row = Row(
        kind="claim", id="a", place="Figure 1", statement="it | adds", relation=">", published=0.5, aggregation="",
        ours=0.75, ci_low=0.7, ci_high=0.8, n=100, seeds=1, profile="cpu", verdict="reproduced",
    )  # fmt: skip
    assert refresh(page, "toy", [row]) and not refresh(page, "toy", [row])
    text = page.read_text()
    assert text.startswith(f"before\n{begin}\n") and text.endswith(f"{end}\nafter\n") and "old" not in text
    assert "| it \\| adds | Figure 1 | > 0.5000 | 0.7500 [0.7000, 0.8000], 1 seed | reproduced |" in text
    assert not refresh(tmp_path / "absent.md", "toy", [row])

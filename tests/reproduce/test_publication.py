"""What makes the suite citable is what the committed runs say, in forms that others read."""

import datetime
import json
import re
import shutil
import textwrap
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import lengen
from reproduce import publication
from reproduce.catalogue import CATALOGUE
from reproduce.pages import comparison, overview, readme
from reproduce.store.store import WEIGHTS, StoreError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
REPORTS = sorted(ROOT.glob("papers/*/REPORT.md"))
LARGEST_CRATE = 300_000
"""Bytes."""
LARGEST_RESULTS = 40_000_000
"""Bytes: small text and pictures, which a clone brings along."""


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    return publication.files(ROOT)


@pytest.fixture(scope="module")
def known() -> overview.Facts:
    return overview.gather(ROOT)


@pytest.fixture(scope="module")
def citation() -> dict:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_committed_files_are_what_promote_would_write(pages):
    stale = [str(path.relative_to(ROOT)) for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "python -m reproduce.publication writes them anew"
    there = {*RESULTS.glob("badges/*"), *RESULTS.glob("reference/**/README.md"), *REPORTS}
    assert there <= set(pages), "a file that nothing writes any more"


def test_a_comparison_is_what_was_written(known):
    for paper, found in known.compared.items():
        path = known.reference.path / paper / "comparison.md"
        assert comparison.page(found) == path.read_text(encoding="utf-8")


# ------------------------------------------------------------------ statements.csv


def test_the_recipe_counts_the_answers(known, monkeypatch):
    (recipe,) = re.findall(r"(?:^    .+\n)+", (RESULTS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    monkeypatch.chdir(ROOT)
    printed: list = []
    exec(textwrap.dedent(recipe), {"print": printed.append})
    counted = {(n, w): c for n, found in known.compared.items() for w, c in found.counts.items() if c}
    assert printed[0].to_dict() == counted


def test_every_column_of_the_two_tables_is_described():
    described = (RESULTS / "README.md").read_text(encoding="utf-8").partition("## Columns")[2]
    for name in ("published.csv", "statements.csv"):
        columns = (RESULTS / name).read_text(encoding="utf-8").partition("\n")[0].split(",")
        assert not [column for column in columns if f"`{column}`" not in described], name


# ------------------------------------------------------------------ ro-crate-metadata.json


def entities() -> dict[str, dict]:
    graph = json.loads((ROOT / "ro-crate-metadata.json").read_text(encoding="utf-8"))["@graph"]
    assert len({entity["@id"] for entity in graph}) == len(graph)
    return {entity["@id"]: entity for entity in graph}


def references(value: object) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in references(item)]
    return [value["@id"]] if isinstance(value, dict) else []


def test_the_crate_is_small_and_refers_to_nothing_that_is_not_there():
    assert (ROOT / "ro-crate-metadata.json").stat().st_size < LARGEST_CRATE
    known = entities()
    assert known["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    for entity in known.values():
        for name, value in entity.items():
            if (entity["@id"], name) != ("ro-crate-metadata.json", "conformsTo"):
                assert set(references(value)) <= set(known), f"{entity['@id']} {name}"
    for part in references(known["./"]["hasPart"]):
        assert (ROOT / part).exists(), part


def test_what_is_committed_of_results_is_small():
    sizes = {path: path.stat().st_size for path in RESULTS.rglob("*") if path.is_file()}
    committed = {path: size for path, size in sizes.items() if path.relative_to(RESULTS).parts[0] != "local"}
    largest = sorted(committed, key=committed.__getitem__, reverse=True)[:10]
    assert sum(committed.values()) < LARGEST_RESULTS, f"the largest are {[str(path) for path in largest]}"


def test_the_actions_of_the_crate_are_the_committed_runs(known):
    actions = [entity for entity in entities().values() if entity["@type"] == "CreateAction"]
    runs = [run for some in known.runs.values() for run in some]
    assert sum(int(action["name"].split()[0]) for action in actions) == len(runs)
    made = {(f"results/reference/{run.experiment.rpartition('/')[0]}/", run.info["commit"]) for run in runs}
    programs = {name: entity["version"] for name, entity in entities().items() if "version" in entity}
    told = {
        (folder, programs[action["instrument"]["@id"]]) for action in actions for folder in references(action["result"])
    }
    assert told == made
    assert all(action["startTime"] < action["endTime"] for action in actions)


# ------------------------------------------------------------------ model cards, the badge


def test_every_committed_model_has_a_card_that_others_can_read(known, pages):
    cards = {
        path.parent: text
        for path, text in pages.items()
        if path.name == "README.md" and path.is_relative_to(known.reference.path)
    }
    for path in RESULTS.glob(f"reference/**/{WEIGHTS}"):
        folder = path.parents[2]
        assert path.relative_to(folder).as_posix() in cards[folder]
    for folder, text in cards.items():
        _, head, body = text.split("---\n", 2)
        told = yaml.safe_load(head)
        assert told["license"] == "mit" and told["library_name"] == "lengen" and "safetensors" in told["tags"]
        assert f"# {folder.relative_to(known.reference.path).as_posix()}\n" in body
        for target in re.findall(r"\]\(([^)]+)\)", body):
            assert (folder / target).is_file(), f"{folder} links to {target}"


def test_the_badge_says_in_words_what_it_shows(known):
    assert (
        ElementTree.fromstring(publication.badge("a < b", '"c" & d', publication.OPEN)).get("aria-label")
        == 'a < b: "c" & d'
    )
    picture = ElementTree.fromstring(publication.claims(known))
    shown = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert ": ".join(shown) == picture.get("aria-label") == picture.findtext("{http://www.w3.org/2000/svg}title")
    assert re.fullmatch(r"\d+ of \d+ within 5 points", shown[1])


# ------------------------------------------------------------------ REPORT.md


def test_every_publication_has_a_report_and_every_report_all_of_its_blocks():
    assert {path.parent.name for path in REPORTS} >= {
        name for name in CATALOGUE.papers() if CATALOGUE.paper(name).arxiv
    }
    for path in REPORTS:
        text = path.read_text(encoding="utf-8")
        kinds = [found["kind"] for found in readme.BLOCK.finditer(text)]
        assert set(kinds) >= {"identity", "claims", "held", "failed", "undecided", "cost"}, path
        assert len(kinds) == len(set(kinds)), path
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert target.startswith("https://") or (path.parent / target).exists(), f"{path} links to {target}"


def test_what_is_written_by_hand_names_no_measured_number_and_no_verdict():
    """It would be wrong after the next runs."""
    for path in REPORTS:
        text = readme.BLOCK.sub("", path.read_text(encoding="utf-8"))
        assert not re.search(r"\b[01]\.\d|\d ?%|\breproduced\b|\bundecided\b|\bcannot tell\b", text), path


# ------------------------------------------------------------------ CITATION.cff


def test_the_citation_has_the_version_of_the_project_and_the_ids_of_the_papers(citation):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["cff-version"] == "1.2.0" and citation["version"] == lengen.__version__
    assert citation["date-released"] >= datetime.date(2026, 11, 22) and citation["license"] == project["license"]
    cited = {reference["title"]: reference for reference in citation["references"]}
    papers = [CATALOGUE.paper(name) for name in CATALOGUE.papers()]
    assert set(cited) == {paper.title for paper in papers if (ROOT / "papers" / paper.name / "REPORT.md").is_file()}
    for paper in papers:
        reference = cited.get(paper.title, {})
        ids = [item["value"] for item in reference.get("identifiers", [])]
        wanted = [("arXiv", paper.arxiv), ("openreview", paper.openreview)]
        assert ids == [f"{kind}:{value}" for kind, value in wanted if value]
        assert reference.get("doi") == (f"10.48550/arXiv.{paper.arxiv}" if paper.arxiv else None)


# ------------------------------------------------------------------ writing


def test_only_what_changed_is_written(known, tmp_path):
    paper = next(iter(known.compared))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    folder = tmp_path / "results" / "reference" / paper
    folder.mkdir(parents=True)
    with pytest.raises(StoreError, match="results/reference holds no finished run of a paper"):
        publication.write(tmp_path)
    assert not (tmp_path / "results" / "statements.csv").exists()
    figure = known.runs[paper][0].experiment.rpartition("/")[0]
    shutil.copytree(known.reference.path / figure, tmp_path / "results" / "reference" / figure)
    first = publication.write(tmp_path)
    assert tmp_path / "ro-crate-metadata.json" in first and tmp_path / "results" / "statements.csv" in first
    assert publication.write(tmp_path) == []
    (tmp_path / "results" / "statements.csv").write_text("")
    card = folder / "fig1" / "gone" / "README.md"
    card.parent.mkdir(parents=True)
    card.touch()
    assert publication.write(tmp_path) == [tmp_path / "results" / "statements.csv", card] and not card.exists()


def test_a_gallery_lists_published_values_of_what_a_figure_draws():
    """Figures 3.7 to 3.9 read the runs of Figure 3.6, and draw edit distances or repeated numbers."""
    sections = (ROOT / "docs/gallery.md").read_text(encoding="utf-8").split("\n### ")
    listed = {text.partition(":")[0]: "Published beside ours" in text for text in sections}
    assert listed["Figure 3.6"] and listed["Table 2"]
    assert not any(listed[f"Figure {number}"] for number in ("3.7", "3.8", "3.9", "4.15", "4.16"))

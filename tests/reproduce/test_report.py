"""The report and all pages that are committed."""

import base64
import dataclasses
import datetime
import hashlib
import itertools
import json
import math
import re
import shutil
import textwrap
import tomllib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import yaml

import lengen
from lengen.results.records import Counts, Grid
from reproduce import figures
from reproduce import generated_files as publication
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.compare import compare
from reproduce.comparison.last_comparison import WORDS
from reproduce.comparison.published_statements import statements
from reproduce.pages import comparison, overview_picture
from reproduce.pages import generated_blocks as blocks
from reproduce.pages import site as pages
from reproduce.pages.site_data import attention, counts, curves, experiments
from reproduce.runs.costs import accuracies
from reproduce.store.checkout import results_root
from reproduce.store.reference import Reference
from reproduce.store.run_folder import WEIGHTS
from reproduce.store.store import Store, StoreError
from tests.fixtures.drawings import attention as looking
from tests.fixtures.drawings import run, spec
from tests.fixtures.refusals import refused
from tests.fixtures.site import committed_pictures, quiet, written

pytestmark = pytest.mark.slow

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
LARGEST_PAGE = 3 * 10**6
ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
REPORTS = sorted(ROOT.glob("papers/*/REPORT.md"))
LARGEST_CRATE = 300_000
"""Bytes."""
LARGEST_RESULTS = 40_000_000
"""Bytes: small text and pictures, which a clone brings along."""


class Read(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.pictures, self.scripts, self.heads = Counter(), [], [], [], Counter()
        self.script, self.policy = None, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert not [name for name in given if name.startswith("on")], given
        self.heads[tag] += 1
        if "id" in given:
            self.ids[given["id"]] += 1
        if tag == "a":
            self.links.append(given["href"])
        if tag == "img":
            self.pictures.append((given["src"], given["alt"]))
        if tag == "script":
            self.script = given.get("type", "")
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]

    def handle_endtag(self, tag):
        if tag == "script":
            self.script = None

    def handle_data(self, data):
        if self.script is not None:
            self.scripts.append((self.script, data))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        committed_pictures(patch)
        yield written(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def read(site):
    return {path: Read(path.read_text(encoding="utf-8")) for path in sorted(site[0].rglob("*.html"))}


def test_every_link_is_there_without_a_network_and_one_script_runs_that_the_page_allows(read):
    ids = {path: set(page.ids) for path, page in read.items()}
    checked = 0
    for path, page in read.items():
        assert path.stat().st_size < LARGEST_PAGE and page.policy.startswith("default-src 'none'"), path.name
        assert not [name for name, times in page.ids.items() if times > 1], path.name
        for link in [*page.links, *(source for source, _ in page.pictures)]:
            assert not re.match(r"[a-z]+:|//", link), "no page asks for the network"
            file, _, place = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), f"{path.name}: {link}"
            if place:
                assert unquote(place) in ids[target], f"{path.name}: {link}"
            checked += 1
    assert checked > 600
    for page in read.values():
        (own,) = [text for kind, text in page.scripts if kind != "application/json"]
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in page.policy
        for kind, text in page.scripts:
            assert kind != "application/json" or json.loads(text) is not None


@pytest.mark.parametrize("name", pages.SCRIPTS)
def test_scripts_make_no_markup_of_text(name):
    script = (pages.HERE / name).read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttp", script)


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_every_statement_and_every_drawn_figure_has_its_place(paper, site, read):
    folder, reference = site
    text = (folder / f"{paper}.md").read_text()
    assert all(f"| {statement.words}" in text for statement in statements(paper))
    drawn = {sheet.figure.name for sheet in figures.sheets(paper, reference)}
    linked = {link for link in read[folder / f"{paper}.html"].links if link.startswith(f"{paper}/")}
    assert {f"{paper}/{name}.html" for name in drawn} <= linked
    rows = 0
    for link in linked:
        page = read[folder / link]
        name = link.removeprefix(f"{paper}/").removesuffix(".html")
        assert all(len(alt) > 20 for _, alt in page.pictures) and bool(page.pictures) == (name in drawn)
        text = (folder / link).with_suffix(".md").read_text().replace("&#95;", "_")
        rows += len(re.findall(rf"(?m)^\| {re.escape(name)}/\S+ \| \w+ \| \d+ \|", text))
    assert rows == len(reference.headers(paper)), "every run has its row"


def test_the_index_counts_the_answers_and_links_every_paper(site, read):
    folder, reference = site
    text = (folder / "index.md").read_text()
    assert {f"{paper}.html" for paper in CATALOGUE.papers()} <= set(read[folder / "index.html"].links)
    for paper in CATALOGUE.papers():
        part = text[text.index(f"({paper}.md)") :].partition("\n## ")[0]
        counted = Counter(re.findall(r"(?m)^- \*\*(.+?)\*\*: ", part))
        assert counted == {word: n for word, n in compare(paper, [reference]).counts.items() if n}
        assert set(counted) <= set(WORDS)


def test_what_did_not_change_is_not_written_again_and_it_says_how_far_it_is(site):
    folder, reference = site
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    (folder / "task_hinting" / "an-earlier-figure.html").write_text("old")
    told = []
    pages.write(
        ["task_hinting"], lambda paper: [reference], folder.parent.parent,
        lambda what: lambda *of: told.append((what, *of)),
    )  # fmt: skip
    number = len([*(folder / "task_hinting").glob("*.md")])
    assert told[-1] == ("pages of task_hinting written", number, number)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    assert after == before


def page_of(*runs):
    held = {}
    for one in runs:
        held.setdefault(one.experiment, []).append(one)
    return pages.rendered("\n\n".join(["# t", *pages.exact_counts(None, (), held), *pages.sections(held)]))


def test_maps_and_curves_of_a_page_are_those_of_the_run_and_nothing_becomes_markup():
    nasty = run("coupling/fig1/a", spec(), attention=dataclasses.replace(looking(), tokens=(NASTY,) * 13))
    info = {**nasty.info, "device": NASTY, "commit": NASTY}
    nasty = dataclasses.replace(nasty, experiment=f"coupling/fig1/{NASTY}", info=info, metrics=((1, NASTY, 0.5),))
    text = page_of(nasty)
    assert NASTY not in text and "onerror=alert" in text
    found = Read(text)
    assert found.heads["img"] == 0 and len([1 for kind, _ in found.scripts if kind != "application/json"]) == 1
    (trained,) = (json.loads(text) for kind, text in found.scripts if kind and "0.5" in text)
    assert trained == {f"fig1/{NASTY}": {NASTY: [[0, [[1, 0.5]]]]}}
    made = run(
        "a", spec(), attention=looking(), metrics=((1, "loss", 2.0), (2, "loss", float("nan")), (3, "loss", 1.0))
    )
    held = attention(made)
    average, alone = (base64.b64decode(one["weights"]) for one in held["maps"])
    assert held["shape"] == [2, 2, 13, 13] and len(average) == 2 * 2 * 13 * 13 and set(average) == {0, 255}
    assert alone == looking().examples[0].weights.tobytes() != average
    assert [one["name"] for one in held["maps"]] == ["average of 20", "".join(looking().examples[0].tokens)]
    assert curves([made]) == {"loss": [(0, [(1, 2.0), (3, 1.0)])]}
    long = run("a", spec(), 4, metrics=tuple((step, "loss", 1.0) for step in range(1, 2001)))
    ((mine, few), (other, fewer)) = curves([made, long])["loss"]
    assert (mine, len(few), other) == (0, 2, 4) and (fewer[0][0], fewer[-1][0]) == (1, 2000)
    apart = [math.log(after / before) for (before, _), (after, _) in itertools.pairwise(fewer)]
    assert 10 < len(fewer) <= 26 and max(apart) < 0.7 + min(apart), "apart on a logarithmic axis"
    assert attention(run("b", spec())) is None


def test_every_experiment_has_a_row_with_its_values_or_why_not():
    declared = CATALOGUE.experiments("matrix")
    stored = {"store": "reference"}
    done = [run(declared[0].name, spec(), seed, rate) for seed, rate in enumerate((0.2, 0.5, 0.9))]
    done = [dataclasses.replace(one, **stored) for one in done]
    first, *others = experiments(declared, {declared[0].name: done})
    inside, outside = accuracies(done[1])
    assert first[:6] == (declared[0].figure, declared[0].variant, inside, "50.0 %", "not learned", outside), "medians"
    assert first[6:] == ("", "", "", "cpu size, 3 seeds, reference runs")
    took = {"parameters": 83136, "tokens_per_second": 1e5, "seconds_training": 20.0, "seconds": 1234.5}
    learned = [run(declared[0].name, spec(), seed, 1.0) for seed in range(3)]
    learned = [dataclasses.replace(one, info={**one.info, **took}, **stored) for one in learned]
    (other,) = experiments(declared[:1], {declared[0].name: learned})
    assert (other[4], other[6:9]) == ("learned", ("83,136", "2", "1,234"))
    (mixed,) = experiments(declared[:1], {declared[0].name: [*done[:2], learned[0]]})
    assert mixed[4] == "not learned", "as pictures colour it"
    for row, item in zip(others, declared[1:], strict=True):
        assert row[2:9] == ("", "", "not run" if item.specs else "refused", "", "", "", "")
        assert row[9] == "not run" if item.specs else row[9].startswith("refused: ")


def test_what_a_figure_lacks_is_what_its_size_has_and_nobody_ran(tmp_path):
    figure = next(figure for figure in CATALOGUE.figures("matrix") if figure.name == "sorting")
    at_night = [item.name for item in CATALOGUE.experiments("matrix") if item.name in figure.reads and item.specs]
    assert len(at_night) < len(figure.reads), "what is refused has no size"
    done = {name: [run(at_night[0], spec(), 0, 0.5)] if name == at_night[0] else [] for name in figure.reads}
    assert figures.Sheet(tmp_path / "sorting-night", figure, done).missing == len(at_night) - 1


def test_counts_of_a_page_are_those_of_the_runs_also_of_one_that_tested_nothing():
    runs = [run("coupling/fig1/a", spec(), seed, 0.3 * seed) for seed in range(3)]
    found = counts("fig1/a", runs)
    assert found["cells"][0] == [1, 2] and len(found["cells"]) == 12 == len(found["inside"])
    assert found["inside"] == [int(length <= 2 and count <= 3) for length, count in found["cells"]]
    assert [seed["right"][0] for seed in found["modes"]["free_running"]] == [0, 30, 60]
    assert {n for seed in found["modes"]["teacher_forced"] for n in seed["n"]} == {100}
    empty = dataclasses.replace(run("coupling/fig1/a", spec()), grid=Grid(("length",)))
    assert "not tested" in page_of(empty)
    made = run("coupling/fig1/a", spec(), 0, 0.3)
    for modes in made.grid.scores.values():
        modes["free_running"] = Counts({**modes["free_running"], "edit_sum": 12, "reference_tokens": 40})
        for mode in ("teacher_forced", "sampled"):
            modes[mode].pop("edit_sum", None)
    per_token, per_response = counts("fig1/a", [made], "edit"), counts("fig1/a", [made], "edit_sum")
    assert [*per_token["modes"]] == [*per_response["modes"]] == ["free_running"]
    for found, among in ((per_token, 40), (per_response, 100)):
        (seed,) = found["modes"]["free_running"]
        assert {*seed["right"]} == {12} and {*seed["n"]} == {among}


def test_runs_of_ones_own_stand_beside_those_of_the_project(tmp_path, monkeypatch):
    committed_pictures(monkeypatch)
    reference = Reference(results_root())
    (stored,) = reference.of("coupling/thm4.1/construction", "night")
    one = dataclasses.replace(stored, profile="cpu")
    mine_alone = dataclasses.replace(one, store="local")

    class Mine(Store):
        def headers(self, paper=None, profile=None, holding=None):
            return [mine_alone] if paper in (None, "coupling") and profile in (None, "cpu") else []

        def of(self, experiment, profile):
            return [mine_alone] if (experiment, profile) == (one.experiment, one.profile) else []

        def made(self, experiment, profile):
            return iter(self.of(experiment, profile))

        def load(self, header):
            return header

        def folder(self, run):
            return self.path

    local = Mine(tmp_path, "local")
    index = pages.write(["coupling"], lambda paper: [reference, local], tmp_path, quiet)
    assert "coupling-local.html" in Read((index.parent / "coupling.html").read_text()).links
    page = Read((index.parent / "coupling" / "thm4.1.html").read_text())
    assert any("reference/" in source for source, _ in page.pictures)
    assert any("Size cpu, local runs" in alt and source.startswith("../../coupling/") for source, alt in page.pictures)
    text = (index.parent / "coupling" / "thm4.1.md").read_text()
    assert "| cpu | 0 |" in text and "| night | 0 |" in text
    other = Read(index.read_text())
    assert "bias_calibration.html" not in other.links
    assert "python -m reproduce report bias_calibration" in index.read_text()


@pytest.fixture(scope="module")
def files() -> dict[Path, str]:
    return publication.files(ROOT)


@pytest.fixture(scope="module")
def known() -> overview_picture.Facts:
    return overview_picture.gather(ROOT)


@pytest.fixture(scope="module")
def citation() -> dict:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_committed_files_and_cards_of_models_are_what_promote_would_write(files, known):
    stale = [str(path.relative_to(ROOT)) for path, text in files.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "python -m reproduce.generated_files writes them anew"
    there = {*RESULTS.glob("badges/*"), *RESULTS.glob("reference/**/README.md"), *REPORTS}
    assert there <= set(files), "a file that nothing writes any more"
    cards = {
        path.parent: text
        for path, text in files.items()
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


def test_comparison_badge_recipe_and_crate_say_what_was_found(known, monkeypatch):
    for paper, found in known.compared.items():
        path = known.reference.path / paper / "comparison.md"
        assert comparison.page(found) == path.read_text(encoding="utf-8")
    assert (
        ElementTree.fromstring(publication.badge("a < b", '"c" & d', publication.OPEN)).get("aria-label")
        == 'a < b: "c" & d'
    )
    picture = ElementTree.fromstring(
        publication.claims([line for found in known.compared.values() for line in found.lines])
    )
    shown = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert ": ".join(shown) == picture.get("aria-label") == picture.findtext("{http://www.w3.org/2000/svg}title")
    assert re.fullmatch(r"\d+ of \d+ within 5 points", shown[1])
    (recipe,) = re.findall(r"(?:^    .+\n)+", (RESULTS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    monkeypatch.chdir(ROOT)
    printed: list = []
    exec(textwrap.dedent(recipe), {"print": printed.append})
    counted = {(n, w): c for n, found in known.compared.items() for w, c in found.counts.items() if c}
    assert printed[0].to_dict() == counted
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


def entities() -> dict[str, dict]:
    graph = json.loads((ROOT / "ro-crate-metadata.json").read_text(encoding="utf-8"))["@graph"]
    assert len({entity["@id"] for entity in graph}) == len(graph)
    return {entity["@id"]: entity for entity in graph}


def references(value: object) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in references(item)]
    return [value["@id"]] if isinstance(value, dict) else []


def test_what_is_committed_of_results_is_small_and_described():
    sizes = {path: path.stat().st_size for path in RESULTS.rglob("*") if path.is_file()}
    committed = {path: size for path, size in sizes.items() if path.relative_to(RESULTS).parts[0] != "local"}
    largest = sorted(committed, key=committed.__getitem__, reverse=True)[:10]
    assert sum(committed.values()) < LARGEST_RESULTS, f"the largest are {[str(path) for path in largest]}"
    described = (RESULTS / "README.md").read_text(encoding="utf-8").partition("## Columns")[2]
    for name in ("published.csv", "statements.csv"):
        columns = (RESULTS / name).read_text(encoding="utf-8").partition("\n")[0].split(",")
        assert not [column for column in columns if f"`{column}`" not in described], name
    assert (ROOT / "ro-crate-metadata.json").stat().st_size < LARGEST_CRATE
    known = entities()
    assert known["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    for entity in known.values():
        for name, value in entity.items():
            if (entity["@id"], name) != ("ro-crate-metadata.json", "conformsTo"):
                assert set(references(value)) <= set(known), f"{entity['@id']} {name}"
    for part in references(known["./"]["hasPart"]):
        assert (ROOT / part).exists(), part


def test_reports_have_all_blocks_and_by_hand_no_measured_number():
    assert {path.parent.name for path in REPORTS} >= {
        name for name in CATALOGUE.papers() if CATALOGUE.paper(name).arxiv
    }
    for path in REPORTS:
        text = path.read_text(encoding="utf-8")
        kinds = [found["kind"] for found in blocks.BLOCK.finditer(text)]
        assert set(kinds) >= {"identity", "claims", "held", "failed", "undecided", "cost"}, path
        assert len(kinds) == len(set(kinds)), path
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert target.startswith("https://") or (path.parent / target).exists(), f"{path} links to {target}"
        by_hand = blocks.BLOCK.sub("", text)
        assert not re.search(r"\b[01]\.\d|\d ?%|\breproduced\b|\bundecided\b|\bcannot tell\b", by_hand), path
    sections = (ROOT / "docs/gallery.md").read_text(encoding="utf-8").split("\n### ")
    listed = {text.partition(":")[0]: "Published beside ours" in text for text in sections}
    assert listed["Figure 3.6"] and listed["Table 2"]
    assert not any(listed[f"Figure {number}"] for number in ("3.7", "3.8", "3.9", "4.15", "4.16"))


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


def test_only_what_changed_is_written(known, tmp_path):
    paper = next(iter(known.compared))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    folder = tmp_path / "results" / "reference" / paper
    folder.mkdir(parents=True)
    refused(StoreError, "results/reference holds no finished run of a paper", publication.write, tmp_path)
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

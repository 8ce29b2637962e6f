"""The report is one site: complete, closed to the network, every link leads somewhere, nothing in it runs but its own
script, and what did not change is not written again."""

import base64
import dataclasses
import hashlib
import itertools
import json
import math
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest

from lengen.results.records import Counts, Grid
from reproduce.comparison.compare import compare
from reproduce.comparison.recorded import WORDS
from reproduce.comparison.statements import statements
from reproduce.output import figures
from reproduce.output.site import experiment_lines, pages
from reproduce.output.site.figure_cards import Drawn, figure_card
from reproduce.output.site.run_records import attention, counts, curves
from reproduce.output.site.statement_cards import dots, slug, statement_cards
from reproduce.runs.accuracy import accuracies
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.locations import results_root
from reproduce.store.reference import Reference
from reproduce.store.store import Store
from tests.fixtures.drawings import attention as looking
from tests.fixtures.drawings import run, spec
from tests.fixtures.site import committed_pictures, quiet, written

pytestmark = pytest.mark.slow

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
LARGEST_PAGE = 3 * 10**6


class Read(HTMLParser):
    """What a page holds: ids, links, pictures, scripts."""

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
    """The site of all committed runs, written once."""
    with pytest.MonkeyPatch.context() as patch:
        committed_pictures(patch)
        yield written(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def read(site):
    """Every page of it."""
    return {path: Read(path.read_text(encoding="utf-8")) for path in sorted(site[0].rglob("*.html"))}


def test_every_link_picture_and_place_is_there_without_a_network(read):
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
    assert checked > 1000


def test_one_script_runs_and_it_is_the_one_that_the_page_allows(read):
    for page in read.values():
        (own,) = [text for kind, text in page.scripts if kind != "application/json"]
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in page.policy
        for kind, text in page.scripts:
            assert kind != "application/json" or json.loads(text) is not None


@pytest.mark.parametrize("name", sorted({name for some in pages.SCRIPTS.values() for name in some}))
def test_scripts_make_no_markup_of_text(name):
    script = (pages.HERE / name).read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttp", script)


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_every_statement_and_every_drawn_figure_stands_on_its_page_once(paper, site, read):
    folder, reference = site
    page = read[folder / f"{paper}.html"]
    said = [f"statement-{slug(one.id)}" for one in statements(paper)]
    assert said and [page.ids[name] for name in said] == [1] * len(said)
    drawn = {sheet.figure.name for sheet in figures.sheets(paper, reference)}
    assert {name.removeprefix("figure-") for name in page.ids if name.startswith("figure-")} == drawn
    alts = [alt for _, alt in page.pictures]
    assert all(len(alt) > 30 for alt in alts) and len(set(alts)) == len(alts), "each says what it shows itself"
    assert sum("Found: " in alt or "No statement" in alt for alt in alts) == len(drawn), "the first of a card says more"
    headers = {f"runs/{path.name}" for path in (folder / "runs").glob(f"{paper}.*")}
    assert len(headers) == len(reference.headers(paper)) and headers <= set(page.links)


def test_the_index_has_a_score_card_for_every_paper(site, read):
    folder, reference = site
    text = (folder / "index.html").read_text()
    assert {f"{paper}.html" for paper in CATALOGUE.papers()} <= set(read[folder / "index.html"].links)
    for paper in CATALOGUE.papers():
        part = text[text.index(f'id="paper-{paper}"') :].partition("</section>")[0]
        found = compare(paper, [reference])
        cells = re.search(r"reference</th>(.*?)</tr>", part, re.S)[1]
        numbers = [int(n) for n in re.findall(r">(\d+)</td>", cells)]
        assert numbers == [found.score.within_2, *(found.counts[word] for word in WORDS)]


def test_what_did_not_change_is_not_written_again_and_it_says_how_far_it_is(site):
    folder, reference = site
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    left = folder / "runs" / "task_hinting.of.an-earlier.run.html"
    left.write_text("old")
    told = []
    pages.write(
        ["task_hinting"],
        lambda paper: [reference],
        folder.parent.parent,
        lambda what: lambda *of: told.append((what, *of)),
    )
    number = len(reference.headers("task_hinting"))
    assert told[-1] == ("run pages of task_hinting written", number, number)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    assert after == before


def test_nothing_that_a_run_says_becomes_markup():
    nasty = run("coupling/fig1/a", spec(), attention=dataclasses.replace(looking(), tokens=(NASTY,) * 13))
    info = {**nasty.info, "command": NASTY, "notes": [NASTY], "versions": {NASTY: NASTY}, "scalars": {NASTY: 1}}
    nasty = dataclasses.replace(nasty, experiment=f"coupling/fig1/{NASTY}", info=info, metrics=((1, NASTY, 0.5),))
    page = {"file": "coupling.html", "title": NASTY, "statements": []}
    text = pages.render_run(nasty, page)
    assert NASTY not in text and "onerror=alert" in text
    found = Read(text)
    assert found.heads["img"] == 0 and len([1 for kind, _ in found.scripts if kind != "application/json"]) == 1
    assert json.loads(next(text for kind, text in found.scripts if NASTY in json.loads(text)))[NASTY] == [
        [0, [[1, 0.5]]]
    ]


def test_every_experiment_has_a_line_with_its_values_or_why_not():
    declared = CATALOGUE.experiments("matrix")
    done = [run(declared[0].name, spec(), seed, rate) for seed, rate in enumerate((0.2, 0.5, 0.9))]
    first, *others = experiment_lines.lines(declared, {declared[0].name: {("reference", "cpu"): done}})
    assert (first.second, first.third) == (declared[0].figure, declared[0].variant)
    assert (first.inside, first.outside) == accuracies(done[1]), "the median"
    assert (first.longest, first.state, first.took) == ("50.0 %", "not learned", ("", "", ""))
    took = {"parameters": 83136, "tokens_per_second": 1e5, "seconds_training": 20.0, "seconds": 1234.5}
    learned = [run(declared[0].name, spec(), seed, 1.0) for seed in range(3)]
    learned = [dataclasses.replace(one, info={**one.info, **took}) for one in learned]
    (other,) = experiment_lines.lines(declared[:1], {declared[0].name: {("reference", "cpu"): learned}})
    assert (other.state, other.took) == ("learned", ("83,136", "2", "1,234"))
    one_of_three = {declared[0].name: {("reference", "cpu"): [*done[:2], learned[0]]}}
    assert experiment_lines.lines(declared[:1], one_of_three)[0].state == "not learned", "as pictures colour it"
    assert first.size == "cpu size, 3 seeds, reference runs" and len(first.runs) == 3
    for line, item in zip(others, declared[1:], strict=True):
        state = "not run" if item.specs else "refused"
        assert (line.inside, line.outside, line.runs, line.state) == ("", "", (), state)
        assert line.size == "not run" if item.specs else line.size.startswith("refused: ")


def test_what_a_figure_lacks_is_what_its_size_has_and_nobody_ran():
    figure = next(figure for figure in CATALOGUE.figures("matrix") if figure.name == "sorting")
    at_night = [item.name for item in CATALOGUE.experiments("matrix") if item.name in figure.reads and item.specs]
    assert len(at_night) < len(figure.reads), "what is refused has no size"
    done = {name: [run(at_night[0], spec(), 0, 0.5)] if name == at_night[0] else [] for name in figure.reads}
    drawn = Drawn("reference", figures.Sheet(Path("sorting-night"), figure, done), "sorting.svg", 10, 10)
    (picture,) = figure_card(figure, [drawn], [], {}).pictures
    assert picture.sheet.missing == len(at_night) - 1


def test_counts_of_a_page_are_those_of_the_runs():
    runs = [run("coupling/fig1/a", spec(), seed, 0.3 * seed) for seed in range(3)]
    found = counts("fig1/a", runs)
    assert found["cells"][0] == [1, 2] and len(found["cells"]) == 12 == len(found["inside"])
    assert found["inside"] == [int(length <= 2 and count <= 3) for length, count in found["cells"]]
    assert [seed["right"][0] for seed in found["modes"]["free_running"]] == [0, 30, 60]
    assert {n for seed in found["modes"]["teacher_forced"] for n in seed["n"]} == {100}


def test_edits_of_a_page_are_those_of_the_modes_that_count_them():
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


def test_maps_and_curves_of_a_page_are_those_of_the_run():
    made = run(
        "a", spec(), attention=looking(), metrics=((1, "loss", 2.0), (2, "loss", float("nan")), (3, "loss", 1.0))
    )
    held = attention(made)
    average, alone = (base64.b64decode(one["weights"]) for one in held["maps"])
    assert held["shape"] == [2, 2, 13, 13] and len(average) == 2 * 2 * 13 * 13 and set(average) == {0, 255}
    assert alone == looking().examples[0].weights.tobytes() != average
    assert [one["name"] for one in held["maps"]] == ["average of 20", "".join(looking().examples[0].tokens)]
    assert curves(made) == {"loss": [(0, [(1, 2.0), (3, 1.0)])]}
    long = run("a", spec(), 4, metrics=tuple((step, "loss", 1.0) for step in range(1, 2001)))
    ((mine, few), (other, fewer)) = curves(made, [long])["loss"][0], curves(made, [long])["loss"][1]
    assert (mine, len(few), other) == (0, 2, 4) and (fewer[0][0], fewer[-1][0]) == (1, 2000)
    apart = [math.log(after / before) for (before, _), (after, _) in itertools.pairwise(fewer)]
    assert 10 < len(fewer) <= 26 and max(apart) < 0.7 + min(apart), "apart on a logarithmic axis"
    assert attention(run("b", spec())) is None


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_dots_are_all_seeds_of_the_comparisons_behind_an_answer(paper, site):
    _, reference = site
    found = compare(paper, [reference])
    cards = statement_cards({"reference": found})
    assert [card.statement.id for card in cards] == [answer.statement.id for answer in found.answers]
    for card, answer in zip(cards, found.answers, strict=True):
        assert card.answer is answer
        for finding in answer.findings:
            shown, sides = dots(finding), (*finding.left, *finding.right)
            assert [(len(one.places), len(one.hollow)) for one in shown] == [
                (len(one.seeds), len(one.hollow)) for one in sides
            ]
            places = [place for one in shown for place in (*one.places, *one.hollow, *one.interval, *one.required)]
            assert all(0 <= place <= 1 for place in places)


def test_nothing_that_a_statement_says_becomes_markup(site):
    _, reference = site
    found = compare("coupling", [reference])
    answer = found.answers[0]
    said = msgspec.structs.replace(answer.statement, words=NASTY, quote=NASTY)
    found = dataclasses.replace(found, answers=(dataclasses.replace(answer, statement=said),))
    card = pages.index_card("toy", NASTY, {"reference": found}, "toy.html")
    text = pages.render("index.html", cards=[card], title="t", picture="", said="")
    assert NASTY not in text and Read(text).heads["img"] == 0


def test_a_run_that_tested_nothing_has_a_page():
    empty = dataclasses.replace(run("coupling/fig1/a", spec()), grid=Grid(("length",)))
    page = {"file": "coupling.html", "title": "t", "statements": []}
    assert "not tested" in pages.render_run(empty, page)


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

        def load(self, header):
            return header

    local = Mine(tmp_path, "local")
    index = pages.write(["coupling"], lambda paper: [reference, local], tmp_path, quiet)
    text = (index.parent / "coupling.html").read_text()
    page = Read(text)
    mine = [link for link in page.links if link.endswith(".local.html")]
    assert mine and all((index.parent / link).is_file() for link in mine)
    assert "Size cpu, local runs" in text and '<th scope="row">local</th>' in text
    assert any("local.thm4.1" in source for source, _ in page.pictures)
    other = Read(index.read_text())
    assert (
        "bias_calibration.html" not in other.links
        and "python -m reproduce report bias_calibration" in index.read_text()
    )

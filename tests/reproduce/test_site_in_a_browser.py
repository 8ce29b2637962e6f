"""The site as a reader meets it, in headless Chromium if there is one."""

import json
import os
import re
from pathlib import Path

import pytest
from matplotlib.colors import to_hex

from lengen.plotting import LOOKS
from lengen.plotting import medians as curve_medians
from lengen.plotting import values as curve_values
from lengen.plotting.grid import cell_medians
from reproduce.catalogue import CATALOGUE
from reproduce.store.reference import Reference
from tests.fixtures.site import MISSING, Browser, committed_pictures, written

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
AXE = os.environ.get("AXE", "")
"""The file axe.min.js of the package axe-core: npm pack axe-core."""
REFERENCE = Reference(Path(__file__).parents[2] / "results")
DESK, PHONE = (1280, 900), (390, 844)
ROWS = "[...document.querySelectorAll('main details table')].at(-1)"
"""The table of a paper's experiments."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        committed_pictures(patch)
        return written(tmp_path_factory.mktemp("results"))[0]


@pytest.fixture(scope="module")
def open_browser():
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(open_browser):
    """At the size of a desk, and without a word in the console when the test ends."""
    open_browser.size(*DESK)
    open_browser.complaints()
    yield open_browser
    assert open_browser.complaints() == []


def pages(site: Path) -> list[Path]:
    """The index, the pages of the papers, and figures with a map, with curves, with a table and with attention."""
    figures = ("coupling/fig1", "task_hinting/fig3.6", "bias_calibration/table1", "coupling/thm4.1")
    return [*sorted(site.glob("*.html")), *(site / f"{name}.html" for name in figures)]


def test_every_page_opens_from_the_disk_and_its_pictures_are_there(site, browser):
    for path in pages(site):
        browser.open(path)
        assert browser.run("return document.querySelector('h1').textContent").strip()
        browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        browser.run("return Promise.all([...document.images].map(i => { i.loading = 'eager'; return i.decode(); }))")
        assert browser.run("return [...document.images].filter(i => !i.naturalWidth).length") == 0, path.name


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_scrolls_sideways(site, browser, size):
    browser.size(*size, phone=size == PHONE)
    for path in pages(site):
        browser.open(path)
        browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert browser.run("return document.documentElement.scrollWidth") <= size[0], path.name


def test_experiments_are_left_by_the_words_of_their_rows_and_sorted_by_a_heading(site, browser):
    browser.open(site / "matrix.html")
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    choose = f"""
        const table = {ROWS}, field = [...document.querySelectorAll('input[type=search]')].at(-1);
        field.value = arguments[0]; field.dispatchEvent(new Event('input'));
        const left = [...table.tBodies[0].rows].filter(row => !row.hidden);
        return left.map(row => row.cells[0].textContent + '/' + row.cells[1].textContent);"""
    names = [f"{item.figure}/{item.variant}" for item in CATALOGUE.experiments("matrix")]
    assert browser.run(choose, "") == names
    left = browser.run(choose, "refused")
    assert 0 < len(left) < len(names) and set(left) < set(names)
    assert browser.run(choose, "") == names
    browser.open(site / "coupling.html")
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    column = f"return [...{ROWS}.tBodies[0].rows].map(r => r.cells[2].textContent)"
    press = f"const h = {ROWS}.tHead.rows[0].cells[2]; h.querySelector('button').click();"
    was = browser.run(column)
    for order in ("descending", "ascending"):
        assert browser.run(press + "return h.getAttribute('aria-sort')") == order
        found = browser.run(column)
        told = [text for text in found if text]
        shares = [float(text.partition(" ")[0]) for text in told if text[0].isdigit()]
        assert shares == sorted(shares, reverse=order == "descending") != [] and sorted(found) == sorted(was)
        assert found[: len(told)] == told, "what has no value is last"


def test_maps_have_the_numbers_of_the_picture_and_edit_distances_no_percent(site, browser):
    browser.open(site / "coupling" / "fig1.html")
    cells = "[...document.querySelectorAll('.grid tr')].slice(0, -1)"
    shown = browser.run(f"return {cells}.map(row => [...row.cells].slice(1).map(cell => cell.textContent))")
    name = browser.run("return document.querySelectorAll('.explorer select')[1].selectedOptions[0].text")
    drawn = cell_medians(REFERENCE.of(f"coupling/{name}", "night"), "teacher_forced", "correct")
    assert shown == [[f"{value:.0f}" for value in row] for row in (100 * drawn).round().to_numpy()]
    browser.open(site / "task_hinting" / "fig3.7.html")
    shown = browser.run("return [...document.querySelectorAll('.grid td')].map(cell => cell.textContent)")
    told = browser.run("return [...document.querySelectorAll('.grid td')].map(c => c.getAttribute('aria-label'))")
    figure = next(one for one in CATALOGUE.figures("task_hinting") if one.name == "fig3.7")
    drawn = cell_medians(REFERENCE.of(figure.reads[0], "night"), "free_running", "edit_sum").to_numpy().flatten()
    assert [float(text) for text in shown] == pytest.approx(drawn, abs=0.051) and max(drawn) > 1
    assert not any("%" in text or "right" in text for text in told)


def test_curves_have_the_numbers_and_colours_of_the_picture_and_seeds_over_one_another(site, browser):
    browser.open(site / "coupling" / "fig3.html")
    told = browser.run(
        "return [...document.querySelectorAll('.explorer .plot circle')].map(c => c.getAttribute('aria-label'))"
    )
    found = curve_medians(curve_values(REFERENCE.of("coupling/fig3/coupling-scratchpad", "night"), "answer_token"))
    name = "scratchpad, Position coupling, length "
    seen = [text.removeprefix(name).split(";")[0] for text in told if text.startswith(name)]
    assert seen == [f"{length}: median {100 * value:.1f} %" for length, value in found.items()]
    colours = browser.run(
        "return [...document.querySelectorAll('.explorer .plot circle')].map(c => c.getAttribute('fill'))"
    )
    assert colours[0] == to_hex(LOOKS["Position coupling"].colour)
    browser.open(site / "coupling" / "fig1.html")
    name = browser.run("return document.querySelector('#training-curves select').value")
    count = len(REFERENCE.of(f"coupling/{name}", "night"))
    assert browser.run("return document.querySelectorAll('#training-curves .seed').length") == count - 1 > 0
    assert browser.run("return document.querySelectorAll('#training-curves polyline:not(.seed)').length") == 1
    told = browser.run("return document.querySelector('#training-curves .said').textContent")
    choose = "const s = document.querySelectorAll('#training-curves select')[0]; s.selectedIndex = 1;"
    browser.run(choose + "s.dispatchEvent(new Event('input'))")
    assert told.startswith("Thick: seed 0; thin: seeds 1")
    assert browser.run("return document.querySelectorAll('#training-curves select')[1].value") == "train_loss"
    browser.open(site / "coupling" / "fig3.html")
    thin = "return document.querySelectorAll('.explorer .seed').length"
    thick = "return document.querySelectorAll('.explorer polyline:not(.seed)').length"
    boxes = "const b = document.querySelectorAll('.explorer input[type=checkbox]');"
    seeds, lines = browser.run(thin), browser.run(thick)
    assert seeds >= lines > 0
    browser.run(boxes + "b[b.length - 1].click()")
    assert (browser.run(thin), browser.run(thick)) == (0, lines)
    browser.run(boxes + "b[0].click()")
    assert browser.run(thick) == lines - 1


def test_a_cell_says_its_counts_by_hover_and_by_keyboard(site, browser):
    browser.open(site / "coupling" / "thm4.1.html")
    browser.hover(".grid td")
    first = browser.run("return document.querySelector('.said').textContent")
    assert re.fullmatch(r"length \d+, count \d+: \d+ of \d+ right, [\d.]+ %, (not )?trained", first)
    browser.run("document.querySelector('.grid td').focus()")
    browser.press("ArrowRight", "ArrowDown")
    second = browser.run("return document.querySelector('.said').textContent")
    assert second != first and second == browser.run("return document.activeElement.getAttribute('aria-label')")


def test_the_attention_viewer_tells_weights_of_heads_and_of_single_examples(site, browser):
    browser.open(site / "coupling" / "fig1.html")
    said = "return document.querySelector('#attention-viewer .said').textContent"
    heads = "[...document.querySelectorAll('.heads button')]"
    names = browser.run(f"return {heads}.map(button => button.textContent)")
    assert names[:2] == ["layer 1, head 1", "layer 1, head 2"]
    browser.run(f"{heads}[1].click()")
    assert browser.run(f"return {heads}.map(b => b.getAttribute('aria-pressed') === 'true').indexOf(true)") == 1
    assert re.match(r"layer 1, head 2: query '.' \(\d+\) to key '.' \(1\): ", browser.run(said))
    before = browser.run(said)
    browser.run("document.querySelector('canvas[tabindex]').focus()")
    browser.press("ArrowUp", "ArrowRight")
    assert browser.run(said) != before and re.search(r"\): [01]\.\d{3}$", browser.run(said))
    browser.hover("canvas[tabindex]")
    assert browser.run(said) != before
    browser.open(site / "coupling" / "fig1.html")
    run = "const r = document.querySelector('#attention-viewer select'); r.value = arguments[0];"
    browser.run(run + "r.dispatchEvent(new Event('input'))", "fig1/coupling-scratchpad, night, seed 0, reference")
    names = browser.run("return [...document.querySelectorAll('#attention-viewer select')[1].options].map(o => o.text)")
    assert names[0].startswith("average of ") and len(names) == 4 and all(name.startswith("$") for name in names[1:])
    seen = "return document.querySelector('canvas[tabindex]').toDataURL()"
    choose = "const s = document.querySelectorAll('#attention-viewer select')[1]; s.value = '2';"
    before = browser.run(seen)
    browser.run(choose + "s.dispatchEvent(new Event('input'))")
    assert browser.run(seen) != before


@pytest.mark.skipif(not AXE, reason="needs AXE=path of axe.min.js, from the npm package axe-core")
@pytest.mark.parametrize(("scheme", "rules"), [("light", "all"), ("dark", ["color-contrast"])], ids=["light", "dark"])
def test_an_audit_of_accessibility_finds_nothing_serious(site, browser, scheme, rules):
    """In the dark only colours are others, and every page has the same ones."""
    audited = pages(site)
    browser.tell("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    audit = Path(AXE).read_text()
    asked = {"resultTypes": ["violations"], **({} if rules == "all" else {"runOnly": rules})}
    told = f"return axe.run({json.dumps(asked)}).then(r => r.violations.map(v => [v.impact, v.id, v.nodes[0].html]))"
    for path in audited if rules == "all" else [*audited[:2], audited[-1]]:
        browser.open(path)
        browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        browser.run(audit)
        found = browser.run(told)
        assert [item for item in found if item[0] in ("serious", "critical")] == [], path.name
    browser.tell("Emulation.setEmulatedMedia", {"features": []})

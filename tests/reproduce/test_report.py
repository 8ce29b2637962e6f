"""The report: complete, closed to the network, and nothing in it runs but its own script."""

import re

from reproduce.comparison.tables import Row
from reproduce.output import report
from tests.reproduce.drawn import run, spec

NASTY = "<script>alert(1)</script>"


def row(**values) -> Row:
    known = {"kind": "claim", "id": "c1", "place": "Fig. 1", "statement": "it adds", "relation": ">", "published": 0.5}
    known |= {"aggregation": "median", "profile": "cpu", "verdict": "reproduced", "ours": 0.75}
    return Row(**(known | values))


def page(rows=None, runs=(), pictures=()) -> str:
    return report.render("coupling", rows or {"reference": [row()]}, pictures, runs, {"D1": f"smaller {NASTY}"})


def test_rows_runs_figures_and_deviations_are_on_the_page():
    text = page(
        {"reference": [row(ci_low=0.7, ci_high=0.8, n=100, seeds=3)]},
        [run("coupling/fig1/a", spec())],
        [report.Picture("fig1: adding (cpu profile)", "reference", b"<svg/>")],
    )
    for part in (
        "it adds",
        "0.7500 [0.7000, 0.8000]",
        "n 100, seeds 3",
        "coupling/fig1/a cpu seed 0 v1",
        "fig1: adding",
    ):
        assert part in text
    assert "all claims (1): 1 reproduced" in text and "<dt>D1</dt>" in text


def test_everything_from_files_is_escaped():
    text = page({"reference": [row(statement=NASTY, command=NASTY)]}, [run(NASTY, spec())])
    assert NASTY not in text and text.count("&lt;script&gt;") >= 4
    assert len(re.findall("<script", text)) == 1


def test_the_page_needs_no_network():
    text = page(pictures=[report.Picture("t", "reference", b"<svg/>")])
    assert not re.search(r"(src|href)=(?!\"data:)", text) and "http://" not in text and "https://" not in text


def test_rows_that_only_say_not_run_are_shown_for_the_reference_alone():
    text = page({"reference": [row(verdict="not run", id="here")], "local": [row(verdict="not run", id="there")]})
    assert 'title="here"' in text and 'title="there"' not in text


def test_equal_input_gives_an_equal_page():
    assert page() == page()

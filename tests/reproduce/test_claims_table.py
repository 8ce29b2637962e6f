"""The comparison on a terminal: whole verdicts in 80 columns, percentages, both intervals, what is required."""

import dataclasses

import pytest

from reproduce.comparison.rows import DIFFERENCE, SHARE, Row
from reproduce.comparison.score_card import SHOWN
from reproduce.output import claims_table, terminal

ROW = Row(
    kind="claim", id="reaches-further", place="Figure 1", statement="Coupling reaches further [than all others]: " * 3,
    relation=">", published=0.25, aggregation="", ours=0.6503, ci_low=0.1, ci_high=1.0, n=800, seeds=3, profile="cpu",
    verdict="reproduced", by="required", scale=DIFFERENCE, examples_low=0.62, examples_high=0.68, seeds_low=-0.1489,
    seeds_high=1.0,
)  # fmt: skip


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def shown(capsys, *parts):
    terminal.show(*parts)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    return lines


@pytest.mark.parametrize("verdict", SHOWN)
def test_every_verdict_is_whole_in_80_columns(verdict, capsys):
    yours = dataclasses.replace(ROW, verdict=verdict, profile="night")
    lines = shown(capsys, *claims_table.comparison([ROW], [yours]))
    start = ["cpu", "reproduced", ">", "+25.0", "%", "+65.0", "%"]
    assert [*start, "+62.0", "to", "+68.0", "3:", "-14.9", "to", "+100.0"] in map(str.split, lines)
    assert any(line.startswith(f"night yours  {verdict} ") for line in lines)


def test_wide_intervals_take_more_lines_and_leave_verdicts_whole(capsys):
    ends = {"examples_low": -0.9999, "examples_high": 0.9999, "seeds_low": -0.9999, "seeds_high": 0.9999}
    wide = dataclasses.replace(ROW, **ends, ours=-0.6503, published=-0.25, profile="night")
    lines = shown(capsys, *claims_table.comparison([wide], [wide]))
    assert any(line.split()[:4] == ["night", "yours", "reproduced", ">"] and "-65.0 %" in line for line in lines)


def test_a_share_has_no_sign_and_other_numbers_no_percent(capsys):
    share = dataclasses.replace(ROW, scale=SHARE, seeds_low=None, seeds_high=None, seeds=1)
    number = dataclasses.replace(ROW, id="b", scale="", ours=1.6667, published=1)
    lines = shown(capsys, *claims_table.comparison([share, number], []))
    assert any(line.split() == ["cpu", "reproduced", ">", "25.0", "%", "65.0", "%", "62.0", "to", "68.0", "1", "seed"]
               for line in lines)  # fmt: skip
    assert any(line.split()[:5] == ["cpu", "reproduced", ">", "1", "1.667"] for line in lines)


def test_both_ends_of_a_band_are_required(capsys):
    band = dataclasses.replace(ROW, relation="~", published="0.3 to 0.5")
    lines = shown(capsys, *claims_table.comparison([band], []))
    first = next(number for number, line in enumerate(lines) if line.startswith("cpu "))
    assert "reproduced  ~ +30.0 to  +65.0 %" in lines[first] and lines[first + 1].strip() == "+50.0 %"


def test_whose_threshold_it_is_and_why_it_is_open_can_be_read(capsys):
    open_row = dataclasses.replace(ROW, by="published", headline=True, verdict="untested", why="nothing was [learned]")
    lines = shown(capsys, *claims_table.comparison([open_row], [], reasons=True))
    assert any(line.startswith("reaches-further (headline, threshold of the paper): Coupling") for line in lines)
    assert "  nothing was [learned]" in lines
    assert "  nothing was [learned]" not in shown(capsys, *claims_table.comparison([open_row], []))


def test_a_claim_that_has_not_run_and_no_claim_at_all(capsys):
    waiting = dataclasses.replace(ROW, verdict="not run", ours=None, n=None, seeds=None, **dict.fromkeys(
        ("ci_low", "ci_high", "examples_low", "examples_high", "seeds_low", "seeds_high")))  # fmt: skip
    lines = shown(capsys, *claims_table.comparison([waiting], []))
    assert ["cpu", "not", "run", ">", "+25.0", "%"] in map(str.split, lines)
    assert shown(capsys, *claims_table.comparison([], [])) == ["Nothing is compared there."]


def test_the_score_card_counts_what_there_is(capsys):
    rows = [dataclasses.replace(ROW, id=name, counts_as=name, verdict=name, headline=name == "floor") for name in SHOWN]
    lines = shown(capsys, claims_table.score_cards({"reference": rows, "yours": rows[:1]}))
    assert lines[0] == "reference, headline claims  1 of 1 floor"
    assert lines[1].startswith("reference, all claims       1 of 6 reproduced, 1 differs, 1 undecided")
    assert lines[-1] == "yours, all claims           1 of 1 reproduced", "there is no headline claim among them"

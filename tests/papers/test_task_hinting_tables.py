"""Tables 1 to 3 of paper 4, drawn and as text, for runs whose content is known."""

import csv
import io

import pytest

from papers.task_hinting import figures
from papers.task_hinting.figures import panels, tables
from tests.papers.made import texts
from tests.papers.made_task_hinting import PAPER, complete, draw, legend, several, shares

SEVERAL = complete(3)


def test_tables_mark_the_lengths_of_the_printed_ones_where_they_were_tested():
    axes = draw("table1").axes[0]
    *_, near, far = axes.lines
    assert [set(line.get_xdata()) for line in (near, far)] == [{25}, {50}]
    assert "Dotted: lengths of the printed table." in texts(axes.figure).replace("\n", " ")
    short = draw("table1", several("table1/standard", lengths=(5, 10, 25))).axes[0]
    dotted = [set(line.get_xdata()) for line in short.lines if line.get_linestyle() == ":"]
    assert {25} in dotted and {50} not in dotted


def test_tables_name_softmax_hints_and_sizes_where_they_differ():
    assert legend(draw("table1")) == [
        "standard softmax, 40,000 examples",
        "tempered softmax, 40,000 examples",
        "tempered softmax, 1M (here 250 examples, 102 epochs)",
        "tempered softmax, n of the prompt, 40,000 examples",
        "softmax with 1 + β ln n, 40,000 examples",
    ]
    assert [words.split(",")[0] for words in legend(draw("table2"))] == ["standard softmax", "tempered softmax"]
    assert legend(draw("table3")) == [
        "no hints, standard softmax", "carry hints, standard softmax", "no hints, tempered softmax"
    ]  # fmt: skip
    assert "digits" in draw("table3").axes[0].get_xlabel() and "numbers" in draw("table1").axes[0].get_xlabel()


def test_experiments_that_nothing_tells_apart_are_labelled_with_their_variant():
    runs = several("table2/standard") | several("table2/again")
    assert legend(draw("table2", runs)) == ["standard softmax (standard)", "standard softmax (again)"]


def test_increment_is_drawn_at_every_tested_length_with_a_tick_each():
    axes = draw("table3").axes[0]
    tested = list(range(5, 21))
    assert list(axes.get_xticks()) == tested
    assert [list(line.get_ydata()) for line in axes.lines] == [shares(reach, 0, tested) for reach in (16, 18, 24)]


@pytest.mark.parametrize("name", ["table1", "table2", "table3"])
def test_tables_as_text_hold_median_and_range_over_seeds(name):
    text = figures.table_csv(SEVERAL[name])
    head, *rows = csv.reader(io.StringIO(text))
    assert tuple(head) == tables.HEADER
    tested = sorted(set(panels.exact(next(iter(SEVERAL[name].values())))["length"]))
    variants = [key.rpartition("/")[2] for key in SEVERAL[name]]
    assert [row[:2] for row in rows] == [[variant, str(length)] for variant in variants for length in tested]
    for row in rows:
        found = panels.exact(SEVERAL[name][f"{PAPER}/{name}/{row[0]}"])
        low, middle, high = sorted(found[found["length"] == int(row[1])]["value"])
        assert [float(value) for value in row[2:5]] == pytest.approx([100 * x for x in (middle, low, high)], abs=1e-3)
        assert row[5] == "3"


def test_tables_as_text_leave_out_what_has_no_run():
    text = figures.table_csv({f"{PAPER}/table2/standard": [], **several("table2/tempered", lengths=(5, 15))})
    assert text.splitlines()[1:] == ["tempered,5,100.000,100.000,100.000,1", "tempered,15,75.000,75.000,75.000,1"]

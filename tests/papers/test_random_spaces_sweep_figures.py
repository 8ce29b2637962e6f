"""The figures of the sweep of paper 3: Table 4.3, widths, losses, sub-tasks, for runs whose content is known."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lengen import plotting
from lengen.config import SUBTASKS
from papers.random_spaces import figures
from tests.papers import made_random_spaces as made
from tests.papers.made import texts
from tests.papers.made_random_spaces import FIGURES, draw, learning


def test_the_table_has_mean_deviation_and_number_of_runs_greedy_and_sampled():
    greedy, sampled = draw("table4_3").axes
    assert [text.get_text() for text in greedy.texts][:2] == [
        "13.5 ± 3.1\nn = 4, 2 widths", "33.5 ± 3.1\nn = 4, 2 widths"
    ]  # fmt: skip
    assert "+20.0" in [text.get_text() for text in greedy.texts]
    assert greedy.get_title().startswith("Greedy") and sampled.get_title().startswith("Sampled at temperature 1")
    assert np.asarray(sampled.images[0].get_array())[0, 0] == pytest.approx(0.1217, abs=0.002)
    assert [label.get_text() for label in greedy.get_yticklabels()] == ["10K", "100K", "Improvement"]


def test_the_table_says_that_nothing_was_sampled():
    runs = made.sweep(seeds=1)
    for one in plotting.distinct(runs):
        for modes in one.grid.scores.values():
            del modes["sampled"]
    assert "sampled: not measured at this profile" in texts(draw("table4_3", runs))


@pytest.mark.parametrize("name", ["fig4_7", "widths"])
def test_few_widths_have_a_row_each_and_no_line(name):
    drawing = draw(name)
    assert len(drawing.axes) == 4 and not any(axes.lines for axes in drawing.axes)
    labels = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    assert labels == ["10K, width 64", "10K, width 128", "100K, width 64", "100K, width 128"]
    gap = drawing.axes[1]
    medians = [points.get_offsets()[0][0] for points in gap.collections if points.get_sizes()[0] > 20]
    expected = {"fig4_7": [3.0, 1.0, 4.0, 2.0], "widths": [0.11, 0.31, 0.16, 0.36]}[name]  # add, mix of both widths
    assert medians[:4] == pytest.approx(expected, abs=0.006)
    assert "Two widths say nothing of a trend" in texts(drawing).replace("\n", " ")


def test_one_row_leaves_room_for_the_title_and_the_footnote():
    runs = made.sweep(sizes=(10_000,), widths=(64,)) | {f"{made.PAPER}/table4.3/100k-add-w{n}": [] for n in range(20)}
    drawing = draw("fig4_7", runs)
    drawing.suptitle("title\n" * 3)
    FigureCanvasAgg(drawing).draw()
    lowest, highest = drawing.axes[0].get_tightbbox().y0, drawing.axes[0].get_tightbbox().y1
    title, note = (text.get_window_extent() for text in drawing.texts)
    assert note.y1 <= lowest and highest <= title.y0


def test_four_widths_have_a_line_for_every_size_and_mixture():
    drawing = draw("widths", made.sweep(sizes=(10_000,), widths=(64, 128, 256, 512), seeds=1))
    first, *_ = drawing.axes
    assert len(first.lines) == 2 and first.get_xscale() == "log"
    assert {line.get_color() for line in first.lines} == {plotting.COLOURS[3], plotting.COLOURS[2]}


GAP = plotting.Value(0.35, lengths=(8, 8), trained=(9, 2), left_out=True, region="gap", across="mean", mode="sampled")


def next_longer(length, of=9):
    """A published mean at one length beyond the longest trained one."""
    return plotting.Value(0.35, lengths=(length,) * 2, trained=(of, 2), region="next", across="mean", mode="sampled")


def test_published_means_have_a_row_below_each_data_size():
    runs = made.sweep(sizes=(10_000,), widths=(64,), seeds=1)
    values = dict.fromkeys(runs, (GAP, next_longer(10)))
    with plotting.style():
        drawing = figures.widths(runs, values)
        table = figures.table4_3(runs, values)
    assert [label.get_text() for label in drawing.axes[0].get_yticklabels()] == ["10K, width 64", "10K, published"]
    assert "published 35.0" in texts(table)
    for figure in (drawing, table):
        note = texts(figure).replace("\n", " ")
        assert note.count("published 35.0") == 4 * (figure is table)  # add and mix, greedy and sampled
        assert "trained to 9 digits where ours are trained to 6; 8 digits, the length left out there" in note
        assert "the length left out there, stand at 5, the one left out here." in note
        assert "Not drawn: published at 10 of 9 digits, a multiple that no length tested here has." in note


def test_published_means_stand_at_no_other_multiple_of_the_trained_length():
    runs = made.sweep(sizes=(10_000,), widths=(64,), seeds=1)  # trained to 6 digits, tested to 8

    def cells(value):
        with plotting.style():
            table = figures.table4_3(runs, dict.fromkeys(runs, (value,)))
            drawing = figures.widths(runs, dict.fromkeys(runs, (value,)))
        rows = [axes for axes in drawing.axes for points in axes.collections if points.get_offsets()[0][0] == 0.35]
        found = [text.get_position()[0] for text in table.axes[0].texts if "published" in text.get_text()]
        return found, [axes.get_title().split()[0] for axes in rows]

    assert cells(GAP) == ([0, 1], ["5", "5"])  # the length left out, whatever its multiple
    assert cells(next_longer(10)) == ([], [])
    assert cells(next_longer(12)) == ([], ["8", "8"])  # the table shows the first longer length, 7
    assert cells(next_longer(7, of=6)) == ([2, 3], ["7", "7"])


def test_published_means_have_the_size_that_the_thesis_gives_them():
    small = made.sweep(sizes=(30_000,), widths=(64,), seeds=1)
    runs = {name.replace("30k", "10k"): some for name, some in small.items()}
    with plotting.style():
        drawing, table = (draw(runs, dict.fromkeys(runs, (GAP,))) for draw in (figures.widths, figures.table4_3))
    labels = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    assert labels == ["30K (for 10K), width 64", "10K, published"]
    assert [label.get_text() for label in table.axes[0].get_yticklabels()] == ["30K (for 10K)", "Improvement"]


def test_losses_in_and_out_of_distribution_have_a_point_a_run_with_its_width():
    drawing = draw("fig4_8")
    (axes,) = drawing.axes
    points = [line for line in axes.lines if line.get_marker() != "None"]
    assert len(points) == 16 and {text.get_text() for text in axes.texts} == {"64", "128"}
    assert "rank correlation" in drawing.get_suptitle() and "16 runs" in drawing.get_suptitle()


def test_of_one_width_and_a_few_runs_no_trend_and_no_correlation_is_said():
    runs = made.sweep(sizes=(10_000,), widths=(64,), seeds=1)
    assert "One width says nothing of a trend" in texts(draw("fig4_7", runs)).replace("\n", " ")
    title = draw("fig4_8", runs).get_suptitle().replace("\n", " ")
    assert "of two runs: the median is" in title and "correlation" not in title


def test_sub_tasks_are_means_and_deviations_over_distinct_models():
    drawing = draw("fig4_9")
    loss, accuracy = drawing.axes
    bars = {container.get_label(): container for container in accuracy.containers if container.get_label()[0] != "_"}
    assert len(bars) == 4
    heights = [bar.get_height() for bar in bars["5 digits\n(left out)"]]
    assert heights == pytest.approx([0.5, 0.3, 0.25, 0.2, 0.15])
    # losses outside: 1 + size + width for sizes and widths 0 and 1, two seeds each; the sub-task's number multiplies
    gap = loss.containers[3] if len(loss.containers) == 8 else loss.containers[1]
    assert [bar.get_height() for bar in gap] == pytest.approx([2.0, 4.0, 6.0, 8.0, 10.0])
    assert "over 8 models" in texts(drawing).replace("\n", " ")


def test_sub_tasks_over_training_have_a_panel_a_model_and_their_order_in_the_title():
    drawing = draw("over_training")
    assert len(drawing.axes) == 4
    names = [line.get_label() for line in drawing.axes[0].lines if line.get_label()[0] != "_"]
    assert names == ["Addition", "Reversing", "Digit alignment", "Modular addition", "Carry detection"]
    title = drawing.get_suptitle().replace("\n", " ")
    named = dict(zip(("add", "rev", "ali", "mad", "car"), names, strict=True))
    places = [title.index(named[task].lower()) for task in SUBTASKS]
    assert places == sorted(places)
    some = {name: [replace(run, metrics=learning(late=9)) for run in runs] for name, runs in FIGURES["fig4_9"].items()}
    assert "addition never" in draw("over_training", some).get_suptitle().replace("\n", " ")
    assert "not recorded" in texts(draw("over_training", FIGURES["fig4_9"]))

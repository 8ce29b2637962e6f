"""The figures of the sweep of paper 3: Table 4.3, widths, losses, sub-tasks, for runs whose content is known."""

import numpy as np
import pytest

from lengen import plotting
from tests.papers import made_random_spaces as made
from tests.papers.made import texts
from tests.papers.made_random_spaces import draw


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


@pytest.mark.parametrize(("name", "scale"), [("fig4_7", "log"), ("widths", "linear")])
def test_widths_have_a_panel_for_every_size_and_length_and_a_line_for_add_and_mix(name, scale):
    drawing = draw(name)
    assert len(drawing.axes) == 4 * 2
    first = drawing.axes[2]  # the gap at 10K
    assert (first.get_xscale(), first.get_yscale()) == ("log", scale)
    add, mix = first.lines
    assert (add.get_color(), mix.get_color()) == (plotting.COLOURS[3], plotting.COLOURS[2])
    assert list(add.get_xdata()) == [64, 128]
    expected = {"fig4_7": ([3.0, 4.0], [1.0, 2.0]), "widths": ([0.11, 0.16], [0.31, 0.36])}[name]
    for line, values in zip((add, mix), expected, strict=True):
        assert list(line.get_ydata()) == pytest.approx(values, abs=0.006)
    assert len(first.collections[0].get_offsets()) == 4  # two widths, two seeds


def test_losses_in_and_out_of_distribution_are_circles_and_triangles_above_a_diagonal():
    drawing = draw("fig4_8")
    gap, *_ = drawing.axes
    assert len(drawing.axes) == 3 and len(gap.collections) == 16
    found = {tuple(np.round(points.get_offsets()[0], 4)) for points in gap.collections}
    assert (0.01, 3.0) in found and (0.02, 2.0) in found
    (diagonal,) = gap.lines
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) and diagonal.get_linestyle() == "--"
    assert (gap.get_xscale(), gap.get_yscale()) == ("log", "log")


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

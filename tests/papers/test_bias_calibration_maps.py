"""The attention maps, bias matrices and windows of paper 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from lengen.settings.windows import window_cross, window_self
from papers.bias_calibration import figures
from tests.papers.runs_bias_calibration import (
    ADDITION,
    PAPER,
    SUCCESSOR,
    calibrated,
    draw,
    maps,
    relative,
    run,
    several,
)


def boxes(axes) -> list[tuple[float, ...]]:
    red = [p for p in axes.patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == "#d7191c"]
    return [(*p.get_xy(), p.get_width(), p.get_height()) for p in red]


# -- attention ---------------------------------------------------------------------------------------------


def attentive(name: str, arrays) -> dict:
    return {f"{PAPER}/{name}": [run(name, arrays=arrays)]}


def test_the_sharpest_heads_are_found_with_their_lines():
    made = run("fig9/addition", arrays=ADDITION)
    first, second, third, *_ = figures.cross_lines(made)
    assert [(line.head, line.place) for line in (first, second, third)] == [(1, 19), (2, 19), (6, 9)]
    assert first.weight == pytest.approx(0.94)
    # of the heads on the first operand only 6 is sharp; in reading order it comes first
    assert [line.head for line in figures.by_operand(made)] == [6, 1]
    assert [(line.head, line.place) for line in figures.self_lines(made)[:2]] == [(4, 1), (5, 0)]


@given(trained=st.integers(1, 6), rows=st.integers(1, 7), columns=st.integers(6, 9), seed=st.integers(0, 99))
def test_lines_are_means_along_the_anti_diagonal(trained, rows, columns, seed):
    made = run("fig8/successor", arrays={"probe0.cross": np.random.default_rng(seed).random((2, rows, columns))})
    made.info["spec"]["data"]["task"]["digits"] = trained
    best = figures.cross_lines(made)[0]
    weights = made.arrays["probe0.cross"]
    used = range(min(trained, rows))
    every = [np.mean([weights[h, i, c - i] for i in used]) for h in range(2) for c in range(used[-1], columns)]
    assert best.weight == pytest.approx(max(every))
    assert best.weight == pytest.approx(np.mean([weights[best.head, i, best.place - i] for i in used]))


@given(trained=st.integers(1, 6), rows=st.integers(2, 7))
def test_self_lines_survive_every_size(trained, rows):
    made = run("fig8/successor", arrays={"probe0.self": np.tile(np.eye(rows), (3, 1, 1))})
    made.info["spec"]["data"]["task"]["digits"] = trained
    assert figures.self_lines(made)[0] == figures.Line(0, 0, 1.0)


def test_figure_8_has_cross_and_self_side_by_side_with_tokens_and_the_trained_box():
    cross, own, scale = draw("fig8", attentive("fig8/successor", SUCCESSOR)).axes
    assert cross.get_title().endswith("cross, head 2") and own.get_title().endswith("self, head 5")
    assert "".join(label.get_text() for label in cross.get_xticklabels()).count("1") == 3
    # the last four of nine digits, read by the first four rows
    assert boxes(cross) == [(5.5, -0.5, 4, 4)] and boxes(own) == [(-0.5, -0.5, 4, 4)]
    assert scale.get_ylabel().startswith("Attention")


def test_figure_9_has_a_head_for_either_operand_and_boxes_both():
    drawing = draw("fig9", attentive("fig9/addition", ADDITION))
    heads = [axes.get_title().rsplit(", ", 1)[1] for axes in maps(drawing) if "cross" in axes.get_title()]
    assert heads == ["head 7", "head 2"] and len(maps(drawing)) == 4
    assert boxes(maps(drawing)[0]) == [(5.5, -0.5, 4, 4), (15.5, -0.5, 4, 4)]


def test_figure_2_sets_the_tasks_side_by_side():
    runs = attentive("fig2/successor", SUCCESSOR) | attentive("fig2/addition", ADDITION)
    assert [axes.get_title().split(": ")[1] for axes in maps(draw("fig2", runs))] == ["cross, head 2"] * 2
    assert len(maps(draw("fig2", runs | several("fig2/addition")))) == 1


# -- bias matrices -----------------------------------------------------------------------------------------


def test_every_head_is_coloured_from_its_least_to_its_greatest_value_and_closed_cells_are_grey():
    found = maps(draw("fig4", {f"{PAPER}/fig4/addition": calibrated("fig4/addition")}))
    assert len(found) == 8 + 8  # self-attention of all heads below cross-attention
    assert found[2].images[0].get_clim() == pytest.approx((-0.3, 0.0))
    assert found[0].images[0].norm(0.0) == 1  # a single value is the greatest
    assert np.ma.getmaskarray(found[0].images[0].get_array()).sum() == 13 * 27 - 13
    assert not np.ma.getmaskarray(found[5].images[0].get_array()).any()  # nothing is closed, the bias is 0


def test_figure_6_shows_functions_of_the_distance():
    runs = {f"{PAPER}/fig6/rpe": [run("fig6/rpe", arrays=relative())], f"{PAPER}/fig6/abc": calibrated("fig6/abc")}
    left, right = draw("fig6", runs).axes
    assert len(left.lines) == len(right.lines) == 8
    # distances beyond 4 are clipped; head 8 scores 0.7 for each step from -1
    last = dict(zip(left.lines[7].get_xdata(), left.lines[7].get_ydata(), strict=True))
    assert last[-11] == last[-4] == pytest.approx(-2.1)
    assert dict(zip(right.lines[3].get_xdata(), right.lines[3].get_ydata(), strict=True))[-1] == 1


def test_figures_10_and_11_need_no_run():
    own, unary, binary = draw("fig10_11", {}).axes
    open_ = window_self(7, 1), window_cross(7, 8, 1, 1), window_cross(7, 15, 1, 2)
    for axes, cells in zip((own, unary, binary), open_, strict=True):
        np.testing.assert_array_equal(axes.collections[0].get_array(), cells)
    assert [label.get_text() for label in binary.get_xticklabels()][2] == "a6"

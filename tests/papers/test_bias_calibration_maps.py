"""The attention maps, bias matrices and windows of paper 2, and the files of all figures."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from lengen.config.experiment import Figure
from lengen.windows import window_cross, window_self
from papers.bias_calibration import figures
from papers.bias_calibration.figures import attention as attention_figures
from papers.bias_calibration.figures import biases as bias_figures
from reproduce.output.figures import render
from tests.papers.made import (
    ADDITION,
    PAPER,
    SUCCESSOR,
    biases,
    calibrated,
    draw,
    flat,
    maps,
    probe,
    relative,
    run,
    several,
    texts,
)

ROOT = Path(__file__).resolve().parents[2]


def boxes(axes) -> list[tuple[float, ...]]:
    red = [p for p in axes.patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == "#d7191c"]
    return [(*p.get_xy(), p.get_width(), p.get_height()) for p in red]


# -- attention ---------------------------------------------------------------------------------------------


def attentive(name: str, arrays) -> dict:
    return {f"{PAPER}/{name}": [run(name, arrays=arrays)]}


def test_the_sharpest_heads_are_found_with_their_lines():
    made = run("fig9/addition", arrays=ADDITION)
    first, second, third, *_ = attention_figures.cross_lines(made)
    assert [(line.head, line.place) for line in (first, second, third)] == [(1, 19), (2, 19), (6, 9)]
    assert first.weight == pytest.approx(0.94)
    # of the heads on the first operand only 6 is sharp; in reading order it comes first
    assert [line.head for line in attention_figures.by_operand(made)] == [6, 1]
    assert [(line.head, line.place) for line in attention_figures.self_lines(made)[:2]] == [(4, 1), (5, 0)]


@given(trained=st.integers(1, 6), rows=st.integers(1, 7), columns=st.integers(6, 9), seed=st.integers(0, 99))
def test_lines_are_means_along_the_anti_diagonal(trained, rows, columns, seed):
    made = run("fig8/successor", arrays={"probe0.cross": np.random.default_rng(seed).random((2, rows, columns))})
    made.info["spec"]["data"]["task"]["digits"] = trained
    best = attention_figures.cross_lines(made)[0]
    weights = made.arrays["probe0.cross"]
    used = range(min(trained, rows))
    every = [np.mean([weights[h, i, c - i] for i in used]) for h in range(2) for c in range(used[-1], columns)]
    assert best.weight == pytest.approx(max(every))
    assert best.weight == pytest.approx(np.mean([weights[best.head, i, best.place - i] for i in used]))


@given(trained=st.integers(1, 6), rows=st.integers(2, 7))
def test_self_lines_survive_every_size(trained, rows):
    made = run("fig8/successor", arrays={"probe0.self": np.tile(np.eye(rows), (3, 1, 1))})
    made.info["spec"]["data"]["task"]["digits"] = trained
    assert attention_figures.self_lines(made)[0] == attention_figures.Line(0, 0, 1.0)


def test_figure_8_has_cross_and_self_side_by_side_with_tokens_and_the_trained_box():
    cross, own, scale = draw("fig8", attentive("fig8/successor", SUCCESSOR)).axes
    assert cross.get_title() == "Successor: cross-attention, head 2"
    assert own.get_title() == "Successor: self-attention, head 5"
    assert "".join(label.get_text() for label in cross.get_xticklabels()) == "".join(SUCCESSOR["probe0.source"])
    for axes in (cross, own):
        assert "".join(label.get_text() for label in axes.get_yticklabels()) == "".join(SUCCESSOR["probe0.target"])
    assert "".join(label.get_text() for label in own.get_xticklabels()) == "".join(SUCCESSOR["probe0.target"])
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
    assert [axes.get_title() for axes in maps(draw("fig2", runs))] == [
        "Successor: cross-attention, head 2",
        "Addition: cross-attention, head 2",
    ]
    alone = draw("fig2", runs | several("fig2/addition"))
    assert len(maps(alone)) == 1 and "Attentionnotrecorded:addition(Figure2)" in flat(alone)


def test_long_examples_are_drawn_with_their_separators():
    source, target = "$" + "0" * 60 + "+" + "0" * 60 + "$", "$" + "0" * 61
    axes = maps(draw("fig9", attentive("fig9/addition", probe(source, target, {0: 60, 1: 121}, {0: 1}))))[0]
    assert "".join(label.get_text() for label in axes.get_xticklabels()) == "$+$"


# -- bias matrices -----------------------------------------------------------------------------------------


def closed(axes) -> np.ndarray:
    return np.ma.getmaskarray(axes.images[0].get_array())


def test_every_head_has_its_matrix_and_the_transparent_one_says_so():
    drawing = draw("bias_matrices", {f"{PAPER}/fig4/addition": calibrated("fig4/addition")})
    cross, own = maps(drawing)[:8], maps(drawing)[8:]
    assert len(own) == 8
    assert [head + 1 for head, axes in enumerate(cross) if "transparent" in [t.get_text() for t in axes.texts]] == [6]
    clear = cross[5]
    assert {to_hex(c) for c in clear.images[0].to_rgba(clear.images[0].get_array()).reshape(-1, 4)} == {"#000000"}
    assert not closed(clear).any() and closed(cross[0]).sum() == 13 * 27 - 13
    grey = cross[0].images[0].to_rgba(cross[0].images[0].get_array())[0, 0]
    assert to_hex(grey) == to_hex(bias_figures.CLOSED)
    assert not any(np.allclose(colour[:3], grey[:3], atol=0.1) for colour in bias_figures.BIAS(np.linspace(0, 1, 64)))
    assert "transparent" in [text.get_text() for text in own[5].texts] and closed(own[5]).sum() == 13 * 12 / 2


def test_each_head_is_coloured_from_its_least_to_its_greatest_value():
    drawing = draw("bias_matrices", {f"{PAPER}/fig4/addition": calibrated("fig4/addition")})
    third = maps(drawing)[2]
    assert third.images[0].get_clim() == pytest.approx((-0.3, 0.0)) and third.get_title() == "head 3: -0.3 to 0"
    first = maps(drawing)[0]
    assert first.get_title() == "head 1: 0"
    assert first.images[0].norm(0.0) == 1  # a single value is the greatest


@pytest.mark.parametrize(
    ("name", "labels"),
    [("fig4/addition", ["first operand", "+", "second operand"]), ("fig5/n-by-one", ["first operand", "× second"])],
)
def test_columns_are_labelled_by_operand_and_rows_by_output_digit(name, labels):
    axes = maps(draw("bias_matrices", {f"{PAPER}/{name}": calibrated(name)}))[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == labels
    # 12 digits: the operator lies in column 13, after "$" and the first operand
    assert [line.get_xdata()[0] for line in axes.lines] == [12.5, 13.5]
    assert dict(zip(axes.get_yticks(), (t.get_text() for t in axes.get_yticklabels()), strict=True))[3] == "4"


def test_any_number_of_heads_is_drawn():
    two = run("fig4/successor", arrays=biases(5, 7, {0: (5,)}, heads=4))
    drawing = draw("bias_matrices", {f"{PAPER}/fig4/successor": [run("fig4/successor"), two]})
    assert len(maps(drawing)) == 8
    assert [label.get_text() for label in maps(drawing)[0].get_xticklabels()] == ["operand"]


def test_no_more_than_all_attention_is_said_whatever_its_halves_are_rounded_to(monkeypatch):
    monkeypatch.setattr(attention_figures, "followed", lambda run, stretch: 1.0001 if stretch == "trained" else 0.4)
    title = draw("fig8", attentive("fig8/successor", SUCCESSOR)).get_suptitle()
    assert "100 % up to the trained length, 40 % beyond" in title


def test_figure_6_shows_functions_of_the_distance():
    runs = {f"{PAPER}/fig6/rpe": [run("fig6/rpe", arrays=relative())], f"{PAPER}/fig6/abc": calibrated("fig6/abc")}
    drawing = draw("fig6", runs)
    left, right, *_ = drawing.axes
    for axes, title in ((left, "RPE, head 8"), (right, "ABC, head 4")):
        assert axes.get_title() == title
        matrix = axes.images[0].get_array()
        assert matrix.shape == (12, 12) and np.ma.getmaskarray(matrix)[np.triu_indices(12, 1)].all()
        for below in range(12):
            assert len(set(matrix.diagonal(-below).tolist())) == 1
    assert right.images[0].get_array()[1, 0] == 1 and "$d_{-1}$" in [text.get_text() for text in right.texts]
    # distances beyond 4 are clipped; head 8 scores 0.7 for each step from -1
    assert left.images[0].get_array()[11, 0] == left.images[0].get_array()[4, 0] == pytest.approx(-2.1)
    said = "RPE, head 8: -2.1 to 0, most at distance -1; ABC, head 4: 0 to 1, most at distance -1."
    assert drawing.get_suptitle() == said


def test_figure_6_names_what_did_not_run():
    drawing = draw("fig6", {f"{PAPER}/fig6/rpe": [], f"{PAPER}/fig6/abc": calibrated("fig6/abc")})
    assert "RPE\nnot run at this profile" in texts(drawing) and "RPE (Figure 6)" in texts(drawing)


# -- windows -----------------------------------------------------------------------------------------------


def test_windows_open_what_the_text_says():
    assert window_self(4, 1).tolist() == [[i - j in (0, 1) for j in range(4)] for i in range(4)]
    # "$ + a2 b2 a1 b1 $": the first output digit sees a1, b1 and "$"; the second a2, b2, a1 and b1
    assert np.flatnonzero(window_cross(2, 7, 1, 2)[0]).tolist() == [4, 5, 6]
    assert np.flatnonzero(window_cross(2, 7, 1, 2)[1]).tolist() == [2, 3, 4, 5]
    assert np.flatnonzero(window_cross(2, 7, 0, 2)[1]).tolist() == [3, 4]
    # "$ x3 x2 x1 $": the second output digit sees x2, x1 and "$"
    assert np.flatnonzero(window_cross(2, 5, 1, 1)[1]).tolist() == [2, 3, 4]


def test_figures_10_and_11_need_no_run():
    drawing = draw("windows", {})
    own, unary, binary = drawing.axes
    np.testing.assert_array_equal(own.images[0].get_array(), window_self(7, 1))
    np.testing.assert_array_equal(unary.images[0].get_array(), window_cross(7, 8, 1, 1))
    np.testing.assert_array_equal(binary.images[0].get_array(), window_cross(7, 15, 1, 2))
    assert "w = 1" in texts(drawing) and [label.get_text() for label in binary.get_xticklabels()][2] == "$a_{6}$"


# -- files -------------------------------------------------------------------------------------------------


def everything() -> dict[str, dict]:
    return {
        "bases": several("bases/addition-4"),
        "fig8": attentive("fig8/successor", SUCCESSOR),
        "bias_matrices": {f"{PAPER}/fig4/addition": calibrated("fig4/addition")},
        "fig6": {f"{PAPER}/fig6/abc": calibrated("fig6/abc"), f"{PAPER}/fig6/rpe": []},
        "windows": {},
    }


def test_another_process_draws_the_same_bytes_without_torch(tmp_path):
    code = "from tests.papers.test_bias_calibration_maps import digests; import sys; print(digests()); "
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", code + "print('torch' in sys.modules)"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == [str(digests()), "False"]


def digests() -> list[str]:
    found = []
    for name, runs in everything().items():
        files = render(Figure(name="fig1", title="t", reads=tuple(runs), draw=getattr(figures, name)), runs)
        found += [hashlib.sha256(content).hexdigest() for content in files.values()]
    return found

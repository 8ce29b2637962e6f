"""The curves of paper 2: looked up in the axes, for runs whose content is known."""

import dataclasses

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from lengen import plotting
from lengen.config import Cyclic, EncoderDecoder, Window
from lengen.intervals import wilson
from papers.bias_calibration import figures
from papers.bias_calibration.figures import biases, words
from tests.papers.made import LENGTHS, PAPER, TRAINED, draw, flat, several, texts, unnamed

MODELS = ("vanilla", "alibi", "rope", "abc", "rpe")
TASKS = ("successor", "addition", "n-by-one")
TABLE1 = [f"table1/{task}-{model}" for task in TASKS for model in MODELS]
TABLE3 = [f"table3/{task}-{kind}" for task in (*TASKS, "parity") for kind in ("vanilla", "window", "cyclic", "nope")]
CURVES = {
    "fig1": TABLE1,
    "table3": TABLE3,
    "listops": ["listops/sm", "listops/max", "listops/min"],
    "bases": ["bases/addition-4", "bases/addition-8", "bases/addition-16"],
    "calibration": [
        *(f"calibration/{task}-{kind}" for task in TASKS[:2] for kind in ("text", "code", "sinusoidal")),
        *(f"table1/{task}-abc" for task in TASKS[:2]),
    ],
    "table2": [f"table2/{task}" for task in (*TASKS, "parity")],
}


@pytest.mark.parametrize(
    ("name", "panels"), [("fig1", 6), ("table3", 8), ("listops", 2), ("bases", 2), ("calibration", 4)]
)
def test_each_task_has_accuracy_and_edit_distance_with_the_trained_range(name, panels):
    drawing = draw(name, several(*CURVES[name]))
    assert len(drawing.axes) == panels
    for axes in drawing.axes:
        (band,) = [p for p in axes.patches if isinstance(p, Rectangle)]
        assert (band.get_x(), band.get_width()) == (1, TRAINED - 1)
        assert len(axes.lines) == 2 * len(CURVES[name]) // panels
        assert list(axes.lines[0].get_xdata()) == list(LENGTHS)
    labels = [axes.get_ylabel() for axes in drawing.axes]
    assert {"Exact match", "Edit distance per output token"} <= set(labels)
    assert "not run" not in texts(drawing).lower()


def test_figure_1_has_one_legend_and_one_curve_a_model():
    drawing = draw("fig1", several(*TABLE1))
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == [words.KINDS[model] for model in MODELS]
    assert len({line.get_color() for line in drawing.axes[0].lines}) == len(MODELS)
    assert len({line.get_marker() for line in drawing.axes[0].lines}) == len(MODELS)
    above = [axes.get_title() for axes in drawing.axes[:3]]
    assert above == [f"{words.TASKS[task]}\ntrained on 1 to 4 digits, padded to 12" for task in TASKS]


def test_curves_hold_exact_match_above_and_edit_distance_below():
    drawing = draw("fig1", several("table1/addition-vanilla", "table1/successor-vanilla"))
    above, _, below, _ = drawing.axes
    assert list(above.lines[0].get_ydata()) == [1.0] * 4 + [0.0] * 4
    assert list(below.lines[0].get_ydata()) == [0.0] * 4 + [0.25] * 4


def test_coinciding_curves_stand_side_by_side():
    lines = draw("listops", several(*CURVES["listops"])).axes[0].lines
    heights = [line.get_transform().transform((1, 1))[1] for line in lines]
    assert heights == sorted(set(heights), reverse=True) and len({line.get_linewidth() for line in lines}) == 1


def test_settings_of_one_method_keep_the_look_of_the_method_itself():
    shown = several(*CURVES["calibration"])
    (abc,) = [line for line in draw("calibration", shown).axes[0].lines if line.get_label() == "ABC"]
    (same,) = [line for line in draw("fig1", several(*TABLE1)).axes[0].lines if line.get_label() == "ABC"]
    assert (abc.get_color(), abc.get_marker()) == (same.get_color(), same.get_marker())


def test_no_curve_is_cut_off():
    drawing = draw("fig1", several("table1/addition-abc", "table1/successor-vanilla"))
    for axes in drawing.axes:
        assert all(low <= y <= high for low, high in [axes.get_ylim()] for line in axes.lines for y in line.get_ydata())


def test_one_run_has_a_wilson_band_and_seeds_their_range():
    one = draw("fig1", several("table1/addition-abc")).axes[0].collections[0].get_paths()[0].vertices[:, 1]
    runs = several("table1/addition-abc", seeds=3)
    three = draw("fig1", runs)
    band = three.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert min(one) == pytest.approx(wilson(400 - max(LENGTHS), 400).low)
    assert min(band) == (400 - 2 - max(LENGTHS)) / 400
    assert "Seeds of a setting: 3." in texts(three).replace("\n", " ")


def test_sizes_in_labels_come_from_the_specification():
    changes = {
        "data.format.width": 9,
        "data.position_ids": Cyclic(5),
        "model.architecture": EncoderDecoder(attention_bias=Window(2)),
    }
    shown = texts(draw("table3", several(*TABLE3, changes=changes)))
    assert "+ w = 2" in shown and "NoPE + w = 2" in shown and "+ T = 5" in shown and "padded to 9" in shown
    assert "trained on 1 to 4 bits" in shown and "Length (bits)" in shown
    assert "Base 16" in texts(draw("bases", several("bases/addition-16", changes={"data.task.base": 16})))


@pytest.mark.parametrize("name", CURVES)
def test_every_experiment_without_a_run_is_named(name):
    first, *rest = CURVES[name]
    others = [f"{PAPER}/{other}" for other in rest[:8]]
    drawing = draw(name, several(first) | {other: [] for other in others})
    assert "Notrunatthisprofile" in flat(drawing) and not unnamed(drawing, others, words.SLUGS)


@pytest.mark.parametrize("name", [*CURVES, "fig2", "fig8", "fig9", "bias_matrices"])
def test_a_figure_without_any_run_says_so(name):
    drawing = draw(name, {f"{PAPER}/table2/addition": []})
    assert "addition (Table 2)" in texts(drawing) and len(drawing.axes) == 1


def test_table_2_marks_what_the_vanilla_model_can_at_a_stated_threshold():
    runs = several("table2/successor", "table2/parity")
    for (length,), cell in runs[f"{PAPER}/table2/parity"][0].grid.scores.items():
        cell["teacher_forced"]["correct"] = 395 if length <= TRAINED else 400
    (axes,) = (drawing := draw("table2", runs)).axes
    cells = [text.get_text() for text in axes.texts]
    assert cells[:3] == ["100 %\ninterpolates", "0 %", "0 %\ndoes not extrapolate"]
    parity = "98.75 %\ndoes not interpolate\npublished: does not"
    assert cells[3:] == [parity, "100 %", "100 %\nextrapolates"]
    assert drawing.get_suptitle() == "The vanilla model interpolates on successor and extrapolates on parity."
    assert "at least 99%" in texts(drawing)
    assert axes.get_yticklabels()[0].get_text() == "Successor\ntrained to 4, tested to 11\n1 seed"


def test_published_values_are_hollow_marks_in_the_looks_of_their_methods():
    name = f"{PAPER}/table1/addition-abc"
    values = [plotting.Value(1.0, lengths=(n, n), trained=(6, 2)) for n in (6, 12, 60)]
    with plotting.style():
        drawing = figures.fig1(several("table1/addition-abc"), {name: values})
    line, *marks = drawing.axes[0].lines
    assert [mark.get_xdata()[0] for mark in marks] == [4, 8]  # 60 of 6 digits are 40 of 4, which were not tested
    assert {(mark.get_color(), mark.get_markerfacecolor()) for mark in marks} == {(line.get_color(), "white")}
    assert "published" in [text.get_text() for text in drawing.legends[0].get_texts()]
    assert "go on to 10 times the trained length" in texts(drawing).replace("\n", " ")
    assert drawing.get_suptitle() == "Addition at 2.8 times the trained length: ABC 97 %."


def test_table_2_has_what_is_published_in_the_same_cells():
    values = [plotting.Value(v, lengths=(n, n), trained=(6, 2)) for n, v in ((6, 1.0), (10, 0.0), (20, 0.5))]
    with plotting.style():
        drawing = figures.table2(several("table2/addition"), {f"{PAPER}/table2/addition": values})
    cells = [text.get_text().split("\n")[-1] for text in drawing.axes[0].texts]
    assert cells == ["published 100 %", "published 25 %", "published 50 %"]


def test_a_title_spells_out_the_multiple_once_and_leaves_the_name_of_n_x_1_alone():
    shown = several("table1/n-by-one-abc", "table1/addition-abc")
    title = draw("fig1", {name: shown[name] for name in sorted(shown, reverse=True)}).get_suptitle()
    assert title.startswith("N × 1 at 2.8 times the trained length: ABC 97 %; Addition at 2.8 ×: ABC 97 %")


def test_lines_are_averaged_over_the_places_that_are_calibrated_from():
    attention = np.zeros((1, 5, 6), np.float32)
    attention[0, :2, :2] = [[1.0, 0.0], [0.25, 0.75]]
    ((made,),) = several("table1/addition-abc").values()
    info = {**made.info, "spec": {**made.info["spec"], "calibration": {"rows": 2}}}
    averaged = dataclasses.replace(made, info=info, arrays={"attention.self": attention})
    assert biases.averaged_lines(averaged, 2).tolist() == [[0.25, 0.875, 0.0]]

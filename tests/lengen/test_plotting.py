"""What a drawn record shows: looked up in the axes, not in the pixels."""

import base64
import itertools
import re
import struct

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengen import plotting
from lengen.intervals import wilson
from lengen.records import AttentionMap, Grid, KeyCount, Run
from tests.counted import counted
from tests.lengen.helpers import data_spec, spec

TRAINED = {"length": (1, 5), "count": (2, 4)}
LOOK = plotting.Look("C0")


@pytest.fixture
def axes():
    with plotting.style():
        yield Figure().subplots()


def grid(rate=0.5, lengths=(1, 3, 5, 9), counts=(2, 3, 4, 8), leave=()) -> Grid:
    found = Grid(("length", "count"))
    for cell in [(length, count) for length in lengths for count in counts]:
        if cell not in leave:
            found.add(cell, "teacher_forced", counted(100, round(100 * rate), 100, 0, 10))
    return found


def curve(rates, edit=0) -> Grid:
    found = Grid(("length",))
    for length, rate in rates.items():
        found.add((length,), "teacher_forced", counted(100, round(100 * rate), 100, edit, 1000))
    return found


def box(axes):
    (found,) = [p for p in axes.patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == "#d7191c"]
    return (*found.get_xy(), found.get_width(), found.get_height())


def test_the_trained_box_encloses_exactly_the_trained_cells(axes):
    plotting.heat_map(axes, [grid()], title="t", trained=TRAINED)
    # lengths 1, 3 and 5 of 1, 3, 5, 9 downwards; counts 2, 3 and 4 of 2, 3, 4, 8 to the right
    assert box(axes) == (-0.5, -0.5, 3, 3)
    plotting.heat_map(sparse := Figure().subplots(), [grid()], title="t", trained={"length": (3, 8), "count": (3, 3)})
    assert box(sparse) == (0.5, 0.5, 1, 2)


def test_a_range_without_tested_cells_has_no_box(axes):
    plotting.heat_map(axes, [grid()], title="t", trained={"length": (6, 8), "count": (2, 4)})
    assert not axes.patches


def test_lengths_grow_downwards_and_axes_are_labelled_with_tested_values(axes):
    plotting.heat_map(axes, [grid()], title="t", trained=TRAINED)
    assert axes.yaxis_inverted() and not axes.xaxis_inverted()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Number of operands, sampled", "Operand length (digits), sampled")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "3", "4", "8"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "3", "5", "9"]


def test_cells_show_the_median_over_seeds_and_the_title_their_number(axes):
    plotting.heat_map(axes, [grid(0.1), grid(0.9), grid(0.8)], title="t", trained=TRAINED)
    assert axes.get_title() == "t, median of 3 seeds"
    assert np.all(axes.images[0].get_array() == 0.8)
    assert {text.get_text() for text in axes.texts} == {"80"}


def test_unmeasured_cells_stay_empty_over_a_hatched_ground(axes):
    plotting.heat_map(axes, [grid(leave=[(3, 8)])], title="t", trained=TRAINED)
    values = axes.images[0].get_array()
    assert np.argwhere(np.ma.getmaskarray(np.ma.masked_invalid(values))).tolist() == [[1, 3]]
    assert axes.patch.get_hatch() and len(axes.texts) == 15


def test_cells_have_sharp_edges_in_viewers_that_smooth_what_they_enlarge(axes):
    plotting.heat_map(axes, [grid(0.1, leave=[(3, 8)])], title="t", trained=TRAINED)
    svg = plotting.pictures(axes.figure, ["svg"])["svg"]
    header = base64.b64decode(re.search(rb"base64,\s*([^\"]+)", svg)[1])[16:24]
    assert min(struct.unpack(">II", header)) > 100  # pixels; one a cell would be 4


def test_models_that_have_not_learned_their_range_have_no_colour(axes):
    plotting.heat_map(axes, [grid(0.1)], title="t", trained=TRAINED, unlearned="not learned: 10 %")
    (image,) = axes.images
    red, green, blue, _ = np.asarray(image.to_rgba(0.7))
    assert red == green == blue and axes.get_title() == "t, 1 seed\nnot learned: 10 %"


def test_a_difference_of_modes_is_signed_and_says_nothing_where_it_is_zero(axes):
    both = grid(0.5)
    for cell in both.scores:
        both.add(cell, "free_running", counted(100, 30 if cell == (1, 2) else 50, 50, 0, 10))
    plotting.heat_map(axes, [both], title="t", trained=TRAINED, mode="free_running", less="teacher_forced")
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["-20"]


def value(**fields) -> plotting.Value:
    return plotting.Value(**{"value": 0.9, "lengths": (1, 10), "counts": (2, 8), "trained": (10, 8), **fields})


def test_published_values_stand_at_the_same_multiples_of_the_trained_range(axes):
    whole, one = value(), value(value=0.1, relation="<=", lengths=(18, 18), counts=(16, 16))
    far, between = value(relation=">=", lengths=(1, 30)), value(lengths=(12, 12), counts=(8, 8))  # 12 of 10: 6 of 5
    plotting.heat_map(axes, [grid()], title="t", trained=TRAINED, published=[whole, one, far, between])
    boxes = [p for p in axes.patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == "#000000"]
    # 1 to 10 of 10 are 1 to 5 of 5, which are three of the tested lengths; 2 to 8 of 8 are three counts
    assert [(b.get_x(), b.get_y(), b.get_width(), b.get_height()) for b in boxes] == [(-0.45, -0.45, 2.9, 2.9)]
    (square,) = axes.lines
    assert (square.get_xdata()[0], square.get_ydata()[0]) == (3, 3)  # 18 of 10 are 9 of 5
    assert axes.get_title().replace("\N{NO-BREAK SPACE}", " ").split("\n")[1:] == [
        "published: 90 % in every dashed cell",
        "published: ≤ 10 % at the square",
        "published: ≥ 90 % up to 3 × 1 times it",
        "published: 90 % at 1.2 × 1 times it",
    ]


def test_published_values_are_hollow_beside_curves_and_those_without_a_place_are_told(axes):
    made = spec(data_spec("addition", 5, 2)).to_dict()
    some = Run("p/f/v", "cpu", 0, 1, "reference", {"spec": made}, curve({1: 1.0, 5: 1.0, 10: 0.0}))
    values = [value(value=v, lengths=(n, n)) for n, v in ((10, 1.0), (20, 0.0), (30, 0.0))]
    drawn = plotting.published.on_curves(axes, {"a": values}, {"a": [some]}, {"a": LOOK})
    assert drawn == (2, 3.0)
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines] == [(5, 1.0), (10, 0.0)]
    assert {line.get_markerfacecolor() for line in axes.lines} == {"white"}
    assert "go on to 3 times" in plotting.published.note(*drawn)


def test_learning_is_asked_at_the_edge_of_the_trained_range():
    made = spec(data_spec("addition", 5, 2)).to_dict()

    def trained_to(rates):
        return [Run("p/f/v", "cpu", 0, 1, "reference", {"spec": made}, curve(rates))]

    assert plotting.has_learned(trained_to({4: 0.2, 5: 0.95, 6: 0.0})) and not plotting.unlearned(trained_to({5: 1.0}))
    assert plotting.unlearned(trained_to({4: 1.0, 5: 0.94})) == "not learned: 94 % at its edge"
    assert plotting.has_learned(trained_to({9: 0.0})), "a range that was not tested is not said to be unlearned"


def test_large_grids_carry_no_numbers_and_few_ticks(axes):
    plotting.heat_map(axes, [grid(lengths=range(1, 31), counts=range(2, 31))], title="t", trained=TRAINED)
    assert not axes.texts
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "5", "10", "15", "20", "25", "30"]


def test_one_seed_has_its_wilson_band_and_several_their_range(axes):
    plotting.line(axes, plotting.scores([curve({1: 1.0, 2: 0.5})]), LOOK, "a")
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert min(heights) == pytest.approx(wilson(50, 100).low) and max(heights) == 1.0
    plotting.line(axes, plotting.scores([curve({1: 0.2}), curve({1: 0.6}), curve({1: 0.5})]), LOOK, "b")
    heights = axes.collections[1].get_paths()[0].vertices[:, 1]
    assert (min(heights), max(heights)) == (0.2, 0.6)
    assert axes.lines[1].get_ydata() == [0.5]


def test_edit_distance_is_per_reference_token_or_per_response_and_one_seed_has_no_band(axes):
    grids = [curve({1: 0.5}, edit=250)]
    plotting.line(axes, plotting.scores(grids, metric="edit"), LOOK, interval=False)
    assert axes.lines[0].get_ydata() == [0.25] and not axes.collections
    assert plotting.scores(grids, metric="edit_sum")["value"].tolist() == [2.5]
    assert plotting.scores(grids, mode="sampled").empty


def test_lines_that_coincide_stand_side_by_side_and_are_equally_wide(axes):
    points = {name: plotting.scores([curve({1: 1.0, 9: 1.0})]) for name in "abcdefg"}
    plotting.lines(axes, points, plotting.in_order(points), dict(zip(points, points, strict=True)))
    assert {tuple(line.get_ydata()) for line in axes.lines} == {(1.0, 1.0)}  # the values stay
    assert {line.get_linewidth() for line in axes.lines} == {1.4}
    heights = [72 / axes.get_figure().dpi * line.get_transform().transform((1, 1))[1] for line in axes.lines]
    true = 72 / axes.get_figure().dpi * axes.transData.transform((1, 1))[1]
    assert np.diff(heights) == pytest.approx(-0.5) and np.mean(heights) == pytest.approx(true)


def test_long_lines_have_few_markers_each_beginning_elsewhere(axes):
    steps = plotting.metrics([run(metrics=[(step, "loss", 1.0) for step in range(80)])], "loss")
    plotting.line(axes, steps, LOOK, interval=False, sparse=3)
    assert axes.lines[0].get_markevery() == (3, 10)


def run(values=None, **records) -> Run:
    return Run("p/f/v", "cpu", 0, 1, "reference", {"spec": values or {}}, Grid(("length",)), **records)


def test_metrics_leave_out_what_is_not_finite_and_smooth_by_medians():
    rows = [(step, "loss", value) for step, value in enumerate((1.0, float("nan"), 9.0, 2.0))] + [(7, "other", 5.0)]
    found = plotting.metrics([run(metrics=rows), run(metrics=rows[:1])], "loss")
    assert found.to_numpy().tolist() == [[0, 0, 1], [2, 0, 9], [3, 0, 2], [0, 1, 1]]
    assert plotting.metrics([run(metrics=rows)], "loss", 3)["value"].tolist() == [5, 2, 5.5]


def test_arrays_are_means_over_all_examples_and_nan_where_nothing_was_recorded():
    some = run(arrays={"loss.1": np.array([1.0, 2.0, 3.0]), "loss.2": np.array([6.0])})
    assert plotting.arrays([some], "loss", (1, 2, 5)) == [3.0] and np.isnan(plotting.arrays([some], "loss", (5,))).all()


# -- labels ------------------------------------------------------------------------------------------------


def test_settings_are_read_by_name_and_sections_of_papers_by_their_path():
    made = spec(data_spec("addition", 7, 2)).to_dict() | {"theorem": {"variant": "printed"}}
    assert plotting.setting(run(made), "length") == 7 and plotting.setting(run(made), "spaces") == 0.0
    assert plotting.setting(run(made), "theorem.variant") == "printed"
    assert plotting.setting(run(made), "theorem.wings") is None


def test_no_two_methods_share_colour_and_marker_within_a_family_and_all_are_legible():
    looks = [(method.look.colour, method.look.marker) for method in plotting.METHODS.values()]
    families = [["none", "sinusoidal", "rope", "alibi", "rpe", "abc"], ["none", "sinusoidal", "window", "cyclic"]]
    families += [["none", "rope", "fire", "coupled"], ["unhinted", "successor", "count", "fill", "hints", "log"]]
    for family in families:
        assert len({plotting.METHODS[key].look.colour for key in family}) == len(family)
        assert len({plotting.METHODS[key].look.marker for key in family}) == len(family)
    pale = {plotting.COLOURS[6], plotting.COLOURS[8]}  # pink and yellow vanish in print
    assert not pale & {colour for colour, _ in looks}


def test_a_method_that_a_figure_has_twice_keeps_its_colour_and_gets_another_marker_and_line():
    known = plotting.looks({"a": "log", "b": "unhinted", "c": "log", "d": "log"})
    assert known["a"] == plotting.METHODS["log"].look and known["b"] == plotting.METHODS["unhinted"].look
    assert {known[name].colour for name in "acd"} == {known["a"].colour}
    assert len({look.marker for look in known.values()}) == 4 and len({known[name].line for name in "acd"}) == 3


def test_lengths_in_words():
    assert plotting.spans((1, 2, 3, 4, 6)) == "1–4, 6" and plotting.spans((1, 2, 4)) == "1, 2, 4"


# -- page --------------------------------------------------------------------------------------------------

NAMES = [f"p/t/{size}-{kind}-w{width}" for size in ("1m", "10m") for kind in ("add", "mix") for width in (64, 128)]


@given(st.lists(st.sampled_from([*NAMES, "p/t/one", "p/u/one"]), unique=True))
def test_merged_names_stand_for_the_same_names(names):
    assert sorted("".join(name) for parts in plotting.merged(names) for name in itertools.product(*parts)) == sorted(
        names
    )


def test_missing_experiments_are_named_in_words():
    words = {"add": "additions only", "mix": "with sub-tasks"}
    (shown,) = plotting.absent({name: [] for name in ("p/fig4.9/add", *NAMES)}, words)
    assert shown == (
        "Not run at this profile: additions only (Figure 4.9); "
        "1M or 10M examples, additions only or with sub-tasks, width 64 or 128 (t)."
    )
    many = plotting.absent({f"p/t/{number}": [] for number in range(100)})
    assert many == ["Not run at this profile: 100 experiments."] and not plotting.absent({})


def test_a_legend_has_every_label_once_and_axes_are_labelled_at_the_edge_only():
    figure = Figure()
    grid = figure.subplots(2, 2)
    for axes in grid.flat[:3]:
        axes.plot([1], [1], label="a line with a long name")
        axes.set(xlabel="x", ylabel="y")
    plotting.legend(figure, grid.flat, wrap=12)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a line with\na long name"]
    plotting.outer_labels(grid)
    assert [axes.get_xlabel() for axes in grid.flat[:3]] == ["", "x", "x"]  # the fourth is empty
    assert [axes.get_ylabel() for axes in grid.flat[:3]] == ["y", "", "y"]


def test_a_table_writes_every_word_in_ink_that_can_be_read(axes):
    plotting.heat_table(axes, np.array([[0.9, np.nan]]), [["dark", "none"]], rows=["r"], columns=["a", "b"])
    assert [(text.get_text(), text.get_color()) for text in axes.texts] == [("dark", "white"), ("none", "black")]
    plotting.heat_table(hatched := Figure().subplots(), np.array([[0.1, np.nan]]), [["x", "y"]], rows=["r"],
                        columns=["a", "b"], hatched=True)  # fmt: skip
    assert [text.get_text() for text in hatched.texts] == ["x"]


# -- attention ---------------------------------------------------------------------------------------------


def attention(tokens: str) -> AttentionMap:
    return AttentionMap(tuple(tokens), np.full((1, 1, len(tokens), len(tokens)), 0.5, np.float32), 3)


def test_attention_below_a_hundredth_is_black_and_above_is_not(axes):
    record = attention("$1+2=3$")
    record.weights[0, 0, 0, :2] = 0.0099, 0.02
    plotting.attention_map(axes, record, 0, 0, title="t")
    image = axes.images[0]
    black, above = image.to_rgba(np.asarray(image.get_array())[0, :2])
    assert to_hex(black) == "#000000" != to_hex(above)


def test_attention_has_tokens_on_both_axes_and_lines_between_query_and_response(axes):
    plotting.attention_map(axes, attention("$1+2=3$"), 0, 0, title="t")
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert "".join(label.get_text() for label in labels) == "$1+2=3$"
    row, column = axes.lines
    # "=" is token 4: its row predicts the first digit of the response, as a key it belongs to the query
    assert set(row.get_ydata()) == {3.5} and set(column.get_xdata()) == {4.5}


def test_long_attention_maps_label_their_separators_only(axes):
    plotting.attention_map(axes, attention("$" + "1" * 30 + "+" + "2" * 30 + "=3$"), 0, 0, title="t")
    assert "".join(label.get_text() for label in axes.get_xticklabels()) == "$+=$"


def test_a_map_of_tokens_may_have_other_columns_than_rows(axes):
    plotting.token_map(axes, np.full((3, 5), 0.5), "$12", "$1+2$", title="t", most=4)
    assert "".join(label.get_text() for label in axes.get_xticklabels()) == "$+$"  # five are more than four
    assert "".join(label.get_text() for label in axes.get_yticklabels()) == "$12"
    assert axes.images[0].get_array().shape == (3, 5)


def test_a_footnote_is_wrapped_and_leaves_out_empty_notes():
    figure = Figure(figsize=(2, 1))
    plotting.footnote(figure, "", "word " * 20)
    assert max(map(len, figure.get_supxlabel().split("\n"))) <= 38
    plotting.footnote(empty := Figure(), "")
    assert not empty.get_supxlabel()


def test_keys_per_step_draws_means_of_all_heads_and_of_the_focused_half(axes):
    rows = [KeyCount(4, m, 0, head, 10, 10 * (2 + head * m)) for m in (2, 6) for head in (0, 1)]
    rows.append(KeyCount(9, 2, 0, 0, 10, 990))  # a length with one count cannot show growth
    plotting.keys_per_step(axes, [rows], LOOK, "a")
    *_, focused, mean = axes.lines
    assert list(mean.get_xdata()) == [2, 6] and list(mean.get_ydata()) == [3, 5]
    assert list(focused.get_ydata()) == [2, 2]
    assert axes.get_xlabel() == "Number of operands" and axes.get_legend_handles_labels()[1] == ["a, 4 digits"]


def test_a_missing_panel_says_whose_place_it_is(axes):
    plotting.missing(axes, "paper/fig/a")
    assert axes.texts[0].get_text() == "paper/fig/a\nnot run at this profile"


def test_the_scale_of_heat_maps_grows_steadily_darker():
    luminance = plotting.HEAT(np.linspace(0, 1, 64))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(luminance) < 0.005) and luminance[0] - luminance[-1] > 0.7


def test_the_style_comes_from_the_defaults_and_leaves_nothing_behind():
    with mpl.rc_context({"font.size": 31, "axes.facecolor": "red", "image.interpolation": "bicubic"}):
        with plotting.style():
            assert mpl.rcParams["font.size"] == 8 and mpl.rcParams["axes.facecolor"] == "white"
            assert mpl.rcParams["image.interpolation"] == mpl.rcParamsDefault["image.interpolation"]
        assert mpl.rcParams["font.size"] == 31


def test_text_stays_text_and_an_svg_says_what_it_shows(axes):
    axes.set_title("a title & more")
    with plotting.style():
        svg = plotting.pictures(axes.get_figure(), ["svg"], "found <1 %")["svg"]
    assert b"a title &amp; more" in svg and b"<title>found &lt;1 %</title>" in svg and b"Verdana" in svg
    assert plotting.said(svg) == "found <1 %" and plotting.said(b"<svg></svg>") == ""


def test_names_of_markers_and_clips_are_numbers_in_the_order_they_appear():
    """Matplotlib's are hashes of coordinates to the last bit, which is not the same on every processor."""
    one = b'<use xlink:href="#m0123456789"/><g clip-path="url(#pabcdefabcd)"/><clipPath id="pabcdefabcd"/>'
    other = one.replace(b"pabcdefabcd", b"p9999999999").replace(b"m0123456789", b"mffffffffff")
    expected = b'<use xlink:href="#m0"/><g clip-path="url(#p1)"/><clipPath id="p1"/>'
    assert plotting.numbered(one) == plotting.numbered(other) == expected

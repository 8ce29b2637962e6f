"""What a drawn record shows: looked up in the axes, not in the pixels."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lengen import DigitSteps, Linear, from_dict, plotting, replace
from lengen.experiment import Experiment, figure_of
from lengen.plotting.caption import beyond
from lengen.plotting.frames import medians
from lengen.plotting.grid import per_cent
from lengen.results.records import AttentionMap, Counts, Grid, Run
from tests.fixtures.drawings import boxes
from tests.fixtures.runs import counted
from tests.fixtures.settings import data_spec, spec

SPEC = spec(data_spec("addition", 5, 4)).to_dict()
"""Sums of at most four numbers of at most five digits."""
PAIRS = spec(data_spec("addition", 5, 2)).to_dict()


@pytest.fixture
def axes():
    with plotting.style():
        yield Figure().subplots()


def grid(rate=0.5, lengths=(1, 3, 5, 9), counts=(2, 3, 4, 8), inside=1.0) -> Grid:
    """``inside`` is right of the trained cells, ``rate`` of the others."""
    found = Grid(("length", "count"))
    for length in lengths:
        for count in counts:
            right = round(100 * (inside if length <= 5 and count <= 4 else rate))
            for mode in ("teacher_forced", "free_running"):
                found.add((length, count), mode, counted(100, right, right, 0, 10))
    return found


def curve(rates) -> Grid:
    found = Grid(("length",))
    for length, rate in rates.items():
        found.add((length,), "teacher_forced", counted(100, round(100 * rate), 100, 0, 1000))
    return found


def run(scores=None, made=SPEC, seed=0, **records) -> Run:
    return Run("p/f/v", "cpu", seed, 1, "reference", {"spec": made}, scores or Grid(("length",)), **records)


def item(name: str, **at: str) -> Experiment:
    return Experiment(name=f"p/f/{name}", claim="c", place="p", specs={}, seeds=1, at=at)


def draw(how: str, runs, published=None, **options) -> Figure:
    with plotting.style():
        picture = figure_of("f", "t", f"lengen.plotting:{how}", [one for one, _ in runs], **options)
        return picture.draw({one.name: some for one, some in runs}, published)


def maps(figure: Figure) -> list:
    return [axes for axes in figure.axes if axes.collections and axes.yaxis_inverted()]


def test_the_trained_box_encloses_exactly_the_trained_cells(axes):
    plotting.heat_map(axes, [run(grid())], "teacher_forced", "correct")
    assert boxes(axes) == [(0, 0, 3, 3)]  # lengths 1, 3 and 5 downwards, counts 2, 3 and 4 to the right
    assert axes.yaxis_inverted() and not axes.xaxis_inverted()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "3", "4", "8"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "3", "5", "9"]


def test_cells_are_medians_over_the_seeds_that_learned_and_0_and_100_have_no_number(axes):
    runs = [run(grid(0.1)), run(grid(0.3)), run(grid(0.8)), run(grid(0.0, inside=0.2))]
    plotting.heat_map(axes, runs, "teacher_forced", "correct")
    values = np.asarray(axes.collections[0].get_array()).reshape(4, 4)
    assert np.all(values[:3, :3] == 1.0) and np.all(values[3] == 0.3)
    assert {text.get_text() for text in axes.texts} == {"", "30"}


def test_models_that_have_not_learned_their_range_have_no_colour(axes):
    plotting.heat_map(axes, [run(grid(0.0, inside=0.5))], "teacher_forced", "correct")
    red, green, blue, _ = axes.collections[0].to_rgba(0.7)
    assert red == green == blue


def test_panels_are_the_axes_of_the_table_of_a_figure_with_its_titles():
    figure = draw("grid", [(item("a"), [run(grid())]), (item("b"), [run(grid())])], titles={"a": "first"})
    assert [axes.get_title() for axes in maps(figure)] == ["first", "b"]
    runs = [
        (item(f"{pad}-{name}", pad=pad, method=name), [run(grid())]) for pad in ("with", "without") for name in "abc"
    ]
    found = maps(draw("grid", runs))
    assert [axes.get_title() for axes in found] == ["a", "b", "c", "", "", ""]
    assert [axes.get_ylabel().split("\n")[0] for axes in found if axes.get_ylabel()] == ["with", "without"]
    every = [item(f"{n}-{m}", layers=f"{n} layers", heads=f"{m} heads") for n in (1, 2) for m in (2, 4)]
    figure = draw("grid", [(one, [run(grid())] if one is not every[0] else []) for one in every])
    assert [axes.get_title() for axes in maps(figure)] == ["1 layer, 4 heads", "2 layers, 2 heads", "2 layers, 4 heads"]


def test_large_grids_carry_no_numbers_and_few_ticks(axes):
    plotting.heat_map(axes, [run(grid(lengths=(*range(1, 31), 100), counts=range(2, 31)))], "teacher_forced", "correct")
    assert not axes.texts
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "10", "20", "100"]


def test_lines_are_medians_pale_where_most_seeds_did_not_learn_and_every_seed_is_a_dot():
    seeds = [run(curve({5: 1.0, 9: rate}), PAIRS) for rate in (0.2, 0.4, 0.9)]
    figure = draw("curves", [(item("a"), [*seeds, run(curve({5: 0.1, 9: 0.0}), PAIRS)])])
    middle, hollow, dots = figure.axes[0].lines
    assert list(middle.get_ydata()) == [1.0, 0.4]
    assert sorted(dots.get_ydata()) == [0.2, 0.4, 0.9, 1.0, 1.0, 1.0] and list(hollow.get_ydata()) == [0.1, 0.0]
    assert hollow.get_markerfacecolor() == "none" != dots.get_markerfacecolor()
    assert figure.axes[0].get_ylim() == (-0.05, 1.05)  # marks at both ends lie inside
    good, bad = run(curve({5: 1.0, 9: 0.5}), PAIRS), run(curve({5: 0.1, 9: 0.0}), PAIRS)
    axes = draw("curves", [(item("a"), [good, good, bad]), (item("b"), [bad, bad, good])]).axes[0]
    assert [line.get_alpha() for line in axes.lines if line.get_linestyle() != "None"] == [1.0, 0.35]


def value(**fields) -> plotting.Point:
    return plotting.Point(**{"value": 0.9, "lengths": (9, 9), "trained": (5, 2), **fields})


def test_published_values_are_hollow_at_the_same_lengths_and_many_have_a_panel():
    runs = [(item("a"), [run(curve({5: 1.0, 9: 0.5, 12: 0.0}), PAIRS)])]
    theirs = [value(), value(value=0.1, lengths=(12, 12)), value(lengths=(30, 30)), value(trained=(10, 2))]
    axes = draw("curves", runs, {"p/f/a": theirs}).axes[0]
    marks = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in marks] == [(9, 0.9), (12, 0.1)]
    runs = [(item("a"), [run(curve(dict.fromkeys(range(1, 21), 1.0)), PAIRS)])]
    ours, theirs = draw("curves", runs, {"p/f/a": [value(lengths=(n, n)) for n in range(6, 16)]}).axes
    assert not [line for line in ours.lines if line.get_markerfacecolor() == "white"]
    assert list(theirs.lines[0].get_xdata()) == list(range(6, 16))
    assert theirs.lines[0].get_transform() == theirs.transData, "each at its own length"
    assert theirs.get_ylabel().startswith("Published") and theirs.get_xlim() == ours.get_xlim()


def test_published_values_of_one_place_stand_around_each_other_and_bounds_are_in_the_legend():
    runs = [(item(name), [run(curve({5: 1.0, 9: 0.5}), PAIRS)]) for name in "ab"]
    figure = draw("curves", runs, {"p/f/a": [value()], "p/f/b": [value(), value(value=0.1, relation="<")]})
    lines = {zorder: [line for line in figure.axes[0].lines if line.get_zorder() == zorder] for zorder in (3, 4)}
    first, second, bound = lines[4]
    shapes = [line.get_marker() for line in lines[3]]
    assert [mark.get_marker() for mark in lines[4]] == [shapes[0], shapes[1], shapes[1]] and shapes[0] != shapes[1]
    assert [mark.get_fillstyle() for mark in lines[4]] == ["full", "full", "bottom"]
    for mark in (first, second, bound):
        at = mark.get_transform().transform(mark.get_xydata())
        assert at == pytest.approx(figure.axes[0].transData.transform(mark.get_xydata())), "no mark stands aside"
    assert first.get_markersize() < second.get_markersize() and second.get_markerfacecolor() == "none"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[-2:] == ["published (hollow)", "published, below"]


def test_what_has_not_learned_is_in_the_legend_of_lines_and_in_the_title_of_a_map():
    lost = run(curve({5: 0.1, 9: 0.0}), PAIRS)
    for group, expected in (
        ([lost], ["seed, not learned", "pale: most seeds not learned"]),
        ([run(curve({5: 1.0}), PAIRS)], []),
    ):
        figure = draw("curves", [(item("a"), group)])
        assert [text.get_text() for legend in figure.legends for text in legend.get_texts()] == ["a", *expected][
            : 3 * len(expected)
        ]
    for inside, title in ((1.0, "a"), (0.1, "a\ngrey: not learned")):
        assert draw("grid", [(item("a"), [run(grid(0.5, inside=inside))])]).axes[0].get_title() == title


def test_a_table_has_the_trained_lengths_together_but_those_with_published_cells():
    a, b = [run(curve({4: 1.0, 5: 1.0, 9: 0.25}), PAIRS)], [run(curve({5: 0.5, 9: 0.0}), PAIRS)]
    runs = [(item("a"), a), (item("b"), b)]
    ours, theirs = draw("table", runs, {"p/f/a": [value(region="in_range", value=0.9), value(value=0.3)]}).axes
    assert [label.get_text() for label in ours.get_xticklabels()] == ["1–5", "9"]
    assert sorted(text.get_text() for text in ours.texts) == ["0", "100", "25", "50"]
    assert sorted(text.get_text() for text in theirs.texts) == ["30", "90"]
    runs = [(item("a"), [run(curve({4: 0.5, 5: 1.0, 9: 0.25}), PAIRS)])]
    ours, theirs = draw("table", runs, {"p/f/a": [value(lengths=(5, 5), value=1.0), value(value=0.3)]}).axes
    assert [label.get_text() for label in ours.get_xticklabels()] == ["5", "9"]
    assert [text.get_text() for text in ours.texts] == ["100", "25"]
    assert [text.get_text() for text in theirs.texts] == ["100", "30"]


def test_shares_and_lengths_in_words():
    rates = (0.0, 0.0004, 0.04, 0.5, 0.996, 0.9996, 1.0)
    assert [per_cent(rate) for rate in rates] == ["0", "<0.1", "4.0", "50", "99.6", ">99.9", "100"]
    assert plotting.spans((1, 2, 3, 4, 6)) == "1–4, 6" and plotting.spans((1, 2, 4)) == "1, 2, 4"


def test_what_is_recorded_in_training_is_drawn_over_steps():
    rows = [(step, f"exact_match.{n}", n / 10) for step in (1, 2) for n in (5, 9)]
    options = {"families": {"exact_match": "Exact match"}, "lines": "Digits", "shares": ("exact_match",)}
    axes = draw("training", [(item("a"), [run(made=PAIRS, metrics=tuple(rows))])], dashed=True, **options).axes[0]
    assert [(line.get_linestyle(), list(line.get_ydata())) for line in axes.lines] == [
        ("-", [0.5, 0.5]), ("--", [0.9, 0.9]),
    ]  # fmt: skip


def test_a_caption_names_how_far_variants_get_and_counts_those_that_lost_seeds():
    picture = figure_of("f", "t", "x:grid", [item("a", m="first"), item("b", m="second")], caption="Sums.")
    held = {"p/f/a": [run(grid(0.5))] * 2, "p/f/b": [run(grid(0.0, inside=0.5))]}
    said = plotting.caption(picture, held, {"p/f/a": [value(trained=(10, 4))]}, "grid")
    assert said.startswith("Sums. Mean exact match beyond the trained range: first (50 %).")
    assert "Median of 1 to 2 seeds, cpu profile." in said and "Grey maps: not learned." in said
    assert "longer problems and are not drawn" in said
    names = [f"v{k}" for k in range(9)]
    picture = figure_of("f", "t", "x:grid", [item(name, m=name) for name in names])
    held = {f"p/f/{name}": [run(grid(k / 10))] for k, name in enumerate(names)}
    said = plotting.caption(picture, held, {}, "grid")
    assert "v8 (80 %); v7 (70 %); v6 (60 %); 3 others; v2 (20 %); v1 (10 %); v0 (0 %)." in said
    good, bad = run(curve({5: 1.0, 9: 0.8}), PAIRS), run(curve({5: 0.5, 9: 0.0}), PAIRS)
    items = [item(f"v{k}") for k in range(5)]
    held = {one.name: [good, bad] for one in items}
    said = plotting.caption(figure_of("f", "t", "x:table", items), held, {}, "table")
    assert "Medians leave out seeds that have not learned: of 5 variants." in said


def test_a_caption_says_which_seeds_medians_leave_out_and_what_one_run_shows():
    good, bad = run(curve({5: 1.0, 9: 0.8}), PAIRS), run(curve({5: 0.5, 9: 0.0}), PAIRS)
    held = {"p/f/a": [good, good, bad], "p/f/b": [bad, bad, good]}
    items = [item("a", m="first"), item("b", m="w = 1")]
    said = plotting.caption(figure_of("f", "t", "x:curves", items), held, {}, "curves")
    assert said.startswith("Mean exact match beyond the trained range: first (80 %). Median of 3 seeds, cpu profile.")
    assert "Medians leave out seeds that have not learned: first 1 of 3. Learned: the 95 % interval" in said
    assert "Hollow dots: not learned. Pale: most seeds have not learned: w = 1." in said
    assert list(medians(plotting.values(held["p/f/a"], "exact"))) == [1, 0.8]
    assert list(medians(plotting.values(held["p/f/b"], "exact"))) == [0.5, 0]
    beside = plotting.caption(figure_of("f", "t", "x:curves", items), held, {"p/f/a": [value()]}, "curves")
    assert "first 1 of 3; the comparison with published values keeps them." in beside
    assert beside.endswith("Published values stand at the same lengths.")
    said = plotting.caption(figure_of("f", "t", "x:table", items[:1]), {"p/f/a": [good, good, bad]}, {}, "table")
    assert "Grey rows" not in said, "no row is grey"
    told = plotting.caption(figure_of("f", "t", "x:curves", items[:1]), {"p/f/a": [good, good]}, {}, "curves")
    assert "earned:" not in told and "Hollow" not in told, "nothing is marked"
    short, far = run(curve({5: 1.0, 9: 0.8}), PAIRS), run(curve({5: 1.0, 9: 0.8, 40: 0.0}), PAIRS)
    one = figure_of("f", "t", "x:maps", [item("a")], seeds="one")
    assert plotting.caption(one, {"p/f/a": [short, short]}, {}, "maps") == "One of 2 seeds, cpu profile."
    each = figure_of("f", "t", "x:dots", [item("a")], seeds="each")
    assert plotting.caption(each, {"p/f/a": [short, short]}, {}, "dots") == "2 seeds, cpu profile."
    items = [item("a"), item("b")]
    said = plotting.caption(figure_of("f", "t", "x:curves", items), {"p/f/a": [short], "p/f/b": [far]}, {}, "curves")
    assert "beyond the trained range, of each at its own tested lengths: a (80 %); b (40 %)." in said


def test_scores_metrics_and_arrays_become_numbers_to_draw():
    tenths = grid(0.1, lengths=(5, *range(6, 16)), counts=(2,))
    assert beyond([run(tenths)]) == 0.1  # a plain sum of ten tenths is below 1 before Python 3.12
    found = Grid(("length",))
    found.add((1,), "teacher_forced", counted(100, 50, 100, 250, 1000))
    assert plotting.scores([run(found)], metric="edit")["value"].tolist() == [0.25]
    assert plotting.scores([run(found)], metric="edit_sum")["value"].tolist() == [2.5]
    assert plotting.scores([run(found)], mode="sampled").empty
    rows = [(step, "loss", value) for step, value in enumerate((1.0, float("nan"), 9.0, 2.0))] + [(7, "other", 5.0)]
    found = plotting.metrics([run(metrics=rows), run(metrics=rows[:1])], "loss")
    assert found.to_numpy().tolist() == [[0, 0, 1], [2, 0, 9], [3, 0, 2], [0, 1, 1]]
    assert plotting.metrics([run(metrics=rows)], "loss", 3)["value"].tolist() == [5, 2, 5.5]
    some = run(arrays={"loss.1": np.array([1.0, 2.0, 3.0]), "loss.2": np.array([6.0])})
    assert plotting.arrays([some], "loss", (1, 2, 5)) == [3.0] and np.isnan(plotting.arrays([some], "loss", (5,))).all()


def test_the_frame_of_a_run_has_a_row_a_cell_and_mode_and_is_made_once():
    made = Grid(("length", "count"))
    made.add((3, 2), "teacher_forced", counted(10, 5, 6, 0, 10))
    made.add((4, 2), "sampled", Counts(n=8, correct=2))
    frame = run(made, seed=7).frame
    assert frame[["seed", "length", "count", "mode", "n", "correct"]].to_numpy().tolist() == [
        [7, 3, 2, "teacher_forced", 10, 5],
        [7, 4, 2, "sampled", 8, 2],
    ]
    assert np.isnan(frame["reference_tokens"].iloc[1]), "not counted there"
    one = run(made)
    assert one.frame is one.frame and one.trained is one.trained
    assert run().frame.empty and {"length", "mode", "n"} <= set(run().frame)


def test_the_setting_of_a_run_is_built_once_and_says_whether_it_has_a_scratchpad():
    made = PAIRS | {"theorem": {"variant": "printed"}}
    found = run(made=made)
    assert found.spec == from_dict(PAIRS) and found.spec is found.spec
    for format, pad in ((Linear(), False), (Linear(scratchpad=True), True), (DigitSteps(), True)):
        made = replace(from_dict(PAIRS), data={"format": format}).to_dict()
        assert run(made=made).spec.data.format.scratchpad is pad
    one = item("d512", width="{model.width} wide", layers="{model.layers} layers")
    made = {**SPEC, "model": {**SPEC["model"], "width": 1024, "layers": 1}}
    assert plotting.label(one, [run(made=made)]) == "1,024 wide, 1 layer"


def test_every_line_of_a_figure_has_a_look_of_its_own():
    families = [["NoPE", "sinusoids", "RoPE", "ALiBi", "RPE", "ABC"], ["NoPE", "RoPE", "FIRE", "Position coupling"]]
    families += [["no hints", "successor hints", "count hints", "fill hints", "all hints"]]
    families += [[f"v{k}" for k in range(28)]]
    own = plotting.looks(["sinusoids", "other", "another"])
    assert len({look.marker for look in own.values()}) == 3, "without colours, too"
    for family in families:
        found = plotting.looks(family)
        assert len({(look.colour, look.marker, look.line) for look in found.values()}) == len(family)
    pale = {plotting.COLOURS[6], plotting.COLOURS[8]}  # pink and yellow vanish in print
    assert not pale & {look.colour for look in plotting.LOOKS.values()}


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
        assert "".join(label.get_text() for label in labels).replace("\\", "") == "$1+2=3$"
    row, column = axes.lines
    # "=" is token 4: its row predicts the first digit of the response, as a key it belongs to the query
    assert set(row.get_ydata()) == {3.5} and set(column.get_xdata()) == {4.5}


def test_long_attention_maps_label_their_separators_only(axes):
    plotting.attention_map(axes, attention("$" + "1" * 30 + "+" + "2" * 30 + "=3$"), 0, 0, title="t")
    assert "".join(label.get_text() for label in axes.get_xticklabels()).replace("\\", "") == "$+="


def test_the_style_leaves_nothing_behind_and_heat_maps_grow_steadily_darker():
    luminance = plotting.HEAT(np.linspace(0, 1, 64))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(luminance) < 0.005) and luminance[0] - luminance[-1] > 0.7
    with mpl.rc_context({"font.size": 31, "axes.facecolor": "red", "image.interpolation": "bicubic"}):
        with plotting.style():
            assert mpl.rcParams["font.size"] < 10 and mpl.rcParams["axes.facecolor"] == "white"
            assert mpl.rcParams["image.interpolation"] == mpl.rcParamsDefault["image.interpolation"]
        assert mpl.rcParams["font.size"] == 31


def test_text_stays_text_and_names_of_markers_are_numbers_in_their_order(axes):
    axes.set_title("a title & more")
    with plotting.style():
        svg = plotting.pictures(axes.get_figure(), ["svg"], "found <1 %")["svg"]
    assert b"a title &amp; more" in svg and b"<title>found &lt;1 %</title>" in svg and b"Verdana" in svg
    assert plotting.said(svg) == "found <1 %" and plotting.said(b"<svg></svg>") == ""
    one = b'<use xlink:href="#m0123456789"/><g clip-path="url(#pabcdefabcd)"/><clipPath id="pabcdefabcd"/>'
    other = one.replace(b"pabcdefabcd", b"p9999999999").replace(b"m0123456789", b"mffffffffff")
    expected = b'<use xlink:href="#m0"/><g clip-path="url(#p1)"/><clipPath id="p1"/>'
    assert plotting.numbered(one) == plotting.numbered(other) == expected

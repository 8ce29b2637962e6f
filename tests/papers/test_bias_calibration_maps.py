"""Figures and measures of attention of bias calibration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as Drawing

import lengen
from lengen import PairAddition, Successor
from lengen.metrics.run_measures import Missing
from lengen.models.window_masks import window_cross, window_self
from lengen.results.records import MODES, Grid, Run
from lengen.settings.changes import overlay
from papers.bias_calibration import special_plots
from papers.bias_calibration.experiments import FIGURES
from papers.bias_calibration.measures import follows, shares_near
from papers.bias_calibration.procedures import heads_by_operand
from tests.fixtures.drawings import boxes
from tests.fixtures.runs import counted

PAPER = "bias_calibration"
TRAINED = 4
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 11)
HOLDS = ("abc", "cyclic", "nope", "code", "sm", "max", "min", "4", "8", "16")
"""Kinds whose made accuracy stays near 1; the others fall to 0 beyond the trained length."""
SPEC = lengen.Spec(
    data=lengen.DataSpec(task=lengen.PairAddition(TRAINED), format=lengen.Linear(width=12, separator="$")),
    model=lengen.ModelSpec(layers=1, heads=8, width=8, head_dim=4, ff_width=8),
    train=lengen.TrainSpec(steps=4, batch=2, lr=1e-3),
    test=lengen.TestSpec(lengths=LENGTHS),
)
TASKS = {
    "parity": lengen.RunningXor(TRAINED, base=2),
    "listops": lengen.ListOpsSum(TRAINED),
    "n-by-one": lengen.NByOne(TRAINED),
}
"""Task of an experiment whose name has the key in it; of others addition."""
RNG = np.random.default_rng(0)
DIGITS = 12
"""Fixed length: source "$ a..a + b..b $" (27 places), target "$ " and 13 digits."""
FIRST, SECOND = range(1, DIGITS + 1), range(DIGITS + 2, 2 * DIGITS + 2)
ROWS, COLUMNS = DIGITS + 2, 2 * DIGITS + 3


def run(name: str, seed=0, arrays=None, changes=None) -> Run:
    """A run of the setting with changes laid over it, as `lengen.settings.changes` takes them."""
    task = next((TASKS[key] for key in TASKS if key in name), SPEC.data.task)
    spec = overlay(SPEC, {"data.task": task}, changes or {})
    info = {"spec": spec.to_dict(), "spec_hash": "x", "overrides": []}
    grid, holds = Grid(("length",)), name.split("/")[-1].split("-")[-1] in HOLDS
    for length, mode in itertools.product(LENGTHS, MODES):
        right = 400 - seed - length if holds else 400 if length <= TRAINED else 0
        grid.add((length,), mode, counted(400, right, right, 0 if right > 300 else 100 * length, 400 * length))
    return Run(f"{PAPER}/{name}", "cpu", seed, 1, "reference", info, grid, arrays=arrays or {})


def several(*names: str, seeds=1, changes=None) -> dict[str, list[Run]]:
    return {f"{PAPER}/{name}": [run(name, seed, changes=changes) for seed in range(seeds)] for name in names}


def probe(source: str, target: str, cross: dict[int, int], own: dict[int, int], heads=8) -> dict[str, np.ndarray]:
    """Attention in which ``cross`` says where a head's anti-diagonal starts, ``own`` how far below its diagonal lies.

    The lines end with the trained rows; beyond them, and in all other heads, attention is uniform.
    """
    rows, columns = len(target), len(source)
    wide = np.full((heads, rows, columns), 1 / columns)
    square = np.tile(np.tri(rows) / np.arange(1, rows + 1)[:, None], (heads, 1, 1))
    for row in range(min(TRAINED, rows)):
        for head, place in cross.items():
            wide[head, row] = 0.05 / columns
            wide[head, row, place - row] = 0.95 - 0.01 * head
        for head, below in own.items():
            if row >= below:
                square[head, row] = 0
                square[head, row, row - below] = 1 - 0.01 * head
    return {
        "probe0.cross": wide, "probe0.self": square, "probe0.source": np.array(list(source)),
        "probe0.target": np.array(list(target)),
    }  # fmt: skip


def biases(rows: int, columns: int, starts: dict[int, tuple[int, ...]], heads=8) -> dict[str, np.ndarray]:
    """Biases with open anti-diagonals that start at the given columns; heads without any are transparent."""
    cross = np.zeros((heads, rows, columns), np.float32)
    own = np.zeros((heads, rows, rows), np.float32)
    for head, places in starts.items():
        cross[head] = own[head] = -np.inf
        for number, place in enumerate(places):
            for row in range(min(rows, place + 1)):
                cross[head, row, place - row] = -0.3 * number
        for row in range(rows):
            own[head, row, max(row - head % 2, 0)] = 0
    averaged = np.tile(np.tri(rows) / np.arange(1, rows + 1)[:, None], (heads, 1, 1))
    averaged[3] = np.eye(rows, k=-1)
    return {"bias.cross": cross, "bias.self": own, "attention.self": averaged}


def relative(heads=8, most=4) -> dict[str, np.ndarray]:
    distance = np.arange(-most, most + 1)
    score = np.array([[head * 0.1 * -abs(d + 1) for d in distance] for head in range(heads)])
    return {"relative.distance": distance, "relative.score": score}


def calibrated(name: str, digits=12) -> list[Run]:
    """An ABC run of addition or n-by-one whose head 6 is transparent."""
    if "n-by-one" in name:
        columns, starts = digits + 4, dict.fromkeys((0, 1, 2, 4, 6, 7), (digits,)) | {3: (digits + 2,)}
    else:
        columns = 2 * digits + 3
        starts = {0: (digits,), 1: (2 * digits + 1,), 2: (2 * digits + 1, 2 * digits + 2), 3: (digits,), 4: (digits, 5)}
        starts |= {6: (2 * digits + 1,), 7: (digits,)}
    made = run(name, arrays=biases(digits + 1, columns, starts), changes={"data.format.width": digits})
    made.info["spec"]["calibration"] = {"rows": digits + 1}  # type: ignore[index]
    return [made]


SUCCESSOR = probe("$003611451$", "$15411630", {1: 9, 2: 6}, {4: 1, 5: 0})
ADDITION = probe("$078114514+024191981$", "$594603201", {1: 19, 2: 19, 6: 9}, {4: 1, 5: 0})


def draw(name: str, runs) -> Drawing:
    figure = next(figure for figure in FIGURES if figure.name == name)
    with lengen.plotting.style():
        return figure.draw(runs)


def maps(drawing: Drawing) -> list:
    return [axes for axes in drawing.axes if axes.images]


def attentive(name: str, arrays) -> dict:
    return {f"{PAPER}/{name}": [run(name, arrays=arrays)]}


def test_the_sharpest_heads_are_found_and_every_head_is_coloured_by_its_values():
    made = run("fig9/addition", arrays=ADDITION)
    first, second, third, *_ = special_plots.cross_lines(made)
    assert [(line.head, line.place) for line in (first, second, third)] == [(1, 19), (2, 19), (6, 9)]
    assert first.weight == pytest.approx(0.94)
    # of the heads on the first operand only 6 is sharp; in reading order it comes first
    assert [line.head for line in special_plots.by_operand(made)] == [6, 1]
    assert [(line.head, line.place) for line in special_plots.self_lines(made)[:2]] == [(4, 1), (5, 0)]
    found = maps(draw("fig4", {f"{PAPER}/fig4/addition": calibrated("fig4/addition")}))
    assert len(found) == 8 + 8  # self-attention of all heads below cross-attention
    assert found[2].images[0].get_clim() == pytest.approx((-0.3, 0.0))
    assert found[0].images[0].norm(0.0) == 1  # a single value is the greatest
    assert np.ma.getmaskarray(found[0].images[0].get_array()).sum() == 13 * 27 - 13
    assert not np.ma.getmaskarray(found[5].images[0].get_array()).any()  # nothing is closed, the bias is 0


@given(trained=st.integers(1, 6), rows=st.integers(1, 7), columns=st.integers(6, 9), seed=st.integers(0, 99))
def test_lines_are_means_along_the_anti_diagonal(trained, rows, columns, seed):
    made = run("fig8/successor", arrays={"probe0.cross": np.random.default_rng(seed).random((2, rows, columns))})
    made.info["spec"]["data"]["task"]["digits"] = trained
    best = special_plots.cross_lines(made)[0]
    weights = made.arrays["probe0.cross"]
    used = range(min(trained, rows))
    every = [np.mean([weights[h, i, c - i] for i in used]) for h in range(2) for c in range(used[-1], columns)]
    assert best.weight == pytest.approx(max(every))
    assert best.weight == pytest.approx(np.mean([weights[best.head, i, best.place - i] for i in used]))


@given(trained=st.integers(1, 6), rows=st.integers(2, 7))
def test_self_lines_survive_every_size(trained, rows):
    made = run("fig8/successor", arrays={"probe0.self": np.tile(np.eye(rows), (3, 1, 1))})
    made.info["spec"]["data"]["task"]["digits"] = trained
    assert special_plots.self_lines(made)[0] == special_plots.HeadLine(0, 0, 1.0)


@pytest.mark.slow
def test_figures_2_8_and_9_show_cross_and_self_attention_with_boxes():
    cross, own, scale = draw("fig8", attentive("fig8/successor", SUCCESSOR)).axes
    assert cross.get_title().endswith("cross, head 2") and own.get_title().endswith("self, head 5")
    assert "".join(label.get_text() for label in cross.get_xticklabels()).count("1") == 3
    # the last four of nine digits, read by the first four rows
    assert boxes(cross) == [(5.5, -0.5, 4, 4)] and boxes(own) == [(-0.5, -0.5, 4, 4)]
    assert scale.get_ylabel().startswith("Attention")
    drawing = draw("fig9", attentive("fig9/addition", ADDITION))
    heads = [axes.get_title().rsplit(", ", 1)[1] for axes in maps(drawing) if "cross" in axes.get_title()]
    assert heads == ["head 7", "head 2"] and len(maps(drawing)) == 4
    assert boxes(maps(drawing)[0]) == [(5.5, -0.5, 4, 4), (15.5, -0.5, 4, 4)]
    runs = attentive("fig2/successor", SUCCESSOR) | attentive("fig2/addition", ADDITION)
    assert [axes.get_title().split(": ")[1] for axes in maps(draw("fig2", runs))] == ["cross, head 2"] * 2
    assert len(maps(draw("fig2", runs | several("fig2/addition")))) == 1


def test_figure_6_shows_functions_of_the_distance_and_figures_10_and_11_need_no_run():
    runs = {f"{PAPER}/fig6/rpe": [run("fig6/rpe", arrays=relative())], f"{PAPER}/fig6/abc": calibrated("fig6/abc")}
    left, right = draw("fig6", runs).axes
    assert len(left.lines) == len(right.lines) == 8
    # distances beyond 4 are clipped; head 8 scores 0.7 for each step from -1
    last = dict(zip(left.lines[7].get_xdata(), left.lines[7].get_ydata(), strict=True))
    assert last[-11] == last[-4] == pytest.approx(-2.1)
    assert dict(zip(right.lines[3].get_xdata(), right.lines[3].get_ydata(), strict=True))[-1] == 1
    own, unary, binary = draw("fig10_11", {}).axes
    open_ = window_self(7, 1), window_cross(7, 8, 1, 1), window_cross(7, 15, 1, 2)
    for axes, cells in zip((own, unary, binary), open_, strict=True):
        np.testing.assert_array_equal(axes.collections[0].get_array(), cells)
    assert [label.get_text() for label in binary.get_xticklabels()][2] == "a6"


@pytest.mark.parametrize("units", [[9], [5, 11], [5, 6]])
@pytest.mark.parametrize("digits", [range(1), range(2, 5), range(6)])
def test_shares_are_those_of_a_loop(units, digits):
    cross = RNG.random((3, 6, 13))
    cross /= cross.sum(axis=2, keepdims=True)
    shares = []
    for head in cross:  # a place counts once, whichever operands it is near
        near = [
            weight
            for digit in digits
            for place, weight in enumerate(head[digit])
            if any(abs(place - (unit - digit)) <= 1 for unit in units)
        ]
        shares.append(sum(near) / len(digits))
    assert shares_near(cross, units, digits).tolist() == pytest.approx(shares)


def probed(task, *operands, follow, width=7):
    """A run of a model trained on 2 digits whose head 1 looks at the digit to be written up to ``follow``."""
    text = "$" + "+".join(operand.rjust(width, "0") for operand in operands) + "$"
    cross = np.full((2, width + 1, len(text)), 1 / len(text))
    for digit in range(follow):
        cross[1, digit] = 0.0
        cross[1, digit, len(text) - 2 - digit] = 1.0
    arrays = {"probe0.cross": cross.astype(np.float16), "probe0.source": np.array(list(text))}
    return run("table1/some-vanilla", arrays=arrays, changes={"data.task": task(2)})


@pytest.mark.parametrize(("task", "operands"), [(Successor, ["12345"]), (PairAddition, ["345", "12345"])])
def test_the_head_that_follows_up_to_the_trained_length_is_asked_everywhere(task, operands):
    made = probed(task, *operands, follow=3)
    near = 3 * len(operands) / (8 * len(operands) + 1)  # of a row that is spread evenly: three places an operand
    values = {name: follows(name).value(made)[0] for name in ("trained", "beyond", "far")}
    assert values == pytest.approx({"trained": 1.0, "beyond": (1 + near) / 2, "far": near}, abs=1e-3)


def test_a_probe_that_is_too_short_or_missing_is_said():
    with pytest.raises(Missing, match="its probes have 2 digits, none from there to twice the trained length"):
        follows("beyond").value(probed(Successor, "12", follow=2))
    with pytest.raises(Missing, match="recorded no attention on a printed example"):
        follows("trained").value(run("table1/successor-vanilla"))
    with pytest.raises(KeyError):
        follows("everywhere")


def head(*units: int) -> np.ndarray:
    """A head whose open anti-diagonals start at these columns of row 0."""
    bias = np.full((ROWS, COLUMNS), -np.inf, np.float32)
    for column in units:
        for row in range(min(ROWS, column + 1)):
            bias[row, column - row] = 0.3
    return bias


A, B, NONE, BOTH = head(FIRST[-1]), head(SECOND[-1]), head(), head(FIRST[-1], SECOND[-1])
VERTICAL, AT_THE_END = head(), head()
VERTICAL[:, SECOND[0]] = AT_THE_END[:, COLUMNS - 1] = 0.0


@pytest.mark.parametrize(("heads", "counts"), [
    ((A, B, B), (1, 2)),
    # One digit less significant starts at the operator or the end; one more significant one place to the left.
    ((head(FIRST[-1] + 1), head(FIRST[-1] - 1), head(SECOND[-1] + 1), head(SECOND[-1] - 1)), (2, 2)),
    ((BOTH, np.zeros((ROWS, COLUMNS)), NONE), (0, 0)),
    ((VERTICAL, AT_THE_END), (0, 1)),
    # Open lines in the authors' repository (AttentionBiasCalibration, windowCross_120_5.t).
    ((B, B, NONE, B, BOTH, B, A, A), (2, 4)),
], ids=["units", "neighbouring digits", "both, everything, nothing", "vertical", "published"])  # fmt: skip
def test_a_head_counts_for_the_operand_that_its_lines_begin_in(heads, counts):
    assert np.isfinite(B[ROWS - 1, FIRST[-1]]), "the line of the second operand reaches the first"
    assert heads_by_operand(np.stack(heads), FIRST, SECOND, TRAINED) == counts


@given(st.lists(st.sampled_from([(), (FIRST[-1],), (SECOND[-1],), (FIRST[-1], SECOND[-1])]), min_size=1, max_size=8))
def test_counts_are_those_of_the_heads_in_any_order_and_swap_with_the_operands(kinds):
    bias = np.stack([head(*units) for units in kinds])
    expected = kinds.count((FIRST[-1],)), kinds.count((SECOND[-1],))
    assert heads_by_operand(bias, FIRST, SECOND, TRAINED) == expected
    assert heads_by_operand(bias[::-1], SECOND, FIRST, TRAINED) == expected[::-1]

"""The figures of paper 4: looked up in the axes, for runs whose content is known."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from lengen.config import Carries, Filling
from lengen.config.experiment import Figure
from lengen.intervals import wilson
from papers.task_hinting import figures
from papers.task_hinting.figures import mechanisms, panels, words
from reproduce.output.figures import render
from tests.papers import made_task_hinting as made
from tests.papers.made import flat, texts, unnamed
from tests.papers.made_task_hinting import FIGURES, LENGTHS, PAPER, N, complete, draw, legend, run, several, shares

ROOT = Path(__file__).resolve().parents[2]
SEVERAL = complete(3)
LINES = [
    "fig3_2", "fig3_3", "fig3_5", "fig3_6", "fig3_7", "fig3_11", "fig4_15", "fig4_16", "table1", "table2", "table3",
    "positions",
]  # fmt: skip
"""Figures of one panel with a line an experiment."""
PROJECTIONS = ["fig4_12", "fig4_13", "fig4_14"]


# -- every figure ------------------------------------------------------------------------------------------


def test_every_published_figure_is_exported():
    theorem = {"thm5_1", "thm5_1_formats", "thm5_1_repeats"}  # tests/papers/test_task_hinting_theorem_figures.py
    assert set(FIGURES) | theorem | {"table_csv"} == set(figures.__all__)
    assert all(callable(getattr(figures, name)) for name in figures.__all__)


@pytest.mark.parametrize("name", FIGURES)
def test_a_complete_figure_misses_nothing_and_every_missing_experiment_is_named(name):
    assert "notrun" not in flat(draw(name)).lower()
    first, *rest = FIGURES[name]
    others = rest or [f"{PAPER}/fig9/other"]
    drawing = draw(name, {first: FIGURES[name][first]} | {other: [] for other in others})
    assert "Notrunatthisprofile" in flat(drawing) and not unnamed(drawing, others, words.SLUGS)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_any_run_says_whose_place_it_is(name):
    drawing = draw(name, {other: [] for other in FIGURES[name]})
    assert len(drawing.axes) == 1 and not unnamed(drawing, FIGURES[name], words.SLUGS)
    assert "not run at this profile" in texts(drawing)


@pytest.mark.parametrize("name", ["fig3_7", "fig3_8", "fig3_9", *PROJECTIONS, "fig4_15", "fig4_16", "training"])
def test_runs_that_did_not_record_what_a_figure_needs_are_no_error(name):
    bare = {key: [run(key.removeprefix(f"{PAPER}/"), edits=False)] for key in FIGURES[name]}
    drawing = draw(name, bare)
    assert "not recorded at this profile" in texts(drawing) and not drawing.legends


@pytest.mark.parametrize("name", LINES)
def test_lines_are_told_apart_in_colour_and_in_print_and_the_axes_say_what_they_are(name):
    axes, *more = draw(name).axes
    assert not more and len(axes.lines) - 2 * (name in ("table1", "table2")) == len(FIGURES[name])
    drawn = axes.lines[: len(FIGURES[name])]
    assert len({line.get_marker() for line in drawn}) == len(drawn)
    looks = {(to_rgba(line.get_color()), line.get_linestyle()) for line in drawn}
    assert len(looks) == len(drawn)  # a method that is drawn twice keeps its colour
    assert len({line.get_linewidth() for line in drawn}) == 1
    assert axes.get_xlabel().startswith("Length of the ") and axes.get_ylabel()
    assert len(set(legend(draw(name)))) == len(FIGURES[name])


@pytest.mark.parametrize("name", [*LINES, "fig3_8", "fig3_9"])
def test_the_trained_lengths_are_grey_and_named_in_every_panel(name):
    for axes in draw(name).axes:
        (band,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        assert (band.get_x(), band.get_width()) == (1.5, 9.0)
        assert "trained" in [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("name", LINES)
def test_an_experiment_keeps_its_colour_where_others_are_missing(name):
    last = list(FIGURES[name])[-1]
    alone = draw(name, {key: runs if key == last else [] for key, runs in FIGURES[name].items()}).axes[0].lines[0]
    among = draw(name).axes[0].lines[len(FIGURES[name]) - 1]
    assert to_rgba(alone.get_color()) == to_rgba(among.get_color())


def test_a_method_has_one_colour_in_every_figure():
    shown = {}
    for name in ("fig3_6", "fig3_11", "fig4_15", "fig4_16", "table1", "table2", "table3"):
        for line, runs in zip(draw(name).axes[0].lines, FIGURES[name].values(), strict=False):
            shown.setdefault(words.method(runs[0]), set()).add(to_rgba(line.get_color()))
    assert all(len(colours) == 1 for colours in shown.values())
    hints = {line.get_label(): to_rgba(line.get_color()) for axes in draw("training").axes[5:] for line in axes.lines}
    assert all({hints[hint]} == shown[hint] for hint in ("successor", "count", "fill"))


@pytest.mark.parametrize("name", [name for name in LINES if name not in ("fig3_7", "fig4_16")])
def test_one_seed_has_its_wilson_interval_and_several_their_range(name):
    for runs, seeds in ((FIGURES[name], 1), (SEVERAL[name], 3)):
        drawing = draw(name, runs)
        axes = drawing.axes[0]
        assert len(axes.collections) == len(runs)
        for line, band, some in zip(axes.lines, axes.collections, runs.values(), strict=False):
            found = (mechanisms.minimum if name == "fig4_15" else panels.exact)(some)
            edges = band.get_paths()[0].vertices
            for length, middle in zip(line.get_xdata(), line.get_ydata(), strict=True):
                rows = found[found["length"] == length]
                values = sorted(rows["value"])
                counted = (int(rows["total"].iloc[0]), int(rows["n"].iloc[0]))
                low, high = wilson(*counted) if seeds == 1 else (values[0], values[-1])
                assert middle == values[len(values) // 2] and len(values) == seeds
                here = edges[edges[:, 0] == length][:, 1]
                assert (here.min(), here.max()) == pytest.approx((low, high))
        shown = texts(drawing).replace("\n", " ")
        assert ("Wilson" in shown) is (seeds == 1)
        assert (f"Seeds of a setting: {seeds}. Lines: medians; bands: ranges over seeds." in shown) is (seeds > 1)


# -- Figures 3.2, 3.3 and 3.5: data and depth --------------------------------------------------------------


def test_sizes_have_the_papers_name_the_size_of_this_run_and_its_epochs():
    assert legend(draw("fig3_2")) == [
        "1M (here 250 examples, 102 epochs)", "10M (here 2,500 examples, 10 epochs)",
        "40M (here 10,000 examples, 2.6 epochs)", "160M (here 40,000 examples, 0.6 epochs)",
    ]  # fmt: skip
    assert legend(draw("fig3_5"))[0] == "1M (here 2 × 125 examples, 102 epochs)"
    assert "Successor hints." in texts(draw("fig3_5")) and "No hints." in texts(draw("fig3_2"))
    (line, *_) = draw("fig3_2").axes[0].lines
    assert list(line.get_xdata()) == list(LENGTHS) and list(line.get_ydata()) == shares(15)


def test_sizes_at_the_paper_profile_and_endless_examples_are_named_as_they_are():
    runs = several("fig3.2/1m", examples=10**6, steps=100_000) | several("fig3.2/160m", examples=0)
    assert legend(draw("fig3_2", runs)) == ["1M (6.4 epochs)", "160M (here fresh examples without end)"]


def test_epochs_count_the_steps_that_were_made():
    stopped = [run("fig3.2/1m", seed, examples=640, scalars={"steps": steps}) for seed, steps in enumerate((90, 100))]
    assert words.epochs(stopped) == "9.5 epochs" and words.epochs([run("x", examples=640)]) == "40 epochs"


def test_depths_are_layers_and_the_training_set_stands_below():
    drawing = draw("fig3_3")
    assert legend(drawing) == ["2 layers", "4 layers", "8 layers", "12 layers"]
    assert "Training set (1M in the paper): 250 examples." in texts(drawing).replace("\n", " ")
    light = [sum(to_rgba(line.get_color())[:3]) for line in drawing.axes[0].lines]
    assert light == sorted(light)  # ordered, from dark to light


# -- Figures 3.6 to 3.9 and 3.11: hints --------------------------------------------------------------------


def test_accuracy_and_edit_distance_are_of_uniform_sequences():
    accuracy, distance = (draw(name).axes[0] for name in ("fig3_6", "fig3_7"))
    for axes, per in ((accuracy, lambda share: share), (distance, lambda share: 2 * (1 - share))):
        for line, reach in zip(axes.lines, (30, 60, 90), strict=True):
            assert list(line.get_ydata()) == pytest.approx([per(share) for share in shares(reach)])
    assert accuracy.get_ylim()[1] > 1 and "tokens" in distance.get_ylabel() and distance.get_ylim()[0] == 0
    assert not distance.collections  # of one seed nothing is known but the mean
    assert draw("fig3_7", SEVERAL["fig3_7"]).axes[0].collections
    assert legend(draw("fig3_6")) == [
        "no hints, 400 updates of sorting", "successor hints, 200 updates of sorting",
        "successor hints, 400 updates of sorting",
    ]  # fmt: skip


def test_updates_of_the_main_task_are_those_that_were_made():
    made_up = {"steps": 300, "main_steps": 151}
    assert words.updates([run("x", hints=(made.PARTS["count"],), scalars=made_up)]) == "151 updates of sorting"
    assert words.updates([run("x", steps=301, hints=(made.PARTS["count"],))]) == "151 updates of sorting"
    assert words.updates([run("x", scalars={"steps": 250})]) == "250 updates of sorting"


@pytest.mark.parametrize(("name", "per"), [("fig3_8", lambda x: x), ("fig3_9", lambda x: 2 * (1 - x))])
def test_repetitions_have_a_panel_each(name, per):
    drawing = draw(name)
    assert [axes.get_title() for axes in drawing.axes] == ["r = 2", "r = 3", "r = 4", "r = 5"]
    for r, axes in zip((2, 3, 4, 5), drawing.axes, strict=True):
        for line, reach in zip(axes.lines, (30, 60), strict=True):
            assert list(line.get_ydata()) == pytest.approx([per(share) for share in shares(reach - 2 * (r - 1))])
        assert axes.get_xlabel()
    assert drawing.axes[0].get_ylabel() and len(legend(drawing)) == 2


def test_runs_without_repetitions_leave_a_figure_of_repetitions_empty():
    assert "not recorded at this profile" in texts(draw("fig3_8", several("fig3.8/none")))


def test_a_grid_over_lengths_only_is_of_the_count_that_was_tested():
    only = [run("x", counts=(3,))]
    assert panels.counts(only) == (3,) and panels.exact(only).empty
    assert set(panels.exact(only, 3)["length"]) == set(LENGTHS)


def test_every_hint_has_a_line_and_all_at_once_too():
    drawing = draw("fig3_11")
    assert legend(drawing) == ["no hints", "successor hints", "count hints", "fill hints", "all 3 hints at once"]
    assert [list(line.get_ydata()) for line in drawing.axes[0].lines] == [shares(x) for x in (30, 60, 20, 21, 12)]
    base, *others = drawing.axes[0].lines
    assert base.get_linestyle() == "--" and {line.get_linestyle() for line in others} == {"-"}
    hints = (Filling(longest=10, padding=2), Carries(longest=10))
    assert words.hints(run("x", hints=hints)) == "fill (mask as drawn) and carry hints"


def test_training_has_validation_above_and_the_loss_of_every_task_below():
    drawing = draw("training")
    above, below = drawing.axes[:5], drawing.axes[5:]
    assert [len(axes.lines) for axes in above] == [1] * 5 and [len(axes.lines) for axes in below] == [1, 2, 2, 2, 4]
    assert above[0].get_title() == "No hints" and above[4].get_title() == "All 3 hints at once"
    (validation,) = above[0].lines
    assert list(validation.get_xdata()) == [0, 100, 200, 300, 400]
    assert list(validation.get_ydata()) == [0, 0.25, 0.5, 0.75, 1]
    assert [line.get_label() for line in below[4].lines] == ["sorting", "successor", "count", "fill"]
    main, other = below[1].lines
    assert other.get_ydata()[10] / main.get_ydata()[10] == pytest.approx(1.5)
    assert main.get_ydata()[10] == pytest.approx(0.5**2) and main.get_xdata()[10] == 200
    assert all(axes.get_yscale() == "log" for axes in below)
    assert legend(drawing) == ["sorting", "successor", "count", "fill"]
    colours = {line.get_label(): to_rgba(line.get_color()) for axes in below for line in axes.lines}
    assert len(set(colours.values())) == 4 and to_rgba(below[2].lines[1].get_color()) == colours["count"]


def test_a_run_without_metrics_is_named_below_the_others():
    known = next(iter(FIGURES["training"].items()))
    shown = flat(draw("training", dict([known]) | several("fig3.11/count")))
    assert "Nothingrecordedintraining:counthints(Figure3.11)" in shown


# -- Figures 4.15 and 4.16: mechanisms ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "part"), [("fig4_15", 1), ("fig4_16", 2)])
def test_mechanisms_are_shares_of_hits_by_length(name, part):
    axes = draw(name).axes[0]
    for line, (reach, seed) in zip(axes.lines, ((30, 0), (60, 1)), strict=True):
        assert list(line.get_xdata()) == list(LENGTHS)
        assert list(line.get_ydata()) == pytest.approx([share / part for share in shares(reach, seed)], abs=1e-3)
    assert "attention" in axes.get_ylabel() and legend(draw(name)) == ["no hints", "successor hints"]
    assert bool(axes.collections) is (name == "fig4_15")  # tokens of one sequence are no independent samples


def test_the_guess_that_every_minimum_is_1_is_dotted():
    arrays = made.hits() | {f"hits.guessed.{length}": np.arange(N) < 100 for length in LENGTHS}
    *_, guess = draw("fig4_15", several("fig4.15/none", arrays=arrays)).axes[0].lines
    assert guess.get_linestyle() == ":" and list(guess.get_ydata()) == [100 / N] * len(LENGTHS)


def test_positions_are_named():
    assert legend(draw("positions")) == ["no positions", "fixed positions", "learned positions"]


def test_seeds_and_lengths_without_hits_are_left_out():
    arrays = made.hits()
    arrays["hits.identity_successor.50"] = np.zeros(0, np.uint8)
    points = mechanisms.identity_successor([run("x", arrays=arrays), run("x", 1)])
    assert sorted(points["length"]) == list(LENGTHS[:-1])


# -- files -------------------------------------------------------------------------------------------------


def digests() -> list[str]:
    """A digest of every file of four figures: lines, panels, projections, a table with its CSV."""
    found = []
    for name in ("fig3_2", "fig3_9", "fig4_13", "table1"):
        runs = FIGURES[name]
        table = figures.table_csv if name == "table1" else None
        drawing = getattr(figures, name)
        figure = Figure(name=name, title=f"title of {name}", reads=tuple(runs), draw=drawing, table=table)
        for kind, content in render(figure, runs).items():
            found.append(f"{name}.{kind} {hashlib.sha256(content).hexdigest()}")
    return found


def test_another_process_draws_the_same_bytes_without_torch(tmp_path):
    script = (
        "import sys\nfrom tests.papers.test_task_hinting_figures import digests\n"
        "print('\\n'.join(digests()))\nprint('torch' in sys.modules)\n"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}"]
    *found, torch = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )[:-1]
    assert found == digests() and len(found) == 2 * 4 + 1 and torch == "False"

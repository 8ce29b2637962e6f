"""Figures of the position-coupling paper, from runs made by hand."""

from matplotlib.backends.backend_agg import FigureCanvasAgg

from lengen import plotting
from lengen.config import Consecutive, Coupled, Linear, NoPositionIds, Parity
from lengen.config.overlay import overlay
from lengen.records import Run
from papers.coupling import figures
from papers.coupling.figures import words
from tests.reproduce.drawn import adding, attention, key_counts, run, spec


def parity(name: str, right: int | None, ids=None) -> Run:
    """A run of parity whose answer token is right so often of 100; None: made before that was counted."""
    made = run(name, spec(Parity(2), Linear(scratchpad=True), ids or Coupled((41,))))
    if right is not None:
        for modes in made.grid.scores.values():
            for score in modes.values():
                score["answer_token_correct"] = right
    return made


def test_figure_3_shows_the_answer_in_its_place_first_and_only_of_runs_that_counted_it():
    counted, older = "coupling/fig3/coupling-scratchpad", "coupling/fig3/nope-scratchpad"
    runs = {counted: [parity(counted, 97)], older: [parity(older, None, NoPositionIds())]}
    with plotting.style():
        place, before, free, _ = figures.fig3(runs).axes
    assert "in its place" in place.get_title() and "before the first end" in before.get_title()
    assert [list(line.get_ydata()) for line in place.lines if len(line.get_ydata()) == 4] == [[0.97] * 4]
    assert sum(len(line.get_ydata()) == 4 for line in free.lines) == 2


def test_a_title_says_where_its_numbers_are_medians_over_seeds():
    name = "coupling/fig3/coupling-scratchpad"
    with plotting.style():
        alone, several = (figures.fig3({name: [parity(name, right) for right in (97, 100)[:n]]}) for n in (1, 2))
        grid = figures.fig5({"coupling/fig5/trained-7": [run("x", spec(), seed, 1.0) for seed in range(2)]})
    assert "97 %" in alone.get_suptitle() and "medians" not in alone.get_suptitle()
    assert several.get_suptitle().endswith("; medians over seeds.")
    assert grid.get_suptitle().endswith("100 %; medians over seeds.")


def test_figure_3_says_which_setting_is_ours():
    name = "coupling/fig3/coupling-plain"
    with plotting.style():
        drawing = figures.fig3({name: [parity(name, 50)], "coupling/fig3/rope-plain": [parity("x", 50, Consecutive())]})
    labels = [text.get_text() for axes in drawing.axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    assert sum("(ours)" in label for label in labels) == 1 and len(labels) == 2


def test_attention_has_a_row_for_every_setting_that_says_how_well_it_has_learned():
    runs = {
        f"coupling/fig{number}/nope-scratchpad": [run("x", spec(), rate=rate, attention=attention())]
        for number, rate in ((16, 1.0), (17, 0.5))
    }
    with plotting.style():
        drawing = figures.fig16_21(runs)
    maps = [axes for axes in drawing.axes if axes.images]
    assert len(maps) == 2 * 4
    learned, unlearned = (axes.get_ylabel() for axes in maps[::4])
    assert "100 % at the edge" in learned and "50 % at the edge" in unlearned
    assert maps[4].yaxis.label.get_color() == "0.5"


def test_figure_15_titles_what_reading_its_own_scratchpad_costs():
    made = run("x", spec())
    for modes in made.grid.scores.values():
        modes["free_running"]["answer_correct"] = 20
    with plotting.style():
        drawing = figures.fig15({"coupling/fig15/pad-plain-plain": [made]})
    assert (
        "costs a model up to 25 points of final answers: 45 % teacher-forced, 20 % free-running"
        in drawing.get_suptitle()
    )


def test_titles_name_the_published_width_and_how_a_scratchpad_starts():
    narrow = overlay(spec(), {"model": {"width": 96, "head_dim": 24}})
    assert words.by_width(run("coupling/fig12/d128", narrow)).startswith("Width 96 (for 128)")
    same = overlay(spec(), {"model": {"width": 128, "head_dim": 32}})
    assert words.by_width(run("coupling/fig12/d128", same)).startswith("Width 128, ")
    first = overlay(spec(adding()), {"data.task.from_zero": False})
    assert "from the first operand" in words.by_scratchpad(run("x", first))
    assert "from zeros" in words.by_scratchpad(run("x", spec()))


def keys(name: str, slope: int, layers: int, seeds: int = 1) -> list[Run]:
    """Runs whose heads need 2 keys and ``slope`` more per operand."""
    of = overlay(spec(), {"model": {"layers": layers}})
    return [run(name, of, seed, 1.0, key_counts=key_counts(slope)) for seed in range(seeds)]


def test_figure_7_tells_sizes_of_one_method_apart_and_its_whole_legend_is_seen():
    runs = {
        "coupling/fig7/coupling-scratchpad": keys("a", 0, 1),
        **{f"coupling/fig1/{variant}-scratchpad": keys(variant, 1, 3) for variant in "bcdefgh"},
    }
    with plotting.style():
        drawing = figures.fig7(runs)
        FigureCanvasAgg(drawing).draw()
        (part,) = [part for part in drawing.subfigs if part.legends]
        legend = part.legends[0].get_window_extent()
    setting = "bi-level Position Coupling with scratchpad"
    assert f"{setting} 0.00 (1 layer, 2 heads); {setting} 0.66 (3 layers, 2 heads)." in drawing.get_suptitle()
    assert legend.y0 >= 0 and legend.y1 <= part.bbox.y1
    means = [line for line in part.axes[0].lines if not line.get_label().startswith("_")]
    assert len({(line.get_marker(), line.get_markerfacecolor()) for line in means[:2]}) == 2


def test_figure_7_cuts_no_head_off_where_only_one_panel_is_that_high():
    plain = overlay(spec(), {"data.format": {"scratchpad": False}})
    runs = {
        "coupling/fig7/coupling-scratchpad": keys("a", 9, 1),
        "coupling/fig7/fire-plain": [run("b", plain, rate=1.0, key_counts=key_counts(0))],
    }
    with plotting.style():
        drawing = figures.fig7(runs)
    left = next(axes for axes in drawing.axes if axes.get_title() == "Keys per prediction step, with scratchpad")
    assert left.get_ylim()[1] > 2 + 9 * 8

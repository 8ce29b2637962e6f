"""Figures of the position-coupling paper, from runs made by hand."""

from lengen import plotting
from lengen.config import Consecutive, Coupled, Linear, NoPositionIds, Parity
from lengen.config.overlay import overlay
from lengen.records import Run
from papers.coupling import figures
from papers.coupling.figures import words
from tests.reproduce.drawn import adding, attention, run, spec


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

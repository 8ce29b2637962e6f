"""Figures of the position-coupling paper, from runs made by hand."""

from lengen import plotting
from lengen.config import Consecutive, Coupled, Linear, NoPositionIds, Parity
from lengen.config.overlay import overlay
from lengen.records import AttentionMap, Run
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
    labels = [text.get_text() for legend in drawing.legends for text in legend.get_texts()]
    assert sum("(ours)" in label for label in labels) == 1 and len(labels) == 2


def test_attention_of_few_heads_leaves_no_empty_half():
    record = attention()
    few, many = record, AttentionMap(record.tokens, record.weights.repeat(2, axis=1).repeat(2, axis=0), 20)
    with plotting.style():
        heights = [
            figures.fig16_21({"coupling/fig16/nope-scratchpad": [run("x", spec(), attention=some)]}).get_figheight()
            for some in (few, many)
        ]
    assert heights[1] == 2 * heights[0]


def test_titles_name_the_published_width_and_how_a_scratchpad_starts():
    narrow = overlay(spec(), {"model": {"width": 96, "head_dim": 24}})
    assert words.by_width(run("coupling/fig12/d128", narrow)).startswith("Width 96 (for 128)")
    same = overlay(spec(), {"model": {"width": 128, "head_dim": 32}})
    assert words.by_width(run("coupling/fig12/d128", same)).startswith("Width 128, ")
    first = overlay(spec(adding()), {"data.task.from_zero": False})
    assert "from the first operand" in words.by_scratchpad(run("x", first))
    assert "from zeros" in words.by_scratchpad(run("x", spec()))

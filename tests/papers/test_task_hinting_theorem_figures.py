"""Pictures of Theorem 5.1: the construction beside trained models, by length, number format and repetition."""

import numpy as np
import pytest

from papers.task_hinting.experiments import EXPERIMENTS, FIGURES
from papers.task_hinting.figures import words
from tests.papers.made import flat, texts, unnamed
from tests.papers.made_task_hinting import draw, hits, legend, run

SPECS = {item.name: item.specs for item in EXPERIMENTS}
READS = {
    figure.name.replace(".", "_").replace("-", "_"): figure.reads
    for figure in FIGURES
    if figure.name.startswith("thm5.1")
}


def made(name: str, accuracy=30.0, profile="cpu", **known):
    """A run with the declared specification, right up to ``accuracy`` numbers."""
    spec = SPECS[name][profile].to_dict()
    tested = {key: spec["test"][key] for key in ("lengths", "counts")}
    of = run(name.split("/", 1)[1], reach=accuracy, **tested, **known)
    return type(of)(**{**vars(of), "info": {**of.info, "spec": spec}})


def complete(figure: str):
    return {name: [made(name, 10**6 if "thm5.1" in name else 30.0, arrays=hits())] for name in READS[figure]}


@pytest.mark.parametrize("figure", READS)
def test_a_complete_figure_names_every_experiment_and_misses_none(figure):
    runs = complete(figure)
    drawing = draw(figure, runs)
    assert len(legend(drawing)) == (3 if figure == "thm5_1_formats" else len(runs))
    assert "notrun" not in flat(drawing).lower()


@pytest.mark.parametrize("figure", READS)
def test_missing_experiments_are_named(figure):
    first, *others = READS[figure]
    assert not unnamed(draw(figure, {**complete(figure), **{name: [] for name in others}}), others, words.SLUGS)
    nothing = draw(figure, {name: [] for name in READS[figure]})
    assert "not run at this profile" in texts(nothing) and not unnamed(nothing, [first], words.SLUGS)


def test_labels_tell_constructed_printed_and_trained_apart():
    shown = " ".join(" ".join(legend(draw("thm5_1", complete("thm5_1")))).split())
    for said in (
        "constructed; numbers 1 to 100",
        "constructed as printed; numbers 1 to 100",
        "trained, standard softmax; numbers 1 to 50",
        "trained, tempered softmax; numbers 1 to 50",
    ):
        assert said in shown


def test_lengths_are_logarithmic_and_only_trained_ones_are_shaded():
    runs = complete("thm5_1")
    shown, *others = draw("thm5_1", runs).axes[:4]
    assert shown.get_xscale() == "log"
    assert all(
        axes.get_xscale() == "log" or "not recorded" in [text.get_text() for text in axes.texts] for axes in others
    )
    trained = [name for name in runs if not runs[name][0].constructed]
    assert len(trained) == 3
    alone = draw("thm5_1", {name: [] if name in trained else some for name, some in runs.items()})
    assert "Grey" not in texts(alone) and "Grey" in texts(draw("thm5_1", runs))


def test_the_exact_line_of_the_construction_stays_at_one():
    axes = draw("thm5_1", complete("thm5_1")).axes[0]
    line = next(line for line in axes.lines if str(line.get_label()).startswith("constructed;"))
    assert np.all(np.asarray(line.get_ydata()) == 1)
    assert max(line.get_xdata()) == 500


def test_formats_show_the_longest_input_that_is_sorted_by_bits():
    runs = complete("thm5_1_formats")
    drawing = draw("thm5_1_formats", runs)
    bound, wide, narrow = drawing.axes[0].lines
    assert list(zip(bound.get_xdata(), bound.get_ydata(), strict=True)) == [(8, 32), (24, 724), (53, 2**24)]
    assert list(zip(wide.get_xdata(), wide.get_ydata(), strict=True)) == [(8, 32), (24, 32), (53, 32)]
    assert list(zip(narrow.get_xdata(), narrow.get_ydata(), strict=True)) == [(8, 32), (24, 724)]
    assert legend(drawing) == ["bound of the derivation", "sorted; numbers 1 to 30", "sorted; numbers 1 to 5"]
    ticks = [tick.get_text() for tick in drawing.axes[0].get_xticklabels()]
    assert ticks == ["8 (bfloat16)", "24 (float32)", "53 (float64)"]
    (name,) = [name for name in runs if name.endswith("bound-float32")]
    failed = draw("thm5_1_formats", {name: [made(name, 20.0)]})
    assert list(failed.axes[0].lines[1].get_ydata()) == [1], "only one number is sorted"


def test_repetitions_have_a_panel_each():
    drawing = draw("thm5_1_repeats", complete("thm5_1_repeats"))
    assert [axes.get_title() for axes in drawing.axes] == [f"r = {r}" for r in range(1, 6)]


def test_the_construction_is_right_up_to_its_first_error_in_any_run():
    runs = complete("thm5_1")
    (name,) = [name for name in runs if name.endswith("construction")]
    assert draw("thm5_1", runs).get_suptitle().startswith("The construction makes no mistake up to 500 numbers")
    again = made(name, 10**6, arrays=hits())
    lengths = sorted(again.grid.scores)
    missed = again.grid.scores[lengths[3]]["teacher_forced"]
    missed["correct"] -= 1
    title = draw("thm5_1", runs | {name: [*runs[name], again]}).get_suptitle()
    assert title.startswith(f"The construction makes no mistake up to {lengths[2][0]} numbers")

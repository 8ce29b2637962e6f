"""The figures of paper 3: looked up in the axes, for runs whose content is known."""

import dataclasses
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle

from lengen import plotting
from lengen.config.experiment import Figure
from lengen.intervals import wilson
from lengen.vocab import PRINTABLE
from papers.random_spaces import figures, lengths
from papers.random_spaces.figures import uncertainty, words
from reproduce.output.figures import render
from reproduce.runs.catalogue import CATALOGUE
from tests.papers import made_random_spaces as made
from tests.papers.made import flat, texts, unnamed
from tests.papers.made_random_spaces import FIGURES, LENGTHS, PAPER, TRAINED, draw, run

ROOT = Path(__file__).resolve().parents[2]


def test_every_published_figure_is_exported():
    assert set(FIGURES) | {"table4_3_csv"} == set(figures.__all__)


def test_every_declared_figure_can_be_drawn_from_runs_of_its_smallest_profile():
    declared = {experiment.name: experiment for experiment in CATALOGUE.experiments(PAPER)}
    for figure in CATALOGUE.figures(PAPER):
        runs = {}
        for name in figure.reads:
            known = declared[name].specs.get("smoke")
            runs[name] = [dataclasses.replace(run("x"), info={"spec": known.to_dict()})] if known else []
        with plotting.style():
            assert isinstance(figure.draw(runs, *[{}] * figure.published), Drawing), figure.name


@pytest.mark.parametrize("name", FIGURES)
def test_a_complete_figure_misses_nothing_and_every_missing_experiment_is_named(name):
    assert "notrun" not in flat(draw(name)).lower()
    first, *rest = FIGURES[name]
    drawing = draw(name, {first: FIGURES[name][first]} | {other: [] for other in rest[:8]})
    assert "Notrunatthisprofile" in flat(drawing) and not unnamed(drawing, rest[:8], words.SLUGS)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_any_run_says_whose_place_it_is(name):
    drawing = draw(name, {other: [] for other in FIGURES[name]})
    assert len(drawing.axes) == 1 and not unnamed(drawing, FIGURES[name], words.SLUGS)
    assert "not run at this profile" in texts(drawing) or "recorded at this profile" in texts(drawing)


def bare(runs):
    """The same experiments without metrics, arrays and attention: runs made before those were measured."""
    return {key: [run(key.removeprefix(f"{PAPER}/"))] for key in runs}


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in ("fig4_5", "looped", "table4_3", "widths")])
def test_runs_that_did_not_record_what_a_figure_needs_are_no_error(name):
    shown = texts(draw(name, bare(FIGURES[name])))
    assert "recorded" in shown or "not measured" in shown or "not run at this profile" in shown


@pytest.mark.parametrize("name", ["fig4_1", "fig4_2"])
def test_lengths_over_training_are_the_metrics_and_untrained_ones_are_dashed(name):
    *_, runs = FIGURES[name].values() if name == "fig4_1" else reversed(FIGURES[name].values())
    drawing = draw(name)
    count = len(FIGURES[name])
    above, below = drawing.axes[count - 1], drawing.axes[2 * count - 1]
    metrics = {(step, metric): value for step, metric, value in runs[0].metrics}
    for axes, metric in ((above, "exact_match"), (below, "answer_loss")):
        assert len(axes.lines) == len(LENGTHS)
        for line in axes.lines:
            length = int(line.get_label().split()[0])
            assert list(line.get_xdata()) == list(made.STEPS)
            assert list(line.get_ydata()) == [metrics[step, f"{metric}.{length}"] for step in made.STEPS]
            assert line.get_linestyle() == ("-" if length in TRAINED else "--") and line.get_marker() != ""
    assert below.get_yscale() == "log" and "nats" in drawing.axes[count].get_ylabel()
    assert {text.get_text() for text in below.get_legend().get_texts()} >= {"5 (left out)", "7 (longer)", "6"}


def test_panels_are_titled_by_what_was_trained():
    shown = [axes.get_title() for axes in draw("fig4_1").axes[:3]]
    assert shown[0].startswith("Trained on 1, 3 digits\n2 layers, width 64") and "1–4, 6 digits" in shown[1]
    assert "2 recurrent steps" in draw("fig4_2").axes[0].get_title()


def test_seeds_over_training_give_the_median_and_their_range():
    runs = {"random_spaces/fig4.1/a": [run("fig4.1/a", seed, metrics=made.tracked(seed)) for seed in range(3)]}
    drawing = draw("fig4_1", runs)
    line = next(line for line in drawing.axes[0].lines if line.get_label() == "5 (left out)")
    assert list(line.get_ydata()) == [0.01] * len(made.STEPS)
    bands = [path.vertices[:, 1] for band in drawing.axes[0].collections for path in band.get_paths()]
    assert any((band.min(), band.max()) == (0.0, 0.02) for band in bands)
    assert "Seeds of a setting: 3. Lines: medians; bands: ranges over seeds." in texts(drawing).replace("\n", " ")


# -- Figure 4.3 --------------------------------------------------------------------------------------------


def test_uncertainty_has_the_longest_trained_length_first_then_the_longest_tested_with_and_without_its_end():
    drawing = draw("fig4_3", {"random_spaces/fig4.3/spaces": FIGURES["fig4_3"]["random_spaces/fig4.3/spaces"]})
    assert [axes.get_title() for axes in drawing.axes[:3]] == [
        "6 digits (trained),\nend allowed",
        "8 digits (longer than trained),\nend allowed",
        "8 digits (longer than trained),\nend suppressed",
    ]
    above, below = drawing.axes[1], drawing.axes[4]
    (entropy,), (end, correct, share) = above.lines, below.lines
    assert list(entropy.get_ydata()) == [1.5] * 10 and list(entropy.get_xdata()) == list(range(1, 11))
    assert list(end.get_ydata()) == [0.25] * 10 and list(correct.get_ydata()) == [0.75] * 10
    assert list(share.get_ydata()) == [1.0] * 9 + [0.5]
    assert [line.get_color() for line in (entropy, end, correct)] == [plotting.COLOURS[k] for k in (0, 3, 2)]
    band = above.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((1.4, 1.6), abs=1e-6)
    (grey,) = [p for p in below.patches if isinstance(p, Rectangle)]
    assert grey.get_x() + grey.get_width() == 8.5  # six digits, a carry and the end token


def test_seeds_of_uncertainty_are_pooled_over_prompts():
    rng = np.random.default_rng(0)
    samples = [rng.normal(size=count) for count in (40, 10)]
    runs = []
    for values in samples:
        array = np.zeros((2, 3, 2, 1))
        array[:, :, 0], array[:, :, 1] = values.mean(), values.std()
        arrays = {"uncertainty.8": array, "uncertainty_prompts.8": np.full((2, 1), len(values))}
        runs.append(run("fig4.3/spaces", arrays=arrays))
    found = uncertainty.pool(runs, 8, 0)
    assert found.mean[0, 0] == pytest.approx(np.concatenate(samples).mean())
    assert found.deviation[0, 0] == pytest.approx(np.concatenate(samples).std())
    assert found.prompts[0] == 50


# -- Figures 4.4 to 4.6 ------------------------------------------------------------------------------------


def test_attention_maps_are_the_maximum_over_heads_with_tokens_on_both_axes():
    maps = [axes for axes in draw("fig4_4").axes if axes.images]
    assert len(maps) == 3 * 2
    weights = made.attention().weights
    for axes, layer in zip(maps, (0, 1) * 3, strict=True):
        assert np.array_equal(np.asarray(axes.images[0].get_array()), weights[layer].max(axis=0))
        assert "".join(label.get_text() for label in axes.get_yticklabels()) == "$12+34=46$"
        assert "".join(label.get_text() for label in axes.get_xticklabels()) == "$12+34=46$"


def test_a_longer_problem_stands_below_the_map_of_the_trained_one():
    weights = np.random.default_rng(0).random((2, 12, 12)).astype(np.float16)
    tokens = np.array([PRINTABLE.id(character) for character in "$123+456=579$"], np.int16)
    stored = {"attention.8": weights, "attention_tokens.8": tokens}
    name = "random_spaces/fig4.4/ape"
    drawing = draw("fig4_4", {name: [run("fig4.4/ape", arrays=stored, attention=made.attention())]})
    maps = [axes for axes in drawing.axes if axes.images]
    assert len(maps) == 2 * 2, "two layers, a trained and a longer problem"
    for axes, layer in zip(maps[2:], (0, 1), strict=True):
        assert np.array_equal(np.asarray(axes.images[0].get_array()), weights[layer].astype(np.float32))
        assert "".join(label.get_text() for label in axes.get_yticklabels()) == "$123+456=579"
    assert "6 digits (trained)" in maps[0].get_ylabel() and "8 digits (longer)" in maps[2].get_ylabel()


def test_a_panel_says_where_its_model_has_not_learned_its_range():
    name = f"{PAPER}/fig4.1/1-7_digit"
    learned = [(400, f"exact_match.{length}", 1.0 if length in TRAINED else 0.0) for length in LENGTHS]
    failed = [(step, metric, 0.5 * value) for step, metric, value in learned]
    titles = [
        draw("fig4_1", {name: [run("fig4.1/1-7_digit", metrics=points)]}).axes[0].get_title()
        for points in (learned, failed)
    ]
    assert "not learned" not in titles[0] and "not learned: 50 % at 6 digits" in titles[1]


def test_settings_show_the_trained_lengths_together_and_the_others_alone():
    axes = draw("fig4_5").axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "1–4, 6 digits\n(trained)", "5 digits\n(left out)", "7 digits\n(longer)", "8 digits\n(longer)"
    ]  # fmt: skip
    values = np.asarray(axes.images[0].get_array())
    rows = [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]
    assert rows[0] == "Absolute positions" and rows[-1] == "Abacus" and len(rows) == 6 + 1
    assert "Absolute positions, zero-padded to 9 digits" in rows
    assert [row.endswith(("(whole)", "(final answer)")) for row in rows].count(True) == 2
    assert values[0].tolist() == [1, 0, 0, 0] and values[-1].tolist() == [1, 1, 1, 1]
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert {(box.get_x(), box.get_width()) for box in boxes} == {(-0.5, 1)}


def published(values, of=9, **fields):
    """Published values by their length, of a longest trained one."""
    return [plotting.Value(value, lengths=(n, n), trained=(of, 2), **fields) for n, value in values.items()]


def test_what_is_published_stands_in_the_column_of_the_same_multiple_of_the_longest_trained_length():
    name = "random_spaces/fig4.5/ape"
    values = [
        plotting.Value(1.0, lengths=(1, 9), trained=(9, 2), region="in_range"),
        *published({8: 0.99}, left_out=True),
        *published({10: 0.75, 12: 0.25}),
    ]
    with plotting.style():
        drawing = figures.fig4_5({name: FIGURES["fig4_5"][name]}, {name: values})
    ours, theirs, *_ = drawing.axes
    assert [label.get_text() for label in ours.get_xticklabels()] == [
        "1–4, 6 digits\n(trained)\nto 1×", "5 digits\n(left out)\n0.833×", "\n\n1.11×", "7 digits\n(longer)\n1.17×",
        "8 digits\n(longer)\n1.33×",
    ]  # fmt: skip
    assert [label.get_text() for label in theirs.get_xticklabels()] == [
        "to 9 digits\n(trained)\nto 1×", "8 digits\n(left out)\n0.889×", "10 digits\n(longer)\n1.11×", "\n\n1.17×",
        "12 digits\n(longer)\n1.33×",
    ]  # fmt: skip
    assert theirs.get_title() == "Published"
    assert {text.get_position()[0]: text.get_text() for text in theirs.texts} == {0: "100", 1: "99", 2: "75", 4: "25"}
    assert [text.get_position()[0] for text in ours.texts] == [0, 1, 3, 4]
    note = texts(drawing).replace("\n", " ")
    assert "Published: trained to 9 digits where ours are trained to 6, at the same multiples of that; 8" in note
    assert "8 digits, the length left out there, stand at 5, the one left out here." in note


def test_published_ends_of_training_are_drawn_at_equal_multiples_and_left_out_lengths_only():
    name = f"{PAPER}/fig4.1/generalize_to_longer"
    inside = published({9: 0.5, 12: 0.1, 10: 0.2, 3: 0.9})
    with plotting.style():
        drawing = figures.fig4_1(
            {name: FIGURES["fig4_1"][name]}, {name: [*inside, *published({8: 0.7}, left_out=True)]}
        )
    axes = drawing.axes[0]
    looks = {line.get_label().split()[0]: line.get_color() for line in axes.lines if line.get_label()[0] != "_"}
    marks = {float(line.get_ydata()[0]): line.get_color() for line in axes.lines if line.get_label()[0] == "_"}
    # 3, 9 and 12 of 9 are 2, 6 and 8 of 6
    assert marks == {0.9: looks["2"], 0.5: looks["6"], 0.1: looks["8"], 0.7: looks["5"]}
    note = texts(drawing).replace("\n", " ")
    assert "trained to 9 digits where ours are trained to 6, at the same multiples of that; 8 digits, the" in note
    assert "Not drawn: published at 10 of 9 digits, a multiple that no length tested here has." in note


def test_published_parts_stand_at_the_same_multiples_and_their_places_are_told():
    name = "random_spaces/fig4.6/scratchpad"
    measure = {"measure": "hits.part.answer"}
    values = [*published({19: 0.9, 20: 0.8}, 19, **measure), *published({18: 0.4}, 19, left_out=True, **measure)]
    with plotting.style():
        drawing = figures.fig4_6({name: FIGURES["fig4_6"][name]}, {name: values})
    below = drawing.axes[5 + list(made.PARTS).index("answer")]
    marks = [line for line in below.lines if line.get_marker() == "D"]
    found = {float(line.get_ydata()[0]): float(line.get_xdata()[0]) for line in marks}
    assert found == pytest.approx({0.9: 6, 0.8: 20 * 6 / 19, 0.4: 5})
    assert {line.get_markerfacecolor() for line in marks} == {"white"}
    note = texts(drawing).replace("\n", " ")
    assert "18 digits, the length left out there, stand at 5, the one left out here. 19 and 20 of 19" in note
    assert "19 and 20 of 19 stand at 6 and 6.32 of 6." in note


def test_settings_of_several_seeds_show_median_and_range():
    gaps = (0.5, 0.9, 0.6)
    runs = {
        "random_spaces/fig4.5/spaces": [
            run("fig4.5/spaces", k, changes=made.SPACES, gap=gap) for k, gap in enumerate(gaps)
        ]
    }
    axes = (drawing := draw("fig4_5", runs)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["100.0", "60.0\n(50.0–90.0)", "0.0", "0.0"]
    assert drawing.get_suptitle().endswith("medians over seeds.")
    assert "medians" not in draw("fig4_5").get_suptitle()


def test_parts_of_a_scratchpad_have_violins_above_and_accuracy_below():
    runs = {"random_spaces/fig4.6/scratchpad": FIGURES["fig4_6"]["random_spaces/fig4.6/scratchpad"]}
    drawing = draw("fig4_6", runs)
    above, below = drawing.axes[:5], drawing.axes[5:]
    # only distributions with more than one value have a body: the untrained lengths of the two parts that fail
    assert [len(axes.collections) for axes in above] == [0, 0, 3, 3, 0]
    hits = runs["random_spaces/fig4.6/scratchpad"][0].arrays
    for axes, part in zip(below, made.PARTS, strict=True):
        for container, length in zip(axes.containers, LENGTHS, strict=True):
            point, _, (bar,) = container.lines
            found = hits[f"hits.part.{part}.{length}"]
            assert (point.get_xdata()[0], point.get_ydata()[0]) == (length, found.mean())
            low, high = sorted(bar.get_segments()[0][:, 1])
            assert (low, high) == pytest.approx(tuple(wilson(int(found.sum()), found.size)))
        bands = [p for p in axes.patches if isinstance(p, Rectangle)]
        assert [(band.get_x(), band.get_width()) for band in bands] == [(0.5, 4), (5.5, 1)]
    assert "Reading off" in above[3].get_title() and "Calculating" in above[4].get_title()


# -- Figure B.1, looped, words -----------------------------------------------------------------------------


def test_digits_go_from_the_most_significant_to_the_units_on_a_logarithmic_axis():
    drawing = draw("figB_1")
    plain, reverse = drawing.axes
    assert [line.get_label() for line in plain.lines] == ["7 (most significant)", "6", "5", "4", "3", "2", "1 (units)"]
    assert list(plain.lines[-1].get_ydata()) == [2.0 ** (1 - step / 50) for step in made.STEPS]
    light = [sum(line.get_color()[:3]) for line in plain.lines]
    assert light == sorted(light) and plain.get_yscale() == "log"
    assert "most significant digit first" in plain.get_title() and "least significant digit" in reverse.get_title()


def test_looped_decoders_are_told_apart_by_their_input_injection():
    (axes,) = draw("looped").axes
    assert [line.get_label() for line in axes.lines] == ["with input injection", "without input injection"]
    assert list(axes.lines[0].get_ydata()) == [1, 1, 1, 1, 0.5, 1, 0, 0]
    bands = [p for p in axes.patches if isinstance(p, Rectangle)]
    assert [(band.get_x(), band.get_width()) for band in bands] == [(0.5, 4), (5.5, 1)]


def test_lengths_and_sizes_in_words():
    assert [lengths.examples(count) for count in (10_000, 10_000_000, 1_500, 0)] == ["10K", "10M", "1,500", "fresh"]
    every = run("x", changes={"data.task.lengths": (1, 2, 3)}, tested=(2, 4))
    assert lengths.trained(every) == (1, 2, 3) and lengths.groups(every) == [(2,), (4,)]
    known = run("x")
    assert [lengths.role(known, length) for length in (4, 5, 6, 7)] == ["trained", "gap", "trained", "longer"]
    assert words.label(run("x", changes=made.ABACUS | made.REVERSED)) == "Abacus, reversed answer"
    assert plotting.size(run("x", changes={"model.loops": 4})) == "2 layers × 4 loops, width 64, 4 heads"


# -- files -------------------------------------------------------------------------------------------------


def digests() -> list[str]:
    """A digest of every file of three figures: lines, violins, a table with its CSV."""
    found = []
    for name in ("figB_1", "fig4_6", "table4_3"):
        runs = FIGURES[name]
        table = figures.table4_3_csv if name == "table4_3" else None
        drawing = getattr(figures, name)
        figure = Figure(name=name, title=f"title of {name}", reads=tuple(runs), draw=drawing, table=table)
        for kind, content in render(figure, runs).items():
            found.append(f"{name}.{kind} {hashlib.sha256(content).hexdigest()}")
    return found


def test_another_process_draws_the_same_bytes_without_torch(tmp_path):
    script = (
        "import sys\nfrom tests.papers.test_random_spaces_figures import digests\n"
        "print('\\n'.join(digests()))\nprint('torch' in sys.modules)\n"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}"]
    *found, torch = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )[:-1]
    assert found == digests() and len(found) == 2 * 3 + 1 and torch == "False"

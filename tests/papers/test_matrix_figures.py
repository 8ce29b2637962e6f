"""What the matrix shows of made runs: reach, states of cells, aggregates, pictures."""

import csv
import dataclasses
import io
import math

import numpy as np
import pytest
from matplotlib.text import Text

from lengen import plotting
from lengen.measures import Missing
from papers.matrix import aggregates, figures
from papers.matrix.budget import tokens
from papers.matrix.experiments import FIGURES, REFUSED
from papers.matrix.measures import RIGHT, above_guessing, accuracy_beyond, beyond, guessing, reach, reach_in_count
from papers.matrix.scores import cells, compared, of_trick, table
from papers.matrix.summary import summary
from papers.matrix.tasks import TASKS
from tests.counted import counted
from tests.papers.made_matrix import DECLARED, PROBLEMS, run, runs


def texts(drawing) -> list[str]:
    return [text.get_text() for text in drawing.findobj(Text)]


@pytest.mark.parametrize(("asked", "found"), [(1, 1), (1.5, 1.5), (2, 2), (3, 3), (5, 5)])
def test_reach_is_a_multiple_of_the_trained_length(asked, found):
    made = run("copy/rope", reach=asked)
    assert reach(made) == (found, 1)
    longer = [9, 12, 16, 24, 40]
    right = sum(length <= asked * 8 for length in longer)
    assert accuracy_beyond(made) == pytest.approx((right + 0.1 * (5 - right)) / 5)


@pytest.mark.parametrize("task", ["copy/rope", "sums/coupled-scratchpad"])
def test_accuracy_beyond_is_a_share_of_as_many_problems_for_every_task(task):
    made = run(task, reach=2)
    right, problems = beyond(made)
    assert problems == 1000 and right / problems == pytest.approx(accuracy_beyond(made))


def test_a_length_behind_a_gap_is_not_reached():
    made = run("copy/rope", reach=5, at_range=0.5)
    assert reach(made)[0] == 0.5


def test_counts_of_operands_have_a_reach_of_their_own():
    done = run("sums/coupled-scratchpad", reach=5)
    most, counts = done.info["spec"]["data"]["task"]["operands"], done.info["spec"]["test"]["counts"]
    assert max(counts) == 2 * most and reach_in_count(done) == (1, 1)
    for (_, count), modes in done.grid.scores.items():
        modes["teacher_forced"] = counted(PROBLEMS, *(2 * [round(PROBLEMS * RIGHT)]), 0, PROBLEMS)
        assert count <= 2 * most
    assert reach_in_count(done) == (2, 1), "exactly the share that counts as solved, everywhere"
    with pytest.raises(Missing, match="one count of operands"):
        reach_in_count(run("copy/rope"))


def test_cells_are_refused_untested_tested_or_not_run():
    made = runs("copy", {"rope": 2})
    made["matrix/copy/fire"] = [run("copy/fire", seed, 3, at_range=0.9, budgets=4) for seed in range(3)]
    found = cells(made, REFUSED)
    assert found["copy", "scratchpad"].state == "refused" and math.isnan(found["copy", "scratchpad"].reach)
    assert found["copy", "rope"][:5] == ("tested", 2.0, 3, False, (2.0, 2.0))
    assert found["copy", "fire"].state == "untested" and found["copy", "fire"].retried
    assert (found["copy", "rope"].learned, found["copy", "fire"].learned) == (1.0, 0.9)
    assert math.isnan(found["copy", "rope"].in_count)
    summed = runs("sums", {"coupled-scratchpad": 2})
    assert cells(summed, REFUSED)["sums", "coupled-scratchpad"].in_count == 1.0
    assert found["copy", "plain"].state == "not run"


def test_tricks_are_compared_on_tasks_that_both_have_learned():
    made = runs("copy", {"rope": 2, "plain": 1}) | {
        name: some for name, some in runs("reverse", {"rope": 3, "plain": 1}).items() if some
    }
    left, right = compared(made, "rope", "plain", lambda one: reach(one)[0])
    assert left.tolist() == [[2.0] * 3, [3.0] * 3] and right.tolist() == [[1.0] * 3] * 2
    made["matrix/copy/plain"] = [run("copy/plain", seed, at_range=0.5) for seed in range(3)]
    left, _ = compared(made, "rope", "plain", lambda one: reach(one)[0])
    assert left.tolist() == [[3.0] * 3]
    left, right = compared(made, "fire", "plain", lambda one: reach(one)[0])
    assert left.size == right.size == 0
    assert of_trick(made, "rope", lambda one: reach(one)[0]).tolist() == [[2.0] * 3, [3.0] * 3], "by itself: on both"
    assert of_trick(made, "plain", lambda one: reach(one)[0]).tolist() == [[1.0] * 3]


def test_the_matrix_shows_reach_hatches_and_crosses():
    made = runs("copy", {"rope": 2, "plain": 1})
    made["matrix/copy/fire"] = [run("copy/fire", 0, 3, at_range=0.9)]
    made["matrix/copy/alibi"] = [run("copy/alibi", 0, 1.5, budgets=4)]
    with plotting.style():
        drawing = figures.matrix(made, REFUSED)
    shown = texts(drawing)
    assert {"2", "1", "1.5*", ".90"} <= {*shown} and "copy" in shown and "rope" in shown
    (axes,) = (axes for axes in drawing.axes if axes.images)
    assert len(axes.lines) == 2 * len(REFUSED), "a cross has two lines"
    missing = sum(not some for some in made.values())
    assert len(axes.patches) == missing, "white where refused or not run; the untested cell keeps its hatches"
    assert np.isfinite(np.ma.filled(axes.images[0].get_array(), np.nan)).sum() == 3


def test_the_matrix_says_between_what_seeds_lie_and_has_a_column_of_operands():
    made = runs("sums", {"coupled-scratchpad": 2})
    made["matrix/sums/plain"] = [run("sums/plain", seed, reach) for seed, reach in enumerate((1, 2, 3))]
    with plotting.style():
        shown = texts(figures.matrix(made, REFUSED))
    assert "2 (1\N{EN DASH}3)" in shown and "sums of several: operands" in shown
    assert any("median of 3 seeds" in text.replace("\n", " ") for text in shown)


def test_a_table_has_a_line_for_every_cell_with_what_it_took():
    made = runs("copy", {"rope": 2})
    some = [run("copy/rope", seed, reach) for seed, reach in enumerate((1, 2, 5))]
    made["matrix/copy/rope"] = [dataclasses.replace(one, info={**one.info, "parameters": 83136}) for one in some]
    rows = {(row["task"], row["trick"]): row for row in csv.DictReader(io.StringIO(table(made, REFUSED)))}
    assert rows.keys() == {(name.split("/")[1], name.split("/")[2]) for name in DECLARED}
    row = rows["copy", "rope"]
    assert (row["state"], row["reach"], row["least_reach"], row["parameters"]) == ("tested", "2", "1", "83136")
    assert (row["least_beyond"], row["beyond"], row["largest_beyond"]) == ("0.1", "0.64", "1")
    assert row["tokens_of_kept_training"] == "900096" and row["reach_in_count"] == row["lr"] == ""
    assert rows["copy", "plain"]["state"] == "not run" and rows["copy", "scratchpad"]["state"] == "refused"


@pytest.mark.parametrize(("trick", "trainings"), [("rope", 1), ("abc", 2), ("hint", 1), ("spaces", 1)])
def test_tokens_are_those_of_the_kept_training_whatever_the_clock_says(trick, trainings):
    """Of a calibrated bias both models count; the budget is what all of them have, and a longer training has four."""
    spec = DECLARED[f"matrix/copy/{trick}"].specs["night"]
    assert len(spec.read()) == trainings
    made = [run(f"copy/{trick}", seed, budgets=budgets) for seed, budgets in enumerate((1, 1, 4))]
    seconds = [{"seconds_training": 20.0 * (1 + seed), "tokens_per_second": 1000 * seed} for seed in range(3)]
    timed = [dataclasses.replace(one, info=one.info | some) for one, some in zip(made, seconds, strict=True)]
    first, second, longer = map(tokens, timed)
    assert first == second == pytest.approx(TASKS["copy"].tokens, rel=0.01) and longer == 4 * first


def test_accuracy_is_taken_above_what_guessing_gives():
    """One bit is right half the time; a parity that is written out is no guess."""
    alone, written = run("parity/rope", reach=2), run("parity/coupled-scratchpad", reach=2)
    assert (guessing(alone), guessing(written), guessing(run("copy/rope"))) == (0.5, 0.0, 0.0)
    assert above_guessing(alone) == pytest.approx((accuracy_beyond(alone) - 0.5) / 0.5)
    assert above_guessing(written) == accuracy_beyond(written)
    assert above_guessing(run("parity/rope", reach=1)) == 0.0, "worse than a guess is no more than one"


def test_only_tricks_that_learned_the_same_tasks_are_ranked():
    made = runs("copy", {"rope": 2, "fire": 1, "abc": 5}) | {
        name: some for name, some in runs("reverse", {"rope": 2, "fire": 3}).items() if some
    }
    with plotting.style():
        shown = " ".join(texts(figures.aggregates(made, REFUSED))).replace("\n", " ")
    assert "where two of two tasks were learned: " in shown and "abc 100 %" not in shown
    assert "plain learned nothing" in shown


def test_curves_have_a_line_for_each_trick_that_ran():
    made = {name: some for name, some in runs("copy", {"rope": 2, "plain": 1, "fire": 5}).items() if "/copy/" in name}
    with plotting.style():
        drawing = figures.curves(made, REFUSED)
    assert sum(len(axes.lines) for axes in drawing.axes) == 3
    assert {"rope", "plain", "fire"} <= {*texts(drawing)}
    alone = {name: some if "/rope" in name else [] for name, some in made.items()}
    with plotting.style():
        (line,) = figures.curves(alone, REFUSED).axes[0].lines
    (same,) = [other for axes in drawing.axes for other in axes.lines if other.get_label() == "rope"]
    assert (line.get_color(), line.get_marker()) == (same.get_color(), same.get_marker()), "a trick has one look"


def test_aggregates_name_the_tasks_of_the_baseline_in_one_order():
    names = ("sorting", "reverse", "addition", "parity", "copy", "successor")
    made = runs("copy", {"plain": 1}) | {f"matrix/{name}/plain": [run(f"{name}/plain", reach=1)] for name in names}
    with plotting.style():
        shown = " ".join(texts(figures.aggregates(made, REFUSED))).replace("\n", " ")
    assert "plain learned parity, successor, addition, copy, reverse, sorting" in shown


def test_aggregates_rank_tricks_and_compare_them_with_the_plain_decoder():
    made = runs("copy", {"rope": 2, "plain": 1, "fire": 5})
    with plotting.style():
        drawing = figures.aggregates(made, REFUSED)
    first, second, third = drawing.axes
    assert [label.get_text() for label in first.get_yticklabels()] == [
        "plain (1 of 1)",
        "rope (1 of 1)",
        "fire (1 of 1)",
    ]
    assert [line.get_xdata()[0] for line in second.lines if len(line.get_xdata()) == 1] == [1.0, 1.0]
    assert len(third.lines) == 3
    made["matrix/copy/plain"] = [run("copy/plain", seed, at_range=0.5) for seed in range(3)]
    with plotting.style():
        first, second, _ = figures.aggregates(made, REFUSED).axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["rope (1 of 1)", "fire (1 of 1)"]
    assert not any(len(line.get_xdata()) == 1 for line in second.lines), "nothing is compared with what has not learned"


def on(tasks, **reaches):
    """Three seeds of some tricks on some tasks."""
    return {
        f"matrix/{task}/{trick.replace('_', '-')}": [
            run(f"{task}/{trick.replace('_', '-')}", seed, reach) for seed in range(3)
        ]
        for task in tasks
        for trick, reach in reaches.items()
    }


def test_profiles_are_of_the_highest_means_over_enough_tasks_and_of_the_plain_decoder():
    made = on(("copy", "reverse", "sorting", "successor"), plain=1, learned=1, fire=2, rope=2, alibi=2, shaw=2, ssmax=3)
    made |= on(("copy", "reverse"), abc=5) | on(("copy",), window=5)
    found = aggregates.aggregates(made)
    assert aggregates.enough(found) == 2
    names = [one.trick for one in aggregates.best(found)]
    assert names[:2] == ["abc", "ssmax"] and names[-1] == "plain", "a mean over one task is none over tasks"
    assert len(names) == aggregates.SHOWN + 1 and "window" not in names and "learned" not in names
    with plotting.style():
        third = figures.aggregates(made, REFUSED).axes[2]
    assert [line.get_label() for line in third.lines] == names


def test_a_table_has_a_line_for_each_trick_that_learned_with_its_intervals():
    made = on(("copy", "reverse"), plain=1, rope=3)
    made["matrix/copy/fire"] = [run("copy/fire", 0, 2)]
    made["matrix/copy/abc"] = [run("copy/abc", seed, at_range=0.5) for seed in range(3)]
    rows = {row["trick"]: row for row in csv.DictReader(io.StringIO(aggregates.table(made)))}
    assert [*rows] == ["rope", "fire", "plain"], "the highest mean first; nothing of what learned nothing"
    rope, fire, plain = rows.values()
    assert (rope["tasks_run"], rope["tasks_learned"], rope["seeds"], rope["tasks_compared"]) == ("2", "2", "3", "2")
    assert rope["low"] == rope["interquartile_mean"] == rope["high"] == "0.82"
    assert rope["probability_of_improvement"] == rope["improvement_low"] == rope["improvement_high"] == "1"
    assert fire["low"] == fire["high"] == fire["improvement_low"] == "", "one seed has no interval"
    assert plain["tasks_compared"] == "0" and plain["probability_of_improvement"] == ""


def test_a_summary_says_of_every_task_who_learned_it_and_who_went_furthest():
    made = runs("copy", {"rope": 2, "plain": 1, "fire": 1.5, "abc": 5})
    made["matrix/copy/shaw"] = [run("copy/shaw", 0, 3, at_range=0.5)]
    lines = summary(made, REFUSED).splitlines()
    assert len(lines) == 2 + len(TASKS) + 2
    assert (
        "| copy, 8 | 4 of 5 tricks, 19 to run | 5 abc; 2 rope |" in lines
        and "| reverse, 8 | 0 of 0 tricks, 24 to run | not run |" in lines
    )
    told = "5 of 208 cells have run, with 1 to 3 seeds"
    assert lines[-1] == (
        f"Furthest: exact match of at least 0.9, median over seeds; {told}. Beyond the trained lengths "
        "(brackets: tasks both learned): better than plain fire (1), rope (1), abc (1)."
    )
    none = summary(runs("copy", {"plain": 1}, seeds=1), REFUSED).splitlines()
    assert "| copy, 8 | 1 of 1 tricks, 23 to run | none goes beyond it |" in none
    assert none[-1].endswith("; 1 of 208 cells have run, with 1 seed.")
    whole = {name: [run(name.removeprefix("matrix/"), 0, 2)] for name in DECLARED if name not in REFUSED}
    assert "| copy, 8 | 24 of 24 tricks | 2 " in summary(whole, REFUSED)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figures_without_runs_name_what_is_missing(figure):
    with plotting.style():
        shown = "".join(texts(figure.draw({name: [] for name in figure.reads}))).replace("\n", "").replace(" ", "")
    assert "notrun" in shown.lower()
    assert all(name in DECLARED for name in figure.reads)

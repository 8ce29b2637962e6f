"""When a sub-task is learned, in runs whose curves are known."""

import math

import pytest

from lengen.metrics.measures import Missing
from papers.random_spaces.measures import MASTERED, MEASURES, crossed_at
from tests.papers.runs_random_spaces import run

CURVE = [(100, 0.0), (200, 0.4), (300, 0.9), (400, 0.2), (500, 1.0)]


def test_an_accuracy_is_reached_between_evaluations_and_where_it_falls_again():
    assert crossed_at(CURVE, MASTERED) == 300, "the first time counts"
    assert crossed_at(CURVE[:2], MASTERED) == math.inf and crossed_at([], MASTERED) == math.inf
    assert crossed_at([(50, 0.95), (100, 0.0)], MASTERED) == 50
    for step in range(401, 500):  # by walking along the line
        value = 0.2 + 0.8 * (step - 400) / 100
        if value >= 0.9:
            assert crossed_at(CURVE[3:], MASTERED) == pytest.approx(step, abs=1)
            break


def test_a_sub_task_that_is_never_learned_takes_all_steps():
    measure = MEASURES["learned_at"]("rev")
    metrics = [(step, "subtask.rev", value) for step, value in CURVE]
    assert measure.value(run("table4.3/10k-mix-w64", metrics=metrics)) == (300, 1)
    assert measure.value(run("table4.3/10k-mix-w64", metrics=metrics[:2])) == (200, 1)
    with pytest.raises(Missing, match="followed no sub-task rev"):
        measure.value(run("table4.3/10k-mix-w64", metrics=[(100, "subtask.mad", 1.0)]))

"""Made runs of the matrix: each solves the multiple of the trained length that the test names."""

import csv
import io
import math
from collections.abc import Sequence

import numpy as np
import pytest

from lengen.benchmark.scoring import Range
from lengen.metrics.measures import Missing
from lengen.results.records import Grid, Run
from papers.matrix import scores
from papers.matrix.experiments import EXPERIMENTS
from papers.matrix.scores import MEASURES, Cell, above_guessing, accuracy_beyond, beyond, guessing
from tests.fixtures.runs import counted

DECLARED = {item.name: item for item in EXPERIMENTS}
PROBLEMS = 200


def run(name: str, seed=0, reach=1.0, at_range=1.0, in_count=1.0, profile="night", **scalars: float) -> Run:
    """A run that is right up to ``reach`` times the trained length, and up to ``in_count`` times the most trained
    operands; beyond them a tenth is.

    ``at_range``: exact match at the longest trained length.
    """
    spec = DECLARED[f"matrix/{name}"].specs[profile]
    test, task = spec.test, spec.data.task
    grid = Grid(("length",) if len(test.counts) == 1 else ("length", "count"))
    for length in test.lengths:
        for count in test.counts:
            solved = length <= reach * task.longest and count <= in_count * task.most
            right = round(PROBLEMS * ((at_range if length == task.longest else 1) if solved else 0.1))
            grid.add((length, count)[: len(grid.axes)], "teacher_forced", counted(PROBLEMS, right))
    info = {"spec": spec.to_dict(), "spec_hash": spec.hash(), "overrides": [], "parameters": 1000, "scalars": scalars}
    return Run(f"matrix/{name}", profile, seed, 1, "reference", info, grid, arrays={})


def runs(name: str, reaches: Sequence[float], **known: float) -> dict[str, list[Run]]:
    return {f"matrix/{name}": [run(name, seed, reach, **known) for seed, reach in enumerate(reaches)]}


in_count = MEASURES["reach_in_count"].value


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(("made", "multiple"), [
    (run("copy/rope"), 1),
    (run("copy/rope", reach=1.5), 1.5),  # 12 of 8
    (run("copy/rope", reach=1.2), 1.125),  # 9 of 8 is the longest below it
    (run("sums/rope", reach=5), 5),
    (run("sums/rope", reach=2, in_count=2), 2),
    (run("copy/rope", reach=5, at_range=0.5), 0.5),  # 4 of 8: no length counts beyond one that is wrong
])  # fmt: skip
def test_reach_is_a_multiple_of_the_trained_length(made, multiple):
    assert MEASURES["reach"].value(made) == (multiple, 1)


def test_reach_accuracy_beyond_and_tricks_are_scored_on_what_was_learned():
    assert in_count(run("sums/rope", reach=5)) == (1, 1)
    assert in_count(run("sums/rope", in_count=4 / 3)) == (4 / 3, 1)
    assert in_count(run("sums/rope", in_count=2)) == (2, 1)
    assert in_count(run("sums/rope", in_count=2, profile="smoke")) == (2, 1), "there of numbers of 2 digits"
    with pytest.raises(Missing, match="copy/rope was tested on one count"):
        in_count(run("copy/rope"))
    assert accuracy_beyond(run("copy/rope", reach=1.5)) == pytest.approx(0.46)
    assert beyond(run("copy/rope", reach=1.5)) == (pytest.approx(460), 1000)
    assert beyond(run("copy/rope", reach=1.5, at_range=0.3)) == (pytest.approx(460), 1000), "trained lengths are none"
    assert MEASURES["beyond"].value(run("sums/rope", reach=2)) == (pytest.approx(640), 1000)
    assert [*scores.learned_by(OVER_TASKS, "rope")] == ["copy", "reverse", "successor"]
    alone = {trick: scores.scored(OVER_TASKS, accuracy_beyond, trick)[0] for trick in ("rope", "plain", "abacus")}
    assert alone["rope"] == pytest.approx(np.array([[0.1, 0.46, 0.64], [0.46, 0.82, 1], [1, 1, 1]]))
    assert alone["plain"] == pytest.approx(np.array([[0.1, 0.1], [1, 1]]))
    assert alone["abacus"].shape == (0, 0)
    rope, plain = scores.scored(OVER_TASKS, accuracy_beyond, "rope", "plain")
    assert rope == pytest.approx(np.array([[0.1, 0.46], [0.46, 0.82]]))
    assert plain == pytest.approx(np.array([[0.1, 0.1], [1, 1]]))
    for some in scores.scored(OVER_TASKS, accuracy_beyond, "abacus", "plain"):
        assert some.shape == (0, 0)


@pytest.mark.parametrize(
    ("name", "guess", "above"),
    [("parity/rope", 0.5, 0.64), ("parity/scratchpad", 0, 0.82), ("copy/rope", 0, 0.82), ("sums/rope", 0, 0.82)],
)
def test_one_bit_is_guessed_half_the_time_and_an_answer_is_worth_what_is_above(name, guess, above):
    assert guessing(run(name)) == guess
    assert above_guessing(run(name, reach=3)) == pytest.approx(above)
    assert above_guessing(run(name, reach=5)) == 1
    assert above_guessing(run(name)) == pytest.approx(0 if guess else 0.1), "worse than a guess is no less than nothing"


def test_a_cell_has_the_span_of_its_seeds_or_is_refused_or_not_run():
    made = {"matrix/parity/hint": [], "matrix/copy/plain": []}
    assert scores.cells(made, ["matrix/parity/hint"]) == {
        ("parity", "hint"): Cell("refused"),
        ("copy", "plain"): Cell("not run"),
    }
    made = runs("copy/rope", (3, 1.5, 2)) | runs("copy/fire", (1, 1, 5))
    made["matrix/copy/rope"].append(run("copy/rope", 3, 1.5, budgets=4))
    assert scores.cells(made, ()) == {
        ("copy", "rope"): Cell("tested", 4, Range(1.75, 1.5, 3), 1, math.nan),
        ("copy", "fire"): Cell("tested", 3, Range(1, 1, 5), 1, math.nan),
    }
    made = {"matrix/sums/rope": [run("sums/rope", seed, 2, 1, most) for seed, most in enumerate((1, 2, 4 / 3))]}
    assert scores.cells(made, ()) == {("sums", "rope"): Cell("tested", 3, Range(2, 2, 2), 1, 4 / 3)}


@pytest.mark.parametrize(
    ("at_range", "state", "learned"), [((0.5, 0.9, 1), "not learned", 0.9), ((0.5, 0.93, 1), "tested", 0.93)]
)
def test_a_cell_is_tested_if_half_of_its_seeds_have_learned_as_in_all_pictures(at_range, state, learned):
    some = [run("copy/rope", seed, at_range=share) for seed, share in enumerate(at_range)]
    (cell,) = scores.cells({"matrix/copy/rope": some}, ()).values()
    assert (cell.state, cell.learned, cell.seeds) == (state, learned, 3)
    assert np.isnan(cell.reach.median) == np.isnan(cell.reach.least) == (state == "not learned")


OVER_TASKS = {
    **runs("copy/plain", (1, 1, 1)), **runs("copy/rope", (1, 1.5, 2)), **runs("copy/fire", (1.5,)),
    **runs("reverse/plain", (5, 5)), **runs("reverse/rope", (1.5, 3, 5)),
    **runs("successor/plain", (5, 5, 5), at_range=0.5), **runs("successor/rope", (5, 5, 5)),
    "matrix/sorting/plain": [], **runs("sorting/rope", (5, 5, 5), at_range=0.9), "matrix/sorting/fire": [],
}  # fmt: skip
"""The plain decoder did not learn the successor, rope not sorting; some have fewer seeds."""


def test_tables_have_the_cells_their_middle_half_and_the_chance_to_beat_the_plain_decoder():
    """Of nine scores of rope the middle five; of copies it beats one and ties one, of reversals it loses all."""
    rope, plain, fire = lines(scores.aggregate_table(OVER_TASKS))
    middle = {"trick": "rope", "tasks_run": "4", "tasks_learned": "3", "seeds": "3", "interquartile_mean": "0.784"}
    chance = {"tasks_compared": "2", "probability_of_improvement": "0.375"}
    assert rope.items() >= (middle | chance).items()
    assert 0.5 < float(rope["low"]) < 0.784 < float(rope["high"]) < 1
    assert (float(rope["improvement_low"]), float(rope["improvement_high"])) == (0.25, 0.5)
    assert [*plain.values()] == ["plain", "3", "2", "2", "0.55", "0.55", "0.55", "0", "", "", ""]
    assert [*fire.values()] == ["fire", "1", "1", "1", "0.46", "", "", "1", "1", "", ""], "one seed has no interval"
    found = [one.trick for one in scores.aggregates(OVER_TASKS)]
    assert found == ["fire", "plain", "rope"], "fewest tasks first"
    took = {"lr": 0.004, "budgets": 4, "seconds_of_all_trainings": 12.5}
    made = runs("copy/rope", (1, 1.5, 3), **took) | runs("sums/fire", (2,), in_count=2) | {"matrix/copy/plain": []}
    made |= {"matrix/parity/hint": []} | runs("parity/rope", (5,), at_range=0.8)
    table = scores.csv(made)
    assert [tuple(line.values()) for line in lines(table)] == [
        ("copy", "rope", "tested", "3", "1", "1.5", "1", "3", "", "0.46", "0.1", "0.82",
         "0.004", "4", "1000", "3600384", "12.5"),
        ("sums", "fire", "tested", "1", "1", "2", "2", "2", "2", "0.64", "0.64", "0.64",
         "", "1", "1000", "2000000", ""),
        ("copy", "plain", "not run", "0", *[""] * 13),
        ("parity", "hint", "refused", "0", *[""] * 13),
        ("parity", "rope", "not learned", "1", "0.8", "", "", "", "", "1", "1", "1", "", "1", "1000", "700128", ""),
    ]  # fmt: skip
    assert table.splitlines()[0] == (
        "task,trick,state,seeds,at_longest_trained,reach,least_reach,largest_reach,reach_in_count,beyond,least_beyond,"
        "largest_beyond,lr,budgets,parameters,tokens_of_kept_training,seconds_of_all_trainings"
    )


@pytest.mark.parametrize(("name", "once"), [
    ("copy/rope", 1172 * 64 * 12),  # $ n = n $ for n of 1 to 8
    ("copy/abc", 586 * 64 * (12 + 12)),  # two models
    ("sums/rope", 2500 * 64 * 12.5),  # $ n + n = n+1 $ or $ n + n + n = n+1 $ for n of 1 to 3
    ("parity/scratchpad", 911 * 64 * 12),  # $ n = n $ for n of 1 to 8
])  # fmt: skip
def test_tokens_are_those_of_the_kept_training_however_long(name, once):
    """Steps, batch and tokens of a mean example, a number by its digits."""
    assert scores.tokens(run(name)) == pytest.approx(once, rel=1e-9)
    assert scores.tokens(run(name, budgets=4)) == pytest.approx(4 * once, rel=1e-9)

"""Errata of "From Interpolation to Extrapolation": what follows from the print, and what this code does instead.

Algorithm 1 is written out once, and lines of it can be taken as printed, one at a time (`algorithm_1`).
"""

import functools
import math

import pytest
import torch
from torch import Tensor

from lengen import ListOpsMax, ListOpsMin, ListOpsSum, PairAddition, RunningXor, Successor, TaskData, build_model
from lengen.models.calibrated_bias import calibrate_bias, closed, line_values
from papers.bias_calibration import procedures, settings
from papers.bias_calibration.profiles import profile
from reproduce.comparison.published_values import values

CLOSED = -math.inf
ANTI, VERTICAL, DIAGONAL = (1, -1), (1, 0), (1, 1)
NUMBERS = {value.id: value.published / 100 for value in values("bias_calibration")}


def along(A: list[list[float]], i: int, j: int, slope: int, printed: set[str]) -> float:
    first = 0 if "line 5" in printed else -i  # as printed nothing bounds k below; from 0 on it can be run
    found = [A[i + k][j + k * slope] for k in range(first, len(A) - i) if i + k >= 0 and 0 <= j + k * slope < len(A[0])]
    if not found:
        return 0.0 if "line 9" in printed else CLOSED
    return sum(found) / len(found)


def algorithm_1(attention: Tensor, size: tuple[int, int], directions, sigma: float = 2.0, *printed: str) -> Tensor:
    """Algorithm 1 of Appendix B; the places in ``printed`` as they stand there, everything else mended."""
    taken, (M, N), (_, m, n) = set(printed), size, attention.shape
    start = 0.0 if "start" in taken else CLOSED
    results = []
    for A in attention.tolist():  # 1
        out = [[start] * N for _ in range(M)]
        for _, slope in directions:  # 2
            shift = 0 if slope >= 0 else N - n + ("footnote 9" in taken)
            through = {j - slope * i: (i, j) for i in range(m) for j in range(n)}
            values = torch.tensor([along(A, i, j, slope, set()) for i, j in through.values()], dtype=torch.float64)
            limit = values.mean() + sigma * values.std(correction=0) + 1e-9
            top = line_values(attention, slope)[1].max() if "max" in taken else values.max()
            own = [[along(A, i, j - shift, slope, taken) for j in range(N)] for i in range(M)]  # 3 to 11
            own = [row[:] for row in out] if "lines 14, 19" in taken else own
            for row in own:  # 12 to 21
                for j, value in enumerate(row):
                    compared = value - top if "threshold" in taken else value
                    row[j] = float(value - top) if compared > limit else CLOSED
            if "line 25" not in taken:
                out = [[*map(max, a, b)] for a, b in zip(out, own, strict=True)]
        if "line 25" in taken:  # 23 to 27 stand behind the loop: only its last direction is there
            out = [[*map(max, a, b)] for a, b in zip(out, own, strict=True)]
        if "step 2.4" not in taken and all(value == CLOSED for row in out for value in row):
            out = [[0.0] * N for _ in range(M)]
        results.append(out)
    return torch.tensor(results, dtype=torch.float64)  # 29


def planted(m: int, n: int, slope: int, column: int, low: float = 0.1, high: float = 0.9) -> Tensor:
    attention = torch.full((1, m, n), low, dtype=torch.float64)
    for i in range(m):
        if 0 <= column + slope * i < n:
            attention[0, i, column + slope * i] = high
    return attention


def opened(bias: Tensor) -> set[tuple[int, int]]:
    return {(i, j) for i, j in (bias[0] > CLOSED).nonzero().tolist()}


def test_algorithm_1_with_everything_mended_is_what_calibrates():
    generator = torch.Generator().manual_seed(0)
    for sigma in (0.5, 1.0, 2.0):
        attention = torch.rand(3, 4, 7, generator=generator, dtype=torch.float64)
        for directions in ([ANTI], [DIAGONAL, VERTICAL], [ANTI, VERTICAL, DIAGONAL]):
            found = algorithm_1(attention, (6, 9), directions, sigma)
            assert torch.allclose(found, calibrate_bias(attention, (6, 9), directions, sigma), atol=1e-6)


def test_the_printed_threshold_closes_every_line_of_probabilities_and_opens_all_of_low_scores():
    """A softmax ignores a constant of the scores; so does the mended threshold, and the printed one does not."""
    attention, size = planted(6, 12, -1, 8), (9, 15)
    line = {(i, 11 - i) for i in range(9)}
    assert opened(calibrate_bias(attention, size, [ANTI])) == line
    assert (algorithm_1(attention, size, [ANTI], 2.0, "threshold") == 0).all(), "transparent: nothing passes"
    lower = algorithm_1(attention - 100, size, [ANTI], 2.0, "threshold")
    assert opened(lower) > line and len(opened(lower)) == sum(3 <= i + j <= 19 for i in range(9) for j in range(15))
    assert torch.allclose(calibrate_bias(attention - 100, size, [ANTI]), calibrate_bias(attention, size, [ANTI]))


def test_lines_14_and_19_as_printed_forget_the_attention():
    found = []
    for column in (3, 5):
        attention = planted(6, 12, 1, column)
        assert opened(calibrate_bias(attention, (6, 12), [DIAGONAL])) == {(i, column + i) for i in range(6)}
        found.append(algorithm_1(attention, (6, 12), [DIAGONAL], 2.0, "lines 14, 19", "start"))
    assert torch.equal(*found), "two patterns, one bias"


def test_an_output_that_starts_at_zero_opens_everything():
    """No bias exceeds 0, so the maximum with an array of zeros is 0 everywhere."""
    attention = planted(6, 12, 1, 3)
    assert (algorithm_1(attention, (6, 12), [DIAGONAL], 2.0, "start") == 0).all()
    assert (calibrate_bias(attention, (6, 12), [DIAGONAL]) == CLOSED).any()


def test_merging_behind_the_loop_keeps_the_last_direction_only():
    attention, size = planted(6, 12, 1, 3).maximum(planted(6, 12, 0, 1)), (6, 12)
    both = calibrate_bias(attention, size, [DIAGONAL, VERTICAL])
    assert torch.equal(both, calibrate_bias(attention, size, [VERTICAL, DIAGONAL]))
    for order in ([DIAGONAL, VERTICAL], [VERTICAL, DIAGONAL]):
        last = calibrate_bias(attention, size, order[1:])
        assert torch.allclose(algorithm_1(attention, size, order, 2.0, "line 25"), last, atol=1e-9)
        assert opened(last) < opened(both)


def test_half_a_line_is_not_extended_and_differs_from_place_to_place():
    attention = planted(3, 3, 1, 0, low=-9.0)
    attention[0].diagonal().copy_(torch.tensor([1.0, 2.0, 6.0]))
    half = [along(attention[0].tolist(), i, i, 1, {"line 5"}) for i in range(5)]
    assert half == [3.0, 4.0, 6.0, CLOSED, CLOSED], "nothing is found below the input"
    bias = calibrate_bias(attention, (5, 5), [DIAGONAL], 1.0)
    assert opened(bias) == {(i, i) for i in range(5)} and bias[0].diagonal().tolist() == [0.0] * 5


def test_lines_that_the_input_lacks_are_closed_and_not_zero():
    """Scores may be negative: a sum over nothing, left at 0, would be the strongest line of all."""
    attention = planted(4, 6, 1, 1, low=-5.0, high=-1.0)
    found = calibrate_bias(attention, (8, 12), [DIAGONAL])
    assert opened(found) == {(i, i + 1) for i in range(8)}
    wrong = algorithm_1(attention, (8, 12), [DIAGONAL], 2.0, "line 9")
    assert wrong[0, 0, 11] == 1.0 and (0, 11) not in opened(found)
    assert wrong.max() == 1.0 and found.max() == 0.0


def test_the_shift_of_footnote_9_is_one_too_far():
    """The line through the last column of row 0 has to leave through the last column of row 0."""
    attention = planted(6, 12, -1, 11)
    assert opened(calibrate_bias(attention, (8, 15), [ANTI])) == {(i, 14 - i) for i in range(8)}
    printed = algorithm_1(attention, (8, 15), [ANTI], 2.0, "footnote 9")
    assert opened(printed) == {(i, 15 - i) for i in range(1, 8)}, "row 0 has lost it"


def test_heads_do_not_weaken_each_other():
    """d_max is the head's own: as printed, max is taken over all of the output."""
    weak, strong = planted(6, 12, 1, 3, high=0.5), planted(6, 12, 1, 3, high=4.0)
    both, size = torch.cat([weak, strong]), (6, 12)
    found = calibrate_bias(both, size, [DIAGONAL])
    assert torch.equal(found, torch.cat([calibrate_bias(head, size, [DIAGONAL]) for head in (weak, strong)]))
    assert found[0].max() == found[1].max() == 0
    assert algorithm_1(both, size, [DIAGONAL], 2.0, "max")[0].max() == pytest.approx(-3.5)


def test_a_head_without_pattern_is_closed_for_good_by_algorithm_1_alone():
    """Step 2.4 of Section 5 is missing there; a softmax over nothing is no number."""
    even = torch.full((1, 5, 6), 0.2, dtype=torch.float64)
    printed = algorithm_1(even, (5, 6), [DIAGONAL], 2.0, "step 2.4")
    assert (printed == CLOSED).all() and printed.softmax(dim=-1).isnan().all()
    assert (calibrate_bias(even, (5, 6), [DIAGONAL]) == 0).all()


def test_the_line_below_the_diagonal_leaves_the_first_row_without_a_key():
    """The carry's own pattern: as printed, row 0 is a softmax of -inf alone."""
    bias = calibrate_bias(planted(7, 7, 1, -1), (9, 9), [DIAGONAL])
    assert opened(bias) == {(i, i - 1) for i in range(1, 9)}
    assert bias[0].softmax(dim=-1).isnan().any(dim=-1).tolist() == [True] + [False] * 8


def test_sums_and_means_open_different_lines():
    square = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]])
    assert opened(calibrate_bias(square, (3, 3), [ANTI], 1.0, line="sum")) == {(0, 2), (1, 1), (2, 0)}
    assert opened(calibrate_bias(square, (3, 3), [ANTI], 1.0, line="mean")) == {(2, 2)}


def test_variance_does_not_decide_whether_a_head_is_transparent():
    faint = planted(6, 12, 1, 3) * 1e-6
    assert opened(calibrate_bias(faint, (6, 12), [DIAGONAL])) == {(i, i + 3) for i in range(6)}
    wide = torch.tensor([0.0, 100.0] * 4, dtype=torch.float64).expand(1, 5, 8)
    assert (calibrate_bias(wide, (5, 8), [VERTICAL]) == 0).all(), "half of the lines are high: none stands out"


def test_beyond_the_input_the_bias_is_closed_and_not_that_of_the_last_line():
    """clip(j - i, m - 1, n - 1) would continue the corner's value to all larger distances."""
    corner = torch.full((1, 4, 4), 0.1, dtype=torch.float64)
    corner[0, 0, 3] = 0.9
    assert opened(calibrate_bias(corner, (6, 9), [DIAGONAL])) == {(i, i + 3) for i in range(6)}
    clipped = {(i, j) for i in range(6) for j in range(9) if max(-3, min(3, j - i)) == 3}
    assert clipped > {(i, i + 3) for i in range(6)}


@torch.no_grad()
def test_scores_are_scaled_and_those_of_cross_attention_have_keys_of_the_source():
    first = settings.calibrated(profile("smoke", PairAddition)).first()
    model, data = build_model(first, 0).eval(), TaskData(first, 0)
    batch = data.writer.write(data.test(2, 2, 5))
    (weights,), (scores,) = model.attention(batch), model.attention(batch, softmax=False)
    rows, columns = scores["cross"].shape[2:]
    assert rows == scores["self"].shape[3] != columns == batch.source.tokens.shape[1]
    assert torch.allclose(scores["cross"].softmax(dim=-1), weights["cross"], atol=1e-6)
    unscaled = scores["cross"] * first.model.head_dim**0.5
    assert not torch.allclose(unscaled.softmax(dim=-1), weights["cross"], atol=1e-2)


@pytest.mark.slow
def test_the_second_training_starts_from_new_weights(tmp_path, monkeypatch):
    spec, seen = settings.calibrated(profile("smoke", Successor)), []
    train = procedures.calibration.run.execute

    def watched(trained, seed, folder, report, prepare=lambda model: None, loggers=()):
        def look(model):
            seen.append({name: value.clone() for name, value in model.named_parameters()})
            prepare(model)

        return train(trained, seed, folder, report, look, loggers=loggers)

    monkeypatch.setattr(procedures.calibration.run, "execute", watched)
    procedures.execute(spec, 0, tmp_path, [].append)
    new = dict(build_model(spec.retrained(), 0).named_parameters())
    assert len(seen) == 2 and all(torch.equal(seen[1][name], value) for name, value in new.items())


def test_the_training_numbers_have_seven_digits_too():
    """L_int, "the maximum number of digits", is 7 for [0, 2^20]; 6 is what most numbers have, in binary 20."""
    largest = settings.plain(profile("paper", PairAddition)).data.task
    assert len(str(largest.limit)) == 7 and largest.digits == 6
    assert 0.04 < (largest.limit + 1 - 10**6) / (largest.limit + 1) < 0.05
    assert settings.plain(profile("paper", RunningXor)).data.task.digits == 20


def test_the_printed_example_of_figure_9_gets_operands_of_one_length():
    (first, second), _ = settings.PROBES[PairAddition]
    assert (len(first), len(second)) == (9, 10)
    data = TaskData(settings.plain(profile("paper", PairAddition)), 0)
    batch = data.writer.write(data.task.parse([first, second]))
    query = data.vocab.decode(batch.source.tokens[0])
    assert query == f"${first.zfill(61)}+{second.zfill(61)}$"


@torch.no_grad()
def test_a_window_around_the_digit_itself_cannot_tell_the_first_two_digits_apart():
    """Without positions: 12 and 21 look alike to the first place, whose answers are 3 and 2."""
    spec = settings.scaffolded(profile("smoke", Successor), "nope")
    model, data = build_model(spec, 0).eval(), TaskData(spec, 0)
    batches = [data.writer.write(data.task.parse([text])) for text in ("12", "21")]

    def first_place() -> list[Tensor]:
        return [model.predict(batch)[0, 0] for batch in batches]

    assert not torch.allclose(*first_place(), atol=1e-3), "anchored on the whole matrix"
    rows, columns = model.bias.cross.shape[1:]
    on_the_digit = (columns - 2 - torch.arange(columns) - torch.arange(rows)[:, None]).abs() <= 1
    model.bias.set(model.bias.own, closed(on_the_digit.numpy()).expand_as(model.bias.cross))
    assert torch.allclose(*first_place(), atol=1e-5)


def test_running_results_need_an_order_that_does_not_matter_and_not_only_associativity():
    """From the right, y = y + x: for "the first of two", which is associative, that is the last and not the first."""
    arguments = [7, 3, 8, 4]
    operators = {ListOpsSum: lambda a, b: (a + b) % 10, ListOpsMax: max, ListOpsMin: min}
    for part, operator in operators.items():
        task = part(digits=4)
        assert task.text(task.parse(["7384"])) == [str(functools.reduce(operator, arguments))]

    def first(a: int, b: int) -> int:
        return a

    assert first(first(7, 3), 8) == first(7, first(3, 8)), "associative"
    assert functools.reduce(first, arguments) == 7 and functools.reduce(first, arguments[::-1]) == 4


def test_the_tables_contradict_what_is_said_of_relative_encoding_and_of_perfection():
    rpe = [NUMBERS[f"table1-cited-addition-rpe-{length}"] for length in (6, 10, 15, 20)]
    assert rpe[1] > 0.99 and rpe[2] > 0.9, "extrapolates, where Section 4.2 says that no previous work does"
    assert rpe[3] < 0.9, "not 90 % up to 20 digits"
    abc = [NUMBERS[f"table1-addition-abc-{length}"] for length in (6, 10, 15, 20, 50)]
    assert max(abc[2:]) < 1 and min(abc) >= 0.99


def test_what_is_said_of_all_tasks_is_asked_of_those_that_the_tables_have():
    """Not ALiBi on N x 1, of which no table has a row; parity is a row of Table 3 alone."""
    assert not any("n-by-one-alibi" in name for name in NUMBERS)
    assert all(name.startswith("table3") for name in NUMBERS if "parity" in name)

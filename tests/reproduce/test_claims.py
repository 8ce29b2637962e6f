"""Every predicate can hold, fail and stay open; runs that are missing never count as failing."""

import dataclasses
import math

import msgspec
import numpy as np
import pytest

from lengen.config.spec import change
from lengen.intervals import Interval, wilson
from lengen.measures import Missing
from lengen.records import Grid
from reproduce.comparison import checks
from reproduce.comparison.evidence import Sample, Side, level, pooled
from reproduce.comparison.rows import DIFFERS, REPRODUCED, UNDECIDED
from tests.reproduce.made import N, claim, evidence, experiment, judge, keys, outside, run, scalars, spec

A, B = experiment("p/f/a"), experiment("p/f/b", declared=spec(layers=2))
C = experiment("p/f/c", declared=spec(layers=4, heads=8))
TWO = {"check": "compare", "relation": ">", "right": ["p/f/b"]}


def verdict(entry, *runs, of=(A, B, C)):
    return judge(entry, evidence(of, runs)).verdict


# Each check with accuracies of a and b outside the trained range that reproduce it, fail it, leave it open.
CHECKS = {
    "level >=": (claim(threshold=0.9), (1.0, 0), (0.5, 0), (0.9, 0)),
    "level <=": (claim(relation="<=", threshold=0.1), (0.0, 0), (0.5, 0), (0.1, 0)),
    "level <": (claim(relation="<", threshold=0.5), (0.3, 0), (0.7, 0), (0.5, 0)),
    "level ~": (claim(relation="~", low=0.45, high=0.55), (0.5, 0), (0.9, 0), (0.55, 0)),
    "level ~ from below": (claim(relation="~", low=0.45, high=0.55), (0.5, 0), (0.1, 0), (0.45, 0)),
    "compare >": (claim(**TWO), (0.9, 0.1), (0.1, 0.9), (0.5, 0.5)),
    "compare <": (claim(**TWO | {"relation": "<"}), (0.1, 0.9), (0.9, 0.1), (0.5, 0.5)),
    "compare not below": (claim(**TWO, threshold=-0.05), (0.5, 0.5), (0.1, 0.9), (0.5, 0.55)),
    "paired": (claim(**TWO | {"check": "paired"}), (0.9, 0.1), (0.1, 0.9), (0.5, 0.5)),
    "pooled": (claim(**TWO | {"check": "pooled"}), (0.9, 0.1), (0.1, 0.9), (0.5, 0.5)),
    "ordered": (
        claim(check="ordered", relation="<", left=["p/f/a", "p/f/b"], by="model.layers"),
        (0.1, 0.9),
        (0.9, 0.1),
        (0.5, 0.5),
    ),
    "spread": (
        claim(check="spread", relation="<=", left=["p/f/a", "p/f/b"], threshold=0.1),
        (0.5, 0.52),
        (0.1, 0.9),
        (0.5, 0.6),
    ),
}

SWEEP_X, SWEEP_Y = (["p/f/x-16", "p/f/x-64"], ["p/f/y-16", "p/f/y-64"])
SWEEP = tuple(experiment(f"p/f/{kind}-{width}", declared=spec(width=width)) for kind in "xy" for width in (16, 64))
GAIN = claim(check="gain", relation=">", left=SWEEP_X, right=SWEEP_Y, by="model.width")
VARIED = claim(check="varied", relation=">", left=SWEEP_X, right=SWEEP_Y)


def swept(entry, *rates, seeds=2):
    """Verdict where x-16, x-64, y-16, y-64 have these accuracies outside the trained range, for every seed."""
    made = [run(of, outside(1.0, p), seed=k) for of, p in zip(SWEEP, rates, strict=True) for k in range(seeds)]
    return judge(entry, evidence(SWEEP, made))


# Accuracies that reproduce the check, fail it, leave it open.
SWEEPS = {
    "gain": (GAIN, (0.9, 0.5, 0.1, 0.45), (0.5, 0.9, 0.45, 0.1), (0.5, 0.5, 0.3, 0.3)),
    "gain <": (
        claim(check="gain", relation="<", left=SWEEP_X, right=SWEEP_Y, by="model.width"),
        (0.5, 0.9, 0.45, 0.1),
        (0.9, 0.5, 0.1, 0.45),
        (0.5, 0.5, 0.3, 0.3),
    ),
}


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_checks_of_a_sweep_can_hold_fail_and_stay_open(name, which):
    entry, *cases = SWEEPS[name]
    assert swept(entry, *cases[which]).verdict == (REPRODUCED, DIFFERS, UNDECIDED)[which]


def test_a_gain_is_the_difference_of_two_differences_and_says_both():
    found = swept(GAIN, 0.9, 0.5, 0.1, 0.45)
    assert found.ours == pytest.approx(0.75, abs=0.01) and found.seeds == 2
    assert found.interval.low < found.ours < found.interval.high
    assert found.notes[0] == "at model.width 16 +80.0 % against at model.width 64 +5.0 %"


def test_who_only_loses_less_does_not_gain_most():
    assert swept(GAIN, 0.5, 0.1, 0.5, 0.9).verdict == UNDECIDED
    assert swept(GAIN, 0.3, 0.1, 0.5, 0.9).verdict == DIFFERS


def test_a_gain_needs_two_sizes_and_both_sides_at_each():
    with pytest.raises(Missing, match=r"model\.width has one value at the cpu profile"):
        one = msgspec.structs.replace(GAIN, left=("p/f/x-16",), right=("p/f/y-16",))
        verdict(one, *(run(of, 1.0) for of in SWEEP), of=SWEEP)
    with pytest.raises(Missing, match=r"only one side has model\.width = 64") as missing:
        verdict(msgspec.structs.replace(GAIN, right=("p/f/y-16",)), *(run(of, 1.0) for of in SWEEP), of=SWEEP)
    assert missing.value.absent


def varied(*seeds):
    """What is found where x-16, x-64, y-16, y-64 have these accuracies outside the trained range, seed by seed."""
    made = [run(of, outside(1.0, p), seed=k) for of, some in zip(SWEEP, seeds, strict=True) for k, p in enumerate(some)]
    return judge(VARIED, evidence(SWEEP, made))


def test_variation_is_that_between_seeds_of_one_setting():
    wide, narrow = (0.1, 0.5, 0.9), (0.45, 0.5, 0.55)
    assert varied(wide, wide, narrow, narrow).verdict == REPRODUCED
    assert varied(narrow, narrow, wide, wide).verdict == DIFFERS
    assert varied(narrow, wide, wide, narrow).verdict == UNDECIDED
    low, high = (0.05, 0.1, 0.15), (0.85, 0.9, 0.95)
    assert varied(low, high, wide, wide).verdict == DIFFERS, "what the sizes do is no variation between seeds"
    assert varied(wide, wide, narrow, narrow).compared == pytest.approx((0.4, 0.05), abs=0.005)


def test_variation_needs_seeds_on_each_side():
    with pytest.raises(Missing, match="2 runs of 2 experiments; a deviation within them needs more"):
        varied((0,), (1,), (0,), (1,))


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_every_check_can_hold_fail_and_stay_open(name, which):
    entry, *cases = CHECKS[name]
    a, b = cases[which]
    found = verdict(entry, run(A, outside(1.0, a)), run(B, outside(1.0, b)))
    assert found == (REPRODUCED, DIFFERS, UNDECIDED)[which]


def test_every_check_is_tested_here():
    assert {name.split()[0] for name in (*CHECKS, *SWEEPS, VARIED.kind)} == set(checks.CLAIMS)


@pytest.mark.parametrize("measure", ["exact", "values.loss"])
def test_more_seeds_of_the_same_problems_are_no_more_examples(measure):
    """Three seeds that answer alike know no more of the problems than one."""
    losses = {f"values.loss.{n}": np.random.default_rng(n).normal(size=N) for n in (2, 3, 4, 6)}
    made = [dataclasses.replace(run(A, 0.5, seed=seed), arrays=losses) for seed in range(3)]
    one, three = (judge(claim(measure=measure), evidence((A,), runs)) for runs in (made[:1], made))
    assert three.n == 3 * one.n and three.sources.examples == pytest.approx(one.sources.examples, abs=1e-5)


def test_a_pool_of_one_task_is_asked_the_same_problems_and_of_two_tasks_others():
    copying, sorting = (Sample("f/a", (0.5, 0.5), N, 2 * N, True, problems={task: N}) for task in ("copy", "sorting"))
    assert pooled([copying, copying]).examples == copying.examples == wilson(N / 2, N)
    assert pooled([copying, sorting]).examples == wilson(N, 2 * N)


def test_seeds_far_apart_leave_it_undecided():
    left = [run(A, outside(1.0, rate), seed=seed) for seed, rate in enumerate((0.9, 0.9, 0.2))]
    right = [run(B, outside(1.0, 0.4), seed=seed) for seed in range(3)]
    assert verdict(claim(**TWO), *left, *right) == UNDECIDED
    near = [run(A, outside(1.0, rate), seed=seed) for seed, rate in enumerate((0.9, 0.88, 0.86))]
    assert verdict(claim(**TWO), *near, *right) == REPRODUCED
    assert verdict(claim(threshold=0.5), *left) == UNDECIDED
    assert verdict(claim(threshold=0.5), *near) == REPRODUCED


def test_other_experiments_tell_how_far_seeds_lie_apart():
    """Three seeds that happen to agree: the spread of a third experiment, of the same measure, leaves it open."""
    agreeing = [run(of, outside(1.0, rate), seed=seed) for of, rate in ((A, 0.6), (B, 0.5)) for seed in range(3)]
    spread = [run(C, outside(1.0, rate), seed=seed) for seed, rate in enumerate((0.1, 0.5, 0.9))]
    assert verdict(claim(**TWO), *agreeing) == REPRODUCED
    assert verdict(claim(**TWO), *agreeing, *spread) == UNDECIDED
    elsewhere = [run(C, lambda n, m, rate=rate: rate if n <= 3 and m <= 3 else 0.5, seed=seed)
                 for seed, rate in enumerate((0.1, 0.5, 0.9))]  # fmt: skip
    assert verdict(claim(**TWO), *agreeing, *elsewhere) == REPRODUCED, "seeds of another region say nothing here"


def test_a_seed_without_a_value_says_nothing_of_how_far_others_lie_apart():
    side = Side("scalar.steps", "teacher_forced", "all")
    known = [scalars(run(of, 1.0, seed=seed), steps=1.0 + seed) for of in (A, B) for seed in range(3)]
    nowhere = [scalars(run(C, 1.0, seed=seed), steps=math.nan) for seed in range(3)]
    assert evidence((A, B, C), [*known, *nowhere]).spread(side) == evidence((A, B), known).spread(side)
    assert evidence((A, B, C), nowhere).spread(side) is None


def test_a_claim_against_several_needs_every_one_and_shows_the_closest():
    runs = [run(A, 0.9), run(B, 0.1), run(C, 0.3)]
    found = judge(claim(**TWO | {"right": ["p/f/a", "p/f/b", "p/f/c"]}), evidence((A, B, C), runs))
    assert (found.verdict, round(found.ours, 3)) == (REPRODUCED, 0.6)
    assert "f/a 90.0 % against f/c 30.0 %" in found.notes
    assert found.interval.low < 0.6 < found.interval.high
    assert verdict(claim(**TWO | {"right": ["p/f/a", "p/f/b", "p/f/c"]}), runs[0], runs[1], run(C, 1.0)) == DIFFERS


def test_largest_picks_the_right_side_by_heads_in_all():
    entry = claim(**TWO | {"right": ["p/f/a", "p/f/b", "p/f/c"], "pick": "largest"})
    assert verdict(entry, run(A, 0.5), run(B, 0.9), run(C, 0.1)) == REPRODUCED


def test_an_equal_specification_is_not_compared_with_itself():
    twin = experiment("p/f/twin")
    entry = claim(**TWO | {"right": ["p/f/a", "p/f/b", "p/f/twin"]})
    assert verdict(entry, run(A, 0.9), run(B, 0.1), run(twin, 0.9), of=(A, B, twin)) == REPRODUCED


def test_only_cells_in_the_region_of_both_trained_ranges_are_compared():
    wide = experiment("p/f/b", declared=spec(length=4, count=4))
    entry = claim(**TWO | {"left": ["p/f/b"], "right": ["p/f/a"]})
    # a is right on 4 x 4 and nothing further; 4 x 4 is in the range of b and must not count for either.
    beyond = run(A, lambda n, m: 1.0 if max(n, m) <= 4 else 0.0), run(wide, lambda n, m: 1.0 if max(n, m) <= 4 else 0.5)
    found = judge(entry, evidence((A, wide), beyond))
    assert (found.verdict, found.ours) == (REPRODUCED, 0.5)


def test_a_curve_is_compared_with_the_cells_of_a_grid_that_hold_one():
    grid = experiment("p/f/b", declared=change(spec(count=1), test={"counts": (1, 2)}))
    beside = run(grid, lambda n, m: 0.1 if m == 1 else 1.0)
    cells = {cell[:1]: modes for cell, modes in run(grid, 0.9).grid.scores.items() if cell[1] == 1}
    alone = experiment("p/f/a", declared=change(spec(count=1), test={"counts": (1,)}))
    curve = dataclasses.replace(run(alone, 0.9), grid=Grid(("length",), cells))
    found = judge(claim(**TWO | {"region": "longer"}), evidence((alone, grid), (curve, beside)))
    assert (found.verdict, found.ours, found.n) == (REPRODUCED, pytest.approx(0.8), 4 * N)


def test_regions_of_one_model_are_compared_with_each_other():
    entry = claim(**TWO | {"right": ["p/f/a"], "region": "more", "right_region": "longer"})
    assert verdict(entry, run(A, lambda n, m: 0.1 if n > 3 else 0.9)) == REPRODUCED
    assert verdict(entry, run(A, lambda n, m: 0.1 if m > 3 else 0.9)) == DIFFERS


def test_two_measures_of_the_same_runs_are_matched_by_seed():
    entry = TWO | {"check": "pooled", "right": ["p/f/a"], "measure": "answer", "right_measure": "exact"}
    entry = claim(**entry | {"threshold": 0.05})
    rates = [(0.1, 0.3), (0.6, 0.8)]  # seeds differ more than the measures do
    runs = [run(A, low, seed=k, answer={"teacher_forced": high}) for k, (low, high) in enumerate(rates)]
    assert verdict(entry, *runs) == REPRODUCED


def test_teacher_forced_and_free_running_never_mix():
    made = run(A, 0.0, answer={"teacher_forced": 1.0, "free_running": 0.5})
    assert verdict(claim(measure="answer", threshold=0.9), made) == REPRODUCED
    assert verdict(claim(measure="answer", threshold=0.9, mode="free_running"), made) == DIFFERS
    with pytest.raises(Missing, match="not scored free-running"):
        verdict(claim(measure="answer", mode="free_running"), run(A, 1.0, modes=("teacher_forced",)))


def of_keys(of, *exponents):
    return [run(of, 1.0, seed=seed, keys=keys(exponent)) for seed, exponent in enumerate(exponents)]


def test_keys_have_an_interval_over_seeds_and_none_without():
    entry = claim(relation="<=", threshold=0.25, measure="keys_growth", region="all")
    assert verdict(entry, *of_keys(A, 0.0, 0.01, 0.02)) == REPRODUCED
    assert verdict(entry, *of_keys(A, 1.0, 0.99, 0.98)) == DIFFERS
    assert verdict(entry, *of_keys(A, 0.0, 0.5, 1.0)) == UNDECIDED
    alone = judge(entry, evidence((A,), of_keys(A, 0.0)))
    assert (alone.verdict, alone.interval) == (UNDECIDED, None)
    less = claim(**TWO | {"relation": "<", "measure": "keys_growth", "region": "all"})
    assert verdict(less, *of_keys(A, 0.1, 0.11, 0.12), *of_keys(B, 0.9, 0.91, 0.92)) == REPRODUCED
    assert verdict(less, *of_keys(A, 0.1), *of_keys(B, 0.9)) == UNDECIDED


def test_scalars_of_runs_are_levels_and_can_be_compared_with_each_other():
    made = [scalars(run(A, 1.0, seed=k), ratio=s / 30, first=3.0, second=s) for k, s in enumerate((1.4, 1.5, 1.6))]
    at_most = claim(relation="<=", threshold=0.1, measure="scalar.ratio", region="all")
    assert verdict(at_most, *made) == REPRODUCED
    assert verdict(at_most, *(scalars(one, ratio=0.5 + one.seed / 30) for one in made)) == DIFFERS
    more = TWO | {"right": ["p/f/a"], "measure": "scalar.first", "right_measure": "scalar.second", "region": "all"}
    found = judge(claim(**more), evidence((A,), made))
    assert (found.verdict, found.ours, found.seeds) == (REPRODUCED, 1.5, 3)
    assert verdict(claim(**more), *(scalars(one, first=1.0, second=3.0 + one.seed / 9) for one in made)) == DIFFERS
    with pytest.raises(Missing, match="no scalar ratio") as missing:
        verdict(at_most, scalars(made[0], first=1.0))
    assert not missing.value.absent


@pytest.mark.parametrize(
    ("entry", "message", "absent"),
    [
        (claim(), "no cpu run of f/a", False),
        (claim(left=["p/f/z"]), "there is no experiment p/f/z", True),
        (claim(left=["p/g/paper-only"]), "g/paper-only has no cpu size", True),
        (claim(left=["p/g/paper-only", "p/g/other"]), "g/paper-only g/other has no cpu size", True),
        (claim(check="ordered", left=["p/f/a"], by="model.layers"), "only f/a has a cpu size", True),
        (claim(check="spread", left=["p/f/b"]), "only f/b has a cpu size", True),
        (
            claim(**TWO | {"check": "paired", "right": ["p/f/b", "p/f/c"]}),
            "1 experiments cannot be paired with 2",
            True,
        ),
        (claim(**TWO | {"right": ["p/f/a"]}), "nothing to compare f/a with", True),
        (claim(left=["p/f/b"], lengths=[50, 60]), "f/b tested no cell there", False),
    ],
)
def test_missing_runs_are_said_and_never_a_verdict(entry, message, absent):
    paper_only, other = (experiment(f"p/g/{name}", profiles=("paper",)) for name in ("paper-only", "other"))
    with pytest.raises(Missing, match=message) as missing:
        judge(entry, evidence((A, B, C, paper_only, other), [run(B, 1.0)]))
    assert missing.value.absent is absent


def test_seeds_of_an_earlier_specification_do_not_mix_with_the_declared_one():
    old = run(A, 0.0, seed=1, made=spec(layers=6))
    found = judge(claim(threshold=0.9), evidence((A,), [run(A, 1.0), old]))
    assert (found.verdict, found.seeds) == (REPRODUCED, 1)


def test_level_on_the_edges():
    assert level(Interval(0.5, 0.5), ">=", 0.5, 0.5) == REPRODUCED
    assert level(Interval(0.5, 0.5), "<=", 0.5, 0.5) == REPRODUCED
    for relation in "><":
        assert level(Interval(0.5, 0.5), relation, 0.5, 0.5) == DIFFERS, "equal is neither more nor less"
    assert level(wilson(0, 300), ">", 0, 0) == level(wilson(300, 300), "<", 1, 1) == UNDECIDED
    assert level(Interval(0.4, 0.6), "=", 0.5, 0.5) == UNDECIDED
    assert level(None, ">=", 0.5, 0.5) == UNDECIDED


def test_the_largest_model_is_not_compared_with_itself():
    entry = claim(**TWO | {"left": ["p/f/c"], "right": ["p/f/a", "p/f/b", "p/f/c"], "pick": "largest"})
    with pytest.raises(Missing, match="f/c is itself the largest model with a cpu size") as missing:
        verdict(entry, run(A, 0.5), run(B, 0.5), run(C, 0.5))
    assert missing.value.absent


def test_an_extra_that_was_not_run_is_left_out_of_several_and_named():
    extra = dataclasses.replace(C, extra={"cpu": "an ablation"})
    entry = claim(**TWO | {"right": ["p/f/a", "p/f/b", "p/f/c"]})
    found = judge(entry, evidence((A, B, extra), [run(A, 0.9), run(B, 0.1)]))
    assert found.verdict == "reproduced" and any("without f/c (extra, not run)" in note for note in found.notes)
    absent = dataclasses.replace(extra, specs={"paper": C.specs["paper"]}, absent={"cpu": "too large"})
    found = judge(entry, evidence((A, B, absent), [run(A, 0.9), run(B, 0.1)]))
    assert not any("f/c" in note for note in found.notes)
    assert "without 1 of the 3 settings it names, which have no size here" in found.notes
    with pytest.raises(Missing):
        judge(entry, evidence((A, B, C), [run(A, 0.9), run(B, 0.1)]))

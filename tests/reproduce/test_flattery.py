"""Every way in which a comparison could flatter is built here, and refused or judged for what it is."""

import dataclasses
import itertools
import re

import numpy as np
import pytest

from lengen.measures import ByLength
from reproduce.comparison import checks, compare, score_card
from reproduce.comparison.frozen import digest
from reproduce.comparison.published import Published, PublishedError, parse
from reproduce.comparison.rows import DIFFERS, FLOOR, NOT_RUN, REPRODUCED, UNDECIDED, UNTESTED
from reproduce.comparison.verdicts import BY_HAND, verdict
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store
from tests.reproduce.made import EVERY, both, claim, evidence, experiment, number, outside, run, scalars, spec, three

A, B = experiment("p/f/a"), experiment("p/f/b", declared=spec(layers=2))
EXCEEDS = {"check": "compare", "relation": ">", "right": ["p/f/b"]}


def found(entry, *runs, of=(A, B)):
    """The finding on a claim, by what the runs say and whether it may count."""
    sides = entry.sides(evidence(of, runs))
    return verdict(entry, sides, checks.judge(entry, sides))


def refused(*rows):
    shared = {"place": "Fig. 1", "statement": "s", "check": "level", "relation": ">=", "left": ["p/f/a"]}
    with pytest.raises(PublishedError) as error:
        parse({"claim": [{"id": f"c{k}"} | shared | row for k, row in enumerate(rows)]}, "published.toml", EVERY)
    assert "\n" not in str(error.value)
    return str(error.value)


# -- a side that has not learned -----------------------------------------------------------------------------


def test_a_win_over_a_model_that_learned_nothing_is_untested():
    won = found(claim(**EXCEEDS), *three(A, 0.9), *three(B, 0.0, inside=0.02))
    assert (won.verdict, won.ours) == (UNTESTED, pytest.approx(0.9))
    assert won.why == "whole response right at its longest trained length 3: 95.0 % is required; f/b 2.0 %"
    assert "3 seeds of twice the steps" in won.decide and "core-hours" in won.decide
    assert found(claim(**EXCEEDS), *three(A, 0.9), *three(B, 0.0)).verdict == REPRODUCED


def hard_edge(at_edge):
    """Right in the trained range but at its longest length."""
    return lambda n, m: at_edge if n == 3 else 1.0 if n < 3 and m <= 3 else 0.0


def test_easy_lengths_do_not_hide_that_the_longest_was_not_learned():
    entry = claim(relation="<=", threshold=0.1, region="longer")
    pooled = [run(A, hard_edge(0.9), seed=seed) for seed in range(3)]
    assert found(entry, *pooled).verdict == UNTESTED, "0.95 over all trained cells, 0.90 at the longest"
    assert found(entry, *(run(A, hard_edge(1.0), seed=seed) for seed in range(3))).verdict == REPRODUCED


def test_the_median_over_seeds_decides_whether_it_was_learned():
    entry = claim(relation="<=", threshold=0.1, region="longer")
    assert found(entry, *(run(A, hard_edge(p), seed=k) for k, p in enumerate((0.2, 1.0, 1.0)))).verdict == REPRODUCED
    assert found(entry, *(run(A, hard_edge(p), seed=k) for k, p in enumerate((0.2, 0.2, 1.0)))).verdict == UNTESTED


@pytest.mark.parametrize(("region", "expected"), [("longer", REPRODUCED), ("more", UNTESTED), ("both", UNTESTED)])
def test_it_is_asked_on_the_axis_that_the_claim_reads(region, expected):
    """Three operands were not learned, three digits were, with two operands."""

    def rate(n, m):
        if max(n, m) > 3:
            return 0.0
        return 0.96 if n == 3 else 0.5 if m == 3 else 1.0

    made = [run(A, rate, seed=seed) for seed in range(3)]
    assert found(claim(relation="<=", threshold=0.1, region=region), *made).verdict == expected


def test_a_claim_about_the_trained_range_asks_for_nothing():
    for region in ("in_range", "trained_length"):
        assert (
            found(claim(relation="<", threshold=0.5, region=region), *three(A, 0.0, inside=0.1)).verdict == REPRODUCED
        )


def test_a_measure_of_the_whole_run_asks_for_both_edges():
    entry = claim(measure="scalar.ratio", relation="<=", threshold=0.1)
    made = [scalars(one, ratio=0.05 + one.seed / 1000) for one in three(A, 0.0, inside=0.5)]
    assert found(entry, *made).verdict == UNTESTED
    good = [scalars(one, ratio=0.05 + one.seed / 1000) for one in three(A, 0.0)]
    assert found(entry, *good).verdict == REPRODUCED


def test_a_claim_may_name_another_condition_and_says_why():
    unlearned = three(A, 0.0, inside=0.5)
    said = {"relation": "<=", "threshold": 0.1}
    assert (
        found(claim(**said, learned={"why": "the paper's own does not interpolate"}), *unlearned).verdict == REPRODUCED
    )
    assert (
        found(claim(**said, learned={"why": "half is all there is", "least": 0.45}), *unlearned).verdict == REPRODUCED
    )
    other = {"why": "answers count", "measure": "answer", "region": "in_range"}
    assert found(claim(**said, learned=other), *unlearned).verdict == UNTESTED
    right = [run(A, 0.0, seed=k, answer={"teacher_forced": 1.0}) for k in range(3)]
    assert found(claim(**said, learned=other), *right).verdict == REPRODUCED
    assert "'learned': object missing required field 'why'" in refused({"learned": {"least": 0.5}})
    assert "learned.region 'insid' is unknown" in refused({"learned": {"why": "w", "region": "insid"}})


def test_weights_set_by_hand_have_nothing_to_learn_and_no_seeds():
    construction = next(
        item for item in CATALOGUE.experiments("coupling") if "cpu" in item.specs and item.specs["cpu"].constructed
    )
    entry = claim(left=[construction.name], threshold=0.9, region="all")
    one = run(construction, 1.0)
    by_hand = found(entry, one, of=(construction,))
    assert by_hand.verdict == REPRODUCED and BY_HAND in by_hand.notes
    trained = found(claim(threshold=0.9), *three(A, 1.0))
    assert trained.verdict == REPRODUCED and BY_HAND not in trained.notes


def test_where_training_has_no_second_axis_counts_are_kinds_of_problems():
    """Sorting with repeats: right at the longest trained length without them, wrong with two of each."""
    sorting = next(item for item in CATALOGUE.experiments("task_hinting") if item.name.endswith("fig3.8/successor"))
    longest = sorting.specs["cpu"].data.task.longest
    made = [run(sorting, lambda n, r: 0.0 if n > longest else 0.6 if r > 1 else 1.0, seed=seed) for seed in range(3)]
    said = {
        "left": [sorting.name],
        "relation": "<=",
        "threshold": 0.1,
        "region": "outside",
        "lengths": [longest + 1, 999],
    }
    assert found(claim(**said, counts=[1, 1]), *made, of=(sorting,)).verdict == REPRODUCED
    assert found(claim(**said, counts=[2, 2]), *made, of=(sorting,)).verdict == UNTESTED


def test_an_experiment_with_more_seeds_weighs_no_more_in_a_pool():
    entry = claim(**EXCEEDS | {"check": "pooled", "left": ["p/f/a", "p/f/b"], "right": ["p/f/c"]})
    c = experiment("p/f/c", declared=spec(layers=3))
    made = [*three(A, 0.2), *(run(B, outside(1.0, 0.8), seed=seed) for seed in range(9)), *three(c, 0.0)]
    assert found(entry, *made, of=(A, B, c)).ours == pytest.approx(0.5)


# -- what holds by definition --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {"relation": ">=", "threshold": 0.0},
        {"relation": "<=", "threshold": 1.0},
        {"relation": ">", "threshold": -0.1},
        {"relation": "~", "low": 0.0, "high": 1.0},
    ],
)
def test_a_share_between_0_and_1_is_no_claim(asked):
    assert "holds by definition" in refused(asked)


# -- seeds and intervals -------------------------------------------------------------------------------------


def test_one_seed_decides_nothing():
    for runs in (three(A, 0.9)[:1] + three(B, 0.1), three(A, 0.9) + three(B, 0.1)[:2]):
        one = found(claim(**EXCEEDS), *runs)
        assert one.verdict == UNDECIDED and "by what is there: reproduced" in one.why
        assert one.decide.startswith("3 seeds")
    assert found(claim(threshold=0.9), run(A, 0.0 + 1)).why.startswith("1 seed, 3 are required")
    assert found(claim(threshold=0.99, region="in_range"), run(A, 0.1)).verdict == UNDECIDED, (
        "nor does one that differs"
    )


def test_what_is_undecided_says_how_many_seeds_would_tell():
    def asked(*shares):
        made = [run(A, lambda n, m, p=p: 1.0 if n <= 3 and m <= 3 else p, seed=k) for k, p in enumerate(shares)]
        return found(claim(threshold=0.5), *made)

    far = asked(0.55, 0.75, 0.95)
    assert far.verdict == UNDECIDED and far.decide.startswith("6 seeds (")
    assert re.fullmatch(
        r"about 32 seeds \(.*\), for a distance of 0.1 .*; 8 take .* core-hours", asked(0.4, 0.6, 0.8).decide
    )
    assert asked(0.3, 0.5, 0.75).decide.startswith(
        "more than 1000 seeds, for a distance of 0.017 from what is required; 8"
    )
    every = asked(*(0.3, 0.5, 0.75) * 2, 0.4, 0.7)
    assert every.verdict == UNDECIDED and every.decide.endswith("from what is required"), "it has eight"


def test_the_seeds_that_would_tell_follow_what_each_side_measures():
    """A right side may have a measure, or a region, of its own."""
    entry = claim(**EXCEEDS | {"region": "in_range", "right_region": "longer", "right": ["p/f/a"], "threshold": 0.3})
    made = [run(A, lambda n, m, p=p: 1.0 if n <= 3 else p, seed=k) for k, p in enumerate((0.35, 0.6, 0.85))]
    assert re.match(r"about \d+ seeds \(", found(entry, *made, of=(A,)).decide)


def test_settings_that_were_not_run_stand_beside_the_seeds_that_are_asked_for():
    extra = dataclasses.replace(B, extra={"cpu": "hours"})
    open_ = found(claim(left=["p/f/a", "p/f/b"], threshold=0.9), *three(A, 0.9), of=(A, extra))
    assert open_.verdict == UNDECIDED and "; unless they refute it, the extras, 3 seeds each (" in open_.decide
    pool = found(
        claim(**EXCEEDS | {"check": "pooled", "left": ["p/f/a", "p/f/big"]}),
        *three(A, 0.4),
        *three(B, 0.4),
        of=(A, B, LACKING),
    )
    assert pool.verdict == UNDECIDED and ", and 1 setting without a size here: the paper profile (" in pool.decide


def test_a_published_number_needs_seeds_as_a_claim_does():
    large = experiment("p/f/a", profiles=("paper",))

    def row(*shares):
        made = [run(large, share, "paper", seed=k) for k, share in enumerate(shares)]
        return compare.rows(Published((number(value=0.9),), (), {}, EVERY), both((large,), made))[0]

    assert (row(1.0).verdict, row(1.0).why) == (UNDECIDED, "1 seed, 3 are required (by what is there: reproduced)")
    apart = row(0.5, 0.95, 1.0)
    assert apart.verdict == UNDECIDED and apart.ci_high - apart.ci_low > 0.5, "seeds count, not examples alone"
    assert row(1.0, 1.0, 1.0).verdict == REPRODUCED


def test_seeds_of_a_published_number_that_agree_have_no_interval_of_width_zero():
    large = experiment("p/f/a", profiles=("paper",))
    made = [scalars(run(large, 1.0, "paper", seed=k), loss=3.0) for k in range(3)]
    entry = number(measure="scalar.loss", relation="=", value=3.0, tolerance=0.1)
    row = compare.rows(Published((entry,), (), {}, EVERY), both((large,), made))[0]
    assert (row.verdict, row.ci_low, row.ci_high) == (UNDECIDED, None, None)


def test_one_value_has_no_interval_of_width_zero():
    entry = claim(**EXCEEDS | {"measure": "scalar.loss", "relation": "<"}, learned={"why": "of losses"})
    made = scalars(run(A, 1.0), loss=3.0), scalars(run(B, 1.0), loss=3.0008)
    alone = found(entry, *made)
    assert (alone.verdict, alone.interval) == (UNDECIDED, None)
    row = compare.rows(Published((), (entry,), {}, EVERY), both((A, B), made))[0]
    assert (row.ci_low, row.ci_high, row.verdict) == (None, None, UNDECIDED)


def test_seeds_that_happen_to_agree_have_no_interval_of_width_zero():
    """Where there are no examples, the spread of other experiments counts; without it nothing is known."""
    entry = claim(measure="scalar.loss", threshold=2.0, region="all", learned={"why": "of losses"})

    def losses(of, *values):
        return [scalars(run(of, 1.0, seed=k), loss=value) for k, value in enumerate(values)]

    alone = found(entry, *losses(A, 3.0, 3.0, 3.0), of=(A,))
    assert (alone.verdict, alone.interval) == (UNDECIDED, None)
    spread = found(entry, *losses(A, 3.0, 3.0, 3.0), *losses(B, 1.0, 2.0, 3.0))
    assert spread.interval.high - spread.interval.low > 1 and spread.verdict == UNDECIDED
    assert found(entry, *losses(A, 3.0, 3.0, 3.0), *losses(B, 1.0, 1.01, 1.02)).verdict == REPRODUCED


def test_measures_of_the_same_runs_have_the_spread_of_such_differences():
    """Three seeds whose differences agree say less than other experiments whose differences do not."""
    same = {"check": "compare", "relation": ">", "right": ["p/f/a"], "region": "all", "learned": {"why": "of losses"}}
    entry = claim(**same, measure="scalar.first", right_measure="scalar.second")

    def made(of, *differences):
        return [scalars(run(of, 1.0, seed=k), first=5.0 + d, second=5.0) for k, d in enumerate(differences)]

    sure = found(entry, *made(A, 0.5, 0.5, 0.5), *made(B, 0.1, 0.11, 0.12))
    assert sure.verdict == REPRODUCED and sure.interval.high - sure.interval.low < 0.1
    wide = found(entry, *made(A, 0.5, 0.5, 0.5), *made(B, 0.0, 1.0, 2.0))
    assert wide.verdict == UNDECIDED and wide.interval.high - wide.interval.low > 1
    assert found(entry, *made(A, 0.5, 0.5, 0.5), of=(A,)).interval is None


def test_what_is_shown_is_what_made_the_verdict():
    """The lowest value may have the narrower interval: beside "undecided" stands the one that crosses."""
    entry = claim(left=["p/f/a", "p/f/b"], threshold=0.4, region="longer")
    shown = found(entry, *three(A, 0.45), *(run(B, outside(1.0, p), seed=k) for k, p in enumerate((0.3, 0.5, 0.7))))
    assert (shown.verdict, shown.ours) == (UNDECIDED, pytest.approx(0.5))
    assert shown.interval.low < 0.4 < shown.interval.high


# -- a part of what is claimed -------------------------------------------------------------------------------

PART = {"left": ["p/f/a", "p/f/big"], "threshold": 0.5}
LACKING = experiment("p/f/big", profiles=("paper",))


def test_what_every_setting_has_to_hold_is_not_confirmed_by_some_of_them():
    won = found(claim(**PART), *three(A, 0.9), of=(A, LACKING))
    assert (won.verdict, won.why) == (UNDECIDED, "1 of the 2 settings it names were run (they say: reproduced)")
    assert re.fullmatch(
        r"1 setting without a size here: the paper profile \(.* GPU-hours for 3 seeds each\)", won.decide
    )
    lost = found(claim(**PART), *three(A, 0.1), of=(A, LACKING))
    assert lost.verdict == DIFFERS, "one that fails is enough to refute it"
    assert found(claim(left=["p/f/a"], threshold=0.5), *three(A, 0.9), of=(A, LACKING)).verdict == REPRODUCED


def test_an_extra_that_was_not_run_is_missing_like_any_other():
    extra = dataclasses.replace(B, extra={"cpu": "hours"})
    won = found(claim(left=["p/f/a", "p/f/b"], threshold=0.5), *three(A, 0.9), of=(A, extra))
    assert won.verdict == UNDECIDED and won.decide.startswith("the extras, 3 seeds each (")
    both_run = found(claim(left=["p/f/a", "p/f/b"], threshold=0.5), *three(A, 0.9), *three(B, 0.9), of=(A, extra))
    assert both_run.verdict == REPRODUCED


def test_a_part_of_a_pool_neither_confirms_nor_refutes_the_whole():
    entry = claim(**EXCEEDS | {"check": "pooled", "left": ["p/f/a", "p/f/big"]})
    for beyond in (0.9, 0.05):
        part = found(entry, *three(A, beyond), *three(B, 0.4), of=(A, B, LACKING))
        assert part.verdict == UNDECIDED and part.why.startswith("2 of the 3 settings it names were run")


@pytest.mark.parametrize("beyond", [0.9, 0.05])
def test_the_largest_that_was_run_is_not_the_largest_that_is_named(beyond):
    extra = experiment("p/f/big", declared=spec(layers=6, heads=8))
    extra = dataclasses.replace(extra, extra={"cpu": "hours"})
    entry = claim(**EXCEEDS | {"right": ["p/f/a", "p/f/b", "p/f/big"]}, pick="largest")
    part = found(entry, *three(A, beyond), *three(B, 0.4), of=(A, B, extra))
    assert part.verdict == UNDECIDED and part.why.startswith("2 of the 3 settings it names were run")
    whole = found(entry, *three(A, beyond), *three(B, 0.4), *three(extra, 0.4), of=(A, B, extra))
    assert whole.verdict == (REPRODUCED if beyond > 0.4 else DIFFERS)


def test_a_value_per_example_gives_the_interval_of_its_mean():
    def with_losses(of, seed, mean):
        losses = np.random.default_rng(seed).normal(mean, 1.0, 400)
        return dataclasses.replace(run(of, 1.0, seed=seed), arrays={f"values.loss.{n}": losses for n in (2, 3, 4, 6)})

    entry = claim(measure="values.loss", relation="<=", threshold=3.0, region="longest", counts=[3, 3])
    sides = entry.sides(evidence((A,), [with_losses(A, 0, 2.0)]))
    interval = checks.judge(entry, sides).interval
    assert interval.high - interval.low == pytest.approx(2 * 1.96 / 400**0.5, rel=0.1)
    assert isinstance(EVERY.measure("values.loss"), ByLength)


# -- words, floors, definitions ------------------------------------------------------------------------------


def test_marginally_more_is_neither_less_nor_much_more():
    entry = claim(**EXCEEDS, limit=0.1)
    assert found(entry, *three(A, 0.55), *three(B, 0.5)).verdict == REPRODUCED
    assert found(entry, *three(A, 0.9), *three(B, 0.5)).verdict == DIFFERS
    assert found(entry, *three(A, 0.3), *three(B, 0.5)).verdict == DIFFERS
    assert found(entry, *three(A, 0.6), *three(B, 0.5)).verdict == UNDECIDED
    less = claim(**EXCEEDS | {"relation": "<"}, threshold=-0.05, limit=-0.2)
    assert found(less, *three(A, 0.4), *three(B, 0.5)).verdict == REPRODUCED
    assert found(less, *three(A, 0.1), *three(B, 0.5)).verdict == DIFFERS
    assert "'limit' 0 has to lie above 'threshold' 0" in refused(EXCEEDS | {"limit": 0.0})
    assert "'limit' 0.1 has to lie below 'threshold' 0" in refused(EXCEEDS | {"relation": "<", "limit": 0.1})


def falls(to):
    """Right up to 4 digits, and this right at 6."""
    return lambda n, m: 1.0 if n <= 4 else to


@pytest.mark.parametrize("threshold", [0.0, -0.05], ids=["better", "no worse"])
def test_two_sides_at_the_floor_are_not_compared(threshold):
    made = [run(of, falls(to), seed=seed) for of, to in ((A, 0.005), (B, 0.0)) for seed in range(3)]
    down = found(claim(**EXCEEDS, region="longest", threshold=threshold), *made)
    assert (down.verdict, down.why) == (FLOOR, "every side lies below 0.01 there; above it up to length 4")
    above = [run(of, falls(to), seed=seed) for of, to in ((A, 0.3), (B, 0.0)) for seed in range(3)]
    assert found(claim(**EXCEEDS, region="longest", threshold=threshold), *above).verdict == REPRODUCED


def test_a_whole_response_cannot_be_right_more_often_than_its_answer():
    of_one = {"check": "compare", "relation": ">", "right": ["p/f/a"], "measure": "answer", "right_measure": "exact"}
    assert "answer is never below exact match on the same runs, so this holds by definition" in refused(of_one)
    turned = of_one | {"relation": "<", "measure": "exact", "right_measure": "answer"}
    assert "holds by definition" in refused(turned) and "holds by definition" in refused(of_one | {"check": "pooled"})
    assert claim(**of_one | {"threshold": 0.1}) and claim(**turned | {"threshold": -0.1})
    assert claim(**of_one | {"right": ["p/f/b"]}), "of two models nothing follows from the definition"


# -- claims about claims -------------------------------------------------------------------------------------


def rows(entries, runs, of=(A, B)):
    shared = {
        "place": "Fig. 1",
        "statement": "s",
        "check": "level",
        "relation": ">=",
        "left": ["p/f/a"],
        "threshold": 0.5,
    }
    claims = parse({"claim": [shared | entry for entry in entries]}, "made", EVERY).claims
    return {row.id: row for row in compare.rows(Published((), claims, {}, EVERY), both(of, runs))}


def test_what_a_failed_partner_makes_true_is_not_asked():
    """ "No further than 4 digits" of a model that does not get to 4 either."""
    reaches = {"id": "reaches", "threshold": 0.9, "region": "next"}
    no_further = {"id": "no-further", "relation": "<=", "threshold": 0.05, "region": "longest", "given": "reaches"}
    judged = rows([no_further, reaches], three(A, 0.0))
    assert judged["reaches"].verdict == DIFFERS
    assert (judged["no-further"].verdict, judged["no-further"].why) == (
        UNTESTED,
        "asked only where reaches is reproduced; its verdict is differs",
    )
    judged = rows([no_further, reaches], [run(A, falls(0.0), seed=seed) for seed in range(3)])
    assert {row.verdict for row in judged.values()} == {REPRODUCED}
    few = [run(A, falls(0.0), seed=seed) for seed in range(2)]
    judged = rows([no_further, reaches], few)
    assert (judged["reaches"].verdict, judged["no-further"].verdict) == (UNDECIDED, UNTESTED)
    judged = rows([no_further | {"part_of": "reaches"}, reaches], few)
    assert {row.verdict for row in judged.values()} == {UNDECIDED}, "a part that is not asked makes the whole no worse"
    judged = rows([no_further | {"part_of": "reaches"}, reaches], three(A, 0.0))
    assert (judged["reaches"].verdict, judged["no-further"].verdict) == (DIFFERS, UNTESTED)
    half = {"threshold": 0.5}
    assert "'given' is 'x', which is no claim of this file" in refused(half | {"given": "x"})
    assert "asked after itself" in refused(half | {"given": "c1"}, half | {"given": "c0"})
    assert "expected a claim that is itself no part" in refused(half | {"part_of": "c0"})
    assert "expected a claim that is itself no part" in refused(
        half | {"part_of": "c1"}, half | {"part_of": "c2"}, half
    )


def test_saying_one_thing_three_times_counts_once_and_as_its_worst():
    said = {"threshold": 0.9, "region": "longer"}
    entries = [{"id": "a", "headline": True} | said, {"id": "b", "part_of": "a"} | said]
    entries += [{"id": "c", "part_of": "a", "left": ["p/f/b"]} | said, {"id": "d"} | said]
    judged = [*rows(entries, three(A, 1.0) + three(B, 1.0)[:1]).values()]
    assert [row.verdict for row in judged] == [REPRODUCED, REPRODUCED, UNDECIDED, REPRODUCED]
    assert score_card.score(judged) == {UNDECIDED: 1, REPRODUCED: 1}
    assert score_card.score(judged, headline=True) == {UNDECIDED: 1}
    order = [DIFFERS, UNTESTED, FLOOR, UNDECIDED, NOT_RUN, REPRODUCED]
    for worse, better in itertools.pairwise(order):
        some = [dataclasses.replace(judged[k], verdict=word) for k, word in enumerate((better, worse))]
        assert score_card.score(some) == {worse: 1}


# -- before and after the run --------------------------------------------------------------------------------


def recorded(runs, **claims):
    return [dataclasses.replace(one, info={**one.info, "claims": claims}) for one in runs]


def test_a_claim_that_was_changed_after_its_runs_is_undecided():
    entry = claim(threshold=0.9)
    old = recorded(three(A, 1.0), c=digest(entry))
    assert (found(entry, *old).verdict, found(entry, *old).frozen) == (REPRODUCED, "yes")
    moved = claim(threshold=0.8)
    younger = found(moved, *old)
    assert (younger.verdict, younger.frozen) == (UNDECIDED, "no")
    assert younger.why == "claim younger than its runs, which say reproduced"
    assert found(moved, *old[:2], *recorded(three(A, 1.0)[2:], c=digest(moved))).frozen == "no"
    unknown = found(moved, *three(A, 1.0))
    assert (unknown.verdict, unknown.frozen) == (REPRODUCED, "unknown")
    assert found(entry, *old[:2], *three(A, 1.0)[2:]).frozen == "unknown"


def test_a_side_has_no_wildcard():
    assert "has the wildcard 'p/f/*'" in refused({"left": ["p/f/*"]})


def test_an_experiment_of_ours_is_in_no_published_claim(monkeypatch, tmp_path):
    ours = dataclasses.replace(A, ours="to see what happens")
    monkeypatch.setattr(compare, "_published", lambda paper: Published((), (claim(threshold=0.9),)))
    monkeypatch.setattr(CATALOGUE, "experiments", lambda paper: (ours,))
    monkeypatch.setattr(CATALOGUE, "deviations", lambda paper: {})
    with pytest.raises(PublishedError, match=r"claim 'c' names p/f/a, which is of ours \(to see what happens\)"):
        compare.compare("p", [Store(tmp_path, "reference")])

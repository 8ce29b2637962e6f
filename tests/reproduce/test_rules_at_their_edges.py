"""The rules of verdicts where they turn: at their edges, with partners that are not reproduced, with runs of two
settings, with sides that were not made in full."""

import msgspec
import pytest

from lengen.intervals import Interval
from lengen.measures import Missing
from lengen.seed_intervals import Deviation, Term, combined, t95
from reproduce.comparison.checks import judge as judged
from reproduce.comparison.evidence import Evidence, Side, apart, level, together, within
from reproduce.comparison.rows import DIFFERS, FLOOR, NOT_RUN, REPRODUCED, UNDECIDED, UNTESTED
from reproduce.comparison.verdicts import verdict
from reproduce.runs.catalogue import CATALOGUE
from tests.reproduce.made import EVERY, claim, evidence, experiment, judge, outside, run, scalars, spec, three
from tests.reproduce.test_claims import CHECKS, GAIN, SWEEP, TWO, VARIED, swept, varied
from tests.reproduce.test_flattery import EXCEEDS, found

A, B = experiment("p/f/a"), experiment("p/f/b", declared=spec(layers=2))
C = experiment("p/f/c", declared=spec(layers=4, heads=8))
EXACT = Interval(0.5, 0.5)


def says(entry, *runs, of=(A, B, C)):
    return judge(entry, evidence(of, runs)).verdict


def set_by_hand():
    """An experiment whose weights nothing trained."""
    return next(
        item for item in CATALOGUE.experiments("coupling") if "cpu" in item.specs and item.specs["cpu"].constructed
    )


# -- what a claim rests on


@pytest.mark.parametrize("partner", [DIFFERS, UNDECIDED, UNTESTED, FLOOR, NOT_RUN])
def test_a_claim_that_asks_for_another_counts_only_where_that_is_reproduced(partner):
    entry = claim(threshold=0.5)
    sides = entry.sides(evidence((A, B), three(A, 0.9)))
    assert verdict(entry, sides, judged(entry, sides), partner).verdict == UNTESTED
    assert verdict(entry, sides, judged(entry, sides), REPRODUCED).verdict == REPRODUCED


def test_runs_of_the_declared_setting_count_also_where_they_are_fewer():
    older = [run(A, 0.0, seed=seed, made=spec(layers=6)) for seed in (1, 2)]
    shown = judge(claim(threshold=0.9), evidence((A,), [run(A, 1.0), *older]))
    assert (shown.verdict, shown.seeds) == (REPRODUCED, 1)


def test_of_two_other_settings_the_one_with_more_runs_counts():
    one, other = run(A, 0.0, seed=0, made=spec(layers=5)), [run(A, 1.0, seed=k, made=spec(layers=6)) for k in (1, 2)]
    shown = judge(claim(threshold=0.9), evidence((A,), [one, *other]))
    assert (shown.verdict, shown.seeds) == (REPRODUCED, 2)


def test_the_most_trained_operands_are_not_pooled_with_fewer():
    entry = claim(relation="<=", threshold=0.1, region="more")
    made = [run(A, lambda n, m: 0.0 if max(n, m) > 3 else 0.93 if m == 3 else 1.0, seed=seed) for seed in range(3)]
    assert found(entry, *made).verdict == UNTESTED


def test_exactly_the_required_share_has_learned():
    assert found(claim(threshold=0.5), *three(A, 0.9, inside=0.95)).verdict == REPRODUCED


def test_weights_set_by_hand_are_never_untested():
    entry = claim(left=[set_by_hand().name], threshold=0.9, region="all")
    assert found(entry, run(set_by_hand(), 0.5), of=(set_by_hand(),)).verdict == DIFFERS


WIDE, NARROW = (0.1, 0.5, 0.9), (0.45, 0.5, 0.55)


@pytest.mark.parametrize(
    ("entry", "seeds"),
    [(GAIN, ((0.9,) * 3, (0.5,) * 3, (0.1,) * 3, (0.45,) * 3)), (VARIED, (WIDE, WIDE, NARROW, NARROW))],
    ids=["gain", "varied"],
)
@pytest.mark.parametrize("alone", [REPRODUCED, DIFFERS])
def test_a_part_of_the_settings_decides_nothing(alone, entry, seeds):
    seeds = seeds if alone == REPRODUCED else (*seeds[2:], *seeds[:2])
    made = [run(of, outside(1.0, p), seed=k) for of, some in zip(SWEEP, seeds, strict=True) for k, p in enumerate(some)]
    assert found(entry, *made, of=SWEEP).verdict == alone
    lacking = experiment("p/f/x-256", profiles=("paper",))
    asked = msgspec.structs.replace(entry, left=(*entry.left, lacking.name))
    assert found(asked, *made, of=(*SWEEP, lacking)).verdict == UNDECIDED


# -- each check


def test_ordered_sorts_by_its_field():
    entry = claim(check="ordered", relation="<", left=["p/f/b", "p/f/a"], by="model.layers")
    assert says(entry, run(A, outside(1.0, 0.1)), run(B, outside(1.0, 0.9))) == REPRODUCED


def test_spread_is_that_of_all():
    entry = claim(check="spread", relation="<=", left=["p/f/a", "p/f/b", "p/f/c"], threshold=0.1)
    made = [run(of, outside(1.0, rate)) for of, rate in ((A, 0.5), (B, 0.52), (C, 0.9))]
    assert says(entry, *made) == DIFFERS


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [({"layers": 16, "heads": 4}, {"layers": 1, "heads": 8}), ({"layers": 8, "heads": 4}, {"layers": 4, "heads": 8})],
    ids=["more heads in all", "as many heads, deeper"],
)
def test_the_largest_has_most_heads_in_all_then_most_layers(larger, smaller):
    small, large = experiment("p/f/b", declared=spec(**smaller)), experiment("p/f/c", declared=spec(**larger))
    entry = claim(**TWO | {"right": ["p/f/b", "p/f/c"], "pick": "largest"})
    assert says(entry, run(A, 0.5), run(small, 0.9), run(large, 0.1), of=(A, small, large)) == REPRODUCED


def test_no_check_compares_what_lies_at_the_floor():
    assert swept(GAIN, 0.0, 0.0, 0.0, 0.0).verdict == FLOOR
    assert varied(*[(0.0, 0.0025, 0.005)] * 4).verdict == FLOOR
    assert says(CHECKS["spread"][0], run(A, outside(1.0, 0.0)), run(B, outside(1.0, 0.0))) == FLOOR
    assert found(claim(**EXCEEDS), *three(A, 0.01), *three(B, 0.0)).verdict != FLOOR, "one in a hundred is above it"


def test_a_claim_of_several_has_the_worst_verdict():
    assert together((REPRODUCED, UNDECIDED, FLOOR)) == FLOOR


# -- intervals


def test_an_end_on_the_edge_leaves_it_open():
    assert apart(Interval(0.0, 0.5), ">", 0.0) == UNDECIDED
    assert apart(Interval(-0.5, 0.0), ">", 0.0) == UNDECIDED
    assert apart(Interval(0.2, 0.3), ">", 0.0, 0.2) == UNDECIDED
    assert level(Interval(0.4, 0.5), ">=", 0.5, 0.5) == UNDECIDED
    assert level(Interval(0.5, 0.6), "<=", 0.5, 0.5) == UNDECIDED


@pytest.mark.parametrize("rates", [(1.0, 0.9, 1.0), (0.0, 0.1, 0.0)])
def test_the_interval_of_a_share_ends_at_nothing_and_at_all(rates):
    made = [run(A, outside(1.0, p), seed=k) for k, p in enumerate(rates)]
    low, high = judge(claim(threshold=0.5), evidence((A,), made)).interval
    assert 0.0 <= low < high <= 1.0


def test_a_single_pair_has_no_spread_between_seeds():
    with pytest.raises(Missing):
        within([(0.1, 0.9), (0.5,)])


def test_seeds_of_its_own_count_for_a_term_beside_a_pool_of_fewer():
    term = Term(1, 0.5, EXACT, (0.1, 0.3, 0.5, 0.7, 0.9))
    assert combined([term._replace(pooled=Deviation(0.1, 2))]) == combined([term])


def test_trainings_behind_a_pooled_value_count_and_not_its_seeds():
    _, high = combined([Term(1, 0.5, EXACT, (0.5, 0.5, 0.5), runs=12, pooled=Deviation(0.1, 40))])
    assert high - 0.5 == pytest.approx(t95(40) * 0.1 / 12**0.5)


def test_weights_set_by_hand_neither_have_nor_give_a_spread_between_seeds():
    of = set_by_hand()
    entry = claim(
        left=[of.name], measure="scalar.loss", relation="<=", threshold=1.0, region="all", learned={"why": "w"}
    )
    trained = [scalars(run(B, 1.0, seed=k), loss=value) for k, value in enumerate((1.0, 5.0, 9.0))]
    assert judge(entry, evidence((of, B), [scalars(run(of, 1.0), loss=0.9), *trained])).interval == (0.9, 0.9)
    by_hand = [scalars(run(of, 1.0, seed=k), loss=value) for k, value in enumerate((1.0, 5.0, 9.0))]
    pool = evidence((of, B), [*by_hand, *trained]).spread(Side("scalar.loss", "teacher_forced", "all"))
    assert pool.degrees == 2, "three seeds of one experiment"


def test_runs_that_two_experiments_share_are_pooled_once():
    twin = experiment("p/f/twin")
    runs = [run(A, outside(1.0, p), seed=k) for k, p in enumerate((0.1, 0.5, 0.9))]
    shared = Evidence("cpu", {item.name: item for item in (A, twin)}, lambda of, profile: runs, EVERY)
    assert shared.spread(Side("exact", "teacher_forced", "outside")).degrees == 2

"""Five answers to a statement: what made runs say, every way to flatter that the rules refuse, and what scipy gives."""

import dataclasses
import hashlib
import itertools
import json

import numpy as np
import pytest
from scipy import stats

from lengen.settings.spec import replace
from reproduce.catalogue import PublishedError
from reproduce.comparison import statement_answers as exact
from reproduce.comparison.published_statements import (
    AS_NOW,
    OTHERWISE,
    UNKNOWN,
    Part,
    digest,
    digest_of_claim,
    history,
    knew,
    parse,
)
from reproduce.comparison.setting_distance import LENGTHS, SETTING, SHORTER
from reproduce.comparison.statement_answers import (
    CONTRADICTED,
    HOLDS,
    NOT_SEEN,
    OPEN,
    REPAIRED,
    answers,
    find,
    of_median,
)
from reproduce.pages import sentences as say
from tests.fixtures.program import git
from tests.fixtures.runs import experiment, outside, run, spec, stored

LEFT, RIGHT, THIRD = (experiment(f"coupling/fig1/{name}") for name in ("left", "right", "third"))
KNOWN = {item.name: item for item in (LEFT, RIGHT, THIRD)}
FAR, NONE = (0.2, 0.3, 0.25, 0.5), (0.0, 0.02, 0.01, 0.0)
ENTRY = {
    "id": "s", "words": "It adds", "place": "Abstract", "quote": "It adds.",
    "parts": [{"words": "w", "left": [LEFT.name], "least": 90}],
}  # fmt: skip
CLAIM = {"id": "adds", "place": "p", "statement": "s", "check": "level", "relation": ">", "threshold": 1, "left": ["a"]}
SIDES = [
    ([4.9, 15.4, 0.3, 2.1, 5.8], [0.0] * 5), ([4.9, 15.4, 0.3, 2.1, 5.8], [0.0] * 10),
    ([55.0, 53.8, 83.6, 17.5], [0.1, 0.0, 5.0, 1.2]), ([96.8, 93.9, 100.0, 91.0], [93.0, 99.2, 98.0, 97.9, 95.5]),
    ([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]),
]  # fmt: skip


def seeds(of, *beyond, inside=1.0, profile="cpu", **more):
    return [run(of, outside(inside, value), profile, seed=seed, **more) for seed, value in enumerate(beyond)]


def compared(*runs, known=KNOWN, **part):
    made = Part(**({"words": "w", "left": (LEFT.name,)} | part))
    return find("coupling", made, known, stored(*runs))


def above(left, right, **part):
    runs = [*seeds(LEFT, *left), *seeds(RIGHT, *right)]
    return compared(*runs, check="above", right=(RIGHT.name,), **part)


def test_sides_pairs_and_trends_are_compared_over_their_seeds():
    found = above(FAR, NONE)
    assert (found.word, found.p, found.profile) == (HOLDS, 1 / 70, "cpu")
    assert [side.seeds for side in found.left] == [(20.0, 30.0, 25.0, 50.0)]
    assert say.measured(found) == "28 % (four trainings: 20 to 50 %) against 0 to 2 %"
    found = above((0.2, 0.0, 0.01, 0.3), NONE)
    assert (found.word, say.why(found)) == (NOT_SEEN, "not significant") and found.p > 0.025
    assert above((0.5, 0.51, 0.5, 0.49), (0.5, 0.5, 0.51, 0.52)).word == NOT_SEEN
    runs = [*seeds(LEFT, 0.5, 0.51, 0.5, 0.49), *seeds(RIGHT, 0.5, 0.5, 0.51, 0.52)]
    assert compared(*runs, check="equal", right=(RIGHT.name,)).word == HOLDS
    far = [*seeds(LEFT, *FAR), *seeds(RIGHT, *NONE)]
    assert compared(*far, check="equal", right=(RIGHT.name,)).word == CONTRADICTED
    overlapping = [*seeds(LEFT, 0.5, 0.6, 0.4, 0.5), *seeds(RIGHT, 0.5, 0.5, 0.7, 0.4)]
    assert compared(*overlapping, check="equal", right=(RIGHT.name,)).word == NOT_SEEN
    runs = [*seeds(LEFT, *FAR), *seeds(RIGHT, *NONE), *seeds(THIRD, *FAR)]
    assert compared(*runs, check="above", right=(RIGHT.name, THIRD.name)).word == NOT_SEEN
    assert compared(*runs, check="above", right=(RIGHT.name,)).word == HOLDS
    runs = [*seeds(LEFT, 0.0, 0.1, 0.1, 0.0), *seeds(RIGHT, 0.2, 0.3, 0.1, 0.3), *seeds(THIRD, 0.5, 0.4, 0.6, 0.5)]
    names = (LEFT.name, RIGHT.name, THIRD.name)
    assert compared(*runs, check="trend", left=names).word == HOLDS
    falls = compared(*runs, check="trend", left=names[::-1])
    assert (falls.word, say.why(falls)) == (CONTRADICTED, "the reverse was measured")


@pytest.mark.parametrize(("left", "right"), [(FAR[:3], NONE), (FAR, NONE[:3])])
def test_three_seeds_on_a_side_are_open_and_say_how_many_are_missing(left, right):
    found = above(left, right)
    assert found.word == OPEN and "3 trainings" in say.why(found) and "1 more is needed" in say.why(found)


def test_seeds_that_did_not_learn_are_left_out_and_said_unless_asked_for():
    runs = [*seeds(LEFT, *FAR), *seeds(RIGHT, *NONE), run(RIGHT, outside(0.5, 0.9), seed=9)]
    found = compared(*runs, check="above", right=(RIGHT.name,))
    assert found.word == HOLDS, "a high value of a model that learned nothing does not count"
    assert found.right[0].hollow == (90.0,) and len(found.right[0].seeds) == 4
    missing = compared(*runs[:-2], runs[-1], check="above", right=(RIGHT.name,))
    assert missing.word == OPEN and "learned its range in 3 of 4 trainings" in say.why(missing)
    runs = [*seeds(LEFT, 0.95, 0.96), run(LEFT, outside(0.5, 0.97), seed=2)]
    asked, every = compared(*runs, least=90), compared(*runs, least=90, learned=False)
    assert (asked.word, asked.left[0].seeds, asked.left[0].hollow) == (OPEN, (95.0, 96.0), (97.0,))
    assert (every.word, every.left[0].seeds, every.left[0].hollow) == (HOLDS, (95.0, 96.0, 97.0), ())
    runs = [*seeds(LEFT, *FAR), *seeds(RIGHT, *NONE, inside=0.1)]
    found = compared(*runs, check="above", right=(RIGHT.name,))
    assert found.word == OPEN and "0 of 4" in say.why(found)


@pytest.mark.parametrize(("level", "why"), [(0.0, "both medians below 1 %"), (1.0, "both medians above 99 %")])
def test_two_sides_at_an_end_cannot_be_told_apart(level, why):
    found = above([level] * 4, [level] * 4)
    assert (found.word, say.why(found)) == (NOT_SEEN, why)


def test_a_missing_effect_names_what_comes_next_and_a_reversed_or_refuted_one_is_contradicted():
    reversed_one = above(NONE, FAR, next="more updates")
    assert (reversed_one.word, say.why(reversed_one)) == (CONTRADICTED, "the reverse was measured")
    few = seeds(LEFT, 0.1, 0.2, 0.1)
    missed = compared(*few, least=90, next="width 256, an hour")
    assert (missed.word, say.why(missed)) == (NOT_SEEN, "at least 90 % expected; next: width 256, an hour")
    fails = compared(*few, least=90, any_size=True, next="nothing")
    assert (fails.word, say.why(fails)) == (CONTRADICTED, "at least 90 % expected")
    refuted = "0 % in all of the author's runs (data)"
    missed = above([0.0] * 4, [0.0] * 4, refuted=refuted)
    assert (missed.word, say.why(missed)) == (CONTRADICTED, refuted)
    assert above(FAR, NONE, refuted=refuted).word == HOLDS
    assert above(FAR[:3], NONE, refuted=refuted).word == OPEN


@pytest.mark.parametrize("right", [(RIGHT.name, THIRD.name), (THIRD.name, RIGHT.name)])
def test_the_probability_is_that_of_the_least_favourable_pair(right):
    left = seeds(LEFT, *FAR)
    found = compared(*left, *seeds(RIGHT, *NONE), *seeds(THIRD, *NONE, 0.01), check="above", right=right)
    assert (found.word, found.p) == (HOLDS, 1 / 70), "against the five seeds of the other it is 1 of 126"
    mixed = compared(*left, *seeds(RIGHT, *NONE), *seeds(THIRD, *FAR), check="above", right=right)
    assert (mixed.word, say.why(mixed)) == (NOT_SEEN, "not significant") and mixed.p > 0.5
    against = [*left, *seeds(RIGHT, 0.8, 0.9, 0.8, 0.9), *seeds(THIRD, *FAR)]
    assert compared(*against, check="above", right=right, any_size=True).word == CONTRADICTED


def test_a_level_is_asked_of_the_interval_of_the_median_and_its_worst_side_decides():
    assert compared(*seeds(LEFT, 0.95, 0.96, 0.97), least=90).word == HOLDS
    assert say.why(compared(*seeds(LEFT, 0.95, 0.96), least=90)).endswith("1 more is needed")
    assert say.why(compared(*seeds(LEFT, 0.95, 0.8, 0.97), least=90)) == "seeds disagree: 2 of 3 meet it"
    one_low = compared(*seeds(LEFT, 0.1, *[0.95] * 7), least=90)
    assert one_low.word == HOLDS, "one of eight lies outside the interval of the median"
    both = [*seeds(LEFT, 0.95, 0.96, 0.97), *seeds(RIGHT, 0.1, 0.2, 0.1)]
    assert compared(*both, left=(LEFT.name, RIGHT.name), least=90).word == NOT_SEEN
    both = [*seeds(LEFT, 0.01, 0.09, 0.02), *seeds(RIGHT, 0.5, 0.6, 0.7)]
    for left in ((LEFT.name, RIGHT.name), (RIGHT.name, LEFT.name)):
        assert compared(*both, left=left, most=5, any_size=True).word == CONTRADICTED
    both = [*seeds(LEFT, 0.01, 0.02, 0.09), *seeds(RIGHT, 0.01, 0.07, 0.09)]
    for left in ((LEFT.name, RIGHT.name), (RIGHT.name, LEFT.name)):
        found = compared(*both, left=left, most=5)
        assert say.why(found) == f"seeds disagree: 1 of 3 meet it ({RIGHT.name.partition('/')[2]})"


def test_a_number_is_shown_without_an_answer_and_what_was_not_run_says_so():
    found = compared(*seeds(LEFT, 0.5, 0.6, 0.7), check="number")
    assert (found.word, say.outcome(found), found.p) == ("", "", None) and say.measured(found).startswith("60 %")
    assert of_median([3, 1, 2]) == [1, 2, 3] and of_median(range(8)) == [1, 2, 3, 4, 5, 6]
    found = compared(*seeds(LEFT, *FAR), check="above", right=(RIGHT.name,))
    assert (found.word, say.why(found), found.left) == (OPEN, "not run (fig1/right)", ())
    ours = dataclasses.replace(LEFT, ours="to see")
    with pytest.raises(PublishedError, match="an experiment of this suite"):
        parse({"statement": [ENTRY]}, "made", {LEFT.name: ours}, "coupling")


def test_only_cells_that_both_sides_tested_are_compared_at_the_nearest_profile():
    narrow = dataclasses.replace(LEFT, specs={"cpu": spec()})
    short = [dataclasses.replace(one) for one in seeds(narrow, *FAR)]
    for one in short:
        for cell in [cell for cell in one.grid.scores if cell[0] == 6]:
            del one.grid.scores[cell]
    found = compared(*short, *seeds(RIGHT, *NONE), check="above", right=(RIGHT.name,))
    assert found.word == HOLDS and found.problems > 0
    apart = compared(*short, *seeds(RIGHT, *NONE), check="above", right=(RIGHT.name,), lengths=(6, 6))
    assert "not tested" in say.why(apart)
    small = spec(length=2, count=2)
    near = dataclasses.replace(LEFT, specs={"cpu": small, "night": spec(width=32), "paper": spec()})
    runs = [*seeds(near, *[0.1] * 3, made=small), *seeds(near, *[0.95] * 3, profile="night", made=spec(width=32))]
    found = compared(*runs, known={LEFT.name: near}, least=90)
    assert (found.word, found.distance, found.profile) == (HOLDS, LENGTHS, "night")
    far = compared(*runs[:3], known={LEFT.name: near}, most=50)
    assert (far.word, far.distance) == (HOLDS, SHORTER)
    longer = dataclasses.replace(near, specs=near.specs | {"paper": replace(spec(), test={"lengths": (1, 2, 60)})})
    assert compared(*runs, known={LEFT.name: longer}, least=90).distance == SHORTER, "60 digits were not tested"


def statement(**changed):
    return parse({"statement": [ENTRY | changed]}, "made", KNOWN, "coupling")[0]


def answer(monkeypatch, runs, **changed):
    from reproduce.comparison import statement_answers as module

    made = statement(**changed)
    monkeypatch.setattr(module, "statements", lambda paper: (made,))
    monkeypatch.setattr(module.CATALOGUE, "experiments", lambda paper: list(KNOWN.values()))
    (found,) = answers("coupling", stored(*runs))
    return found


def test_the_worst_part_is_the_answer_and_all_parts_are_shown(monkeypatch):
    low, high = {"words": "low", "left": [LEFT.name], "most": 5}, ENTRY["parts"][0]
    runs = seeds(LEFT, 0.95, 0.96, 0.97)
    assert answer(monkeypatch, runs).word == HOLDS
    assert answer(monkeypatch, runs, details=[low]).word == HOLDS
    both = answer(monkeypatch, runs, parts=[high, low])
    assert (both.word, say.reason(both)) == (NOT_SEEN, "low: at most 5 % expected")
    assert answer(monkeypatch, runs, repaired="a line").word == REPAIRED
    assert answer(monkeypatch, runs, parts=[low], repaired="a line").word == NOT_SEEN
    numbers = "96 % (three trainings: 95 to 97 %)"
    assert both.word == NOT_SEEN and say.evidence(both) == f"holds: w; not seen here: low, {numbers}"
    assert say.sentence(both) == f"{say.evidence(both)}; at most 5 % expected; {SETTING}"
    assert say.evidence(answer(monkeypatch, runs, parts=[low])) == say.evidence(answer(monkeypatch, runs)) == numbers
    against, missing = low | {"any_size": True}, {"words": "m", "left": [RIGHT.name], "least": 5}
    for parts, word in (
        ([high, missing], OPEN),
        ([missing, low, high], NOT_SEEN),
        ([missing, low, against], CONTRADICTED),
    ):
        assert answer(monkeypatch, runs, parts=parts).word == word
    near = dataclasses.replace(LEFT, specs={"night": spec(width=32), "paper": spec()})
    found = answer(monkeypatch, seeds(near, *[0.95] * 3, profile="night", made=spec(width=32)),
                   parts=[{"words": "low", "left": [LEFT.name], "most": 5, "any_size": True}])  # fmt: skip
    assert found.word == CONTRADICTED and "as published but for" in say.sentence(found)


def test_a_statement_that_is_younger_than_its_runs_is_marked_and_answered_all_the_same(monkeypatch):
    runs = seeds(LEFT, 0.95, 0.96, 0.97)
    found = answer(monkeypatch, runs)
    assert found.word == HOLDS and found.younger
    for one in runs:
        one.info["claims"] = {"s": digest(statement())}
    assert not answer(monkeypatch, runs).younger
    assert answer(monkeypatch, runs, parts=[ENTRY["parts"][0] | {"least": 80}]).younger, "it asks for less than before"
    assert not answer(monkeypatch, runs, words="Sums", place="Title", quote="").younger
    assert not answer(
        monkeypatch, runs, parts=[ENTRY["parts"][0] | {"words": "Sums", "next": "other", "refuted": "data"}]
    ).younger


@pytest.mark.parametrize(("changed", "said"), [
    ({"parts": []}, "'parts' is empty"),
    ({"parts": [{"words": "w", "left": ["coupling/fig1/lefd"], "least": 1}]}, "no experiment 'coupling/fig1/lefd'"),
    ({"parts": [{"words": "w", "left": [LEFT.name]}]}, "needs 'least' or 'most'"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "least": 0}]}, "cannot fail"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "most": 100}]}, "cannot fail"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "check": "above"}]}, "'right' is missing"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "check": "trend"}]}, "three or more"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "least": 1, "region": "outsde"}]}, "region 'outsde' is unknown"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "least": 1, "measure": "exakt"}]}, "measure 'exakt' is unknown"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "lest": 1}]}, "lest"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "check": "number"}]}, "a number has no answer"),
    ({"parts": [{"words": "w", "left": [LEFT.name], "right": ["a"], "check": "number"}]}, "has no 'right'"),
    ({"place": 3}, "place"),
])  # fmt: skip
def test_a_mistake_is_one_sentence_that_names_it(changed, said):
    with pytest.raises(PublishedError) as caught:
        statement(**changed)
    assert said in str(caught.value) and "\n" not in str(caught.value) and "'s'" in str(caught.value)


def test_the_digest_of_a_claim_is_what_runs_recorded_and_history_has_three_outcomes(tmp_path):
    asked = {"check": "level", "relation": ">", "threshold": 1.0, "left": ["a"], "statement": "s", "measure": "exact",
             "mode": "teacher_forced", "region": "outside"}  # fmt: skip
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False)
    assert digest_of_claim(CLAIM) == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert digest_of_claim(CLAIM | {"remark": "r", "headline": True, "id": "b"}) == digest_of_claim(CLAIM)
    assert digest_of_claim(CLAIM | {"threshold": 2}) != digest_of_claim(CLAIM)

    git(tmp_path, "init", "-q")
    place = tmp_path / "papers" / "coupling" / "published.toml"
    place.parent.mkdir(parents=True)
    place.write_text("[[claim]]\n" + "\n".join(f"{name} = {json.dumps(value)}" for name, value in CLAIM.items()))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    commit = git(tmp_path, "rev-parse", "HEAD")
    runs = []
    for value, at in ((digest_of_claim(CLAIM), commit), ("other", commit), ("other", "f" * 40)):
        (one,) = seeds(LEFT, 0.5)
        one.info.update(claims={"adds": value}, commit=at)
        runs.append(one)
    counts, told = history(runs, tmp_path)
    assert counts == {AS_NOW: 1, OTHERWISE: 1, UNKNOWN: 1} and len(told) == 1 and "adds" in told[0]
    assert history(runs, None)[0] == {UNKNOWN: 3}, "an archive has no history"
    assert not knew(runs[0].info, statement())


@pytest.mark.parametrize(("left", "right"), SIDES)
def test_two_sides_are_scipys_permutation_test(left, right):
    found = stats.permutation_test(
        (left, right), lambda a, b: np.mean(a) - np.mean(b), alternative="greater", n_resamples=np.inf
    )
    assert exact.above(left, right) == pytest.approx(found.pvalue, abs=1e-12)


@pytest.mark.parametrize("groups", [[[0.02, 0.09], [0.07, 0.39, 0.09], [0.43, 0.69]], [[1, 2], [2, 2, 3], [2, 2]]])
def test_a_trend_is_jonckheeres_over_all_arrangements(groups):
    pool = list(itertools.chain(*groups))

    def statistic(some):
        pairs = [(a, b) for one, other in itertools.combinations(some, 2) for a in one for b in other]
        return sum((b > a) + 0.5 * (a == b) for a, b in pairs)

    found = []
    for order in itertools.permutations(range(7)):
        values = [pool[place] for place in order]
        found.append(statistic([values[:2], values[2:5], values[5:]]))
    assert exact.trend(groups) == pytest.approx(np.mean(np.array(found) >= statistic(groups) - 1e-12))


def test_trends_of_two_groups_and_of_many_seeds_and_equal_both_ways():
    left, right = [1.0, 4.0, 2.0, 7.0], [3.0, 8.0, 9.0, 6.5, 5.0]
    found = stats.mannwhitneyu(right, left, alternative="greater", method="exact")
    assert exact.trend([left, right]) == pytest.approx(found.pvalue)
    groups = [[1, 2, 3, 4, 5], [4, 5, 6, 7, 8], [7, 8, 9, 10, 11]]
    assert exact.trend(groups) == 35 / 756756
    assert exact.trend([[0] * 5, [1] * 5, [2] * 6]) == 1 / 2018016
    assert exact.above([1.0] * 15, [0.0] * 15) == 1 / 155117520
    near, far = [50.0, 51.0, 50.5, 49.5], [57.0, 58.0, 57.5, 56.5]
    assert exact.equal(near, [50.2, 50.8, 49.9, 50.1]) == 1 / 70
    assert exact.equal(near, far) > 0.5
    assert exact.equal(near, [20.0, 80.0, 50.0, 51.0]) > 0.025

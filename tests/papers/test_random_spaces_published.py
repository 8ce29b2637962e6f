"""What the thesis prints stands in published.toml, and its claims can be judged by the declared experiments."""

from pathlib import Path

import pytest

import papers.random_spaces as package
from lengen.intervals import wilson
from lengen.measures import OfRun, trained_range
from lengen.records import Grid, Run
from reproduce.comparison.checks import Claim, Level, judge
from reproduce.comparison.evidence import Evidence
from reproduce.comparison.published import load
from reproduce.comparison.regions import inside
from reproduce.comparison.rows import DIFFERS, REPRODUCED
from reproduce.output import published_values
from reproduce.runs.catalogue import CATALOGUE
from tests.counted import counted
from tests.papers import made_random_spaces as made

PUBLISHED = load(Path(package.__file__).with_name("published.toml"))
NUMBERS = {number.id: number for number in PUBLISHED.numbers}
CLAIMS = {claim.id: claim for claim in PUBLISHED.claims}
EXPERIMENTS = {item.name: item for item in CATALOGUE.experiments("random_spaces")}
BY_PLACE = ("values.entropy", "hits.early_end", "uncertainty.")
"""Measures that only the lengths of ``measure.uncertainty`` have."""

TABLE43 = """
10k  7.0  22.7 35.4 39.6 0 0 2.4 8.4
100k 21.5 29.7 41.8 36.5 0 0 1.0 5.2
1m   16.1 24.8 39.5 36.3 0 0 1.5 7.6
10m  18.6 33.1 37.3 37.2 0 0 3.1 10.1
"""
"""Mean and deviation in percent: 8 digits add, mix; 10 digits add, mix."""

FIG45 = """
ape        100 0   0   0  0
reversed   100 0   0   0  0
scratchpad 99  0   0   0  0
zero-pad   100 99  2   0  0
spaces     100 99  75  0  0
abacus     100 100 100 100 99
"""
"""Percent in range and at 8, 10, 11 and 12 digits."""


@pytest.mark.parametrize(("prefix", "mode"), [("table4.3", "sampled"), ("table4.3-greedy", "teacher_forced")])
def test_every_mean_and_deviation_of_table_4_3_is_there(prefix, mode):
    found = 0
    for line in TABLE43.split("\n")[1:-1]:
        size, *values = line.split()
        cells = [(r, k, a) for r in ("gap", "next") for k in ("add", "mix") for a in ("mean", "deviation")]
        for (region, kind, across), value in zip(cells, values, strict=True):
            number = NUMBERS[f"{prefix}-{size}-{kind}-{across}-{region}"]
            assert number.value == pytest.approx(float(value) / 100), number.id
            assert (number.across, number.region, number.mode) == (across, region, mode), number.id
            assert number.experiments == (f"random_spaces/table4.3/{size}-{kind}-w*",)
            found += 1
    assert found == 32


def test_every_point_of_figure_4_5_is_there():
    for line in FIG45.split("\n")[1:-1]:
        kind, *values = line.split()
        longest = "12" if kind == "zero-pad" else "longest"  # which is tested beyond what was published, to 14 digits
        for column, value in zip(("in_range", "gap", "next", "11", longest), values, strict=True):
            number = NUMBERS[f"fig4.5-accuracy-{kind}-{column}"]
            assert number.value == pytest.approx(float(value) / 100), number.id
            assert number.experiments == (f"random_spaces/fig4.5/{kind}",) and "data" in number.how_read


def specs(claim: Claim):
    for name in claim.names:
        for profile in ("cpu", "paper"):
            if profile in EXPERIMENTS[name].specs:
                yield f"{name} at {profile}", profile, EXPERIMENTS[name].specs[profile]


def lengths_in(region: str, spec) -> list[int]:
    span = trained_range(spec.data)
    tested = [(length, 1) for length in spec.test.lengths]
    return [length for length, _ in inside(tested, span, PUBLISHED.vocabulary.regions[region], None, None)]


def test_every_experiment_of_a_claim_tests_lengths_in_its_region():
    for claim in PUBLISHED.claims:
        if isinstance(PUBLISHED.vocabulary.measure(claim.measure), OfRun) or claim.region in (
            "padded",
            "beyond_padding",
        ):
            continue
        for name, _, spec in specs(claim):
            for region in {claim.region, claim.other.region}:
                assert lengths_in(region, spec), f"{claim.id}: {name} tests nothing {region}"


def test_zero_padding_is_tested_within_and_beyond_the_padded_length_at_the_cpu_profile():
    spec = EXPERIMENTS["random_spaces/fig4.5/zero-pad"].specs["cpu"]
    assert lengths_in("padded", spec) and lengths_in("beyond_padding", spec)


def test_entropy_is_asked_of_lengths_at_which_it_is_recorded():
    asked = [claim for claim in PUBLISHED.claims if claim.measure.startswith(BY_PLACE)]
    assert len(asked) >= 6
    for claim in asked:
        for name, _, spec in specs(claim):
            for region in {claim.region, claim.other.region}:
                assert {*lengths_in(region, spec)} <= {*spec.measure.uncertainty}, f"{claim.id}: {name}"


def test_a_perfect_model_can_reproduce_a_claim_with_the_examples_of_one_length():
    for claim in PUBLISHED.claims:
        proportion = PUBLISHED.vocabulary.measure(claim.measure).proportion
        if proportion and isinstance(claim, Level) and claim.relation == ">=":
            for name, _, spec in specs(claim):
                few = min(spec.test.examples, spec.measure.examples, spec.measure.prompts)
                n = few if claim.measure.startswith("hits") else spec.test.examples
                assert wilson(n, n).low >= claim.threshold, f"{claim.id}: {name} tests too few examples"


def test_a_claim_needs_experiments_of_one_profile():
    for claim in PUBLISHED.claims:
        sides = [
            {profile for name in side for profile in EXPERIMENTS[name].specs}
            for side in (claim.left, getattr(claim, "right", claim.left))
        ]
        assert set.intersection(*sides) - {"smoke"}, claim.id


LARGER_SETS = {"table4.3-100k"}
"""Claims about training sets that only the published setting has."""


def test_every_claim_can_be_judged_at_night_and_cpu():
    for claim in PUBLISHED.claims:
        for side in (claim.left, getattr(claim, "right", claim.left)):
            found = {profile for name in side for profile in EXPERIMENTS[name].specs}
            assert ({"cpu", "night"} <= found) is (claim.id not in LARGER_SETS), claim.id


def test_headline_claims_are_those_of_the_abstract():
    assert [claim.id for claim in PUBLISHED.claims if claim.headline] == [
        "fig4.1-gap",
        "fig4.4-extends",
        "fig4.5-spaces-ape",
        "fig4.5-spaces-gap",
        "table4.3-smallest",
    ]


def _made(name: str, profile: str, seed: int, inside: float, outside: float) -> Run:
    """A run of a declared setting, all of whose trained lengths are right, with these losses of the answer."""
    spec = EXPERIMENTS[name].specs[profile].to_dict()
    grid = Grid(("length",))
    for length in spec["test"]["lengths"]:
        right = 200 if length in spec["data"]["task"]["lengths"] else 20
        grid.add((length,), "teacher_forced", counted(200, right, right, 0, 200 * length))
    arrays = made.losses(spec, inside, outside)
    return Run(name, profile, seed, 1, "reference", {"spec": spec, "overrides": []}, grid, arrays=arrays)


@pytest.mark.parametrize(
    ("saved", "verdict"), [((1.0, 0.0), REPRODUCED), ((0.0, 1.0), DIFFERS), ((-1.0, 0.0), DIFFERS)]
)
def test_small_models_gain_most_where_sub_tasks_save_them_most_loss(saved, verdict):
    """Section 4.5.2: smaller models have greater reductions in loss."""
    claim, profile = CLAIMS["fig4.7-small-models"], "night"
    widths = {64: saved[0], 128: saved[1]}
    runs = {}
    for width, less in widths.items():
        for kind, outside in (("add", 3.0), ("mix", 3.0 - less)):
            name = f"random_spaces/table4.3/10k-{kind}-w{width}"
            runs[name] = [_made(name, profile, seed, 0.01, outside + 0.01 * seed) for seed in range(3)]
    evidence = Evidence(profile, EXPERIMENTS, lambda one, at: runs.get(one.name, []), PUBLISHED.vocabulary)
    assert judge(claim, claim.sides(evidence)).verdict == verdict


def test_figures_know_which_published_lengths_were_left_out_of_the_training():
    found = {
        (value.lengths, value.trained[0]): value.left_out
        for values in published_values.of("random_spaces").values()
        for value in values
    }
    assert {at for at, left_out in found.items() if left_out} == {((2, 2), 3), ((8, 8), 9), ((18, 18), 19)}

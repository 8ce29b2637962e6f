"""What the paper prints stands in published.toml; its claims are judged in made worlds: the paper's, its opposite."""

import fnmatch
import functools
import json
import re
from pathlib import Path

import numpy as np
import pytest

import papers.task_hinting as package
from lengen.intervals import wilson
from lengen.measures import Missing, Scored
from lengen.records import Grid, Run
from papers.task_hinting.deviations import DEVIATIONS
from reproduce.comparison import evidence
from reproduce.comparison.checks import Claim, Level, judge
from reproduce.comparison.evidence import Evidence, Finding
from reproduce.comparison.learning import unlearned
from reproduce.comparison.numbers import Measured, Setting
from reproduce.comparison.published import load
from reproduce.comparison.rows import DIFFERS, REPRODUCED
from reproduce.runs.catalogue import CATALOGUE
from tests.counted import counted

PUBLISHED = load(Path(package.__file__).with_name("published.toml"))
NUMBERS = {number.id: number for number in PUBLISHED.numbers}
CLAIMS = {claim.id: claim for claim in PUBLISHED.claims}
EXPERIMENTS = {item.name: item for item in CATALOGUE.experiments("task_hinting")}

TABLES = """
table1-standard    50 89   100 0.0
table1-tempered    50 99.4 100 45.2
table1-1m-standard 100 0
table1-1m-tempered 100 42
table2-standard    50 99.2 100 52.4
table2-tempered    50 99.7 100 64.8
text-1m            50 64
text-160m          50 90
text-hints         100 52.4
text-repeats-hints 100 92.6
table3-standard 11 98.2 12 93.8 13 81.5 14 60.1 15 41   16 23.2 17 10   18 4.1 19 1.4 20 0.3
table3-hinting  11 99.4 12 96.4 13 88.4 14 69.2 15 47.7 16 27.1 17 13.7 18 6   19 2.2 20 0.5
table3-tempered 11 99.8 12 97.5 13 91.4 14 78.3 15 62.1 16 46.4 17 29   18 16  19 8   20 4
"""
"""Length and percent, in turn."""


def test_every_value_of_the_tables_and_the_text_is_there_at_its_length():
    found = 0
    for name, *values in map(str.split, TABLES.split("\n")[1:-1]):
        for length, percent in zip(map(int, values[::2]), map(float, values[1::2]), strict=True):
            number = NUMBERS[f"{name}-{length}"]
            assert number.value == pytest.approx(percent / 100), number.id
            assert (number.lengths, number.measure, number.kind) == ((length, length), "exact", "measured"), number.id
            found += 1
    assert found == 44


def test_rows_of_table_3_are_those_of_their_experiment():
    for kind in ("standard", "hinting", "tempered"):
        assert NUMBERS[f"table3-{kind}-20"].experiments == (f"task_hinting/table3/{kind}",)


@pytest.mark.parametrize("number", [n for n in PUBLISHED.numbers if isinstance(n, Measured)], ids=lambda n: n.id)
def test_published_lengths_are_tested_at_the_paper_profile(number):
    for pattern in number.experiments:
        for name in fnmatch.filter(EXPERIMENTS, pattern):
            test = EXPERIMENTS[name].specs["paper"].test
            assert {*(number.lengths or ())} <= {*test.lengths}, name
            assert not number.counts or len(test.counts) > 1, f"{name} has no second axis"


@pytest.mark.parametrize("number", [n for n in PUBLISHED.numbers if isinstance(n, Setting)], ids=lambda n: n.id)
def test_hyper_parameters_are_those_of_the_declared_setting(number):
    names = [name for pattern in number.experiments for name in fnmatch.filter(EXPERIMENTS, pattern)]
    assert names and number.find([EXPERIMENTS[name] for name in names])[0] == REPRODUCED


def test_deviations_are_numbered_and_every_one_concerns_something():
    assert list(DEVIATIONS) == [f"D{n}" for n in range(1, len(DEVIATIONS) + 1)] and all(DEVIATIONS.values())
    used = {name for entry in (*PUBLISHED.numbers, *PUBLISHED.claims) for name in entry.deviations}
    assert used | {name for names in PUBLISHED.deviations.values() for name in names} == set(DEVIATIONS)


def test_fields_that_deviations_name_exist():
    known = EXPERIMENTS["task_hinting/fig3.2/1m"].specs["paper"].to_dict()
    named = re.findall(r"\b(data|model|train|test)\.(\w+)", " ".join(DEVIATIONS.values()))
    assert len(named) >= 15
    for section, field in named:
        assert field in known[section], f"{section}.{field}"


# ------------------------------------------------------------------ Made worlds

World = dict[str, dict[str, float]]
"""Home of a run (figure/variant) -> what it scores; the entry "*" stands for those that have none.

trained: accuracy at trained lengths; middle: at half the longest tested length (increment: half-way to it); longest: at
that; on a line between them, for rep(i, r) as for uniform sequences. edits: per output token, beyond trained lengths.
minimum, successor (and those with "_in" at trained lengths), copy, denoiser, guess: mechanisms, and how often 1 is the
minimum. val, cosine, spread: scalars; those of the untrained start are cosine 0.1 and spread 0.02.
"""

STANDARD = {
    "trained": 1.0, "middle": 0.89, "longest": 0.0, "edits": 0.3, "minimum_in": 0.9, "minimum": 0.4,
    "successor_in": 0.9, "successor": 0.5, "copy": 0.98, "start": 0.3, "denoiser": 0.9, "guess": 0.3, "val": 1.0,
    "cosine": 0.1, "spread": 0.02,
}  # fmt: skip
PAPER: World = {
    "*": STANDARD,
    "fig3.2/1m": {"middle": 0.64},
    "fig3.2/10m": {"middle": 0.75},
    "fig3.5/1m": {"middle": 0.8, "longest": 0.1},
    "fig3.5/10m": {"middle": 0.88, "longest": 0.25},
    "fig3.5/40m": {"middle": 0.95, "longest": 0.4},
    "fig3.5/160m": {"middle": 0.995, "longest": 0.524},
    "fig3.6/successor": {"middle": 1.0, "longest": 0.96, "edits": 0.005, "minimum": 0.9, "successor": 0.9},
    "fig3.6/successor-equal": {"middle": 1.0, "longest": 0.97, "edits": 0.005},
    "fig3.3/depth-2": {"middle": 0.64},
    "fig3.11/count": {"middle": 0.4},
    "fig3.11/fill": {"middle": 0.94, "longest": 0.05},
    "fig3.11/all": {"middle": 0.95, "longest": 0.5},
    "table1/tempered": {"middle": 0.994, "longest": 0.452},
    "table1/tempered-1m": {"middle": 0.99, "longest": 0.42},
    "table1/tempered-10m": {"middle": 0.99, "longest": 0.43},
    "table1/tempered-40m": {"middle": 0.99, "longest": 0.44},
    "appendix-b/fixed": {"middle": 0.3},
    "appendix-b/learned": {"middle": 0.2},
    "table2/tempered": {"middle": 1.0, "longest": 0.648},
    "table3/standard": {"middle": 0.41},
    "table3/hinting": {"middle": 0.5},
    "table3/tempered": {"middle": 0.62, "longest": 0.04},
    "thm5.1/construction": {"minimum_in": 1.0, "successor_in": 1.0, "copy": 1.0},
}


def flat(rate: float, **more: float) -> dict[str, float]:
    """One accuracy at every length; as many edits per token as there are errors."""
    return {"trained": rate, "middle": rate, "longest": rate, "edits": 1 - rate} | more


OPPOSITE: World = {
    "*": flat(
        0.4,
        val=0.5,
        cosine=0.5,
        spread=0.5,
        minimum_in=0.2,
        successor_in=0.2,
        minimum=0.6,
        successor=0.6,
        copy=0.3,
        start=0.6,
        denoiser=0.1,
    ),
    "fig3.2/1m": flat(0.6),
    "fig3.2/40m": flat(0.2),
    "fig3.3/depth-8": flat(0.5),
    "fig3.3/depth-12": flat(0.5),
    "fig3.3/depth-4": flat(0.1),
    "fig3.5/1m": flat(0.7),
    "fig3.5/10m": flat(0.4),
    "fig3.5/160m": flat(0.2),
    "fig3.6/none": flat(0.8),
    "fig3.6/successor": flat(0.1, trained=0.9, minimum=0.2, successor=0.2, edits=1.0),
    "fig3.6/successor-equal": flat(0.1),
    "fig3.11/count": flat(0.9),
    "fig3.11/fill": flat(0.5),
    "fig3.11/all": flat(0.9),
    "table1/tempered": flat(0.2),
    "table1/tempered-1m": flat(0.2),
    "table1/tempered-10m": flat(0.2),
    "table1/tempered-40m": flat(0.1),
    "appendix-b/fixed": flat(0.8),
    "appendix-b/learned": flat(0.8),
    "table2/tempered": flat(0.1),
    "table3/standard": flat(0.6),
    "table3/hinting": flat(0.5),
    "table3/tempered": flat(0.4),
}
"""Nothing is as the paper says."""


def scored(world: World, home: str) -> dict[str, float]:
    return {**STANDARD, **world["*"], **world.get(home.split("/", 1)[1], {})}


def accuracy(value: dict[str, float], reach: float, furthest: float) -> float:
    """At ``reach`` times the trained length, where ``furthest`` is the longest tested."""
    half = (1 + furthest) / 2 if furthest <= 2 else furthest / 2
    known = (value["trained"], value["middle"], value["longest"])
    return value["trained"] if reach <= 1 else float(np.interp(reach, [1, half, furthest], known))


def made(world: World, name: str, profile: str, seed: int) -> Run:
    """A run; seeds lie a little apart, since equal numbers of seeds would tell no interval."""
    experiment, apart = EXPERIMENTS[name], 1e-4 * seed
    spec, value = experiment.specs[profile], scored(world, CATALOGUE.home(experiment, profile).name)
    trained, n = spec.data.task.longest, spec.test.examples
    grid = Grid(("length", "count") if len(spec.test.counts) > 1 else ("length",))
    arrays = {}
    for length in spec.test.lengths:
        inside = length <= trained
        right = round(n * accuracy(value, length / trained, max(spec.test.lengths) / trained))
        edits = 0 if inside else round(value["edits"] * n * length) + seed
        for count in spec.test.counts:
            for mode, wrong in (("teacher_forced", 0), ("free_running", edits)):
                grid.add((length, count)[: len(grid.axes)], mode, counted(n, right, right, wrong, n * length))
        within = "_in" if inside else ""
        shares = {
            "minimum": value[f"minimum{within}"],
            "identity_successor": value[f"successor{within}"],
            "guessed": value["guess"],
            "copy": value["copy"],
            "start_copy": value["start"],
            "copy_throughout": value["copy"],
            "denoiser": value["denoiser"],
        }
        for mechanism, share in shares.items():
            arrays[f"hits.{mechanism}.{length}"] = (np.arange(400) < 400 * share).astype(np.uint8)
    scalars = {
        "val_exact_match": value["val"] - apart,
        "encoder_norm_spread": value["spread"] + apart,
        "start_encoder_norm_spread": 0.02,
    }
    for name in ("encoder_cosine", "decoder_cosine", "between_cosine"):
        scalars |= {name: value["cosine"] + apart, f"start_{name}": 0.1}
    info = {"spec": spec.to_dict(), "spec_hash": spec.hash(), "overrides": [], "scalars": scalars}
    return Run(name, profile, seed, 1, "reference", info, grid, arrays=arrays)


def judged(claim: Claim, world: World, profile: str = "cpu", extras: bool = False) -> Finding:
    """The claim in a world of three seeds; ``extras``: they were run, too."""
    return judge(claim, claim.sides(found_in(json.dumps(world), profile, extras)))


@functools.cache
def found_in(told: str, profile: str, extras: bool) -> Evidence:
    """All that was found in a world, which is told as JSON; one for all claims, as `compare` has it."""
    world = json.loads(told)

    def declared(experiment, at):
        if at in experiment.extra and not extras:
            return []
        return [made(world, experiment.name, at, seed) for seed in range(3)]

    return Evidence(profile, EXPERIMENTS, declared, PUBLISHED.vocabulary)


def only_extras(names: tuple[str, ...]) -> bool:
    return bool(names) and all("cpu" in EXPERIMENTS[name].extra for name in names)


ON_EXTRAS = {
    claim.id for claim in PUBLISHED.claims if only_extras(claim.left) or only_extras(getattr(claim, "right", ()))
}
"""Claims that need extras of the cpu profile."""
every_claim = pytest.mark.parametrize("claim", PUBLISHED.claims, ids=lambda claim: claim.id)
every_pair = pytest.mark.parametrize(
    ("claim", "profile"),
    [
        pytest.param(claim, profile, id=f"{profile}-{claim.id}")
        for claim in PUBLISHED.claims
        for profile in ("cpu", "night", "paper")
    ],
)


@every_pair
def test_a_claim_is_reproduced_where_everything_is_as_the_paper_says_and_no_extra_was_run(claim, profile):
    assert judged(claim, PAPER, profile, extras=claim.id in ON_EXTRAS).verdict == REPRODUCED


@pytest.mark.parametrize("name", sorted(ON_EXTRAS))
def test_claims_on_extras_say_what_was_not_run(name):
    with pytest.raises(Missing):
        judged(CLAIMS[name], PAPER)


@every_claim
def test_a_claim_is_reproduced_with_the_extras_too(claim):
    assert judged(claim, PAPER, extras=True).verdict == REPRODUCED


@every_pair
def test_a_claim_differs_where_nothing_is_as_the_paper_says(claim, profile):
    assert judged(claim, OPPOSITE, profile, extras=claim.id in ON_EXTRAS).verdict == DIFFERS


def test_a_marginal_improvement_is_one_on_both_sides():
    fill = CLAIMS["fig3.11-fill"]
    for middle, verdict in ((0.5, DIFFERS), (0.94, REPRODUCED), (1.0, DIFFERS)):
        world = PAPER | {"fig3.11/fill": {"middle": middle, "longest": 0.9 if middle == 1 else 0.05}}
        assert judged(fill, world, extras=True).verdict == verdict


NO_GAIN = {"fig3.2-saturates", "fig3.3-saturates", "section7-all", "appendix-b-fixed", "appendix-b-learned"}
"""Claims that there is no gain: of models that learned nothing they are floors, and untested."""
FAR_AWAY = {"fig3.2-longest", "fig3.3-longest", "fig3.6-none"}
"""Claims that little is right far away."""
BASES = {claim.id for claim in PUBLISHED.claims if claim.id.startswith("bases")}
"""Equal models are as near to orthogonal as they began."""
DEAD = {
    "minimum_in": 0.0,
    "minimum": 0.0,
    "successor_in": 0.0,
    "successor": 0.0,
    "copy": 0.0,
    "start": 0.0,
    "denoiser": 0.0,
}
NOTHING: World = {"*": flat(0.0, val=0.0, **DEAD)}
EVERYTHING: World = {"*": flat(1.0, val=1.0, **dict.fromkeys(DEAD, 1.0))}
LEARNED = {"learned", "learned-lengths"}
MECHANISMS = {"fig4.15-guess"} | {name for name in CLAIMS if name.startswith("mechanism-")}
CONSTRUCTED = {claim.id for claim in PUBLISHED.claims if claim.id.startswith("thm5.1")}
STABLE = {"fig3.6-stable", "fig3.8-stable", "fig3.7-small", "fig3.9-small"}


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (NOTHING, FAR_AWAY | BASES),
        (EVERYTHING, NO_GAIN | BASES | LEARNED | MECHANISMS | STABLE | CONSTRUCTED),
    ],
    ids=["nothing learned", "everything solved"],
)
def test_equal_models_reproduce_only_what_is_said_of_a_single_one(world, expected):
    found = {c.id for c in PUBLISHED.claims if judged(c, world, extras=c.id in ON_EXTRAS).verdict == REPRODUCED}
    assert found == expected


@pytest.mark.parametrize("name", sorted(NO_GAIN | FAR_AWAY | BASES | MECHANISMS - {"fig4.15-guess"}))
def test_a_claim_that_holds_of_models_that_learned_nothing_asks_whether_they_did(name):
    claim = CLAIMS[name]
    evidence = Evidence("paper", EXPERIMENTS, lambda one, at: [made(NOTHING, one.name, at, 0)], PUBLISHED.vocabulary)
    assert unlearned(claim, claim.sides(evidence))


def test_the_edit_distance_stays_small_where_exact_match_has_fallen():
    """Two measures at one length: a model that is nearly right everywhere and exactly right nowhere."""
    nearly = {**PAPER, "fig3.6/successor": {"middle": 0.3, "longest": 0.0, "edits": 0.02}}
    small, stable = judged(CLAIMS["fig3.7-small"], nearly), judged(CLAIMS["fig3.6-stable"], nearly)
    assert (small.verdict, stable.verdict) == (REPRODUCED, DIFFERS)
    assert CLAIMS["fig3.7-small"].region == CLAIMS["fig3.6-stable"].region
    assert CLAIMS["fig3.7-small"].mode == "free_running"


def test_claims_of_uniform_sequences_leave_out_those_with_repeats_and_the_other_way_round():
    """Of runs with a second axis each claim means one part; a mechanism would count its examples twice."""
    seen = set()
    for claim in PUBLISHED.claims:
        if claim.measure.startswith("scalar"):
            continue
        for name in claim.names:
            spec = EXPERIMENTS[name].specs["cpu"]
            if len(spec.test.counts) == 1:
                continue
            tested = evidence.Tested(name, "cpu", spec, [made(PAPER, name, "cpu", 0)], PUBLISHED.vocabulary)
            for side in {claim.one, claim.other}:
                counts = {count for _, count in tested.cells(side.region, side.lengths, side.counts)}
                repeats = claim.id.startswith(("fig3.8", "fig3.9", "thm5.1-repeats"))
                assert counts and (1 in counts) is not repeats and (repeats or counts == {1}), claim.id
                seen |= counts
    assert seen == {1, 2, 3, 4, 5}


def test_examples_of_one_length_are_enough_for_levels_near_nothing_and_everything():
    for claim in PUBLISHED.claims:
        measure = PUBLISHED.vocabulary.measure(claim.measure)
        if isinstance(claim, Level) and isinstance(measure, Scored) and measure.proportion:
            for pattern in claim.left:
                for name in fnmatch.filter(EXPERIMENTS, pattern):
                    test = EXPERIMENTS[name].specs["cpu"].test
                    rows = [r for r in test.counts if not claim.counts or claim.counts[0] <= r <= claim.counts[1]]
                    n = test.examples * (len(test.lengths) * len(rows) if claim.region == "all" else 1)
                    few = wilson(0, n).high <= claim.threshold
                    assert few if claim.relation in ("<", "<=") else wilson(n, n).low >= claim.threshold, claim.id

"""The declared settings: published ones at the paper profile, the same proportions at the others; figures draw all."""

import dataclasses

import pytest
from matplotlib.figure import Figure as Drawing

from lengen import TaskData
from lengen.experiment import PROFILES
from papers.task_hinting.experiments import EXPERIMENTS, FIGURES
from papers.task_hinting.profiles import SIZES
from tests.papers.test_task_hinting_figures import run

NAMES = {item.name: item for item in EXPERIMENTS}
TAKEN = [
    *(f"task_hinting/fig3.{figure}/{kind}" for figure in (6, 8) for kind in ("none", "successor")),
    *(f"task_hinting/fig3.11/{kind}" for kind in ("none", "successor", "count")),
    *(f"task_hinting/fig4.{figure}/none" for figure in range(12, 17)),
    *(f"task_hinting/fig4.{figure}/successor" for figure in (15, 16)),
    *(f"task_hinting/{name}" for name in ("fig3.2/160m", "table1/standard", "table1/tempered")),
    *(f"task_hinting/table3/{kind}" for kind in ("standard", "tempered")),
    *(item.name for item in EXPERIMENTS if item.figure == "thm5.1"),
]
"""What a run of the whole paper at the cpu profile takes: what headline claims compare, and little more."""
PERCENT = {5: "100.000", 10: "100.000", 15: "75.000", 20: "50.000", 25: "25.000", 30: "0.000", 40: "0.000", 50: "0.000"}
"""What a made run has right, by length."""


def spec(name: str, profile: str = "paper"):
    return NAMES[f"task_hinting/{name}"].specs[profile]


def test_runs_of_the_whole_paper_of_a_night_and_of_ours():
    left_out = {item.name.removeprefix("task_hinting/") for item in EXPERIMENTS if "cpu" in item.extra}
    assert {*TAKEN} == {*NAMES} - {f"task_hinting/{name}" for name in left_out}
    no_night = {item.name.removeprefix("task_hinting/") for item in EXPERIMENTS if "night" in item.absent}
    assert no_night == {"table1/tempered-prompt", "table1/one-plus-log"}
    ours = {item.name for item in EXPERIMENTS if item.ours}
    assert ours == {f"task_hinting/{name}" for name in (
        "fig3.6/none-twice", "table1/tempered-prompt", "table1/one-plus-log")}  # fmt: skip
    for item in EXPERIMENTS:
        if "night" in item.specs and not item.specs["night"].constructed:
            seeds = len(item.default_seeds("night"))
            assert seeds in (3, 5), item.name
    shared = {item.specs["night"].hash(): {} for item in EXPERIMENTS if "night" in item.specs}
    for item in EXPERIMENTS:
        if "night" in item.specs:
            shared[item.specs["night"].hash()][item.name] = len(item.default_seeds("night"))
    assert all(len(set(seeds.values())) == 1 for seeds in shared.values()), "readers of one run ask for as many seeds"


@pytest.mark.parametrize("profile", PROFILES)
def test_pairs_differ_in_what_they_are_about_only(profile):
    def changed(name: str, other: str) -> set[str]:
        ours, theirs = spec(name, profile).to_dict(), spec(other, profile).to_dict()
        return {f"{part}.{key}" for part in ours for key in ours[part] if ours[part][key] != theirs[part][key]}

    assert changed("table1/standard", "table1/tempered") == {"model.tempered"}
    assert changed("table2/standard", "table2/tempered") == {"model.tempered"}
    assert changed("fig3.6/none", "fig3.6/successor") == {"data.hints"}
    assert changed("fig3.6/successor", "fig3.6/successor-equal") == {"train.steps"}
    assert changed("table3/standard", "table3/tempered") == {"model.tempered"}
    assert changed("table3/standard", "table3/hinting") == {"data.hints"}
    assert changed("fig3.6/none", "fig3.6/none-twice") == {"train.steps"}
    assert spec("fig3.6/none-twice", profile).train.steps == spec("fig3.6/successor-equal", profile).train.steps
    assert changed("appendix-b/none", "appendix-b/fixed") == {"model.encoding", "data.position_ids"}
    assert changed("appendix-b/none", "appendix-b/learned") == {"model.encoding", "data.position_ids"}
    for size in ("1m", "10m", "40m"):
        assert changed(f"fig3.2/{size}", f"table1/tempered-{size}") == {"model.tempered"}
    assert changed("fig3.11/none", "fig3.11/successor") == {"data.hints"}
    if profile in ("smoke", "paper"):  # elsewhere hints and repetitions have other lengths than Figure 3.2
        assert changed("appendix-b/none", "fig3.5/160m") == {"data.hints"}
        assert changed("fig3.11/none", "appendix-b/none") == {
            "data.task", "test.counts", "probe.examples", "probe.sequences"
        }  # fmt: skip
    if profile == "night":
        return  # other readings of n have no size there
    assert changed("table1/tempered", "table1/tempered-prompt") == {"model.tempered"}
    counted, seen = (spec(name, profile).model.tempered for name in ("table1/tempered-prompt", "table1/tempered"))
    assert (counted.of, seen.of) == ("prompt", "position") and (counted.start, counted.form) == (seen.start, seen.form)


@pytest.mark.parametrize("profile", PROFILES)
def test_equal_main_task_steps(profile):
    plain, equal = spec("fig3.6/none", profile), spec("fig3.6/successor-equal", profile)
    assert TaskData(equal, 0).main_steps(equal.train.steps) == plain.train.steps


def test_smaller_sets_lengths_and_alphabets_keep_their_ratios():
    for profile in PROFILES:
        first = spec("fig3.2/1m", profile).data.examples
        for name, size in SIZES.items():
            chosen = spec(f"fig3.2/{name}", profile)
            assert chosen.data.examples * SIZES["1m"] == first * size
            window = 2 * chosen.train.batch * chosen.train.bucket
            assert profile == "paper" or chosen.data.examples % window == 0
    assert first == SIZES["1m"], "the last profile is paper"
    for profile in ("cpu", "night", "paper"):
        chosen = spec("fig3.6/none", profile)
        longest = chosen.data.task.longest
        assert (chosen.data.task.alphabet, max(chosen.test.lengths)) == (5 * longest, 5 * longest)
        assert {5 * longest // 2, longest} <= {*chosen.test.lengths}


def test_published_vocabularies():
    for name, tokens in (("fig3.2/1m", 103), ("table3/standard", 14)):
        assert len(TaskData(spec(name), 0).vocab) == tokens


def test_every_figure_draws_runs_of_the_smallest_profile():
    for figure in FIGURES:
        runs = {
            name: [dataclasses.replace(run("x"), info={"spec": NAMES[name].specs["smoke"].to_dict()})]
            for name in figure.reads
        }
        assert isinstance(figure.draw(runs), Drawing), figure.name
        if figure.table:
            assert figure.table(runs).splitlines() == [
                "variant,length,median_percent,lowest_percent,highest_percent,seeds",
                *(
                    f"{name.rpartition('/')[2]},{length},{percent},{percent},{percent},1"
                    for name in figure.reads
                    for length, percent in PERCENT.items()
                ),
            ], figure.name

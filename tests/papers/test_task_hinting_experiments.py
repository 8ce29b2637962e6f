"""The declared settings: published ones at the paper profile, the same proportions at the others; figures draw all."""

import dataclasses

import pytest
from matplotlib.figure import Figure as Drawing

from lengen.config.experiment import PROFILES
from lengen.data.task_data import TaskData
from lengen.training.build import build_model
from papers.task_hinting.experiments import EXPERIMENTS, FIGURES
from papers.task_hinting.profiles import SIZES
from tests.papers.made_task_hinting import run

NAMES = {item.name: item for item in EXPERIMENTS}


def spec(name: str, profile: str = "paper"):
    return NAMES[f"task_hinting/{name}"].specs[profile]


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_builds_data_and_model_at_its_smallest_size(name):
    chosen = NAMES[name].specs["smoke"]
    data = TaskData(chosen, 0)
    batch = data.batch(0)
    assert len(batch.tokens) == chosen.train.batch
    model = build_model(chosen, 0)
    assert len(model.others) == len(chosen.data.hints)


def test_every_experiment_has_every_profile_and_extras_say_why():
    for item in EXPERIMENTS:
        assert set(item.specs) | set(item.absent) == set(PROFILES)
        assert item.name.endswith("-long") == ("paper" in item.absent)
        assert all(reason for reason in item.extra.values())
    left_out = {item.name.removeprefix("task_hinting/") for item in EXPERIMENTS if "cpu" in item.extra}
    assert left_out == {
        "fig3.2/40m", "fig3.5/40m", "fig3.3/depth-8", "fig3.3/depth-12", "table1/tempered-1m", "table1/tempered-prompt",
        "table1/one-plus-log", "table1/standard-long", "table1/tempered-long",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "home"),
    [
        ("fig3.3/depth-2", "fig3.2/1m"),
        ("fig3.8/none", "fig3.6/none"),
        ("fig3.8/successor", "fig3.6/successor"),
        ("fig3.11/none", "fig3.6/none"),
        ("fig3.11/successor", "fig3.6/successor"),
        ("fig4.12/none", "fig3.6/none"),
        ("fig4.16/successor", "fig3.6/successor"),
        ("table1/standard", "fig3.2/160m"),
        ("table2/standard", "fig3.5/160m"),
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_shared_settings_are_one_run(reader, home, profile):
    assert spec(reader, profile).hash() == spec(home, profile).hash()


@pytest.mark.parametrize("profile", PROFILES)
def test_pairs_differ_in_what_they_are_about_only(profile):
    def changed(name: str, other: str) -> set[str]:
        ours, theirs = spec(name, profile).to_dict(), spec(other, profile).to_dict()
        return {f"{part}.{key}" for part in ours for key in ours[part] if ours[part][key] != theirs[part][key]}

    assert changed("table1/standard", "table1/tempered") == {"model.tempered"}
    assert changed("table2/standard", "table2/tempered") == {"model.tempered"}
    assert changed("fig3.2/160m", "fig3.5/160m") == {"data.hints"}
    assert changed("fig3.6/none", "fig3.6/successor") == {"data.hints"}
    assert changed("fig3.6/successor", "fig3.6/successor-equal") == {"train.steps"}
    assert changed("table3/standard", "table3/tempered") == {"model.tempered"}
    assert changed("table3/standard", "table3/hinting") == {"data.hints"}
    assert changed("table1/tempered", "table1/tempered-prompt") == {"model.tempered"}
    assert changed("fig3.6/none", "fig3.2/160m") == {"data.task", "test.counts", "probe.examples", "probe.sequences"}
    counted, seen = (spec(name, profile).model.tempered for name in ("table1/tempered-prompt", "table1/tempered"))
    assert (counted.of, seen.of) == ("prompt", "position") and (counted.start, counted.form) == (seen.start, seen.form)


@pytest.mark.parametrize("profile", PROFILES)
def test_equal_main_task_steps(profile):
    plain, equal = spec("fig3.6/none", profile), spec("fig3.6/successor-equal", profile)
    assert TaskData(equal, 0).main_steps(equal.train.steps) == plain.train.steps


def test_smaller_training_sets_keep_the_published_number_of_epochs():
    for name, size in SIZES.items():
        paper, cpu = spec(f"fig3.2/{name}"), spec(f"fig3.2/{name}", "cpu")
        assert paper.data.examples == size
        epochs = [one.train.steps * one.train.batch / one.data.examples for one in (paper, cpu)]
        assert epochs[1] == pytest.approx(epochs[0], rel=0.1), name
    for profile in PROFILES:
        sizes = [spec(f"fig3.5/{name}", profile).data.examples for name in SIZES]
        assert sizes == sorted(set(sizes))
        window = 2 * spec("fig3.5/1m", profile).train.batch * spec("fig3.5/1m", profile).train.bucket
        assert profile == "paper" or all(size % window == 0 for size in sizes)


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
            assert figure.table(runs).startswith("variant,length"), figure.name

"""Figures of task hinting."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Drawing

import lengen
from lengen import TaskData
from lengen.experiment import PROFILES
from lengen.results.records import Grid, Run
from lengen.settings.changes import overlay
from papers.task_hinting import special_plots as plots
from papers.task_hinting.experiments import EXPERIMENTS, FIGURES
from papers.task_hinting.profiles import FORMAT, SIZES
from papers.task_hinting.special_plots import DELIMITER, LOOKS, Probe, View
from reproduce.store.checkout import stores
from tests.fixtures.runs import counted

TRAINED = 10
N = 400
"""Examples of a cell."""
SPEC = lengen.Spec(
    data=lengen.DataSpec(task=lengen.Sorting(longest=TRAINED, alphabet=100), format=FORMAT, examples=4096),
    model=lengen.ModelSpec(layers=2, heads=4, width=64, head_dim=16, ff_width=128, encoding=lengen.NoEncoding()),
    train=lengen.TrainSpec(steps=400, batch=64, lr=1e-3),
    test=lengen.TestSpec(lengths=(5, 10, 15, 20, 25, 30, 40, 50)),
)
TOKENS = ("92", "5", "43", "17", "78", DELIMITER, "5", "17", "43", "78", "92")
VOCABULARY = ("$", "5", "17", "43", "78", "92", DELIMITER)
ONE = Probe(TOKENS, VOCABULARY, {})
REPEATED = Probe(("3", "10", "3", "2", DELIMITER, "2", "3", "3", "10"), (), {})
ROOT = Path(__file__).parents[2]
TEXT = " ".join((ROOT / "docs/findings.md").read_text().partition("\n## 7.")[2].split())
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


def right(length: int, reach: float, seed: int) -> int:
    """Examples of `N` that are right: all that were trained, then fewer up to ``reach``; a seed more, one fewer."""
    share = 1.0 if length <= TRAINED else max(0.0, 1 - (length - TRAINED) / (reach - TRAINED))
    return max(round(N * share) - seed, 0)


def run(
    name: str,
    seed=0,
    *,
    reach=30.0,
    lengths=SPEC.test.lengths,
    counts=(1,),
    arrays: dict[str, np.ndarray] | None = None,
) -> Run:
    spec = overlay(SPEC, {"test": {"lengths": lengths, "counts": counts}})
    grid = Grid(("length", "count") if len(counts) > 1 else ("length",))
    for length in lengths:
        for count in counts:
            good = right(length, reach - 2 * (count - 1), seed)
            grid.add((length, count)[: len(grid.axes)], "teacher_forced", counted(N, good, good, 0, N * length))
    info = {"spec": spec.to_dict(), "spec_hash": "x", "overrides": []}
    return Run(f"task_hinting/{name}", "cpu", seed, 1, "reference", info, grid, arrays=arrays or {})


def test_a_probe_says_where_a_number_stands_and_what_is_looked_at():
    assert [ONE.successor(token) for token in ("5", "17", "43", "78", "92")] == ["17", "43", "78", "92", ""]
    assert [REPEATED.successor(token) for token in ("2", "3", "10")] == ["3", "10", ""]
    assert (ONE.length, ONE.ordered) == (5, ["5", "17", "43", "78", "92"])
    assert [ONE.written(token) for token in ("5", "17", "43", "78", "92")] == [6, 7, 8, 9, 10]
    assert [TOKENS[ONE.written(token)] for token in ("5", "43", "92")] == ["5", "43", "92"]
    assert [REPEATED.written(token) for token in ("2", "3", "10")] == [5, 7, 8]
    assert plots._input(ONE) == View(2, {"itself": "43"}, (0, 0))
    assert plots._output(ONE) == View(8, {"itself": "43", "its successor": "78"}, (1, 2))
    assert plots._delimiter(ONE) == View(5, {"itself": DELIMITER, "the minimum": "5"}, (0, 2))
    largest = Probe(("5", "92", DELIMITER, "5", "92"), (), {})
    assert plots._output(largest) == View(4, {"itself": "92"}, (1, 2)), "the last of a short input has no successor"
    places, ticks = plots._across(("PAD", *map(str, range(1, 11)), DELIMITER))
    assert places.tolist() == [13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    assert ticks == {5: "5", 10: "10", 12: DELIMITER}
    assert plots.probed(run("fig4.12/none", arrays=probed())).tokens == TOKENS
    for name in probed():
        assert plots.probed(run("fig4.12/none", arrays={k: v for k, v in probed().items() if k != name})) is None


def probed() -> dict[str, np.ndarray]:
    shape = (2, 2, len(TOKENS), len(VOCABULARY))
    encoder = np.arange(np.prod(shape)).reshape(shape)
    return {
        "probe0.tokens": np.array(TOKENS), "probe0.vocabulary": np.array(VOCABULARY),
        "probe0.encoder": encoder.astype(np.float16), "probe0.decoder": -encoder.astype(np.float16),
    }  # fmt: skip


@pytest.mark.parametrize(("name", "framed", "word", "token", "layer", "stage", "position"), [
    ("fig4.12", 0, "itself", "43", 0, 0, 2), ("fig4.13", 6, "itself", "43", 1, 0, 8),
    ("fig4.13", 6, "its successor", "78", 1, 0, 8), ("fig4.14", 2, "the minimum", "5", 0, 0, 5),
])  # fmt: skip
def test_a_marked_number_stands_at_its_projection(name, framed, word, token, layer, stage, position):
    arrays, (figure,) = probed(), (figure for figure in FIGURES if figure.name == name)
    runs = {"task_hinting/fig4.12/none": [run("fig4.12/none"), run("fig4.12/none", arrays=arrays)]}
    drawing = figure.draw(runs)
    axes = drawing.axes[framed]
    assert axes.spines["left"].get_linewidth() > 2
    (mark,) = (line for line in axes.lines if line.get_marker() == LOOKS[word][1] and line.get_markersize() == 5)
    basis = arrays["probe0.encoder" if framed == 0 else "probe0.decoder"]
    assert [*mark.get_xdata()] == [int(token)]
    assert [*mark.get_ydata()] == [basis[layer, stage, position, VOCABULARY.index(token)]]


def test_tables_and_constructions_have_medians_ranges_and_longest_sorted_lengths():
    """Of 400 sequences of 20 numbers two seeds have 200 and 199 right, and a third, which reaches further, 298."""
    short = {"lengths": (5, 20)}
    runs = {
        "task_hinting/table1/standard": [
            run("table1/standard", seed, reach=r, **short) for seed, r in enumerate((30, 30, 50))
        ],
        "task_hinting/table1/tempered": [],
        "task_hinting/table1/hinting": [run("table1/hinting", counts=(1, 2), **short)],
    }
    assert plots.table_csv(runs).splitlines() == [
        "variant,length,median_percent,lowest_percent,highest_percent,seeds", "standard,5,99.750,99.500,100.000,3",
        "standard,20,50.000,49.750,74.500,3", "hinting,5,100.000,100.000,100.000,1",
        "hinting,20,50.000,50.000,50.000,1",
    ]  # fmt: skip
    assert plots.longest_sorted([run("thm5.1/x", reach=510)]) == 15, "at 15 exactly 99 %, at 20 98 %"
    assert plots.longest_sorted([run("thm5.1/x", 4)]) == 10 and plots.longest_sorted([run("thm5.1/x", 5)]) == 0
    assert plots.longest_sorted([run("thm5.1/x", 4), run("thm5.1/x", reach=510), run("thm5.1/x", 5)]) == 15
    assert plots.longest_sorted([]) == 0
    runs = {"thm5.1/x": [run("thm5.1/x", reach=510)], "thm5.1/y": [run("thm5.1/y", 5)], "thm5.1/z": []}
    (axes,) = plots.formats(None, runs, {}).axes
    lines = {line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines}
    assert lines == {"bound": ([8, 24, 53], [32, 724, 16_777_216]), "numbers 1 to 100": ([24], [15])}
    del runs["thm5.1/x"]
    assert [text.get_text() for text in plots.formats(None, runs, {}).axes[0].texts] == ["no runs"]


def shares(name: str, *cell: int) -> list[float]:
    """Shares of right sequences in a cell, in percent, a value a training."""
    found = stores()[0].of(f"task_hinting/{name}", "night")
    return sorted(100 * run.grid.scores[cell]["teacher_forced"].rate("correct") for run in found)


def span(values: list[float]) -> str:
    low, high = (f"{value:.1f}" if 0 < value < 1 else f"{value:.0f}" for value in (values[0], values[-1]))
    return low if low == high else f"{low} to {high}"


def test_hints_cost_depth_helps_and_the_text_says_how_much():
    for length in (50, 100):
        without, hinted = shares("fig3.6/none", length, 1), shares("fig3.6/successor", length, 1)
        assert len(without) == len(hinted) == 5 and without[0] > hinted[-1]
        assert f"{span(without)} %" in TEXT and span(hinted) in TEXT
    counted = shares("fig3.11/count", 50)
    assert len(counted) == 5 and counted[-1] < shares("fig3.6/successor", 50, 1)[0]
    assert f"{span(counted)} % of 50 numbers" in TEXT
    deeper = [shares(f"fig3.3/depth-{depth}", 50) for depth in (4, 8, 12)]
    two = shares("fig3.2/1m", 50)
    four, eight, twelve = deeper
    assert two[-1] < four[0] and four[-1] < min(eight[0], twelve[0]) and min(map(len, deeper)) == 5
    assert all(f"{span(some)} %" in TEXT for some in (two, *deeper))
    assert f"twelve layers sort {span(shares('fig3.3/depth-12', 100))} %" in TEXT
    smaller, far = ([share for size in SIZES for share in shares(f"fig3.2/{size}", length)] for length in (50, 100))
    assert len(smaller) == 20 and f"{span(sorted(smaller))} % of 50 numbers" in TEXT
    assert set(far) == {0.0}


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


@pytest.mark.slow
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

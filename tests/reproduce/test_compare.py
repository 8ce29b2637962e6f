"""Rows of the comparison: every verdict occurs, and only runs of the published setting meet published numbers."""

import csv
import dataclasses
import io
import json
import math
import statistics
import subprocess
import sys

import pytest

from lengen.config.spec import change
from lengen.intervals import wilson
from lengen.records import Counts, Grid
from reproduce.comparison import compare, effects, score_card
from reproduce.comparison.checks import Claim
from reproduce.comparison.published import Published, PublishedError
from reproduce.publication.front_page import answer
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.locations import results_root
from reproduce.store.reference import Reference
from reproduce.store.store import Store
from tests.reproduce.made import EVERY, N, both, claim, experiment, number, outside, run, spec, three

A, B = experiment("p/f/a"), experiment("p/f/b", declared=spec(layers=2))
PAPER_ONLY = experiment("p/g/large", profiles=("paper",))
COLUMNS = (
    "kind,id,place,statement,relation,published,aggregation,ours,ci_low,ci_high,n,seeds,profile,"
    "verdict,deviations,command,by,headline,counts_as,why,decide,frozen,"
    "scale,examples_low,examples_high,seeds_low,seeds_high,left,right,left_at,right_at"
)
EXCEEDS = {"check": "compare", "relation": ">", "right": ["p/f/b"], "threshold": 0.0}


def rows_of(entries, runs, of=(A, B, PAPER_ONLY), deviations=None):
    numbers = tuple(entry for entry in entries if not isinstance(entry, Claim))
    claims = tuple(entry for entry in entries if isinstance(entry, Claim))
    return compare.rows(Published(numbers, claims, deviations or {}, EVERY), both(of, runs))


def row_of(entry, *runs, **more):
    (row,) = rows_of([entry], runs, **more)
    return row


@pytest.mark.parametrize(
    ("entry", "made", "verdict"),
    [
        (claim(threshold=0.9), three(A, 1.0), "reproduced"),
        (claim(threshold=0.9), three(A, 0.5), "differs"),
        (claim(threshold=0.9), three(A, 0.9), "undecided"),
        (claim(threshold=0.5), three(A, 0.9, inside=0.9), "untested"),
        (claim(**EXCEEDS), three(A, 0.0) + three(B, 0.005), "floor"),
        (claim(threshold=0.9), [], "not run"),
        (number(), [run(A, 1.0, "paper", seed=k) for k in range(3)], "reproduced"),
        (number(), [run(A, 0.5, "paper", seed=k) for k in range(3)], "differs"),
        (number(), [run(A, 0.9, "paper", seed=k) for k in range(3)], "undecided"),
        (number(), [run(A, 1.0, "cpu")], "not comparable"),
        (number(), [], "not run"),
        (number(relation="<="), [run(A, 0.5, "paper", seed=k) for k in range(3)], "reproduced"),
        (number(relation="<="), [run(A, 1.0, "paper", seed=k) for k in range(3)], "differs"),
        (
            number(relation="=", value=1.0, tolerance=0.01),
            [run(A, 1.0, "paper", seed=k) for k in range(3)],
            "reproduced",
        ),
        (number(relation="=", value=0.5, tolerance=0.01), [run(A, 1.0, "paper", seed=k) for k in range(3)], "differs"),
        (number(relation="~", low=0.4, high=0.6), [run(A, 0.5, "paper", seed=k) for k in range(3)], "reproduced"),
        (number(kind="remark", remark="another device"), [run(A, 1.0, "paper")], "not comparable"),
    ],
)
def test_each_verdict_occurs(entry, made, verdict):
    assert row_of(entry, *made).verdict == verdict


def test_smoke_never_counts():
    of = experiment("p/f/a", profiles=("smoke", "cpu"))
    assert row_of(claim(threshold=0.9), run(of, 1.0, "smoke"), of=(of,)).verdict == "not run"


def test_a_claim_is_checked_at_cpu_size_and_at_paper_size_where_runs_exist():
    entry = claim(threshold=0.9)
    both_sizes = rows_of([entry], three(A, 1.0) + three(A, 0.0, "paper"))
    assert [(row.profile, row.verdict) for row in both_sizes] == [("cpu", "reproduced"), ("paper", "differs")]
    only_paper = rows_of([entry], three(A, 1.0, "paper"))
    assert [(row.profile, row.verdict) for row in only_paper] == [("paper", "reproduced")]
    (never,) = rows_of([entry], [])
    assert (never.profile, never.verdict, never.why) == ("cpu", "not run", "no cpu run of f/a")


def test_a_claim_without_a_cpu_size_is_asked_of_the_paper_profile_alone():
    entry = claim(left=["p/g/large"], threshold=0.9)
    missing = row_of(entry)
    assert (missing.profile, missing.verdict, missing.why) == ("paper", "not run", "no paper run of g/large")
    assert missing.command == "python -m reproduce run p/g/large --profile paper"
    assert row_of(entry, *three(PAPER_ONLY, 1.0, "paper")).verdict == "reproduced"


def test_a_night_stands_between_minutes_and_the_published_setting():
    a = experiment("p/f/a", profiles=("cpu", "night", "paper"))
    rows = rows_of([claim(threshold=0.9)], [run(a, 1.0), *three(a, 0.5, "night")], of=(a,))
    assert [(row.profile, row.verdict) for row in rows] == [("cpu", "undecided"), ("night", "differs")]
    assert score_card.decisive(rows)["c"].profile == "night"


def test_remarks_and_deviations_share_a_column_and_numbers_come_first():
    entry = claim(**EXCEEDS, deviations=["D3"])
    row = row_of(entry, run(A, 1.0), run(B, outside(0.02, 0.0)), deviations={"cpu": ("D1", "D3")})
    assert row.deviations == "D1 D3; f/a 100.0 % against f/b 0.0 %"
    assert row.why == ("whole response right at its longest trained length 3: 95.0 % is required; f/b 2.0 %")
    assert row.command == "python -m reproduce run p/f --profile cpu"
    assert row.aggregation.startswith("compare: whole response right, teacher-forced, cells outside")


def test_a_claim_says_what_to_know_and_what_was_measured_beside_it_or_that_nothing_was():
    asked = claim(threshold=0.5, remark="one layer", beside=["p/f/b"])
    runs = three(A, 0.9)
    assert row_of(asked, *runs).deviations == (
        "f/a 90.0 % (seeds 90.0 to 90.0); one layer; beside it nothing: no cpu run of f/b"
    )
    with_b = row_of(asked, *runs, *three(B, 0.2))
    assert with_b.deviations.endswith("; one layer; beside it f/b 20.0 % (seeds 20.0 to 20.0)")
    assert with_b.verdict == row_of(claim(threshold=0.5), *runs).verdict


def test_ours_of_a_comparison_is_the_difference_with_its_interval():
    row = row_of(claim(**EXCEEDS), run(A, 0.9), run(A, 0.8, seed=1), run(B, 0.1))
    assert row.ours == pytest.approx(0.75)
    assert row.ci_low < 0.75 < row.ci_high
    assert (row.seeds, row.n, row.published) == (1, 12 * N * 3, 0.0)


def test_an_interval_stands_apart_by_its_two_sources():
    """Wilson's over the examples, Student's over the seeds; together they add in squares."""
    rates = (0.6, 0.7, 0.8)
    made = [run(A, outside(1.0, rate), seed=seed) for seed, rate in enumerate(rates)]
    row = row_of(claim(threshold=0.5), *made)
    problems = 12 * N  # of the cells outside the trained range; every seed was asked the same ones
    assert row.n == 3 * problems
    assert (row.examples_low, row.examples_high) == pytest.approx(wilson(0.7 * problems, problems))
    half = 4.302653 * statistics.stdev(rates) / 3**0.5
    assert (row.seeds_low, row.seeds_high) == pytest.approx((0.7 - half, 0.7 + half), abs=1e-6)
    assert row.ci_high == pytest.approx(0.7 + math.hypot(row.examples_high - 0.7, half), abs=1e-6)
    assert row.scale == "share"


def test_a_single_seed_has_an_interval_over_examples_alone():
    row = row_of(claim(threshold=0.5), run(A, outside(1.0, 0.7)))
    assert (row.examples_low, row.examples_high) == (row.ci_low, row.ci_high) and row.seeds_low is None


def test_of_matched_measures_the_seeds_of_the_difference_count():
    """The same runs at two regions: what both seeds lose together is no spread of the difference."""
    rates = (0.5, 0.6, 0.7)
    made = [run(A, outside(rate + 0.2, rate), seed=seed) for seed, rate in enumerate(rates)]
    entry = claim(
        check="paired", relation=">", right=["p/f/a"], region="in_range", right_region="outside", learned={"why": "w"}
    )
    row = row_of(entry, *made)
    assert row.ours == pytest.approx(0.2) and row.scale == "difference of shares"
    assert (row.seeds_low, row.seeds_high) == pytest.approx((0.2, 0.2))
    assert row.examples_low < 0.2 < row.examples_high
    assert (row.ci_low, row.ci_high) == pytest.approx((row.examples_low, row.examples_high))


def test_a_value_of_one_length_says_which():
    """The longest tested length is another one in every task."""
    reaches = claim(threshold=0.5, region="longest")
    row = row_of(reaches, run(A, outside(1.0, 0.75)))
    assert (row.left_at, effects.compared(row)) == ("6", "75.0 % at length 6")
    assert answer([dataclasses.replace(row, headline=True, verdict="reproduced")]).endswith("(75.0 % at length 6).")
    longer = change(spec(), test={"lengths": (2, 3, 9)})
    other = experiment("p/f/b", declared=longer)
    both_tasks = claim(threshold=0.5, region="longest", left=["p/f/a", "p/f/b"])
    assert row_of(both_tasks, run(A, 0.75), run(other, 0.5), of=(A, other)).left_at == "6 or 9"
    falls = claim(check="compare", relation="<", right=["p/f/a"], region="longest", right_region="trained_length")
    falling, exceeding = row_of(falls, run(A, outside(1.0, 0.25))), claim(**EXCEEDS, region="longest")
    assert effects.compared(falling) == "25.0 % at length 6 against 100.0 % at length 3"
    assert effects.compared(row_of(exceeding, run(A, 0.5), run(B, 0.25))).endswith("% at length 6")
    assert row_of(claim(threshold=0.5), run(A, 1.0)).left_at == "", "many lengths"
    whole = claim(measure="parameters", region="longest", learned={"why": "w"})
    assert row_of(whole, run(A, 1.0)).left_at == "", "no length"


def test_what_is_no_share_is_on_no_scale():
    assert row_of(claim(measure="parameters", learned={"why": "w"}), run(A, 1.0)).scale == ""
    assert row_of(number(), run(A, 1.0, "paper")).scale == "share"
    assert row_of(number(kind="remark", remark="another device")).scale == ""


def test_a_number_that_a_paper_says_in_words_is_not_called_published():
    said = row_of(number(how_read="in words"), run(A, 1.0, "paper"))
    assert said.by == "required" and "| required >= 90.0 % |" in compare.to_markdown("p", [said])
    assert row_of(number(), run(A, 1.0, "paper")).by == ""


def test_a_number_is_the_smallest_cell_of_the_median_over_seeds():
    rates = [lambda n, m: 0.95 if (n, m) == (6, 6) else 1.0, lambda n, m: 0.0 if (n, m) == (2, 2) else 1.0, 1.0]
    row = row_of(number(), *(run(A, rate, "paper", seed=k) for k, rate in enumerate(rates)))
    assert (row.ours, row.verdict, row.n, row.seeds) == (1.0, "undecided", N, 3), "a seed has 0 there"
    row = row_of(number(), *(run(A, rates[0], "paper", seed=k) for k in range(3)))
    assert (row.ours, row.verdict) == (0.95, "reproduced")
    assert "at 6 x 6" in row.deviations
    mean = row_of(number(statistic="mean"), run(A, rates[0], "paper"))
    assert (mean.ours, mean.n) == (pytest.approx(1 - 0.05 / 16), 16 * N)


def test_fewer_seeds_than_published_are_said():
    assert "1 seed instead of 6" in row_of(number(seeds=6), run(A, 1.0, "paper")).deviations


def test_of_several_experiments_the_least_favourable_counts():
    entry = number(experiments=["p/f/a", "p/f/b"], relation="<=", value=0.05, lengths=[6, 6], counts=[6, 6])
    row = row_of(entry, *[run(A, 0.0, "paper", seed=k) for k in range(3)], *three(B, 0.5, "paper", inside=0.5))
    assert (row.verdict, row.ours) == ("differs", 0.5)
    assert "f/a 0.0 %; f/b 50.0 %" in row.deviations


def test_a_number_across_experiments_is_the_mean_or_deviation_of_one_value_per_run():
    made = [run(A, 1.0, "paper"), run(A, 0.5, "paper", seed=1), run(B, 0.0, "paper")]
    entry = {"experiments": ["p/f/a", "p/f/b"], "relation": "=", "value": 0.5, "tolerance": 0.9}
    mean, spread = (row_of(number(**entry, across=name), *made) for name in ("mean", "deviation"))
    assert (mean.ours, spread.ours) == (pytest.approx(0.5), pytest.approx(0.5))
    assert (mean.verdict, mean.n, mean.seeds, mean.deviations) == ("reproduced", 3, 1, "3 runs of 2 experiments")
    assert mean.aggregation == "mean over runs of all experiments (printed)"
    assert mean.ci_low < 0.5 < mean.ci_high
    assert row_of(number(**entry, across="mean"), *made[:2]).verdict == "not run"
    few = row_of(number(**entry | {"experiments": ["p/f/a"]}, across="deviation"), *made)
    assert (few.verdict, few.deviations) == ("not run", "2 runs; the sample deviation over runs needs 3")


def test_a_run_of_another_specification_is_no_run_of_the_published_setting():
    shorter = change(spec(), train={"steps": 5})
    row = row_of(number(), run(A, 1.0, "paper", made=shorter))
    assert (row.verdict, row.ours) == ("not comparable", 1.0)
    assert row.deviations.startswith("not the published setting: paper size, 1 run")
    checked = rows_of([claim(threshold=0.9)], [run(A, 1.0, made=shorter)])
    assert checked[0].deviations == "measured with an earlier specification"


def test_a_cell_that_was_not_tested_is_not_compared():
    entry = number(lengths=[30, 30], counts=[30, 30])
    at_paper, at_cpu = row_of(entry, run(A, 1.0, "paper")), row_of(entry, run(A, 1.0))
    assert (at_paper.verdict, at_cpu.verdict) == ("not run", "not comparable")
    assert at_paper.deviations == "f/a was not tested up to 30 x 30 at this profile"
    assert row_of(number(lengths=[1, 30]), run(A, 1.0, "paper")).verdict == "not run"


@pytest.mark.parametrize(
    ("field", "right", "wrong", "ours"),
    [
        ("train.batch", 4, 400, 4),
        ("train.lr", 1e-3, 2e-3, 1e-3),
        ("model.activation", "geglu", "relu", "geglu"),
        ("data.format.pad_query", True, False, True),
        ("data.position_ids.max_position.1", 9, 40, 9),
        ("data.position_ids.max_position.2", "absent", 64, "absent"),
        ("test.lengths.len", 4, 30, 4),
        ("test.lengths.last", 6, 30, 6),
        ("test.counts", [2, 3, 4, 6], [2], [2, 3, 4, 6]),
        ("seeds", 1, 6, 1),
        ("experiments", 1, 12, 1),
        ("parameters", 4 * 64 * 64 + 3 * 64 * 128, 63e6, 40960),
    ],
)
def test_a_setting_is_read_from_the_paper_specification_and_can_fail(field, right, wrong, ours):
    made = {"kind": "setting", "field": field, "relation": "="}
    assert row_of(number(**made, value=right)).verdict == "settings equal"
    row = row_of(number(**made, value=wrong))
    assert (row.verdict, row.ours, row.kind) == ("settings differ", ours, "number")
    assert row.command == "python -m reproduce show p/f/a"


def test_a_setting_at_least_and_within_a_tolerance():
    made = {"kind": "setting", "field": "train.steps"}
    assert row_of(number(**made, relation=">=", value=10)).verdict == "settings equal"
    assert row_of(number(**made, relation=">=", value=11)).verdict == "settings differ"
    assert row_of(number(**made, relation=">", value=10)).verdict == "settings differ"
    assert row_of(number(**made, relation=">", value=9)).verdict == "settings equal"
    assert row_of(number(**made, relation="<", value=10)).verdict == "settings differ"
    assert row_of(number(**made, relation="=", value=12, tolerance=2.0)).verdict == "settings equal"


def test_a_setting_of_one_experiment_out_of_many_is_named():
    row = row_of(number(kind="setting", field="model.layers", relation="=", value=1, experiments=["p/f/*"]))
    assert (row.verdict, row.ours, row.deviations) == ("settings differ", 2, "f/b has 2")
    absent = experiment("p/f/a", profiles=("cpu",))
    assert row_of(number(kind="setting", field="seeds", relation="=", value=1), of=(absent,)).verdict == "not run"


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("train.batches", "nearest: batch"),
        ("train.batch.0", "there is no setting 'train.batch.0'"),
        ("test.lengths.first", "expected an index, last or len"),
        ("data.task.digit", "nearest: digits"),
    ],
)
def test_a_setting_that_names_no_field_gets_one_sentence(field, message):
    entry = number(kind="setting", field=field, relation="=", value=1)
    with pytest.raises(PublishedError, match=f"number 'n': .*{message}"):
        row_of(entry)


def test_the_csv_has_the_columns_of_the_contract_and_equal_rows_give_equal_bytes():
    entries, made = [number(), claim(**EXCEEDS)], [run(A, 1.0), run(B, 1 / 3)]
    text = compare.to_csv(rows_of(entries, made))
    assert text.splitlines()[0] == COLUMNS == ",".join(compare.COLUMNS)
    assert text == compare.to_csv(rows_of(entries, made))
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["kind"], second["kind"], second["ours"]) == ("number", "claim", "0.6675")
    found = json.loads(compare.of_papers({"p": rows_of(entries, made)}, "json"))
    assert [(row["paper"], row["ours"]) for row in found] == [("p", 1.0), ("p", 0.6675)]


def test_markdown_shows_published_reference_and_yours():
    entries = [claim(**EXCEEDS), number(kind="setting", field="train.batch", relation="=", value=400)]
    reference = rows_of(entries, three(A, 0.9) + three(B, 0.1))
    yours = rows_of(entries, three(A, 0.1) + three(B, 0.9))
    text = compare.to_markdown("p", reference, yours, {"D1": "smaller, because"})
    assert "| required | reference | yours |" in text and "| required > 0.0 % |" in text
    assert "| all claims | 1 | 1 | 0 | 0 | 0 | 0 | 0 |" in text
    assert "**reproduced** 90.0 % against 10.0 % [" in text and "**differs** 10.0 % against 90.0 % [" in text
    assert "0 of 1 published hyper-parameters" in text and "- **D1** smaller, because" in text
    assert "Wilson" in text and "## What is open, and what would decide it\n\nNothing." in text
    assert "yours" not in compare.to_markdown("p", reference).lower()


@pytest.fixture
def made_paper(monkeypatch):
    """A catalogue with one paper whose runs are looked up by the name of the store."""
    runs = {"reference": three(A, 1.0), "local": three(A, 0.0), "empty": []}
    published = Published((), (claim(threshold=0.9),), {"cpu": ("D1",)})
    monkeypatch.setattr(compare, "_published", lambda paper: published)
    monkeypatch.setattr(CATALOGUE, "experiments", lambda paper: (A,))
    monkeypatch.setattr(CATALOGUE, "deviations", lambda paper: {"D1": "smaller"})
    monkeypatch.setattr(
        CATALOGUE, "declared_runs", lambda store, of, at: [r for r in runs[store.name] if r.profile == at]
    )
    return runs


def test_the_first_store_with_runs_speaks_for_an_experiment(made_paper, tmp_path):
    stores = {name: Store(tmp_path, name) for name in made_paper}

    def verdicts(*names):
        return [row.verdict for row in compare.compare("p", [stores[name] for name in names])]

    assert verdicts("reference") == ["reproduced"]
    assert verdicts("local", "reference") == ["differs"]
    assert verdicts("empty", "reference") == ["reproduced"]
    assert verdicts("empty") == verdicts() == ["not run"]


def test_save_writes_both_files_once(made_paper, tmp_path):
    stores = [Store(tmp_path, "reference"), Store(tmp_path, "local")]
    _, paths = compare.save("p", stores)
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        f"{store}/p/comparison.{kind}" for store in ("reference", "local") for kind in ("csv", "md")
    ]
    assert "yours" in paths[3].read_text() and "| yours |" not in paths[1].read_text()
    before = [path.stat().st_mtime_ns for path in paths]
    compare.save("p", stores)
    assert [path.stat().st_mtime_ns for path in paths] == before, "unchanged files are left alone"


def test_a_store_without_runs_gets_no_files(made_paper, tmp_path):
    found, paths = compare.save("p", [Store(tmp_path, "empty"), Store(tmp_path, "local")])
    assert len(found) == 2 and {path.parent.parent.name for path in paths} == {"local"}
    assert not (tmp_path / "empty").exists()


def test_a_deviation_that_is_not_listed_gets_one_sentence(made_paper, monkeypatch, tmp_path):
    monkeypatch.setattr(CATALOGUE, "deviations", lambda paper: {})
    with pytest.raises(PublishedError, match="there is no deviation D1"):
        compare.compare("p", [Store(tmp_path, "reference")])


def test_comparing_loads_no_torch_and_reading_what_papers_say_no_pandas():
    code = "import sys, {}; print(*sorted({{'torch', 'pandas', 'rich'}} & {{*sys.modules}}))"
    for module in ("reproduce.comparison.compare", "reproduce.comparison.published"):
        done = subprocess.run([sys.executable, "-c", code.format(module)], capture_output=True, text=True, check=True)
        assert not done.stdout.split(), module


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_an_experiment_of_ones_own_changes_no_claim(paper, monkeypatch):
    """Beside the first experiment of every figure, with its specification and its runs, but nothing right anywhere."""
    store, published = Reference(results_root()), compare._published(paper)
    monkeypatch.setattr(compare, "_published", lambda name: dataclasses.replace(published, numbers=()))
    before = compare.compare(paper, [store])
    declared, of_registry = CATALOGUE.declared_runs, CATALOGUE.experiments(paper)
    own = [
        dataclasses.replace(item, name=f"{item.name.rsplit('/', 1)[0]}/own")
        for item in {item.name.rsplit("/", 1)[0]: item for item in reversed(of_registry)}.values()
    ]

    def runs_of(store, item, profile):
        if not item.name.endswith("/own"):
            return declared(store, item, profile)
        twin = next(other for other in of_registry if other.specs is item.specs)
        wrong = [dataclasses.replace(run, grid=nothing_right(run.grid)) for run in declared(store, twin, profile)]
        return [dataclasses.replace(run, experiment=item.name) for run in wrong]

    monkeypatch.setattr(CATALOGUE, "experiments", lambda name=None: (*of_registry, *own))
    monkeypatch.setattr(CATALOGUE, "declared_runs", runs_of)
    assert compare.compare(paper, [store]) == before


def nothing_right(grid):
    scores = {
        cell: {mode: Counts(counts | {"correct": 0, "answer_correct": 0}) for mode, counts in modes.items()}
        for cell, modes in grid.scores.items()
    }
    return Grid(grid.axes, scores)

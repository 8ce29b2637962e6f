"""Records of a run, intervals of its counts, its processor, and what guessing would score."""

import math
import os
import platform

import msgspec
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import lengen
from lengen import Copy, DataSpec, Linear, NextLarger, NoPositionIds, PairAddition, Parity, Spec, replace, this_machine
from lengen.callbacks.blind_baseline import EXAMPLES, Chance, chance, trained_examples
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.task_data import TaskData, targets
from lengen.decoding.decoding import true_responses
from lengen.formats.base import END
from lengen.results.progress import silent
from lengen.results.records import (
    METRIC_COLUMNS,
    MODES,
    Counts,
    Grid,
    KeyCount,
    RecordError,
    key_counts_from_csv,
    key_counts_to_csv,
    metrics_from_csv,
    to_table,
    wilson,
)
from lengen.this_machine import Machine, read_cpuinfo
from lengen.training.model_building import model_for
from tests.fixtures.refusals import refused
from tests.fixtures.runs import counted
from tests.fixtures.settings import TEST, spec
from tests.lengen.test_execute import SPEC, run

whole = st.integers(0, 10**12)
five = st.tuples(whole, whole, whole, whole, whole).map(
    lambda v: counted(v[0], min(v[0], v[1]), min(v[0], v[2]), v[3], v[4])
)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
any_counts = st.dictionaries(names, whole | st.floats(allow_nan=False, allow_infinity=False), min_size=1).map(Counts)
LONG = "length,count,mode,name,value\n"
XEON = """\
processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R) Platinum 8488C
flags\t\t: fpu sse4_2 amx_bf16 fma avx2 avx512f avx512_bf16 amx_tile avx512_fp16x

processor\t: 1
model name\t: another
flags\t\t: fpu
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm bf16 sve\nCPU part\t: 0xd40\n"
WRITTEN = lengen.TrainSpec(steps=100, batch=50, bucket=8, lr=1e-3)
tested = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@st.composite
def grids(draw, axes=None, score=any_counts):
    axes = axes or draw(st.sampled_from([("length",), ("length", "count")]))
    grid = Grid(axes)
    cells = draw(st.lists(st.tuples(*[st.integers(1, 40)] * len(axes)), min_size=1, max_size=6, unique=True))
    for cell in cells:
        for mode in draw(st.sets(st.sampled_from(MODES), min_size=1)):
            grid.add(cell, mode, draw(score))
    return grid


@given(grids())
def test_a_grid_survives_its_csv(grid):
    text = grid.to_csv()
    assert Grid.from_csv(text) == grid and Grid.from_csv(text).to_csv() == text
    assert "\r" not in text


@given(*[grids(("length",), five)] * 3)
def test_adding_up_has_no_order_and_totals_are_sums(a, b, c):
    def added(*some):
        grid = Grid(("length",))
        for part in some:
            for cell, modes in part.scores.items():
                for mode, counts in modes.items():
                    grid.add(cell, mode, counts)
        return grid

    assert added(a) == a and added(a, b) == added(b, a)
    assert added(added(a, b), c) == added(a, added(b, c))
    cells = set(a.scores) | set(b.scores)
    for mode in MODES:
        parts = [total for grid in (a, b) if (total := grid.total(cells, mode))]
        assert added(a, b).total(cells, mode) == (sum(parts[1:], parts[0]) if parts else {})


def test_totals_rates_and_sums_are_of_what_was_counted():
    grid = Grid(("length",))
    grid.add((3,), "teacher_forced", counted(5, 1, 2, 3, 4))
    assert grid.total([(3,), (4,)], "teacher_forced") == counted(5, 1, 2, 3, 4)
    assert grid.total([(3,)], "free_running") == {}
    assert Counts(n=4, correct=1).rate("correct") == 0.25
    assert math.isnan(Counts(n=4).rate("correct")) and math.isnan(Counts(n=0, correct=0).rate("correct"))
    assert math.isnan(Counts().rate("correct"))
    assert Counts(n=5, correct=1) + Counts(n=3, hops=2) == Counts(n=8), "what both counted"
    grid = Grid(("length", "count"))
    for cell in [(10, 2), (2, 10), (2, 3)]:
        for mode in MODES:
            grid.add(cell, mode, Counts(n=5, correct=1, hops=2.5))
    lines = grid.to_csv().splitlines()
    assert lines[:3] == ["length,count,mode,name,value", "2,3,free_running,correct,1", "2,3,free_running,hops,2.5"]
    assert lines[3] == "2,3,free_running,n,5" and lines[-1] == "10,2,teacher_forced,n,5"
    curve = Grid(("length",))
    curve.add((7,), "sampled", Counts(n=5))
    assert curve.to_csv() == "length,count,mode,name,value\n7,,sampled,n,5\n"


@pytest.mark.parametrize(("text", "message"), [
    ("", "line 1: expected columns"), ("a,b\n", "line 1: expected columns"),
    (LONG.replace("mode", "made"), "line 1: expected columns"), (LONG + "\n", "line 2"),
    (LONG + '3,"' + "x" * 200_000, "expected"), (LONG + "x,4,teacher_forced,n,5\n", "line 2"),
    (LONG + "3,4,teacher_forced,n\n", "line 2: expected a length, a count, a mode, a new name and a number"),
    (LONG + "3,,teacher_forced,n,x\n", "line 2: expected a length, a mode, a new name and a number"),
    (LONG + "3,4,teacher_forced,n,5\n3,,teacher_forced,n,5\n", "line 3"),
    (LONG + "3,4,teacher_forced,n,5\n3,4,teacher_forced,n,5\n", "line 3"), (LONG + "3,4,guessed,n,5\n", "line 2"),
    (LONG + "3,4,teacher_forced,n,nan\n", "line 2"), (LONG + "3,4,teacher_forced,,5\n", "line 2"),
], ids=range(13))  # fmt: skip
def test_a_corrupted_grid_gets_one_sentence(text, message):
    with pytest.raises(RecordError) as caught:
        Grid.from_csv(text)
    assert message in str(caught.value) and "\n" not in str(caught.value) and isinstance(caught.value, ValueError)


@given(st.lists(st.tuples(whole, names, st.floats(allow_nan=False)), max_size=4))
def test_metrics_survive_and_a_file_cut_short_keeps_its_whole_lines(rows):
    text = to_table(METRIC_COLUMNS, rows)
    assert list(metrics_from_csv(text)) == rows
    cut = text + "12,train_lo"
    assert list(metrics_from_csv(cut, cut_short=True)) == rows
    refused(RecordError, f"line {len(rows) + 2}: expected a step, a name and a number", metrics_from_csv, cut)
    refused(RecordError, "line 1: expected columns step,name,value", metrics_from_csv, "")


@given(st.lists(st.builds(KeyCount, *[st.integers(0, 10**9)] * 6)))
def test_key_counts_survive_their_csv(rows):
    assert key_counts_from_csv(key_counts_to_csv(rows)) == sorted(rows)


@pytest.mark.parametrize(("text", "message"), [
    ("", "line 1: expected columns length,count,layer,head,steps,keys_sum"),
    ("length,count\n", "line 1: expected columns"),
    ("length,count,layer,head,steps,keys_sum\n1,2,3\n", "expected 6 whole numbers"),
    ("length,count,layer,head,steps,keys_sum\n1,2,3,4,5,x\n", "expected 6 whole numbers"),
])  # fmt: skip
def test_corrupted_key_counts_get_one_sentence(text, message):
    refused(RecordError, message, key_counts_from_csv, text)


def test_what_linux_says_of_the_first_processor_is_read_else_the_platform_is_asked(tmp_path, monkeypatch):
    assert read_cpuinfo(XEON) == (
        "Intel(R) Xeon(R) Platinum 8488C",
        ("avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16"),
    )
    assert read_cpuinfo(ARM) == ("", ("asimd", "bf16", "sve"))
    assert read_cpuinfo("") == ("", ())
    (tmp_path / "cpuinfo").write_text(XEON)
    monkeypatch.setattr(this_machine, "CPUINFO", tmp_path / "cpuinfo")
    assert this_machine.machine().model.endswith("8488C") and "amx_bf16" in str(this_machine.machine())
    monkeypatch.setattr(this_machine, "CPUINFO", tmp_path / "none")
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    found = this_machine.machine()
    assert found == Machine("riscv64", (), os.cpu_count())
    assert str(found) == f"riscv64, {os.cpu_count()} cores (instruction sets unknown)"


def setting(task, width: int = 0, **train) -> Spec:
    data = DataSpec(task=task, format=Linear(width=width), position_ids=NoPositionIds())
    return spec(data, replace(WRITTEN, **train), replace(TEST, lengths=(3,)), encoding="none")


SETTINGS = {
    "parity": (setting(Parity(8)), math.log(2) / 2),
    "addition": (setting(PairAddition(digits=3), width=4), 1.37),
    "copy": (setting(Copy(8)), math.log(10) * 4.5 / 5.5),
    "all tokens": (setting(NextLarger(longest=20, alphabet=100), loss="all"), 2.2),
}
"""Settings, and what is lost per token by who knows the places alone."""


class Told:
    def __init__(self, spec: Spec, logits) -> None:
        self.spec, self.device, self.logits = spec.model, torch.device("cpu"), logits

    def eval(self):
        return self

    def predict(self, batch: Batch) -> torch.Tensor:
        return self.logits(batch)


def asked(spec: Spec, logits) -> dict[str, object]:
    measured = Chance()
    measured.measure(Told(spec, logits), TaskData(spec, 0), silent)
    return measured.info


def frequencies(spec: Spec) -> torch.Tensor:
    """(R, V) how often each token stands at each place of the response in other examples of the same setting."""
    found = torch.zeros(40, 260)
    for batch in trained_examples(TaskData(spec, 1)):
        responses, sizes = true_responses(batch), batch.loss.sum(dim=1)
        for row, size in zip(responses.tolist(), sizes.tolist(), strict=True):
            for place, token in enumerate(row[:size]):
                found[place, token] += 1
    return found


def true_tokens(batch: Batch) -> torch.Tensor:
    return torch.nn.functional.one_hot(batch.tokens[:, 1:], 260).float()


def by_place(spec: Spec, told: bool):
    """Logits of a model that knows the places alone, and where responses end where it is ``told``."""
    seen = (frequencies(spec) + 1e-3).log()
    if told:
        seen[:, END] = -100.0

    def logits(batch: Batch) -> torch.Tensor:
        start = batch.loss.int().argmax(dim=1, keepdim=True)
        place = (torch.arange(1, batch.tokens.shape[1]) - start).clamp(min=0)
        found = seen[place]
        end = (batch.tokens[:, 1:] == END)[:, :, None] & told
        return torch.where(end, 100.0 * true_tokens(batch), found)

    return logits


@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_that_learned_where_tokens_stand_is_flagged(name):
    setting, expected = SETTINGS[name]
    batches = trained_examples(TaskData(setting, 0))
    assert EXAMPLES <= sum(len(batch.tokens) for batch in batches) < 2 * EXAMPLES
    least = chance(batches)
    assert least == pytest.approx(expected, rel=0.06)
    for told in (True, False):
        found = asked(setting, by_place(setting, told))
        assert found["never_left_chance"]["chance"] == pytest.approx(least)
        assert found["never_left_chance"]["loss"] > least
        (note,) = found["notes"]
        assert note.startswith("it never left chance") and "\n" not in note
    assert found["never_left_chance"]["loss"] < 1.35 * least + 0.2, "and it knows all it can know of the places"


@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_that_learned_a_part_is_not_flagged(name):
    """It knows each token half as well as the best, or all tokens of a tenth of the examples and the places."""
    setting, _ = SETTINGS[name]
    places = by_place(setting, told=True)

    def some(batch: Batch) -> torch.Tensor:
        known = (torch.arange(len(batch.tokens)) % 10 == 0)[:, None, None]
        return torch.where(known, 100.0 * true_tokens(batch), places(batch))

    for logits in (lambda batch: 100.0 * true_tokens(batch), some):
        assert asked(setting, logits) == {}


def test_chance_is_asked_of_responses_of_trained_examples_whatever_the_loss_is_of():
    """A perfect model still loses what nobody can know of a query."""
    one, whole = SETTINGS["all tokens"][0], replace(SETTINGS["all tokens"][0], train={"loss": "response"})
    data, other = TaskData(one, 0), TaskData(whole, 0)
    asked = trained_examples(data)
    for few, same in zip(asked, trained_examples(other), strict=True):
        assert torch.equal(few.tokens, same.tokens) and torch.equal(few.loss, same.loss)
    trained = [data.batch(step) for step in range(8)]
    rows = {tuple(row) for batch in asked for row in batch.tokens.tolist()}
    assert all(tuple(row) in rows for batch in trained for row in batch.tokens.tolist())
    assert all(torch.equal(targets(few, "response"), few.loss) for few in asked)
    untrained = replace(SPEC, train={"steps": 0})
    data = TaskData(untrained, 0)
    measured = Chance()
    measured.measure(model_for(data, 0), data, silent)
    assert measured.info == {}
    trained = TaskData(SPEC, 0)
    measured.measure(model_for(trained, 0), trained, silent)
    assert measured.info
    rows = torch.tensor([[5, 7, END, 0], [5, 8, END, 0], [5, END, 0, 0]])
    batch = Batch(torch.cat([torch.full((3, 1), 9), rows], 1), torch.zeros(0, 1, 5), torch.zeros(3, 5) > 0)
    batch = batch._replace(loss=torch.cat([torch.zeros(3, 1) > 0, rows > 0], 1))
    assert chance([batch]) == pytest.approx(2 * math.log(2) / 8)
    assert chance([batch, batch]) == pytest.approx(chance([batch]))


def test_a_run_that_did_not_train_is_flagged_and_one_that_did_is_not(tmp_path):
    """A learning rate of nothing leaves the weights as they were drawn."""
    frozen = run(tmp_path / "frozen", replace(SPEC, train={"lr": 1e-12})).info
    assert frozen["never_left_chance"]["loss"] > frozen["never_left_chance"]["chance"] > 0
    (note,) = frozen["notes"]
    assert note.startswith("it never left chance")
    quick = replace(TEST, lengths=(1,), counts=(1,), examples=8)
    same = replace(setting(Parity(1), steps=60, batch=32, bucket=1, lr=1e-2, warmup=0.0), model={"layers": 1})
    learned = run(tmp_path / "learned", msgspec.structs.replace(same, test=quick)).info
    assert "never_left_chance" not in learned and "notes" not in learned


@given(tested)
@example((500, 1000))
@example((1, 870_000))
def test_wilson_agrees_with_scipy_within_zero_and_one(pair):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(*pair).proportion_ci(0.95, method="wilson")
    assert wilson(*pair, z=stats.norm.ppf(0.975)) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(*pair) == pytest.approx((expected.low, expected.high), abs=1e-5)
    low, high = wilson(*pair)
    assert 0 <= low <= pair[0] / pair[1] <= high <= 1


@pytest.mark.parametrize(("correct", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_counts_that_are_no_counts_are_refused(correct, n):
    refused(ValueError, "expected a count between 0 and n", wilson, correct, n)


def test_a_million_examples_do_not_lose_the_ends():
    assert wilson(10**6, 10**6).high == 1.0
    assert wilson(0, 10**6).low == 0.0
    assert math.isclose(wilson(10**6, 10**6).low, 1 - 1.96**2 / (10**6 + 1.96**2))

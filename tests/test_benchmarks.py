"""The benchmarks at their smallest: every name, one schema, a file another tool can read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import __main__ as bench
from benchmarks import speed
from benchmarks.timing import SPREAD, entry, exponent
from tests.fixtures.refusals import refused

NAMES = {
    "data_examples_per_second", "data_examples_per_second_thesis", "verify_vs_cached_decoding",
    "verify_vs_uncached_decoding", "encoder_decoder_verify_vs_cached", "scaling_verify", "scaling_cached",
    "scaling_uncached", "trainer_vs_bare_loop", "encoder_decoder_trainer_vs_bare_loop", "data_share_of_step",
    "parameters", "edit_distance_vs_torchmetrics", "calibration_vs_loop", "calibration_milliseconds", "machine",
}  # fmt: skip
WHAT = "exact match of ten operands of ten digits, ninety-six examples at once, beside greedy decoding with a cache"
RATIOS = st.lists(st.floats(0.01, 100), min_size=2, max_size=40)


@pytest.fixture(autouse=True)
def small_model(monkeypatch):
    for name in ("SPEC", "ENCODER_DECODER"):
        small = getattr(speed, name).override("train.batch=2", "train.bucket=2", "model.width=16")
        monkeypatch.setattr(speed, name, small)
    monkeypatch.setattr(speed, "PUBLISHED_LENGTH", 5)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


def test_every_entry_has_one_schema_and_stands_in_the_file_that_was_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bench.main(["--out", "found/"], speed.TINY)
    (path,) = tmp_path.glob("**/*.json")
    assert path == tmp_path / "found" / f"{bench.file_name()}.json"
    entries = json.loads(path.read_text())
    assert {measured["name"] for measured in entries} == NAMES
    assert len(entries) == len(NAMES)
    for measured in entries:
        assert list(measured) == ["name", "what", "value", "unit", "against", "low", "high", "command"]
        assert isinstance(measured["value"], int | float)
        assert measured["value"] > 0 or measured["name"].startswith("scaling_")
        assert measured["low"] <= measured["value"] <= measured["high"]
    commands = {measured["name"]: measured["command"] for measured in entries}
    assert commands["calibration_vs_loop"] == "make bench ONLY=calibration"
    shown = capsys.readouterr().out
    assert "measuring decoding" in shown and max(map(len, shown.splitlines()[-60:])) <= 180


@pytest.mark.parametrize("columns", ["80", "180"])
def test_a_table_that_is_piped_has_whole_words_and_columns(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(
        bench, "BENCHMARKS", {"x": lambda sizes: [entry("a_long_name_of_a_ratio", WHAT, [2.5, 3], "x")]}
    )
    bench.measure(["x"], speed.TINY)
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line.split() for line in lines if line.startswith("a_long_name"))
    assert row == ["a_long_name_of_a_ratio", "2.75", "2.55", "to", "2.95", "x"]
    assert max(map(len, lines)) <= int(columns) and len(lines) < 12, "no word a line"


def test_one_benchmark_alone_is_measured_and_an_unknown_one_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bench.main(["--only", "calibration"], speed.TINY)
    shown = capsys.readouterr().out
    assert "measuring calibration" in shown and "measuring data" not in shown
    assert list(tmp_path.rglob("*")) == [], "nothing is written unasked"
    refused(SystemExit, "2", bench.main, ["--only", "knitting"], speed.TINY)
    said = capsys.readouterr().err
    assert all(name in said for name in bench.BENCHMARKS)


def test_every_way_of_decoding_does_equal_work_to_the_full_length():
    """The endless model writes the full length, and both ways of decoding write the same."""
    data, model = speed.ArithmeticData(speed.SPEC, 0), speed.endless(speed.SPEC)
    slow = speed.uncached(model, data, (3, 3), 4)
    assert slow.shape[1] == int(data.writer.write(data.test(3, 3, 4)).loss[0].sum())
    assert (slow != speed.END).all()
    assert (speed.generate(model, data.writer, data.test(3, 3, 4)) == slow).all()
    data, model = speed.ArithmeticData(speed.ENCODER_DECODER, 0), speed.endless(speed.ENCODER_DECODER)
    written = speed.generate(model, data.writer, data.test(3, 2, 4))
    assert written.shape == (4, 13) and (written != speed.END).all()
    assert (model.spec.encoder_layers, model.spec.layers) == (1, 1)


def test_results_that_cannot_be_written_end_with_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("a file where a folder should be")
    monkeypatch.setattr(bench, "measure", lambda *_: [])
    refused(SystemExit, "2", bench.main, ["--out", str(tmp_path / "file" / "speed.json")], speed.TINY)
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@given(RATIOS)
def test_a_spread_holds_its_median_and_lies_within_what_was_measured(values):
    found = entry("name", "what", values, "ms")
    assert min(values) <= found.low <= found.value <= found.high <= max(values) or np.ptp(values) < 1e-9
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(values, SPREAD)))


@given(st.floats(-1, 3), st.floats(0.1, 10), st.lists(st.integers(1, 500), min_size=2, max_size=6, unique=True))
def test_the_exponent_of_a_power_law_is_found(power, factor, sizes):
    assert exponent(sizes, [factor * size**power for size in sizes]) == pytest.approx(power, abs=1e-6)

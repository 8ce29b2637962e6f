"""The bench at its smallest: every name, one schema, a file another tool can read."""

import json
from pathlib import Path

import pytest

from reproduce.bench import __main__ as bench
from reproduce.bench import speed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "data_examples_per_second",
    "data_examples_per_second_thesis",
    "verify_vs_cached_decoding",
    "verify_vs_uncached_decoding",
    "encoder_decoder_verify_vs_cached",
    "scaling_verify",
    "scaling_cached",
    "scaling_uncached",
    "trainer_vs_bare_loop",
    "encoder_decoder_trainer_vs_bare_loop",
    "data_share_of_step",
    "parameters",
    "edit_distance_vs_torchmetrics",
    "calibration_vs_loop",
    "calibration_milliseconds",
    "machine",
}


@pytest.fixture(autouse=True)
def small_model(monkeypatch):
    for name in ("SPEC", "ENCODER_DECODER"):
        small = getattr(speed, name).override("train.batch=2", "train.bucket=2", "model.width=16")
        monkeypatch.setattr(speed, name, small)
    monkeypatch.setattr(speed, "PUBLISHED_LENGTH", 5)


def test_every_entry_has_one_schema_and_stands_in_the_file_that_was_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.chdir(tmp_path)
    assert bench.main(["--out", "found/"], tiny=True) == 0
    (path,) = tmp_path.glob("**/*.json")
    assert path == tmp_path / "found" / f"{bench.file_name()}.json"
    entries = json.loads(path.read_text())
    assert {entry["name"] for entry in entries} == NAMES
    assert len(entries) == len(NAMES)
    for entry in entries:
        assert list(entry) == ["name", "what", "value", "unit", "against", "low", "high", "command"]
        assert isinstance(entry["value"], int | float)
        assert entry["value"] > 0 or entry["name"].startswith("scaling_")
        assert entry["low"] <= entry["value"] <= entry["high"]
    commands = {entry["name"]: entry["command"] for entry in entries}
    assert commands["calibration_vs_loop"] == "python -m reproduce.bench --only calibration"
    assert "measuring decoding" in capsys.readouterr().out


def test_help_measures_nothing_and_nothing_is_written_unasked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "measure", lambda *_: pytest.fail("it measured"))
    assert bench.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--only NAME", "--out FILE"))
    monkeypatch.setattr(bench, "measure", lambda *_: [])
    assert bench.main([], tiny=True) == 0
    assert list(tmp_path.rglob("*")) == []


def test_one_benchmark_alone_is_measured_and_an_unknown_one_is_refused(monkeypatch, capsys):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert bench.main(["--only", "calibration"], tiny=True) == 0
    shown = capsys.readouterr().out
    assert "measuring calibration" in shown and "measuring data" not in shown
    assert bench.main(["--only", "knitting"], tiny=True) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "one of: data, decoding, training, edit-distance, calibration, writing" in said


def test_every_way_of_decoding_does_equal_work():
    """The endless model writes the full length, and both ways of decoding write the same."""
    data, model = speed.ArithmeticData(speed.SPEC, 0), speed.endless(speed.SPEC)
    slow = speed.uncached(model, data, (3, 3), 4)
    assert slow.shape[1] == int(data.writer.write(data.test(3, 3, 4)).loss[0].sum())
    assert (slow != speed.END).all()
    assert (speed.write(model, data.writer, data.test(3, 3, 4)) == slow).all()


def test_an_endless_encoder_decoder_writes_the_full_length_too():
    data, model = speed.ArithmeticData(speed.ENCODER_DECODER, 0), speed.endless(speed.ENCODER_DECODER)
    written = speed.write(model, data.writer, data.test(3, 2, 4))
    assert written.shape == (4, 13) and (written != speed.END).all()
    assert (model.spec.encoder_layers, model.spec.layers) == (1, 1)


def test_results_that_cannot_be_written_end_with_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("a file where a folder should be")
    monkeypatch.setattr(bench, "measure", lambda *_: [])
    assert bench.main(["--out", str(tmp_path / "file" / "speed.json")], tiny=True) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1

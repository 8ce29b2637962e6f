"""What a terminal and a logger are told."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from lightning.pytorch.loggers.logger import Logger

from lengen import solve as show
from lengen.callbacks.loggers import EXTRAS
from papers.coupling.theorem_spec import theorem
from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from reproduce.commands import command_table
from reproduce.comparison.compare import compare
from reproduce.comparison.published_values import MET
from reproduce.pages import listing, terminal
from reproduce.runs.display import PATIENCE, QUIET, counter, waiting
from reproduce.store.checkout import stores
from reproduce.store.reference import Reference
from reproduce.store.store import LOGGERS, LocalStore

RUN = "bias_calibration/table1/successor-abc"
"""A run with two trainings."""


@pytest.mark.slow
@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_what_show_prints_of_a_field_sets_it(paper, capsys):
    """One experiment of every figure, at every profile: the value under a profile, given to --set, changes nothing.

    Every value is given once.
    """
    firsts, typed = {item.figure: item for item in reversed(CATALOGUE.experiments(paper))}.values(), set()
    for item in firsts:
        for spec in item.specs.values():
            fields = listing.fields("", [spec.to_dict()])
            assert {"data.task", "data.format", "model.encoding", "test.lengths"} <= {path for path, _ in fields}
            for word in {f"{path}={value}" for path, value in fields} - typed:
                typed.add(word)
                assert spec.override(word) == spec, f"{item.name}: {word}"


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["bias_calibration", "random_spaces", "task_hinting"])
def test_a_comparison_is_three_screens_and_has_every_value_when_asked(paper, monkeypatch, reproduce):
    monkeypatch.setenv("COLUMNS", "80")
    found = compare(paper, stores()[:1])
    for words, beside in (((), [line for line in found.beside if abs(line.points) > MET]), (("--all",), found.beside)):
        lines = reproduce(["compare", paper, *words]).out.splitlines()
        for line in beside:
            name = line.name.partition(" ")[0]
            assert any(shown.startswith(f"{name} ") and f" {line.value.printed} " in shown for shown in lines)
        assert words or len(lines) <= 72


def rows_of(capsys, *arguments):
    assert main(list(arguments)) == 0
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_show_has_what_differs_from_the_default_and_a_list_as_the_range_that_sets_it(capsys):
    rows = rows_of(capsys, "show", "coupling/fig1/coupling-scratchpad")
    assert ["test.lengths", "[1,2,3]", "1..7,9", "1..7,9", "1..30"] in rows
    assert ["data.task", "addition"] in rows, "what all sizes share stands there once"
    assert main(["run", "coupling/fig1/coupling-scratchpad", "--dry-run", "--set", "test.lengths=1..4"]) == 0
    spec = CATALOGUE.select_one("coupling/fig1/coupling-scratchpad").specs["cpu"]
    assert spec.override("test.lengths=1..4").test.lengths == (1, 2, 3, 4)
    assert spec.override("test.lengths=5..20 by 5").test.lengths == (5, 10, 15, 20)
    assert spec.override("test.lengths=1..7,9").test.lengths == (1, 2, 3, 4, 5, 6, 7, 9)
    item = CATALOGUE.select_one("coupling/fig1/coupling-scratchpad")
    short = {row[0] for row in rows_of(capsys, "show", item.name) if row}
    full = {row[0] for row in rows_of(capsys, "show", item.name, "--full") if row}
    assert {"data.task", "data.format.scratchpad", "train.steps", "model.tied"} <= short
    assert item.specs["paper"].model.dropout == 0.0 and not {"model.dropout", "data.format.begin", "hash"} & short
    settings = {name for name in short if name.startswith(("data.", "model.", "train.", "test."))}
    assert {"model.dropout", "data.format.begin", "hash"} | settings <= full


@pytest.mark.slow
def test_show_fits_into_eighty_columns(capsys, reproduce, monkeypatch):
    """One experiment of every figure: lists break behind a comma, and stand unbroken where there is room."""
    monkeypatch.setenv("COLUMNS", "80")
    for item in {(item.paper, item.figure): item for item in CATALOGUE.experiments()}.values():
        assert max(map(len, reproduce(["show", item.name]).out.splitlines())) <= 80, item.name
    rows = rows_of(capsys, "show", "coupling/fig3/nope-plain")
    lengths = ["5..20", "by", "5,21,"]
    assert ["test.lengths", "[1,2,3]", *lengths, *lengths, "5..100", "by", "5"] in rows
    monkeypatch.setenv("COLUMNS", "180")
    lengths = ["5..20", "by", "5,21,25,30..100", "by", "5"]
    assert ["test.lengths", "[1,2,3]", *lengths, *lengths, "5..100", "by", "5"] in rows_of(
        capsys, "show", "coupling/fig3/nope-plain"
    )


def test_show_and_compare_say_what_is_there_and_explain_no_mark_that_they_lack(capsys, reproduce):
    refused = next(item for item in CATALOGUE.experiments("matrix") if not item.specs)
    said = reproduce(["show", refused.name]).out
    assert "not run: " in said and "estimated" not in said and "default" not in said
    assert main(["show", "task_hinting/table1/standard"]) == 0
    assert "those of task_hinting/fig3.2/160m, which has the same setting" in " ".join(capsys.readouterr().out.split())
    said = reproduce("compare coupling/fig3").out
    assert "1 holds of 1 statement\n" in said and "reworded" not in said


def test_problems_and_probes_go_on_below_or_show_fewer_where_a_line_is_full():
    encoded = {"tokens": [*"$12+345="], "position_ids": [[0, 10, 9, 0, 11, 10, 9, 0]]}
    whole = terminal.aligned(encoded)
    assert whole.splitlines() == ["tokens  $  1 2 +  3  4 5 =", "ids     0 10 9 0 11 10 9 0"]
    assert terminal.aligned(encoded, 26) == whole
    assert terminal.aligned(encoded, 17).split("\n\n") == [
        "tokens  $  1 2 +\nids     0 10 9 0",
        "tokens   3  4 5 =\nids     11 10 9 0",
    ]
    encoder = np.zeros((1, 2, 1, 4), dtype=np.float16)
    encoder[0, 0, 0], encoder[0, 1, 0] = [0, 3, -5, 1], [2, 0, 1, 0]
    found = {"tokens": np.array(["9"]), "vocabulary": np.array([*"abcd"]), "encoder": encoder, "decoder": -encoder}
    lines = terminal.projections(found, most=2).splitlines()
    assert lines[1].split() == ["0", "9", "1", "before", "b", "3.00", "d", "1.00", "c", "5.00", "a", "-0.00"]
    values = np.ones((1, 2, 1, 4))
    found = {"tokens": np.array(["9"]), "vocabulary": np.array([*"abcd"]), "encoder": values, "decoder": values}
    lines = terminal.projections(found, limit=62).splitlines()
    assert max(map(len, lines)) <= 62 < max(map(len, terminal.projections(found).splitlines()))
    rows = listing.fields("model.tempered", [None, {"form": "fixed", "of": "position"}])
    assert rows == [
        ["model.tempered", "none", ""], ["model.tempered.form", "", "fixed"], ["model.tempered.of", "", "position"],
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [1, 20, 40])
def test_a_column_of_names_is_never_narrower_than_a_word(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    table = terminal.table("variant", ("time", "right"), "what was found, in a column that is wide")
    table.add_row(terminal.entry("toy/fig3/coupling-scratchpad", "a claim on it"), "7 min", "it holds at every size")
    terminal.show(table)
    first = [
        line[: line.index("  ")] if "  " in line.strip() else line for line in capsys.readouterr().out.splitlines()
    ]
    assert max(map(len, first)) >= len("coupling-scratchpad") and "".join(first[1:3]).startswith("toy/fig3/coupling-")
    assert terminal.width() >= terminal.NARROWEST


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(stream: io.StringIO, times: list[float], most: int = 4) -> str:
    clock = [0.0]
    report = counter("tokens written", stream, lambda: clock[0])
    for done, clock[0] in enumerate(times):
        report(done, most)
    return stream.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_short_answers_are_silent(stream):
    assert told(stream(), [0.1 * PATIENCE] * 3) == ""


def test_solve_tells_of_every_token_in_one_line_of_a_terminal_or_now_and_then():
    text = told(Terminal(), [10.0, 20.0, 30.0, 40.0])
    assert text.count("\n") == 0
    assert text.startswith("\r0 of at most 4 tokens written")
    assert text.endswith("\r\x1b[K")
    lines = told(io.StringIO(), [PATIENCE + 1, PATIENCE + 1.1, PATIENCE + 2 * QUIET]).splitlines()
    assert lines == ["0 of at most 4 tokens written", "2 of at most 4 tokens written"]
    seen = []
    spec = theorem(3, 2, lengths=(2,), counts=(3,))
    found = show.solve(spec, None, ["57", "48", "96"], report=lambda done, most: seen.append((done, most)))
    assert seen == [(slot, len(str(found["output"]))) for slot in range(16)]


def test_what_takes_seconds_is_said_on_a_terminal_alone_and_cleared(monkeypatch):
    for stream, expected in ((Terminal(), "loading torch ...\r\x1b[K"), (io.StringIO(), "")):
        monkeypatch.setattr("sys.stderr", stream)
        with waiting("loading torch"):
            pass
        assert stream.getvalue() == expected


class Board(Logger):
    """A logger of another package, which writes what it is given into one file."""

    version = 0

    def __init__(self, save_dir: str, name: str) -> None:
        super().__init__()
        self.file, self._name = Path(save_dir) / "board.txt", name

    @property
    def name(self) -> str:
        return self._name

    def log_hyperparams(self, params, *args):
        """Nothing."""

    def log_metrics(self, metrics, step=None):
        with self.file.open("a") as file:
            file.writelines(f"{self._name} {name}\n" for name in metrics)


def made(monkeypatch, root: Path, *options: str) -> tuple[Path, dict]:
    """The folder and run.json of a small run into an empty results folder."""
    monkeypatch.setenv("LENGEN_RESULTS", str(root))
    assert main(["run", RUN, "--profile", "smoke", "--jobs", "1", *options]) == 0
    (run,) = LocalStore(root).runs()
    return LocalStore(root).folder(run), dict(run.info)


@pytest.mark.slow
def test_a_logger_gets_what_metrics_csv_gets_and_changes_nothing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", sys)
    monkeypatch.setattr("lightning.pytorch.loggers.TensorBoardLogger", Board)
    plain, without = made(monkeypatch, tmp_path / "plain")
    folder, beside = made(monkeypatch, tmp_path / "beside", "--logger", "tensorboard", "--logger", "tensorboard")
    assert without["files"] == {**beside["files"], "last.ckpt": without["files"]["last.ckpt"]}
    assert without["spec_hash"] == beside["spec_hash"] and not any(LOGGERS in name for name in beside["files"])
    assert (plain / "metrics.csv").read_bytes() == (folder / "metrics.csv").read_bytes()
    names = {row.split(",")[1] for row in (plain / "metrics.csv").read_text().splitlines()[1:]}
    told = [line.split()[1] for line in (folder / LOGGERS / "board.txt").read_text().splitlines()]
    assert names <= set(told) and {"learning_rate", "interpolation_learning_rate"} <= set(told)
    assert not (plain / LOGGERS).exists()
    (run,) = LocalStore(tmp_path / "beside").runs()
    reference = Reference(tmp_path / "beside")
    assert len(reference.adopt([run], LocalStore(tmp_path / "beside"))) == 1
    assert not list(reference.path.rglob(LOGGERS))


def test_a_missing_package_is_one_sentence_before_anything_trains(monkeypatch, tmp_path, reproduce):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    monkeypatch.setitem(sys.modules, "wandb", None)
    said = reproduce(["run", RUN, "--profile", "smoke", "--logger", "wandb"], code=2)
    sentence = "logger wandb: the package is not installed; pip install '.[wandb]' adds it"
    assert said.err == f"python -m reproduce: {sentence}\n"
    assert said.out == "" and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", EXTRAS)
def test_lightning_has_each_logger(name):
    import lightning.pytorch.loggers

    assert issubclass(getattr(lightning.pytorch.loggers, EXTRAS[name][1]), Logger) and name in command_table.LOGGERS

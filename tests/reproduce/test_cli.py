"""The command line: what it prints, its exit codes, and one sentence for each kind of bad input."""

import errno
import json
import os
import signal
import subprocess
import sys
import types
from pathlib import Path

import pytest

import lengen
from reproduce import cli
from reproduce.cli import main
from reproduce.output import figures
from reproduce.runs import catalogue as registry
from reproduce.runs import perform as runner
from reproduce.store.store import Store
from tests.reproduce.fakes import SPEC, install_toy, outcome

CHECKOUT = Path(runner.__file__).resolve().parents[2]


class OperandError(ValueError):
    """An operand that is no number."""


OperandError.__module__ = "lengen.inspection.problem"


@pytest.fixture(autouse=True)
def results(monkeypatch, tmp_path):
    show = types.ModuleType("lengen.inspection.problem")
    show.encode, show.solve = encode, solve
    monkeypatch.setattr("lengen.inspection.problem", show)
    monkeypatch.setattr(lengen, "show", show, raising=False)
    monkeypatch.chdir(tmp_path)
    yield install_toy(monkeypatch, tmp_path)
    monkeypatch.undo()
    registry.papers.cache_clear()
    registry._homes.cache_clear()


def encode(spec, operands, task=""):
    for operand in operands:
        if not operand.isdecimal():
            raise OperandError(f"operand '{operand}' is no number: expected digits")
    tokens = ["$", *operands[0], "$"]
    return {"tokens": tokens, "position_ids": [[0, *[10] * len(operands[0]), 0]], "loss": [0] * len(tokens)}


def solve(spec, weights, operands, task="", report=None):
    assert weights.read_text() == "weights" and spec.data.task == "addition"
    return {"prompt": "1+2=", "output": "3$", "answer": "3$", "correct": True}


def refused(capsys, *arguments):
    """The one sentence of a command that ends with exit code 2."""
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "Traceback" not in shown.err
    return shown.err


@pytest.mark.parametrize(
    ("text", "expected"), [("5", (5,)), ("0..2", (0, 1, 2)), ("0,2", (0, 2)), ("2..2", (2,)), ("1,0..2", (1, 0, 2))]
)
def test_seeds(text, expected):
    assert cli.seeds(text) == expected


@pytest.mark.parametrize(
    "text", ["3..1", "", "x", "-1", "1.5", "0..", "..2", "0...2", "0..99999", "1,,2", "٣", "1" * 12]
)
def test_bad_seeds(text, capsys):
    assert "--seeds" in refused(capsys, "run", "toy", f"--seeds={text}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nosuch/paper"], "there is no paper 'nosuch'"),
        (["run", "toy/fig1/nosuch"], "there is no variant 'nosuch'"),
        (["run", "toy", "--profile", "huge"], "invalid choice: 'huge'"),
        (["run", "toy", "--seeds", "3..1"], "counts down"),
        (["run", "toy", "--jobs", "0"], "expected a whole number from 1"),
        (["run", "toy", "--set", "model.nosuch=3"], "no field 'nosuch'"),
        (["run", "toy", "--set", "train.steps=abc"], "expected a value of type int"),
        (["run", "toy", "--executor", "cloud"], "invalid choice: 'cloud'"),
        (["run", "toy/fig3"], "has no cpu profile (needs a GPU)"),
        (["run"], "required: SELECTOR"),
        (["dance"], "invalid choice: 'dance'"),
        ([], "required: COMMAND"),
        (["list", "toi"], "nearest: toy"),
        (["show", "toy/fig9"], "there is no figure or table 'fig9'"),
        (["figures", "toy/fig9"], "there is no figure or table 'fig9'"),
        (["figures", "toy/fig2"], "fig2 is not drawn"),
        (["compare", "toi"], "there is no paper 'toi'"),
        (["compare", "toy", "--format", "pdf"], "invalid choice: 'pdf'"),
        (["encode", "toy/fig1", "1"], "names 2 experiments"),
        (["encode", "toy/fig1/alpha", "57", "x8"], "operand 'x8' is no number"),
        (["encode", "toy/fig1/alpha"], "required: OPERAND"),
        (["solve", "toy/fig1/alpha", "--", "-5", "7"], "operand '-5' is no number"),
        (["solve", "toy/fig1/alpha", "1", "2"], "has no finished run with weights"),
        (["solve", "toy/fig1/alpha", "1", "2", "--seed", "x"], "'x' is no seed"),
        (["promote", "toy"], "has no finished run of toy"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, said, capsys):
    assert said in refused(capsys, *arguments)


@pytest.mark.parametrize("name", ["run.json", "scores.csv"])
@pytest.mark.parametrize("command", [["compare", "toy"], ["run", "toy/fig1/alpha"], ["promote", "toy"]])
def test_a_damaged_result_is_named(results, name, command, capsys):
    assert main(["run", "toy/fig1/alpha"]) == 0
    capsys.readouterr()
    (results / "local/toy/fig1/alpha/cpu/seed-0/v1" / name).write_text("{")
    assert f"v1/{name}" in refused(capsys, *command)


def test_results_that_cannot_be_written_are_named(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "file"))
    for arguments in (["run", "toy/fig1/alpha"], ["run", "toy", "--jobs", "2"]):
        assert main(arguments) == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert "cannot be written" in last and "LENGEN_RESULTS" in last


def test_a_full_disk_is_named(monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert main(["run", "toy/fig1/alpha"]) == 2
    assert "No space left on device" in capsys.readouterr().err.splitlines()[-1]


def test_list_names_everything_and_counts_runs(capsys):
    assert main(["run", "toy/fig2"]) == 0
    capsys.readouterr()
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["experiment", *(item.name for item in registry.select("toy"))]
    assert lines[1].split()[:4] == ["toy/fig1/alpha", "smoke", "cpu", "paper"]
    assert " 0          1      Figure 1: it adds" in lines[1] and " 0          1 " in lines[3]  # one run, two readers
    assert "not at cpu size: needs a GPU" in lines[4]


def test_show_prints_the_specification_claims_and_commands(capsys):
    assert main(["show", "toy/fig1/alpha"]) == 0
    shown = capsys.readouterr().out
    assert "alpha adds beyond its range, Figure 1" in shown
    assert any(line.split() == ["train.steps", "1", "4", "9"] for line in shown.splitlines())
    assert "python -m reproduce run toy/fig1/alpha --profile paper" in shown


def test_a_dry_run_runs_nothing(results, capsys):
    assert main(["run", "toy", "--dry-run", "--seeds", "0..1"]) == 0
    shown = capsys.readouterr().out
    assert "4 to run, 0 finished" in shown and "toy/fig3/huge" in shown and "needs a GPU" in shown
    assert main(["run", "toy", "--dry-run", "--profile", "paper"]) == 0
    assert "on one GPU" in capsys.readouterr().out
    assert not results.exists()


def test_a_run_ends_with_folder_and_accuracy(results, capsys):
    assert main(["run", "toy/fig1/alpha", "--seeds", "5", "--set", "train.steps=3"]) == 0
    shown = capsys.readouterr()
    assert "exact match 100.0 % in the trained range, 70.0 % outside" in shown.out
    assert "results/local/toy/fig1/alpha/cpu/seed-5/v1" in shown.out
    info = json.loads((results / "local/toy/fig1/alpha/cpu/seed-5/v1/run.json").read_text())
    assert info["overrides"] == ["train.steps=3"] and info["spec"]["train"]["steps"] == 3
    assert info["command"] == "python -m reproduce run toy/fig1/alpha --seeds 5 --set train.steps=3"
    assert str(results.parent) not in json.dumps(info) and os.uname().nodename not in json.dumps(info)


def test_a_whole_paper_ends_with_figures_and_comparison(results, capsys, monkeypatch):
    monkeypatch.setattr(figures, "draw", lambda paper, store, names=None: [store.path / paper / "figures/fig1-cpu.svg"])
    assert main(["run", "toy", "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "alpha adds beyond its range" in shown and "reproduced" in shown
    assert "results/local/toy/figures/fig1-cpu.svg" in shown and "results/local/toy/comparison.md" in shown
    assert main(["figures", "toy", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    for form, start in (("csv", "kind,id,place"), ("json", "["), ("md", "# toy"), ("table", "")):
        assert main(["compare", "toy/fig1", "--format", form]) == 0
        assert capsys.readouterr().out.startswith(start)


def test_failed_runs_are_named_at_the_end(capsys, monkeypatch):
    monkeypatch.setattr(runner, "EXECUTE", "tests.reproduce.fakes:fails_for_seed_one")
    assert main(["run", "toy/fig1", "--seeds", "0,1", "--jobs", "1"]) == 1
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1] == "2 of 4 runs failed: toy/fig1/alpha seed 1, toy/fig1/beta seed 1"
    assert "seed 0: exact match" in shown.out


def test_promotion_and_solving(results, capsys):
    assert main(["run", "toy/fig1/alpha", "--profile", "smoke"]) == 0
    assert main(["run", "toy/fig1/alpha"]) == 0
    assert main(["run", "toy/fig1/alpha", "--set", "train.steps=2"]) == 0
    capsys.readouterr()
    assert main(["promote", "toy", "--weights"]) == 0
    assert capsys.readouterr().out.split()[0] == "results/reference/toy/fig1/alpha/cpu/seed-0/v1"
    assert main(["promote", "toy"]) == 0 and "already there" in capsys.readouterr().out
    assert main(["promote", "toy", "--overridden"]) == 0
    assert len(Store(results, "reference").runs()) == 2
    capsys.readouterr()
    assert main(["solve", "toy/fig2/gamma", "1", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"prompt": "1+2=", "output": "3$", "answer": "3$", "correct": True}
    assert main(["solve", "toy/fig1/alpha", "1", "2", "--profile", "cpu", "--seed", "0"]) == 0
    assert "toy/fig1/alpha cpu seed 0" in capsys.readouterr().out


def test_encode_is_aligned_or_json(capsys):
    assert main(["encode", "toy/fig1/alpha", "57"]) == 0
    assert capsys.readouterr().out.splitlines() == ["tokens  $  5  7 $", "ids     0 10 10 0", "loss    0  0  0 0"]
    assert main(["encode", "toy/fig1/alpha", "57", "--json"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1 and json.loads(shown)["position_ids"] == [[0, 10, 10, 0]]


def command(*arguments, results, execute="execute"):
    """The real program on the toy paper, in a process of its own."""
    code = (
        "import sys, papers; papers.__path__ = [sys.argv[1]]\n"
        "if __name__ == '__main__':\n"
        "    from reproduce import cli; from reproduce.runs import perform as runner\n"
        f"    runner.EXECUTE = 'tests.reproduce.fakes:{execute}'\n"
        "    sys.exit(cli.main(sys.argv[2:]))\n"
    )
    script = results.parent / "program.py"
    script.write_text(code)
    return subprocess.Popen(
        [sys.executable, str(script), str(results.parent / "papers"), *arguments],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_run_says_that_it_resumes(results, number, code, workers):
    process = command("run", "toy/fig1", "--jobs", workers, results=results, execute="waits_forever")
    assert "started" in process.stderr.readline()
    while not list(results.glob("local/toy/fig1/*/cpu/seed-0/.work/pid")):
        assert process.poll() is None
    process.send_signal(number)
    _, shown = process.communicate(timeout=20)
    assert process.returncode == code
    assert shown.splitlines()[-1] == "interrupted: the same command will resume where it stopped"
    assert "Traceback" not in shown


def test_a_reader_that_goes_away_is_no_error(results):
    process = command("show", "toy", results=results)
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait(20) == 0


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["show", "coupling"], ["compare", "--help"]])
def test_reading_commands_do_not_import_torch(arguments):
    code = (
        "import sys; from reproduce.cli import main; main(sys.argv[1:])\n"
        "heavy = {'torch', 'lightning', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    environment = {key: value for key, value in os.environ.items() if key != "LENGEN_RESULTS"}
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=CHECKOUT, env=environment, check=True,
                   capture_output=True)  # fmt: skip


def test_the_toy_specification_is_what_the_tests_think():
    assert registry.select_one("toy/fig1/alpha").specs["cpu"] == SPEC
    assert set(outcome().grid.scores) == {(2, 2), (2, 3), (3, 2), (3, 3)}

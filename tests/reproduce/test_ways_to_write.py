"""Ways to write a command, and to complete it."""

import io
import json
import os
import subprocess
import sys

import pytest

import lengen
from lengen import Addition, ListOps, Multiplication, Parity
from lengen.data.reading_problems import SpellingError, typed_operands
from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from reproduce.commands.command_table import SHELLS
from reproduce.commands.completion import selectors
from tests.fixtures.program import CHECKOUT
from tests.fixtures.refusals import refused

SOLVE = ("solve", "coupling/thm4.1/construction", "--profile", "smoke")
ADDS = Addition(digits=2, operands=2)
SORTS = next(item for item in CATALOGUE.experiments("task_hinting")).specs["smoke"].data.task


def said(capsys, *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code
    shown = capsys.readouterr()
    if code:
        assert shown.err.count("\n") == 1 and not shown.out
    return shown.out + shown.err


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"], ["-h"]])
def test_the_program_alone_and_a_cry_for_help_print_the_help(capsys, arguments):
    assert "COMMAND" in said(capsys, *arguments) and "promote" in said(capsys, *arguments)


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_is_that_of_the_project(capsys, word):
    assert said(capsys, word).startswith(f"lengen {lengen.__version__} (")


def test_messages_name_the_program_as_it_was_called(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/somewhere/.venv/bin/reproduce"])
    assert said(capsys, "list", "nosuch", code=2).startswith("reproduce: ")
    monkeypatch.setattr(sys, "argv", ["/a/site-packages/lengen/__main__.py"])
    assert said(capsys, "list", "nosuch", code=2).startswith("python -m reproduce: ")


@pytest.mark.parametrize("typed", [
    ["--set", "train.steps=5", "train.batch=3"], ["train.steps=5", "train.batch=3"],
    ["--train.steps=5", "--train.batch=3"], ["--set", "train.steps=5", "--set", "train.batch=3"],
    ["--set=train.steps=5", "--set=train.batch=3"],
])  # fmt: skip
def test_a_setting_is_taken_as_every_program_takes_it(results, typed):
    assert main(["run", "toy/fig1/alpha", "--seeds", "0", "-j", "1", *typed]) == 0
    info = json.loads((results / "local/toy/fig1/alpha/cpu/seed-0/v1/run.json").read_text())
    assert info["overrides"] == ["train.steps=5", "train.batch=3"] and info["spec"]["train"]["steps"] == 5


@pytest.mark.parametrize(("typed", "seeds"), [(["0-2"], 3), (["0,2"], 2), (["0..2"], 3), (["1"], 1)])
def test_seeds_are_taken_as_people_write_them(results, capsys, typed, seeds):
    assert f"{seeds} to run" in said(capsys, "run", "toy/fig1/alpha", "-n", "--seeds", *typed)


def test_short_options_and_several_selectors_are_taken(results, capsys, reproduce):
    assert "seed 3 alone; --seeds 0..2 makes 3" in said(capsys, "run", "toy/fig1/alpha", "-n", "--seeds", "3")
    assert "alone" not in said(capsys, "run", "toy/fig1/alpha", "-n", "--seed", "0")
    assert "1 to run" in said(capsys, "run", "toy/fig3", "-n", "-p", "smoke", "-j", "2", "--seeds", "0")
    planned = said(capsys, "run", "toy/fig2", "toy/fig1/beta", "-n", "--seeds", "0")
    assert "2 to run" in planned and "toy/fig1/beta" in planned
    assert planned == said(capsys, "run", "toy/fig2", "-n", "toy/fig1/beta", "--seeds", "0")
    listed = said(capsys, "list", "toy/fig1", "toy/fig2")
    assert "alpha" in listed and "gamma" in listed
    shared = said(capsys, "run", "toy/fig2/gamma", "-n")
    assert "toy/fig2/gamma is the run of toy/fig1/alpha" in shared
    told = reproduce("list toy/fig1 toy/figment", code=2)
    assert not told.out and "there is no figure or table 'figment' in toy" in told.err


def test_a_figure_of_several_papers_is_asked_back_and_operands_may_stand_behind_options(capsys):
    assert "write coupling/fig1 or bias_calibration/fig1" in said(capsys, "show", "fig1", code=2)
    assert main([*SOLVE, "--json", "57", "48"]) == 0
    assert json.loads(capsys.readouterr().out)["read"] == "105", "a slow machine tells of its progress beside it"


def test_a_paper_is_found_by_its_identifier_and_by_its_folders():
    for name in CATALOGUE.papers():
        for folder in ("papers/", "results/reference/", "./results/local/"):
            assert CATALOGUE.canonical(f"{folder}{name}/fig1/") == f"{name}/fig1"
        if identifier := CATALOGUE.paper(name).arxiv:
            assert CATALOGUE.canonical(identifier) == CATALOGUE.canonical(f"arXiv:{identifier}/") == name


@pytest.mark.parametrize("typed", [
    ["12", "34"], ["12+34"], ["12+34="], ["12 + 34"], ["12", "+", "34"], ["12+34=46"], ["12,34"], ["12,", "34"],
])  # fmt: skip
def test_a_sum_is_read_as_people_write_it(typed):
    assert typed_operands(typed, ADDS) == ["12", "34"]


@pytest.mark.parametrize(("task", "typed", "found"), [
    (Multiplication(digits=3, second_digits=3), ["12*34"], ["12", "34"]),
    (Multiplication(digits=3, second_digits=3), ["12×34="], ["12", "34"]), (SORTS, ["5,3,1"], ["5", "3", "1"]),
    (Parity(bits=4), ["0110"], ["0110"]), (ListOps(digits=3), ["[MAX", "2", "9", "]"], ["[MAX", "2", "9", "]"]),
    (ListOps(digits=3), ["[max 2 9]"], ["[max", "2", "9]"]),
])  # fmt: skip
def test_every_task_is_spelled_with_its_own_signs(task, typed, found):
    assert typed_operands(typed, task) == found


@pytest.mark.parametrize(("typed", "answer"), [
    (["12*34"], "asks for \\*, and this task is addition \\(\\+\\)"), (["12-34"], "operand '12-34' is not a number"),
    (["abc"], "operand 'abc' is not a number: expected digits 0-9 only, and not 'a'"), (["1.5", "2"], "not '\\.'"),
    (["1,000", "2"], "write 1000, or 1 000"), (["1_000"], "not '_'"), (["٣"], "is not a number"),
    (["="], "no operands before ="), (["1e3"], "not 'e'"),
])  # fmt: skip
def test_what_is_no_number_is_told_the_spelling(typed, answer):
    refused(SpellingError, answer, typed_operands, typed, ADDS)


def test_bad_operands_are_refused_before_torch_is_loaded():
    code = (
        "import pkgutil, sys; from reproduce.cli import main; from reproduce.commands.command_table import COMMANDS; "
        "[pkgutil.resolve_name(f'reproduce.commands.{row.answer}') for row in COMMANDS]; "
        "code = main(['solve', 'coupling/thm4.1/construction', '57', 'abc']); assert 'torch' not in sys.modules; "
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and "operand 'abc' is not a number" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_line_of_the_input_is_a_problem(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\ufeff# sums\n57+48=\n\n# a comment\n1 2 3\n"))
    assert said(capsys, *SOLVE).splitlines() == ["$057+048= 105 (right)", "$01+02+03= 6 (right)"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("57+48=\n"))
    assert json.loads(said(capsys, *SOLVE, "-", "--json"))["read"] == "105"
    monkeypatch.setattr(sys, "stdin", io.StringIO("1 2\n\n1 x\n"))
    assert "line 3: operand 'x'" in said(capsys, *SOLVE, code=2)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert "pipe a line for each problem" in said(capsys, *SOLVE, code=2)


@pytest.mark.parametrize(("prefix", "found"), [
    ("t", ["toy/", "paper1/"]), ("toy/", ["toy/fig1/", "toy/fig2/", "toy/fig3/"]),
    ("paper1/fig1/a", ["paper1/fig1/alpha", "paper1/fig1/beta"]), ("toy/fig1/alpha/", []), ("nosuch/f", []),
])  # fmt: skip
def test_selectors_go_on_level_by_level(prefix, found, results):
    assert selectors(prefix) == found
    assert all(CATALOGUE.select(name) for name in found)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_a_script(shell, reproduce):
    assert "reproduce" in reproduce(["completion", shell]).out


@pytest.mark.parametrize(("line", "found"), [
    ("reproduce prom", ["promote"]),
    ("reproduce run paper1 --profile p", ["paper"]),
    ("reproduce list coupling/thm4.1/float", ["coupling/thm4.1/float32", "coupling/thm4.1/float64"]),
])  # fmt: skip
def test_a_shell_that_asks_is_answered(line, found, tmp_path):
    answer = tmp_path / "answer"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    told = {"_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    code = "import sys; from reproduce.cli import main; main([]); sys.exit(9)"
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env={**os.environ, **asked, **told}, check=True)
    assert [name.strip() for name in answer.read_text().split("\n")] == found

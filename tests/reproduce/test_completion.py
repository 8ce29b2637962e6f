"""What a shell is told: selectors level by level, and the script of argcomplete."""

import os
import subprocess
import sys

import pytest

from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from reproduce.commands.completion import selectors
from reproduce.commands.table import SHELLS
from tests.fixtures.program import CHECKOUT


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("t", ["toy/", "paper1/"]),
        ("toy/", ["toy/fig1/", "toy/fig2/", "toy/fig3/"]),
        ("paper1/fig1/a", ["paper1/fig1/alpha", "paper1/fig1/beta"]),
        ("toy/fig1/alpha/", []),
        ("nosuch/f", []),
    ],
)
def test_selectors_go_on_level_by_level(prefix, found, results):
    assert selectors(prefix) == found
    assert all(CATALOGUE.select(name) for name in found)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_a_script(shell, capsys):
    assert main(["completion", shell]) == 0
    assert "reproduce" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("reproduce prom", ["promote"]),
        ("reproduce run paper1 --profile p", ["paper"]),
        ("reproduce list coupling/thm4.1/float", ["coupling/thm4.1/float32", "coupling/thm4.1/float64"]),
    ],
)
def test_a_shell_that_asks_is_answered(line, found, tmp_path):
    answer = tmp_path / "answer"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    told = {"_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    code = "import sys; from reproduce.cli import main; main([]); sys.exit(9)"
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env={**os.environ, **asked, **told}, check=True)
    assert [name.strip() for name in answer.read_text().split("\n")] == found

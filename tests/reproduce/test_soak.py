"""The short versions of ``make soak``: kills at random moments, and what differs is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stress.kills import CHAIN, Killed, compared
from stress.soak import PARTS, main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


KILLING = """
import json, sys
from pathlib import Path
from stress.kills import Command, kill, load

load()
killed = kill(2, 3, Path(sys.argv[1]), [Command(sys.argv[2:], ["training", "writing"])])
print(json.dumps(killed._asdict()))
"""
"""Loads torch once: every command is a child of this process, as `make soak` has it."""


def test_a_run_that_is_killed_leaves_the_bytes_of_one_that_is_not(tmp_path):
    words = [word if word != "0..1" else "0" for word in CHAIN[0].words]
    call = [sys.executable, "-c", KILLING, str(tmp_path), *words]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    killed = Killed(**json.loads(done.stdout))
    assert killed.differing == {} and killed.kills >= 1 and killed.restarts >= 1 and killed.files >= 3


def test_what_differs_is_named():
    assert compared({"a": "1", "b": "1"}, {"b": "2", "c": "1"}) == {
        "a": "missing",
        "b": "other bytes",
        "c": "too many",
    }


def test_a_report_says_what_was_measured_on_which_commit(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(PARTS, "races", (lambda number, seed, place: ("2 raced", {"wrong": ["x"]}, False), 1))
    nothing = [f"--{name}=0" for name in ("repeats", "inputs", "faults", "kills", "machines")]
    assert main([*nothing, "--out", str(tmp_path)]) == 1
    said = (tmp_path / "soak.json").read_text()
    assert '"commit"' in said and '"passed": false' in said and "2 raced" in capsys.readouterr().out
    assert main([*nothing, "--races=0"]) == 0

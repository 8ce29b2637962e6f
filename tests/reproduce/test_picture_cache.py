"""What was drawn is not drawn again, unless anything it shows, or the file itself, became another; and how it is drawn
does not show: several processes give the bytes of one."""

import dataclasses
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from reproduce import figures
from reproduce.store import checkout
from reproduce.store.store import LocalStore
from tests.fixtures.drawings import figures as constructed
from tests.fixtures.toy_paper import BLANK

ROOT = Path(__file__).resolve().parents[2]


def finished(run, made="a"):
    """A constructed run as the store reads it: run.json names the sums of its files."""
    return dataclasses.replace(run, info={**run.info, "files": {"scores.csv": made}})


def titled(sheet, title):
    """A sheet with another title."""
    return sheet._replace(figure=dataclasses.replace(sheet.figure, title=title))


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    """One figure of finished runs, drawn once by a stand-in, and what was drawn as ``times``."""
    figure, runs = constructed()[0]
    runs = {name: [finished(run) for run in some] for name, some in runs.items()}
    source = LocalStore(tmp_path)
    made = figures.Sheet(source.path / "toy" / "figures" / "fig3-cpu", figure, runs)
    times = []

    def render(figure, runs, kinds):
        times.append((figure, runs, kinds))
        return {kind: f"{kind} of {figure.title}".encode() for kind in kinds}

    monkeypatch.setattr(figures, "render", render)
    ((svg, png),) = figures.write([made], tmp_path)
    assert len(times) == 1 and svg.suffix == ".svg" and png.suffix == ".png"
    times.clear()
    return made, tmp_path, times


def test_what_is_drawn_is_not_drawn_again(sheet):
    made, root, times = sheet
    told = []
    assert figures.write([made], root, tell=lambda *of: told.append(of)) == [made.files()]
    assert times == [] and told == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_notes_that_were_damaged_are_written_anew(sheet, content):
    made, root, times = sheet
    notes = root / "local" / "drawn.json"
    before = notes.read_bytes()
    notes.write_bytes(content)
    figures.write([made], root)
    assert len(times) == 1 and notes.read_bytes() == before


@pytest.mark.parametrize("kind", figures.KINDS)
def test_a_picture_that_was_touched_or_removed_is_drawn_again(sheet, kind):
    made, root, times = sheet
    path = made.file(kind)
    content = path.read_bytes()
    for spoil in (lambda: path.write_bytes(content + b" "), path.unlink):
        spoil()
        figures.write([made], root)
        assert path.read_bytes() == content
    assert len(times) == 2


@pytest.mark.parametrize("change", ["files", "info", "title", "fewer", "program", "notes"])
def test_a_picture_is_drawn_again_when_anything_it_is_made_of_is_another(sheet, change, monkeypatch):
    made, root, times = sheet
    name, *_ = made.runs
    first, *others = made.runs[name]
    match change:
        case "files":
            made = made._replace(runs=made.runs | {name: [finished(first, "b"), *others]})
        case "info":
            first = dataclasses.replace(first, info={**first.info, "notes": ["n"]})
            made = made._replace(runs=made.runs | {name: [first, *others]})
        case "title":
            made = made._replace(figure=dataclasses.replace(made.figure, title="another"))
        case "fewer":
            made = made._replace(runs=made.runs | {name: others})
        case "program":
            monkeypatch.setattr(figures, "_program", lambda: "changed")
        case "notes":
            (root / "local" / "drawn.json").write_text("{")
    figures.write([made], root)
    assert len(times) == 1


def test_what_is_not_known_to_lie_in_a_file_is_always_drawn(sheet):
    made, root, times = sheet
    unread = {
        name: [dataclasses.replace(run, info={**run.info, "files": {}}) for run in some]
        for name, some in made.runs.items()
    }
    mine = dataclasses.replace(made.figure, how=BLANK)
    assert figures.sum_of(made.figure, made.runs) is not None
    for other in (made._replace(runs=unread), made._replace(figure=mine)):
        assert figures.sum_of(other.figure, other.runs) is None
        for _ in range(2):
            times.clear()
            figures.write([other], root)
            assert len(times) == 1


def test_a_picture_is_the_same_whether_drawn_alone_or_beside_the_other():
    for figure, runs in constructed():
        both = figures.render(figure, runs)
        assert both == figures.render(figure, runs, ["svg"]) | figures.render(figure, runs, ["png"])


SEVERAL = """
import os
from reproduce import figures
from tests.fixtures.drawings import figures as constructed
from tests.fixtures.toy_paper import BLANK

def work(place):
    figure, runs = constructed()[place]
    return figures.render(figure, runs), os.getpid()

found = [dict(figures.each(work, range(3), workers)) for workers in (1, 2)]
alone, beside = ([some[place] for place in range(3)] for some in found)
assert [pictures for pictures, _ in alone] == [pictures for pictures, _ in beside]
assert {process for _, process in alone} == {os.getpid()} and os.getpid() not in {process for _, process in beside}

def ended(place):
    os.kill(os.getpid(), 9)

try:
    list(figures.each(ended, range(3), 2))
except figures.EndedError as error:
    print(error)
try:
    list(figures.each([1, 2, 3].__getitem__, [0, 9], 2))
except IndexError as error:
    print("IndexError")
"""


def test_several_processes_draw_what_one_draws():
    """In a process of its own: this one may have threads, and then nothing is forked."""
    done = subprocess.run([sys.executable, "-c", SEVERAL], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    killed, wrong = done.stdout.splitlines()
    assert "a process was ended while it worked" in killed and wrong == "IndexError"


def test_one_process_does_it_where_forking_is_not_safe(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", object())
    assert dict(figures.each(lambda item: item + 1, [1, 2, 3], 2)) == {0: 2, 1: 3, 2: 4}


@pytest.mark.parametrize("other", ["", "matplotlib 3.10.0 (locked: 3.11.2)"])
def test_committed_pictures_change_with_the_locked_versions_alone_or_when_told(sheet, monkeypatch, other):
    made, root, _ = sheet
    monkeypatch.setattr(figures, "checkout", lambda: root)
    monkeypatch.setattr(figures, "others", lambda packages: other)
    local, made = made, made._replace(stem=root / "results" / "reference" / "toy" / "figures" / "fig3-cpu")
    svg, png = made.file("svg"), made.file("png")
    svg.parent.mkdir(parents=True)
    made = made._replace(figure=dataclasses.replace(made.figure, png=True))
    svg.write_bytes(b"as committed")
    left: list[Path] = []
    figures.write([made], root, left=left)
    assert left == ([svg] if other else []) and (svg.read_bytes() == b"as committed") is bool(other)
    assert png.read_bytes().startswith(b"png of"), "what is not there yet is written"
    figures.write([titled(local, "other")], root, left=left)
    assert left == ([svg] if other else []), "pictures of local runs are nobody else's"
    figures.write([made], root)
    assert svg.read_bytes().startswith(b"svg of")


def test_versions_that_are_not_the_locked_ones_are_named(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda name: "0.1")
    named = checkout.others(figures.LIBRARIES)
    assert all(f"{name} 0.1 (locked: " in named for name in figures.LIBRARIES) and "torch" not in named
    monkeypatch.setattr(checkout, "checkout", lambda: None)
    assert checkout.others(figures.LIBRARIES) == ""

"""Two checkouts in turns: a training that can be halted, ratios of what took turns, a base that is none."""

import contextlib
import itertools
import subprocess
from pathlib import Path

import pytest

from lengen.timing import Workload
from reproduce.bench import __main__ as bench
from reproduce.bench import against
from reproduce.bench.against import TINY, AgainstError, Side
from reproduce.runs.catalogue import CATALOGUE

ROOT = Path(__file__).resolve().parents[2]
DECLARED = [workload for name in CATALOGUE.papers() for workload in CATALOGUE.paper(name).workloads()]


@pytest.fixture
def side(tmp_path):
    return Side("here", ROOT, tmp_path)


def test_a_training_of_a_checkout_goes_on_for_as_many_steps_as_it_is_asked_for(side):
    with against.paused(side, (), DECLARED[0], TINY) as process:
        hello = against.told(side, process)
        assert hello["steps"] == 12 and hello["started"] > 0
        took = []
        for steps in (1, 3):
            against.ask(process, steps)
            took.append(against.told(side, process))
        assert all(found["seconds"] > 0 for found in took)
        assert took[1]["tokens"] > took[0]["tokens"] > 0
    assert process.poll() is not None
    assert [path.name for path in side.scratch.iterdir()] == ["stderr"]


def test_a_side_that_cannot_run_it_says_why(side, tmp_path, monkeypatch):
    broken = tmp_path / "broken.py"
    broken.write_text("import sys; sys.exit('first line\\nno setting knitting')")
    monkeypatch.setattr(against, "WORKER", broken)
    said = pytest.raises(AgainstError, match=r"^here cannot run it: no setting knitting$")
    with against.paused(side, (), DECLARED[0], TINY) as process, said:
        against.told(side, process)


def test_a_revision_is_checked_out_beside_and_taken_away(tmp_path):
    here = tmp_path / "here"
    commit = ["-c", "user.name=n", "-c", "user.email=e", "commit", "--allow-empty", "--quiet", "-m", "m"]
    for words in (["init", "--quiet", str(here)], ["-C", str(here), *commit]):
        subprocess.run(["git", *words], check=True)
    with against.work_tree(here, "HEAD", tmp_path / "tree") as tree:
        assert against.revision(tree) == against.revision(here) != ""
    assert not (tmp_path / "tree").exists()
    listed = subprocess.run(["git", "-C", str(here), "worktree", "list"], capture_output=True, text=True).stdout
    assert listed.count("\n") == 1
    with pytest.raises(AgainstError, match="neither a folder nor a git revision"), against.work_tree(here, "x", tree):
        pass


def test_a_training_is_compared_stretch_by_stretch(monkeypatch, side):
    """The base takes 2 ms a step, this side 1 ms, but for one turn in which both are ten times slower."""
    seconds = {"base": itertools.repeat(0.002), "now": itertools.repeat(0.001)}
    asked: dict[str, list[int]] = {"base": [], "now": []}
    turn = itertools.count()

    def told(one, process):
        if not asked[one.name]:
            return {"started": 3.0, "steps": 1000}
        steps = asked[one.name][-1]
        busy = 10 if next(turn) // 2 == 5 else 1
        return {"seconds": busy * steps * next(seconds[one.name]), "tokens": 100 * steps}

    given = {}
    monkeypatch.setattr(
        against, "paused", lambda one, sets, *_: given.update({one.name: sets}) or contextlib.nullcontext(one.name)
    )
    monkeypatch.setattr(against, "ask", lambda name, steps: asked[name].append(steps))
    monkeypatch.setattr(against, "told", told)
    effort = against.FULL._replace(turns=8, seconds=0.02, unmeasured=10)
    base, now = side._replace(name="base"), side._replace(name="now")
    found = {one.name: one for one in against.training(Workload("w", "a/b/c"), effort, base, now)}
    assert asked["base"] == asked["now"] == [1, 10] + [10] * 8
    ratio = found["training/w"]
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((2, 2, 2)) and ratio.against == "base"
    assert found["training/w/base"].value == pytest.approx(50_000)
    assert found["training/w/now"].value == pytest.approx(100_000)
    assert found["training/w/start/base"].value == pytest.approx(3.002)
    assert given == {"base": (), "now": ()}
    asked.update(base=[], now=[])
    sets = ("train.precision=bf16-products",)
    named = against.training(Workload("w", "a/b/c"), effort._replace(sets=sets), base, now)
    assert given == {"base": (), "now": sets}
    assert named[0].name == "training/w with train.precision=bf16-products"


def test_what_is_run_whole_takes_turns_until_that_has_taken_long_enough(side):
    order = []

    def seconds(one):
        order.append(one.name)
        return ({"old": 4.0, "new": 2.0}[one.name],)

    effort = against.FULL._replace(least=3, enough=0.0)
    old, new = side._replace(name="old"), side._replace(name="new")
    rows = against.in_turns(seconds, effort, old, new)
    assert order == ["old", "new"] * 3
    ratio, base, now = against.of_both("n", "w", rows, 0, old)
    assert (ratio.value, base.value, now.value) == (2, 4, 2)
    assert len(against.in_turns(seconds, effort._replace(enough=1e9, turns=5), old, new)) == 5


def test_a_command_of_two_checkouts_is_compared_and_a_file_says_so(tmp_path, capsys):
    before = subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True).stdout
    assert bench.main(["--against", str(ROOT), "--only", "help", "--out", f"{tmp_path}/"], tiny=True) == 0
    shown = capsys.readouterr().out
    assert "command/help/now" in shown and "by more than the noise: nothing" in shown
    (path,) = tmp_path.iterdir()
    assert path.name.endswith("-help.json") and "-against-" in path.name
    assert subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True).stdout == before


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--against", "no-such-revision", "--only", "help"], "neither a folder nor a git revision"),
        (["--against", "tests", "--only", "help"], "no reproduce/__main__.py in it"),
        (["--set", "train.steps=1"], "--set is for trainings that are compared"),
        (["--against", "HEAD", "--only", "knitting"], "there is no such benchmark; one of: coupling-1-layer"),
    ],
)
def test_a_base_or_a_name_that_is_none_ends_with_one_sentence(arguments, said, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert bench.main(arguments, tiny=True) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


@pytest.mark.parametrize("workload", DECLARED, ids=lambda workload: workload.name)
def test_a_workload_is_a_setting_of_its_paper(workload):
    (chosen,) = CATALOGUE.select(workload.selector)
    changed = chosen.specs["cpu"].override(*workload.overrides)
    assert (changed != chosen.specs["cpu"]) == bool(workload.overrides), "what is set is another value"


def test_workloads_and_groups_have_names_of_their_own():
    groups = against.comparisons(TINY)
    names = [name for group in groups.values() for name in group]
    assert len(set(names) | set(groups)) == len(names) + len(groups)

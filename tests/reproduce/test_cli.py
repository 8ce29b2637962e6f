"""The command line: what it prints, its exit codes, and one sentence for each kind of bad input."""

import csv
import dataclasses
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import types
from pathlib import Path

import pytest

import lengen
from lengen import Addition
from reproduce import cli, figures
from reproduce.catalogue import CATALOGUE, usual_profile
from reproduce.cli import main
from reproduce.commands import rerun as rerun_module
from reproduce.commands import run as run_module
from reproduce.comparison.published_statements import digest, statements
from reproduce.runs.plan import Job
from reproduce.store.files import existing, readable
from reproduce.store.reference import Reference
from reproduce.store.store import LocalStore
from tests.fixtures.program import CHECKOUT, started
from tests.fixtures.toy_paper import FailsForSeedOne, install_toy, spec_with


class OperandError(ValueError):
    """An operand that is no number."""


OperandError.__module__ = "lengen.solve"


@pytest.fixture(autouse=True)
def problems(monkeypatch, results):
    show = types.ModuleType("lengen.solve")
    show.encode, show.solve = encode, solve
    show.in_words = lambda solved: [f"{name} {value}" for name, value in solved.items()]
    monkeypatch.setattr(lengen, "solve", show, raising=False)


def encode(spec, operands, task=""):
    for operand in operands:
        if not operand.isdecimal():
            raise OperandError(f"operand '{operand}' is not a number: expected digits")
    tokens = ["$", *operands[0], "$"]
    return {"tokens": tokens, "position_ids": [[0, *[10] * len(operands[0]), 0]], "loss": [0] * len(tokens)}


def solve(spec, weights, operands, task="", report=None):
    assert weights.read_text() == "weights" and isinstance(spec.data.task, Addition)
    return {"prompt": "1+2=", "output": "3$", "answer": "3$", "correct": True, "read": "3"}


def refused(capsys, *arguments):
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "Traceback" not in shown.err
    return shown.err


@pytest.mark.parametrize(("arguments", "said"), [
    (["run", "toy", "--seeds", "3..1"], "counts down"),
    (["run", "toy", "--jobs", "0"], "expected a whole number from 1"),
    (["run", "toy", "--jobs", "1", "2"], "unrecognized arguments: 2"),
    (["run", "toy", "--seeds=0", "2"], "unrecognized arguments: 2"),
    (["run", "toy", "--set", "model.nosuch=3"], "no field 'nosuch'"),
    (["run", "toy", "--set", "train.steps=abc"], "train.steps=abc: expected a whole number, such as 500 or 1e3"),
    (["run", "toy/fig3"], "has no cpu profile (needs a GPU)"),
    (["run"], "required: SELECTOR"),
    (["figures", "toy/fig2"], "fig2 is not drawn"),
    (["figures", "toy/fig1/alpha"], "a figure is drawn whole; expected paper or paper/figure"),
    (["report", "toy/fig1"], "a report covers whole papers"),
    (["report", "toy", "--format", "json"], "unrecognized arguments: --format json"),
    (["encode", "toy/fig1", "1"], "names 2 experiments"),
    (["encode", "toy/fig1/alpha", "57", "x8"], "operand 'x8' is not a number"),
    (["encode", "toy/fig1/alpha"], "no problem for toy/fig1/alpha"),
    (["solve", "toy/fig1/alpha", "--", "-5", "7"], "operand '-5' is not a number"),
    (["solve", "toy/fig1/alpha", "1", "2"], "has no finished run with weights"),
    (["promote", "toy"], "has no finished run of toy"),
    (["rerun", "results/local/toy/fig1/alpha/cpu/seed-0/v1"], "holds no finished run"),
    (["rerun", "toy/fig1/alpha"], "make one with python -m reproduce run toy/fig1/alpha"),
    (["rerun", "toy/fig1"], "names 2 experiments: name one"),
    (["lsit"], "there is no command 'lsit'; nearest: list"),
    (["run", "toy/fig1/alpha", "--profil", "smoke"], "there is no --profil; nearest: --profile"),
    (["run", "toy/fig1/alpha", "--drry-run"], "nearest: --dry-run"),
    (["run", "toy/fig1/alpha", "--set", "train.lr=1e-3,3e-3"], "a setting has one value: run the command once for"),
    (["run", "toy/fig1/alpha", "smoke"], "a profile is chosen by --profile smoke"),
    (["run", "toy/fig1/alpha", "--seeds", "0:3"], "expected 5, 0..2 or 0,2"),
    (["show", "toy.fig1"], "write toy/fig1"),
    (["show", "toy/fig1:alpha"], "write toy/fig1/alpha"),
    (["compare", "toy", "toy/fig1", "--format", "json"], "toy/fig1 lies in toy"),
    (["doctor", "now"], "unrecognized arguments"),
    *((["run", "toy/fig1/alpha", "--dry-run", "--set", word], word.partition("=")[0])
      for word in ("data.task=sort", "data.max_position=9", "model.encoding=knitted")),
])  # fmt: skip
def test_bad_input_gets_one_sentence(results, arguments, said, capsys):
    (results / "local").mkdir(parents=True)
    assert said in refused(capsys, *arguments)


@pytest.mark.slow
def test_results_that_cannot_be_written_are_named(monkeypatch, tmp_path, reproduce):
    (tmp_path / "file").touch()
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "file"))
    for arguments in (["run", "toy/fig1/alpha"], ["run", "toy", "--jobs", "2"]):
        last = reproduce(arguments, code=2).err.splitlines()[-1]
        assert "cannot be written" in last and "LENGEN_RESULTS" in last


def test_a_dry_run_runs_nothing_and_takes_the_part_that_wildcards_name(results, capsys, reproduce):
    shown = reproduce("run toy --dry-run --seeds 0..1").out
    assert "4 to run, 0 finished" in shown and "toy/fig3/huge" in shown and "needs a GPU" in shown
    assert "on one GPU" in reproduce("run toy --dry-run --profile paper").out
    assert not results.exists()
    shown = reproduce("run toy/fig[12]/b* --dry-run").out
    assert "toy/fig1/beta" in shown and "alpha" not in shown and "1 to run" in shown
    assert "there is no variant 'nosuch'" in refused(capsys, "run", "toy/*/nosuch")


def test_a_dry_run_of_what_may_stop_early_says_at_most_until_runs_are_committed(results, capsys):
    assert main(["run", "toy/fig1/alpha", "--dry-run", "--seeds", "1", "--set", "train.stop_at=1.0"]) == 0
    assert "1 to run, 0 finished, at most" in capsys.readouterr().out
    job = Job("toy/fig1/alpha", usual_profile(CATALOGUE.select("toy/fig1/alpha")), 1, spec_with(stop_at=1.0))
    assert run_module._made([job]) == {job: None}
    assert main(["run", "toy/fig1/alpha", "--seeds", "0"]) == 0
    assert main(["promote", "toy/fig1/alpha", "--seeds", "0"]) == 0
    assert 0 < run_module._made([job])[job] <= 1, "a run of the same setting is committed"
    smaller, larger = (dataclasses.replace(job, profile=profile) for profile in ("smoke", "paper"))
    nearest = {other: run_module._made([other])[other] for other in (job, smaller, larger)}
    assert len(set(nearest.values())) == 1, "where none is committed, the nearest size that has some tells"


def test_a_run_of_what_is_missing_leaves_out_what_is_committed(results, reproduce):
    assert main(["run", "toy/fig1/alpha", "--seeds", "0..1"]) == 0
    assert main(["promote", "toy/fig1/alpha", "--seeds", "0"]) == 0
    shutil.rmtree(results / "local")
    assert "1 to run, 0 finished" in reproduce("run toy/fig1/alpha --seeds 0..1 --missing --dry-run").out
    shown = reproduce("run toy/fig1/alpha --seeds 0..1 --missing").out
    assert "seed 1: exact match" in shown and "seed 0" not in shown
    assert "nothing is missing" in reproduce("run toy/fig1/alpha --seeds 0 --missing").out
    assert not (results / "local" / "toy/fig1/alpha/cpu/seed-0").exists()
    assert main(["run", "toy/fig1/alpha", "--seeds", "0", "--missing", "--set", "train.steps=3"]) == 0
    assert (results / "local" / "toy/fig1/alpha/cpu/seed-0/v1").is_dir()


def test_a_run_ends_with_folder_and_accuracy(results, reproduce):
    shown = reproduce("run toy/fig1/alpha --seeds 5 --set train.steps=3")
    assert "exact match 100.0 % in the trained range, 70.0 % outside" in shown.out
    assert "results/local/toy/fig1/alpha/cpu/seed-5/v1" in shown.out
    info = json.loads((results / "local/toy/fig1/alpha/cpu/seed-5/v1/run.json").read_text())
    assert info["overrides"] == ["train.steps=3"] and info["spec"]["train"]["steps"] == 3
    assert info["command"] == "python -m reproduce run toy/fig1/alpha --seeds 5 --set train.steps=3"
    assert str(results.parent) not in json.dumps(info) and os.uname().nodename not in json.dumps(info)


def test_a_whole_paper_ends_with_its_score_card_and_the_report(results, reproduce, monkeypatch):
    monkeypatch.setattr(figures, "draw", lambda paper, store, **_: [store.path / paper / "figures/fig1-cpu.svg"])
    shown = reproduce("run paper1 --jobs 1 --seeds 0..2").out
    assert shown.splitlines()[0] == "On toys"
    assert "yours: 1 of 1 published values within 5 points (1 within 2)" in " ".join(shown.split())
    assert "yours: holds" in shown and "70 % (all three trainings)" in shown
    places = [results / "local" / name for name in ("toy/figures", "toy/comparison.md", "report/index.html")]
    said = [line.split() for line in shown.splitlines()[-3:]]
    assert said == [
        [kind, readable(path)] for kind, path in zip(("figures", "compared", "report"), places, strict=True)
    ]
    assert "holds" in places[-1].read_text()
    assert len(json.loads(reproduce("figures toy --format json").out)) == 2
    for form, start in (("csv", "paper,place,experiment"), ("json", "{"), ("md", "# On toys"), ("table", "")):
        assert reproduce(["compare", "toy/fig1", "--format", form]).out.startswith(start)


def test_failed_runs_are_named_at_the_end(reproduce, monkeypatch, tmp_path):
    install_toy(monkeypatch, tmp_path, FailsForSeedOne)
    shown = reproduce("run toy/fig1 --seeds 0,1 --jobs 1", code=1)
    assert shown.err.splitlines()[-1] == "2 of 4 runs failed: toy/fig1/alpha seed 1, toy/fig1/beta seed 1"
    assert "seed 0: exact match" in shown.out


@pytest.mark.parametrize("dirty", [False, True])
def test_a_run_that_no_commit_can_make_again_is_promoted_with_a_warning(results, reproduce, monkeypatch, dirty):
    monkeypatch.setattr("reproduce.store.checkout.commit", lambda: ("a" * 40, dirty))
    reproduce("run toy/fig1/alpha --seeds 0")
    assert ("toy/fig1/alpha seed 0: made from a checkout with changes" in reproduce("promote toy").err) is dirty


def test_promotion_and_solving(results, capsys, reproduce, monkeypatch):
    assert main(["run", "toy/fig1/alpha", "--profile", "smoke"]) == 0
    assert main(["run", "toy/fig1/alpha"]) == 0
    reproduce("run toy/fig1/alpha --set train.steps=2")
    assert "has finished runs of toy, but of no seed to promote" in reproduce("promote toy --seeds 1..2", code=2).err
    shown = reproduce("promote toy --weights --seeds 0..2")
    assert shown.out.split()[0] == "toy/fig1/alpha"
    assert "toy/fig1/alpha cpu: no finished run of seed 1, 2, not promoted\n" in shown.err
    of_runs_that_left = results / "reference/toy/figures/fig1-night.svg"
    of_runs_that_left.touch()
    shown = reproduce("promote toy").out
    assert "already there" in shown and "fig1-night.svg: deleted, no run is behind it any more" in shown
    assert not of_runs_that_left.exists() and (results / "reference/toy/figures/fig1-cpu.svg").exists()
    with monkeypatch.context() as patch:
        patch.setattr("reproduce.commands.promote.hash_of", lambda spec: "another")
        assert main(["promote", "toy/fig1", "--profile", "cpu"]) == 2
    assert "v1: of an earlier setting, not promoted" in capsys.readouterr().err
    assert len(Reference(results).runs()) == 1, "a run made with --set stays behind"
    capsys.readouterr()
    assert main(["solve", "toy/fig2/gamma", "1", "2", "--json"]) == 0
    told = {"prompt": "1+2=", "output": "3$", "answer": "3$", "correct": True, "read": "3"}
    assert json.loads(capsys.readouterr().out) == told
    assert "toy/fig1/alpha cpu seed 0" in reproduce("solve toy/fig1/alpha 1 2 --profile cpu --seed 0").out


@pytest.mark.parametrize("folder", ["other", "other/local"])
def test_runs_of_another_results_folder_are_promoted(results, capsys, folder):
    assert main(["run", "toy/fig1/alpha", "--seeds", "2"]) == 0
    (results / "local").rename(results.parent / "moved")
    (results.parent / "other").mkdir()
    (results.parent / "moved").rename(results.parent / "other/local")
    capsys.readouterr()
    assert main(["promote", "toy"]) == 2
    assert main(["promote", "toy", "--from", str(results.parent / "nowhere")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    assert main(["promote", "toy", "--from", str(results.parent / folder)]) == 0
    assert [run.seed for run in Reference(results).runs()] == [2]


def test_a_run_records_the_statements_that_rest_on_it(results):
    assert main(["run", "toy/fig1", "--profile", "cpu"]) == 0
    (statement,) = statements("toy")
    recorded = {run.experiment: run.info["claims"] for run in LocalStore(results).runs()}
    rests = {CATALOGUE.home(CATALOGUE.select_one(name), "cpu").name for name in statement.names}
    assert rests and recorded == {
        name: {"adds": digest(statement)} if name in rests else {} for name in ("toy/fig1/alpha", "toy/fig1/beta")
    }


def test_seeds_on_which_settings_are_tried_are_promoted_only_by_name(results, reproduce):
    assert main(["run", "toy/fig1/alpha", "--seeds", "7,9"]) == 0
    assert "cpu/seed-9/v1: seed 9 is for trying settings (statements have seeds 0 to 7)" in reproduce("promote toy").err
    assert [run.seed for run in Reference(results).runs()] == [7]
    assert main(["promote", "toy", "--seeds", "9"]) == 0
    assert sorted(run.seed for run in Reference(results).runs()) == [7, 9]


def test_a_run_made_with_set_answers_only_where_it_is_asked_for_and_is_named_where_it_is_alone(capsys, reproduce):
    reproduce("run toy/fig1/alpha --set train.steps=2")
    said = refused(capsys, "solve", "toy/fig1/alpha", "1", "2")
    assert "make one with python -m reproduce run toy/fig1/alpha, or take one of 1 made with --set" in said
    assert main(["run", "toy/fig1/alpha"]) == 0
    reproduce("run toy/fig1/alpha --set train.steps=3")
    for option, model in (([], "v2 (local)"), (["--with-overrides"], "v3 (local) --set train.steps=3")):
        assert reproduce(["solve", "toy/fig1/alpha", "1", "2", *option]).out.splitlines()[-1].endswith(model)


@pytest.mark.parametrize(("arguments", "said", "advises"), [
    (["toy/fig3/huge", "1"], "run toy/fig3/huge --profile paper (it has no cpu size: needs a GPU)", True),
    (["toy/fig3/huge", "1", "--profile", "cpu"], "has no such size (needs a GPU); it has smoke, paper", False),
    (["toy/fig3/huge", "1", "--profile", "smoke"], "run toy/fig3/huge --profile smoke", True),
    (["toy/fig1/alpha", "1", "--seed", "3"], "run toy/fig1/alpha --seeds 3", True),
])  # fmt: skip
def test_the_run_that_solve_advises_exists(results, arguments, said, advises, capsys):
    (results / "local").mkdir(parents=True)
    shown = refused(capsys, "solve", *arguments)
    assert said in shown
    advised = re.search(r"python -m reproduce (run [^(\n]+)", shown)
    assert (advised is not None) is advises
    assert advised is None or main([*advised[1].split(), "--dry-run"]) == 0


@pytest.mark.parametrize("form", ["csv", "json"])
def test_programs_get_the_rows_of_all_papers_as_one_table(form, reproduce, monkeypatch, tmp_path):
    toy = CATALOGUE.paper("toy")
    others = [dataclasses.replace(item, name=item.name.replace("toy", "other")) for item in toy.experiments()]
    told = tmp_path / "other.toml"
    told.write_text(toy.published.read_text().replace("toy/", "other/"))
    CATALOGUE.fill(toy, dataclasses.replace(toy, name="other", number=2, published=told, experiments=lambda: others))
    monkeypatch.setattr("reproduce.commands.compare.checkout", lambda: tmp_path)
    shown = reproduce(["compare", "--format", form, "--check-history"])
    rows = json.loads(shown.out)["published"] if form == "json" else list(csv.DictReader(io.StringIO(shown.out)))
    assert [(row["paper"], row["id"]) for row in rows] == [("toy", "table1-alpha"), ("other", "table1-alpha")]
    assert "0 of 0 runs recorded" in shown.err


def test_pictures_of_runs_that_came_while_others_were_drawn_stay(results):
    """Another promote may have drawn its own meanwhile, and be writing another one."""
    assert main(["run", "toy/fig1", "--profile", "cpu", "--seeds", "0"]) == 0
    reference, local = Reference(results), LocalStore(results)
    reference.adopt(local.runs("toy"), local)
    drawn = figures.draw("toy", reference)
    assert main(["run", "toy/fig1", "--profile", "paper", "--seeds", "0", "--without-gpu"]) == 0
    assert main(["promote", "toy", "--profile", "paper"]) == 0
    folder = results / "reference" / "toy" / "figures"
    for name in ("fig1-smoke.svg", ".writing-fig9"):
        (folder / name).write_text("half")
    before = sorted(path.name for path in folder.iterdir())
    swept = figures.sweep("toy", reference, drawn)
    assert [path.name for path in swept] == ["fig1-smoke.svg"]
    assert sorted(path.name for path in folder.iterdir()) == [name for name in before if name != "fig1-smoke.svg"]
    assert "fig1-paper.svg" in before and folder / "fig1-paper.svg" not in drawn


def test_the_paper_profile_without_a_gpu_has_to_be_chosen(results, capsys, reproduce, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    said = refused(capsys, "run", "toy/fig1", "--profile", "paper")
    assert "there is no GPU here" in said and re.search(r"about \d+ s on \d+ core", said) and "--without-gpu" in said
    assert not results.exists()
    assert main(["run", "toy/fig1/alpha", "--profile", "paper", "--seeds", "0", "--without-gpu"]) == 0
    assert main(["run", "toy/fig1/alpha", "--profile", "paper", "--seeds", "0"]) == 0, "nothing is left to run"
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    reproduce("run toy/fig1/beta --profile paper --seeds 0")
    assert main(["run", "toy", "--profile", "paper", "--dry-run"]) == 0
    assert re.search(r"on one GPU \(about \d+ s on \d+ core", capsys.readouterr().out), "both estimates"


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code", "workers", "group"), [
    (signal.SIGINT, 130, "1", False), (signal.SIGTERM, 143, "2", False), (signal.SIGINT, 130, "2", True),
    (signal.SIGTERM, 143, "1", True),
])  # fmt: skip
def test_an_interrupted_run_says_that_it_resumes(results, number, code, workers, group):
    process = started(results, "run", "toy/fig1", "--jobs", workers, kind="WaitsForever")
    assert "started" in process.stderr.readline()
    while not list(results.glob("local/toy/fig1/*/cpu/seed-0/.work/pid")):
        assert process.poll() is None
    os.killpg(process.pid, number) if group else process.send_signal(number)
    _, shown = process.communicate(timeout=20)
    assert process.returncode == code and "failed" not in shown
    assert shown.splitlines()[-1] == "interrupted: the same command will resume where it stopped"
    assert "Traceback" not in shown and "semaphore" not in shown
    begun = list(results.glob("local/toy/fig1/*/cpu/seed-*/.work/pid"))
    assert begun and all((path.parent / "last.ckpt").exists() for path in begun), "the step at hand is saved"


def test_an_interrupted_fresh_run_says_what_would_resume_it(results, monkeypatch, capsys):
    def stopped(_):
        raise cli.Interrupted(signal.SIGTERM)

    monkeypatch.setattr(run_module, "run_command", stopped)
    monkeypatch.setattr(rerun_module, "rerun_command", stopped)
    assert main(["run", "toy", "--fresh"]) == 143
    said = "interrupted: the same command will begin anew; without --fresh it will resume what has no finished version"
    assert capsys.readouterr().err == f"{said}\n"
    assert main(["rerun", "toy/fig1/alpha"]) == 143 and capsys.readouterr().err == "interrupted\n"


def test_a_paper_without_published_numbers_is_trained_and_drawn(results, reproduce):
    CATALOGUE.paper("toy").published.unlink()
    assert "Nothing is compared there." in reproduce("run toy --profile cpu --seeds 0 --jobs 1").out
    assert [main([word, "toy"]) for word in ("compare", "report", "figures", "promote", "list", "show")] == [0] * 6


@pytest.mark.skipif(
    not f"{CHECKOUT}{sys.prefix}".isascii(),
    reason="Python itself finds no module below such a folder in an ASCII locale",
)
def test_a_terminal_that_has_only_ascii_is_written_to():
    said = ascii("n₁ → 7")
    code = (
        "import sys; from reproduce import cli\n"
        f"cli.main = lambda: print({said}) or print({said}, file=sys.stderr)\n"
        "cli.entry()"
    )
    ascii_only = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    ascii_only.pop("PYTHONIOENCODING", None)
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env=ascii_only, capture_output=True, check=True)
    assert done.stdout.strip() == done.stderr.strip() == rb"n\u2081 \u2192 7"


@pytest.mark.parametrize("writable", [True, False])
def test_matplotlib_has_a_folder_where_the_home_folder_cannot_be_written(monkeypatch, tmp_path, writable):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cli.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(cli.os, "access", lambda path, mode: writable)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    cli.home_for_matplotlib()
    chosen = os.environ.get("MPLCONFIGDIR")
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    assert chosen is None if writable else Path(chosen).is_dir() and Path(chosen).parent == tmp_path


def test_a_home_folder_that_may_not_be_entered_is_no_error(monkeypatch):
    def refuses(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuses)
    assert existing(CHECKOUT / "none" / "at all") == CHECKOUT


def test_output_that_the_shell_has_closed_is_no_error(monkeypatch, results):
    (results / "local").mkdir(parents=True)
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["show", "toy"]) == 0


def test_help_is_that_of_every_command_and_encode_is_aligned_or_json(capsys, reproduce):
    assert main(["help", "compare"]) == 0 and "--check-history" in capsys.readouterr().out
    assert main(["encode", "toy/fig1/alpha", "57"]) == 0
    assert capsys.readouterr().out.splitlines() == ["tokens  $  5  7 $", "ids     0 10 10 0", "loss    0  0  0 0"]
    shown = reproduce("encode toy/fig1/alpha 57 --json").out
    assert shown.count("\n") == 1 and json.loads(shown)["position_ids"] == [[0, 10, 10, 0]]


def test_a_statement_that_stands_otherwise_outranks_one_that_cannot_be_looked_up(monkeypatch, results):
    codes = iter([1, 3])
    monkeypatch.setattr(cli, "_answer", lambda row, options: next(codes))
    assert main(["show", "toy/fig1", "toy/fig2"]) == 1


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(results):
    (results / "local").mkdir(parents=True)
    process = started(results, "show", "toy")
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait(20) == 0


def test_reading_commands_do_not_import_torch():
    lines = (
        "--help", "list", "list paper1", "list paper1/fig1", "show coupling", "compare --help", "compare coupling/fig5",
    )  # fmt: skip
    code = (
        "import sys; from reproduce.cli import main\n"
        "assert [main(line.split()) for line in sys.argv[1:]] == [0] * 7\n"
        "heavy = {'torch', 'lightning', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    environment = {key: value for key, value in os.environ.items() if key != "LENGEN_RESULTS"}
    subprocess.run([sys.executable, "-c", code, *lines], cwd=CHECKOUT, env=environment, check=True,
                   capture_output=True)  # fmt: skip

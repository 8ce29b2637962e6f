"""The commands export, score and evaluate, on tasks of the benchmark and on an experiment of a paper."""

import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml

import lengen
from lengen import benchmark
from lengen.benchmark import problems, read_lines, read_submission
from lengen.benchmark.commands import header_of
from lengen.benchmark.exporting import WRITERS
from lengen.benchmark.problem import frozen
from lengen.clone import SHIPPED
from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from reproduce.commands.benchmark_commands import Stored
from reproduce.commands.solve import find

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUN = "coupling/fig1/coupling-scratchpad"
LOUD = ["evaluate", "loud.py:answer", "--on", "copy"]
"""It fails when it is asked, which comes late."""
ADDER = """
def answer(prompts):
    return [str(sum(map(int, prompt[:-1].split("+")))) for prompt in prompts]
def short(prompts):
    return answer(prompts)[1:]
"""
ODD = """
def separators(prompts):
    return [chr(0x2028) + str(sum(map(int, prompt[:-1].split("+")))) for prompt in prompts]
def halves(prompts):
    return [chr(0xd800) for prompt in prompts]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "an_adder", raising=False)
    (tmp_path / "an_adder.py").write_text(ADDER)
    (tmp_path / "an_empty.txt").write_text("\n")
    (tmp_path / "an end.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "loud.py").write_text("def answer(prompts):\n    raise KeyError('asked')\n")
    (tmp_path / "misspelt.jsonl").write_text('{"id": "x", "predicton": "1"}\n')
    (tmp_path / "nested.jsonl").write_text("[" * 100_000 + "\n")
    (tmp_path / "a folder.jsonl").mkdir()
    return tmp_path


def test_export_score_and_a_function_agree(here, reproduce):
    told = json.loads(reproduce("evaluate an_adder:answer --on addition --out p.jsonl --json").out)
    assert json.loads(reproduce("score addition p.jsonl --json --scores scores.csv").out) == told
    assert told[0]["reach"] == 600 and told[0]["in_range"] == 1
    assert (here / "scores.csv").read_text().startswith("length,count,mode,name,value")


def test_predictions_that_are_absent_are_said_and_none_at_all_is_a_score(here, reproduce):
    (told,) = json.loads(reproduce("score copy an_empty.txt --json --picture p.svg").out)
    assert told["absent"] == 600 and told["in_range"] == 0
    assert (here / "p.svg").is_file()
    for id, left in (("copy/length=5/count=1/0000", 899), ("copy/2/uniform/length=5/count=1/0000", 600)):
        (here / "p.jsonl").write_text(json.dumps({"id": id, "prediction": "1"}) + "\n")
        out, err = reproduce("score copy p.jsonl")
        assert f"{left - (left == 600)} problems have no prediction" in err
        assert ("lengen-text/1" if left == 899 else "lengen-text/2") in out


def test_a_sign_that_every_prediction_has_is_named_and_dollars_around_problems_are_none(here, reproduce):
    (here / "p.jsonl").write_text(json.dumps({"id": "copy/2/uniform/length=5/count=1/0000", "prediction": "1$"}) + "\n")
    assert "every prediction has '$', which no answer has" in reproduce("score copy p.jsonl").err
    (here / "p.txt").write_text("$527+751=\n$1+2=3$\n")
    out, err = reproduce("evaluate an_adder:answer --on addition --problems p.txt")
    assert "in range  1.000" in out and "every prediction" not in err


@pytest.mark.parametrize(("option", "file"), [("--scores", "s.csv"), ("--picture", "p.png")])
def test_a_file_of_scores_or_a_picture_is_of_one_seed(here, option, file, capsys):
    rows = ({"id": "copy/length=5/count=1/0000", "prediction": "1", "seed": seed} for seed in (0, 1))
    (here / "p.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert main(["score", "copy", "p.jsonl", option, file]) == 2
    assert f"{option} is of one seed, and the predictions are of 2" in capsys.readouterr().err
    assert not (here / file).exists()


@pytest.mark.parametrize("form", ["jsonl", "txt", "csv"])
def test_every_format_has_every_problem(here, form, capsys):
    assert main(["export", "copy", "--size", "6", "--format", form, "--out", "out"]) == 0
    asked = problems("copy", 6)
    names = capsys.readouterr().out.split()
    assert all((here / name).is_file() for name in names) and names[-1].endswith("README.md")
    text = "".join((here / name).read_text() for name in names[:-1])
    assert all(problem.prompt in text and problem.answer in text for problem in asked)
    assert "SHA-256" in (here / names[-1]).read_text()


@pytest.mark.parametrize(("task", "answer", "same", "other"), [
    ("copy", "0450", "\n0 450$", "450"),
    ("addition", "12", " 0012$\n13", "21"),
    ("sorting", "1 23", "1, 23 $", "12 3"),
])  # fmt: skip
def test_the_harness_scores_as_the_protocol_says(here, task, answer, same, other, monkeypatch):
    assert main(["export", task, "--size", "10", "--format", "lm-eval", "--out", "out"]) == 0
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=None))
    process = runpy.run_path(str(here / "out/utils.py"))["process_results"]
    doc = {"task": task, "answer": answer, "length": 2, "count": 1}
    assert process(doc, [same]) == process(doc, [answer]) == {"exact_match": 1.0, "length_2": 1.0}
    assert process(doc, [other])["exact_match"] == process(doc, [""])["exact_match"] == 0


def test_a_folder_for_the_harness_is_in_its_conventions_and_knows_no_path_of_this_machine(here):
    assert main(["export", "addition", "--size", "6", "--format", "lm-eval", "--out", "out"]) == 0
    texts = {path.name: path.read_text() for path in (here / "out").rglob("*") if path.is_file()}
    assert not [name for name, text in texts.items() if str(here) in text or str(ROOT) in text]
    yaml.SafeLoader.add_constructor("!function", lambda loader, node: node.value)
    task, base, group = (
        yaml.safe_load(texts[name]) for name in ("lengen_addition_6.yaml", "_lengen.yaml", "lengen.yaml")
    )
    assert group == group | {"group": "lengen", "task": ["lengen_addition_6"]}
    metrics = [entry["metric"] for entry in task["metric_list"]]
    lengths = benchmark.TASKS["addition"].lengths(6)
    assert metrics == ["exact_match", *(f"length_{length}" for length in lengths)]
    assert base["fewshot_split"] == "few_shot" and base["tag"] == "lengen_text" and task["metadata"]["version"] == 2.0
    tested = {json.loads(line)["prompt"] for line in texts["lengen_addition_6.jsonl"].splitlines()}
    shots = [json.loads(line) for line in texts["lengen_addition_6_few_shot.jsonl"].splitlines()]
    assert len(tested) > 3000 and len(shots) == 8 and not tested & {shot["prompt"] for shot in shots}


def test_the_harness_itself_reads_the_folder(here):
    tasks = pytest.importorskip("lm_eval.tasks")
    assert main(["export", "copy", "--size", "6", "--format", "lm-eval", "--out", "out"]) == 0
    manager = tasks.TaskManager(include_path=str(here / "out"), include_defaults=False)
    assert {"lengen", "lengen_copy_6"} <= {*manager.all_tasks}
    task = tasks.get_task_dict(["lengen_copy_6"], manager)["lengen_copy_6"]
    docs = list(task.test_docs())
    assert [doc["id"] for doc in docs] == [problem.id for problem in problems("copy", 6)]
    assert task.process_results(docs[0], [docs[0]["answer"]]) == {"exact_match": 1.0, "length_2": 1.0}
    assert task.doc_to_text(docs[0]) == docs[0]["prompt"] and len(list(task.fewshot_docs())) == 8
    assert set(task.aggregation()) == {"exact_match", *(f"length_{n}" for n in benchmark.TASKS["copy"].lengths(6))}


def test_samples_of_the_harness_are_scored(here, reproduce):
    asked = problems("reverse", 10)
    for part in (0, 1):
        samples = [
            {"doc": one._asdict(), "resps": [[one.answer if one.length < 15 else "\n?"]]} for one in asked[part::2]
        ]
        lines = (json.dumps({**sample, "by": "\u2028"}, ensure_ascii=False) + "\n\n" for sample in samples)
        (here / f"samples_{part}.jsonl").write_text("\ufeff" + "".join(lines))
    (told,) = json.loads(reproduce("score reverse --size 10 --json --lm-eval samples_0.jsonl samples_1.jsonl").out)
    assert (told["reach"], told["in_range"], told["absent"]) == (11, 1, 0)
    (here / "samples_0.jsonl").write_text('{"doc": {}, "resps": []}')
    assert "lm_eval --log_samples" in reproduce("score reverse --lm-eval samples_0.jsonl", code=2).err


def test_a_dataset_of_the_hub_has_a_configuration_for_each_task_and_size(here):
    assert main(["export", "successor", "--size", "6", "--hub", "hub"]) == 0
    card = (here / "hub/README.md").read_text()
    head = yaml.safe_load(card.split("---")[1])
    assert {"license", "language", "task_categories", "tags", "size_categories", "configs"} <= head.keys()
    assert str(here) not in card and "@misc" in card
    (config,) = head["configs"]
    assert config["config_name"] == "successor-6"
    splits = {entry["split"]: here / "hub" / entry["path"] for entry in config["data_files"]}
    assert list(splits) == ["few_shot", "uniform", "carry_quarter", "carry_half", "carry_all"]
    read = read_lines(splits["uniform"].read_text().splitlines())
    assert read == problems("successor", 6)
    assert yaml.safe_load((here / "hub/eval.yaml").read_text())["tasks"] == [
        {"id": "successor_6", "config": "successor-6", "split": "uniform"}
    ]
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(here / "hub"), "successor-6", split="carry_all", cache_dir=str(here / "cache"))
    assert loaded[0]["answer"] == "1000000"


def test_all_tasks_of_a_size_are_one_dataset(here):
    assert main(["export", "all", "--size", "5", "--hub", "hub"]) == 0
    configs = yaml.safe_load((here / "hub/README.md").read_text().split("---")[1])["configs"]
    names = ["sums-5", "multiplication-5", "sorting-5", "max-5"]
    assert [config["config_name"] for config in configs] == names
    assert sorted(path.name for path in (here / "hub/data").iterdir()) == sorted(names)


def test_chains_of_carries_are_evaluated_and_scored_apart(here, reproduce):
    words = ["evaluate", "an_adder:answer", "--on", "addition", "--size", "6", "--split", "carry", "--out", "p.jsonl"]
    said = reproduce(words).out
    assert [said.count(f"carry-{part}\n") for part in ("quarter", "half", "all")] == [1, 1, 1]
    told = [json.loads(line)[0] for line in reproduce("score addition p.jsonl --size 6 --json").out.splitlines()]
    assert [(row["split"], row["reach"]) for row in told] == [(f"carry-{p}", 600) for p in ("quarter", "half", "all")]


def test_training_lines_of_a_task(here):
    assert main(["export", "addition", "--split", "train", "--examples", "50", "--format", "txt", "--out", "out"]) == 0
    lines = (here / "out/addition-train.txt").read_text().split()
    assert len(lines) == 50
    for line in lines:
        left, _, answer = line.partition("=")
        assert sum(map(int, left.split("+"))) == int(answer) and max(map(len, left.split("+"))) <= 6


def test_an_experiment_is_exported_and_its_true_answers_are_right(here, capsys, reproduce):
    name, size = "coupling/fig1/coupling-scratchpad", ["--profile", "smoke"]
    assert main(["export", name, *size, "--out", "out"]) == 0
    (path,) = (here / "out").glob("*.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    (here / "p.jsonl").write_text(
        "".join(json.dumps({"id": r["id"], "raw": r["written_response"]}) + "\n" for r in rows)
    )
    capsys.readouterr()
    assert json.loads(reproduce(["score", name, "p.jsonl", *size, "--json"]).out)[0]["in_range"] == 1
    assert "score with the --profile and --seed of their export" in reproduce(["score", name, "p.jsonl"], code=2).err
    assert "add --split train" in reproduce(["export", name, *size, "--out", "out", "--steps", "0..1"], code=2).err
    train = ["export", name, *size, "--split", "train", "--format", "txt", "--out", "out", "--steps"]
    assert main([*train, "3..1"]) == 2 and "counts down" in capsys.readouterr().err
    assert main([*train, "99999998..99999999"]) == 2 and "the last is one less" in capsys.readouterr().err
    assert main([*train, "0..1"]) == 0
    written = next((here / "out").glob("*.txt")).read_text().splitlines()
    assert len(written) == 2 * CATALOGUE.select_one(name).specs["smoke"].train.batch
    assert all(re.fullmatch(r"\$.+=.+\$", line) for line in written)


def test_problems_of_another_number_or_seed_have_ids_of_their_own(here, reproduce):
    name, ids = "task_hinting/table3/standard", {}
    for options in (("--examples", "5"), ("--examples", "6"), ("--examples", "5", "--seed", "1")):
        assert main(["export", name, "--profile", "smoke", *options, "--out", f"out{len(ids)}"]) == 0
        (path,) = (here / f"out{len(ids)}").glob("*.jsonl")
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        ids[options] = {row["id"] for row in rows}
        (here / "p.jsonl").write_text(
            "".join(json.dumps({"id": row["id"], "prediction": row["answer"]}) + "\n" for row in rows)
        )
        (told,) = json.loads(reproduce(["score", name, "p.jsonl", "--profile", "smoke", *options[2:], "--json"]).out)
        assert (told["in_range"], told["absent"]) == (1, 0)
    assert not set.intersection(*ids.values()) and len(set.union(*ids.values())) == sum(map(len, ids.values()))


def test_predictions_of_other_sizes_are_left_out_and_counted(here, capsys, reproduce):
    rows = [{"id": one.id, "prediction": one.answer} for one in frozen("copy")]
    assert main(["export", "copy", "--protocol", "1", "--out", "one"]) == 0 and len(list((here / "one").iterdir())) == 2
    capsys.readouterr()
    (here / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out, err = reproduce("score copy p.jsonl --size 6 --json")
    assert f"{len(rows) - len(frozen('copy', 6))} predictions are of other sizes than 6" in err
    assert json.loads(out)[0]["absent"] == 0 and json.loads(out)[0]["in_range"] == 1
    own = {one.id for one in frozen("copy", 6)}
    (here / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows if row["id"] not in own))
    assert main(["score", "copy", "p.jsonl", "--size", "6"]) == 2
    assert "predictions are of other sizes than 6: --size N scores them" in capsys.readouterr().err


def test_an_interrupted_export_can_be_repeated(here, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(WRITERS, "jsonl", killed)
    words = ["export", "copy", "--size", "6", "--out", "out"]
    assert main(words) == 130
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert main(words) == 0


def test_a_submission_is_written_seed_by_seed(here):
    words = ["evaluate", "an_adder:answer", "--on", "addition", "--submission", "mine", "--name", "adder"]
    for seed in ("0", "1", "1"):
        assert main([*words, "--seed", seed]) == 0
    header, grids = read_submission(here / "mine")
    assert (header.model, header.kind, header.seeds) == ("adder", "program", (0, 1))
    assert all(grid.accuracy() == 1 for grid in grids.values())


def test_a_constructed_model_writes_what_is_known_of_it(here):
    (asked, *_) = frozen("sums", 3)
    given = SimpleNamespace(spec=lengen.setting(digits=2), module=torch.nn.Linear(2, 1), weights=None)
    options = SimpleNamespace(function=None, units_first=False, run="p/f/v", name=None, hf=None, protocol=2)
    header = header_of(options, benchmark.task_of(asked.task), 3, given, 0, Stored())
    assert (header.kind, header.parameters, header.model, header.trained) == ("constructed", 3, "p/f/v", None)


def test_a_stored_run_writes_the_digits_of_both_operands_and_the_examples_of_all_its_trainings(tmp_path):
    name = "bias_calibration/table1/addition-abc"
    options = SimpleNamespace(function=None, units_first=False, run=name, profile=None, name=None, hf=None, protocol=2)
    written = header_of(options, benchmark.task_of("addition"), 6, lengen.load(name), 0, Stored())
    committed, _ = read_submission(ROOT / "results/benchmark/suite-addition-abc")
    assert (written.trained, written.parameters) == (committed.trained, committed.parameters)
    declared = CATALOGUE.select_one(name).specs["night"]
    (tmp_path / "run.json").write_text(
        json.dumps({"experiment": name, "profile": "night", "spec_hash": declared.hash(), "spec": {}})
    )
    of_all = sum(part.train.steps * part.train.batch for part in declared.trainings())
    assert Stored().examples(SimpleNamespace(run=str(tmp_path)), 0, None) == of_all


@pytest.mark.parametrize(("words", "sentence"), [
    (["export", "copy"], "expected --out DIR"),
    (["export", "--out", "x"], "expected a task of docs/benchmark.md"),
    (["export", "--hub", "x"], "or all, with --hub DIR"),
    (["export", "copy", "--hub", "x", "--split", "train"], "--hub takes test problems"),
    (["evaluate", "an_adder:answer", "--on", "copy", "--chat"], "--shots and --chat are of --hf"),
    (["evaluate", "an_adder:answer", "--on", "max", "--protocol", "1"], "one of: addition, sums"),
    (["score", "copy"], "expected a file of predictions, or --lm-eval"),
    (["export", "copy", "--out", "."], "holds other files"),
    (["export", "copy", "--size", "7", "--out", "x"], "expected 6, 10, 20, 30, 40, 50"),
    (["score", "copy", "nothing.jsonl"], "cannot be read"),
    (["score", "nothing", "nothing.jsonl"], "nothing"),
    (["evaluate", "--on", "copy"], "expected one of MODULE:FUNCTION"),
    (["evaluate", "an_adder:nothing", "--on", "copy"], "expected MODULE:FUNCTION"),
    (["evaluate", "an_adder", "--on", "copy"], "expected MODULE:FUNCTION"),
    (["evaluate", "--run", RUN, "--on", "sums", "--seed", "77"], "--seeds 77"),
    (["score", "copy", "an_empty.txt", "--beside", RUN, "--seed", "77"], "--seeds 77"),
    (["score", RUN, "an_empty.txt", "--size", "6"], "--size is of a task"),
    (["export", RUN, "--out", "x", "--hf", "y"], "name one of them"),
    (["evaluate", "an_adder:short", "--on", "addition"], "expected a list of as many"),
    (["evaluate", "an_adder:answer", "--on", "zzz"], "one of: addition"),
    (["evaluate", "an_adder:answer", "--on", "addition", "--problems", "nothing.txt"], "cannot be read"),
    (["evaluate", "an_adder:answer", "--on", "addition", "--problems", "an_empty.txt"], "has no problem"),
    (["export", "addition", "--size", "6", "--examples", "3", "--out", "x"], "frozen"),
    (["export", "addition", "--steps", "0..9", "--out", "x"], "--steps is of an experiment"),
    (["export", RUN, "--split", "train", "--examples", "3", "--out", "x"], "--examples is of tests"),
    (["export", "coupling/fig3/nope-plain", "--size", "6", "--out", "x"], "--size is of a task"),
    (["export", "additon", "--out", "x"], "nearest: addition"),
    (["export", "copy", "--out", "an_adder.py"], "name a folder"),
    (["export", "copy", "--seed", "4", "--out", "x"], "--seed is of --split train"),
    (["export", "copy", "--profile", "night", "--out", "x"], "--profile is of an experiment"),
    (["export", RUN, "--hf", "x", "--format", "csv"], "--hf exports a run"),
    (["score", "additions", "an_empty.txt"], "nearest: addition"),
    (["score", "copy", "an_empty.txt", "--seed", "4"], "--beside SELECTOR"),
    (["evaluate", "an end.py:f", "--on", "copy"], "it ends the program when it is imported"),
    (["adderboard", "an end.py"], "it ends the program when it is imported"),
    (["show", "random_spaces/fig4.5/nosuch"], "one of: ape"),
    (["evaluate", "math:sqrt", "--on", "addition"], "the function failed for '"),
    (["promote", "coupling", "--profile", "smoke"], "reproduce run coupling --profile smoke"),
    (["adderboard", "an_adder.py", "--seed", "3"], "an_adder.py is a file and has no runs for --seed"),
    (["evaluate", "no/x.py:f", "--on", "copy"], "there is no file no/x.py"),
    (["probe", "coupling/fig7/fire-plain", "5", "7", "--out", "no/p.png"], "no is no folder"),
    *((words.split(), "cannot be run (refused: ") for words in (
        "encode matrix/sums/abc 5 7", "solve matrix/sums/abc 5 7", "probe matrix/sums/abc 5 7",
        "score matrix/sums/abc an_empty.txt", "export matrix/sums/abc --out x", "rerun matrix/sums/abc",
        "evaluate --run matrix/sums/abc --on sums", "adderboard matrix/sums/abc",
    )),
    (["run", "matrix/sums/abc"], "choose another variant"),
    (["export", "addition", "--split", "train", "--format", "lm-eval", "--out", "x"], "add --split test"),
    (["evaluate", "an_adder:answer", "--name", "x", "--on", "addition"], "--name is of a submission"),
    (["evaluate", "an_adder:answer", "--profile", "cpu", "--on", "copy"], "--profile chooses the run of --run"),
    (["evaluate", "an_adder.py", "--on", "addition"], "expected build_model() that returns (model, metadata)"),
    (["evaluate", "an_adder.py:nope", "--on", "addition"], "it has no nope"),
    (["evaluate", "--run", "coupling/thm4.1/construction", "--on", "parity"], "is of another task than parity and"),
    (["adderboard", "task_hinting/fig3.6/none"], "adds no two numbers, its task is sorting: name one that does"),
    (["score", "copy", "misspelt.jsonl"], "no row has a prediction"),
    (["score", "copy", "nested.jsonl"], "expected JSON"),
    (["evaluate", "an_adder:answer", "--on", "addition", "--split", "carry", "--scores", "x.csv"], "of several splits"),
    (["solve", "./a folder.jsonl", "5", "7"], "a folder; expected paper/figure/variant or, for rerun, evaluate --run"),
    (["run", "coupling/fig3/coupling-scratchpad", "--dry-run", "--set", "data.position_ids.max_position=9,9"],
     "need position ids up to"),
    (["run", RUN, "--logger", "pigeon"], "tensorboard"),
    *(([*LOUD, "--submission", "s", "--name", name], "1 to 120 characters") for name in ("a | b", "x" * 121)),
    *(([*LOUD, option, value], sentence) for option, value, sentence in (
        ("--out", "no/x.jsonl", "no folder"), ("--picture", "no/x.png", "no folder"), ("--beside", "no", "paper"),
        ("--out", "/proc/x.jsonl", "cannot be written"), ("--out", "a folder.jsonl", "it is a folder"),
    )),
])  # fmt: skip
def test_mistakes_are_one_sentence(here, reproduce, words, sentence):
    err = reproduce(words, code=2).err
    assert sentence in err and err.count("\n") == 1
    assert not (here / "s").exists()


def test_what_was_not_measured_is_null(here, reproduce):
    (told,) = json.loads(reproduce(["score", RUN, "an_empty.txt", "--json"]).out)
    test = CATALOGUE.select_one(RUN).specs["cpu"].test
    assert (told["in_range"], told["reach"], told["edits"]) == (0, 0, None)
    assert told["absent"] == test.examples * len(test.lengths) * len(test.counts)
    (here / "p.jsonl").write_text('{"id": "coupling/fig1/coupling-scratchpad/length=5/count=5/00000", "raw": ""}')
    (told,) = json.loads(reproduce(["score", RUN, "p.jsonl", "--json"]).out)
    assert (told["in_range"], told["reach"]) == (None, 0)


def test_published_values_stand_beside_scores(tmp_path, reproduce):
    rows = [{"id": problem.id, "prediction": problem.answer} for problem in frozen("successor", 6)]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = reproduce(["score", "successor", str(path), "--beside", "bias_calibration/table1/successor-vanilla"]).out
    assert "published: 100 %, length 6 (Table 1" in said and "published: 0 %, length 10 (Table 1" in said


@pytest.mark.parametrize("name", ["papers", "queue", "folder/mine"])
def test_a_file_of_ones_own_is_found_whatever_its_name(here, capsys, name):
    """Its neighbours, too; its classes may have annotations that are read later."""
    file = here / f"{name}.py"
    file.parent.mkdir(exist_ok=True)
    (file.parent / "a_helper_of_mine.py").write_text("def added(text): return str(sum(map(int, text.split('+'))))")
    file.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom a_helper_of_mine import added\n"
        "@dataclass\nclass Model:\n    size: int = 0\n"
        "def answer(prompts): return [added(prompt[:-1]) for prompt in prompts]\n"
    )
    for given in (name, f"{name}.py", f"./{name}.py", str(file)):
        assert main(["evaluate", f"{given}:answer", "--on", "addition", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)[0]["in_range"] == 1
    del sys.modules["a_helper_of_mine"]


def test_what_a_function_writes_is_read_back_whatever_characters_it_has(here, reproduce):
    (here / "writers.py").write_text(ODD)
    for name in ("separators", "halves"):
        asked = ["evaluate", f"writers.py:{name}", "--on", "addition", "--json"]
        told = json.loads(reproduce([*asked, "--out", "p.jsonl", "--submission", name]).out.splitlines()[-1])
        assert json.loads(reproduce("score addition p.jsonl --json").out) == told
        header, _ = read_submission(here / name)
        assert header.model == f"writers.py:{name}"


def test_models_that_come_with_the_package_are_the_committed_runs():
    reference = ROOT / "results" / "reference"
    stored = {path: "/".join(path.relative_to(reference).parts[:3]) for path in reference.rglob("model.safetensors")}
    assert len(SHIPPED) - 1 == len(stored) == 9, "one is constructed"
    for name in SHIPPED:
        model, experiment = lengen.load(name), CATALOGUE.select_one(name)
        assert experiment.name == stored.pop(model.weights.resolve(), "coupling/thm4.1/construction")
        spec, ours = find(experiment).spec.override(*experiment.shown), model.module.state_dict()
        room = {"position_ids": model.spec.data.position_ids}  # of a construction only for the operands it is made for
        assert model.spec.to_dict() == lengen.replace(spec, data=room).to_dict()
        for key, value in lengen.load(experiment.name).module.state_dict().items():
            assert torch.equal(ours[key], value[: len(ours[key])] if value.ndim else value)
    assert lengen.load("sums-constructed").accuracy(100, 100, examples=2) == 1
    with pytest.raises(ValueError, match="the model has 103"):
        lengen.load("sums-constructed").accuracy(102, 2)

"""Anyone's model: a function, a network over characters, models of transformers, and a model of this suite."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_model
from torch import nn

import lengen
from lengen import TaskData, build_model, from_transformers, generate, problems
from lengen.benchmark import PredictionError, TaskError, read_lines, task_of
from lengen.benchmark import problems_of_a_setting as lines
from lengen.benchmark.problems_and_answerers import predictions
from lengen.callbacks.accuracy_grid import score_cell
from lengen.cli import entry
from lengen.huggingface import HuggingFaceError, export, from_folder
from lengen.results.records import Counts, Grid
from lengen.solve import answers
from lengen.tasks.base import typed
from tests.fixtures.refusals import refused


def spec():
    data = lengen.DataSpec(
        task=lengen.Addition(digits=2, operands=2),
        format=lengen.Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True),
        position_ids=lengen.Coupled((9, 9)),
    )
    model = lengen.ModelSpec(layers=1, heads=2, width=8, head_dim=4, ff_width=8, encoding=lengen.Learned())
    train = lengen.TrainSpec(steps=2, batch=4, lr=1e-3)
    return lengen.Spec(data=data, model=model, train=train, test=lengen.TestSpec((2, 3), counts=(2, 3), examples=7))


def test_a_function_is_scored_on_problems_of_ones_own():
    own = read_lines(["12+34=46", "99+1"], task_of("addition"))
    assert lengen.evaluate(lambda prompts: ["64", "001"], "addition", problems=own, units_first=True).accuracy() == 1


def test_numbers_of_an_array_are_texts():
    (row,) = predictions(lambda prompts: np.array([46]), read_lines(["12+34=46"], task_of("addition")))
    assert row["prediction"] == "46" and json.loads(json.dumps(row)) == row


class Copier(nn.Module):
    """Copies all before the =, then ends; a position is found from the place of the =."""

    def forward(self, tokens):
        logits = torch.zeros(*tokens.shape, 12)
        for row, seen in enumerate(tokens.tolist()):
            start = seen.index(10)
            done = len(seen) - start - 1
            logits[row, -1, seen[done] if done < start else 11] = 1
        return logits


def test_a_network_over_characters_is_scored():
    answer = lengen.character_model(Copier(), "0123456789=$")
    assert lengen.evaluate(answer, "copy", 6, version=1).accuracy() == 1
    refused(ValueError, r"lacks: \+", answer, ["1+2="])
    refused(ValueError, "lack the end", lengen.character_model, Copier(), "0123456789=")
    refused(ValueError, "hold '1' more than once", lengen.character_model, Copier(), "01213456789=$")


def test_a_network_answers_without_dropout_and_trains_on_as_before():
    module = nn.Sequential(Copier(), nn.Dropout(1.0), nn.Identity().eval())
    assert lengen.character_model(module, "0123456789=$")(["42="]) == ["42"]
    assert [part.training for part in module.modules()] == [True, True, True, False]
    padded = nn.Sequential(module, nn.ConstantPad1d((0, 9), 1e9))
    assert lengen.character_model(padded, "0123456789=$")(["42="]) == ["42"], "logits of no character"
    refused(ValueError, "lacks", lengen.character_model(module, "0123456789=$"), ["x="])
    assert module.training


@pytest.mark.parametrize("answer", [lambda prompts: prompts, SimpleNamespace(answers=None)])
def test_no_problems_and_no_size_are_refused(answer):
    refused(ValueError, "nothing' is no problem; expected", lengen.evaluate, answer, "sums", problems=[])
    for ask in (lambda: lengen.evaluate(answer, "parity", size=0), lambda: problems("parity", 0, split="train")):
        refused(TaskError, "no size 0; expected ", ask)
    for examples in (0, 2.5, "7"):
        refused(TaskError, "expected a whole number", problems, "addition", 6, split="train", examples=examples)
    for version in (3, "1", None):
        for asked in ((lengen.evaluate, answer, "copy", 6), (problems, lengen.setting("copy", digits=2))):
            refused(TaskError, "expected 1 or 2", *asked, version=version)
    refused(TaskError, "no carries to chain", problems, "addition", 6, split="carry", version=1)
    refused(TaskError, "expected a list of as many", lengen.evaluate, lambda _: np.array("1"), "copy", 6)
    refused(ValueError, "these are lines of JSON", lengen.score, problems("copy", 6)[:1], ['{"id": "x"}'])


class Tokenizer:
    pad_token = eos_token = "$"
    pad_token_id = 11

    def __call__(self, prompts, **options):
        width = max(map(len, prompts))
        ids = [[11] * (width - len(prompt)) + ["0123456789=".index(c) for c in prompt] for prompt in prompts]
        return Inputs(input_ids=torch.tensor(ids))

    def batch_decode(self, rows, skip_special_tokens):
        return ["".join("0123456789="[t] for t in row if t < 11) for row in rows.tolist()]


class Inputs(dict):
    def to(self, device):
        return self


def test_a_causal_language_model_answers_in_the_order_of_the_prompts():
    """A double of `transformers`: it generates the prompt without its end, and `hf` sorts prompts by their length."""

    def generate(input_ids, max_new_tokens, **options):
        return torch.cat([input_ids, input_ids[:, :-1]], dim=1)

    model = SimpleNamespace(generate=generate, device="cpu")
    assert from_transformers(model, Tokenizer(), at_once=2)(["123=", "4=", "56="]) == ["123", "4", "56"]
    asked = []
    model.generate = lambda max_new_tokens, **inputs: (
        asked.append(max_new_tokens) or generate(max_new_tokens=0, **inputs)
    )
    model.named_modules, model.config = (
        lambda: [("wpe", nn.Embedding(4, 1))],
        SimpleNamespace(max_position_embeddings=4),
    )
    window = "a text as long as the learned positions has no answer, and takes none from shorter ones"
    assert from_transformers(model, Tokenizer())(["123=", "4=", "56="]) == ["", "4", "56"], window
    assert asked == [2, 1]
    refused(HuggingFaceError, "no generate", from_transformers, object(), Tokenizer())


def test_models_of_transformers_answer():
    transformers = pytest.importorskip("transformers")
    common = {"vocab_size": 12, "bos_token_id": 11, "eos_token_id": 11, "pad_token_id": 11}
    for model in (
        transformers.GPT2LMHeadModel(transformers.GPT2Config(n_positions=8, n_embd=8, n_layer=1, n_head=1, **common)),
        transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, **common
            )
        ),
    ):
        asked = problems("copy", 6)[:20]
        grid = lengen.evaluate(from_transformers(model, Tokenizer()), "copy", problems=asked)
        assert grid.total(grid.scores, "free_running")["n"] == 20


def test_without_transformers_it_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    refused(HuggingFaceError, "pip install", from_folder, tmp_path)


def test_answers_of_a_model_come_in_the_order_of_the_problems():
    made = spec()
    data, model = TaskData(made, 0), build_model(made, 0).eval()
    rows = [["12", "34"], ["1", "2"], ["x", "2"], ["57", "48"]]
    found = answers(data, model, rows)
    alone = [answers(data, model, [row]).texts[0] for row in rows]
    assert found.texts == alone and found.texts[2] is None and "'x'" in found.why


def test_a_model_of_another_task_is_refused(tmp_path):
    model = lengen.load(_folder(tmp_path))
    refused(TaskError, "another task", lengen.evaluate, model, "copy", 6)
    grid = lengen.evaluate(model, "addition", problems=read_lines(["12+34", "1+2"], task_of("addition")))
    assert grid.total(grid.scores, "free_running")["n"] == 2


def _folder(path):
    model = build_model(spec(), 0)
    save_model(model, str(path / "weights.safetensors"))
    grid = Grid(("length", "count"))
    for cell in ((2, 2), (3, 2)):
        grid.add(cell, "teacher_forced", Counts(n=4, correct=cell[0]))
    return export(spec(), path / "weights.safetensors", path / "run", "paper/figure/variant", grid)[0].parent


def test_a_run_as_others_load_it(tmp_path):
    folder = _folder(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "config.json", "model.safetensors", "tokenizer.json",
    ]  # fmt: skip
    model = lengen.load(folder)
    assert model.spec == spec()
    for name, weight in build_model(spec(), 0).state_dict().items():
        assert torch.equal(weight, model.module.state_dict()[name])
    vocab = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    assert all(model.data.vocab.id(symbol) == id for symbol, id in vocab.items())
    card = (folder / "README.md").read_text()
    assert "| 2 | 0.5000 |" in card and "0.75" in card


def test_export_answer_and_score_give_the_counts_of_the_grid():
    """The round trip: problems leave as lines, a model answers them by their operands, its texts come back."""
    made = spec()
    data, model = TaskData(made, 0), build_model(made, 0).eval()
    grid = Grid(("length", "count"))
    for cell in ((2, 2), (2, 3), (3, 2), (3, 3)):
        scores = score_cell(model, data.writer, data.test(*cell, made.test.examples), True)
        grid.add(cell, "free_running", scores["free_running"])
    exported = [json.loads(json.dumps(line)) for line in lines.tests(data, grid.scores, made.test.examples, "p/f/v")]
    rows = []
    for line in exported:
        written = generate(model, data.writer, data.task.parse(line["operands"]))
        rows.append({"id": line["id"], "raw": data.vocab.decode(written[0])})
    counted = lines.scored(data, "p/f/v", rows)
    for cell, modes in grid.scores.items():
        found = dict(counted.scores[cell]["free_running"])
        assert found.pop("absent") == 0
        assert found == modes["free_running"]
    true = [{"id": line["id"], "raw": line["written_response"]} for line in exported]
    assert lines.scored(data, "p/f/v", true).accuracy() == 1
    plain = [{"id": line["id"], "prediction": line["answer"]} for line in exported]
    assert lines.scored(data, "p/f/v", plain).accuracy() == 1
    for form in (lambda text: int(text), lambda text: f" {text}\n", lambda text: f"00{text}"):
        shaped = [row | {"prediction": form(row["prediction"])} for row in plain]
        assert lines.scored(data, "p/f/v", shaped).accuracy() == 1
    turned = [row | {"prediction": row["prediction"][::-1]} for row in plain]
    assert lines.scored(data, "p/f/v", turned, units_first=True).accuracy() == 1
    assert lines.scored(data, "p/f/v", turned).accuracy() < 1
    refused(PredictionError, "occurs twice", lines.scored, data, "p/f/v", [*plain, plain[0]])
    refused(PredictionError, "give one of both", lines.scored, data, "p/f/v", [true[0], *plain[1:]])
    absent = lines.scored(data, "p/f/v", true[1:])
    assert absent.total(absent.scores, "free_running")["absent"] == 1 and absent.accuracy() < 1


def test_the_ladder_leaves_as_a_file_is_answered_outside_and_scored_to_the_same_counts(tmp_path):
    """The round trip of protocol 2, through the program: a model gets operands alone, and its texts come back."""
    model = lengen.load(_folder(tmp_path))
    assert entry(["export", "addition", "--size", "6", "--out", str(tmp_path / "out")]) == 0
    lines = (tmp_path / "out/addition-test.jsonl").read_text().splitlines()
    short = [line for line in map(json.loads, lines) if max(line["length"], line["count"]) <= 3]
    texts = model.answers([line["operands"] for line in short])
    rows = [{"id": line["id"], "prediction": text} for line, text in zip(short, texts, strict=True) if text is not None]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scored, asked = lengen.score(problems("addition", 6), tmp_path / "p.jsonl"), lengen.evaluate(model, "addition", 6)
    assert scored.scores == asked.scores and (scored.size, scored.version) == (6, 2)
    assert read_lines(lines) == problems("addition", 6)


@pytest.mark.parametrize("task", [
    lengen.Addition(digits=3, operands=3), lengen.Multiplication(3, 2), lengen.Parity(5), lengen.Copy(5),
    lengen.Reverse(5), lengen.Sorting(longest=6), lengen.Successor(4), lengen.NByOne(4), lengen.Increment(longest=6),
], ids=lambda task: task.kind)  # fmt: skip
def test_operands_are_read_back(task):
    problems = task.test(5, 4, task.counts[-1] if task.LEAST_COUNT else 1, torch.Generator().manual_seed(0))
    for place, row in enumerate(typed(task, problems)):
        (answer,) = task.text(task.parse(row))
        assert answer == task.text(problems)[place]


def test_the_training_stream_is_that_of_the_run():
    data = TaskData(spec(), 3)
    found = list(lines.training(data, range(2), "p/f/v"))
    assert [line["text"] for line in found] == [
        data.vocab.decode(row) for step in range(2) for row in data.batch(step).tokens
    ]


@pytest.mark.parametrize("words", [
    ["evaluate", "mine.py:answer", "--on", "copy", "--problems", "mine.jsonl", "--out", "./mine.jsonl"],
    ["score", "copy", "mine.csv", "--scores", "mine.csv"],
])  # fmt: skip
def test_no_command_replaces_what_it_reads(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("mine.jsonl", "mine.csv"):
        Path(name).write_text("12=12\n")
    assert entry(words) == 2 and "would replace what is read" in capsys.readouterr().err
    assert Path("mine.jsonl").read_text() == Path("mine.csv").read_text() == "12=12\n"


def test_a_missing_package_and_a_place_that_cannot_be_written_are_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)
    words = ["export", "copy", "--size", "6", "--out"]
    assert entry([*words, str(tmp_path), "--format", "csv"]) == 2
    assert capsys.readouterr().err == "lengen: tables and pictures need pandas: pip install 'lengen[reproduce]'\n"
    (tmp_path / "file").touch()
    assert entry([*words, str(tmp_path / "file")]) == 2
    assert f"{tmp_path / 'file'}: File exists; make room, give permission, or name" in capsys.readouterr().err
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert entry([*words, str(tmp_path / "full")]) == 2
    assert capsys.readouterr().err.startswith("lengen: No space left on device; make room")


def test_a_function_that_ends_the_program_is_one_sentence(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("def f(prompts): raise KeyboardInterrupt")
    assert entry(["evaluate", f"{tmp_path}/mine.py:f", "--on", "copy"]) == 130
    assert capsys.readouterr().err.endswith("lengen: interrupted\n")
    with pytest.raises(TaskError, match=r"the function failed for .*\(SystemExit: 4\)"):
        lengen.evaluate(lambda prompts: sys.exit(4), "copy")

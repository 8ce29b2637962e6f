"""What a language model is asked, and the answer in its reply."""

import sys
from types import SimpleNamespace

import pytest

import lengen
from lengen.benchmark import commands, problems, prompting, task_of
from lengen.benchmark.prompting import extracted
from lengen.huggingface import HuggingFaceError, first_line, from_folder
from tests.fixtures.refusals import refused


@pytest.mark.parametrize(("task", "reply", "answer"), [
    ("addition", "46", "46"), ("addition", "\n\n46\n57+48=105", "46"), ("addition", "12+34=46", "46"),
    ("addition", "The sum of 12 and 34 is 46.", "46"),
    ("addition", "First 2+4=6, then 1+3=4. The answer is **46**", "46"),
    ("addition", "We get $\\boxed{1046}$ from 12 and 34", "1046"), ("addition", "1,234,567", "1234567"),
    ("addition", "<think>12+34=45?</think>46", "46"), ("addition", "I cannot say", ""), ("subtraction", "-22", "-22"),
    ("copy", "007", "007"), ("sorting", "Sorted: 7, 12, 53", "7, 12, 53"), ("sorting", "7 12 53", "7 12 53"),
    ("max", "The largest of 53 7 12 is 53", "53"),
])  # fmt: skip
def test_the_answer_in_a_reply(task, reply, answer):
    assert extracted(reply, task_of(task)) == answer


def test_a_chat_is_told_how_to_answer_and_sees_examples_that_are_not_tested():
    form = prompting.form(task_of("addition"), 6, 3, chat=True)
    asked, *shots, last = form("12+34=").splitlines()[0:1] + form("12+34=").splitlines()[2:]
    assert asked == prompting.ASK and last == "12+34=" and len(shots) == 3
    tested = {problem.prompt for problem in problems("addition", 6)}
    for shot in shots:
        left, _, answer = shot.partition("=")
        assert sum(map(int, left.split("+"))) == int(answer) and f"{left}=" not in tested
    assert prompting.form(task_of("addition"), 6, 0, chat=False)("1+2=") == "1+2="


@pytest.mark.parametrize(("text", "line"), [("46\n13", "46"), ("\n46\n", "46"), ("", "")])
def test_a_reply_that_begins_with_a_newline_is_no_absence(text, line):
    assert first_line(text) == line


class Folder:
    """A double of `transformers`: a model that answers in a sentence, and notes what it read."""

    def __init__(self, template):
        self.read, self.chat_template, self.pad_token, self.pad_token_id = [], template, "$", 0

    def from_pretrained(self, folder, **_):
        return self

    def eval(self):
        return self

    device = "cpu"

    def __call__(self, texts, **_):
        self.read += texts
        return SimpleNamespace(to=lambda device: {"input_ids": SimpleNamespace(shape=(len(texts), 0)), "texts": texts})

    def generate(self, texts, **_):
        return Written([f"\nThat makes {sum(map(int, text.splitlines()[-1][:-1].split('+')))}." for text in texts])

    def apply_chat_template(self, messages, **_):
        return f"<user>{messages[0]['content']}"

    def batch_decode(self, texts, **_):
        return texts


class Written(list):
    def __getitem__(self, _):
        return self


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")

    def install(template):
        double = Folder(template)
        both = SimpleNamespace(AutoModelForCausalLM=double, AutoTokenizer=double)
        monkeypatch.setitem(sys.modules, "transformers", both)
        monkeypatch.setattr("copy.copy", lambda value: value)
        return double

    return SimpleNamespace(path=tmp_path, install=install)


def test_a_chat_that_answers_in_sentences_is_right(folder, capsys):
    double = folder.install("a template")
    options = SimpleNamespace(function=None, run=None, hf=str(folder.path), shots=3, chat=True, seed=None)
    answer, seed = commands.answerer_of(options, commands.Sources(), task_of("addition"), 6)
    asked = problems("addition", 6)[:40]
    assert lengen.evaluate(answer, asked).accuracy() == 1 and seed == 0
    assert all(text.startswith(f"<user>{prompting.ASK}") for text in double.read)
    assert "what the model reads of the first problem" in capsys.readouterr().err
    plain = SimpleNamespace(function=None, run=None, hf=str(folder.path), shots=None, chat=False, seed=None)
    answer, _ = commands.answerer_of(plain, commands.Sources(), task_of("addition"), 6)
    assert lengen.evaluate(answer, asked).accuracy() == 0


def test_a_tokenizer_without_a_template_is_refused(folder):
    folder.install(None)
    refused(HuggingFaceError, "no chat template; leave --chat out", from_folder, folder.path, chat=True)

"""Training problems of a file of lines, and what is said of wrong ones."""

import pytest
import torch
from lightning import Trainer

import lengen
from lengen.data.lines import read_problem
from lengen.digits import OperandError

LINES = ["a,b,answer", "12+34=46", "", "7,8,15", " 99 + 1 = 0100", "3+4=7"]


@pytest.fixture
def spec():
    named = {"steps": 4, "batch": 2, "layers": 1, "heads": 1, "width": 8, "head_dim": 8, "ff_width": 8, "bucket": 2}
    return lengen.setting("addition", digits=2, **named)


def test_a_training_sees_the_problems_of_the_file_once_in_an_epoch(tmp_path, spec):
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    data = lengen.ArithmeticData(spec, train_file=tmp_path / "train.txt")
    for epoch in (0, 2):  # two batches of two are the file
        texts = [data.vocab.decode(row) for step in (epoch, epoch + 1) for row in data.batch(step).tokens]
        answers = sorted(text.partition("=")[2].strip("$")[::-1].lstrip("0") for text in texts)
        assert answers == ["100", "15", "46", "7"]
    module = lengen.SequenceModule(spec)
    before = [one.clone() for one in module.parameters()]
    Trainer(max_steps=4, max_epochs=-1, logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(
        module, data
    )
    assert any(not torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1+2=3\n1+2=4\n1+x=2\n5+6\n", r"line 2: '1\+2=4': the answer is 3, not 4; line 3: .*; line 4: .* no answer"),
        ("1+1=3\n" * 7, "and 2 more"),
        ("\n", "holds no problem"),
        (None, "cannot be read"),
    ],
)
def test_wrong_lines_are_named_in_one_sentence(tmp_path, spec, text, sentence):
    path = tmp_path / "train.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(OperandError, match=sentence) as raised:
        lengen.ArithmeticData(spec, train_file=path)
    assert "\n" not in str(raised.value)


def test_a_problem_that_position_ids_cannot_number_is_named(tmp_path):
    spec = lengen.setting("addition", digits=1, position_ids="coupled")
    (tmp_path / "train.txt").write_text("1+2=3\n123456+1=123457\n")
    with pytest.raises(OperandError, match=r"line 2: .*position ids"):
        lengen.ArithmeticData(spec, train_file=tmp_path / "train.txt")


@pytest.mark.parametrize(
    ("task", "line"),
    [
        (lengen.Parity(4), "0110=0"),
        (lengen.Copy(4), "0450=0450"),
        (lengen.Sorting(longest=5), "5 3 7=3 5 7"),
        (lengen.Multiplication(2, 2), "12*34=408"),
        (lengen.Successor(4), "1299,1300"),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_lines_of_other_tasks(task, line):
    assert len(read_problem(line, task).lengths) == 1
    with pytest.raises(OperandError, match="the answer is"):
        read_problem(line[:-1] + ("1" if line[-1] != "1" else "2"), task)

"""Auxiliary tasks beside a main one."""

import pytest
import torch
from safetensors.torch import load_file

import lengen
from lengen import ArithmeticData, Consecutive, SequenceModule, TaskData, Tempered, generate, replace, verify
from lengen.callbacks.loggers import METRICS, read_metrics
from lengen.data.batch_and_random_spaces import Batch
from lengen.digits import OperandError
from lengen.training.model_building import build_model, load
from lengen.training.run import WEIGHTS, execute
from reproduce.runs.costs import cost
from tests.fixtures.models import random_model
from tests.fixtures.refusals import refused
from tests.fixtures.settings import ONE_LENGTH, TEST, kill_at, part, sequences, sized, spec

HINTS = ("successor", "count")
HINTED = sized(sequences(hints=HINTS), output_bias=True)
RUN = sized(
    sequences(length=4, hints=HINTS, examples=360), replace(ONE_LENGTH, steps=11, evaluations=3, lr=1e-2),
    replace(TEST, lengths=(3, 5), counts=(1, 2), examples=8), tempered=Tempered(start=1.0), output_bias=True,
)  # fmt: skip
"""Evaluated, and written as a checkpoint, after steps 4, 8 and 11: in the middle of a round of tasks."""
TRAIN = lengen.TrainSpec(steps=4, batch=16, lr=1e-3, bucket=4)
SHORT = lengen.TestSpec(lengths=(8,), counts=(2,), examples=10)


@pytest.mark.parametrize("head", [0, 1, 2])
def test_a_step_trains_its_own_head_and_the_backbone(head):
    model, data = build_model(HINTED, 0), ArithmeticData(HINTED, 0)
    batch = data.batch(head)
    assert batch.output == head
    SequenceModule(HINTED, model).training_step(batch, 0).backward()
    own = "head" if head == 0 else f"others.{head - 1}"
    reached = [name for name, p in model.named_parameters() if p.grad is not None and bool(p.grad.abs().any())]
    parts = {".".join(name.split(".")[: 2 if name.startswith(("others", "blocks")) else 1]) for name in reached}
    assert parts == {own, "embedding", "norm", "blocks.0", "blocks.1"}


@torch.no_grad()
def test_a_loss_is_that_of_the_head_of_its_batch_and_writing_uses_the_first_head():
    model, data = random_model(HINTED)
    for step in range(6):
        batch = data.batch(step)
        x = model.norm(model.residuals(Batch(*batch[:3]))[-1][1])
        head = [model.head, *model.others][step % 3]
        logs = (x @ head.weight.T + head.bias).log_softmax(dim=2)
        total = 0.0
        for row, targets in enumerate(batch.loss.tolist()):
            for place, target in enumerate(targets):
                total -= float(logs[row, place - 1, batch.tokens[row, place]]) if target else 0.0
        found = SequenceModule(HINTED, model).training_step(batch, 0)
        assert float(found) == pytest.approx(total / float(batch.scale), rel=1e-5)
    problems = data.test(5, 1, 10)
    batch = data.writer.write(problems)
    verified, written = verify(model, batch), generate(model, data.writer, problems)
    logits = [model.predict(batch._replace(output=head)) for head in range(3)]
    for head in (1, 2):
        torch.nn.init.normal_(model.others[head - 1].weight)
        assert not torch.allclose(logits[0], logits[head], atol=0.1)
    assert torch.equal(written, generate(model, data.writer, problems))
    assert torch.equal(verified.predicted, verify(model, batch).predicted)
    assert batch.output == 0 and data.validation().output == 0
    torch.nn.init.normal_(model.head.weight)
    assert not torch.equal(verified.predicted, verify(model, batch).predicted)


@pytest.mark.parametrize("init", ["t5", "normal", "xavier"])
def test_heads_have_a_bias_where_asked_for_and_start_alike(init):
    bare = sized(sequences(alphabet=100, hints=HINTS), init=init, width=64)
    model, biased = build_model(bare, 0), build_model(replace(bare, model={"output_bias": True}), 0)
    assert [head.bias for head in (model.head, *model.others)] == [None] * 3
    heads = [biased.head, *biased.others]
    assert all(head.bias.shape == (103,) and not head.bias.any() for head in heads)
    assert biased.blocks[0].attention.query.bias is None
    spread = {"xavier": (2 / (64 + 103)) ** 0.5}.get(init, 64**-0.5)
    assert [float(head.weight.detach().std()) for head in heads] == pytest.approx([spread] * 3, rel=0.05)
    assert len({float(head.weight.sum()) for head in heads}) == 3


def run(folder, spec=RUN):
    folder.mkdir(exist_ok=True)
    return execute(spec, 0, folder, lambda progress: None)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(folder)


def test_a_finished_run_has_the_losses_of_its_steps_and_the_weights_of_all_heads(finished):
    folder, _ = finished
    model, data = build_model(RUN, 0), ArithmeticData(RUN, 0)
    first = float(SequenceModule(RUN, model).training_step(data.batch(0), 0).detach())
    assert first == pytest.approx(read_metrics(folder / METRICS)[0][2], rel=1e-5)
    weights, model = load_file(folder / WEIGHTS), load(RUN, folder / WEIGHTS)
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    untrained = build_model(RUN, 0).state_dict()
    moved = {name for name, value in weights.items() if not torch.equal(value, untrained[name])}
    assert moved == set(weights), "every head, every slope"
    folder, outcome = finished
    rows = read_metrics(folder / METRICS)
    steps = {name: [step for step, other, _ in rows if other == name] for name in {name for _, name, _ in rows}}
    assert steps == {
        "train_loss": [1, 4, 7, 10], "train_loss.successor": [2, 5, 8, 11], "train_loss.count": [3, 6, 9],
        "val_exact_match": [4, 8, 11],
    }  # fmt: skip
    assert outcome.info["scalars"] == {"val_exact_match": rows[-1][2], "steps": 11, "main_steps": 4}
    assert {mode for modes in outcome.grid.scores.values() for mode in modes} == {"teacher_forced", "free_running"}


@pytest.mark.slow
def test_long_runs_record_every_task_too(tmp_path):
    """Losses are read every third step; as many in a row as there are tasks."""
    train = {"steps": 300, "evaluations": 1, "batch": 1}
    outcome = run(
        tmp_path, replace(RUN, train=train, data={"examples": 0, "hints": (part("count", 4),)}, model={"layers": 1})
    )
    rows = read_metrics(tmp_path / METRICS)
    for head, name in enumerate(("train_loss", "train_loss.count")):
        steps = [step for step, other, _ in rows if other == name]
        assert all((step - 1) % 2 == head for step in steps) and 95 <= len(steps) <= 105
    assert (outcome.info["scalars"]["steps"], outcome.info["scalars"]["main_steps"]) == (300, 150)


@pytest.mark.parametrize("step", [2, 5, 10])
def test_a_killed_run_with_hints_ends_as_if_it_had_not_been(step, finished, tmp_path, monkeypatch):
    folder, outcome = finished
    kill_at(step, monkeypatch, run, tmp_path)
    asked, batch = [], TaskData.batch
    monkeypatch.setattr(TaskData, "batch", lambda self, step: asked.append(step) or batch(self, step))
    again = run(tmp_path)
    last = step - step % 4
    stray = [last] * (last > 0)  # Lightning draws a batch of the epoch that had ended, and drops it
    assert asked == [*stray, *range(last, 11)], "resumed at the last checkpoint, not at the beginning"
    assert again.grid == outcome.grid and again.info["scalars"] == outcome.info["scalars"]
    for name in (WEIGHTS, METRICS):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_cells_that_an_alphabet_is_too_small_for_are_refused_before_training(tmp_path, monkeypatch):
    """Few repeats need more numbers than many do."""
    monkeypatch.setattr("lengen.training.run.build_trainer", None)
    small = replace(RUN, test={"lengths": (4, 20), "counts": (1, 2, 5)})
    refused(OperandError, r"rep\(20, 2\) needs 10 different numbers and the alphabet has 9", run, tmp_path, small)


@pytest.mark.parametrize("encoding", ["none", "alibi", "rope"])
def test_tempered_models_train_in_half_precision(encoding, tmp_path):
    data = sequences(
        length=4, hints=HINTS, position_ids=lengen.NoPositionIds() if encoding == "none" else Consecutive()
    )
    model = {"tempered": Tempered(start=1.0), "encoding": encoding}
    outcome = run(tmp_path, sized(data, replace(RUN.train, precision="bf16-mixed"), RUN.test, **model))
    assert outcome.info["dtype"] == "bf16-mixed" and len(outcome.grid.scores) == 4


def setting(task: lengen.Task, *hints: lengen.Task, **format: object) -> lengen.Spec:
    data = lengen.DataSpec(task=task, format=lengen.Linear(**format), position_ids=lengen.Consecutive(), hints=hints)
    test = lengen.TestSpec(lengths=(8,), counts=task.counts, examples=10)
    return spec(data, TRAIN, test, encoding="rope", tied=False)


PAIRS = [
    (setting(lengen.Reverse(4), lengen.Copy(12)), 4, 12),
    (setting(lengen.PairAddition(4), lengen.DigitSums(12), reverse_response=True), 4, 12),
    (setting(lengen.PairAddition(4), lengen.DigitSums(12), pad_query=True, pad_response=True), 4, 12),
    (setting(lengen.PairAddition(4), lengen.Successor(12), index_hints=30), 4, 12),
    (setting(lengen.Parity(4), lengen.Copy(12, base=2)), 4, 12),
]


@pytest.mark.parametrize(("sized", "short", "long"), PAIRS, ids=["reverse", "sums", "padded", "marked", "bits"])
def test_each_task_is_trained_at_lengths_of_its_own(sized, short, long):
    data = lengen.TaskData(sized, 0)
    drawn = [stream.task.train(2000, torch.Generator().manual_seed(0)).lengths.max() for stream in data.streams]
    assert [int(longest) for longest in drawn] == [short, long]
    outputs = [data.batch(step).output for step in range(4)]
    assert outputs == [0, 1, 0, 1], "in turn"
    model = lengen.build_model(sized, 0)
    for step in range(2):
        loss = lengen.SequenceModule(sized, model).training_step(data.batch(step), 0)
        assert bool(loss.isfinite())


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("kind", [lengen.Copy, lengen.Reverse])
def test_strings_have_all_digits_of_their_base(kind, base):
    task = kind(5, base=base)
    assert task.train(2000, torch.Generator().manual_seed(0)).operands.unique().tolist() == list(range(base))
    typed = task.symbols[-1] + "010"
    assert task.text(task.parse([typed])) == [typed if kind is lengen.Copy else typed[::-1]]
    refused(OperandError, rf"expected characters 0 to {task.symbols[-1]} only", task.parse, ["0g"])


def test_an_estimate_knows_of_longer_auxiliary_tasks():
    short, long = setting(lengen.Reverse(4), lengen.Copy(4)), setting(lengen.Reverse(4), lengen.Copy(60))
    assert cost(long, "cpu").train > cost(short, "cpu").train


@pytest.mark.parametrize(("wrong", "said"), [
    (setting(lengen.Copy(4), lengen.Copy(9)),
     r"data.hints: copy is data.task=copy itself, at lengths beyond .* change data.task$"),
    (setting(lengen.Copy(4), lengen.Parity(9)), r"data.hints: parity has other symbols than data.task=copy"),
    (lengen.replace(setting(lengen.Copy(4), lengen.Reverse(9)), model={"tied": True}),
     r"data.hints: .*set model.tied=false"),
    (lengen.replace(setting(lengen.Copy(4), lengen.Reverse(9)), data={"examples": 500}),
     r"data.examples=500: with data.hints a training"),
    (lengen.replace(setting(lengen.Increment(longest=4), lengen.Successor(9)), train={"one_length": True}),
     r"train.one_length=true: .* data.hints=successor has none"),
    (setting(lengen.PairAddition(4), lengen.DigitSums(12), width=9),
     r"data.format.width=9: expected at least 13, the digits"),
    (setting(lengen.Sorting(longest=4), lengen.Copy(5)), r"data.hints: copy has other symbols than data.task=sorting"),
], ids=["itself", "symbols", "tied", "fixed set", "one length", "width", "sorting"])  # fmt: skip
def test_what_makes_no_sense_is_refused(wrong, said):
    refused(lengen.SettingError, said, lengen.validate, wrong)

"""A run from specification to records: killed and resumed, repeated, diverged; always the same files."""

import os
import signal
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import lengen
from lengen import replace
from lengen.callbacks.accuracy_grid import PARTIAL, identity, sealed, unsealed
from lengen.callbacks.loggers import METRICS, read_metrics
from lengen.callbacks.resuming import CHECKPOINT
from lengen.digits import OperandError
from lengen.results.progress import DivergedError, Progress
from lengen.results.records import Grid
from lengen.training.model_building import load
from lengen.training.run import WEIGHTS
from tests.fixtures.refusals import refused
from tests.fixtures.runs import counted
from tests.fixtures.settings import MODEL, TEST, TRAIN, Killed, data_spec, fixed_data, kill_at, spec

SPEC = spec(
    data_spec("addition", 1, 2, room=8),
    replace(TRAIN, steps=10, evaluations=4, bucket=3, lr=1e-2),
    replace(TEST, lengths=(1, 2), counts=(2, 3), examples=8, attention=((1, 3), (2, 2)), attention_examples=6),
    layers=1,
)
"""Evaluated, and written as a checkpoint, after steps 3, 6, 9 and 10."""
PLAIN = lengen.Linear(reverse_response=True)
UNSET = lengen.EncoderDecoder(attention_bias=lengen.Given())


def run(folder: Path, spec=SPEC, seed=0, reports=None):
    folder.mkdir(exist_ok=True)
    return lengen.execute(spec, seed, folder, (reports if reports is not None else []).append)


def traces(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (METRICS, WEIGHTS)}


def same(one, two) -> bool:
    return (
        one.grid == two.grid
        and one.key_counts == two.key_counts
        and one.attention.tokens == two.attention.tokens
        and (one.attention.weights == two.attention.weights).all()
        and one.info["scalars"] == two.info["scalars"]
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder, reports = tmp_path_factory.mktemp("whole"), []
    return folder, run(folder, reports=reports), reports


def test_a_run_leaves_its_records_measures_the_same_again_and_its_weights_load(finished):
    folder, outcome, reports = finished
    assert outcome.grid.axes == ("length", "count")
    assert sorted(outcome.grid.scores) == [(1, 2), (1, 3), (2, 2), (2, 3)]
    assert all(score["n"] == 8 for modes in outcome.grid.scores.values() for score in modes.values())
    assert {mode for modes in outcome.grid.scores.values() for mode in modes} == {"teacher_forced", "free_running"}
    assert len(outcome.key_counts) == MODEL.heads * 2
    size = len("".join(outcome.attention.tokens))
    assert "".join(outcome.attention.tokens).startswith("$") and outcome.attention.n == 6
    assert outcome.attention.weights.shape == (1, MODEL.heads, size, size)
    assert outcome.info["parameters"] == sum(value.numel() for value in load_file(folder / WEIGHTS).values())
    rows = read_metrics(folder / METRICS)
    assert [step for step, name, _ in rows if name == "train_loss"] == list(range(1, 11))
    assert [step for step, name, _ in rows if name == "val_exact_match"] == [3, 6, 9, 10]
    scalars = outcome.info["scalars"]
    assert (scalars["val_exact_match"], scalars["steps"]) == (rows[-1][2], 10)
    assert outcome.info["operand_lengths"]["lengths"] == [1, 2] and 0 <= scalars["exact_match_equal_lengths"] <= 1
    assert {report.stage for report in reports} == {"train", "measure", "attention"}
    assert all(isinstance(report, Progress) and 0 < report.step <= report.steps for report in reports)
    before, again = traces(folder), run(folder)
    assert same(again, outcome) and traces(folder) == before
    assert again.info["kernels"] == outcome.info["kernels"], "those that trained"
    model, batch = load(SPEC, folder / WEIGHTS), lengen.ArithmeticData(SPEC, 0).validation()
    weights = load_file(folder / WEIGHTS)
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items() if name in weights)
    assert not model.training and model(batch.tokens, batch.ids).isfinite().all()
    kept = torch.load(folder / CHECKPOINT, weights_only=True)["state_dict"]
    assert all(torch.equal(kept[f"model.{name}"], value) for name, value in weights.items())


def test_equal_specs_and_seeds_give_equal_files(finished, tmp_path):
    folder, outcome, _ = finished
    assert same(run(tmp_path / "again"), outcome)
    assert traces(tmp_path / "again") == traces(folder)
    other = run(tmp_path / "other", seed=1)
    assert traces(tmp_path / "other") != traces(folder) and not same(other, outcome)


@pytest.mark.slow
@pytest.mark.parametrize("step", [0, 2, 3, 4, 9])
def test_a_run_killed_while_training_ends_as_if_it_had_not_been(step, finished, tmp_path, monkeypatch):
    folder, outcome, _ = finished
    for _ in range(2):  # killed twice at the same place
        kill_at(step, monkeypatch, run, tmp_path)
    with (tmp_path / METRICS).open("a") as file:
        file.write(f"{step + 1},train_lo")  # and in the middle of a line
    asked, batch = [], lengen.TaskData.batch
    monkeypatch.setattr(lengen.TaskData, "batch", lambda self, step: asked.append(step) or batch(self, step))
    assert same(run(tmp_path), outcome)
    assert list(dict.fromkeys(asked)) == list(range(step - step % 3, 10)), "resumed at the last checkpoint"
    assert traces(tmp_path) == traces(folder)


def signalled(step: int, number: int, monkeypatch, folder: Path, times: int = 1) -> None:
    """Run, and get a signal in the middle of a step; its handler raises `Killed`, as that of the program does."""
    body = lengen.SequenceModule.training_step

    def interrupted(self, batch, index):
        for _ in range(times if self.trainer.global_step == step else 0):
            signal.raise_signal(number)
        return body(self, batch, index)

    def ends(*_):
        raise Killed

    handler = signal.signal(number, ends)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(lengen.SequenceModule, "training_step", interrupted)
            with pytest.raises(Killed):
                run(folder)
        assert signal.getsignal(number) == ends
    finally:
        signal.signal(number, handler)


@pytest.mark.slow
@pytest.mark.parametrize(("step", "number"),
    [(0, signal.SIGINT), (1, signal.SIGTERM), (4, signal.SIGINT), (9, signal.SIGTERM)])  # fmt: skip
def test_an_interrupted_run_saves_its_step_and_ends_as_if_it_had_not_been(
    step, number, finished, tmp_path, monkeypatch
):
    folder, outcome, _ = finished
    signalled(step, number, monkeypatch, tmp_path)
    kept = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    assert kept["global_step"] == step + 1, "the step in which the signal came is the last one"
    assert next(state for name, state in kept["callbacks"].items() if name.startswith("Clock"))["steps"] == step + 1
    if step < 7:
        signalled(step + 1, number, monkeypatch, tmp_path)
    asked, batch = [], lengen.TaskData.batch
    monkeypatch.setattr(lengen.TaskData, "batch", lambda self, step: asked.append(step) or batch(self, step))
    assert same(run(tmp_path), outcome)
    first = step + (2 if step < 7 else 1)
    assert [step for step in dict.fromkeys(asked) if step < 10] == list(range(first, 10)), "no step is trained twice"
    assert traces(tmp_path) == traces(folder)


def test_a_second_ctrl_c_ends_at_once(tmp_path, monkeypatch):
    signalled(4, signal.SIGINT, monkeypatch, tmp_path, times=2)
    assert torch.load(tmp_path / CHECKPOINT, weights_only=True)["global_step"] == 3


def test_an_interrupted_run_that_diverged_keeps_the_good_checkpoint(tmp_path, monkeypatch):
    body = lengen.SequenceModule.training_step
    monkeypatch.setattr(lengen.SequenceModule, "training_step", lambda self, *given: poisoned(self, body(self, *given)))
    monkeypatch.setattr("lengen.callbacks.monitoring.is_read", lambda *step: False)  # as most losses are not

    def poisoned(self, loss):
        return loss * (float("nan") if self.trainer.global_step == 4 else 1)

    signalled(4, signal.SIGTERM, monkeypatch, tmp_path)
    assert torch.load(tmp_path / CHECKPOINT, weights_only=True)["global_step"] == 3


@pytest.mark.parametrize("place", ["checkpoint", "validation", "measure", "attention"])
def test_a_run_killed_elsewhere_ends_as_if_it_had_not_been(place, finished, tmp_path, monkeypatch):
    folder, outcome, _ = finished
    replace = os.replace

    def killed(*arguments, **options):
        raise Killed

    def killed_at_checkpoint(source, target):
        replace(source, target) if Path(target).name != CHECKPOINT else killed()

    def report(progress):
        if progress.stage == place and progress.step == 2:
            raise Killed

    with monkeypatch.context() as patch:
        if place == "checkpoint":
            patch.setattr("os.replace", killed_at_checkpoint)
        if place == "validation":
            patch.setattr(lengen.SequenceModule, "validation_step", killed)
        with pytest.raises(Killed):
            lengen.execute(SPEC, 0, tmp_path, report)
    assert same(run(tmp_path), outcome)
    assert traces(tmp_path) == traces(folder)


def test_metrics_survive_a_kill_while_they_are_rewritten(finished, tmp_path, monkeypatch):
    """Which is when a resumed run first logs."""
    folder, outcome, _ = finished
    kill_at(4, monkeypatch, run, tmp_path)
    before = (tmp_path / METRICS).read_bytes()

    def killed(*arguments):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("lengen.callbacks.loggers._row", killed)
        with pytest.raises(Killed):
            run(tmp_path)
    assert (tmp_path / METRICS).read_bytes() == before
    assert same(run(tmp_path), outcome)
    assert traces(tmp_path) == traces(folder)


def test_cells_scored_before_a_kill_are_not_scored_again(finished, monkeypatch):
    folder, outcome, _ = finished
    monkeypatch.setattr("lengen.callbacks.accuracy_grid.identity", lambda *what: "")
    scored = Grid(("length", "count"))
    for mode in ("teacher_forced", "free_running"):
        scored.add((1, 2), mode, counted(8, 3, 4, 5, 77))
    (folder / PARTIAL).write_text(sealed(scored.to_csv(), ""))
    try:
        again = run(folder).grid
        assert again.scores[1, 2] == scored.scores[1, 2]
        assert {cell: again.scores[cell] for cell in [(1, 3), (2, 2), (2, 3)]} == {
            cell: outcome.grid.scores[cell] for cell in [(1, 3), (2, 2), (2, 3)]
        }
        whole = sealed(scored.to_csv(), "").encode()
        for damaged in (whole[:-9], whole.replace(b",77", b",78"), whole[65:], b"\xff" + whole):
            (folder / PARTIAL).write_bytes(damaged)
            assert same(run(folder), outcome), "partial scores that were not written so count for nothing"
    finally:
        (folder / PARTIAL).unlink(missing_ok=True)


def test_scores_of_another_training_are_forgotten(finished, tmp_path):
    """A run killed while it was measured and then trained anew, for example after its checkpoint was lost."""
    scored = Grid(("length", "count"))
    scored.add((1, 2), "teacher_forced", counted(8, 3, 4, 5, 77))
    another = identity(lengen.build_model(SPEC, 1), lengen.TaskData(SPEC, 0), (8, True, 0))
    (tmp_path / PARTIAL).write_text(sealed(scored.to_csv(), another))
    assert same(run(tmp_path), finished[1])


def test_kept_scores_belong_to_weights_setting_seed_and_examples():
    model, data, how = lengen.build_model(SPEC, 0), lengen.TaskData(SPEC, 0), (8, True, 0)
    mine = identity(model, data, how)
    assert mine == identity(lengen.build_model(SPEC, 0), lengen.TaskData(SPEC, 0), how)
    changed = lengen.build_model(SPEC, 0)
    with torch.no_grad():
        next(changed.parameters()).view(-1)[0] += 1e-3
    longer = replace(SPEC, train=replace(SPEC.train, steps=11))
    others = [
        identity(changed, data, how), identity(model, lengen.TaskData(longer, 0), how),
        identity(model, lengen.TaskData(SPEC, 1), how), identity(model, data, (9, True, 0)),
    ]  # fmt: skip
    assert len({mine, *others}) == 5


def test_partial_scores_are_written_where_they_took_long(tmp_path, monkeypatch):
    """And whole: what is read back is always a file that was finished."""
    monkeypatch.setattr("lengen.callbacks.accuracy_grid.WORTH_KEEPING", 0)
    replaced = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: replaced.append(target) or replace(self, target))
    monkeypatch.setattr("lengen.callbacks.accuracy_grid.identity", lambda *what: "mine")
    outcome = run(tmp_path)
    assert replaced.count(tmp_path / PARTIAL) == 4
    assert Grid.from_csv(unsealed((tmp_path / PARTIAL).read_text(), "mine")) == outcome.grid


@pytest.mark.parametrize(("factor", "loss"), [(float("nan"), "nan"), (1e7, r"\d+")])
def test_a_loss_that_is_no_number_or_exploded_stops_the_run(factor, loss, tmp_path, monkeypatch):
    """The step is named, and what is called the last good checkpoint is good."""
    train = lengen.SequenceModule.training_step

    def poisoned(self, batch, index):
        return train(self, batch, index) * (factor if self.trainer.global_step >= 4 else 1)

    monkeypatch.setattr(lengen.SequenceModule, "training_step", poisoned)
    with pytest.raises(DivergedError, match=f"the loss at step 5 is {loss}") as caught:
        run(tmp_path)
    assert str(tmp_path / CHECKPOINT) in str(caught.value) and "\n" not in str(caught.value)
    assert torch.load(tmp_path / CHECKPOINT, weights_only=True)["global_step"] == 3
    if loss != "nan":
        return
    # A long run looks at its loss every other step only, and has a checkpoint in between.
    long = lengen.replace(SPEC, train={"steps": 200, "evaluations": 40})
    with pytest.raises(DivergedError, match=r"lower train\.lr") as caught:
        run(tmp_path / "long", long)
    kept = tmp_path / "long" / CHECKPOINT
    assert not kept.exists() or all(
        bool(value.isfinite().all()) for value in torch.load(kept, weights_only=True)["state_dict"].values()
    )
    assert (str(kept) in str(caught.value)) == kept.exists()


def test_a_learning_rate_beyond_all_measure_diverges_by_itself(tmp_path):
    refused(DivergedError, "training diverged", run, tmp_path, lengen.replace(SPEC, train={"lr": 1e9, "warmup": 0.0}))


def test_a_curve_has_one_axis_and_no_attention_where_none_is_asked(tmp_path):
    parity = spec(
        data_spec("parity", 4, 1),
        replace(TRAIN, steps=2, evaluations=0),
        replace(TEST, lengths=(3, 5), free_running=False),
    )
    outcome = run(tmp_path, parity)
    assert outcome.grid.axes == ("length",) and sorted(outcome.grid.scores) == [(3,), (5,)]
    assert {mode for modes in outcome.grid.scores.values() for mode in modes} == {"teacher_forced"}
    assert outcome.attention is None and outcome.key_counts == []


def test_text_that_has_no_ids_of_its_own_is_scored_teacher_forced_only(tmp_path):
    unpadded = lengen.Linear(scratchpad=True)
    unpadded = lengen.replace(SPEC, data={"format": unpadded}, test={"attention": ()}, train={"steps": 1})
    modes = {mode for scores in run(tmp_path, unpadded).grid.scores.values() for mode in scores}
    assert modes == {"teacher_forced"}


@pytest.mark.parametrize(("wrong", "says"), [
    (lengen.replace(SPEC, data={"position_ids": lengen.Coupled((3, 9)), "format": PLAIN}), "position ids"),
    (lengen.replace(SPEC, test={"probes": (("1", "x"),)}), "'x'"),
    (lengen.replace(SPEC, test={"attention": ((9, 2),)}), "position ids"),
    (lengen.replace(SPEC, test={"lengths": (1, 9)}), "up to 11 in level 1, and the model has 8"),
    (spec(fixed_data("successor", 3), encoding="sinusoidal", architecture=UNSET), "attention_bias=given: nothing"),
], ids=["room for a carry", "no problem", "attention alone", "the largest id", "a bias that nothing sets"])  # fmt: skip
def test_what_could_not_be_measured_is_refused_before_the_training(tmp_path, wrong, says):
    refused((OperandError, lengen.SettingError), says, run, tmp_path / "run", wrong)
    assert not list((tmp_path / "run").iterdir())

"""Stacked runs from specification to records: against runs of their own, killed and resumed, refused, diverged."""

from pathlib import Path

import pytest
import torch
from lightning.pytorch.loggers.logger import DummyLogger
from safetensors.torch import load_file

from lengen.callbacks import CHECKPOINT, METRICS, read_metrics
from lengen.config import EncoderDecoder, Given, Spec
from lengen.config.part import SettingError
from lengen.config.spec import change, replace
from lengen.divergence import DivergedError
from lengen.training import stacked_run
from lengen.training.run import WEIGHTS, execute
from lengen.training.stacked import Stack
from lengen.training.stacked_run import STACKED_CHECKPOINT, execute_stacked
from tests.lengen.helpers import TEST, TRAIN, Killed, data_spec, model_spec, spec
from tests.lengen.sequences import sequences, sized

SEEDS = (0, 1, 4)
FULL = spec(
    data_spec("addition", 1, 2, room=8),
    replace(TRAIN, steps=100, evaluations=4, bucket=3, lr=1e-2, precision="64-true", clip=0.5, weight_decay=0.1),
    replace(TEST, lengths=(1, 2), counts=(2, 3), examples=8, attention=((1, 3),), attention_examples=6, track=4),
    layers=1,
)
SHORT = change(FULL, train={"steps": 10}, test={"attention": (), "track": 0})
"""Evaluated, and written as a checkpoint, after steps 3, 6, 9 and 10."""


class Losses(DummyLogger):
    """The losses of a run of its own, unrounded."""

    def __init__(self):
        super().__init__()
        self.values = []

    def log_metrics(self, metrics, step=None):
        self.values += [value for name, value in metrics.items() if name.startswith("train_loss")]


def folders(root: Path, seeds=SEEDS):
    made = [root / f"seed-{seed}" for seed in seeds]
    for folder in made:
        folder.mkdir(parents=True, exist_ok=True)
    return made


def stacked(root, setting=SHORT, seeds=SEEDS, reports=None):
    heard = reports if reports is not None else [[] for _ in seeds]
    return execute_stacked(setting, seeds, folders(root, seeds), [one.append for one in heard])


def weights(root, seeds=SEEDS):
    return [load_file(root / f"seed-{seed}" / WEIGHTS) for seed in seeds]


def traces(root, seeds=SEEDS):
    return [(root / f"seed-{seed}" / name).read_bytes() for seed in seeds for name in (METRICS, WEIGHTS)]


def close(one, other, atol=1e-9):
    for a, b in zip(one, other, strict=True):
        assert a.keys() == b.keys()
        for name, value in a.items():
            torch.testing.assert_close(b[name], value, rtol=0, atol=atol)


@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder", "hinted"])
def test_members_end_as_runs_of_their_own(kind, tmp_path):
    """Losses of 100 steps (decoder), weights, metrics, scores, attention and scalars."""
    setting, seeds = FULL, SEEDS
    if kind == "encoder-decoder":
        setting = change(
            FULL,
            model={"architecture": model_spec(architecture="encoder_decoder", encoder_layers=1).architecture},
            test={"attention": ()},
        )
    if kind == "hinted":
        train = replace(FULL.train, one_length=True)
        test = replace(FULL.test, lengths=(2, 3), counts=(1,), attention=())
        setting = replace(sized(sequences(hints=("successor",))), train=train, test=test)
    if kind != "decoder":
        setting, seeds = change(setting, train={"steps": 24}), SEEDS[:2]
    reports = [[] for _ in seeds]
    found = stacked(tmp_path / "stacked", setting, seeds, reports)
    for seed, folder, outcome, heard in zip(seeds, folders(tmp_path / "alone", seeds), found, reports, strict=True):
        losses = Losses()
        alone = execute(setting, seed, folder, lambda progress: None, loggers=[losses])
        seen = [report.loss for report in heard if report.stage == "train"]
        assert len(seen) == len(losses.values) == setting.train.steps
        assert seen == pytest.approx(losses.values, abs=1e-9)
        assert outcome.grid == alone.grid and outcome.key_counts == alone.key_counts
        assert outcome.info["scalars"] == alone.info["scalars"]
        assert outcome.info["stacked"] == len(seeds) and outcome.info.keys() - alone.info.keys() == {"stacked"}
        assert all(outcome.info[name] == alone.info[name] for name in ("device", "dtype", "threads", "parameters"))
        rows = [read_metrics(tmp_path / way / folder.name / METRICS) for way in ("alone", "stacked")]
        assert [row[:2] for row in rows[0]] == [row[:2] for row in rows[1]]
        assert [row[2] for row in rows[1]] == pytest.approx([row[2] for row in rows[0]], rel=1e-5)
        if alone.attention is not None:
            assert outcome.attention.weights == pytest.approx(alone.attention.weights, abs=1e-6)
    close(weights(tmp_path / "alone", seeds), weights(tmp_path / "stacked", seeds))


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed", "bf16-true"])
def test_members_train_in_the_precision_of_the_setting(precision, tmp_path):
    setting = change(SHORT, train={"precision": precision, "lr": 1e-3})
    reports = [[], []]
    stacked(tmp_path / "stacked", setting, SEEDS[:2], reports)
    losses = Losses()
    execute(setting, 0, folders(tmp_path / "alone")[0], lambda progress: None, loggers=[losses])
    tolerance = 1e-5 if precision == "32-true" else 0.02
    assert [report.loss for report in reports[0] if report.stage == "train"] == pytest.approx(losses.values, tolerance)
    one, other = (weights(tmp_path / way, (0,))[0] for way in ("alone", "stacked"))
    assert {name: value.dtype for name, value in one.items()} == {name: value.dtype for name, value in other.items()}


def test_a_member_learns_the_same_in_every_company(tmp_path):
    whole = stacked(tmp_path / "three")
    one = stacked(tmp_path / "one", seeds=(1,))
    assert one[0].grid == whole[1].grid and one[0].info["stacked"] == 1
    close(weights(tmp_path / "one", (1,)), weights(tmp_path / "three")[1:2])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    root = tmp_path_factory.mktemp("whole")
    return root, stacked(root)


def killing(monkeypatch, owner, name, calls):
    """Let a method be called so often, and then no more."""
    body, count = getattr(owner, name), iter(range(calls))

    def killed(*arguments):
        if next(count, None) is None:
            raise Killed
        return body(*arguments)

    monkeypatch.setattr(owner, name, killed)


@pytest.mark.parametrize("calls", [0, 2, 3, 5, 9])
def test_a_stack_killed_while_training_ends_as_if_it_had_not_been(calls, finished, tmp_path, monkeypatch):
    root, outcomes = finished
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killing(patch, Stack, "step", calls)
        stacked(tmp_path)
    taken, step = [], Stack.step
    monkeypatch.setattr(Stack, "step", lambda self, batch: taken.append(len(self.modules)) or step(self, batch))
    again = stacked(tmp_path)
    assert taken == [3] * (10 - calls + calls % 3), "resumed at the last checkpoint, not at the beginning"
    assert traces(tmp_path) == traces(root)
    assert [one.grid for one in again] == [one.grid for one in outcomes]


def test_members_killed_before_the_others_wrote_a_checkpoint_catch_up(finished, tmp_path, monkeypatch):
    root, outcomes = finished
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killing(patch, stacked_run._Member, "save", 3 + 1)  # after step 6 the first member wrote, the others did not
        stacked(tmp_path)
    taken, step = [], Stack.step
    monkeypatch.setattr(Stack, "step", lambda self, batch: taken.append(len(self.modules)) or step(self, batch))
    again = stacked(tmp_path)
    assert taken == [2] * 3 + [3] * 4
    assert [one.info["stacked"] for one in again] == [3, 3, 3]
    assert [one.grid for one in again] == [one.grid for one in outcomes]
    close(weights(tmp_path), weights(root))


@pytest.mark.parametrize("place", ["evaluate", "outcome"])
def test_a_stack_killed_elsewhere_ends_as_if_it_had_not_been(place, finished, tmp_path, monkeypatch):
    root, outcomes = finished
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killing(patch, stacked_run._Member, place, 2)
        stacked(tmp_path)
    again = stacked(tmp_path)
    assert traces(tmp_path) == traces(root)
    assert [(one.grid, one.info["stacked"]) for one in again] == [(one.grid, 3) for one in outcomes]


def test_what_a_run_of_its_own_left_is_not_mixed_in(finished, tmp_path):
    root, _ = finished
    own = folders(tmp_path)[1]
    execute(change(SHORT, train={"lr": 0.1}), 1, own, lambda progress: None)
    (own / STACKED_CHECKPOINT).write_bytes(b"older")
    stacked(tmp_path)
    assert traces(tmp_path) == traces(root) and not (own / CHECKPOINT).exists()


def test_a_member_that_diverges_is_named(tmp_path, monkeypatch):
    step = Stack.step

    def poisoned(self, batch):
        losses = step(self, batch)
        losses[1] = float("nan")
        return losses

    with monkeypatch.context() as patch, pytest.raises(DivergedError, match="the loss of seed 1 at step 1 is nan"):
        patch.setattr(Stack, "step", poisoned)
        stacked(tmp_path)
    with pytest.raises(DivergedError, match="training diverged"):
        stacked(tmp_path, change(SHORT, train={"lr": 1e9, "warmup": 0.0}))


class InStages(Spec, frozen=True):
    def run(self, seed, folder, report, loggers=()):
        raise AssertionError


@pytest.mark.parametrize(
    "setting, sentence",
    [
        (change(SHORT, model={"dropout": 0.1}), "model.dropout=0.1 draws what is dropped for each run alone"),
        (change(SHORT, train={"compile": True}), "train.compile=true compiles the model of one run"),
        (change(SHORT, train={"stop_at": 0.9}), "train.stop_at=0.9 would end each seed at a step of its own"),
        (InStages(**{name: getattr(SHORT, name) for name in ("data", "model", "train", "test")}), "stages of its own"),
        (
            change(
                SHORT,
                model={
                    "architecture": model_spec(
                        architecture="encoder_decoder", attention_bias=Given(), causal=False
                    ).architecture
                },
            ),
            "lets a response see the padding",
        ),
        (
            change(SHORT, model={"architecture": EncoderDecoder(attention_bias=Given())}),
            "model.architecture.attention_bias=given is set before training",
        ),
    ],
)
def test_settings_that_do_not_stack_say_why(setting, sentence, tmp_path):
    with pytest.raises(SettingError, match=sentence) as caught:
        stacked(tmp_path, setting)
    assert "\n" not in str(caught.value) and "train its seeds one by one" in str(caught.value)
    assert not list(tmp_path.glob("*/*"))

"""Runs beside an encoder: dropout and early stopping survive kills; printed examples leave their attention."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from lightning.pytorch.trainer.states import TrainerFn
from safetensors.torch import load_file

from lengen import Architecture, ArithmeticData, NoPositionIds, SequenceModule, SettingError, TestSpec, replace
from lengen.callbacks.loggers import METRICS, VALIDATION, read_metrics
from lengen.callbacks.monitoring import StopWhenGood
from lengen.callbacks.resuming import CHECKPOINT
from lengen.part import kinds
from lengen.training.model_building import build_model, load
from lengen.training.run import WEIGHTS, execute
from tests.fixtures.models import data_for, encoder_decoder
from tests.fixtures.settings import TRAIN, Killed, fixed_data, kill_at
from tests.lengen.test_execute import run, traces

SPEC = encoder_decoder(
    data_for("sinusoidal", "successor"), replace(TRAIN, steps=9, evaluations=3, bucket=2, lr=1e-2),
    TestSpec(lengths=(1, 2), examples=6, probes=(("7",), ("89",))), encoding="sinusoidal", layers=2, encoder_layers=1,
    dropout=0.3,
)  # fmt: skip
"""Evaluated, and written as a checkpoint, after steps 3, 6 and 9."""
STOPPING = encoder_decoder(
    fixed_data("running_xor", 2, base=2, position_ids=NoPositionIds()),
    replace(TRAIN, steps=40, evaluations=20, bucket=2, stop_at=0.5, patience=3), TestSpec(lengths=(1,), examples=2),
    encoding="none", layers=1,
)  # fmt: skip
"""Evaluated at every second step."""
GOOD = [False, True, True, False, True, True, True, True]
"""Whether two thirds or one third are right, at steps 2, 4, ...: three in a row at step 14."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(folder, SPEC)


def killed(*arguments) -> None:
    raise Killed


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 3, 7])
def test_a_run_with_dropout_that_was_killed_ends_as_if_it_had_not_been(step, finished, tmp_path, monkeypatch):
    folder, outcome = finished
    kill_at(step, monkeypatch, run, tmp_path, SPEC)
    torch.manual_seed(99)  # another process has another state
    again = run(tmp_path, SPEC)
    assert traces(tmp_path) == traces(folder) and again.grid == outcome.grid
    for name, array in outcome.arrays.items():
        assert np.array_equal(array, again.arrays[name])


def test_what_is_dropped_depends_on_the_seed_and_the_step(tmp_path):
    data = ArithmeticData(SPEC, 0)
    batch = data.batch(0)

    def loss(seed, step, dropout=0.3):
        sized = replace(SPEC, model={"dropout": dropout})
        module = SequenceModule(sized, build_model(sized, 0), seed)
        module._fabric = None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SequenceModule, "global_step", step)
            return module.train().training_step(batch, 0).item()

    assert loss(0, 0) == loss(0, 0)
    assert len({loss(seed, step) for seed in (0, 1) for step in (0, 1)}) == 4
    assert len({loss(seed, step, 0.0) for seed in (0, 1) for step in (0, 1)}) == 1


def test_dropout_acts_on_embeddings_attention_feed_forward_units_and_branches():
    model = build_model(replace(SPEC, model={"layers": 1}), 0).train()
    batch = ArithmeticData(SPEC, 0).validation()
    block, reader = model.blocks[0], model.encoder[0]
    places = [
        (model.dropout, "p"),
        *((one.dropout, "p") for one in (block, reader, block.feed_forward, reader.feed_forward)),
        *((one, "dropout") for one in (block.attention, block.cross, reader.attention)),
    ]
    assert all(getattr(*place) == 0.3 for place in places)
    assert sum(isinstance(module, torch.nn.Dropout) for module in model.modules()) == 5
    for module, name in places:
        setattr(module, name, 0.0)
    expected = model.predict(batch)
    assert torch.equal(model.predict(batch), expected)
    for module, name in places:
        setattr(module, name, 0.3)
        assert not torch.equal(model.predict(batch), expected)
        setattr(module, name, 0.0)


def validation_step(self, batch, index):
    good = GOOD[self.trainer.global_step // 2 - 1]
    self.exact_match.update(torch.tensor([[1], [int(good)], [0]]), torch.ones(3, 1, dtype=torch.long))
    self.log(VALIDATION, self.exact_match)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SequenceModule, "validation_step", validation_step)
        return folder, run(folder, STOPPING)


def test_training_stops_after_enough_good_evaluations_and_does_not_go_on_when_typed_again(stopped, monkeypatch):
    folder, outcome = stopped
    rows = read_metrics(folder / METRICS)
    values = [0.666667 if good else 0.333333 for good in GOOD[:7]]
    assert [row for row in rows if row[1] == "val_exact_match"] == [
        (step, "val_exact_match", value) for step, value in zip(range(2, 15, 2), values, strict=True)
    ]
    assert [step for step, name, _ in rows if name == "train_loss"] == list(range(1, 15))
    assert outcome.info["scalars"] == {"val_exact_match": 0.666667, "steps": 14}
    assert torch.load(folder / CHECKPOINT, weights_only=True)["global_step"] == 14
    assert load_file(folder / WEIGHTS).keys() == build_model(STOPPING, 0).state_dict().keys()
    before = traces(folder)
    monkeypatch.setattr(SequenceModule, "training_step", killed)
    again = run(folder, STOPPING)
    assert traces(folder) == before and again.info["scalars"] == outcome.info["scalars"]


@pytest.mark.slow
@pytest.mark.parametrize(("place", "steps"), [
    ("training_step", (13,)), ("training_step", (8, 12)), ("validation_step", (14,)), ("validation_step", (12, 12)),
])  # fmt: skip
def test_a_resumed_run_stops_at_the_same_step(place, steps, stopped, tmp_path, monkeypatch):
    """Killed in the last evaluations, or in the training before them, once and twice."""
    folder, outcome = stopped
    monkeypatch.setattr(SequenceModule, "validation_step", validation_step)
    for step in steps:
        kill_at(step, monkeypatch, run, tmp_path, STOPPING, place=place)
    again = run(tmp_path, STOPPING)
    assert traces(tmp_path) == traces(folder)
    assert again.grid == outcome.grid and again.info["scalars"] == outcome.info["scalars"]


@pytest.mark.parametrize(("values", "stops"), [
    ([], False), ([1.0, 1.0], False), ([1.0, 1.0, 1.0], True), ([0.0, 1.0, 0.9, 1.0], True),
    ([1.0, 1.0, 0.89, 1.0], False), ([1.0, 0.89, 1.0, 1.0, 1.0], True), ([1.0, 1.0, 1.0, 0.0], False),
])  # fmt: skip
def test_only_the_newest_evaluations_count(values, stops):
    """Whatever process made them: a state that is loaded goes on."""
    for at, expected in ((0.9, stops), (0.0, False)):
        state = {"in_a_row": 0}
        for value in values:
            trainer = at_evaluation({VALIDATION: torch.tensor(value)})
            stop = StopWhenGood(at, patience=3)
            stop.load_state_dict(state)
            stop.on_validation_end(trainer, None)
            state = stop.state_dict()
        resumed = at_evaluation({})
        stop = StopWhenGood(at, patience=3)
        stop.load_state_dict(state)
        stop.on_fit_start(resumed, None)
        assert resumed.should_stop == expected, "0 never stops"


def at_evaluation(logged):
    state = SimpleNamespace(fn=TrainerFn.FITTING)
    known = {"sanity_checking": False, "ckpt_path": "last.ckpt"}
    return SimpleNamespace(should_stop=False, callback_metrics=logged, state=state, **known)


def test_a_value_that_nothing_logs_cannot_end_a_training():
    with pytest.raises(ValueError, match="no such value is logged; logged are val_loss"):
        StopWhenGood(0.9, 3).on_validation_end(at_evaluation({"val_loss": torch.tensor(1.0)}), None)


def test_probes_leave_the_attention_of_the_last_layer_and_nothing_is_dropped_when_asked(finished, monkeypatch):
    folder, outcome = finished
    model, data = load(SPEC, folder / WEIGHTS), ArithmeticData(SPEC, 0)
    assert set(outcome.arrays) == {f"probe{i}.{name}" for i in (0, 1) for name in ("self", "cross", "source", "target")}
    for number, (source, target) in enumerate([("$007$", "$800"), ("$089$", "$090")]):
        arrays = {name: outcome.arrays[f"probe{number}.{name}"] for name in ("self", "cross", "source", "target")}
        assert "".join(arrays["source"]) == source and "".join(arrays["target"]) == target
        assert arrays["source"].dtype.kind == arrays["target"].dtype.kind == "U"
        assert arrays["self"].shape == (2, 4, 4) and arrays["cross"].shape == (2, 4, 5)
        batch = data.writer.write(data.task.parse(list(SPEC.test.probes[number])))
        for name, weights in model.attention(batch)[-1].items():
            assert arrays[name].dtype == np.float16
            assert np.allclose(arrays[name], weights[0].detach(), atol=1e-3)
            assert np.allclose(arrays[name].sum(axis=2, dtype=np.float32), 1, atol=2e-3)
        assert not np.triu(arrays["self"], 1).any()
    without = load(replace(SPEC, model={"dropout": 0.0}), folder / WEIGHTS)
    batch = ArithmeticData(SPEC, 0).validation()
    assert torch.equal(model.predict(batch), without.predict(batch))
    assert torch.equal(model.predict(batch), model.predict(batch))
    assert not torch.equal(model.train().predict(batch), model.predict(batch))
    assert torch.equal(without.train().predict(batch), without.predict(batch))
    asked = []
    monkeypatch.setattr(SequenceModule, "validation_step", lambda self, batch, index: asked.append(self.model.training))
    monkeypatch.setattr(StopWhenGood, "on_validation_end", lambda *_: None)
    (folder / "asked").mkdir()
    execute(replace(SPEC, train={"steps": 2, "evaluations": 2}), 0, folder / "asked", lambda _: None)
    assert asked == [False, False]


@pytest.mark.parametrize("architecture", ["decoder", "encoder"])
def test_probes_of_one_text(architecture, tmp_path):
    """Without a source there is one map; of an encoder-only model, row t is of token t itself."""
    sized = replace(SPEC, model={"architecture": kinds(Architecture)[architecture]()}, train={"steps": 1})
    arrays = run(tmp_path, sized).arrays
    assert set(arrays) == {f"probe{i}.{name}" for i in (0, 1) for name in ("self", "target")}
    size = 9 if architecture == "encoder" else 8
    assert arrays["probe0.self"].shape == (2, size, size) and "".join(arrays["probe0.target"]) == "$007$800$"[:size]


def test_results_that_are_too_long_are_refused_before_training(tmp_path, monkeypatch):
    """Where a tested length leaves no room for a carry, whether one of the problems that are drawn has it or none."""
    monkeypatch.setattr(SequenceModule, "training_step", killed)
    for task, counts in (("successor", (1,)), ("addition", (2,))):
        with pytest.raises(SettingError, match=r"data\.format\.width=2: expected at least 3, the digits of the"):
            run(
                tmp_path, encoder_decoder(fixed_data(task, 2), test=TestSpec(lengths=(1, 2), counts=counts, examples=1))
            )
        assert not (tmp_path / METRICS).exists()

"""Which kernels train: the probe's choice, that it is kept, and that a compiled training is the plain one."""

import json

import pytest
import torch

from lengen.callbacks import METRICS
from lengen.config.spec import replace
from lengen.data.task_data import TaskData
from lengen.training import kernels
from lengen.training.kernels import FILE, Kernels, missing_compiler, probe, use
from lengen.training.module import SequenceModule
from lengen.training.run import WEIGHTS, execute
from tests.lengen.helpers import TEST, TRAIN, data_spec, kill_at, spec

SHORT = spec(
    data_spec("addition", 1, 2, room=8),
    replace(TRAIN, steps=6, evaluations=3, bucket=3, lr=1e-2, precision="bf16-products"),
    replace(TEST, lengths=(1,), counts=(2,), examples=4),
    layers=1,
)


def trained(folder, setting=SHORT, report=lambda progress: None):
    folder.mkdir(exist_ok=True)
    return execute(setting, 0, folder, report)


def test_the_choice_is_recorded_with_its_reason(tmp_path):
    found = trained(tmp_path).info["kernels"]
    assert found["products"] in ("native", "emulated") and not found["compiled"]
    assert "a bfloat16 product takes" in found["why"] and "compiling is not paid back" in found["why"]
    assert json.loads((tmp_path / FILE).read_text()) == found


def test_float32_rounds_nothing(tmp_path):
    setting = replace(SHORT, train=replace(SHORT.train, precision="32-true"))
    assert trained(tmp_path, setting).info["kernels"]["products"] == "none"


@pytest.mark.parametrize("kept", ["native", "emulated"])
def test_a_run_that_goes_on_takes_the_choice_in_its_folder(tmp_path, kept):
    choice = Kernels(products=kept, compiled=False, why="as before")
    (tmp_path / FILE).write_text(json.dumps({"products": kept, "compiled": False, "why": "as before"}))
    assert trained(tmp_path).info["kernels"] == {"products": kept, "compiled": False, "why": choice.why}


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"products": "fast", "compiled": 1}', b"\xff"])
def test_a_damaged_choice_is_made_again(tmp_path, damaged):
    (tmp_path / FILE).write_bytes(damaged)
    assert "why" in trained(tmp_path).info["kernels"]


def test_the_probe_leaves_no_trace():
    module, data = SequenceModule(SHORT), TaskData(SHORT, 0)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    probe(module, data)
    assert torch.equal(torch.rand(3), expected) and module.training
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert all(parameter.grad is None for parameter in module.parameters())


@pytest.mark.parametrize(("seconds", "compiled"), [(39.0, False), (41.0, True)])
def test_compiling_has_to_be_paid_back(monkeypatch, seconds, compiled):
    monkeypatch.setattr(
        kernels, "_step_seconds", lambda module, data: seconds / SHORT.train.steps * torch.get_num_threads()
    )
    monkeypatch.setattr(kernels, "missing_compiler", lambda: None)
    assert probe(SequenceModule(SHORT), TaskData(SHORT, 0)).compiled is compiled
    monkeypatch.setattr(kernels, "missing_compiler", lambda: "there is no C++ compiler")
    chosen = probe(SequenceModule(SHORT), TaskData(SHORT, 0))
    assert not chosen.compiled and chosen.why.endswith("there is no C++ compiler") is compiled


def test_without_a_compiler_nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert missing_compiler() == "there is no C++ compiler"
    with torch._dynamo.config.patch(disable=True):
        assert missing_compiler() == "TORCHDYNAMO_DISABLE is set"


@pytest.mark.skipif(
    missing_compiler() is not None, reason="nothing can be compiled here; the test above says what then"
)
def test_a_compiled_training_is_the_plain_one_and_goes_on_bit_equally(tmp_path, monkeypatch):
    """Losses agree to rounding; killed and resumed, the compiled weights and losses are the same bytes."""
    setting = replace(SHORT, train=replace(SHORT.train, compile=True, precision="32-true"))
    whole = trained(tmp_path / "whole", setting)
    assert whole.info["kernels"]["compiled"]
    kill_at(5, monkeypatch, trained, tmp_path / "killed", setting)
    trained(tmp_path / "killed", setting)
    for name in (METRICS, WEIGHTS):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    plain, compiled = SequenceModule(setting), SequenceModule(setting)
    data = TaskData(setting, 0)
    use(Kernels(products="none", compiled=True, why=""), compiled, data)
    for step in range(4):
        batch = data.batch(step)
        torch.testing.assert_close(
            compiled.training_step(batch, 0), plain.training_step(batch, 0), rtol=1e-5, atol=1e-5
        )

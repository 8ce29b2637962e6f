"""Devices other than the CPU, pretended."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import lengen
from lengen import ArithmeticData, Decoder, Measurement, SequenceModule, replace
from lengen.models.bias import calibrate_bias, line_values
from lengen.probing import mean_attention
from tests.fixtures.devices import NAME, Elsewhere, check_there
from tests.fixtures.refusals import refused
from tests.fixtures.settings import TEST, settings
from tests.lengen.test_stock_trainer import TWELVE as SPEC

NAMES = [name for name in settings() if "-encoder" not in name or name.startswith(("learned", "rpe"))]
ON_THE_CPU = {"tasks", "position_ids", "data", "plotting"}
"""Folders whose tensors are drawn, or drawn from weights, on the CPU whatever trains."""
CHECKED = {
    "bias.py", "probing.py", "loading.py", "chance.py", "sections.py",
}  # fmt: skip
"""Files whose float64 is on the CPU: tested above, numpy, or of what `lengen.decoding` brought there."""


def test_the_pretended_device_refuses_a_mixture():
    with Elsewhere():
        there, here = torch.arange(3.0).to(NAME), torch.ones(3)
        assert there.device.type == NAME
        assert (there + here.to(NAME) * 2).cpu().tolist() == [2.0, 3.0, 4.0]
        assert there[torch.tensor([2, 0])].cpu().tolist() == [2.0, 0.0]
        for mixed in (lambda: there + here, lambda: here + there, lambda: here[there.long()], lambda: here.add_(there)):
            refused(RuntimeError, "one device", mixed)


class WhereItIs(Measurement):
    def measure(self, model, data, report):
        self.found = model.device.type


def test_a_fit_ends_with_the_model_where_it_was_trained():
    module, callback = SequenceModule(settings()["tied"]), WhereItIs()
    strategy, data = SimpleNamespace(root_device=torch.device(NAME)), ArithmeticData(module.spec, 0)
    trainer = SimpleNamespace(
        strategy=strategy, datamodule=data, callbacks=[], loggers=[], global_step=0, callback_metrics={}
    )
    with Elsewhere():
        callback.on_fit_end(trainer, module)
    assert callback.found == NAME
    assert module.device.type == "cpu"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_model_is_measured_there(name):
    spec = settings()[name]
    decoder, in_order = isinstance(spec.model.architecture, Decoder), spec.model.architecture.IN_ORDER
    test = replace(TEST, lengths=(1, 3), counts=(2,), examples=5, sampled=3 * in_order, attention_examples=3)
    check_there(replace(spec, test=replace(test, attention=((2, 2),) * decoder)))


class NoFloat64(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        made = function(*arguments, **(options or {}))
        for tensor in made if isinstance(made, tuple | list) else [made]:
            if isinstance(tensor, torch.Tensor) and tensor.is_meta and tensor.dtype == torch.float64:
                raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return made


class There(torch.Tensor):
    """A tensor on such a device: what is made of it is there too, and no numpy array, until `cpu` fetches it."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        made = super().__torch_function__(function, types, arguments, options or {})
        if function is torch.Tensor.cpu:
            return made.as_subclass(torch.Tensor)
        if function is torch.Tensor.numpy:
            raise TypeError("can't convert mps:0 device type tensor to numpy")
        if isinstance(made, There) and made.dtype == torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return made


def there(tensor: torch.Tensor) -> There:
    return tensor.as_subclass(There)


def test_the_emulation_refuses_and_metrics_move_and_count_there():
    refused(TypeError, "float64", there(torch.ones(2)).double)
    with pytest.raises(TypeError, match="float64"), NoFloat64():
        torch.zeros(2, dtype=torch.float64).to("meta")
    module = lengen.SequenceModule(SPEC)
    metrics = [lengen.ExactMatch(), lengen.EditDistance(), lengen.AnswerMatch(module.data.format, module.data.vocab)]
    with NoFloat64():
        for movable in (module, *metrics):
            movable.to("meta")
    written, reference = there(torch.tensor([[3, 1], [4, 1]])), there(torch.tensor([[3, 1], [3, 1]]))
    for metric, value in ((lengen.ExactMatch(), 0.5), (lengen.EditDistance(), 0.25)):
        metric.update(written, reference)
        assert float(metric.compute()) == value
    root = Path(lengen.__file__).parent
    used = [p for p in root.rglob("*.py") if re.search(r"float64|\.double\(", p.read_text(encoding="utf-8"))]
    other = [p for p in used if p.name not in CHECKED and p.relative_to(root).parts[0] not in ON_THE_CPU]
    assert not other, "fetch the tensor with cpu() first, and add a test above"


def test_lines_and_mean_attention_are_measured_there():
    attention = torch.rand(2, 4, 4, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    for one, two in zip(line_values(there(attention), 1), line_values(attention, 1), strict=True):
        assert torch.equal(one, two)
    bias = calibrate_bias(there(attention), (6, 6), [(1, 1)])
    assert isinstance(bias, There) and torch.equal(bias.cpu(), calibrate_bias(attention, (6, 6), [(1, 1)]))
    module = lengen.SequenceModule(SPEC)
    problems, plain = module.data.test(1, 2, 4), module.model.attention
    expected = mean_attention(module.model, module.data, problems)
    module.model.attention = lambda batch, softmax: [{k: there(v) for k, v in layer.items()} for layer in plain(batch)]
    found = mean_attention(module.model, module.data, problems)
    assert torch.equal(found["self"], expected["self"])


def test_attention_is_shown_of_a_model_there(monkeypatch):
    model = lengen.load(lengen.SequenceModule(SPEC))
    expected, plain = model.attention([1, 2])["self"], model.module.attention
    batch = model.data.writer.write(model.data.task.parse(["1", "2"]))

    def attention(moved):
        assert moved.tokens.is_meta and moved.ids.is_meta
        return [{name: there(weights) for name, weights in layer.items()} for layer in plain(batch)]

    monkeypatch.setattr(type(model.module), "device", torch.device("meta"))
    monkeypatch.setattr(model.module, "attention", attention)
    assert (model.attention([1, 2])["self"] == expected).all()

"""A device without float64, such as Apple's: every model, metric and measurement works there."""

import re
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import lengen
from lengen.decoding.inside import mean_attention
from lengen.models.bias import calibrate_bias, line_values
from tests.lengen.data.test_any_trainer import SPEC

pytestmark = pytest.mark.slow


class NoFloat64(TorchDispatchMode):
    """Refuses float64 on the device ``meta``, in the words of MPS."""

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


def test_the_emulation_refuses():
    with pytest.raises(TypeError, match="float64"):
        there(torch.ones(2)).double()
    with pytest.raises(TypeError, match="float64"), NoFloat64():
        torch.zeros(2, dtype=torch.float64).to("meta")


def test_modules_and_metrics_can_be_moved():
    module = lengen.SequenceModule(SPEC)
    metrics = [lengen.ExactMatch(), lengen.EditDistance(), lengen.AnswerMatch(module.data.format, module.data.vocab)]
    with NoFloat64():
        for movable in (module, *metrics):
            movable.to("meta")


def test_metrics_count_there():
    written, reference = there(torch.tensor([[3, 1], [4, 1]])), there(torch.tensor([[3, 1], [3, 1]]))
    for metric, value in ((lengen.ExactMatch(), 0.5), (lengen.EditDistance(), 0.25)):
        metric.update(written, reference)
        assert float(metric.compute()) == value


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


ON_THE_CPU = {"tasks", "position_ids", "data", "plotting"}
"""Folders whose tensors are drawn, or drawn from weights, on the CPU whatever trains."""
CHECKED = {
    "bias.py", "inside.py", "across_tasks.py", "loading.py", "chance.py", "sections.py",
}  # fmt: skip
"""Files whose float64 is on the CPU: tested above, numpy, or of what `lengen.decoding` brought there."""


def test_no_other_file_uses_float64():
    root = Path(lengen.__file__).parent
    used = [p for p in root.rglob("*.py") if re.search(r"float64|\.double\(", p.read_text(encoding="utf-8"))]
    other = [p for p in used if p.name not in CHECKED and p.relative_to(root).parts[0] not in ON_THE_CPU]
    assert not other, "fetch the tensor with cpu() first, and add a test above"

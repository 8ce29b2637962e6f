"""Devices other than the CPU, pretended."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import lengen
from lengen import ArithmeticData, Decoder, Measurement, SequenceModule, replace
from lengen.model_probing import mean_attention
from lengen.models.calibrated_bias import calibrate_bias, line_values
from tests.fixtures.devices import NAME, Elsewhere, check_there
from tests.fixtures.refusals import refused
from tests.fixtures.settings import TEST, settings
from tests.lengen.test_stock_trainer import TWELVE as SPEC

NAMES = [name for name in settings() if "-encoder" not in name or name.startswith(("learned", "rpe"))]
ON_THE_CPU = {"tasks", "position_ids", "data", "plotting"}
"""Folders whose tensors are drawn, or drawn from weights, on the CPU whatever trains."""
CHECKED = {
    "calibrated_bias.py", "model_probing.py", "trained_model.py", "blind_baseline.py", "sections.py",
}  # fmt: skip
"""Files whose float64 is on the CPU: tested above, numpy, or of what `lengen.decoding` brought there."""


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


def test_float64_is_refused_and_metrics_move_and_count_there():
    module = lengen.SequenceModule(SPEC)
    written, reference = torch.tensor([[3, 1], [4, 1]]), torch.tensor([[3, 1], [3, 1]])
    with Elsewhere():
        refused(TypeError, "float64", torch.ones(2).to(NAME).double)
        answers = lengen.AnswerMatch(module.data.format, module.data.vocab)
        for movable in (module, lengen.ExactMatch(), lengen.EditDistance(), answers):
            movable.to(NAME)
        for metric, value in ((lengen.ExactMatch(), 0.5), (lengen.EditDistance(), 0.25)):
            metric.update(written.to(NAME), reference.to(NAME))
            assert float(metric.compute()) == value
    root = Path(lengen.__file__).parent
    used = [p for p in root.rglob("*.py") if re.search(r"float64|\.double\(", p.read_text(encoding="utf-8"))]
    other = [p for p in used if p.name not in CHECKED and p.relative_to(root).parts[0] not in ON_THE_CPU]
    assert not other, "fetch the tensor with cpu() first, and add a test above"


def test_lines_and_attention_are_measured_and_shown_there():
    attention = torch.rand(2, 4, 4, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    module = lengen.SequenceModule(SPEC)
    model, problems = lengen.load(module), module.data.test(1, 2, 4)
    expected = [*line_values(attention, 1), calibrate_bias(attention, (6, 6), [(1, 1)])]
    mean, shown = mean_attention(model.module, module.data, problems)["self"], model.attention([1, 2])["self"]
    with Elsewhere():
        there = attention.to(NAME)
        found = [*line_values(there, 1), calibrate_bias(there, (6, 6), [(1, 1)])]
        assert found[-1].device.type == NAME
        for one, other in zip(found, expected, strict=True):
            assert torch.equal(one.cpu(), other)
        model.module.to(NAME)
        assert torch.allclose(mean_attention(model.module, module.data, problems)["self"].cpu(), mean, atol=1e-6)
        np.testing.assert_allclose(model.attention([1, 2])["self"], shown, atol=1e-6)

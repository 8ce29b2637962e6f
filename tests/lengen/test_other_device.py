"""Models are measured on the device that trained them, and every measurement works there."""

from types import SimpleNamespace

import pytest
import torch

from lengen import ArithmeticData, Decoder, SequenceModule
from lengen.callbacks.accuracy_grid import Measurement
from lengen.settings.spec import replace
from tests.fixtures.devices import NAME, Elsewhere, check_there
from tests.fixtures.settings import TEST, settings


def test_the_pretended_device_refuses_a_mixture():
    with Elsewhere():
        there, here = torch.arange(3.0).to(NAME), torch.ones(3)
        assert there.device.type == NAME
        assert (there + here.to(NAME) * 2).cpu().tolist() == [2.0, 3.0, 4.0]
        assert there[torch.tensor([2, 0])].cpu().tolist() == [2.0, 0.0]
        for mixed in (lambda: there + here, lambda: here + there, lambda: here[there.long()], lambda: here.add_(there)):
            with pytest.raises(RuntimeError, match="one device"):
                mixed()


class WhereItIs(Measurement):
    """Notes the device of the model it is given."""

    def measure(self, model, data, report):
        self.found = model.device.type


def test_a_fit_ends_with_the_model_where_it_was_trained():
    module, callback = SequenceModule(settings()["tied"]), WhereItIs()
    strategy, data = SimpleNamespace(root_device=torch.device(NAME)), ArithmeticData(module.spec, 0)
    trainer = SimpleNamespace(strategy=strategy, datamodule=data, callbacks=[], loggers=[])
    with Elsewhere():
        callback.on_fit_end(trainer, module)
    assert callback.found == NAME
    assert module.device.type == "cpu"


NAMES = [name for name in settings() if "-encoder" not in name or name.startswith(("learned", "rpe"))]


@pytest.mark.parametrize("name", NAMES)
def test_every_model_is_measured_there(name):
    spec = settings()[name]
    decoder, in_order = isinstance(spec.model.architecture, Decoder), spec.model.architecture.IN_ORDER
    test = replace(TEST, lengths=(1, 3), counts=(2,), examples=5, sampled=3 * in_order, attention_examples=3)
    check_there(replace(spec, test=replace(test, attention=((2, 2),) * decoder)))

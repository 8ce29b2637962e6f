"""Steps that are recorded and replayed against steps that are taken one by one.

Where there is a GPU, graphs are CUDA graphs; elsewhere nothing can record a step, so what is recorded is run again.
"""

import pytest
import torch

from lengen.config.spec import change
from lengen.training.cuda_graph import CudaGraphs, GraphedStep, copied, refill, shape_of
from lengen.training.stacked import Stack, stack_batches, stacked_batches
from tests.lengen.stacking import HINTED, Repeats, modules, on_device, settings

SETTINGS = {name: settings()[name] for name in ("learned-decoder", "fire-decoder", "learned-encoder_decoder")}
SETTINGS["hinted"] = HINTED
GRAPHS = [Repeats, *([CudaGraphs] if torch.cuda.is_available() else [])]


def trained(setting, take_of, steps=24):
    """Losses of every step, and the stack."""
    setting = change(setting, train={"steps": steps, "bucket": 4, "lr": 1e-2})
    members = modules(setting, 2)
    stack = Stack(members, setting.train, capturable=True)
    take, losses, shapes = take_of(stack.step), [], []
    for step, batch in enumerate(stacked_batches([module.data for module in members], 0, steps, multiple=8)):
        stack.begin(step)
        losses.append(take(on_device(batch)).clone())
        shapes.append(shape_of(batch))
    return torch.stack(losses), stack, shapes


@pytest.mark.parametrize("graphs", GRAPHS)
@pytest.mark.parametrize("name", SETTINGS)
def test_replayed_steps_train_as_steps_one_by_one(name, graphs):
    expected, one_by_one, shapes = trained(SETTINGS[name], lambda step: step)
    found, replayed, _ = trained(SETTINGS[name], lambda step: GraphedStep(step, graphs()))
    assert len(set(shapes)) < len(shapes) / 2  # most steps are replays
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    for weights, leaf in one_by_one.leaves.items():
        torch.testing.assert_close(replayed.leaves[weights], leaf, rtol=1e-9, atol=1e-12)


def test_a_shape_is_trained_on_once_and_then_recorded_once():
    graphs, taken = Repeats(), []
    step = GraphedStep(lambda batch: taken.append(batch) or batch.scale, graphs)
    data = modules(SETTINGS["learned-decoder"], 2)
    short, long = (stack_batches([module.data.batch(0) for module in data], multiple) for multiple in (1, 64))
    step(short)
    assert graphs.recorded == 0 and taken[0] is short
    step(short)
    step(short)
    assert graphs.recorded == 1 and taken[1] is taken[2] is not short
    step(long)
    assert graphs.recorded == 1 and taken[3] is long
    step(short._replace(output=1))
    assert graphs.recorded == 1, "another output head is another step"
    replayed = short._replace(scale=short.scale + 1)
    assert torch.equal(step(replayed), replayed.scale) and len(taken) == 6


@pytest.mark.parametrize("name", SETTINGS)
def test_a_batch_is_copied_whole(name):
    members = modules(SETTINGS[name], 2)
    batch, other = (stack_batches([module.data.batch(step) for module in members], 64) for step in (0, 3))
    held = copied(batch)
    assert shape_of(held) == shape_of(batch) == shape_of(other)
    kept = held.tokens.data_ptr()
    refill(held, other)
    assert held.tokens.data_ptr() == kept
    for one, target in zip((*held[:4], *(held.source or ())), (*other[:4], *(other.source or ())), strict=True):
        assert torch.equal(one, target)

"""A stack of seeds against the same seeds alone: losses, gradients, clipping, batches."""

import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils import clip_grad_norm_

from lengen.config.spec import change
from lengen.data.task_data import TaskData
from lengen.training.optimizer import build_optimizer
from lengen.training.stacked import Stack, clip_per_member, stack_batches, stacked_batches
from tests.lengen.stacking import ARCHITECTURES, HINTED, modules, on_device, settings

SETTINGS = settings()
CLOSE = {"rtol": 1e-10, "atol": 1e-12}
DECODER = SETTINGS["learned-decoder"]


@pytest.mark.parametrize("name", SETTINGS)
def test_losses_and_gradients_of_members_are_those_of_single_runs(name):
    """Beside longer members and padding; and no operation falls back to a loop over the members."""
    close = {"rtol": 1e-6, "atol": 1e-7} if "tempered" in name else CLOSE  # temperatures are float32
    alone, together = modules(SETTINGS[name]), modules(SETTINGS[name])
    batches = [on_device(module.data.batch(1)) for module in alone]
    stack = Stack(together, SETTINGS[name].train)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses = stack.losses(stack_batches(batches, multiple=1 if name == "windowed" else 16))
    losses.sum().backward()
    assert losses.dtype == torch.float64
    for member, (module, batch) in enumerate(zip(alone, batches, strict=True)):
        loss = module.training_step(batch, 0)
        loss.backward()
        torch.testing.assert_close(losses[member], loss, **close)
        for parameter, value in module.named_parameters():
            found = stack.leaves[parameter].grad
            assert (found is None) == (value.grad is None)  # another task's output head
            if found is not None:
                torch.testing.assert_close(found[member], value.grad, **close)


def test_members_see_what_the_stack_has_learned_until_they_are_released():
    together = modules(DECODER)
    stack = Stack(together, DECODER.train)
    before = together[1].model.embedding.weight.clone()
    stack.begin(1)
    stack.step(stack_batches([on_device(module.data.batch(0)) for module in together]))
    weights = together[1].model.embedding.weight
    assert not torch.equal(weights, before) and torch.equal(weights, stack.leaves["model.embedding.weight"][1])
    stack.release()
    stack.step(stack_batches([on_device(module.data.batch(1)) for module in together]))
    assert not torch.equal(weights, stack.leaves["model.embedding.weight"][1])


@pytest.mark.parametrize("capturable", [False, True])
def test_steps_follow_the_schedule_and_the_decay_of_single_runs(capturable):
    """The optimizer sees matrices and scales of members, not of the stack."""
    setting = change(DECODER, train={"steps": 6, "weight_decay": 0.5, "warmup": 0.4, "lr": 1e-2, "clip": 0.2})
    alone, together = modules(setting, 2), modules(setting, 2)
    stack = Stack(together, setting.train, capturable)
    for module in alone:
        optimizer, schedule = build_optimizer(module.model, setting.train)
        for step in range(4):
            optimizer.zero_grad()
            module.training_step(on_device(module.data.batch(step)), step).backward()
            clip_grad_norm_(module.parameters(), setting.train.clip)
            optimizer.step()
            schedule.step()
    for step in range(4):
        stack.begin(step)
        stack.step(stack_batches([on_device(module.data.batch(step)) for module in together]))
    close = {"rtol": 1e-5, "atol": 1e-8} if capturable else CLOSE  # a rate on the device is a float32
    for module, member in zip(alone, together, strict=True):
        for one, other in zip(module.parameters(), member.parameters(), strict=True):
            torch.testing.assert_close(other, one, **close)


@given(
    shapes=st.lists(st.lists(st.integers(1, 4), max_size=3), min_size=1, max_size=5),
    members=st.integers(1, 4),
    largest=st.sampled_from([1e-3, 0.5, 1.0, 30.0]),
    scale=st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
    seed=st.integers(0, 99),
)
def test_every_member_is_clipped_as_if_it_were_alone(shapes, members, largest, scale, seed):
    stream = torch.Generator().manual_seed(seed)
    strength = scale * torch.rand(members, generator=stream, dtype=torch.float64) ** 4  # members differ
    gradients = [
        torch.randn(members, *shape, generator=stream, dtype=torch.float64) * strength.view(-1, *[1] * len(shape))
        for shape in shapes
    ]
    alone = [[torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in shapes] for _ in range(members)]
    norms = []
    for member, parameters in enumerate(alone):
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient[member].clone()
        norms.append(clip_grad_norm_(parameters, largest))
    torch.testing.assert_close(clip_per_member(gradients, largest), torch.stack(norms))
    for member, parameters in enumerate(alone):
        for parameter, gradient in zip(parameters, gradients, strict=True):
            torch.testing.assert_close(gradient[member], parameter.grad)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_padding_changes_no_loss(architecture):
    setting = SETTINGS[f"fire-{architecture}"]
    together = modules(setting)
    stack = Stack(together, setting.train)
    batches = [on_device(module.data.batch(0)) for module in together]
    short, long = stack_batches(batches), stack_batches(batches, multiple=64)
    extra = long.tokens.shape[-1] - short.tokens.shape[-1]
    assert extra > 0 and long.ids.shape[-1] == long.loss.shape[-1] == long.tokens.shape[-1] == 64
    assert (
        not long.tokens[..., -extra:].any() and not long.ids[..., -extra:].any() and not long.loss[..., -extra:].any()
    )
    torch.testing.assert_close(stack.losses(long), stack.losses(short), **CLOSE)


STREAMS = {
    "decoder": change(DECODER, train={"bucket": 3}),
    "encoder-decoder": change(SETTINGS["learned-encoder_decoder"], train={"bucket": 3}),
    "fixed set": change(DECODER, train={"bucket": 3}, data={"examples": 40}),
    "hinted": change(HINTED, train={"bucket": 3}),
}


def same(one, other):
    return all(
        torch.equal(a, b)
        for a, b in zip((*one[:4], *(one.source or ())), (*other[:4], *(other.source or ())), strict=True)
    )


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", STREAMS)
def test_every_member_has_the_batches_of_its_own_seed(name, workers):
    """From any step on, and the same whoever draws them."""
    setting = STREAMS[name]
    data = [TaskData(setting, seed) for seed in (0, 5)]
    drawn = list(stacked_batches(data, 2, 9, multiple=4, workers=workers))
    assert len(drawn) == 7
    fresh = [TaskData(setting, seed) for seed in (0, 5)]
    for step, batch in zip(range(2, 9), drawn, strict=True):
        expected = stack_batches([one.batch(step) for one in fresh], multiple=4)
        assert batch.output == expected.output and same(batch, expected), step
        assert batch.tokens.shape[-1] % 4 == 0
    assert not torch.equal(drawn[0].tokens[0], drawn[0].tokens[1])

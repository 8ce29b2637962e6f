"""Loops by length: each example beside a model that loops so often for all, decoding, and what is refused."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import (
    Addition,
    Consecutive,
    Copy,
    DataSpec,
    EncoderDecoder,
    Linear,
    LoopsByLength,
    NoPositionIds,
    Parity,
    SettingError,
    Successor,
    TestSpec,
    TrainSpec,
)
from lengen.data.batch import Batch, response_start
from lengen.data.datamodule import ArithmeticData
from lengen.data.task_data import TaskData
from lengen.digits import generator
from lengen.formats.base import END, PAD
from lengen.models import Transformer
from lengen.models.transformer import loops_of
from lengen.settings.model import ModelSpec
from lengen.settings.spec import Spec, replace, validate
from lengen.training.kernels import choose
from lengen.training.module import SequenceModule
from tests.fixtures.decoding import check_decoding, ended
from tests.fixtures.models import random_model
from tests.fixtures.settings import spec

RULES = {
    "answer": LoopsByLength(most=6),
    "half of the prompt": LoopsByLength(of="prompt", tokens=2, more=1, most=6),
    "few": LoopsByLength(of="prompt", more=-4, most=3),
}


COPY, PLAIN = Copy(5), Linear()


def setting(rule: LoopsByLength | None = RULES["answer"], task=COPY, format=PLAIN, **model: object) -> Spec:
    data = DataSpec(task=task, format=format, position_ids=NoPositionIds())
    return spec(data, **{"encoding": "none", "inject": "input", "loops_by_length": rule, **model})


def times(rule: LoopsByLength, prompt: int, response: int) -> int:
    """The rule in words of one example."""
    n = response if rule.of == "response" else prompt
    return min(rule.most, max(1, math.ceil(n / rule.tokens) + rule.more))


@given(
    st.sampled_from(["response", "prompt"]),
    st.integers(1, 4),
    st.integers(-4, 4),
    st.integers(1, 9),
    st.integers(0, 2**31),
)
def test_loops_are_those_of_the_rule(of, tokens, more, most, seed):
    rule = LoopsByLength(of=of, tokens=tokens, more=more, most=most)
    data = TaskData(setting(None, Copy(9), inject="none"), 0)
    batch = data.writer.write(data.task.train(8, generator("p", seed)))
    prompts, responses = response_start(batch).tolist(), batch.loss.sum(dim=1).tolist()
    expected = [times(rule, prompt, response) for prompt, response in zip(prompts, responses, strict=True)]
    assert loops_of(rule, batch).tolist() == expected
    model: ModelSpec = setting(rule, Copy(9)).model
    assert [model.loops_of(*pair) for pair in zip(prompts, responses, strict=True)] == expected


@torch.no_grad()
@pytest.mark.parametrize("architecture", ["decoder", "encoder"])
@pytest.mark.parametrize("inject", ["none", "input", "coordinates"])
@pytest.mark.parametrize("rule", RULES)
def test_each_example_is_looped_as_a_model_that_loops_so_often_for_all(rule, inject, architecture):
    looped = setting(RULES[rule], inject=inject, architecture=architecture)
    model, data = random_model(looped)
    batch = data.writer.write(data.task.train(12, generator("p")))
    loops, found = loops_of(RULES[rule], batch).tolist(), model.predict(batch)
    assert len(set(loops)) > 1 and max(loops) <= RULES[rule].most
    for row, count in enumerate(loops):
        plain = replace(looped, model={"loops_by_length": None, "loops": count}).model
        other = type(model)(plain, len(data.vocab), ()).double().eval()
        other.load_state_dict(model.state_dict())
        size = int((batch.tokens[row] != PAD).sum())
        alone = Batch(batch.tokens[row : row + 1, :size], batch.ids[:, :, :size], batch.loss[row : row + 1, :size])
        assert torch.allclose(other.predict(alone)[0], found[row, : size - 1], atol=1e-9)


@torch.no_grad()
def plain_greedy(model: Transformer, data: ArithmeticData, problems, rule: LoopsByLength) -> list[list[int]]:
    """Each problem alone, without a cache, the text read again for every token, loops from its own lengths."""
    responses = []
    for i in range(len(problems.lengths)):
        batch = data.writer.write(problems.select(torch.tensor([i])))
        first, size = int(response_start(batch)[0]), int(batch.loss.sum())
        text, loops = batch.tokens[:, :first], torch.tensor([times(rule, first, size)])
        for _ in range(size):
            logits = model(text, batch.ids[:, :, : text.shape[1]], loops=loops)
            text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
            if int(text[0, -1]) == END:
                break
        responses.append(text[0, first:].tolist())
    return responses


@pytest.mark.parametrize("inject", ["none", "input", "coordinates"])
@pytest.mark.parametrize("rule", RULES)
def test_decoding_with_a_cache_agrees_with_a_plain_loop(rule, inject):
    model, data = random_model(setting(RULES[rule], inject=inject))
    drawn = data.task.train(12, generator("p"))
    expected = [ended(row) for row in plain_greedy(model, data, drawn, RULES[rule])]
    check_decoding(model, data, drawn, expected)


def test_gradients_reach_the_blocks_through_the_loops_of_each_example():
    """The loss of a mixed batch is the sum of the losses of its examples alone."""
    model, data = random_model(setting())
    module = SequenceModule(data.spec, model)
    whole = data.batch(0)
    module.training_step(whole, 0).backward()
    together = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    for row in range(len(whole.tokens)):
        size = int((whole.tokens[row] != PAD).sum())
        alone = whole._replace(tokens=whole.tokens[row : row + 1, :size], ids=whole.ids[:, :, :size])
        module.training_step(alone._replace(loss=whole.loss[row : row + 1, :size]), 0).backward()
    for name, parameter in model.named_parameters():
        assert torch.allclose(parameter.grad, together[name], atol=1e-9), name


PADDED = Linear(pad_query=True, pad_response=True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (setting(task=Addition(3)), r"model.loops_by_length.of=response: answers of data.task=addition end where"),
        (setting(loops=2), r"model.loops=2: model.loops_by_length already says"),
        (setting(architecture=EncoderDecoder(), inject="none"), r"model.loops_by_length: .*encoder_decoder has two"),
        (replace(setting(), train={"loss": "all"}), r"model.loops_by_length: with train.loss=all"),
        (replace(setting(), train={"compile": True}), r"train.compile=true: with model.loops_by_length"),
        (
            setting(task=Parity(5)),
            r"model.loops_by_length: every problem of data.task=parity .* 2 times; set model.loops=2",
        ),
        (setting(LoopsByLength(most=1)), r"model.loops_by_length: every problem of data.task=copy .* 1 time; set"),
        (setting(task=Successor(3), format=Linear(width=5)), r"model.loops_by_length: every problem of data.task=succ"),
    ],
    ids=["unknown length", "two rules", "beside", "loss", "compiled", "one length", "one loop", "one width"],
)
def test_what_makes_no_sense_is_refused(wrong, said):
    with pytest.raises(SettingError, match=said):
        validate(wrong)


@pytest.mark.parametrize(
    "right",
    [
        setting(task=Addition(3), format=PADDED),
        setting(RULES["half of the prompt"], task=Addition(3)),
        setting(task=Parity(5), format=Linear(scratchpad=True)),
        setting(task=Addition(3), format=PADDED, architecture="encoder"),
    ],
    ids=["padded", "by the prompt", "prefix parities", "at once"],
)
def test_what_is_known_before_it_is_written_is_not(right):
    validate(right)
    assert right.override("train.steps=3").model == right.model and not choose(right, "cpu").compiled


def test_it_is_set_like_any_field():
    plain = spec(
        DataSpec(task=Copy(3), format=Linear(), position_ids=Consecutive()),
        TrainSpec(steps=1, batch=2, lr=0.1),
        TestSpec(lengths=(3,)),
        encoding="rope",
    )
    looped = plain.override('model.loops_by_length={"most": 4}', "model.loops_by_length.more=1")
    assert looped.model.loops_by_length == LoopsByLength(most=4, more=1) and looped.hash() != plain.hash()
    assert list(itertools.chain(looped.to_dict()["model"]["loops_by_length"])) == ["of", "tokens", "more", "most"]

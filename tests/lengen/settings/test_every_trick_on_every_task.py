"""Every trick on every task: each pair changes the batches or the model as it says, or is refused in one sentence that
names both parts; none is ignored."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import lengen
from lengen import replace
from lengen.data.batch_and_random_spaces import Batch
from lengen.part import kinds
from lengen.tasks.base import Row
from lengen.tasks.sequence_base import Skewed
from tests.cases import CASES
from tests.fixtures.settings import model_spec

pytestmark = pytest.mark.slow

SKEWED: dict[str, Any] = {"longest": 6, "short": 3, "skew": 0.5}
SIZED: tuple[lengen.Task, ...] = (
    lengen.Addition(digits=3, operands=3), lengen.TwoOperandAddition((1, 2, 3)),
    lengen.Multiplication(digits=3, second_digits=2), lengen.Parity(bits=5), lengen.Successor(digits=4),
    lengen.PairAddition(digits=4), lengen.NByOne(digits=4), lengen.DigitSums(digits=4),
    lengen.RunningXor(digits=4, base=2), lengen.ListOpsSum(digits=4), lengen.ListOpsMax(digits=4),
    lengen.ListOpsMin(digits=4), lengen.ListOps(digits=4), lengen.Sorting(alphabet=9, **SKEWED),
    lengen.NextLarger(alphabet=9, **SKEWED), lengen.Counting(alphabet=9, **SKEWED),
    lengen.Filling(alphabet=9, **SKEWED), lengen.Increment(**SKEWED), lengen.Carries(**SKEWED), lengen.Copy(digits=5),
    lengen.Reverse(digits=5),
)  # fmt: skip
"""Tasks whose sizes matter here: hints are of the same ones."""
OTHERS = {case.data.task.kind: case.data.task for case in CASES if type(case.data.task) not in map(type, SIZED)}
TASKS = (*SIZED, *OTHERS.values())
Change = Callable[[lengen.Spec], lengen.Spec]


def format(**fields: Any) -> Change:
    return lambda spec: lengen.replace(spec, data={"format": replace(spec.data.format, **fields)})


def data(**fields: Any) -> Change:
    return lambda spec: lengen.replace(spec, data=fields)


def model(**fields: Any) -> Change:
    return lambda spec: lengen.replace(spec, model=fields)


def learned(ids: Any) -> Change:
    return lambda spec: lengen.replace(spec, data={"position_ids": ids}, model={"encoding": lengen.Learned()})


def hint(part: lengen.Task) -> Change:
    return lambda spec: lengen.replace(
        spec, data={"hints": (part,)}, train={"one_length": isinstance(spec.data.task, Skewed)}
    )


def beside(*architecture: Any, **fields: Any) -> Change:
    return model(architecture=lengen.EncoderDecoder(*architecture, **fields))


def beside_one_length(bias: Any, **fields: Any) -> Change:
    """A fixed bias, with numbers of one length where the task has numbers."""
    padded, plain = format(width=9), beside(0, bias, **fields)
    return lambda spec: plain(
        padded(spec) if spec.data.task.ROWS.numbers and spec.data.task.ROWS.answer is not Row.SEQUENCE else spec
    )


BASE = "sinusoidal"
"""Encoding of `base`."""
TRICKS: dict[str, Change] = {
    "data.format.scratchpad": format(scratchpad=True),
    "data.format.pad_query": format(pad_query=True),
    "data.format.pad_response": format(pad_response=True),
    "data.format.pad_to": format(pad_to=7),
    "data.format.width": format(width=9),
    "data.format.reverse_query": format(reverse_query=True),
    "data.format.reverse_response": lambda spec: format(reverse_response=not spec.data.format.reverse_response)(spec),
    "data.format.begin": format(begin=False),
    "data.format.separator=$": format(separator="$"),
    "data.format.separator=⊥": format(separator="⊥"),
    "data.format.end": format(end=False),
    "data.format.index_hints": format(index_hints=30),
    "data.format=aligned": data(format=lengen.Aligned(9)),
    "data.format=multiplication_stages": data(format=lengen.MultiplicationStages()),
    "data.format=digit_steps": data(format=lengen.DigitSteps()),
    "data.format=subtasks": data(format=lengen.Subtasks()),
    "data.position_ids=coupled, one level": learned(lengen.Coupled((40,))),
    "data.position_ids=coupled, two levels": learned(lengen.Coupled((40, 40))),
    "data.position_ids=coupled, three levels": learned(lengen.Coupled((40, 40, 40))),
    "data.position_ids=abacus": learned(lengen.Abacus(60, 9)),
    "data.position_ids=cyclic": learned(lengen.Cyclic(3)),
    "data.position_ids=randomised": learned(lengen.Randomised(90)),
    "data.position_ids=consecutive": learned(lengen.Consecutive(90)),
    "data.position_ids=none": lambda s: lengen.replace(
        s, data={"position_ids": lengen.NoPositionIds()}, model={"encoding": lengen.NoEncoding()}
    ),
    "data.spaces": data(spaces=lengen.RandomSpaces(0.9)),
    "data.spaces.fresh": data(spaces=lengen.RandomSpaces(0.9, fresh=False)),
    "data.vocabulary": data(vocabulary="printable"),
    "data.examples": data(examples=1000),
    "data.hints=next_larger": hint(lengen.NextLarger(alphabet=9, **SKEWED)),
    "data.hints=count": hint(lengen.Counting(alphabet=9, **SKEWED)),
    "data.hints=fill": hint(lengen.Filling(alphabet=9, **SKEWED)),
    "data.hints=carries": hint(lengen.Carries(**SKEWED)),
    "data.hints=digit_sums": data(hints=(lengen.DigitSums(digits=9),)),
    "data.hints=copy": data(hints=(lengen.Copy(digits=9),)),
    **{
        f"model.encoding={kind}": model(encoding=part())
        for kind, part in kinds(lengen.Encoding).items()
        if kind != BASE
    },
    "model.architecture=encoder": model(architecture=lengen.Encoder()),
    "model.architecture=encoder_decoder": beside(),
    "model.architecture.encoder_layers": beside(1),
    "model.architecture.attention_bias=window": beside_one_length(lengen.Window(1)),
    "model.architecture.attention_bias=given": beside_one_length(lengen.Given()),
    "model.architecture.attention_bias=window, not causal": beside_one_length(lengen.Window(1), causal=False),
    "model.tempered": model(tempered=lengen.Tempered(start=0.4)),
    "model.tempered.form": model(tempered=lengen.Tempered(form="one_plus_log", start=0.4)),
    "model.tempered.of": model(tempered=lengen.Tempered(of="prompt", start=0.4)),
    "model.tempered.per_head": model(tempered=lengen.Tempered(per_head=True, start=0.4)),
    "model.architecture.attention_bias=window, decoder": model(architecture=lengen.Decoder(lengen.Window(3))),
    "model.architecture.attention_bias=hard_alibi": lambda s: lengen.replace(
        s,
        data={"position_ids": lengen.NoPositionIds()},
        model={"encoding": lengen.NoEncoding(), "architecture": lengen.Decoder(lengen.HardALiBi((2,)))},
    ),
    "model.architecture.attention_bias=lines": model(architecture=lengen.Decoder(lengen.Lines(rows=3, columns=5))),
    "model.architecture.attention_bias=line_window": model(
        architecture=lengen.Decoder(lengen.LineWindow(1, ((-1, 1),)))
    ),
    "model.shared": model(shared=True),
    "model.loops": model(loops=2),
    "model.loops_by_length": model(loops_by_length=lengen.LoopsByLength(of="prompt", tokens=2, most=9)),
    "model.loops_by_length.of": model(loops_by_length=lengen.LoopsByLength(most=9)),
    "model.inject=input": model(loops=2, inject="input"),
    "model.inject=coordinates": model(loops=2, inject="coordinates"),
    "model.dropout": model(dropout=0.5),
    "model.linear_bias": model(linear_bias=True),
    "model.output_bias": model(output_bias=True),
    "model.tied": model(tied=True),
    "model.scale_embedding": model(scale_embedding=True),
    "model.scale_attention": model(scale_attention=True),
    "model.norm": model(norm="layernorm"),
    "model.final_norm": model(final_norm="none"),
    "model.norm_place": model(norm_place="sandwich"),
    "model.activation": model(activation="relu"),
    "model.init": model(init="xavier"),
    "train.loss": lambda spec: lengen.replace(spec, train={"loss": "all"}),
    "train.one_length": lambda spec: lengen.replace(spec, train={"one_length": True}),
}


def base(task: lengen.Task) -> lengen.Spec:
    return lengen.Spec(
        data=lengen.DataSpec(task=task, format=lengen.Linear(reverse_response=task.UNITS_FIRST)),
        model=model_spec(ff_width=16, encoding=BASE, architecture="decoder", tied=False),
        train=lengen.TrainSpec(steps=4, batch=8, lr=1e-3, bucket=4),
        test=lengen.TestSpec(lengths=(4,), counts=task.counts, examples=4),
    )


@torch.no_grad()
def fingerprint(spec: lengen.Spec) -> list[Any]:
    """What decides a training: the weights at the start, the first batches, and the model's loss on them."""
    made = lengen.TaskData(spec, 0)
    net = lengen.build_model(spec, 0)
    found: list[Any] = [
        made.vocab.symbols,
        *((name, tuple(value.shape), value.sum().item()) for name, value in net.state_dict().items()),
    ]
    for step in range(2):
        batch = made.batch(step)
        found += [batch.tokens.tolist(), batch.ids.tolist(), batch.loss.tolist(), batch.output]
        torch.default_generator.manual_seed(step)  # that of every device takes longer than the model
        logits = net.predict(Batch(batch.tokens, batch.ids, batch.loss, batch.source, batch.output))
        found.append(logits.log_softmax(dim=-1).gather(2, batch.tokens[:, 1:, None])[batch.loss[:, 1:]].sum().item())
        found += [batch.source.tokens.tolist(), batch.source.ids.tolist()] if batch.source else []
    return found


@functools.cache
def plain(task: lengen.Task) -> list[Any]:
    return fingerprint(base(task))


@pytest.mark.parametrize(("task", "trick"),
    list(itertools.product(TASKS, TRICKS)), ids=lambda value: getattr(value, "kind", value))  # fmt: skip
def test_a_trick_changes_a_task_or_is_refused(task, trick):
    changed = TRICKS[trick](base(task))
    try:
        lengen.validate(changed)
    except lengen.SettingError as error:
        said, part = str(error), trick.split("=")[0].split(",")[0].rpartition(".")[2]
        assert part in said, "the sentence names the trick"
        assert task.kind in said or "data." in said.replace(trick, "") or "model." in said.replace(trick, ""), (
            "and the rest"
        )
        assert "\n" not in said and len(said) < 300
        return
    assert fingerprint(changed) != plain(task), f"{trick} is accepted for {task.kind} and does nothing"


def test_every_task_and_every_scheme_of_position_ids_is_here():
    assert {task.kind for task in TASKS} == set(kinds(lengen.Task))
    named = {trick.removeprefix("data.position_ids=").split(",")[0] for trick in TRICKS if "position_ids=" in trick}
    assert named == set(kinds(lengen.PositionIds))

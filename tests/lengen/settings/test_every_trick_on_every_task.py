"""Every trick on every task: each pair changes the batches or the model as it says, or is refused in one sentence that
names both parts; none is ignored."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

from lengen import (
    Abacus,
    Addition,
    ALiBi,
    Aligned,
    Carries,
    Consecutive,
    Copy,
    Counting,
    Coupled,
    Cyclic,
    DataSpec,
    Decoder,
    DigitSteps,
    DigitSums,
    Encoder,
    EncoderDecoder,
    Encoding,
    Filling,
    Fire,
    FireClamped,
    FireRatio,
    Given,
    HardALiBi,
    Increment,
    Learned,
    Linear,
    Lines,
    LineWindow,
    ListOps,
    ListOpsMax,
    ListOpsMin,
    ListOpsSum,
    LoopsByLength,
    ModelSpec,
    Multiplication,
    MultiplicationStages,
    NByOne,
    NextLarger,
    NoEncoding,
    NoPositionIds,
    PairAddition,
    Parity,
    PositionIds,
    Randomised,
    RandomSpaces,
    RelativeKeys,
    Reverse,
    Rotary,
    RunningXor,
    SettingError,
    Sinusoidal,
    Sorting,
    Spec,
    Subtasks,
    Successor,
    Task,
    Tempered,
    TestSpec,
    TrainSpec,
    TwoOperandAddition,
    Window,
    change,
    check,
)
from lengen.data.batch import Batch
from lengen.data.task_data import TaskData
from lengen.part import kinds
from lengen.settings.spec import replace
from lengen.tasks.rows import Row
from lengen.tasks.sequences import Skewed
from lengen.training.build import build_model
from tests.cases import CASES

SKEWED: dict[str, Any] = {"longest": 6, "short": 3, "skew": 0.5}
SIZED: tuple[Task, ...] = (
    Addition(digits=3, operands=3),
    TwoOperandAddition((1, 2, 3)),
    Multiplication(digits=3, second_digits=2),
    Parity(bits=5),
    Successor(digits=4),
    PairAddition(digits=4),
    NByOne(digits=4),
    DigitSums(digits=4),
    RunningXor(digits=4, base=2),
    ListOpsSum(digits=4),
    ListOpsMax(digits=4),
    ListOpsMin(digits=4),
    ListOps(digits=4),
    Sorting(alphabet=9, **SKEWED),
    NextLarger(alphabet=9, **SKEWED),
    Counting(alphabet=9, **SKEWED),
    Filling(alphabet=9, **SKEWED),
    Increment(**SKEWED),
    Carries(**SKEWED),
    Copy(digits=5),
    Reverse(digits=5),
)
"""Tasks whose sizes matter here: hints are of the same ones."""
OTHERS = {case.data.task.kind: case.data.task for case in CASES if type(case.data.task) not in map(type, SIZED)}
TASKS = (*SIZED, *OTHERS.values())
Change = Callable[[Spec], Spec]


def format(**fields: Any) -> Change:
    return lambda spec: change(spec, data={"format": replace(spec.data.format, **fields)})


def data(**fields: Any) -> Change:
    return lambda spec: change(spec, data=fields)


def model(**fields: Any) -> Change:
    return lambda spec: change(spec, model=fields)


def learned(ids: Any) -> Change:
    return lambda spec: change(spec, data={"position_ids": ids}, model={"encoding": Learned()})


def hint(part: Task) -> Change:
    return lambda spec: change(spec, data={"hints": (part,)}, train={"one_length": isinstance(spec.data.task, Skewed)})


def beside(*architecture: Any, **fields: Any) -> Change:
    return model(architecture=EncoderDecoder(*architecture, **fields))


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
    "data.format=aligned": data(format=Aligned(9)),
    "data.format=multiplication_stages": data(format=MultiplicationStages()),
    "data.format=digit_steps": data(format=DigitSteps()),
    "data.format=subtasks": data(format=Subtasks()),
    "data.position_ids=coupled, one level": learned(Coupled((40,))),
    "data.position_ids=coupled, two levels": learned(Coupled((40, 40))),
    "data.position_ids=coupled, three levels": learned(Coupled((40, 40, 40))),
    "data.position_ids=abacus": learned(Abacus(60, 9)),
    "data.position_ids=cyclic": learned(Cyclic(3)),
    "data.position_ids=randomised": learned(Randomised(90)),
    "data.position_ids=consecutive": learned(Consecutive(90)),
    "data.position_ids=none": lambda s: change(
        s, data={"position_ids": NoPositionIds()}, model={"encoding": NoEncoding()}
    ),
    "data.spaces": data(spaces=RandomSpaces(0.9)),
    "data.spaces.fresh": data(spaces=RandomSpaces(0.9, fresh=False)),
    "data.vocabulary": data(vocabulary="printable"),
    "data.examples": data(examples=1000),
    "data.hints=next_larger": hint(NextLarger(alphabet=9, **SKEWED)),
    "data.hints=count": hint(Counting(alphabet=9, **SKEWED)),
    "data.hints=fill": hint(Filling(alphabet=9, **SKEWED)),
    "data.hints=carries": hint(Carries(**SKEWED)),
    "data.hints=digit_sums": data(hints=(DigitSums(digits=9),)),
    "data.hints=copy": data(hints=(Copy(digits=9),)),
    **{f"model.encoding={kind}": model(encoding=part()) for kind, part in kinds(Encoding).items() if kind != BASE},
    "model.architecture=encoder": model(architecture=Encoder()),
    "model.architecture=encoder_decoder": beside(),
    "model.architecture.encoder_layers": beside(1),
    "model.architecture.attention_bias=window": beside_one_length(Window(1)),
    "model.architecture.attention_bias=given": beside_one_length(Given()),
    "model.architecture.attention_bias=window, not causal": beside_one_length(Window(1), causal=False),
    "model.tempered": model(tempered=Tempered(start=0.4)),
    "model.tempered.form": model(tempered=Tempered(form="one_plus_log", start=0.4)),
    "model.tempered.of": model(tempered=Tempered(of="prompt", start=0.4)),
    "model.tempered.per_head": model(tempered=Tempered(per_head=True, start=0.4)),
    "model.architecture.attention_bias=window, decoder": model(architecture=Decoder(Window(3))),
    "model.architecture.attention_bias=hard_alibi": lambda s: change(
        s,
        data={"position_ids": NoPositionIds()},
        model={"encoding": NoEncoding(), "architecture": Decoder(HardALiBi((2,)))},
    ),
    "model.architecture.attention_bias=lines": model(architecture=Decoder(Lines(rows=3, columns=5))),
    "model.architecture.attention_bias=line_window": model(architecture=Decoder(LineWindow(1, ((-1, 1),)))),
    "model.shared": model(shared=True),
    "model.loops": model(loops=2),
    "model.loops_by_length": model(loops_by_length=LoopsByLength(of="prompt", tokens=2, most=9)),
    "model.loops_by_length.of": model(loops_by_length=LoopsByLength(most=9)),
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
    "train.loss": lambda spec: change(spec, train={"loss": "all"}),
    "train.one_length": lambda spec: change(spec, train={"one_length": True}),
}


def base(task: Task) -> Spec:
    """The plainest setting of a task."""
    return Spec(
        data=DataSpec(task=task, format=Linear(reverse_response=task.UNITS_FIRST)),
        model=ModelSpec(
            layers=2,
            heads=2,
            width=16,
            head_dim=8,
            ff_width=16,
            encoding=kinds(Encoding)[BASE](),
            architecture=Decoder(),
            tied=False,
        ),
        train=TrainSpec(steps=4, batch=8, lr=1e-3, bucket=4),
        test=TestSpec(lengths=(4,), counts=task.counts, examples=4),
    )


@torch.no_grad()
def fingerprint(spec: Spec) -> list[Any]:
    """What decides a training: the weights at the start, the first batches, and the model's loss on them."""
    made = TaskData(spec, 0)
    net = build_model(spec, 0)
    found: list[Any] = [
        made.vocab.symbols,
        *((name, tuple(value.shape), value.sum().item()) for name, value in net.state_dict().items()),
    ]
    for step in range(4):
        batch = made.batch(step)
        found += [batch.tokens.tolist(), batch.ids.tolist(), batch.loss.tolist(), batch.output]
        torch.default_generator.manual_seed(step)  # that of every device takes longer than the model
        logits = net.predict(Batch(batch.tokens, batch.ids, batch.loss, batch.source, batch.output))
        found.append(logits.log_softmax(dim=-1).gather(2, batch.tokens[:, 1:, None])[batch.loss[:, 1:]].sum().item())
        found += [batch.source.tokens.tolist(), batch.source.ids.tolist()] if batch.source else []
    return found


def refusal(spec: Spec) -> str:
    """The sentence that refuses a setting, or nothing."""
    try:
        check(spec)
    except SettingError as error:
        return str(error)
    return ""


@functools.cache
def plain(task: Task) -> list[Any]:
    """The fingerprint of a task's plainest setting."""
    return fingerprint(base(task))


@pytest.mark.parametrize(
    ("task", "trick"), list(itertools.product(TASKS, TRICKS)), ids=lambda value: getattr(value, "kind", value)
)
def test_a_trick_changes_a_task_or_is_refused(task, trick):
    changed = TRICKS[trick](base(task))
    said = refusal(changed)
    if said:
        part = trick.split("=")[0].split(",")[0].rpartition(".")[2]
        assert part in said, "the sentence names the trick"
        assert task.kind in said or "data." in said.replace(trick, "") or "model." in said.replace(trick, ""), (
            "and the rest"
        )
        assert "\n" not in said and len(said) < 300
        return
    assert fingerprint(changed) != plain(task), f"{trick} is accepted for {task.kind} and does nothing"


def test_every_task_is_here():
    assert {task.kind for task in TASKS} == set(kinds(Task))


def test_every_scheme_of_position_ids_is_here():
    named = {trick.removeprefix("data.position_ids=").split(",")[0] for trick in TRICKS if "position_ids=" in trick}
    assert named == set(kinds(PositionIds))


@pytest.mark.parametrize(
    "encoding", [ALiBi(), Fire(), FireClamped(), FireRatio(), RelativeKeys(), Rotary(), Sinusoidal()]
)
def test_an_encoding_that_reads_fewer_levels_than_there_are_is_refused(encoding):
    spec = change(base(TASKS[0]), data={"position_ids": Coupled((40, 40))}, model={"encoding": encoding})
    with pytest.raises(SettingError, match=rf"model.encoding={encoding.kind}: it reads 1 level .*coupled has 2"):
        check(spec)

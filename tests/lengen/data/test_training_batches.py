"""Training batches, test cells, and the checks of the first of them."""

import collections
import itertools
import re

import numpy as np
import pytest
import torch

import lengen
from lengen import Addition, ArithmeticData, Consecutive, Copy, PairAddition, SettingError, TaskData, Tempered, replace
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.task_data import CHECKED
from lengen.digits import generator
from lengen.encodings.alibi_rope_and_keys import ALiBi
from lengen.formats.addition_subtasks import SubtasksFormat
from lengen.formats.base import PAD, Layout
from lengen.formats.linear import LinearFormat
from tests.fixtures.refusals import refused
from tests.fixtures.settings import ONE_LENGTH, TASKS, TRAIN, data_spec, sequences, sized, spec

HINTS = ("successor", "count", "fill")
WINDOW = r"data.examples=79: a streamed training set holds at least 80 examples, train.bucket batches of each task"
REFUSED = {
    WINDOW: sized(sequences(examples=79, hints=("count",))),
    "data.examples=39: a streamed training set holds at least 40 examples": sized(sequences(examples=39)),
    "data.hints: every task has an output head of its own; set model.tied=false": sized(
        sequences(hints=("count",)), tied=True
    ),
    "set data.examples=0 or train.one_length=true": sized(sequences(hints=("count",), examples=200), TRAIN),
    "data.hints: addition has other symbols than data.task=sorting": sized(replace(sequences(), hints=(Addition(3),))),
    "data.hints: carries has other symbols than data.task=sorting": sized(sequences(hints=("carries",))),
    "data.hints: count stands there twice; expected different auxiliary tasks": sized(
        sequences(hints=("count", "count"))
    ),
    "train.one_length=true: only tasks with a distribution of lengths draw": spec(data_spec("parity"), ONE_LENGTH),
    "model.tempered: tempered attention needs model.architecture=decoder": sized(
        architecture=lengen.EncoderDecoder(), tempered=Tempered()
    ),
    "data.hints: auxiliary tasks need model.architecture=decoder": sized(
        sequences(hints=("count",)), architecture=lengen.Encoder()
    ),
    "model.tempered.of=prompt: with train.loss=all nothing tells where a prompt ends": sized(
        train=replace(ONE_LENGTH, loss="all"), tempered=Tempered(of="prompt")
    ),
    "data.task.short=1: with data.task.skew=0.8 expected a length from 2 to 5": sized(sequences(short=1, skew=0.8)),
    "data.task.short=6: with data.task.skew=0.8 expected a length from 2 to 5": sized(sequences(short=6, skew=0.8)),
    "data.task.skew=null: expected ": sized(sequences(short=3, skew=float("nan"))),
    "data.task.repeats=2": sized(sequences(repeats=2)),
    "data.task.longest=1: the shortest training sequence has 2": sized(sequences(length=1)),
}
COPY = lengen.setting("copy", digits=3)
PAIRS = lengen.setting("pair_addition", digits=3)
SUBTASKS = lengen.setting("two_operand_addition", format="subtasks")


def as_key(batch: Batch) -> tuple[object, ...]:
    return (tuple(map(tuple, batch.tokens.tolist())), float(batch.scale), batch.output)


def equal(one: Batch, other: Batch) -> bool:
    same = torch.equal(one.tokens, other.tokens) and torch.equal(one.loss, other.loss)
    return same and torch.equal(one.ids, other.ids) and one[3:] == other[3:]


@pytest.mark.parametrize("task", TASKS)
def test_a_batch_shares_one_length(task):
    data = TaskData(sized(sequences(task, short=3, skew=0.8), replace(ONE_LENGTH, batch=40)), 0)
    lengths = collections.Counter()
    for step in range(60):
        batch = data.batch(step)
        assert len(batch.tokens) == 40
        delimiter = data.vocab.id("⊥")
        prompts = {row.index(delimiter) for row in batch.tokens.tolist()}
        assert len(prompts) == 1
        lengths.update(prompts)
        if task not in ("increment", "carries", "fill_as_drawn"):  # a number of nines is one digit longer + 1
            assert bool((batch.tokens != PAD).all())
    assert set(lengths) == {2, 3, 4, 5, 6}
    assert sum(lengths[n] for n in (2, 3)) == 48, "four fifths"


def test_lengths_are_mixed_where_nothing_else_is_asked_and_heads_take_turns():
    data = TaskData(sized(train=replace(TRAIN, batch=40, bucket=1)), 0)
    assert len({row.index("⊥") for row in texts(data, data.batch(0))}) == 5
    data = TaskData(sized(sequences(hints=HINTS)), 0)
    assert [data.batch(step).output for step in range(9)] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    for step in range(40):
        for row in texts(data, data.batch(step)):
            left, right = row.split("⊥", 1)
            assert [
                "".join(sorted(left)) == right, len(right) == 2 and right[0] in left,
                len(right) == 1 and len(set(left)) == 2, "⊥" in right and right.replace("⊥", "") == left,
            ][step % 4], row  # fmt: skip
    assert [data.main_steps(steps) for steps in range(10)] == [sum(s % 4 == 0 for s in range(n)) for n in range(10)]
    assert TaskData(sized(), 0).main_steps(7) == 7
    data = TaskData(sized(sequences(examples=2 * 6 * 40, hints=("sorting",))), 0)
    orders = []
    for which in (0, 1):
        windows = [frozenset(as_key(data.batch(2 * (5 * w + n) + which)) for n in range(5)) for w in range(30)]
        orders.append([windows[:6].index(window) for window in windows[6:]])
    assert orders[0] != orders[1]
    main, hinted = ({row for n in range(30) for row in texts(data, data.batch(2 * n + which))} for which in (0, 1))
    assert len(main & hinted) < len(main) / 2, "short ones are few"


@pytest.mark.parametrize("spec", [
    sized(), sized(sequences(hints=HINTS)), sized(sequences(hints=HINTS, examples=8 * 5 * 4 * 3)), sized(train=TRAIN),
    sized(sequences(examples=70), TRAIN),
    *(spec(data_spec(task, examples=30), TRAIN) for task in ("addition", "multiplication", "parity")),
    spec(data_spec("addition"), TRAIN),
])  # fmt: skip
def test_batches_are_the_same_in_any_order_of_asking(spec):
    steps = 20
    data = TaskData(spec, 3)
    in_order = [data.batch(step) for step in range(steps)]
    again = TaskData(spec, 3)
    for step in torch.randperm(steps, generator=torch.Generator().manual_seed(0)).tolist():
        assert equal(again.batch(step), in_order[step])
    assert not any(map(equal, map(TaskData(spec, 4).batch, range(steps)), in_order))


def test_streams_of_a_main_task_and_its_hints():
    """What it is trained on does not depend on what takes turns with it."""
    alone, hinted, more = (TaskData(sized(sequences(hints=h)), 0) for h in ((), ("successor",), HINTS))
    for number in range(12):
        assert equal(alone.batch(number), hinted.batch(2 * number)) and equal(
            alone.batch(number), more.batch(4 * number)
        )
        assert equal(hinted.batch(2 * number + 1), more.batch(4 * number + 1))
    data = TaskData(sized(sequences(hints=("sorting", "fill"))), 0)
    for start in range(0, 30, 3):
        main, again = (texts(data, data.batch(start + k)) for k in range(2))
        assert main != again
    data = TaskData(sized(sequences(examples=40)), 0)
    first = {as_key(data.batch(step)) for step in range(5)}
    assert {as_key(data.batch(step)) for step in range(5, 50)} == first
    for hints in ((), ("successor",), HINTS):
        data = TaskData(sized(sequences(examples=999, hints=hints)), 0)
        assert [stream.examples for stream in data.streams] == [999 // (1 + len(hints))] * (1 + len(hints))
        assert [stream.writer.output for stream in data.streams] == list(range(1 + len(hints)))


@pytest.mark.parametrize("hints", [(), ("successor",), HINTS])
def test_a_streamed_set_is_drawn_again_in_another_order_in_every_epoch(hints):
    parts, window = 1 + len(hints), 8 * 5
    # Room for 3 windows of each task, and something over, which is left out.
    data = TaskData(sized(sequences(examples=parts * (3 * window + 7), hints=hints)), 0)
    for which in range(parts):
        epochs = []
        for epoch in range(6):
            batches = [as_key(data.batch(parts * (15 * epoch + number) + which)) for number in range(15)]
            epochs.append([frozenset(batches[i : i + 5]) for i in (0, 5, 10)])
            assert len(set(batches)) == 15
        assert all(set(epoch) == set(epochs[0]) and len(set(epoch)) == 3 for epoch in epochs)
        assert len({tuple(epoch) for epoch in epochs}) > 1, "shuffled"
    stored = [value for stream in data.streams for value in vars(stream).values() if isinstance(value, torch.Tensor)]
    assert not stored and all(stream._fixed is None for stream in data.streams)


@pytest.mark.parametrize("spec", [
    sized(),
    sized(sequences(hints=HINTS)),
    *(spec(data_spec("addition", **options), replace(TRAIN, bucket=5)) for options in ({}, {"pad": False})),
    spec(data_spec("addition", scratchpad=False), replace(TRAIN, bucket=1)),
])  # fmt: skip
def test_a_loss_is_weighted_by_the_mean_number_of_targets_of_a_window(spec):
    """So that every target token weighs alike; without windows it is the number of the batch."""
    data, window = TaskData(spec, 0), spec.train.bucket
    for which in range(len(data.streams)):
        batches = [data.batch(len(data.streams) * number + which) for number in range(window)]
        mean = sum(int(batch.loss.sum()) for batch in batches) / window
        assert [float(batch.scale) for batch in batches] == pytest.approx([mean] * window)
        assert window == 1 or len({int(batch.loss.sum()) for batch in batches}) > 1 or which in (1, 2), (
            "one target each"
        )


@pytest.mark.parametrize("message", REFUSED)
def test_specifications_that_make_no_sense_get_one_sentence(message):
    refused(SettingError, message, TaskData, REFUSED[message], 0)


def test_what_borders_on_the_refused_is_fine():
    for fine in (
        sized(sequences(examples=80, hints=("count",))), sized(sequences(examples=40)),
        sized(sequences(examples=1), TRAIN), sized(sequences(length=2)), sized(sequences(alphabet=2)),
        sized(sequences(alphabet=250)), sized(sequences(short=2, skew=1.0)),
        sized(sequences(short=5, skew=0.5)), sized(sequences("increment", hints=("carries",))),
        sized(train=replace(ONE_LENGTH, loss="all"), tempered=Tempered()),
    ):  # fmt: skip
        assert len(TaskData(fine, 0).batch(0).tokens) == 8


def made(task="addition", seed=0, batch=8, bucket=4, steps=20, **options) -> ArithmeticData:
    train = lengen.TrainSpec(steps=steps, batch=batch, bucket=bucket, lr=1e-3, evaluations=4)
    return ArithmeticData(spec(data_spec(task, **options), train=train), seed)


def alike(one, two) -> bool:
    return all(torch.equal(a, b) for a, b in zip(flat(one), flat(two), strict=True))


def flat(batch) -> list[torch.Tensor]:
    parts = [part for part in batch if isinstance(part, torch.Tensor)]
    return parts + list(getattr(batch, "source", None) or ())


def texts(data, batch) -> list[str]:
    return [data.vocab.decode(row) for row in batch.tokens]


def test_batches_have_their_size_and_test_cells_and_validation_stay_the_same():
    data = made()
    for step in range(8):
        batch = data.batch(step)
        assert len(batch.tokens) == 8
        assert bool((batch.tokens != PAD).any(dim=0).all())
    one, two = made(seed=0).test(3, 2, 50), made(seed=5).test(3, 2, 50)
    assert alike(one, two)
    assert not alike(one, made().test(3, 2, 50).select(torch.arange(50).flip(0)))
    assert one.lengths.tolist() != made().test(4, 2, 50).lengths.tolist()
    batch = data.validation()
    assert alike(batch, made().validation())
    assert len(batch.tokens) == lengen.VALIDATION
    smallest = torch.where(batch.ids > 0, batch.ids, 99).amin(dim=2)
    assert bool((smallest == 1).all())
    assert not alike(batch, made(seed=1).validation())


def test_a_fixed_set_is_seen_once_per_epoch_and_no_other_purpose_shares_its_seed():
    """10 examples in batches of 4: 15 steps are 6 epochs, and batches lie across their ends."""
    data = made(examples=10, batch=4, bucket=1, length=6)
    steps = [data.batch(step) for step in range(15)]
    drawn = [text for batch in steps for text in texts(data, batch)]
    assert len(set(drawn)) == 10
    assert all(count == 6 for count in collections.Counter(drawn).values())
    epochs = [texts(data, data.batch(step)) for step in range(5)]  # two epochs: 4 + 4 + (2 + 2) + 4 + 4
    assert len({*epochs[0], *epochs[1]}) == 8 and len({*epochs[3], *epochs[4]}) == 8
    ids = collections.defaultdict(set)
    orders = [tuple(drawn[start : start + 20]) for start in (0, 20, 40)]
    for batch in steps:
        for i, text in enumerate(texts(data, batch)):
            ids[text].add(tuple(batch.ids[0, i].tolist()))
    assert len(set(orders)) == 3, "every epoch has an order of its own"
    assert sum(map(len, ids.values())) > 25, "offsets are drawn anew for every visit"
    purposes = ["train", "validation", "set", "order", "initialisation", "test addition", "test parity", "test"]
    seeds = [
        generator(purpose, *numbers).initial_seed()
        for purpose in purposes
        for size in (1, 2)
        for numbers in itertools.product(range(25), repeat=size)
    ]
    assert len(set(seeds)) == len(seeds)
    assert generator("a", 1, 23).initial_seed() != generator("a", 12, 3).initial_seed()
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_windows_permute_a_set_save_padding_and_change_no_shapes():
    data = made(examples=32, batch=4, bucket=4)
    for epoch in range(3):
        drawn = [text for step in range(8 * epoch, 8 * epoch + 8) for text in texts(data, data.batch(step))]
        if epoch == 0:
            whole = sorted(drawn)
        assert sorted(drawn) == whole
    data = made(examples=3, batch=4, bucket=3)
    drawn = [text for step in range(3) for text in texts(data, data.batch(step))]
    assert sorted(collections.Counter(drawn).values()) == [4, 4, 4]
    sets = [
        frozenset(t for s in range(4) for t in texts(d, d.batch(s)))
        for d in (made(seed=k, examples=32, length=6) for k in (0, 1))
    ]
    assert not sets[0] & sets[1]
    one, many = shapes(made(bucket=1, batch=64), 96), shapes(made(bucket=16, batch=64), 96)
    assert set(one) == set(many)
    statistic = sum((one[k] - many[k]) ** 2 / (one[k] + many[k]) for k in one) / len(one)
    assert statistic < 2.5

    def padding(data):
        return sum(int((data.batch(step).tokens == PAD).sum()) for step in range(16))

    assert padding(made(bucket=16)) < padding(made(bucket=1)) / 3


def shapes(data, steps) -> collections.Counter:
    found = collections.Counter()
    for step in range(steps):
        for text in texts(data, data.batch(step)):
            query = text.strip("$").partition("=")[0].split("+")
            found[len(query), len(query[0])] += 1
    return found


def test_a_training_loader_without_a_trainer_has_every_step_and_goes_on_after_them():
    data = made(steps=6)
    loader = data.train_dataloader()
    for first in (0, 6):
        batches = list(loader)
        assert len(batches) == 6
        assert all(alike(a, data.batch(first + i)) for i, a in enumerate(batches))
    (validation,) = list(data.val_dataloader())
    assert alike(validation, data.validation())
    with pytest.raises(IndexError):
        data.val_dataloader().dataset[1]


@pytest.mark.parametrize(("steps", "evaluations", "segment"), [(20, 4, 5), (21, 4, 6), (3, 10, 1), (7, 0, 7)])
def test_segments_cover_all_steps(steps, evaluations, segment):
    train = replace(TRAIN, steps=steps, evaluations=evaluations)
    assert ArithmeticData(spec(data_spec("parity"), train=train), 0).segment() == segment


def test_the_check_before_training_writes_some_problems_of_a_cell(monkeypatch):
    written = []
    monkeypatch.setattr(TaskData, "check_room", lambda self, problems: written.append(len(problems.lengths)))
    spec = lengen.setting("addition", digits=2, **{"test.examples": 10**9})
    TaskData(spec, 0).check_all()
    assert max(written) == CHECKED


def after(change):
    return lambda method: lambda *given, **named: change(method(*given, **named))


def shortened(layout):
    for column in (layout.symbols, layout.digits, layout.coordinates, layout.hints):
        del column[-2]
    return layout


def without(name):
    return after(lambda layout: (getattr(layout, name).pop() and layout) or layout)


def begins(slot):
    return after(lambda layout: setattr(layout, "response", slot) or layout)


RETURNED = {
    # an answer with one digit in place of all: it trained, and true answers read 000
    "short": (COPY, Copy, "answer", after(lambda rows: rows[:, :1]), "Copy.answer: found shape (8, 1); expected (8, "),
    # digits that are no symbols ended in an IndexError of torch
    "large": (PAIRS, PairAddition, "answer", after(lambda rows: rows + 20), "PairAddition.answer: found values from"),
    # |a - b| by columns = a - b leaves negative digits, which read as the last symbols
    "negative": (
        PAIRS, PairAddition, "columns", lambda _: lambda self, operands: operands[:, 0] - operands[:, 1],
        "PairAddition.answer: found values from -",
    ),
    "floats": (COPY, Copy, "answer", after(torch.Tensor.float), "Copy.answer: found torch.float32; expected integers"),
    "bools": (COPY, Copy, "answer", after(torch.Tensor.bool), "Copy.answer: found torch.bool; expected integers"),
    "list": (COPY, Copy, "answer", after(torch.Tensor.tolist), "Copy.answer: found list; expected a tensor"),
    "fewer": (COPY, Copy, "answer", after(lambda rows: rows[:3]), "Copy.answer: found shape (3, "),
    "axes": (COPY, Copy, "answer", after(lambda rows: rows[:, None]), "Copy.answer: found shape (8, 1, "),
    "drawn": (COPY, Copy, "train", after(list), "Copy.train: found list; expected lengen.digits.Problems"),
    "operands": (
        COPY, Copy, "train", after(lambda p: p._replace(operands=p.operands - 1)), "Copy.train, operands: found",
    ),
    "lengths": (COPY, Copy, "train", after(lambda p: p._replace(lengths=p.lengths[:2])), "Copy.train, lengths: "),
    "read": (COPY, Copy, "parse", after(lambda p: p._replace(operands=(p.operands + 1) % 10)), "Copy.parse(['"),
    "no layout": (COPY, LinearFormat, "layout", after(vars), ": found dict; expected lengen.formats.base.Layout"),
    "narrow": (COPY, LinearFormat, "layout", after(shortened), "found no slot for place"),
    "unhinted": (COPY, LinearFormat, "layout", without("hints"), "hints of "),
    "unanswered": (COPY, LinearFormat, "layout", begins(0), "found a response that begins at slot 0 of"),
    "silent": (SUBTASKS, SubtasksFormat, "layout", begins(99), "SubtasksFormat.layout: found a sequence without"),
    "levels": (
        COPY, LinearFormat, "layout", after(lambda layout: layout.coordinates.__setitem__(0, (0,)) or layout),
        "found other numbers of coordinates; expected 2 a slot",
    ),
    "rows": (
        COPY, LinearFormat, "layout", after(lambda layout: Layout.number(layout, "carries", 0, [0]) or layout),
        "found digits of rows ['carries']",
    ),
    "float ids": (COPY, Consecutive, "ids", after(torch.Tensor.float), "Consecutive.ids: found torch.float32"),
    "negative ids": (COPY, Consecutive, "ids", after(lambda ids: ids - 5), "Consecutive.ids: found values from -5 to"),
    "fewer ids": (COPY, Consecutive, "ids", after(lambda ids: ids[:, :, 1:]), "Consecutive.ids: found shape (1, 1, "),
    "ids of other examples": (COPY, Consecutive, "ids", after(lambda ids: ids.expand(1, 3, -1)), "(levels, 8 or 1, "),
}  # fmt: skip


@pytest.mark.parametrize("name", RETURNED)
def test_what_a_task_a_format_and_position_ids_return_is_checked(name, monkeypatch):
    spec, cls, method, wrong, message = RETURNED[name]
    lengen.TaskData(spec, 0)
    monkeypatch.setattr(cls, method, wrong(getattr(cls, method)))
    caught = refused(SettingError, re.escape(message), lengen.TaskData, spec, 0)
    assert "; expected " in caught


def test_stages_are_checked_and_the_check_draws_nothing_from_the_streams_of_others(monkeypatch):
    spec = lengen.setting("addition", digits=2, scratchpad=True)
    monkeypatch.setattr(lengen.Addition, "stages", after(lambda rows: rows[:, 0])(lengen.Addition.stages))
    refused(SettingError, r"Addition\.stages\('running sums'\): found shape \(8, \d\)", lengen.TaskData, spec, 0)
    before = torch.manual_seed(3).get_state()
    lengen.TaskData(COPY, 0)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert lengen.TaskData(lengen.setting("fill"), 0).task.kind == "fill"


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda bias: bias[0], r"ALiBi\.bias: found torch\.float32 \(4, 3, 3\) for 3 ids; expected floats of"),
    (lambda bias: bias[..., :2], r"expected floats of shape \(1, 4, 3, 3\)"),
    (lambda bias: bias.long(), r"found torch\.int64"),
    (lambda bias: 1.0, r"ALiBi\.bias: found float"),
])  # fmt: skip
def test_what_an_encoding_returns_is_checked_when_it_is_built(monkeypatch, wrong, message):
    monkeypatch.setattr(ALiBi, "bias", after(wrong)(ALiBi.bias))
    refused(SettingError, message, lengen.build_model, lengen.setting("copy", digits=3, encoding="alibi"), 0)


@pytest.mark.parametrize(("arrays", "scalars", "logged", "message"), [
    ({"a": [1]}, {}, {}, r"Measures\.arrays\['a'\]: found list; expected an array of numbers"),
    ({"a": np.array([None])}, {}, {}, r"Measures\.arrays\['a'\]: found ndarray; expected an array of numbers"),
    ({}, {"b": "1"}, {}, r"Measures\.scalars\['b'\]: found str; expected a number"),
    ({}, {}, {"c": None}, r"Measures\.logged\(\)\['c'\]: found NoneType; expected a number"),
])  # fmt: skip
def test_what_a_callback_leaves_is_checked(arrays, scalars, logged, message):
    class Measures(lengen.Measurement):
        def measure(self, model, data, report):
            self.arrays, self.scalars = arrays, scalars

        def logged(self):
            return logged

    refused(TypeError, message, lengen.train, COPY, steps=1, batch=2, callbacks=Measures())

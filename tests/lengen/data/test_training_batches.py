"""Training batches of tasks on sequences: one length each, streamed sets, auxiliary tasks that take turns."""

import collections

import pytest
import torch

from lengen import Addition, Encoder, EncoderDecoder, SettingError, TaskData, Tempered
from lengen.data.batch import TrainBatch
from lengen.formats.base import PAD
from lengen.settings.spec import replace
from tests.fixtures.settings import ONE_LENGTH, TASKS, TRAIN, data_spec, sequences, sized, spec

HINTS = ("successor", "count", "fill")


def text(data: TaskData, batch: TrainBatch) -> list[str]:
    return [data.vocab.decode(row) for row in batch.tokens]


def as_key(batch: TrainBatch) -> tuple[object, ...]:
    """All that a batch is, but the order of its window."""
    return (tuple(map(tuple, batch.tokens.tolist())), float(batch.scale), batch.output)


def equal(one: TrainBatch, other: TrainBatch) -> bool:
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


def test_without_it_lengths_are_mixed():
    data = TaskData(sized(train=replace(TRAIN, batch=40, bucket=1)), 0)
    assert len({row.index("⊥") for row in text(data, data.batch(0))}) == 5


@pytest.mark.parametrize(
    "spec",
    [
        sized(),
        sized(sequences(hints=HINTS)),
        sized(sequences(hints=HINTS, examples=8 * 5 * 4 * 3)),
        sized(train=TRAIN),
        sized(sequences(examples=70), TRAIN),
    ],
)
def test_batches_are_the_same_in_any_order_of_asking(spec):
    steps = 50
    data = TaskData(spec, 3)
    in_order = [data.batch(step) for step in range(steps)]
    again = TaskData(spec, 3)
    for step in torch.randperm(steps, generator=torch.Generator().manual_seed(0)).tolist():
        assert equal(again.batch(step), in_order[step])
    other = TaskData(spec, 4)
    assert not any(equal(other.batch(step), in_order[step]) for step in range(steps))


def test_heads_take_turns_and_the_main_one_comes_first():
    data = TaskData(sized(sequences(hints=HINTS)), 0)
    assert [data.batch(step).output for step in range(9)] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    for step in range(40):
        for row in text(data, data.batch(step)):
            left, right = row.split("⊥", 1)
            assert [
                "".join(sorted(left)) == right,
                len(right) == 2 and right[0] in left,
                len(right) == 1 and len(set(left)) == 2,
                "⊥" in right and right.replace("⊥", "") == left,
            ][step % 4], row
    assert [data.main_steps(steps) for steps in range(10)] == [sum(s % 4 == 0 for s in range(n)) for n in range(10)]
    assert TaskData(sized(), 0).main_steps(7) == 7


def test_a_main_task_without_hints_has_the_same_stream():
    """What it is trained on does not depend on what takes turns with it."""
    alone, hinted, more = (TaskData(sized(sequences(hints=h)), 0) for h in ((), ("successor",), HINTS))
    for number in range(12):
        assert equal(alone.batch(number), hinted.batch(2 * number)) and equal(
            alone.batch(number), more.batch(4 * number)
        )
        assert equal(hinted.batch(2 * number + 1), more.batch(4 * number + 1))


def test_streams_of_tasks_differ():
    """Even of the same task."""
    data = TaskData(sized(sequences(hints=("sorting", "fill"))), 0)
    for start in range(0, 30, 3):
        main, again = (text(data, data.batch(start + k)) for k in range(2))
        assert main != again


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


def test_sets_of_auxiliary_tasks_have_examples_and_orders_of_their_own():
    data = TaskData(sized(sequences(examples=2 * 6 * 40, hints=("sorting",))), 0)
    orders = []
    for which in (0, 1):
        windows = [frozenset(as_key(data.batch(2 * (5 * w + n) + which)) for n in range(5)) for w in range(30)]
        orders.append([windows[:6].index(window) for window in windows[6:]])
    assert orders[0] != orders[1]
    main, hinted = ({row for n in range(30) for row in text(data, data.batch(2 * n + which))} for which in (0, 1))
    assert len(main & hinted) < len(main) / 2, "short ones are few"


def test_a_set_of_one_window_is_seen_in_every_epoch():
    data = TaskData(sized(sequences(examples=40)), 0)
    first = {as_key(data.batch(step)) for step in range(5)}
    assert {as_key(data.batch(step)) for step in range(5, 50)} == first


def test_every_task_has_an_equal_part_of_the_examples():
    for hints in ((), ("successor",), HINTS):
        data = TaskData(sized(sequences(examples=999, hints=hints)), 0)
        assert [stream.examples for stream in data.streams] == [999 // (1 + len(hints))] * (1 + len(hints))
        assert [stream.writer.output for stream in data.streams] == list(range(1 + len(hints)))


@pytest.mark.parametrize("hints", [(), HINTS])
def test_a_loss_is_weighted_by_the_mean_number_of_targets(hints):
    data = TaskData(sized(sequences(hints=hints)), 0)
    for which in range(1 + len(hints)):
        batches = [data.batch((1 + len(hints)) * number + which) for number in range(5)]
        mean = sum(int(batch.loss.sum()) for batch in batches) / 5
        assert [float(batch.scale) for batch in batches] == pytest.approx([mean] * 5)
        assert len({int(batch.loss.sum()) for batch in batches}) > 1 or which in (1, 2), "one target each"


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
        architecture=EncoderDecoder(), tempered=Tempered()
    ),
    "data.hints: auxiliary tasks need model.architecture=decoder": sized(
        sequences(hints=("count",)), architecture=Encoder()
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


@pytest.mark.parametrize("message", REFUSED)
def test_specifications_that_make_no_sense_get_one_sentence(message):
    with pytest.raises(SettingError) as caught:
        TaskData(REFUSED[message], 0)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_what_borders_on_the_refused_is_fine():
    for fine in (
        sized(sequences(examples=80, hints=("count",))),
        sized(sequences(examples=40)),
        sized(sequences(examples=1), TRAIN),
        sized(sequences(length=2)),
        sized(sequences(alphabet=2)),
        sized(sequences(alphabet=250)),
        sized(sequences(short=2, skew=1.0)),
        sized(sequences(short=5, skew=0.5)),
        sized(sequences("increment", hints=("carries",))),
        sized(train=replace(ONE_LENGTH, loss="all"), tempered=Tempered()),
    ):
        assert len(TaskData(fine, 0).batch(0).tokens) == 8

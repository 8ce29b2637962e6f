"""Batches: a function of (seed, step), sets of a fixed size, windows that keep the published distribution."""

import collections
import itertools

import pytest
import torch

from lengen import VALIDATION, ArithmeticData, TaskData, TrainSpec, setting
from lengen.data.task_data import CHECKED
from lengen.digits import generator
from lengen.formats.base import PAD
from lengen.settings.spec import replace
from tests.fixtures.settings import TRAIN, data_spec, spec


def made(task="addition", seed=0, batch=8, bucket=4, steps=20, **options) -> ArithmeticData:
    train = TrainSpec(steps=steps, batch=batch, bucket=bucket, lr=1e-3, evaluations=4)
    return ArithmeticData(spec(data_spec(task, **options), train=train), seed)


def equal(one, two) -> bool:
    return all(torch.equal(a, b) for a, b in zip(flat(one), flat(two), strict=True))


def flat(batch) -> list[torch.Tensor]:
    """Its tensors, those of a source included."""
    parts = [part for part in batch if isinstance(part, torch.Tensor)]
    return parts + list(getattr(batch, "source", None) or ())


def texts(data, batch) -> list[str]:
    return [data.vocab.decode(row) for row in batch.tokens]


@pytest.mark.parametrize("examples", [0, 30])
@pytest.mark.parametrize("task", ["addition", "multiplication", "parity"])
def test_a_batch_is_a_function_of_seed_and_step(task, examples):
    data = made(task, examples=examples)
    forwards = [data.batch(step) for step in range(10)]
    again = made(task, examples=examples)
    for step in (9, 0, 5, 5, 3, 8, 1):
        assert equal(again.batch(step), forwards[step])
    assert not any(equal(a, b) for a, b in itertools.pairwise(forwards))
    assert not equal(made(task, seed=1, examples=examples).batch(0), forwards[0])


def test_batches_have_the_asked_size_and_no_column_of_padding():
    data = made()
    for step in range(8):
        batch = data.batch(step)
        assert len(batch.tokens) == 8
        assert bool((batch.tokens != PAD).any(dim=0).all())


def test_a_fixed_set_is_seen_once_per_epoch_with_fresh_offsets():
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


def test_a_whole_epoch_in_windows_is_a_permutation():
    data = made(examples=32, batch=4, bucket=4)
    for epoch in range(3):
        drawn = [text for step in range(8 * epoch, 8 * epoch + 8) for text in texts(data, data.batch(step))]
        if epoch == 0:
            whole = sorted(drawn)
        assert sorted(drawn) == whole


def test_a_set_smaller_than_a_window_repeats_within_it():
    data = made(examples=3, batch=4, bucket=3)
    drawn = [text for step in range(3) for text in texts(data, data.batch(step))]
    assert sorted(collections.Counter(drawn).values()) == [4, 4, 4]


def test_fixed_sets_differ_by_seed():
    sets = [
        frozenset(t for s in range(4) for t in texts(d, d.batch(s)))
        for d in (made(seed=k, examples=32, length=6) for k in (0, 1))
    ]
    assert not sets[0] & sets[1]


def test_streams_of_different_purposes_never_share_a_seed():
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


def test_test_cells_are_the_same_for_every_seed_and_differ_from_each_other():
    one, two = made(seed=0).test(3, 2, 50), made(seed=5).test(3, 2, 50)
    assert equal(one, two)
    assert not equal(one, made().test(3, 2, 50).select(torch.arange(50).flip(0)))
    other = made().test(4, 2, 50)
    assert one.lengths.tolist() != other.lengths.tolist()


def test_validation_has_the_test_time_offset_and_stays_the_same():
    data = made()
    batch = data.validation()
    assert equal(batch, made().validation())
    assert len(batch.tokens) == VALIDATION
    smallest = torch.where(batch.ids > 0, batch.ids, 99).amin(dim=2)
    assert bool((smallest == 1).all())
    assert not equal(batch, made(seed=1).validation())


@pytest.mark.parametrize("options", [{}, {"pad": False}, {"scratchpad": False}])
def test_a_window_weighs_every_target_token_alike(options):
    """The mean of a window's batch losses is the mean over all its target tokens, whatever each token costs."""
    data = made(batch=8, bucket=4, **options)
    window = [data.batch(step) for step in range(4, 8)]
    torch.manual_seed(0)
    costs = [torch.rand(batch.tokens.shape) for batch in window]
    weighted = [(cost * batch.loss).sum() / batch.scale for cost, batch in zip(costs, window, strict=True)]
    tokens = torch.cat([cost[batch.loss] for cost, batch in zip(costs, window, strict=True)])
    assert float(sum(weighted)) / 4 == pytest.approx(float(tokens.mean()), rel=1e-5)
    assert len({float(batch.scale) for batch in window}) == 1
    alone = made(bucket=1).batch(3)
    assert float(alone.scale) == int(alone.loss.sum()), "without windows: the mean over the batch's tokens"


def shapes(data, steps) -> collections.Counter:
    found = collections.Counter()
    for step in range(steps):
        for text in texts(data, data.batch(step)):
            query = text.strip("$").partition("=")[0].split("+")
            found[len(query), len(query[0])] += 1
    return found


def test_windows_do_not_change_which_shapes_are_drawn():
    one, many = shapes(made(bucket=1, batch=64), 96), shapes(made(bucket=16, batch=64), 96)
    assert set(one) == set(many)
    statistic = sum((one[k] - many[k]) ** 2 / (one[k] + many[k]) for k in one) / len(one)
    assert statistic < 2.5


def test_windows_do_save_padding():
    def padding(data):
        return sum(int((data.batch(step).tokens == PAD).sum()) for step in range(16))

    assert padding(made(bucket=16)) < padding(made(bucket=1)) / 3


def test_a_training_loader_without_a_trainer_has_every_step_and_goes_on_after_them():
    data = made(steps=6)
    loader = data.train_dataloader()
    for first in (0, 6):
        batches = list(loader)
        assert len(batches) == 6
        assert all(equal(a, data.batch(first + i)) for i, a in enumerate(batches))
    (validation,) = list(data.val_dataloader())
    assert equal(validation, data.validation())
    with pytest.raises(IndexError):
        data.val_dataloader().dataset[1]


@pytest.mark.parametrize(("steps", "evaluations", "segment"), [(20, 4, 5), (21, 4, 6), (3, 10, 1), (7, 0, 7)])
def test_segments_cover_all_steps(steps, evaluations, segment):
    train = replace(TRAIN, steps=steps, evaluations=evaluations)
    data = ArithmeticData(spec(data_spec("parity"), train=train), 0)
    assert data.segment() == segment


def test_the_check_before_training_writes_some_problems_of_a_cell(monkeypatch):
    written = []
    monkeypatch.setattr(TaskData, "check_room", lambda self, problems: written.append(len(problems.lengths)))
    spec = setting("addition", digits=2, **{"test.examples": 10**9})
    TaskData(spec, 0).check_all()
    assert max(written) == CHECKED

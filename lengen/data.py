"""Batches as a function of (seed, step): endless streams, fixed training sets, validation and test cells.

``bucket`` batches are drawn together, sorted by length and cut, so that a batch pads little. Every example of the
published distribution keeps its weight: the loss of a batch is its sum over target tokens divided by the mean number
of targets in its window (`ArithmeticData.scale`), so a batch of short examples counts for as little as its tokens do.
"""

from typing import NamedTuple

import torch
from lightning import LightningDataModule
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from lengen.examples import Batch, Source, Writer
from lengen.formats import build_format
from lengen.position_ids import build_position_ids
from lengen.randomness import generator
from lengen.spaces import Spaces
from lengen.spec import Spec, check
from lengen.tasks import Problems, build_task
from lengen.vocab import PAD


class TrainBatch(NamedTuple):
    """A batch and the weight of its tokens."""

    tokens: Tensor
    ids: Tensor
    loss: Tensor
    scale: Tensor
    """0-d float: what the summed loss is divided by."""
    source: Source | None = None


class ArithmeticData(LightningDataModule):
    """Training, validation and test problems of one specification and seed."""

    VALIDATION = 256
    """In-distribution examples that validate during training; drawn from a stream of their own."""

    def __init__(self, spec: Spec, seed: int) -> None:
        super().__init__()
        check(spec)
        self.spec = spec
        self.seed = seed
        self.task = build_task(spec.data)
        self.format = build_format(spec.data)
        split = spec.model.architecture == "encoder_decoder"
        spaces = None
        if spec.data.spaces:
            spaces = Spaces(spec.data.spaces, self.format.vocab.id(" "), spec.data.fresh_spaces, seed)
        self.writer = Writer(self.format, build_position_ids(spec.data, self.format.levels), split, spaces)
        self._window: tuple[int, list[TrainBatch]] = (-1, [])
        self._fixed: Problems | None = None

    def batch(self, step: int) -> TrainBatch:
        """The training batch of a step, the same whenever it is asked for."""
        train = self.spec.train
        window, place = divmod(step, train.bucket)
        if self._window[0] != window:
            self._window = (window, self._draw(window))
        return self._window[1][place]

    def _draw(self, window: int) -> list[TrainBatch]:
        train = self.spec.train
        stream = generator("train", self.seed, window)
        problems = self._problems(window, train.batch * train.bucket, stream)
        order = torch.argsort(self.writer.lengths(problems), stable=True)
        batches = [self.writer.write(problems.select(part), stream) for part in torch.split(order, train.batch)]
        batches = [batch._replace(loss=targets(batch, train.loss)) for batch in batches]
        scale = torch.tensor(sum(int(batch.loss.sum()) for batch in batches) / len(batches))
        shuffled = torch.randperm(len(batches), generator=stream).tolist()
        return [
            TrainBatch(batches[i].tokens, batches[i].ids, batches[i].loss, scale, batches[i].source) for i in shuffled
        ]

    def _problems(self, window: int, n: int, stream: torch.Generator) -> Problems:
        """Fresh problems, or the next ``n`` of the fixed set in the order of its epoch."""
        data = self.spec.data
        if data.examples == 0:
            return self.task.train(n, data.length, data.count, stream)
        if self._fixed is None:
            self._fixed = held(self.task.fixed_set(data.examples, data.length, data.count, self.seed))
        place = torch.arange(window * n, (window + 1) * n)
        index = torch.empty_like(place)
        for epoch in range(int(place[0]) // data.examples, int(place[-1]) // data.examples + 1):
            order = torch.randperm(data.examples, generator=generator("order", self.seed, epoch))
            here = place // data.examples == epoch
            index[here] = order[place[here] % data.examples]
        chosen = self._fixed.select(index)
        kinds = None if chosen.kinds is None else chosen.kinds.long()
        return Problems(chosen.operands.long(), chosen.lengths.long(), kinds)

    def validation(self) -> Batch:
        """In-distribution examples with the test-time offset."""
        data = self.spec.data
        stream = generator("validation", self.seed)
        return self.writer.write(self.task.validation(self.VALIDATION, data.length, data.count, stream))

    def test(self, length: int, count: int, examples: int) -> Problems:
        """Test problems of one cell; the same for every model and every seed of a task."""
        return self.task.test(examples, length, count, generator(f"test {self.spec.data.task}", length, count))

    def train_dataloader(self) -> DataLoader[TrainBatch]:
        """Batches from the trainer's step up to the next evaluation; asked for anew after each one."""
        first = self.trainer.global_step if self.trainer else 0
        # The last stretch may be shorter: it has to end with the training, or it would not be validated.
        size = max(1, min(self.segment(), self.spec.train.steps - first))
        return DataLoader(_Steps(self, first, size), batch_size=None)

    def val_dataloader(self) -> DataLoader[Batch]:
        return DataLoader(_Single(self.validation()), batch_size=None)

    def segment(self) -> int:
        """Steps between two evaluations."""
        return -(-self.spec.train.steps // max(self.spec.train.evaluations, 1))


def targets(batch: Batch, loss: str) -> Tensor:
    """(B, T) bool: the tokens that a specification trains on, the response or all but the first (`TrainSpec.loss`)."""
    return batch.loss if loss == "response" else (batch.tokens != PAD) & (torch.arange(batch.tokens.shape[1]) > 0)


def held(problems: Problems) -> Problems:
    """The same problems as bytes: 10 million ten-digit, ten-operand problems take 1 GB."""
    kinds = None if problems.kinds is None else problems.kinds.to(torch.uint8)
    return Problems(problems.operands.to(torch.uint8), problems.lengths.to(torch.uint8), kinds)


class _Steps(Dataset[TrainBatch]):
    """The training batches of consecutive steps."""

    def __init__(self, data: ArithmeticData, first: int, size: int) -> None:
        self._data, self._first, self._size = data, first, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> TrainBatch:
        if index >= self._size:
            raise IndexError
        return self._data.batch(self._first + index)


class _Single(Dataset[Batch]):
    """One batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Batch:
        if index > 0:
            raise IndexError
        return self._batch

"""The training batches of one task as a function of (seed, number): endless, from a fixed set, or from a streamed one.

``bucket`` batches are drawn together, sorted by length and cut, so that a batch pads little. Every example of the
published distribution keeps its weight: the loss of a batch is its sum over target tokens divided by the mean number
of targets in its window (`TrainBatch.scale`), so a batch of short examples counts for as little as its tokens do.
"""

import torch
from torch import Tensor

from lengen.data.batch import Batch, TrainBatch
from lengen.data.writer import Writer
from lengen.digits.problems import Problems
from lengen.digits.randomness import generator
from lengen.formats.vocab import PAD
from lengen.settings.spec import Spec
from lengen.tasks.base import Task
from lengen.tasks.sequences import Skewed


class Stream:
    """The training batches of one task.

    ``name`` keeps the random numbers of auxiliary tasks apart; the main one has none. ``examples`` is the size of the
    training set, 0 for fresh examples without end.
    """

    def __init__(self, spec: Spec, task: Task, writer: Writer, seed: int, examples: int, name: str = "") -> None:
        self.spec = spec
        self.task = task
        self.writer = writer
        self.seed = seed
        self.examples = examples
        self.suffix = f" {name}" if name else ""
        self._window: tuple[int, list[TrainBatch]] = (-1, [])
        self._fixed: Problems | None = None

    def fix(self, problems: Problems) -> None:
        """Take these problems as the training set."""
        self.examples, self._fixed = len(problems.lengths), problems.packed()

    def batch(self, number: int) -> TrainBatch:
        """Return the batch of that number, the same at every call."""
        window, place = divmod(number, self.spec.train.bucket)
        if self._window[0] != window:
            self._window = (window, self._draw(window))
        return self._window[1][place]

    def _draw(self, window: int) -> list[TrainBatch]:
        stream = generator("train" + self.suffix, self.seed, window)
        batches = [batch._replace(loss=targets(batch, self.spec.train.loss)) for batch in self._written(window, stream)]
        scale = torch.tensor(sum(int(batch.loss.sum()) for batch in batches) / len(batches))
        shuffled = torch.randperm(len(batches), generator=stream).tolist()
        return [
            TrainBatch(batch.tokens, batch.ids, batch.loss, scale, batch.source, batch.output)
            for batch in (batches[i] for i in shuffled)
        ]

    def written(self, window: int) -> list[Batch]:
        """Return the batches that are drawn together, by length.

        Their responses are targets whatever is trained on.
        """
        return self._written(window, generator("train" + self.suffix, self.seed, window))

    def _written(self, window: int, stream: torch.Generator) -> list[Batch]:
        train = self.spec.train
        problems = self._problems(window, train.batch * train.bucket, stream)
        order = torch.argsort(self.writer.lengths(problems), stable=True)
        return [self.writer.write(problems.select(part), stream) for part in torch.split(order, train.batch)]

    def _problems(self, window: int, n: int, stream: torch.Generator) -> Problems:
        """Return fresh problems, a streamed set's, or the next ``n`` of the fixed set in the order of its epoch."""
        if self.spec.train.one_length:
            return self._of_one_length(stream if self.examples == 0 else self._streamed(window))
        if self.examples == 0:
            return self.task.train(n, stream)
        if self._fixed is None:
            self._fixed = self.task.fixed_set(self.examples, self.seed)
        place = torch.arange(window * n, (window + 1) * n)
        index = torch.empty_like(place)
        for epoch in range(int(place[0]) // self.examples, int(place[-1]) // self.examples + 1):
            order = torch.randperm(self.examples, generator=generator("order", self.seed, epoch))
            here = place // self.examples == epoch
            index[here] = order[place[here] % self.examples]
        chosen = self._fixed.select(index)
        kinds = None if chosen.kinds is None else chosen.kinds.long()
        return Problems(chosen.operands.long(), chosen.lengths.long(), kinds)

    def _of_one_length(self, stream: torch.Generator) -> Problems:
        """Return the problems of a window, ``batch`` of each of ``bucket`` lengths."""
        assert isinstance(self.task, Skewed)
        lengths = self.task.distribution.lengths(self.spec.train.bucket, self.task.longest, stream)
        return self.task.of_lengths(lengths.repeat_interleave(self.spec.train.batch), stream)

    def _streamed(self, window: int) -> torch.Generator:
        """Return the generator that draws a window of a streamed training set, anew in every epoch.

        The set is never stored.

        The set is as many whole windows as fit into ``examples``; an epoch shuffles them.
        """
        windows = self.examples // (self.spec.train.batch * self.spec.train.bucket)
        epoch, place = divmod(window, windows)
        order = torch.randperm(windows, generator=generator("order" + self.suffix, self.seed, epoch))
        return generator("set" + self.suffix, self.seed, int(order[place]))


def targets(batch: Batch, loss: str) -> Tensor:
    """Return (B, T) bool: the tokens that a specification trains on.

    These are the response or all but the first (`TrainSpec.loss`).
    """
    return batch.loss if loss == "response" else (batch.tokens != PAD) & (torch.arange(batch.tokens.shape[1]) > 0)

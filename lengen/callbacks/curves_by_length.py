"""Exact match and answer loss by operand length while a model trains, and the loss of each digit of the answer.

Figures 4.1, 4.2 and B.1 of "Length Generalization on Multi-Digit Integer Addition with Transformers". Logged
at every evaluation: ``exact_match.<length>``; ``answer_loss.<length>`` in nats per response
token; and at the longest trained length ``digit_loss.<place>``, place 1 being the units, where the response is one
number, a token for each digit, and its end.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from lengen.callbacks.accuracy_grid import model_of
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.datamodule import ArithmeticData, data_of
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import responses
from lengen.digits import cells
from lengen.formats.addition_subtasks import Subtasks
from lengen.models import Transformer
from lengen.tasks.increment import Carries


class Losses(NamedTuple):
    """Teacher-forced losses of a batch; responses are left-aligned."""

    loss: Tensor
    """(B, R) nats of each response token, 0 beyond a response."""
    sizes: Tensor
    """(B,) response tokens, the end included."""
    correct: Tensor
    """(B,) bool: the response is reproduced greedily."""


@torch.no_grad()
def response_losses(model: Transformer, batch: Batch) -> Losses:
    """Return the cross-entropy of every response token given the true ones before it.

    The model is one whose tokens see no later ones (`lengen.settings.model.ModelSpec.causal`).
    """
    logits = model.predict(batch.to(model.device)).float().cpu()
    index, inside = responses(batch)
    predicted = logits.gather(1, (index - 1)[:, :, None].expand(-1, -1, logits.shape[2]))
    reference = batch.tokens.gather(1, index)
    loss = cross_entropy(predicted.transpose(1, 2), reference, reduction="none").masked_fill(~inside, 0.0)
    correct = ((predicted.argmax(dim=2) == reference) | ~inside).all(dim=1)
    return Losses(loss, inside.sum(dim=1), correct)


def joined(parts: Sequence[Losses]) -> Losses:
    """Return the losses of several batches as those of one."""
    width = max(part.loss.shape[1] for part in parts)
    losses = [pad(part.loss, (0, width - part.loss.shape[1])) for part in parts]
    return Losses(torch.cat(losses), torch.cat([part.sizes for part in parts]), torch.cat([p.correct for p in parts]))


def digit_losses(losses: Losses, reverse: bool) -> list[float]:
    """Return the mean loss of each place of the answer, units first; ``reverse``: it is written so.

    >>> short, long = torch.tensor([3.0, 2.0, 1.0, 0.0]), torch.tensor([4.0, 3.0, 2.0, 1.0])
    >>> digit_losses(Losses(torch.stack([short, long]), torch.tensor([3, 4]), torch.ones(2)), reverse=False)
    [2.0, 3.0, 4.0]
    """
    digits = losses.sizes - 1  # all but the end
    places = torch.arange(int(digits.max()))
    index = places.expand(len(digits), -1) if reverse else digits[:, None] - 1 - places
    inside = places < digits[:, None]
    values = losses.loss.gather(1, index.clamp(min=0)).masked_fill(~inside, 0.0)
    return [float(value) for value in values.sum(dim=0) / inside.sum(dim=0)]


def _answers_in_digits(data: TaskData) -> bool:
    """Return True if a response is one number and an end: no intermediate results, marks, carries or padding."""
    format, task = data.format, data.task
    alone = format.ends and not format.separators and not format.index_hints
    return alone and task.ROWS.numbers and not task.trailing and not isinstance(task, Carries)


class LearningCurves(Callback):
    """Scores test examples of every length whenever the training is evaluated.

    Args:
        lengths: Tested operand lengths.
        counts: The second axis.
        examples: Examples of each length and count; 0 scores none.
        data: The problems, where the Trainer trains on data of your own; None: its `ArithmeticData`.

    Example:
        >>> import lengen
        >>> measured = lengen.LearningCurves(lengths=(1, 2), examples=4)
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> measured.lengths
        [1, 2]
    """

    def __init__(
        self, lengths: Sequence[int], counts: Sequence[int] = (1,), examples: int = 100, *,
        data: ArithmeticData | TaskData | None = None,
    ) -> None:  # fmt: skip
        self.cells = cells(lengths, counts) if examples else []
        self.lengths = list(dict.fromkeys(length for length, _ in self.cells))
        self.examples = examples
        self.data = data
        self._batches: dict[tuple[int, int], Batch] = {}
        self._of: TaskData | None = None

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        for name, value in self.points(model_of(pl_module), data_of(trainer, self.data)):
            pl_module.log(name, value, batch_size=1)

    def points(self, model: Transformer, data: TaskData) -> Iterator[tuple[str, float]]:
        """Yield name and value of every curve at the present state of a model."""
        if data is not self._of:
            self._of = data
            self._batches = {cell: data.writer.write(data.test(*cell, self.examples)) for cell in self.cells}
        for length in self.lengths:
            batches = [batch for cell, batch in self._batches.items() if cell[0] == length]
            losses = joined([response_losses(model, batch) for batch in batches])
            yield f"exact_match.{length}", float(losses.correct.float().mean())
            yield f"answer_loss.{length}", float(losses.loss.sum() / losses.sizes.sum())
            if length == data.task.longest and _answers_in_digits(data):
                for place, value in enumerate(digit_losses(losses, data.format.reversed_answer), start=1):
                    yield f"digit_loss.{place}", value
        yield from self._subtasks(model, data)

    def _subtasks(self, model: Transformer, data: TaskData) -> Iterator[tuple[str, float]]:
        """Yield exact match of every sub-task at the longest trained length."""
        format, longest = data.spec.data.format, data.task.longest
        if not isinstance(format, Subtasks) or longest not in self.lengths:
            return
        problems = data.test(longest, max(count for _, count in self.cells), self.examples)
        for kind, name in enumerate(format.names):
            part = problems._replace(kinds=torch.full((len(problems.lengths),), kind))
            yield f"subtask.{name}", float(response_losses(model, data.writer.write(part)).correct.float().mean())

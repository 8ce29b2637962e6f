"""Comparison of a trained model with the best model that does not look at its input.

Such a model still knows where a token stands: an end comes last, and padding has a width. So at each place of a
response it names the tokens as often as they occur there; where a response ends is told it for nothing. Its loss is
taken on the very examples that the trained model is asked, and is the least that such a model can have on them: one
that learned the places alone is never below it, however few the examples are. That makes it smaller than on many
examples by (symbols - 1) / 2 nats for each place, some thousandth of it for digits, so whatever learned more than that
of its input is below. A training that ends above taught nothing, and its scores say nothing about what it was meant to
compare.

Asked are examples that were trained on: a model that knows its training set by heart has learned something, too. And
asked are their responses alone, even where the loss is of all tokens: nobody can know a query.
"""

from collections.abc import Sequence

import torch

from lengen.callbacks.accuracy_grid import Measurement
from lengen.callbacks.curves_by_length import response_losses
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import true_responses
from lengen.formats.base import END, FIRST
from lengen.models import Transformer
from lengen.results.progress import Report
from lengen.tasks.base import LARGEST_ALPHABET

EXAMPLES = 1000
"""Least number of training examples; batches that were sorted by length together are taken together."""
TOKENS = LARGEST_ALPHABET + FIRST
"""More than any token id."""


def chance(batches: Sequence[Batch]) -> float:
    """Return the loss of the best model without a prompt, in nats per response token.

    That model depends on the place of a token in its response alone, and has the end of each response for free.
    """
    keys, sizes = [], 0
    for batch in batches:
        responses, written = true_responses(batch), batch.loss.sum(dim=1)
        slots = torch.arange(responses.shape[1])
        counted = (slots < written[:, None]) & (responses != END)
        keys.append((slots * TOKENS + responses)[counted])
        sizes += int(written.sum())
    counts = torch.bincount(torch.cat(keys), minlength=TOKENS).double()
    counts = torch.nn.functional.pad(counts, (0, -len(counts) % TOKENS)).view(-1, TOKENS)
    places = counts.sum(dim=1)
    return float(torch.xlogy(places, places).sum() - torch.xlogy(counts, counts).sum()) / sizes


def loss(model: Transformer, batches: Sequence[Batch]) -> float:
    """Return the loss of a model, in nats per response token."""
    losses = [response_losses(model, batch) for batch in batches]
    return sum(float(part.loss.double().sum()) for part in losses) / sum(int(part.sizes.sum()) for part in losses)


def trained_examples(data: TaskData) -> list[Batch]:
    """Return the first training batches of the main task, with their responses as targets."""
    batches: list[Batch] = []
    while sum(len(batch.tokens) for batch in batches) < EXAMPLES:
        batches += data.streams[0].written(len(batches) // data.spec.train.bucket)
    return batches


class Chance(Measurement):
    """Compares a trained model with chance.

    Its ``info`` is ``never_left_chance`` with both losses, in nats per token, for a model that is not below, else
    nothing. A model that was not trained is not asked. Of one in which tokens see later ones this says nothing: it may
    read what it is asked.
    """

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        self.info = {}
        if not data.spec.train.steps or not model.spec.causal:
            return
        batches = trained_examples(data)
        reached, least = loss(model, batches), chance(batches)
        if reached < least or not least:  # nothing to learn
            return
        note = (
            f"it never left chance: its loss, {reached:.3f} nats a token, is not below the {least:.3f} of a model that "
            "does not look at its input; its scores say nothing about the method"
        )
        self.info = {"never_left_chance": {"loss": reached, "chance": least}, "notes": [note]}

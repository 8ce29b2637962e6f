"""Uncertainty of a model at each token it writes: entropy, and the probabilities of the end and of the right token.

Figure 4.3 of the thesis (Section 4.3.1). The model writes its own answer greedily; where the end is suppressed it
chooses the most likely other token instead, while the probabilities that are recorded are still those of the whole
vocabulary. A place is recorded as long as the true answer has a token there and the model is still writing.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lengen.data.writer import Writer
from lengen.decoding.decoding import generate, verify
from lengen.digits.problems import Problems
from lengen.formats.vocab import END, PAD
from lengen.models import Transformer


class Uncertainty(NamedTuple):
    """One row per prompt, one column per answer place, NaN if nothing was written or expected."""

    entropy: np.ndarray
    """(B, R) nats."""
    end: np.ndarray
    """(B, R) probability of the end token."""
    correct: np.ndarray
    """(B, R) probability of the true token."""
    early: np.ndarray
    """(B,) bool: the text ended before the true answer does."""
    right: np.ndarray
    """(B, R) 1 if the most likely token but the end is the true digit, 0 if it is another; NaN at the end too."""


def uncertainty(model: Transformer, writer: Writer, problems: Problems, *, suppress_end: bool) -> Uncertainty:
    """Let a model write the answers of ``problems`` and record what it thought at every place."""
    reference = verify(model, writer.write(problems)).reference
    table = torch.full((4, *reference.shape), torch.nan)

    def choose(logits: Tensor, rows: Tensor, slots: Tensor) -> Tensor:
        asked = slots < reference.shape[1]
        logits, rows, slots = logits.float(), rows[asked], slots[asked]
        log = logits[asked].log_softmax(dim=-1)
        true = reference[rows, slots]
        going_on = logits.index_fill(1, torch.tensor([END]), -torch.inf)
        right = (going_on[asked].argmax(dim=-1) == true).float().masked_fill(true == END, torch.nan)
        found = (-(log.exp() * log).sum(dim=-1), log[:, END].exp(), log.gather(1, true[:, None])[:, 0].exp(), right)
        table[:, rows, slots] = torch.where(true == PAD, torch.nan, torch.stack(found))
        return (going_on if suppress_end else logits).argmax(dim=-1)

    written = generate(model, writer, problems, choose=choose)
    sizes = (reference != PAD).sum(dim=1)
    ended = (written == END).any(dim=1)
    early = ended & ((written == END).int().argmax(dim=1) + 1 < sizes)
    entropy, end, correct, right = table.numpy()
    return Uncertainty(entropy, end, correct, early.numpy(), right)


def summary(found: Uncertainty) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation over prompts, (3 measures, 2, R), and the prompts (R,) still writing at each place."""
    values = np.stack([found.entropy, found.end, found.correct])
    writing = ~np.isnan(values)
    n = writing.sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean = np.where(writing, values, 0).sum(axis=1) / n
        deviation = np.sqrt(np.where(writing, (values - mean[:, None]) ** 2, 0).sum(axis=1) / n)
    return np.stack([mean, deviation], axis=1).astype(np.float32), n[0]

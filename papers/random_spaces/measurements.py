"""Measurements of the thesis beyond exact match, as callbacks."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from lengen.callbacks.accuracy_grid import Measurement
from lengen.callbacks.curves_by_length import response_losses
from lengen.data.batch_writer import Writer
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import generate, go_on, read, verify
from lengen.digits import Problems
from lengen.formats.addition_subtasks import Subtasks
from lengen.formats.base import END, PAD
from lengen.formats.linear import Linear
from lengen.formats.steps import DigitSteps
from lengen.models import Transformer
from lengen.results.progress import Progress, Report
from papers.random_spaces.profiles import MeasuredSpec

# The maps show the largest weight over heads, and Section 4.3.2 says that those of Abacus positions select the right
# digits at untrained lengths too. For a digit of the answer the digits to select are those of the same significance in
# both operands. Its alignment is the largest share of one head, of any layer, on the two together, in the row that
# predicts it: 1 where a head looks at nothing else.


class Aligned(NamedTuple):
    """Attention of one test cell."""

    shares: np.ndarray
    """(N,) float32: alignment of each problem, the mean over the digits of its answer that operands have."""
    largest: np.ndarray
    """(layers, T - 1, T - 1) float16: the first problem's weights, the largest over the heads of each layer."""
    tokens: np.ndarray
    """(T,) int16: its tokens."""


def added(text: str, *, reverse_query: bool, reverse_response: bool) -> list[tuple[int, int, int]]:
    """List the row that predicts a digit of the answer, and columns of the two digits that it is the sum of.

    Units first.

    A last carry has no digits of its own and is left out.

    >>> added("$12+34=46$", reverse_query=False, reverse_response=False)
    [(7, 2, 5), (6, 1, 4)]
    >>> added("$12+34=64$", reverse_query=False, reverse_response=True)
    [(6, 2, 5), (7, 1, 4)]
    """
    plus, equals = text.index("+"), text.index("=")
    first = _units_first(1, plus, reverse_query)
    second = _units_first(plus + 1, equals, reverse_query)
    answer = _units_first(equals + 1, text.index("$", equals), reverse_response)
    return [(digit - 1, a, b) for digit, a, b in zip(answer, first, second, strict=False)]


def _units_first(start: int, stop: int, reverse: bool) -> range:
    return range(start, stop) if reverse else range(stop - 1, start - 1, -1)


def digit_alignments(layers: Tensor, rows: list[tuple[int, int, int]]) -> Tensor:
    """Return the alignment (R,) of each digit, from attention weights (layers, heads, T, T) of one problem."""
    return torch.stack([(layers[:, :, row, a] + layers[:, :, row, b]).max() for row, a, b in rows])


@torch.no_grad()
def aligned(model: Transformer, data: TaskData, problems: Problems) -> Aligned:
    """Return the alignment of problems without a scratchpad, their true answers given."""
    format = data.spec.data.format
    assert isinstance(format, Linear)
    shares: list[float] = []
    first: tuple[Tensor, Tensor] | None = None
    for part in problems.parts():
        batch = data.writer.write(part)
        weights = torch.stack([layer["self"] for layer in model.attention(batch.to(model.device))], dim=1).cpu()
        for tokens, layers in zip(batch.tokens.cpu(), weights, strict=True):
            text = "".join(data.vocab.decode([int(token)]) for token in tokens)
            rows = added(text, reverse_query=format.reverse_query, reverse_response=format.reverse_response)
            shares.append(float(digit_alignments(layers, rows).mean()))
            first = first or (tokens, layers)
    assert first is not None
    tokens, layers = first
    largest = layers.amax(dim=1).numpy().astype(np.float16)
    return Aligned(np.array(shares, np.float32), largest, tokens.numpy().astype(np.int16))


def is_shortened(written: str, true: str) -> bool:
    """Return True if ``written`` is ``true`` without at least one of its characters, the others in their order.

    >>> is_shortened("13$", "123$"), is_shortened("123$", "123$"), is_shortened("31$", "123$")
    (True, False, False)
    """
    rest = iter(true)
    return len(written) < len(true) and all(character in rest for character in written)


def shortened(written: Tensor, reference: Tensor) -> np.ndarray:
    """Return `is_shortened` of responses (B, R) of token ids, as (B,) uint8.

    Both end with ``$`` or are cut off there.
    """
    pairs = zip(_texts(written), _texts(reference), strict=True)
    return np.array([is_shortened(text, true) for text, true in pairs], np.uint8)


def _texts(responses: Tensor) -> list[str]:
    return ["".join(map(chr, (token for token in row if token != PAD))) for row in responses.tolist()]


# Responses of `lengen.formats.steps` with a plain answer enter, as text; scores per example leave. Whatever a
# model writes can be read: what is not there is empty.


PARTS = ("reversed", "partials", "answer", "answer_of_partials", "partials_imply_answer", "response")
_RESULT = re.compile(r"=(\d),c=(\d)(?=;|\Z)")


class Parts(NamedTuple):
    """The three parts of a response (Section 4.2.1)."""

    reversed: str
    """Reversed operands: before the first ";"."""
    partials: str
    """Digit sums and carries: between the first ";" and the last "|"."""
    answer: str
    """Behind the last "|"."""


def split_parts(response: str) -> Parts:
    """Return the parts of a response, which ends at its first ``$``; without a "|" there is no answer.

    >>> split_parts("5 + 7;c=0,5+7+0=2,c=1|12$")
    Parts(reversed='5 + 7', partials='c=0,5+7+0=2,c=1', answer='12')
    >>> split_parts("5 + 7|12")
    Parts(reversed='5 + 7', partials='', answer='12')
    """
    text = response.split("$")[0]
    work, bar, answer = text.rpartition("|")
    operands, _, partials = (work if bar else text).partition(";")
    return Parts(operands, partials, answer if bar else "")


def implied_answer(partials: str) -> str:
    """Return the number that steps ``...=digit,c=carry`` spell: digits of the steps, units first, then the last carry.

    Digits and carries are taken as written; whether a step adds up is not asked. A step whose end cannot be read
    gives no digit. Leading zeros are dropped, as in the answer; empty if no step can be read.

    >>> implied_answer("c=0,7+9+0=6,c=1;6+8+1=5,c=1;5+7+1=3,c=1")
    '1356'
    """
    results = _RESULT.findall(partials)
    if not results:
        return ""
    digits = results[-1][1] + "".join(digit for digit, _ in reversed(results))
    return digits.lstrip("0") or "0"


def score_parts(written: Sequence[str], reference: Sequence[str]) -> dict[str, np.ndarray]:
    """Return six scores of each response: what is compared for each name of `PARTS`.

    reversed, partials, answer: that part as written with that part of the reference.
    answer_of_partials: the written answer with the one that the written partials imply: is the result read off?
    partials_imply_answer: the answer that the written partials imply with the true one: was the work right? This is
        what Figure 4.6 calls the answer with respect to the scratchpad: the author's code compares the answer derived
        from the predicted partials with the true one, so it says nothing about reading off
        (ERRATA.md, E8).
    response: all of it; Figure 4.6 draws its edit distance as the total.

    Args:
        written, reference: N responses as text; the end ``$`` may be there or not.

    Returns:
        ``hits.part.<name>``, (N,) uint8, 1 if both are equal and there is something (an answer implied by no
        partials is none); ``values.edits.<name>``, (N,) float32, their Levenshtein distance in characters.

    >>> scores = score_parts(["5 + 7;c=0,5+7+0=2,c=1|2$"], ["5 + 7;c=0,5+7+0=2,c=1|12$"])
    >>> [int(scores[f"hits.part.{name}"][0]) for name in PARTS]
    [1, 1, 0, 0, 1, 0]
    """
    pairs = [_compared(a.split("$")[0], b.split("$")[0]) for a, b in zip(written, reference, strict=True)]
    scores: dict[str, np.ndarray] = {}
    for i, name in enumerate(PARTS):
        scores[f"hits.part.{name}"] = np.array([bool(row[i][1]) and row[i][0] == row[i][1] for row in pairs], np.uint8)
        scores[f"values.edits.{name}"] = np.array([Levenshtein.distance(*row[i]) for row in pairs], np.float32)
    return scores


def _compared(response: str, reference: str) -> list[tuple[str, str]]:
    """Return written and true texts side by side, in the order of `PARTS`; both end before their ``$``."""
    written, true = split_parts(response), split_parts(reference)
    implied = implied_answer(written.partials)
    pairs = [(written.answer, implied), (implied, true.answer), (response, reference)]
    return [*zip(written, true, strict=True), *pairs]


# Figure 4.3 of the thesis (Section 4.3.1). The model writes its own answer greedily; where the end is suppressed it
# chooses the most likely other token instead, while the probabilities that are recorded are still those of the whole
# vocabulary. A place is recorded as long as the true answer has a token there and the model is still writing.


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
        inside = slots < reference.shape[1]
        logits, rows, slots = logits.float(), rows[inside], slots[inside]
        log = logits[inside].log_softmax(dim=-1)
        true = reference[rows, slots]
        going_on = logits.index_fill(1, torch.tensor([END]), -torch.inf)
        right = (going_on[inside].argmax(dim=-1) == true).float().masked_fill(true == END, torch.nan)
        columns = (-(log.exp() * log).sum(dim=-1), log[:, END].exp(), log.gather(1, true[:, None])[:, 0].exp(), right)
        table[:, rows, slots] = torch.where(true == PAD, torch.nan, torch.stack(columns))
        return (going_on if suppress_end else logits).argmax(dim=-1)

    written = generate(model, writer, problems, choose=choose)
    sizes = (reference != PAD).sum(dim=1)
    ended = (written == END).any(dim=1)
    early = ended & ((written == END).int().argmax(dim=1) + 1 < sizes)
    entropy, end, correct, right = table.numpy()
    return Uncertainty(entropy, end, correct, early.numpy(), right)


def summary(places: Uncertainty) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation over prompts, (3 measures, 2, R), and the prompts (R,) still writing at each place."""
    values = np.stack([places.entropy, places.end, places.correct])
    writing = ~np.isnan(values)
    n = writing.sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean = np.where(writing, values, 0).sum(axis=1) / n
        deviation = np.sqrt(np.where(writing, (values - mean[:, None]) ** 2, 0).sum(axis=1) / n)
    return np.stack([mean, deviation], axis=1).astype(np.float32), n[0]


# The loss of the answer by length (Figures 4.7, 4.8), the sub-tasks (Figure 4.9), the parts of the scratchpad (Figure
# 4.6), answers that leave digits out (Section 4.3.1), the uncertainty of each answer token (Figure 4.3) and whether
# attention finds the digits that are added (Figure 4.4). One number per problem is kept, in arrays named
# ``hits.<name>.<length>`` (0 or 1) and ``values.<name>.<length>``.


Arrays = dict[str, np.ndarray]


Function = Callable[[Transformer, TaskData, int, Problems], Arrays]
"""Measurement on problems of one length: arrays by name."""


class ByLength(Measurement):
    """Measure a ``function`` on problems of each of some lengths: `answers`, `by_place` or `alignments`."""

    def __init__(self, function: Function, lengths: Sequence[int], count: int, problems: int) -> None:
        super().__init__()
        self.function = function
        self.lengths = lengths
        self.count = count
        self.problems = problems

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        for done, length in enumerate(self.lengths, start=1):
            self.arrays |= self.function(model, data, length, data.test(length, self.count, self.problems))
            report(Progress("measure", done, len(self.lengths), None, None))


def answers(model: Transformer, data: TaskData, length: int, problems: Problems) -> Arrays:
    """Measure the answer loss, and sub-tasks or parts of the scratchpad if there are any."""
    loss, _ = losses(model, data, problems)
    arrays: Arrays = {f"values.answer_loss.{length}": loss}
    format = data.spec.data.format
    for kind, name in enumerate(format.names if isinstance(format, Subtasks) else ()):
        part = problems._replace(kinds=torch.full((len(problems.lengths),), kind))
        loss, correct = losses(model, data, part)
        arrays |= {f"values.loss.{name}.{length}": loss, f"hits.subtask.{name}.{length}": correct}
    if isinstance(format, DigitSteps):
        arrays |= {f"{name}.{length}": value for name, value in parts(model, data, problems).items()}
    if isinstance(format, Linear):
        arrays[f"hits.omitted.{length}"] = omitted(model, data, problems)
    return arrays


def losses(model: Transformer, data: TaskData, problems: Problems) -> tuple[np.ndarray, np.ndarray]:
    """Return nats per answer token of each problem, float32, and whether it is answered greedily as it ought, uint8."""
    parts = [response_losses(model, data.writer.write(part)) for part in problems.parts()]
    loss = torch.cat([part.loss.sum(dim=1) / part.sizes for part in parts])
    return loss.numpy(), torch.cat([part.correct for part in parts]).numpy().astype(np.uint8)


def omitted(model: Transformer, data: TaskData, problems: Problems) -> np.ndarray:
    """Return 1 if the answer that the model writes is the true one without some of its digits, (N,) uint8."""
    shares = []
    for part in problems.parts():
        reading = read(model, data.writer, part)
        shares.append(shortened(go_on(model, data.writer, part, reading), reading.verified.reference))
    return np.concatenate(shares)


def parts(model: Transformer, data: TaskData, problems: Problems) -> Arrays:
    """Score the scratchpads that the model writes by `score_parts`."""
    reading = read(model, data.writer, problems)
    written = go_on(model, data.writer, problems, reading)
    decode = data.vocab.decode
    return score_parts([decode(row) for row in written], [decode(row) for row in reading.verified.reference])


def by_place(model: Transformer, data: TaskData, length: int, problems: Problems) -> Arrays:
    """Return entropy and probabilities by answer place, the end allowed and suppressed.

    See `papers.random_spaces.measurements`.
    """
    both = [uncertainty(model, data.writer, problems, suppress_end=suppress) for suppress in (False, True)]
    tables = [summary(decoding) for decoding in both]
    plain, suppressed = both
    return {
        f"uncertainty.{length}": np.stack([table for table, _ in tables]),
        f"uncertainty_prompts.{length}": np.stack([n for _, n in tables]).astype(np.int32),
        f"values.entropy.{length}": np.nanmean(plain.entropy, axis=1).astype(np.float32),
        f"hits.early_end.{length}": plain.early.astype(np.uint8),
        f"values.right_digits.{length}": np.nanmean(suppressed.right, axis=1).astype(np.float32),
    }


def alignments(model: Transformer, data: TaskData, length: int, problems: Problems) -> Arrays:
    """Return the alignment of the attention, and one map of it: `papers.random_spaces.measurements`."""
    record = aligned(model, data, problems)
    arrays = {"values.alignment": record.shares, "attention": record.largest, "attention_tokens": record.tokens}
    return {f"{name}.{length}": array for name, array in arrays.items()}


def measurements(spec: MeasuredSpec) -> list[Measurement]:
    """Return the measurements in a specification."""
    count, measure = max(spec.test.counts), spec.measure
    return [
        ByLength(answers, spec.test.lengths, count, measure.examples),
        ByLength(by_place, measure.uncertainty, count, measure.prompts),
        ByLength(alignments, measure.alignment, count, measure.prompts),
    ]

"""All ways of deciding and writing against a loop that reads the whole text again for every token."""

from collections.abc import Callable, Iterable

import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor

import lengen.decoding.decoding
from lengen import ArithmeticData, Transformer, generate, verify
from lengen.callbacks import score_cell
from lengen.data.writer import Writer
from lengen.decoding.decoding import Verified, go_on, read
from lengen.digits.problems import Problems
from lengen.formats.vocab import END, PAD
from tests.counted import counted
from tests.lengen.encoder_decoders import plain_greedy

Rows = list[list[int]]


def ended(row: Iterable[int]) -> list[int]:
    """Tokens without the padding on their right."""
    row = list(row)
    while row and row[-1] == PAD:
        row.pop()
    return row


def check_reading(model: Transformer, writer: Writer, problems: Problems, verified: Verified, written: Tensor) -> None:
    """Read at once and in parts of one example, and written on: all that `verify` and `write` gave for the problems."""
    at_once = lengen.decoding.decoding.READ_AT_ONCE
    for tokens in (at_once, 1):
        lengen.decoding.decoding.READ_AT_ONCE = tokens
        try:
            reading = read(model, writer, problems)
        finally:
            lengen.decoding.decoding.READ_AT_ONCE = at_once
        for found, expected in zip(reading.verified, verified, strict=True):
            assert torch.equal(found, expected)
        failed = ~verified.correct
        if bool(failed.any()):
            own = go_on(model, writer, problems.select(failed.nonzero()[:, 0]), reading.select(failed))
            assert torch.equal(own, written[failed][:, : own.shape[1]])
            assert not bool(written[failed][:, own.shape[1] :].any())
        assert torch.equal(go_on(model, writer, problems, reading), written)


def check_decoding(
    model: Transformer, data: ArithmeticData, problems: Problems, expected: Rows | None = None
) -> tuple[Rows, Rows]:
    """Verified, written whole, written on from the first mistake, and a part alone, against ``expected``: without it
    the plain loop. Return what the model writes and the true responses."""
    expected = [ended(row) for row in plain_greedy(model, data, problems)] if expected is None else expected
    batch = data.writer.write(problems)
    verified, written = verify(model, batch), generate(model, data.writer, problems)
    truths = [batch.tokens[i, batch.loss[i]].tolist() for i in range(len(expected))]
    assert [ended(row) for row in written.tolist()] == expected
    assert [ended(row) for row in verified.reference.tolist()] == [ended(row) for row in truths]
    for own, truth, agreed, correct in zip(expected, truths, verified.agreed, verified.correct, strict=True):
        whole = [*own, *[PAD] * (len(truth) - len(own))]
        same = [a == b for a, b in zip(whole, truth, strict=False)]
        assert int(agreed) == [*same, False].index(False) and bool(correct) == (whole == truth)
    check_reading(model, data.writer, problems, verified, written)
    every = torch.arange(len(expected))
    for index in ((~verified.correct).nonzero()[:, 0], every[::2], every[-1:]):
        if len(index):
            own = generate(model, data.writer, problems.select(index))
            assert [ended(row) for row in own.tolist()] == [expected[i] for i in index.tolist()]
    return expected, truths


def check_scores(
    model: Transformer,
    data: ArithmeticData,
    problems: Problems,
    expected: Rows,
    answer: Callable[[list[int]], list[int]],
) -> None:
    """Counts of a cell are those of ``expected``, what the model writes; ``answer`` takes the answer from a response
    without its end."""
    verified = verify(model, data.writer.write(problems))
    truths = [ended(row) for row in verified.reference.tolist()]
    correct = sum(own == truth for own, truth in zip(expected, truths, strict=True))
    scores = score_cell(model, data.writer, problems, True)

    def read_answer(row: list[int]) -> list[int]:
        return answer(ended(row[: row.index(END)] if END in row else row))

    for mode, rows in (("free_running", expected), ("teacher_forced", verified.predicted.tolist())):
        pairs = [(ended(row), truth) for row, truth in zip(rows, truths, strict=True)]
        answers = sum(read_answer(own) == read_answer(truth) for own, truth in pairs)
        edits = sum(Levenshtein.distance(own, truth) for own, truth in pairs)
        counts = counted(len(pairs), correct, answers, edits, sum(map(len, truths)))
        if mode == "teacher_forced":
            del counts["edit_sum"]
        if data.format.last_token_only:  # the one before the true end, wherever the written text ends
            place = [(own, truth, len(truth) - 2) for own, truth in pairs]
            counts["answer_token_correct"] = sum(own[at : at + 1] == truth[at : at + 1] for own, truth, at in place)
        assert scores[mode] == counts
    assert list(score_cell(model, data.writer, problems, False)) == ["teacher_forced"]

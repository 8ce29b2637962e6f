"""The quick way of deciding and writing, `read` and `go_on`, against the plain one, `verify` and `write`."""

import torch
from torch import Tensor

import lengen.decoding.decoding
from lengen.data.datamodule import ArithmeticData
from lengen.data.writer import Writer
from lengen.decoding.decoding import Verified, go_on, read, verify, write
from lengen.digits.problems import Problems
from lengen.models import Transformer
from tests.lengen.sequences import plain_greedy


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


def check_decoding(model: Transformer, data: ArithmeticData, problems: Problems) -> None:
    """`verify` and `write` agree with `check_reading`, and with a loop that reads everything anew for each token."""
    verified, written = verify(model, data.writer.write(problems)), write(model, data.writer, problems)
    check_reading(model, data.writer, problems, verified, written)
    for row, own in enumerate(plain_greedy(model, data, problems)):
        assert written[row, : len(own)].tolist() == own

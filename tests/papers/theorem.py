"""The construction of Theorem 4.1 at any sizes, as tests use it; the tables that Appendix D prints for 57 + 48 + 96."""

from dataclasses import dataclass

import torch

from lengen import Addition, Coupled, Linear
from lengen.data.batch_writer import Batch, Writer
from lengen.digits import Problems
from lengen.formats.base import Vocab
from lengen.models import Decoder
from lengen.training.model_building import set_by_hand
from papers.coupling.construction import set_weights
from papers.coupling.profiles import SCRATCHPAD
from papers.coupling.theorem_spec import Sizes, position_ids, shape

PART = Addition(digits=2, operands=3)
ADDITION = PART
"""Draws and reads problems; nothing is trained, so its range does not matter."""
FORMAT = SCRATCHPAD.build(PART)
VOCAB = Vocab(FORMAT.symbols)


@dataclass(frozen=True, kw_only=True)
class Printed(Sizes):
    first: int = 0
    second: int = 0

    @property
    def bits(self) -> tuple[int, int]:
        return self.first, self.second


def constructed(sizes: Sizes, sharpness: float | None = None, dtype: torch.dtype = torch.float32) -> Decoder:
    """The model for these sizes, with another sharpness than the bound's where one is given."""
    model = Decoder(shape(sizes), len(VOCAB), position_ids(sizes).sizes)
    set_by_hand(model, lambda model: set_weights(model, sizes, sharpness or sizes.sharpness, VOCAB.id(">")))
    return model.to(dtype).eval()


def writer(sizes: Sizes, format: Linear = SCRATCHPAD) -> Writer:
    return Writer(ADDITION, format.build(PART), VOCAB, Coupled(position_ids(sizes).sizes))


def problem(*operands: int) -> Problems:
    return ADDITION.parse([str(operand) for operand in operands])


EXAMPLE = Sizes(operands=3, digits=2)
"""57 + 48 + 96: m = 3, n = 2, l = 3."""
SHARP = 20.0
"""A sharpness that is "sufficiently large" for the printed fractions to come out in single precision."""


def example(second_plus: int = 0) -> tuple[Decoder, Batch]:
    """The model for 57 + 48 + 96 and its tokens, '$' at the end left out; offsets 4 and 2, as in Table 4.

    ``second_plus`` is added to the level-2 ids of '+'. P_1 = 4 and P_2 = 3 hold these ids.
    """
    sizes = Printed(operands=3, digits=2, first=4, second=3)
    batch = writer(sizes).write(problem(57, 48, 96))
    tokens, ids = batch.tokens[:, :-1], batch.ids[:, :, :-1].clone()
    ids[0][ids[0] > 0] += 3
    ids[1][ids[1] > 0] += 1
    ids[1][tokens == VOCAB.id("+")] += second_plus
    return constructed(sizes, SHARP), Batch(tokens, ids, batch.loss[:, :-1])


TOKENS = "$057+048+096=000>750>501>102"
P_1 = (0, 7, 6, 5, 4, 7, 6, 5, 4, 7, 6, 5, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7)
P_2 = (0, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5)
"""Table 4: level-1 and level-2 position ids."""
NUM = (0, 0, 5, 7, 0, 0, 4, 8, 0, 0, 9, 6, 0, 0, 0, 0, 0, 7, 5, 0, 0, 5, 0, 1, 0, 1, 0, 2)
"""Table 4: NUM."""
NUM_TIMES_3 = (0, 0, 15, 21, 0, 0, 12, 24, 0, 0, 27, 18, 0, 0, 0, 0, 0, 21, 15, 0, 0, 15, 0, 3, 0, 3, 0, 6)
"""Tables 7 and 11: rows PRE_SUM and PRE_CARRY of U V X."""
QUERIES = {
    0: ((8, 7, 6, 5) * 3 + (6, 7, 8) + (5, 6, 7, 8) * 3, P_2[1:]), 1: (P_1[1:], P_2[1:]),
    2: ((8, 7, 6, 5) * 3 + (6, 7, 8) + (5, 6, 7, 8) * 3, None), 3: (P_1[1:], P_2[1:]),
}  # fmt: skip
"""Tables 5, 9, 13 and 17: ids whose vertices stand in Q X, of all tokens but '$'."""
KEYS = {
    0: (P_1[1:], (3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6)),
    1: (P_1[1:], (3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6)),
    2: (P_1[1:], None),
    3: (P_1[1:], P_2[1:]),
}
"""Tables 6, 10, 14 and 18: the same of K X."""

PRE_SUM = (0, 0, 0, 0, 7, 5, 0, 0, 15, 9, 0, 0, 11, 9, 1, 0)
PRE_CARRY = (0, 0, 0, 0, 0, 7, 5, 0, 0, 15, 9, 0, 0, 11, 9, 1)
PRE_ARROW = (1 / 4, 1 / 4, 1 / 4, 1, 1 / 5, 1 / 5, 1 / 5, 1, 1 / 6, 1 / 6, 1 / 6, 1, 1 / 7, 1 / 7, 1 / 7, 1)
PRE_EOS = (1 / 3,) * 8 + (1 / 2,) + (1 / 3,) * 3 + (1 / 2,) * 4
"""Tables 8, 12, 16, 20 and 21, from '=' on."""
SUM = (0, 0, 0, 0, 7, 5, 0, 0, 5, 0, 1, 0, 1, 0, 2, 0)
"""Tables 22 and 23: k where SUM is e_(k+1), from '=' on."""
ARROW = (0, 0, 0, 1) * 4
PRINTED_PRE_EOS = (1 / 2,) + (1 / 3,) * 11 + (1 / 2,) * 4
"""Table 23. '=' and the second arrow contradict Table 21: they follow from the second reading of the ids of '+'."""
PRINTED_EOS = (0, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 0, 0, 0, 0, 1)
"""Tables 22 and 23, with the same contradiction at '=' (0) and at the second arrow (-1)."""
EOS = (-1, -1, -1, 0, -1, -1, -1, 0, 0, -1, -1, 0, 0, 0, 0, 1)
"""What Table 21 gives."""
PRINTED_ZERO = (1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1)
"""Table 25, row '0'. The last digit of 501 has 0; SUM there is e_1 in Table 23, so it must be 1."""
OUTPUT = "000>750>501>102$"
"""Table 26."""

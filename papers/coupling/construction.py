"""The transformer of Theorem 4.1: one layer, four heads, weights set by hand, one statement per line of the proof.

Appendix D of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count". Columns of a matrix are
coordinates of the residual stream (`papers.coupling.theorem_spec.Sizes.subspaces`); rows of queries and keys are
coordinates of one head. Numbers in comments are those of the paper; where a line departs from it, the comment says so.

    $057+048+096=000>750>501>1 -> 0
      head 1  reads the column to come: 9 and 0       PRE_SUM = 9
      head 2  reads the column before:  6 and 5       PRE_CARRY = 11, and 11 - NUM = 10, so 1 is carried
      head 3  reads the start alone where a number is full        PRE_ARROW = 1/7, no arrow yet
      head 4  reads no operand any more beside the last result    PRE_EOS = 1/2, this is the last one
      feed-forward   9 + 1 = 10: digit 0; no arrow; no end
"""

import torch
from torch import Tensor

from lengen.formats.base import END, FIRST
from lengen.models import Transformer
from lengen.settings.spec import Spec
from papers.coupling.theorem_spec import DIGIT_HINGES, Sizes, Subspaces, sizes_of

DIGITS = slice(FIRST, FIRST + 10)
"""Token ids of the digits."""


def construct(model: Transformer, spec: Spec) -> None:
    """Set the weights, all zero so far, for the operands and digits of a specification."""
    sizes = sizes_of(spec)
    set_weights(model, sizes, sizes.sharpness, arrow=spec.data.vocab.id(">"))


def set_weights(model: Transformer, sizes: Sizes, sharpness: float, arrow: int) -> None:
    """Set the weights for these sizes; ``sharpness`` is alpha, ``arrow`` the token id of the arrow."""
    at = sizes.subspaces()
    embed_tokens(model.embedding.weight, at)
    for table, bits, name in zip(model.encoding.tables, sizes.bits, ("POS_1", "POS_2"), strict=True):  # type: ignore[arg-type]
        embed_positions(table.weight, bits, at[name], at[f"{name}_NEXT"])
    block = model.stack()[0]
    set_heads(block.attention, sizes, sharpness)
    set_feed_forward(block.feed_forward.enter.weight, block.feed_forward.leave.weight, at)
    assert model.head is not None
    read_out(model.head.weight, at, arrow)


def embed_tokens(table: Tensor, at: Subspaces) -> None:
    """Embed tokens (D.4.1): NUM, IS_BOS and FULL_ONES; the other named dimensions start at zero."""
    # Dimension 1 (NUM): the value of a digit, 0 for every other token.
    table[DIGITS, at["NUM"]] = torch.arange(10.0)[:, None]
    # Dimension 2 (IS_BOS): 1 for '$'.
    table[END, at["IS_BOS"]] = 1
    # Dimension 3 (FULL_ONES): 1 for every token.
    table[:, at["FULL_ONES"]] = 1


def embed_positions(table: Tensor, bits: int, here: slice, next: slice) -> None:
    """Embed positions (D.4.2, Equations (5) and (6)): id k at v_k and v_(k+1); id 0, of '$', at zero."""
    vectors = vertices(bits)
    table[1:, here] = vectors
    # NEXT of the largest id is v_1, as printed; harmless: nothing follows the last result, digits have an id to spare.
    table[1:, next] = vectors.roll(-1, dims=0)


def vertices(bits: int) -> Tensor:
    """Return Equation (3): (2^D, D) rows v_1, v_2, ...: signs are the binary digits of k - 1, most significant first.

    >>> vertices(2).tolist()
    [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    """
    digits = torch.arange(2**bits)[:, None] >> torch.arange(bits - 1, -1, -1) & 1
    return 1.0 - 2.0 * digits


def set_heads(attention: torch.nn.Module, sizes: Sizes, sharpness: float) -> None:
    """Set (D.5) what each head compares, and what it carries where.

    A head compares coordinates of its queries with its keys', sign by sign; '$' gets the score of a full match from
    every query. Printed are sqrt(alpha) in Q and in K, and sqrt(alpha P) for '$' (some prints lack the root): squares
    of rounded roots differ, so matches would not tie in coarse number formats. Here Q holds alpha and alpha P, K 1.
    """
    to_come = (("POS_1_NEXT", "POS_1"), ("POS_2", "POS_2_NEXT"))
    # Head 1, Equations (7) to (10): the column of the digit to come, in operand j and in result j - 1.
    set_head(attention, 0, sizes, sharpness, to_come, reads=("NUM", 3.0), writes="PRE_SUM")
    # Head 2, Equations (11) to (14): the column of the digit just written, for its carry.
    written = (("POS_1", "POS_1"), ("POS_2", "POS_2_NEXT"))
    set_head(attention, 1, sizes, sharpness, written, reads=("NUM", 3.0), writes="PRE_CARRY")
    # Head 3, Equations (15) to (18), whose V_1 and U_1 mean V_3 and U_3: is there a column to come at all?
    set_head(attention, 2, sizes, sharpness, to_come[:1], reads=("IS_BOS", 1.0), writes="PRE_ARROW")
    # Head 4, Equations (19) to (22): is there a token of the same place in the query, one operand further?
    same = (("POS_1", "POS_1"), ("POS_2", "POS_2"))
    set_head(attention, 3, sizes, sharpness, same, reads=("IS_BOS", 1.0), writes="PRE_EOS")


def set_head(
    attention: torch.nn.Module, head: int, sizes: Sizes, sharpness: float, compares: tuple[tuple[str, str], ...],
    reads: tuple[str, float], writes: str,
) -> None:  # fmt: skip
    """Set one head: pairs (subspace of the query, subspace of the key) that have to agree, what it reads and writes."""
    at, size = sizes.subspaces(), sum(sizes.bits) + 1
    rows = slice(head * size, (head + 1) * size)
    query, key, value = (getattr(attention, name).weight[rows] for name in ("query", "key", "value"))
    row = 0
    for looks_for, offered in compares:
        bits = at[looks_for].stop - at[looks_for].start
        rows = slice(row, row + bits)
        # Rows 1 to P_1 of Q and K compare level-1 ids, the next P_2 level-2 ids: vertices agree in all signs or differ.
        query[rows, at[looks_for]] = sharpness * torch.eye(bits)
        key[rows, at[offered]] = torch.eye(bits)
        row += bits
    # The last row: every token asks (FULL_ONES), '$' offers (IS_BOS) as much as a match; row is now P, for head 3 P_1.
    query[row, at["FULL_ONES"]] = sharpness * row
    key[row, at["IS_BOS"]] = 1
    # V reads one dimension (3 undoes the share 1/3 of '$' and two digits), U writes one.
    name, factor = reads
    value[0, at[name]] = factor
    attention.out.weight[at[writes], head * size] = 1  # type: ignore[union-attr, operator]


def set_feed_forward(enter: Tensor, leave: Tensor, at: Subspaces) -> None:
    """Lead PRE_SUM, PRE_CARRY, NUM, PRE_ARROW, PRE_EOS to SUM, ARROW, EOS (D.7); biases are weights on FULL_ONES."""
    # Sub-network 1, SUM, which D.7.1 leaves to Cho et al. (2024); derived here. D = PRE_SUM + carry is 0 to 19, and
    # PRE_CARRY - NUM = 10 carry - (the carry before it), so z = 10 PRE_SUM + PRE_CARRY - NUM is 10 D or 10 D - 1.
    #   T_D(z) = 1/2 [phi(z - 10D + 7) - phi(z - 10D + 5) - phi(z - 10D - 3) + phi(z - 10D - 5)]
    # is 1 on [10D - 5, 10D + 3] and 0 outside (10D - 7, 10D + 5): one-hot while z is wrong by at most 3. T_D ends with
    # the hinges that T_(D+1) begins with. All numbers are integers up to 205, exact even in bfloat16.
    for hinge in range(DIGIT_HINGES):
        for unit, threshold in ((2 * hinge, 10 * hinge - 7), (2 * hinge + 1, 10 * hinge - 5)):
            enter[unit, at["PRE_SUM"]] = 10
            enter[unit, at["PRE_CARRY"]] = 1
            enter[unit, at["NUM"]] = -1
            enter[unit, at["FULL_ONES"]] = -threshold
            slope = 0.5 if unit == 2 * hinge else -0.5
            for total, sign in ((hinge, slope), (hinge - 1, -slope)):  # begins T_hinge, ends T_(hinge - 1)
                if 0 <= total < DIGIT_HINGES - 1:
                    # SUM_k = T_k + T_(k + 10)
                    leave[at["SUM"].start + total % 10, unit] = sign
    arrow, eos, constant = (2 * DIGIT_HINGES + i for i in range(3))
    # Sub-network 2: ARROW = 2 phi(PRE_ARROW - 1/2).
    enter[arrow, at["PRE_ARROW"]] = 1
    enter[arrow, at["FULL_ONES"]] = -0.5
    leave[at["ARROW"], arrow] = 2
    # Sub-network 3: EOS = 2 phi(PRE_ARROW - 1/2) + 6 phi(PRE_EOS - 1/3) - 1. PRE_EOS is 1/2 or 1/3; phi(12 PRE_EOS - 5)
    # stands here for 6 phi(PRE_EOS - 1/3): equal at both, and no rounding of 1/3 reaches '$' a hundred times over.
    enter[eos, at["PRE_EOS"]] = 12
    enter[eos, at["FULL_ONES"]] = -5
    enter[constant, at["FULL_ONES"]] = 1
    leave[at["EOS"], arrow] = 2
    leave[at["EOS"], eos] = 1
    leave[at["EOS"], constant] = -1


def read_out(head: Tensor, at: Subspaces, arrow: int) -> None:
    """Read the token out (D.8, Table 24): an arrow outweighs a digit, the end outweighs both."""
    head[DIGITS, at["SUM"]] = torch.eye(10)
    head[arrow, at["ARROW"]] = 10
    head[END, at["EOS"]] = 100

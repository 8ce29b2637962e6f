"""The weights of Theorem 5.1, line by line: two blocks that find the minimum, then again and again the successor.

Appendix A of "Improving Length-Generalization in Transformers via Task Hinting"; equation numbers are its own. The
printed proof does not sort. Every repair stands beside the line it changes, with its number in ERRATA.md; the literal
lines are kept behind ``printed``. ``a`` and ``b`` are symbols 1 to q, the delimiter is ``bot``. Score(i, j) is
<Q x_i, K x_j>, and "Q e_a = ..." is a column of Q (E6).
"""

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from lengen.formats.base import FIRST
from lengen.models import Decoder
from lengen.models.blocks import Attention, FeedForward
from papers.task_hinting.theorem_spec import TEMPERATURE, TheoremSpec, gain, sharpness

C = 3
"""Weight of the delimiter in Q of block 1, head 1: "setting C = 3" (A.6)."""
EPSILON = 0.5
"""Weight of the successor: "as long as eps <= 1/2, say" (A.6)."""
Coordinates = Tensor | int


class Family(NamedTuple):
    """Coordinates of orthonormal vectors of one kind, such as all tilde-e."""

    a: Tensor
    """(q,) those of the symbols 1 to q."""
    bot: int
    """That of the delimiter."""


class Vectors(NamedTuple):
    """All vectors of the residual stream: three families for head 1, three primed ones for head 2 (A.3, A.4.1)."""

    e: Family
    tilde: Family
    hat: Family
    e_primed: Family
    tilde_primed: Family
    hat_primed: Family


def vectors(alphabet: int) -> Vectors:
    """Return the places of the vectors of ``alphabet`` symbols and the delimiter, in a width of 6 (q + 1).

    >>> vectors(2).e, vectors(2).hat_primed.bot
    (Family(a=tensor([0, 1]), bot=2), 17)
    """
    starts = (place * (alphabet + 1) for place in range(len(Vectors._fields)))
    return Vectors(*(Family(torch.arange(start, start + alphabet), start + alphabet) for start in starts))


def construct(model: Decoder, spec: TheoremSpec) -> None:
    """Set all weights of a model whose parameters are zero, in the variant of ``theorem.variant``."""
    q, longest = spec.sorts.alphabet, spec.sorts.longest
    if spec.theorem.variant == "printed":
        set_weights(model, q, gain=1, sharpness=1, printed=True)
    else:
        set_weights(model, q, gain=gain(longest), sharpness=sharpness(longest))


def set_weights(
    model: Decoder, alphabet: int, *, gain: float, sharpness: float, epsilon: float = EPSILON,
    slope: float = TEMPERATURE, printed: bool = False,
) -> None:  # fmt: skip
    """Set the weights of a model whose parameters are zero.

    Args:
        model: of the architecture `papers.task_hinting.theorem_spec.architecture`.
        alphabet: q.
        gain: W, the factor on V of block 2, head 1; 1 in the paper.
        sharpness: kappa, the factor on Q of all four heads; 1 in the paper.
        epsilon: eps, the factor on V of block 2, head 2.
        slope: beta of tau = beta ln n.
        printed: move tilde-e to the primed half, as A.9 and A.10 do.
    """
    at = vectors(alphabet)
    gamma = torch.arange(alphabet, 0, -1.0)  # gamma_b = q - b + 1, below A.7
    _encode(model, alphabet, at)
    first, second = model.stack()
    _copy_and_minimum(first.attention, at, gamma, sharpness)
    _mark_written(first.feed_forward, at, printed)
    _left_and_successor(second.attention, at, gamma, gain, sharpness, epsilon)
    _nullify_identity(second.feed_forward, at)
    _decode(model, alphabet, at)
    for block in (first, second):
        assert block.attention.temperature is not None
        block.attention.temperature.slope.fill_(slope)


def sends(matrix: Tensor, source: Coordinates, target: Coordinates, scale: Tensor | float = 1.0) -> None:
    """Let ``matrix`` (out, in) send unit vectors ``source`` to ``scale`` times ``target``, pair by pair.

    ``sends(V, e.a, tilde.a)`` is "V e_a = tilde-e_a" for all symbols a. One of the two may be a single vector:
    ``sends(Q, e.bot, e.a, gamma)`` is "Q e_bot = sum_b gamma_b e_b".
    """
    matrix[target, source] = torch.as_tensor(scale, dtype=matrix.dtype, device=matrix.device)


def _encode(model: Decoder, alphabet: int, at: Vectors) -> None:
    """Encode symbols (A.3): Enc(a) = e_a + e'_a, and the same of the delimiter; PAD and ``$`` are zero."""
    symbols = torch.arange(FIRST, FIRST + alphabet)
    for e in (at.e, at.e_primed):
        model.embedding.weight[symbols, e.a] = 1.0
        model.embedding.weight[FIRST + alphabet, e.bot] = 1.0


def _matrices(attention: Attention) -> tuple[Tensor, Tensor, Tensor]:
    """Return Q, K, V (d, d) of both heads, after setting the concatenation of the heads to the identity.

    Head 1 writes the first half of the rows and head 2 the second. Only unprimed vectors are sent to unprimed ones and
    primed to primed ones, so each head reads its own d/2 columns (A.4.1).
    """
    nn.init.eye_(attention.out.weight)
    return attention.query.weight, attention.key.weight, attention.value.weight


def _copy_and_minimum(attention: Attention, at: Vectors, gamma: Tensor, kappa: float) -> None:
    """Set the attention of block 1 (A.4.1): each token copies itself, the delimiter finds the minimum."""
    Q, K, V = _matrices(attention)
    e, tilde = at.e, at.tilde
    # A.1, head 1: Q e_a = e_a + C e_bot, K e_a = e_a, V e_a = tilde-e_a. Tokens before the delimiter see their own
    # symbol, those after it the delimiter. E3: all four Q are kappa times the printed ones.
    sends(Q, e.a, e.a, kappa)
    sends(Q, e.a, e.bot, kappa * C)
    sends(K, e.a, e.a)
    sends(V, e.a, tilde.a)
    # A.2: Q e_bot = e_bot, K e_bot = e_bot, V e_bot = tilde-e_bot.
    sends(Q, e.bot, e.bot, kappa)
    sends(K, e.bot, e.bot)
    sends(V, e.bot, tilde.bot)
    e, hat = at.e_primed, at.hat_primed
    # A.3, head 2: Q e'_a = e'_a, K e'_a = e'_a, V e'_a = hat-e'_a. (A.5 prints hat-e_a for this: E5.)
    sends(Q, e.a, e.a, kappa)
    sends(K, e.a, e.a)
    sends(V, e.a, hat.a)
    # A.4: Q e'_bot = sum_b gamma_b e'_b, K e'_bot = e'_bot, V e'_bot = 0.
    sends(Q, e.bot, e.a, kappa * gamma)
    sends(K, e.bot, e.bot)


def _mark_written(mlp: FeedForward, at: Vectors, printed: bool) -> None:
    """Set the MLP of block 1 (A.4.2): a token after the delimiter, which holds tilde-e_bot, gets -tilde-e_a instead."""
    enter, bias, leave = mlp.enter.weight, mlp.enter.bias, mlp.leave.weight
    q = len(at.e.a)
    # A.9: sum_b phi(<x, e_b> + <x, tilde-e_bot> - 1) (-tilde-e_b - tilde-e_bot). E1: printed is -tilde-e'_b, which
    # block 2 does not read: its head 1 (A.11) and A.20 read tilde-e_b.
    unit = torch.arange(q)
    sends(enter, at.e.a, unit)
    sends(enter, at.tilde.bot, unit)
    bias[unit] = -1.0
    sends(leave, unit, at.tilde_primed.a if printed else at.tilde.a, -1.0)
    sends(leave, unit, at.tilde.bot, -1.0)
    # A.10: sum_b (phi(<x, tilde-e_b>) - phi(<x, -tilde-e_b>)) (tilde-e'_b - tilde-e_b). E1: dropped, since it moves the
    # other half of the count to where block 2 does not read it either.
    if printed:
        for sign in (1.0, -1.0):
            unit = unit + q
            sends(enter, at.tilde.a, unit, sign)
            sends(leave, unit, at.tilde_primed.a, sign)
            sends(leave, unit, at.tilde.a, -sign)


def _left_and_successor(attention: Attention, at: Vectors, gamma: Tensor, W: float, kappa: float, eps: float) -> None:
    """Set the attention of block 2 (A.5.1): whether a copy of this symbol is left, and the next larger one."""
    Q, K, V = _matrices(attention)
    e, tilde, hat = at.e, at.tilde, at.hat
    # A.11, head 1: Q e_a = e_a, K e_a = e_a, V tilde-e_a = hat-e_a. Copies read count 1, copies written -1. E2: the
    # difference is divided by their number, up to 2 n - 1, so one copy left would not outweigh eps; V is W times that.
    sends(Q, e.a, e.a, kappa)
    sends(K, e.a, e.a)
    sends(V, tilde.a, hat.a, W)
    # A.12: Q e_bot = e_bot, K e_bot = e_bot, V e_bot = 0.
    sends(Q, e.bot, e.bot, kappa)
    sends(K, e.bot, e.bot)
    e, hat = at.e_primed, at.hat_primed
    # A.13, head 2: Q e'_a = sum_(b > a) gamma_b e'_b, K e'_a = e'_a, V e'_a = eps hat-e'_a.
    a, b = torch.triu_indices(len(gamma), len(gamma), offset=1)
    sends(Q, e.a[a], e.a[b], kappa * gamma[b])
    sends(K, e.a, e.a)
    sends(V, e.a, hat.a, eps)
    # A.14: Q e'_bot = e'_bot, K e'_bot = e'_bot, V e'_bot = 0.
    sends(Q, e.bot, e.bot, kappa)
    sends(K, e.bot, e.bot)


def _nullify_identity(mlp: FeedForward, at: Vectors) -> None:
    """Set the MLP of block 2 (A.5.2): a token after the delimiter loses its own hat-e'_a."""
    # A.20: sum_b phi(<x, -tilde-e_b>) (-hat-e'_b).
    unit = torch.arange(len(at.e.a))
    sends(mlp.enter.weight, at.tilde.a, unit, -1.0)
    sends(mlp.leave.weight, unit, at.hat_primed.a, -1.0)


def _decode(model: Decoder, alphabet: int, at: Vectors) -> None:
    """Decode (A.21): the output is the a with the largest <x, hat-e_a + hat-e'_a>.

    PAD, ``$`` and the delimiter read 0.
    """
    head = cast(nn.Linear, model.head)
    symbols = torch.arange(FIRST, FIRST + alphabet)
    sends(head.weight, at.hat.a, symbols)
    sends(head.weight, at.hat_primed.a, symbols)

"""Heads of a decoder that see only the last keys: Hard-ALiBi, and windows of one width in all heads.

Hard-ALiBi (Jelassi et al. 2024, "Repeat After Me: Transformers are Better than State Space Models at Copying",
2402.01032): ALiBi's penalty becomes a wall. In its authors' code (synthetic_exps/models/hard_alibi_model.py of
transformers_ssm_copy, ``num_masked_heads``) head h = 1, 2, ..., m sees the last h keys, its own included, so that
together they know the last m tokens in order; the other heads see all keys and have no position. Reported: strings are
copied far beyond the 20 to 50 trained tokens. "Universal Length Generalization with Turing Programs" (2407.03310) uses
it for sums.

With one width in all heads it is the self-attention of the windowed bias of Appendix A.4 of "From Interpolation to
Extrapolation", which its authors have beside an encoder, there with a window on the source and with cyclic position ids
(Section 4.1). A decoder alone has no second window: L layers carry what is said at most L (keys - 1) tokens on, so
operands must stand near their answer.

A mask, not a bias of -inf: no factor on the scores, such as a temperature, meets it, and a token always sees itself.
"""

import torch
from torch import Tensor

ALL = 1 << 30
"""Stands for all keys."""


def last_keys(places: Tensor, keys: int, seen: Tensor) -> Tensor:
    """Return (B or 1, H, T, keys) bool: the keys 0, 1, ... that the queries at ``places`` (B or 1, T) see.

    ``seen`` (H,) is how many of the last keys each head sees, the query's own included; `ALL` of them at most.

    >>> last_keys(torch.arange(3)[None], 3, torch.tensor([1, ALL]))[0].int().tolist()
    [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]]
    """
    behind = places[:, None, :, None] - torch.arange(keys, device=places.device)
    return (behind >= 0) & (behind < seen[:, None, None])

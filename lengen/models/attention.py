"""Attention as functions: scores, tempered softmax, windows of the last keys, output; no position encoding.

Axes: B batch, H heads, Q queries, K keys, D head dimension. A bias is added to the scores; a rotation has
already been applied to queries and keys.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

# Section 5 of "Improving Length-Generalization in Transformers via Task Hinting": tau = beta ln n, with one learned
# beta per attention layer. Its authors' later code (custom_t5_decoder_only.py of "Arithmetic Transformers Can
# Length-Generalize in Both Operand Length and Count") has 1 + tau ln T instead, which starts near the standard softmax.
#
# Scalable softmax (SSMax: Nakanishi 2025, "Scalable-Softmax Is Superior for Attention", 2501.19399) gives a logit z the
# weight n^(s z) / sum n^(s z'), which is softmax(s ln n z): form "log" with n the keys that a query sees (``of`` =
# "position"). So it is the same function; what differs is that s is learned by every head of every layer, where the
# hinting paper has one beta per layer: ``heads`` below. Neither is the other's special case in training: heads whose s
# is equal are one layer's beta, and stay so only if they are not trained apart. SSMax is reported for language models,
# lower loss and better retrieval in long contexts; no arithmetic was found in it.


FORMS = {"log": 0.0, "one_plus_log": 1.0}
"""Constant term of the factor by name of ``model.tempered.form``."""


class Temperature(nn.Module):
    """c + b ln n with a learned b: the factor on the attention logits of one layer; with ``heads`` each has its b."""

    def __init__(self, form: str, start: float, heads: int = 0) -> None:
        super().__init__()
        self.constant = FORMS[form]
        self.slope = nn.Parameter(torch.full((heads,), start) if heads else torch.tensor(start))

    def forward(self, counted: Tensor) -> Tensor:
        """Return (B or 1, T) numbers of tokens to factors (B or 1, 1 or heads, T, 1), for logits (B, H, T, K).

        Where a query sees one token only (n = 1) the factor has no effect, so b ln 1 = 0 does no harm.
        """
        logarithm = counted.float().log()[:, None, :, None]
        slope = self.slope if self.slope.dim() == 0 else self.slope[:, None, None]
        return self.constant + slope * logarithm


# Hard-ALiBi (Jelassi et al. 2024, "Repeat After Me: Transformers are Better than State Space Models at Copying",
# 2402.01032): ALiBi's penalty becomes a wall. In its authors' code (synthetic_exps/models/hard_alibi_model.py of
# transformers_ssm_copy, ``num_masked_heads``) head h = 1, 2, ..., m sees the last h keys, its own included, so that
# together they know the last m tokens in order; the other heads see all keys and have no position. Reported: strings
# are copied far beyond the 20 to 50 trained tokens. "Universal Length Generalization with Turing Programs" (2407.03310)
# uses it for sums.
#
# With one width in all heads it is the self-attention of the windowed bias of Appendix A.4 of "From Interpolation to
# Extrapolation", which its authors have beside an encoder, there with a window on the source and with cyclic position
# ids (Section 4.1). A decoder alone has no second window: L layers carry what is said at most L (keys - 1) tokens on,
# so operands must stand near their answer.
#
# A mask, not a bias of -inf: no factor on the scores, such as a temperature, meets it, and a token always sees itself.


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


SHORT = 96
"""Tokens up to which compiled attention is two products and a softmax; the fused kernel is slower there by a third, and
faster from some 150 on."""


def causal_mask(size: int, device: torch.device | None = None) -> Tensor:
    """Return (size, size) bool, True if a query may see a key: at or before its own place."""
    return torch.ones(size, size, dtype=torch.bool, device=device).tril()


def attention_scores(query: Tensor, key: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    """Return the scores before the softmax (B, H, Q, K), float32; arguments as in `attention_weights`."""
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key).float() * scale
    return scores if bias is None else scores + bias


def attention_weights(query: Tensor, key: Tensor, scale: float, bias: Tensor | None, mask: Tensor) -> Tensor:
    """Return softmax weights (B, H, Q, K), computed in float32; each row sums to one over the keys that ``mask`` opens.

    Args:
        query: (B, H, Q, D).
        key: (B, H, K, D).
        scale: factor on the scores.
        bias: added to the scores, broadcastable to (B, H, Q, K), or None.
        mask: bool, broadcastable to (B, H, Q, K), True if a key is visible.
    """
    scores = attention_scores(query, key, scale, bias)
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


def attend(
    query: Tensor, key: Tensor, value: Tensor, scale: float, bias: Tensor | None, mask: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:  # fmt: skip
    """Return attention output (B, H, Q, D) through the fused kernel; ``mask`` None means causal with Q = K.

    ``dropout`` is the share of the softmax weights that is dropped.
    """
    if torch.compiler.is_compiling() and query.device.type == "cpu" and max(query.shape[2], key.shape[2]) <= SHORT:
        visible = causal_mask(query.shape[2], query.device) if mask is None else mask
        weights = attention_weights(query, key, scale, bias, visible).to(value.dtype)
        return functional.dropout(weights, dropout) @ value
    if bias is None:
        causal = mask is None
        return scaled_dot_product_attention(query, key, value, mask, dropout, is_causal=causal, scale=scale)
    if mask is None:
        mask = causal_mask(query.shape[2], query.device)
    # The bias carries the mask: the fused kernel takes one additive argument.
    additive = bias.to(query.dtype).masked_fill(~mask, float("-inf"))
    return scaled_dot_product_attention(query, key, value, attn_mask=additive, scale=scale, dropout_p=dropout)


def closed_rows(bias: Tensor, mask: Tensor) -> Tensor:
    """Return (..., Q, 1) bool: rows in which a bias and a mask together leave no key open."""
    return (bias.isneginf() | ~mask).all(dim=-1, keepdim=True)

"""Attention as functions: scores, weights, output. No position encoding is named here.

Axes: B batch, H heads, Q queries, K keys, D head dimension. A bias is added to the scores; a rotation has
already been applied to queries and keys.
"""

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

SHORT = 96
"""Tokens up to which compiled attention is two products and a softmax; the fused kernel is slower there by a third, and
faster from some 150 on."""


def causal_mask(size: int, device: torch.device | None = None) -> Tensor:
    """Return (size, size) bool, True if a query may see a key: at or before its own place."""
    return torch.ones(size, size, dtype=torch.bool, device=device).tril()


def attention_scores(query: Tensor, key: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    """Return scores before the softmax (B, H, Q, K), float32; arguments as in `attention_weights`."""
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
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    bias: Tensor | None,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Return attention output (B, H, Q, D) through the fused kernel; ``mask`` None means causal with Q = K.

    ``dropout`` is the share of the softmax weights that is dropped.
    """
    if torch.compiler.is_compiling() and query.device.type == "cpu" and max(query.shape[2], key.shape[2]) <= SHORT:
        visible = causal_mask(query.shape[2], query.device) if mask is None else mask
        weights = attention_weights(query, key, scale, bias, visible).to(value.dtype)
        return functional.dropout(weights, dropout) @ value
    if bias is None:
        causal = mask is None
        return scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=causal, scale=scale, dropout_p=dropout
        )
    if mask is None:
        mask = causal_mask(query.shape[2], query.device)
    # The bias carries the mask: the fused kernel takes one additive argument.
    additive = bias.to(query.dtype).masked_fill(~mask, float("-inf"))
    return scaled_dot_product_attention(query, key, value, attn_mask=additive, scale=scale, dropout_p=dropout)


def closed_rows(bias: Tensor, mask: Tensor) -> Tensor:
    """Return (..., Q, 1) bool: rows in which a bias and a mask together leave no key open."""
    return (bias.isneginf() | ~mask).all(dim=-1, keepdim=True)

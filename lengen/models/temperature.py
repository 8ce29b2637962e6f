"""Tempered softmax: attention logits that grow with the number of tokens, so that attention stays as sharp.

Section 5 of "Improving Length-Generalization in Transformers via Task Hinting": tau = beta ln n, with one learned beta
per attention layer. Its authors' later code (custom_t5_decoder_only.py of "Arithmetic Transformers Can
Length-Generalize in Both Operand Length and Count") has 1 + tau ln T instead, which starts near the standard softmax.

Scalable softmax (SSMax: Nakanishi 2025, "Scalable-Softmax Is Superior for Attention", 2501.19399) gives a logit z the
weight n^(s z) / sum n^(s z'), which is softmax(s ln n z): form "log" with n the keys that a query sees (``of`` =
"position"). So it is the same function; what differs is that s is learned by every head of every layer, where the
hinting paper has one beta per layer: ``heads`` below. Neither is the other's special case in training: heads whose s is
equal are one layer's beta, and stay so only if they are not trained apart. SSMax is reported for language models, lower
loss and better retrieval in long contexts; no arithmetic was found in it.
"""

import torch
from torch import Tensor, nn

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

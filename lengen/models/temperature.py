"""Tempered softmax: attention logits that grow with the number of tokens, so that attention stays as sharp.

Section 5 of "Improving Length-Generalization in Transformers via Task Hinting": tau = beta ln n, with one learned beta
per attention layer. Its authors' later code (custom_t5_decoder_only.py of "Arithmetic Transformers Can
Length-Generalize in Both Operand Length and Count") has 1 + tau ln T instead, which starts near the standard softmax.
"""

import torch
from torch import Tensor, nn

FORMS = {"log": 0.0, "one_plus_log": 1.0}
"""Constant term of the factor by name of ``model.tempered.form``."""


class Temperature(nn.Module):
    """c + b ln n with a learned b: the factor on the attention logits of one layer."""

    def __init__(self, form: str, start: float) -> None:
        super().__init__()
        self.constant = FORMS[form]
        self.slope = nn.Parameter(torch.tensor(start))

    def forward(self, counted: Tensor) -> Tensor:
        """(B or 1, T) numbers of tokens to factors (B or 1, 1, T, 1), for logits (B, H, T, K).

        Where a query sees one token only (n = 1) the factor has no effect, so b ln 1 = 0 does no harm.
        """
        return (self.constant + self.slope * counted.float().log())[:, None, :, None]

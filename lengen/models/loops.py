"""Loops by length: how often a stack of blocks is applied to each problem of a batch.

Fan et al. 2025, "Looped Transformers for Length Generalization" (2409.15647): tasks with a known iterative solution are
learned by one block that is applied T(n) times to a problem of length n, in training and in testing, without positions
and with the input added at every loop (``inject`` = "input"). Its configurations test parity of 20 trained bits at 50,
sums and copies of 20 digits at 30 and products of 12 at 15, and the paper reports that looping by length generalises
where a fixed number of loops does not. There the whole answer is predicted at once, and testing may also choose T by
the model's confidence; here the rule is `lengen.settings.model.LoopsByLength`, known before the first token is written.
With an encoder (blanks filled at once) the answer is predicted as there.

One loop per answer token, n digits and the end: LoopsByLength(more=0), T = n + 1. T = n for the string of ``$0110=``:
LoopsByLength(of="prompt", more=-2).
"""

from torch import Tensor

from lengen.data.batch import Batch, response_start
from lengen.settings.model import LoopsByLength


def loops_of(rule: LoopsByLength, batch: Batch) -> Tensor:
    """Return (B,) int64: how often the stack is applied to each example."""
    n = batch.loss.sum(dim=1) if rule.of == "response" else response_start(batch)
    return (-(-n // rule.tokens) + rule.more).clamp(1, rule.most)

"""Digits left out: whether a wrong answer is the true one without some of its tokens (Sections 3.1 and 4.3.1)."""

import numpy as np
from torch import Tensor

from lengen.formats.vocab import PAD


def is_shortened(written: str, true: str) -> bool:
    """Return True if ``written`` is ``true`` without at least one of its characters, the others in their order.

    >>> is_shortened("13$", "123$"), is_shortened("123$", "123$"), is_shortened("31$", "123$")
    (True, False, False)
    """
    rest = iter(true)
    return len(written) < len(true) and all(character in rest for character in written)


def shortened(written: Tensor, reference: Tensor) -> np.ndarray:
    """Return `is_shortened` of responses (B, R) of token ids, as (B,) uint8.

    Both end with ``$`` or are cut off there.
    """
    pairs = zip(_texts(written), _texts(reference), strict=True)
    return np.array([is_shortened(own, true) for own, true in pairs], np.uint8)


def _texts(responses: Tensor) -> list[str]:
    return ["".join(map(chr, (token for token in row if token != PAD))) for row in responses.tolist()]

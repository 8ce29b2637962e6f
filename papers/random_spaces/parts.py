"""A written scratchpad read back part by part: which step of the work goes wrong (Section 4.4.3, Figure 4.6).

Responses of `lengen.formats.digit_steps` with a plain answer enter, as text; scores per example leave. Whatever a
model writes can be read: what is not there is empty.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

PARTS = ("reversed", "partials", "answer", "answer_of_partials", "partials_imply_answer", "response")
_RESULT = re.compile(r"=(\d),c=(\d)(?=;|\Z)")


class Parts(NamedTuple):
    """The three parts of a response (Section 4.2.1)."""

    reversed: str
    """Reversed operands: before the first ";"."""
    partials: str
    """Digit sums and carries: between the first ";" and the last "|"."""
    answer: str
    """Behind the last "|"."""


def split_parts(response: str) -> Parts:
    """Return the parts of a response, which ends at its first ``$``; without a "|" there is no answer.

    >>> split_parts("5 + 7;c=0,5+7+0=2,c=1|12$")
    Parts(reversed='5 + 7', partials='c=0,5+7+0=2,c=1', answer='12')
    >>> split_parts("5 + 7|12")
    Parts(reversed='5 + 7', partials='', answer='12')
    """
    text = response.split("$")[0]
    work, bar, answer = text.rpartition("|")
    operands, _, partials = (work if bar else text).partition(";")
    return Parts(operands, partials, answer if bar else "")


def implied_answer(partials: str) -> str:
    """Return the number that steps ``...=digit,c=carry`` spell: digits of the steps, units first, then the last carry.

    Digits and carries are taken as written; whether a step adds up is not asked. A step whose end cannot be read
    gives no digit. Leading zeros are dropped, as in the answer; empty if no step can be read.

    >>> implied_answer("c=0,7+9+0=6,c=1;6+8+1=5,c=1;5+7+1=3,c=1")
    '1356'
    """
    results = _RESULT.findall(partials)
    if not results:
        return ""
    digits = results[-1][1] + "".join(digit for digit, _ in reversed(results))
    return digits.lstrip("0") or "0"


def score_parts(written: Sequence[str], reference: Sequence[str]) -> dict[str, np.ndarray]:
    """Return six scores of each response: what is compared for each name of `PARTS`.

    reversed, partials, answer: that part as written with that part of the reference.
    answer_of_partials: the written answer with the one that the written partials imply: is the result read off?
    partials_imply_answer: the answer that the written partials imply with the true one: was the work right? This is
        what Figure 4.6 calls the answer with respect to the scratchpad: the author's code compares the answer derived
        from the predicted partials with the true one, so it says nothing about reading off
        (ERRATA.md, E8).
    response: all of it; Figure 4.6 draws its edit distance as the total.

    Args:
        written, reference: N responses as text; the end ``$`` may be there or not.

    Returns:
        ``hits.part.<name>``, (N,) uint8, 1 if both are equal and there is something (an answer implied by no
        partials is none); ``values.edits.<name>``, (N,) float32, their Levenshtein distance in characters.

    >>> scores = score_parts(["5 + 7;c=0,5+7+0=2,c=1|2$"], ["5 + 7;c=0,5+7+0=2,c=1|12$"])
    >>> [int(scores[f"hits.part.{name}"][0]) for name in PARTS]
    [1, 1, 0, 0, 1, 0]
    """
    pairs = [_compared(a.split("$")[0], b.split("$")[0]) for a, b in zip(written, reference, strict=True)]
    scores: dict[str, np.ndarray] = {}
    for i, name in enumerate(PARTS):
        scores[f"hits.part.{name}"] = np.array([bool(row[i][1]) and row[i][0] == row[i][1] for row in pairs], np.uint8)
        scores[f"values.edits.{name}"] = np.array([Levenshtein.distance(*row[i]) for row in pairs], np.float32)
    return scores


def _compared(response: str, reference: str) -> list[tuple[str, str]]:
    """Return written and true texts side by side, in the order of `PARTS`; both end before their ``$``."""
    written, true = split_parts(response), split_parts(reference)
    implied = implied_answer(written.partials)
    pairs = [(written.answer, implied), (implied, true.answer), (response, reference)]
    return [*zip(written, true, strict=True), *pairs]

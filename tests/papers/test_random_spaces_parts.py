"""A scratchpad read back: parts of true, wrong and malformed text, and what the six scores tell apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.random_spaces.measured import PARTS, implied_answer, score_parts, split_parts
from tests.fixtures.refusals import refused
from tests.fixtures.written import number, steps

TRUE = "7 6 5 + 9 8 7;c=0,7+9+0=6,c=1;6+8+1=5,c=1;5+7+1=3,c=1|1356$"
"""567 + 789."""


def hits(written: str, reference: str = TRUE) -> list[int]:
    scores = score_parts([written], [reference])
    return [int(scores[f"hits.part.{name}"][0]) for name in PARTS[:-1]]


def edits(written: str, reference: str = TRUE) -> list[int]:
    scores = score_parts([written], [reference])
    return [int(scores[f"values.edits.{name}"][0]) for name in PARTS[:-1]]


@given(number(), number())
def test_a_true_scratchpad_is_right_in_every_part_and_implies_its_answer(a, b):
    response = steps(a, b)
    parts = split_parts(response)
    assert parts.reversed == " ".join(a[::-1]) + " + " + " ".join(b[::-1])
    assert parts.answer == implied_answer(parts.partials) == str(int(a) + int(b))
    assert f"{parts.reversed};{parts.partials}|{parts.answer}$" == response
    assert hits(response, response) == [1] * 5 and edits(response, response) == [0] * 5


@pytest.mark.parametrize(("written", "right", "distances", "why"), [
    (TRUE.replace("|1356", "|136"), [1, 1, 0, 0, 1], [0, 0, 1, 1, 0], "only the reading off is wrong"),
    (TRUE.replace("6+8+1=5", "6+8+1=4"), [1, 0, 1, 0, 0], [0, 1, 0, 1, 1], "the answer is right in spite of a step"),
    (TRUE.replace("6+8+1=5", "6+8+1=4").replace("|1356", "|1346"), [1, 0, 0, 1, 0], [0, 1, 1, 0, 1],
     "a wrong step, faithfully read off"),
    (TRUE.replace("c=1|", "c=0|"), [1, 0, 1, 0, 0], [0, 1, 0, 1, 1], "the last carry is a digit of the answer"),
    (TRUE.replace("7 6 5 +", "6 5 +"), [0, 1, 1, 1, 1], [2, 0, 0, 0, 0], "a digit is missing where it is reversed"),
    (TRUE.replace("7+9+0=6", "7+8+0=6"), [1, 0, 1, 1, 1], [0, 1, 0, 0, 0], "a wrong summand, a right result"),
    (TRUE.replace(";5+7+1=3,c=1", ""), [1, 0, 1, 0, 0], [0, 12, 0, 1, 1], "a step left out: implies 156"),
    (TRUE.replace("6+8+1=5,c=1", "6+8+1=5,1"), [1, 0, 1, 0, 0], [0, 2, 0, 1, 1], "a step that cannot be read: 136"),
    (TRUE.replace("|", ""), [1, 0, 0, 0, 0], None, "no bar: the last step runs on, and there is no answer"),
    (TRUE.replace(";", ""), [0, 0, 1, 0, 0], None, "no semicolon: no partials"),
    (TRUE.replace("$", ""), [1] * 5, [0] * 5, "without end"),
    (TRUE + "9|9$", [1] * 5, [0] * 5, "what comes after the end is not read"),
    ("1356$", [0, 0, 0, 0, 0], None, "an answer alone is no answer behind a bar"),
    ("|$", [0] * 5, [13, 39, 4, 0, 4], "nothing is not read off from nothing"),
    ("", [0] * 5, [13, 39, 4, 0, 4], "no text"),
])  # fmt: skip
def test_scores_tell_mistakes_apart(written, right, distances, why):
    assert hits(written) == right, why
    assert distances is None or edits(written) == distances, why


def test_the_whole_response_counts_all_mistakes_and_implies_an_answer():
    twice = TRUE.replace("6+8+1=5", "6+8+1=4").replace("|1356", "|136") + "9|9"
    scores = score_parts([TRUE, twice, ""], [TRUE] * 3)
    assert scores["hits.part.response"].tolist() == [1, 0, 0]
    assert scores["values.edits.response"].tolist() == [0, 2, len(TRUE) - 1]
    assert implied_answer("c=0,9+0+0=9,c=0;0+0+0=0,c=0") == "9", "leading zeros are dropped, as in the answer"
    assert implied_answer("c=0,0+0+0=0,c=0") == "0"
    assert implied_answer("c=0") == implied_answer("") == implied_answer("12|") == ""
    refused(ValueError, "argument", score_parts, [TRUE], [])


@given(st.lists(st.tuples(st.text("0123456789+=c,;| $", max_size=30), number(), number()), max_size=5))
def test_any_text_is_scored_and_hits_are_edits_of_zero(rows):
    written, reference = [text for text, _, _ in rows], [steps(a, b) for _, a, b in rows]
    scores = score_parts(written, reference)
    assert set(scores) == {f"{kind}.{name}" for kind in ("hits.part", "values.edits") for name in PARTS}
    for name in PARTS:
        hit, edit = scores[f"hits.part.{name}"], scores[f"values.edits.{name}"]
        assert hit.shape == edit.shape == (len(rows),) and hit.dtype == np.uint8 and edit.dtype == np.float32
        assert not edit[hit == 1].any()
        if name != "answer_of_partials":  # the only one with nothing to compare with, where no step can be read
            assert hit[edit == 0].all()

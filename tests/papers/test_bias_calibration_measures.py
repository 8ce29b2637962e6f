"""Attention on the digit to be written, as a number: against a loop over elements, and on maps made by hand."""

import numpy as np
import pytest

from lengen.metrics.measures import Missing
from lengen.tasks.arithmetic import PairAddition, Successor
from papers.bias_calibration.measures import follows, shares_near
from tests.papers.runs_bias_calibration import run

RNG = np.random.default_rng(0)


def shares_by_loop(cross, units, digits):
    """Element by element: a place counts once, whichever operands it is near."""
    shares = []
    for head in cross:
        total = 0.0
        for digit in digits:
            for place, weight in enumerate(head[digit]):
                if any(abs(place - (unit - digit)) <= 1 for unit in units):
                    total += weight
        shares.append(total / len(digits))
    return shares


@pytest.mark.parametrize("units", [[9], [5, 11], [5, 6]])
@pytest.mark.parametrize("digits", [range(1), range(2, 5), range(6)])
def test_shares_are_those_of_a_loop(units, digits):
    cross = RNG.random((3, 6, 13))
    cross /= cross.sum(axis=2, keepdims=True)
    assert shares_near(cross, units, digits).tolist() == pytest.approx(shares_by_loop(cross, units, digits))


def probed(task, *operands, follow, width=7):
    """A run of a model trained on 2 digits whose head 1 looks at the digit to be written up to ``follow``."""
    text = "$" + "+".join(operand.rjust(width, "0") for operand in operands) + "$"
    cross = np.full((2, width + 1, len(text)), 1 / len(text))
    for digit in range(follow):
        cross[1, digit] = 0.0
        cross[1, digit, len(text) - 2 - digit] = 1.0
    arrays = {"probe0.cross": cross.astype(np.float16), "probe0.source": np.array(list(text))}
    return run("table1/some-vanilla", arrays=arrays, changes={"data.task": task(2)})


@pytest.mark.parametrize(("task", "operands"), [(Successor, ["12345"]), (PairAddition, ["345", "12345"])])
def test_the_head_that_follows_up_to_the_trained_length_is_asked_everywhere(task, operands):
    made = probed(task, *operands, follow=3)
    near = 3 * len(operands) / (8 * len(operands) + 1)  # of a row that is spread evenly: three places an operand
    values = {name: follows(name).value(made)[0] for name in ("trained", "beyond", "far")}
    assert values == pytest.approx({"trained": 1.0, "beyond": (1 + near) / 2, "far": near}, abs=1e-3)


def test_a_probe_that_is_too_short_or_missing_is_said():
    with pytest.raises(Missing, match="its probes have 2 digits, none from there to twice the trained length"):
        follows("beyond").value(probed(Successor, "12", follow=2))
    with pytest.raises(Missing, match="recorded no attention on a printed example"):
        follows("trained").value(run("table1/successor-vanilla"))
    with pytest.raises(KeyError):
        follows("everywhere")

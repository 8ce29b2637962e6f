"""What README.md says of long carries, which random tests hardly see: of the committed models, seed 0 of the night."""

import lengen


def reads(variant: str, *numbers: int) -> int:
    """What the committed model reads as the answer."""
    return int(lengen.load(f"bias_calibration/table1/{variant}").solve(list(numbers))["read"])


def test_successor_carries_over_two_nines_and_no_further():
    assert reads("successor-abc", 199) == 200
    assert (reads("successor-abc", 1999), reads("successor-abc", 199_999)) == (1_900, 190_000)


def test_addition_carries_over_any_chain_that_was_tried():
    assert all(reads("addition-abc", number, 1) == number + 1 for number in (1_999, 10**20 - 1))

"""Sizes as multiples of the trained range: where a smaller run is asked what the paper asked of its own.

The cells that a published number is about enter, as tested at the published setting; the bounds of those cells leave
that lie at the same multiples of what a smaller run was trained on. A multiple is exact or there is none: twelve of
nine digits are no eight of seven.
"""

from fractions import Fraction

from lengen.measures import Missing, short, trained_range
from reproduce.comparison.evidence import Tested
from reproduce.comparison.regions import Bounds, inside


def scaled(tested: Tested, region: str, lengths: Bounds, counts: Bounds) -> tuple[Bounds, Bounds, str]:
    """Bounds on lengths and counts for this run, and both sizes in words; those given where it is as published.

    Raises:
        Missing: where no cell of this run has that multiple of its trained range.
    """
    published = tested.paper
    if tested.profile == "paper" or published is None or trained_range(published.data) == tested.trained:
        return lengths, counts, ""
    there = trained_range(published.data)
    tests = published.test
    grid = there.second > 1 and not tested.curve
    cells = [(length, count) for length in tests.lengths for count in (tests.counts if grid else (1,))]
    cells = list(inside(cells, there, tested.vocabulary.regions[region], lengths, counts))
    if not cells:
        return lengths, counts, ""
    here = tested.trained
    asked_lengths = min(n for n, _ in cells), max(n for n, _ in cells)
    asked_counts = min(m for _, m in cells), max(m for _, m in cells)
    our_lengths = _scale(tested, asked_lengths, there.length, here.length)
    our_counts = _scale(tested, asked_counts, there.second, here.second) if grid else counts
    if not any(n == our_lengths[1] for n, _ in tested.cells(region, our_lengths, our_counts)):
        raise Missing(
            f"{_multiple(asked_lengths[1], there.length)}: {short(tested.name)} was not tested at "
            f"{our_lengths[1]} of {here.length}"
        )
    words = f"{_span(asked_lengths)} of {there.length} in length; ours {_span(our_lengths)} of {here.length}"
    if grid and our_counts is not None:
        words += f"; {_span(asked_counts)} of {there.second} in count; ours {_span(our_counts)} of {here.second}"
    return our_lengths, our_counts, words


def _scale(tested: Tested, span: tuple[int, int], there: int, here: int) -> tuple[int, int]:
    """The span at the same multiples: its end exactly, its beginning from there on."""
    end = Fraction(span[1] * here, there)
    if end.denominator != 1:
        raise Missing(
            f"{_multiple(span[1], there)}: {short(tested.name)} was trained on {here}, of which that is no whole number"
        )
    begin = end if span[0] == span[1] else -(-span[0] * here // there)
    return int(begin), int(end)


def _multiple(size: int, trained: int) -> str:
    return f"published at {size} of {trained}, {size / trained:.3g} times the trained range"


def _span(span: tuple[int, int]) -> str:
    return str(span[1]) if span[0] == span[1] else f"{span[0]} to {span[1]}"

"""Where published values stand beside ours, and what a footnote says of them: both sizes, and what has no place.

A value stands at the same multiple of the longest trained length: 10 of 9 digits at 6.67 of 6. The length that training
left out is a case of its own, which stands at the one that is left out here whatever its multiple, and is told.
"""

from collections.abc import Iterable, Sequence

from lengen import plotting
from lengen.measures import trained
from lengen.plotting import Value
from lengen.records import Run
from papers.random_spaces import lengths

Pair = tuple[Run, Value]
"""A run, and a published value of one length beside it."""


def place(run: Run, value: Value) -> float | None:
    """The length of this run that a value stands at; None for values of several lengths, and where there is none."""
    span = plotting.published.here(value, trained(run))
    return span[1] if span is not None and value.lengths[0] == value.lengths[1] else None


def times(length: float, longest: int) -> str:
    """A length as a multiple of the longest trained one.

    >>> times(10, 9), times(8, 6)
    ('1.11×', '1.33×')
    """
    return f"{length / longest:.3g}×"


def sizes(drawn: Iterable[Pair]) -> str:
    """Both trained lengths, and which values stand at the length that was left out instead of at their multiple."""
    pairs = list(drawn)
    trained_to = dict.fromkeys((value.trained[0], lengths.trained(run)[-1]) for run, value in pairs)
    there, here = (plotting.listed([str(size) for size in some]) for some in zip(*trained_to, strict=True))
    same = ", at the same multiples of that" * any(not _moved(run, value) for run, value in pairs)
    gaps = sorted({(value.lengths[1], place(run, value) or 0.0) for run, value in pairs if _moved(run, value)})
    apart = [
        f"{length} digits, the length left out there, stand at {at:g}, the one left out here" for length, at in gaps
    ]
    return "; ".join([f"trained to {there} digits where ours are trained to {here}{same}", *apart])


def _moved(run: Run, value: Value) -> bool:
    """Whether a value stands at another multiple, as lengths that were left out do."""
    at = place(run, value)
    return at is not None and round(at * value.trained[0] - value.lengths[1] * lengths.trained(run)[-1], 6) != 0


def without(left: Sequence[Pair]) -> str:
    """The sentence on values that have no place here; empty where all have one."""
    found: dict[int, set[int]] = {}
    for _, value in left:
        found.setdefault(value.trained[0], set()).add(value.lengths[1])
    told = plotting.listed([f"{plotting.spans(some)} of {longest}" for longest, some in sorted(found.items())])
    several = sum(map(len, found.values())) > 1
    what = "multiples that no length tested here has" if several else "a multiple that no length tested here has"
    return f"Not drawn: published at {told} digits, {what}. " if told else ""

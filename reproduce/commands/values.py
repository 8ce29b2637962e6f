"""Values of the command line: a text enters, a value leaves, or one sentence that names what was expected."""

import argparse
import re
from collections.abc import Callable
from typing import Any

MOST_SEEDS = 1000


def seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of ``--seeds``: ``5`` is 5, ``0..2`` and ``0-2`` are 0, 1, 2, ``0,2`` is 0 and 2; each once.

    >>> seeds("5"), seeds("0..2"), seeds("0-2"), seeds("0,2"), seeds("0..1,7")
    ((5,), (0, 1, 2), (0, 1, 2), (0, 2), (0, 1, 7))
    """
    chosen: list[int] = []
    for part in text.split(","):
        first, dots, last = re.sub(r"(?<=\d)-(?=\d)", "..", part.strip()).partition("..")
        if not _is_whole(first) or (dots and not _is_whole(last)):
            raise argparse.ArgumentTypeError(f"'{text}' is no list of seeds: expected 5, 0..2 or 0,2")
        if dots and int(last) < int(first):
            raise argparse.ArgumentTypeError(f"'{text}' counts down: expected the smaller seed first, {last}..{first}")
        if dots and int(last) - int(first) >= MOST_SEEDS:
            raise argparse.ArgumentTypeError(f"'{text}' names more than {MOST_SEEDS} seeds")
        chosen += range(int(first), int(last if dots else first) + 1)
    return tuple(dict.fromkeys(chosen))


def seed(text: str) -> int:
    """Return one seed."""
    if not _is_whole(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: expected a whole number from 0")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number from 1."""
    if not (_is_whole(text) and int(text) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of them: expected a whole number from 1")
    return int(text)


def file(*endings: str) -> Callable[[str], str]:
    """Return a parser of file names that takes those with one of the endings; without endings any file or folder.

    >>> file(".csv")("scores.csv"), file()("out")
    ('scores.csv', 'out')
    """

    def read(text: str) -> str:
        if text.strip() and text.isprintable() and (not endings or text.endswith(endings)):
            return text
        raise argparse.ArgumentTypeError(
            f"'{text}' is no such name: expected one {' or '.join(endings) or 'of a file'}"
        )

    return read


def steps(text: str) -> range:
    """Return the steps of ``--steps``.

    >>> steps("0..99"), steps("5")
    (range(0, 100), range(5, 6))
    """
    first, dots, last = text.partition("..")
    if not (_is_whole(first) and (not dots or _is_whole(last))):
        raise argparse.ArgumentTypeError(f"'{text}' is no range of steps: expected 0..99 or 5")
    if dots and int(last) < int(first):
        raise argparse.ArgumentTypeError(f"'{text}' counts down: expected the smaller step first, {last}..{first}")
    return range(int(first), int(last if dots else first) + 1)


def share_of(least: int) -> Callable[[str], float]:
    """Return a reader of a number of cores or GPUs: a whole number from ``least``, or a part of one.

    >>> share_of(0)("0.25"), share_of(1)("2")
    (0.25, 2.0)
    """

    def read(text: str) -> float:
        whole, _, part = text.partition(".")
        if _is_whole(whole or "0") and (not part or _is_whole(part)) and (whole or part):
            number = float(text)
            if (number.is_integer() and number >= least) or 0 < number < 1:
                return number
        expected = f"expected a whole number from {least}, or a part of one such as 0.25"
        raise argparse.ArgumentTypeError(f"'{text}' is no number of cores or GPUs: {expected}")

    return read


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


class Joined(argparse.Action):
    """Several words as one, between spaces; none of them: None, or refused if one is needed."""

    def __call__(self, parser: Any, options: argparse.Namespace, values: Any, option: str | None = None) -> None:
        if self.nargs == "+" and not "".join(values):
            raise argparse.ArgumentError(self, "expected a selector, such as paper1 or paper1/fig1; list has them all")
        setattr(options, self.dest, " ".join(values) or None)
        options.several = True  # more may stand behind options

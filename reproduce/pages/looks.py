"""Looks of the answers: in a sentence, on a terminal, in a picture. Another vocabulary changes this table."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from reproduce.comparison.recorded import FAILS, HOLDS, REPAIRED, UNSURE, WORDS


class Look(NamedTuple):
    """Look of an answer."""

    plural: str
    colour: str
    """On a terminal."""
    fill: str
    """In a picture: colours that colour-blind eyes tell from one another."""
    sign: str
    """For those who see no colours."""


LOOKS: Mapping[str, Look] = {
    HOLDS: Look("hold", "green", "#7fb9dd", "✓"),
    REPAIRED: Look("hold once repaired", "green", "#dfeef7", "✓*"),
    FAILS: Look("do not hold", "red", "#f0a35e", "✗"),
    UNSURE: Look(UNSURE, "yellow", "#e4e4e4", "?"),
}


def plural(word: str, count: int) -> str:
    """Return an answer as so many statements have it."""
    return word if count == 1 else LOOKS[word].plural


def counted(counts: Counter[str]) -> str:
    """Return the number of statements by answer in words, for each answer that any has."""
    return ", ".join(f"{counts[word]} {plural(word, counts[word])}" for word in WORDS if counts[word])

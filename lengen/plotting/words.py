"""Sentences about numbers: shares and what was found enter, words leave; for titles, which say what a figure found."""

import math
import re
from collections.abc import Mapping, Sequence


def share(value: float) -> str:
    """A share in per cent with as many digits as it takes not to look like 0 %, 100 % or a round threshold that it
    misses.

    >>> share(0.524), share(0.0), share(0.0004), share(1.0), share(0.9896), share(0.99), share(0.99996)
    ('52 %', '0 %', '0.04 %', '100 %', '98.96 %', '99 %', '99.996 %')
    >>> share(0.9487), share(0.95), share(0.952)
    ('94.87 %', '95 %', '95 %')
    """
    if math.isnan(value):
        return "not tested"
    percent = 100 * value
    if percent in (0, 100):
        return f"{percent:.0f} %"
    missed = round(percent) in (90, 95) and percent < round(percent)
    if percent > 98 or missed:  # never rounded to a whole number that it is not
        digits = next((digits for digits in (2, 3, 4) if float(f"{percent:.{digits}f}") != round(percent)), 6)
        return (f"{percent:.0f}" if percent == round(percent) else f"{percent:.{digits}f}".rstrip("0")) + " %"
    if percent >= 1:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if percent >= 0.1 else f"{max(percent, 0.01):.2f} %"


def ranked(shares: Mapping[str, float], named: int = 2) -> str:
    """What has which share, the largest first; of more than ``named`` the others together.

    >>> ranked({"a": 0.1, "b": 0.95, "c": 0.05, "d": 0.0})
    'b 95 %, a 10 %, the other two at most 5 %'
    >>> ranked({"a": 0.95, "b": 0.0, "c": 0.0, "d": 0.0}), ranked({"a": 0.0, "b": 0.0, "c": 0.0})
    ('a 95 %, the other three 0 %', 'all three 0 %')
    """
    known = sorted(((value, name) for name, value in shares.items() if value == value), key=lambda pair: -pair[0])
    if len(known) == named + 1:
        named += 1  # one other is named as well
    told = [f"{name} {share(value)}" for value, name in known]
    lowest = share(known[-1][0]) if known else ""
    alike = sum(share(value) == lowest for value, _ in known)
    if alike > 2:  # what ends alike is told together
        named = min(named, len(known) - alike)
    if rest := known[named:]:
        most = "at most " * (share(rest[0][0]) != lowest)
        told[named:] = [f"{'the other' if named else 'all'} {count(len(rest))} {most}{share(rest[0][0])}"]
    return ("; " if any("," in name for name in shares) else ", ").join(told)


def count(number: int) -> str:
    """A number in words up to twelve.

    >>> count(2), count(13)
    ('two', '13')
    """
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    return words[number] if number < len(words) else str(number)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a row.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def unbroken(line: str) -> str:
    """The same with spaces before signs that no line may begin with."""
    return re.sub(r" (?=[%×])", "\N{NO-BREAK SPACE}", line)


def alternatives(words: Sequence[str]) -> str:
    """Alternatives with what all begin or end with said once.

    >>> alternatives(["width 64", "width 128", "width 256"]), alternatives(["10K examples", "1M examples"])
    ('width 64, 128 or 256', '10K or 1M examples')
    >>> alternatives(["1 layer, 2 heads", "2 layers, 2 heads"])
    '1 layer, 2 heads; 2 layers, 2 heads'
    """
    if any("," in part for part in words):
        return "; ".join(words)
    first, last = ({part.partition(" ")[0] for part in words}, {part.rpartition(" ")[2] for part in words})
    if len(words) > 1 and len(first) == 1 and all(" " in part for part in words):
        return f"{first.pop()} {listed([part.partition(' ')[2] for part in words], 'or')}"
    if len(words) > 1 and len(last) == 1 and all(" " in part for part in words):
        return f"{listed([part.rpartition(' ')[0] for part in words], 'or')} {last.pop()}"
    return listed(words, "or")

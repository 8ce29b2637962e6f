"""Numbers as pages, tables and files show them."""

from collections.abc import Sequence


def number(value: float | None) -> str:
    """Return a number with at most two decimals, three below 0.005, nothing for None.

    >>> number(99.95), number(100.0), number(-0.0001), number(0.003), number(None)
    ('99.95', '100', '0', '0.003', '')
    """
    if value is None:
        return ""
    if abs(value) < 0.0005:
        return "0"
    return f"{value:.3f}" if abs(value) < 0.005 else f"{value:.2f}".rstrip("0").rstrip(".")


def neighbours(numbers: Sequence[int]) -> list[list[int]]:
    """Return numbers in groups of those that follow one another.

    >>> neighbours([1, 2, 3, 6])
    [[1, 2, 3], [6]]
    """
    parts: list[list[int]] = []
    for item in numbers:
        if parts and item == parts[-1][-1] + 1:
            parts[-1].append(item)
        else:
            parts.append([item])
    return parts


def span(numbers: Sequence[int]) -> str:
    """Return numbers as ranges of neighbours.

    >>> span((1, 2, 3, 4, 5, 6, 7, 9)), span((50,)), span((5, 10, 20))
    ('1-7 9', '50', '5 10 20')
    """
    parts = neighbours(numbers)
    return " ".join(f"{part[0]}-{part[-1]}" if len(part) > 2 else " ".join(map(str, part)) for part in parts)


def probability(p: float | None) -> str:
    """Return a probability with two digits; nothing for None."""
    return "" if p is None else f"{p:.2g}"

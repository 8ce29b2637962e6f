"""What was measured, in words: shares as percentages with one digit, their differences with a sign.

A value and the scale it stands on enter (`comparison.rows`), text leaves.
"""

import math
import re

from reproduce.comparison.rows import DIFFERENCE, SHARE, Row

NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


def show(value: object) -> str:
    """A value as text: four decimals, three significant digits where those would hide it, nothing for None or NaN.

    >>> show(0.9), show(3e-05), show(50000), show(True), show(None), show([1, 30])
    ('0.9000', '3e-05', '50000', 'true', '', '[1, 30]')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if value.is_integer() and abs(value) >= 10:
            return str(int(value))
        return f"{value:.3g}" if 0 < abs(value) < 1e-3 else f"{value:.4f}"
    return str(value)


def scale_of(*proportions: bool) -> str:
    """The scale of a value that was made of these: a share where all are proportions.

    >>> scale_of(True, True), scale_of(True, False)
    ('share', '')
    """
    return SHARE if all(proportions) else ""


def percent(value: float) -> str:
    """A share with one digit, more where that would be nothing.

    >>> percent(0.6503), percent(0.00031), percent(0.0), percent(-0.5)
    ('65.0 %', '0.03 %', '0.0 %', '-50.0 %')
    """
    return f"{100 * value:.1g} %" if 0 < abs(value) < 0.0005 else f"{100 * value:.1f} %"


def effect(value: object, scale: str) -> str:
    """A value on its scale; a difference of shares has a sign, and is in percentage points.

    >>> effect(0.6503, SHARE), effect(0.6503, DIFFERENCE), effect(-0.25, DIFFERENCE), effect(1.5, "")
    ('65.0 %', '+65.0 %', '-25.0 %', '1.5')
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
        return show(value)
    if scale == SHARE:
        return percent(value)
    if scale == DIFFERENCE:
        return ("+" if value > 0 else "") + percent(value)
    return f"{value:.4g}" if abs(value) < 1e4 else show(value)


def compared(row: Row) -> str:
    """What was measured: the two values whose difference a row is, else its value; at which length, where that is one.

    >>> row = Row(kind="claim", id="", place="", statement="", relation=">", published=0.0, aggregation="", ours=0.512,
    ...           profile="cpu", verdict="reproduced", scale=DIFFERENCE, left=0.524, right=0.012)
    >>> compared(row)
    '52.4 % against 1.2 %'
    >>> from dataclasses import replace
    >>> compared(replace(row, left_at="50", right_at="50"))
    '52.4 % against 1.2 % at length 50'
    >>> compared(replace(row, left_at="50"))
    '52.4 % at length 50 against 1.2 %'
    """
    at = [f" at length {length}" if length else "" for length in (row.left_at, row.right_at)]
    if row.left is None or row.right is None:
        return effect(row.ours, row.scale) + at[0]
    scale = SHARE if row.scale == DIFFERENCE else row.scale
    if at[0] == at[1]:
        at[0] = ""
    return f"{effect(row.left, scale)}{at[0]} against {effect(row.right, scale)}{at[1]}"


def span(low: float, high: float, scale: str) -> str:
    """An interval on a scale; the unit of a share is said by the value beside it.

    >>> span(0.1155, 1.0, SHARE), span(-0.1489, 0.8848, DIFFERENCE), span(0.5, 1.25, "")
    ('11.6 to 100.0', '-14.9 to +88.5', '0.5 to 1.25')
    """
    return " to ".join(effect(end, scale).removesuffix(" %") for end in (low, high))


def required(row: Row) -> str:
    """What is asked of a value, in its unit; of a band, which a row has as text, both ends.

    >>> band = Row(kind="claim", id="", place="", statement="", relation="~", published="0.3 to 0.5", aggregation="",
    ...            profile="cpu", verdict="undecided", scale=SHARE)
    >>> required(band)
    '~ 30.0 to 50.0 %'
    """
    if not isinstance(row.published, str) or not row.scale:
        return f"{row.relation} {effect(row.published, row.scale)}"
    text = re.sub(NUMBER, lambda found: effect(float(found[0]), row.scale), row.published)
    return f"{row.relation} {text.replace(' % to ', ' to ')}"


def asked_of(row: Row) -> str:
    """`required`, and whether by the paper's number or ours."""
    return f"{row.by} {required(row)}".lstrip()


def seeds(count: int | None) -> str:
    """So many seeds, in words; nothing where there are none.

    >>> seeds(1), seeds(3), seeds(None)
    ('1 seed', '3 seeds', '')
    """
    return f"{count} seed{'s' * (count != 1)}" if count else ""


def interval(row: Row) -> str:
    """The 95 % interval of a row in brackets, after a space; nothing where there is none."""
    if row.ci_low is None or row.ci_high is None:
        return ""
    return f" [{span(row.ci_low, row.ci_high, row.scale)}]"

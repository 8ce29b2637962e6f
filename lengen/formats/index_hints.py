"""Index hints: a mark before each digit, the same one before digits of the same place.

    plain       $57+48=105$          marks      $B5A7+B4A8=C1B0A5$
    reversed    $75+84=501$          marks      $A7B5+A8B4=A5B0C1$

Zhou H. et al. 2023, "What Algorithms can Transformers Learn?" (2310.16028), where hints let parity (with a scratchpad)
and addition reach lengths that they do not reach without; Zhou Y. et al. 2024, "Transformers Can Achieve Length
Generalization But Not Robustly" (2402.09371): reversed sums with hints, FIRE and randomised ids go from 40 trained
digits to 100 with more than 98 % in the best of their seeds, and vary largely between seeds.

Which digits share a place is what the layouts' first coordinate says: by significance in numbers, by order in sequences
and strings (a reversed string: where the digit came from). In training the marks of an example begin at random, so that
every one of them is trained; in testing they begin with the first, as in the code of "Position Coupling: Improving
Length Generalization of Arithmetic Transformers Using Task Structure" (``AdditionDatasetWithIndexHints``). The marks of
a response are trained and written like its digits; `lengen.data.reading.final_answer` reads an answer without them.
"""

LATIN = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
EXTENDED = 0x100
"""Code point from which further marks are taken: letters of other European languages."""


def index_hints(number: int) -> tuple[str, ...]:
    """Return the first ``number`` marks: none of them is a digit of a base up to 16, an operator or a separator.

    >>> "".join(index_hints(28))
    'ABCDEFGHIJKLMNOPQRSTUVWXYZĀā'
    """
    further = max(0, number - len(LATIN))
    return (*LATIN[:number], *(chr(EXTENDED + place) for place in range(further)))

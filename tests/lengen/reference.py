"""How problems are written, said once more in plain strings and integers: slow, and sharing no code with `lengen`.

What enters is the options and the operands as decimal strings; what leaves is text and coordinates, the place a token
has in each level before the offset is added (None: the level says nothing of it). The rules, from Sections 3.1, 4.1
and 5.1 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count" and its authors' code:

- a digit of significance k (least significant: 1) has coordinate k in a level that couples significance;
- a separator has 0 there; in the query it belongs to the number it follows (precedes, where the query is reversed),
  in the response to the number it precedes;
- the i-th number of query or response has coordinate i - 1 in a level that couples numbers.
"""

from typing import NamedTuple

from lengen import DataSpec


class Token(NamedTuple):
    character: str
    coordinates: tuple[int | None, ...]
    target: bool


def write(data: DataSpec, operands: list[str]) -> list[Token]:
    """Every token of one problem, from ``$`` to ``$``."""
    write = {"addition": _addition, "multiplication": _multiplication, "parity": _parity}[data.task.kind]
    query, response = write(data.format, operands)
    if data.position_ids.kind == "coupled":  # levels that nobody reads leave no trace
        query, response = ([(c, k[: data.position_ids.levels]) for c, k in side] for side in (query, response))
    levels = len(response[0][1])
    end = ("$", (None,) * levels)
    return [Token(*token, False) for token in [end, *query]] + [Token(*token, True) for token in [*response, end]]


def ids(tokens: list[Token], offsets: list[int]) -> list[list[int]]:
    """Coupled ids, one row per level: offset plus coordinate, 0 where there is none."""
    return [
        [0 if token.coordinates[level] is None else token.coordinates[level] + offset for token in tokens]
        for level, offset in enumerate(offsets)
    ]


def highest(tokens: list[Token], level: int) -> int:
    return max(t.coordinates[level] for t in tokens if t.coordinates[level] is not None)


def answer(data: DataSpec, operands: list[str]) -> str:
    if data.task.kind == "parity":
        return str(operands[0].count("1") % 2)
    numbers = [int(text) for text in operands]
    return str(sum(numbers) if data.task.kind == "addition" else numbers[0] * numbers[1])


def _digits(number: int, width: int, reverse: bool) -> list[tuple[str, int]]:
    """(character, significance) in writing order; width 0 is as many as needed."""
    text = str(number).rjust(width, "0")
    pairs = [(character, len(text) - place) for place, character in enumerate(text)]
    return pairs[::-1] if reverse else pairs


def _addition(format, operands):
    numbers = [int(text) for text in operands]
    nines = int("9" * max(len(text) for text in operands))
    width = len(str(nines * len(numbers))) if format.pad_response else 0
    sums = [sum(numbers[:i]) for i in range(len(numbers) + 1)] if format.scratchpad else [sum(numbers)]

    query = []
    for i, number in enumerate(numbers):
        written = [(c, (k, i)) for c, k in _digits(number, width, format.reverse_query)]
        operator = [("+", (0, i))]
        query += operator + written if format.reverse_query else written + operator
    query = query[1:] if format.reverse_query else query[:-1]
    response = []
    for j, number in enumerate(sums):
        response += [(">" if j else "=", (0, j))]
        response += [(c, (k, j)) for c, k in _digits(number, width, format.reverse_response)]
    return [*query, response[0]], response[1:]


def _multiplication(format, operands):
    a, b = (int(text) for text in operands)
    m, n = (len(text) for text in operands)
    first, second = _digits(a, m, format.reverse_query), _digits(b, n, format.reverse_query)
    if format.kind == "linear":
        width = m + n if format.pad_response else 0
        sums = [a * (b % 10**place) for place in range(1, n + 1)] if format.scratchpad else [a * b]
        response = []
        for j, total in enumerate(sums):
            response += [(">", (0, j))] if j else []
            response += [(c, (k, j)) for c, k in _digits(total, width, format.reverse_response)]
        numbers = [(c, (k, 0)) for c, k in first], [(c, (k, 1)) for c, k in second]
        return [*numbers[0], ("*", (0, int(format.reverse_query))), *numbers[1], ("=", (0, 0))], response
    query = [(c, (k, None, None)) for c, k in first] + [("*", (None, None, None))]
    query += [(c, (None, k - 1, None)) for c, k in second]
    digits_of_b = [int(c) for c in reversed(operands[1])]
    response = []
    for i, digit in enumerate(digits_of_b):  # stage 1, each seen shifted by i places in the third level
        response += [("+" if i else "=", (0, i, i))]
        response += [(c, (k, i, i + k)) for c, k in _digits(a * digit, m + 1, format.reverse_response)]
    total = 0
    for j, digit in enumerate(digits_of_b):  # stage 2
        total += a * digit * 10**j
        response += [(">" if j else "=", (None, j, 0))]
        response += [(c, (None, j, k)) for c, k in _digits(total, m + n, format.reverse_response)]
    return [*query, response[0]], response[1:]


def _parity(format, operands):
    bits = operands[0]
    if not format.scratchpad:
        return [*((bit, (0, 0)) for bit in bits), ("=", (1, 0))], [(str(bits.count("1") % 2), (0, 0))]
    query = [(bit, (k, 0)) for k, bit in enumerate(bits, start=1)]
    running = [(str(bits[:k].count("1") % 2), (k, 0)) for k in range(1, len(bits) + 1)]
    return [*query, ("=", (0, 0))], running

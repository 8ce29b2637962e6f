"""How one line holds a problem of any task, said once more in plain strings and Python integers: slow, and sharing no
code with `lengen`. What enters is a task, the options of a line and the operands as text; what leaves is tokens.

Rows of digits are lists of symbols, numbers least significant digit first, sequences and strings as they are read.
"""

import itertools
import statistics
from typing import Any, NamedTuple

LETTERS = "0123456789abcdef"
OPERATORS = {
    "addition": "+", "two_operand_addition": "+", "multiplication": "*", "pair_addition": "+", "n_by_one": "*",
    "digit_sums": "+",
    "listops_sm": "%", "listops_max": ">", "listops_min": "<", "next_larger": "⊥", "fill": "⊥",
}  # fmt: skip
RUNNING = {
    "running_xor": lambda so_far, digit, base: (so_far + digit) % 2,
    "listops_sm": lambda so_far, digit, base: (so_far + digit) % base,
    "listops_max": lambda so_far, digit, base: max(so_far, digit),
    "listops_min": lambda so_far, digit, base: min(so_far, digit),
}
FIXED = ("successor", "pair_addition", "n_by_one", "digit_sums", *RUNNING)
SEQUENCES = ("sorting", "next_larger", "count", "fill", "listops")
STRINGS = ("parity", "copy", "reverse")


class Plain(NamedTuple):
    """What a task says of one problem."""

    operands: list[list[str]]
    answer: list[str]
    largest: int
    """Digits of the longest answer that operands of these lengths could have."""
    stages: list[list[str]]
    text: str
    """The answer as a person writes it."""
    shortens: bool = False
    """Leading zeros of answers are not written where nothing pads them."""
    shortens_stages: bool = False
    final: str | None = None
    """The last token, where that is the answer."""


def rows(task: Any, typed: list[str], width: int = 0) -> Plain:
    """Rows of a problem; with a ``width`` operands are padded to it before anything is computed."""
    kind = task.kind
    if kind in SEQUENCES:
        return of_sequences(kind, typed)
    if kind in STRINGS:
        return of_strings(kind, typed[0])
    if kind in FIXED:
        return fixed(kind, task.base, typed, width)
    numbers = [int(text) for text in typed]
    shown = [str(number) for number in numbers]
    held = [list(text[::-1]) for text in shown]
    longest = max(map(len, shown))
    if kind in ("increment", "carries"):
        carry, pairs = 1, []
        for digit in held[0]:
            carry, value = divmod(int(digit) + carry, 10)
            pairs.append((str(value), str(carry)))
        pairs += [("1", "0")] if carry else []
        if kind == "carries":
            text = "".join(f"{value}↑{mark}" for value, mark in pairs)
            return Plain(held, list(text), len(text), [], text)
        digits = [value for value, _ in pairs]
        return Plain(held, digits, len(digits), [[mark for _, mark in pairs]], str(numbers[0] + 1))
    if kind == "multiplication":
        a, b = numbers
        sums = [a * (b % 10**place) for place in range(1, len(shown[1]))]
        largest, answer = len(shown[0]) + len(shown[1]), a * b
    else:
        sums = [sum(numbers[:k]) for k in range(len(numbers))]
        largest, answer = len(str(len(numbers) * (10**longest - 1))), sum(numbers)
    stages = [list(str(total)[::-1]) for total in sums]
    return Plain(held, list(str(answer)[::-1]), largest, stages, str(answer), True, True)


OPERATIONS = {
    "[MAX": max,
    "[MIN": min,
    "[MED": lambda values: int(statistics.median(values)),
    "[SM": lambda values: sum(values) % 10,
}


def value(words: list[str]) -> int:
    """What an expression of ListOps comes to; it must be one, and each operation has arguments."""
    open_ones: list[list[Any]] = [[]]
    for word in words:
        if word in OPERATIONS:
            open_ones.append([word])
        elif word == "]":
            operation, *arguments = open_ones.pop()
            open_ones[-1].append(OPERATIONS[operation](arguments))
        else:
            open_ones[-1].append(int(word))
    ((found,),) = open_ones
    return found


def of_sequences(kind: str, typed: list[str]) -> Plain:
    if kind == "listops":
        answer = [str(value(typed))]
        return Plain([typed], answer, 1, [], answer[0])
    if kind == "sorting":
        answer = sorted(typed, key=int)
        return Plain([typed], answer, len(answer), [], " ".join(answer))
    if kind == "next_larger":
        *sequence, one = typed
        larger = sorted((other for other in sequence if int(other) > int(one)), key=int)
        answer = (larger or [one])[0]
        return Plain([sequence, [one]], [answer], 1, [], answer)
    if kind == "count":
        answer = min(sorted(set(typed), key=int), key=typed.count)
        return Plain([typed], [answer], 1, [], answer)
    one, copies, begun = typed[0], int(typed[1]), int(typed[2])
    rest = [one] * (copies - begun)
    return Plain([[one] * copies, [one] * begun], rest, len(rest), [], " ".join(rest))


def of_strings(kind: str, text: str) -> Plain:
    if kind == "parity":
        prefixes = [str(text[:k].count("1") % 2) for k in range(1, len(text) + 1)]
        return Plain([list(text)], [prefixes[-1]], 1, [prefixes], prefixes[-1], final=prefixes[-1])
    answer = text if kind == "copy" else text[::-1]
    return Plain([list(text)], list(answer), len(text), [], answer)


def fixed(kind: str, base: int, typed: list[str], width: int) -> Plain:
    shown = [text if kind in RUNNING else text.lstrip("0") or "0" for text in typed]
    neutral = LETTERS[base - 1] if kind == "listops_min" else "0"
    held = [
        list((text.rjust(width, neutral) if i == 0 or kind != "n_by_one" else text)[::-1])
        for i, text in enumerate(shown)
    ]
    if kind in RUNNING:
        so_far, results = int(held[0][0], base), []
        for place, digit in enumerate(held[0]):
            so_far = RUNNING[kind](so_far, int(digit, base), base) if place else so_far
            results.append(LETTERS[so_far])
        return Plain(held, results, len(results), [], results[-1], final=results[-1])
    numbers = [int(text, base) for text in shown]
    if kind == "digit_sums":
        both = itertools.zip_longest(*(text[::-1] for text in shown), fillvalue="0")
        text = "".join(LETTERS[(int(a, base) + int(b, base)) % base] for a, b in both)[::-1].lstrip("0") or "0"
        return Plain(held, list(text[::-1]), max(map(len, shown)) + 1, [], text, True)
    total = {"successor": numbers[0] + 1, "pair_addition": sum(numbers), "n_by_one": numbers[0] * numbers[-1]}[kind]
    digits = []
    while total or not digits:
        total, digit = divmod(total, base)
        digits.append(LETTERS[digit])
    longest = max(map(len, shown)) + 1
    places, carries = width or longest, []
    for place in range(places):  # what the places below hand on
        below = [number % base**place for number in numbers]
        lower = {"successor": below[0] + (place > 0), "pair_addition": sum(below), "n_by_one": below[0] * numbers[-1]}
        carries.append(LETTERS[lower[kind] // base**place])
    return Plain(held, digits, longest, [carries], "".join(reversed(digits)), True)


def line(task: Any, format: Any, typed: list[str]) -> tuple[list[str], list[str]]:
    """Tokens of query and response."""
    kind, found = task.kind, rows(task, typed, format.width)
    forwards = kind in SEQUENCES or kind in STRINGS

    def row(digits: list[str], room: int, reverse: bool) -> list[str]:
        zeros = ["0"] * (max(room, format.width, format.pad_to) - len(digits))
        whole = [*digits, *zeros]
        return whole if forwards or reverse else whole[::-1]

    query = ["$"] if format.begin else []
    operator = OPERATORS.get(kind, "")
    if kind.startswith("listops_"):
        query.append(operator)
    for i, operand in enumerate(found.operands):
        if i:
            query.append(operator)
        room = found.largest if format.pad_query else 0
        single = kind == "n_by_one" and i == 1
        query += operand if single else row(operand, room, format.reverse_query)
    if kind != "next_larger":
        query.append(format.separator)
    room = found.largest if format.pad_response or not found.shortens else 0
    parts = []
    if format.scratchpad:
        for stage in found.stages:
            padded = format.pad_response and found.shortens_stages
            parts.append(row(stage, found.largest if padded else 0, format.reverse_response))
    if not (kind == "parity" and format.scratchpad):
        parts.append(row(found.answer, room, format.reverse_response))
    response: list[str] = []
    for i, part in enumerate(parts):
        response += [">", *part] if i else part
    if kind == "fill":
        response += ["PAD"] * task.padding
    return query, [*response, "$"] if format.end else response

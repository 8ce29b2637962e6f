"""Measures of this paper alone, and the overlap of attention with that of the construction of Theorem 4.1.

Section 4.4 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count" calls trained attention
"strikingly similar" to the construction's. Here similarity is a number: the overlap of two softmax rows is the sum over
keys of the smaller weight, 1 for equal rows and 0 for rows that share no key.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lengen.metrics.run_measures import Measure, Missing, OfRun, short
from lengen.results.records import AttentionMap, KeyCount, Run

HEADS = ("column to come", "column just written", "place to come", "same place")
"""Targets of heads 1 to 4 of the construction."""


def coordinates(tokens: Sequence[str]) -> np.ndarray:
    """Return (2, T) place of a digit within its number, and number, of each token (D.4.2).

    The least significant place is 1.

    '+' belongs to the operand before it, '=' and '>' to the number they open; those symbols have place 0, '$' has -1.

    >>> coordinates("$01+02=00>10>30").tolist()[0]
    [-1, 2, 1, 0, 2, 1, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    >>> coordinates("$01+02=00>10>30").tolist()[1]
    [-1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    """
    text = "".join(tokens)
    query, _, response = text.partition("=")
    places, numbers = [-1], [-1]
    for number, operand in enumerate(query[1:].split("+")):
        places += range(len(operand), -1, -1)  # the place 0 of the last operand is that of "="
        numbers += [number] * (len(operand) + 1)
    numbers[-1] = 0
    for number, result in enumerate(response.split(">")):
        places += range(0 if number else 1, len(result) + 1)
        numbers += [number] * (len(result) + bool(number))
    return np.array([places, numbers])


def predicted(tokens: Sequence[str]) -> np.ndarray:
    """Return (4, T, T) attention of the construction on these tokens, in closed form.

    A query shares its weight equally between '$' and all keys up to itself that it matches (D.5).
    """
    place, number = coordinates(tokens)
    next_place, same_place = place[:, None] + 1 == place, place[:, None] == place
    before, same = number[:, None] == number + 1, number[:, None] == number
    matches = np.stack([next_place & before, same_place & before, next_place, same_place & same])
    matches[:, place < 0] = False
    matches[:, :, place < 0] = True
    matches &= np.tri(len(place), dtype=bool)
    weights: np.ndarray = matches / matches.sum(axis=2, keepdims=True)
    return weights


def overlaps(trained: np.ndarray, pattern: np.ndarray, steps: slice, start: bool = True) -> np.ndarray:
    """Return (heads, 4) overlap of each head (heads, T, T) with each predicted one (4, T, T).

    It is the mean over the rows ``steps``.

    Without ``start`` the first token is left out and rows are scaled to sum to one again; rows of the prediction that
    have nothing else are left out; nan if no row is left.
    """
    trained, pattern = trained[:, steps].astype(float), pattern[:, steps].astype(float)
    if not start:
        trained, pattern = (_scaled(rows[:, :, 1:]) for rows in (trained, pattern))
    shared = np.minimum(trained[:, None], pattern[None]).sum(axis=3)
    read = pattern.sum(axis=2) > 0
    total, rows = (shared * read).sum(axis=2), np.broadcast_to(read.sum(axis=1), shared.shape[:2])
    shares: np.ndarray = np.divide(total, rows, out=np.full(total.shape, np.nan), where=rows > 0)
    return shares


def _scaled(rows: np.ndarray) -> np.ndarray:
    total = rows.sum(axis=2, keepdims=True)
    scaled: np.ndarray = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    return scaled


def of_map(record: AttentionMap, start: bool = True) -> np.ndarray:
    """Return (layers, heads, 4) overlap of every head of an averaged map, over steps that predict response tokens."""
    pattern = predicted(record.tokens)
    steps = slice(record.tokens.index("="), None)
    return np.stack([overlaps(layer, pattern, steps, start) for layer in record.weights])


def nearest(shares: np.ndarray) -> list[tuple[int, int]]:
    """Return for each head of the construction the (layer, head) of a trained one, by (layers, heads, 4) overlaps.

    Different heads if there are enough of them, so that the sum of their overlaps is largest.
    """
    heads = list(np.ndindex(*shares.shape[:2]))
    if len(heads) > 8:  # so many that the best of each are tried only
        best = {place for made in range(4) for place in sorted(heads, key=lambda place: -shares[place][made])[:4]}
        heads = sorted(best)
    if len(heads) < 4:
        return [max(heads, key=lambda place: shares[place][made]) for made in range(4)]
    orders = itertools.permutations(heads, 4)
    chosen = max(orders, key=lambda order: sum(shares[place][made] for made, place in enumerate(order)))
    return [(int(layer), int(head)) for layer, head in chosen]


def digit_heads(record: AttentionMap) -> float:
    """Find the construction's two digit-reading heads in a model.

    For each of them the largest overlap of any trained head counts, the start token left out; returned is the mean of
    both.
    """
    return float(of_map(record, start=False)[:, :, :2].max(axis=(0, 1)).mean())


def operands_read(record: AttentionMap) -> float:
    """Return the share of operands that the broadest head reads at once (Figure 7b: eleven lines for eleven).

    At a step that predicts a digit a head reads an operand where the digit of one place in it, the same for all
    operands, holds at least half of an even share of the attention, 1 / (2 operands); the place with most of them
    counts. Mean over steps, largest over heads. Spread over all digits attention reads none.
    """
    place, _ = coordinates(record.tokens)
    border = record.tokens.index("=")
    operands = record.tokens[:border].count("+") + 1
    steps = [step for step in range(border, len(record.tokens) - 1) if record.tokens[step + 1].isdigit()]
    keys = np.arange(len(record.tokens)) < border
    columns = [keys & (place == digit) for digit in range(1, place[keys].max() + 1)]
    read = record.weights[:, :, steps] >= 1 / (2 * operands)
    counts = np.stack([read[..., column].sum(axis=-1) for column in columns])
    return float(counts.max(axis=0).mean(axis=-1).max() / operands)


def uniform(record: AttentionMap, start: bool = True) -> np.ndarray:
    """Return (4,) overlap of attention that is spread evenly over all that a query sees: what no structure gives."""
    size = len(record.tokens)
    even = np.tri(size) / np.arange(1, size + 1)[:, None]
    shares: np.ndarray = overlaps(even[None], predicted(record.tokens), slice(record.tokens.index("="), None), start)[0]
    return shares


def _mean_keys(rows: Sequence[KeyCount]) -> float:
    return sum(row.keys_sum for row in rows) / max(1, sum(row.steps for row in rows))


def keys_growth(rows: Sequence[KeyCount]) -> tuple[float, int]:
    """Return the growth exponent of the keys a step attends to, as operands are added, and the steps it rests on.

    ``keys(m)`` is the number of keys that hold 90 % of the attention of a prediction step, averaged over steps and
    heads of all layers at operand count m. The exponent is log(keys(M) / keys(m)) / log(M / m) between the smallest
    count m and the largest M measured at one operand length (the length with the widest span of counts, then the
    smallest): 0 when the number of keys is constant, 1 when it grows in proportion to the operands.
    """
    cells: dict[int, dict[int, list[KeyCount]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[row.length][row.count].append(row)
    spans = [(max(counts) / min(counts), -length) for length, counts in cells.items() if len(counts) > 1]
    if not spans:
        raise Missing("keys were not counted at two operand counts of one length")
    counts = cells[-max(spans)[1]]
    few, many = counts[min(counts)], counts[max(counts)]
    if not _mean_keys(few) or not _mean_keys(many):
        raise Missing("keys were counted over no step")
    exponent = math.log(_mean_keys(many) / _mean_keys(few)) / math.log(max(counts) / min(counts))
    return exponent, sum(row.steps for row in [*few, *many])


def _keys(run: Run) -> tuple[float, int]:
    try:
        exponent, steps = keys_growth(run.key_counts)
    except Missing as missing:
        raise Missing(f"{short(run.experiment)}: {missing}") from None
    return exponent * steps, steps


def _mapped(measured: Callable[[AttentionMap], float]) -> Callable[[Run], tuple[float, int]]:
    """Return a number of the recorded map; `Missing` if no row of it is measured, as without a scratchpad."""

    def value(run: Run) -> tuple[float, int]:
        if run.attention is None:
            raise Missing(f"{short(run.experiment)} recorded no attention")
        if math.isnan(number := measured(run.attention)):
            raise Missing(f"the attention map of {short(run.experiment)} has no row that this is measured on")
        return number, 1

    return value


MEASURES: Mapping[str, Measure] = {
    "keys_growth": OfRun("growth exponent of keys per step", _keys),
    "construction_overlap": OfRun("overlap of attention with Theorem 4.1", _mapped(digit_heads)),
    "operands_read": OfRun("share of the operands that one head reads at once", _mapped(operands_read)),
}

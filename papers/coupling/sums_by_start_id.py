"""Sums by length and start id: position coupling tests at start id 1 alone, and trains at all.

python -m papers.coupling.sums_by_start_id      # measure two stored models, write a table of each, draw the first
"""

from typing import Any, NamedTuple

from lengen.plotting.findings import Finding, each, rate_map


class Model(NamedTuple):
    """A stored model, and the problems that it is measured on."""

    table: Finding
    experiment: str
    trained: int
    """Digits of the longest trained operand."""
    operands: int
    """Operands of each problem, the most that are trained."""
    lengths: tuple[int, ...]
    starts: tuple[int, ...]
    """Start ids; those are left out at which a length does not fit."""
    examples: int
    """Problems of each length, the same at every start id; those of the figure."""


PUBLISHED = Model(
    Finding(__file__, "sums-by-start-id"), "coupling/fig10/2L2H", trained=10, operands=10,
    lengths=(5, 10, 11, 12, 15, 20, 25), starts=(1, 2, 3, 5, 8, 11, 14, 17, 20, 23, 26, 29), examples=100,
)  # fmt: skip
SHORTER = Model(
    Finding(__file__, "short-sums-by-start-id"), "coupling/fig1/coupling-scratchpad", trained=3, operands=3,
    lengths=tuple(range(1, 10)), starts=tuple(range(1, 13)), examples=200,
)  # fmt: skip


def measure(chosen: Model) -> list[dict[str, int]]:
    """Count the right sums of a stored model, scratchpad included, by operand length and start id of the digits."""
    import torch

    import lengen
    from lengen.decoding.decoding import verify
    from lengen.training.model_building import few_threads

    model = lengen.load(chosen.experiment)
    (largest, _) = model.spec.data.position_ids.sizes
    rows = []
    for length in each(chosen.lengths, "digits:"):
        batch = model.data.writer.write(model.data.test(length, chosen.operands, chosen.examples))
        digits = batch.ids[0].clone()  # as in testing, at start id 1
        for start in (start for start in chosen.starts if start <= largest - int(digits.max()) + 1):
            batch.ids[0] = digits + (start - 1) * (digits > 0)
            with torch.no_grad(), few_threads(model.module):
                correct = int(verify(model.module, batch).correct.sum())
            rows.append({"length": length, "start": start, "n": chosen.examples, "correct": correct})
    return rows


def draw(rows: list[dict[str, int]]) -> Any:
    """Draw exact match in percent as a heat map of operand length by start id, the trained lengths in red."""
    labels = {"length": "Digits of ten operands", "start": "Start id"}
    trained = sum(length <= PUBLISHED.trained for length in PUBLISHED.lengths)
    return rate_map(rows, labels, (3.3, 2.4), trained, annot=True, fmt=".0f", cbar=False)


def main() -> None:
    """Measure, write the tables, draw the picture."""
    for model in (PUBLISHED, SHORTER):
        model.table.write(measure(model))
    says = "Exact match (%) of sums by length and start id: equal in the trained range, unequal beyond it"
    PUBLISHED.table.picture(lambda: draw(PUBLISHED.table.counts()), says)


if __name__ == "__main__":
    main()

"""Sums of ten operands by length and start id: position coupling tests at start id 1 alone, and trains at all.

    python -m papers.coupling.start_ids      # measure the stored model, write the table and draw it
"""

from typing import Any

from lengen.plotting.finding import Finding, each, rate_map

FINDING = Finding("sums-by-start-id")
MODEL = "coupling/fig10/2L2H"
LENGTHS = (5, 10, 11, 12, 15, 20, 25)
STARTS = (1, 2, 3, 5, 8, 11, 14, 17, 20, 23, 26, 29)
TRAINED = 10
"""Digits of the longest trained operand."""
COUNT = 10
"""Operands of each problem, the most that are trained."""
EXAMPLES = 100
"""Problems of each length, the same at every start id; those of Figure 10."""


def measure(examples: int = EXAMPLES) -> list[dict[str, int]]:
    """Count the right sums of the stored model, scratchpad included, by operand length and start id of the digits."""
    import torch

    import lengen
    from lengen.decoding.decoding import verify
    from lengen.training.threads import few_threads

    model = lengen.load(MODEL)
    (largest, _) = model.spec.data.position_ids.sizes
    rows = []
    for length in each(LENGTHS, "digits:"):
        batch = model.data.writer.write(model.data.test(length, COUNT, examples))
        digits = batch.ids[0].clone()  # as in testing, at start id 1
        for start in (start for start in STARTS if start <= largest - int(digits.max()) + 1):
            batch.ids[0] = digits + (start - 1) * (digits > 0)
            with torch.no_grad(), few_threads(model.module):
                correct = int(verify(model.module, batch).correct.sum())
            rows.append({"length": length, "start": start, "n": examples, "correct": correct})
    return rows


def draw(rows: list[dict[str, int]]) -> Any:
    """Draw exact match in percent as a heat map of operand length by start id, the trained lengths in red."""
    labels = {"length": "Digits of ten operands", "start": "Start id"}
    trained = sum(length <= TRAINED for length in LENGTHS)
    return rate_map(rows, labels, (3.3, 2.4), trained, annot=True, fmt=".0f", cbar=False)


def main() -> None:
    """Measure, write the table, draw the picture."""
    FINDING.write(measure())
    says = "Exact match (%) of sums by length and start id: equal in the trained range, unequal beyond it"
    FINDING.picture(lambda: draw(FINDING.counts()), says)


if __name__ == "__main__":
    main()

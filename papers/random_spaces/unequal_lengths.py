"""Abacus on sums of operands of unequal length: the test that Figure 4.5 leaves out.

python -m papers.random_spaces.unequal_lengths      # measure the stored model, write the table and draw it
"""

import sys
from typing import Any

from lengen.plotting.findings import Finding, rate_map

FINDING = Finding(__file__, "abacus-operand-lengths")
MODEL = "random_spaces/fig4.5/abacus"
LENGTHS = range(1, 13)
EXAMPLES = 100
"""Problems of each cell."""


def measure(examples: int = EXAMPLES) -> list[dict[str, Any]]:
    """Count right sums of the stored model by the length of the first and of the second operand."""
    import lengen

    print(f"measuring {MODEL}", file=sys.stderr)
    grid = lengen.load(MODEL).operand_lengths(list(LENGTHS), examples)
    return [
        {"first": first, "second": second, "n": modes[grid.mode]["n"], "correct": modes[grid.mode]["correct"]}
        for (first, second), modes in sorted(grid.scores.items())
    ]


def draw(rows: list[dict[str, Any]]) -> Any:
    """Draw exact match in percent as a heat map of first by second operand length."""
    labels = {"first": "Digits of the first operand", "second": "Digits of the second operand"}
    return rate_map(rows, labels, (3.3, 2.9), annot=True, fmt=".0f", cbar=False, square=True)


def main() -> None:
    """Measure, write the table, draw the picture."""
    FINDING.write(measure())
    says = "Exact match (%) of Abacus by operand lengths: right where they are equal, wrong elsewhere"
    FINDING.picture(lambda: draw(FINDING.counts()), says)


if __name__ == "__main__":
    main()

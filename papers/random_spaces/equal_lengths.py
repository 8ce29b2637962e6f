"""Abacus on sums of operands of unequal length: the test that Figure 4.5 leaves out.

    python -m papers.random_spaces.equal_lengths      # measure the stored model, write the table and draw it
"""

import csv
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "results" / "findings"
TABLE, PICTURE = FOLDER / "abacus-operand-lengths.csv", FOLDER / "abacus-operand-lengths.svg"
MODEL = "random_spaces/fig4.5/abacus"
LENGTHS = range(1, 8)
EXAMPLES = 100
"""Problems of each cell."""


def measure(examples: int = EXAMPLES) -> list[dict[str, int]]:
    """Count right sums of the stored model by the length of the first and of the second operand."""
    import lengen
    from lengen.inspection.operand_lengths import MODE

    grid = lengen.load(MODEL).operand_lengths(list(LENGTHS), examples)
    return [
        {"first": first, "second": second, "n": modes[MODE]["n"], "correct": modes[MODE]["correct"]}
        for (first, second), modes in sorted(grid.scores.items())
    ]


def stored() -> list[dict[str, int]]:
    """Return the rows of the committed table."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]


def draw(rows: list[dict[str, int]]) -> Any:
    """Draw exact match in percent as a heat map of first by second operand length."""
    import pandas as pd
    import seaborn as sns
    from matplotlib.figure import Figure

    frame = pd.DataFrame(rows).assign(rate=lambda found: 100 * found.correct / found.n)
    figure = Figure(figsize=(3.3, 2.9), layout="constrained")
    axes = figure.subplots()
    table = frame.pivot(index="first", columns="second", values="rate")
    sns.heatmap(table, ax=axes, annot=True, fmt=".0f", vmin=0, vmax=100, cmap="viridis", cbar=False, square=True)
    axes.set_xlabel("Digits of the second operand")
    axes.set_ylabel("Digits of the first operand")
    axes.tick_params(axis="y", rotation=0)
    return figure


def main() -> None:
    """Measure, write the table, draw the picture."""
    from lengen.plotting.style import pictures, style

    rows = measure()
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    says = "Exact match of Abacus by first and second operand length: right where they are equal, wrong elsewhere"
    with style():
        PICTURE.write_bytes(pictures(draw(rows), ["svg"], says)["svg"])


if __name__ == "__main__":
    main()

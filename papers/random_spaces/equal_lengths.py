"""Abacus on sums of operands of unequal length: the test that Figure 4.5 leaves out.

    python -m papers.random_spaces.equal_lengths      # measure the stored model, write the table and draw it
"""

from typing import Any

from papers.random_spaces.finding import Finding

FINDING = Finding("abacus-operand-lengths")
MODEL = "random_spaces/fig4.5/abacus"
LENGTHS = range(1, 13)
EXAMPLES = 100
"""Problems of each cell."""


def measure(examples: int = EXAMPLES) -> list[dict[str, int]]:
    """Count right sums of the stored model by the length of the first and of the second operand."""
    import lengen

    grid = lengen.load(MODEL).operand_lengths(list(LENGTHS), examples)
    return [
        {"first": first, "second": second, "n": modes[grid.mode]["n"], "correct": modes[grid.mode]["correct"]}
        for (first, second), modes in sorted(grid.scores.items())
    ]


def stored() -> list[dict[str, int]]:
    """Return the rows of the committed table."""
    return [{name: int(value) for name, value in row.items()} for row in FINDING.read()]


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
    from lengen.plotting.style import style

    FINDING.write(measure())
    says = "Exact match of Abacus by first and second operand length: right where they are equal, wrong elsewhere"
    with style():
        FINDING.picture(draw(stored()), says)


if __name__ == "__main__":
    main()

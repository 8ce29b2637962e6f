"""Table and picture of a finding, committed below ``results/findings``."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parents[2] / "results" / "findings"


class Finding(NamedTuple):
    """The files of one finding."""

    name: str

    @property
    def table(self) -> Path:
        """Its numbers."""
        return FOLDER / f"{self.name}.csv"

    def read(self) -> list[dict[str, str]]:
        """Return the rows of the committed table."""
        with self.table.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def counts(self) -> list[dict[str, int]]:
        """Return the rows of a table that has integers alone."""
        return [{name: int(value) for name, value in row.items()} for row in self.read()]

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the table."""
        FOLDER.mkdir(exist_ok=True)
        with self.table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def picture(self, figure: Any, says: str) -> None:
        """Write a figure, drawn within `lengen.plotting.style.style`, as SVG with a title."""
        from lengen.plotting.style import pictures

        (FOLDER / f"{self.name}.svg").write_bytes(pictures(figure, ["svg"], says)["svg"])


def rate_map(
    rows: Sequence[Mapping[str, int]], down: str, across: str, size: tuple[float, float], **options: Any
) -> Any:
    """Draw ``correct`` of ``n`` in percent by two columns of a table; ``options`` are those of `seaborn.heatmap`.

    ``size`` is in inches; the axes are to be labelled.
    """
    import pandas as pd
    import seaborn as sns
    from matplotlib.figure import Figure

    frame = pd.DataFrame(rows).assign(rate=lambda found: 100 * found.correct / found.n)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    table = frame.pivot(index=down, columns=across, values="rate")
    sns.heatmap(table, ax=axes, vmin=0, vmax=100, cmap="viridis", **options)
    axes.tick_params(axis="both", rotation=0)
    return figure

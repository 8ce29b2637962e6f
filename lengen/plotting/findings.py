"""Table and picture of a finding, committed beside other results."""

import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")


class Finding(NamedTuple):
    """The files of one finding."""

    source: str
    """File of the program that measures it, in a folder of ``papers``."""
    name: str

    @property
    def folder(self) -> Path:
        """Folder of all findings: ``results/findings`` beside ``papers``."""
        return Path(self.source).resolve().parents[2] / "results" / "findings"

    @property
    def table(self) -> Path:
        """Its numbers."""
        return self.folder / f"{self.name}.csv"

    def read(self) -> list[dict[str, str]]:
        """Return the rows of the committed table."""
        with self.table.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def counts(self) -> list[dict[str, int]]:
        """Return the rows of a table that has integers alone."""
        return [{name: int(value) for name, value in row.items()} for row in self.read()]

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the table."""
        self.folder.mkdir(exist_ok=True)
        with self.table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def picture(self, draw: Callable[[], Any], says: str) -> None:
        """Write the figure that a function draws, in the style of all pictures, as SVG.

        ``says`` is its text for readers; what stands before a colon is the title.
        """
        from lengen.plotting.layout import titled
        from lengen.plotting.style import pictures, style

        with style():
            drawing = titled(draw(), says.partition(":")[0])
            (self.folder / f"{self.name}.svg").write_bytes(pictures(drawing, ["svg"], says)["svg"])


def each(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield items, and say on stderr which of them is measured."""
    for number, item in enumerate(items, start=1):
        print(f"{what} {item} ({number} of {len(items)})", file=sys.stderr)
        yield item


def rate_map(
    rows: Sequence[Mapping[str, int]],
    labels: Mapping[str, str],
    size: tuple[float, float],
    trained: int = 0,
    **options: Any,
) -> Any:
    """Draw ``correct`` of ``n`` in percent by two columns of a table, as a heat map.

    Args:
        rows: the table.
        labels: the column that goes down and the one that goes across -> label of its axis.
        size: width and height in inches.
        trained: rows from the top that are boxed as trained.
        options: of `seaborn.heatmap`.
    """
    import pandas as pd
    import seaborn as sns
    from matplotlib.figure import Figure

    from lengen.plotting.grid import outline

    down, across = labels
    frame = pd.DataFrame(rows).assign(rate=lambda cells: 100 * cells.correct / cells.n)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    table = frame.pivot(index=down, columns=across, values="rate")
    sns.heatmap(table, ax=axes, vmin=0, vmax=100, cmap="viridis", **options)
    axes.set(xlabel=labels[across], ylabel=labels[down])
    axes.tick_params(axis="both", rotation=0)
    if trained:
        outline(axes, 0, 0, table.shape[1], trained)
    return figure

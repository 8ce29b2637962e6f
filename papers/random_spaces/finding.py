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

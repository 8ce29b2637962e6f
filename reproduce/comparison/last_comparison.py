"""The last committed comparison of a paper, from the tables in results; no run is read."""

import csv
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HOLDS, REPAIRED, CONTRADICTED = "holds", "holds once repaired", "contradicted"
NOT_SEEN, OPEN = "not seen here", "open"
WORDS = (HOLDS, REPAIRED, CONTRADICTED, NOT_SEEN, OPEN)
"""The five answers."""
UNDECIDED = (NOT_SEEN, OPEN)
"""Those that a further run may change."""
MET = 5
"""Points apart up to which a published value is met."""


@dataclass(frozen=True)
class Recorded:
    """Answers and score of one paper as they were last written."""

    answers: dict[str, str] = field(default_factory=dict)
    """Statement -> answer."""
    compared: int = 0
    """Printed shares that stand beside one of ours."""
    met: int = 0
    """Those that are met."""
    beside: dict[str, str] = field(default_factory=dict)
    """Id of a published value -> ours and the points apart, in words."""

    def counts(self, ids: list[str] | None = None) -> Counter[str]:
        """Return the number of statements, or of these, by answer."""
        chosen = [word for name, word in self.answers.items() if ids is None or name in ids]
        return Counter({word: chosen.count(word) for word in WORDS})


def apart(points: float, relation: str) -> float:
    """Return the points by which a value misses a published one; none on the right side of a printed bound.

    >>> apart(-7.0, "="), apart(7.0, ">="), apart(-7.0, ">="), apart(-7.0, "<")
    (7.0, 0.0, 7.0, 0.0)
    """
    bound = {">": 1, ">=": 1, "<": -1, "<=": -1}.get(relation, 0)
    return 0.0 if bound * points > 0 else abs(points)


def recorded(paper: str, results: Path) -> Recorded:
    """Read results/statements.csv and results/published.csv; empty if they are not there."""
    stated = [row for row in _rows(results / "statements.csv") if row["paper"] == paper]
    answers = {row["statement"].partition("/")[2]: row["answer"] for row in stated}
    rows = [row for row in _rows(results / "published.csv") if row["paper"] == paper and row["points"]]
    shares = [row for row in rows if row["unit"] == "%" and row.get("source") != "figure"]
    points = [apart(float(row["points"]), row.get("relation", "=")) for row in shares]
    beside = {row["id"]: f"ours {row['ours']} ({float(row['points']):+.3g})" for row in rows if "id" in row}
    return Recorded(answers, len(points), sum(gap <= MET for gap in points), beside)


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))

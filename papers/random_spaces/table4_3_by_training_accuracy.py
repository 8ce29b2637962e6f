"""Table 4.3 by accuracy in the trained range: what gain from sub-tasks remains among runs that learned addition.

The author's public data (``notebooks/data/exp27/summary_final.csv`` of iibrahimli/msc_thesis) contain one row a run.
`derive` reads them into a table of means, which is committed; `draw` draws that table.

    python -m papers.random_spaces.table4_3_by_training_accuracy summary_final.csv      # derive, then draw
    python -m papers.random_spaces.table4_3_by_training_accuracy                        # draw the committed table
"""

import csv
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from lengen.plotting.findings import Finding

FINDING = Finding(__file__, "table4.3-undertraining")
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
LEAST = (0.0, 0.95, 0.99)
"""Accuracy in the trained range that a run needs to be counted; 0: every run."""
ROUNDING = 1e-6
"""The data are in single precision: 0.95 stands there as 0.949999988."""
COLUMNS = ("least", "train_size", "cells", "add_runs", "mix_runs", "add", "mix", "gain", "low", "high")
"""``train_size`` is a size ("all runs": means over runs, as printed) or "matched": means over cells of equal size and
width, with a 95 % bootstrap interval of their gain. Accuracies in percent at 8 digits; ``gain`` is mix less add."""
PRINTED_GAIN = 22.7
"""Section 4.5.1: mean gain at 8 digits."""


def derive(runs: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the rows of the derived table: one per least accuracy and size, and one of matched cells."""
    rows = []
    for least in LEAST:
        eight: dict[tuple[int, int, str], list[float]] = defaultdict(list)
        for run in runs:
            if float(run["val_acc/add_in_dist"]) >= least - ROUNDING:
                cell = int(run["train_size"]), int(run["n_embd"]), run["task"]
                eight[cell].append(100 * float(run["val_acc/add_ood_8digit"]))
        for size in SIZES:
            add, mix = (
                [x for cell, xs in eight.items() if cell[::2] == (size, task) for x in xs] for task in ("add", "mix")
            )
            rows.append(_row(least, (size, "", len(add), len(mix)), add, mix, ()))
        matching = {cell: xs for cell, xs in eight.items() if cell[2] == "add" and (*cell[:2], "mix") in eight}
        pairs = [(fmean(xs), fmean(eight[size, width, "mix"])) for (size, width, _), xs in matching.items()]
        gains = [mix - add for add, mix in pairs]
        matched = [add for add, _ in pairs], [mix for _, mix in pairs]
        rows.append(_row(least, ("matched", len(pairs), "", ""), *matched, bootstrap(gains)))
    return rows


def _row(
    least: float, counts: Sequence[int | str], add: Sequence[float], mix: Sequence[float], ends: Sequence[float]
) -> dict[str, Any]:
    means: list[Any] = [round(fmean(xs), 1) if xs else "" for xs in (add, mix)]
    gain = round(fmean(mix) - fmean(add), 1) if add and mix else ""
    low, high = (round(end, 1) for end in ends) if ends else ("", "")
    return dict(zip(COLUMNS, (least, *counts, *means, gain, low, high), strict=True))


def bootstrap(values: Sequence[float], draws: int = 10_000) -> tuple[float, float]:
    """Return the 2.5 and 97.5 % points of the mean of resampled values; the same for the same values."""
    drawn = random.Random(0)
    means = sorted(fmean(drawn.choices(values, k=len(values))) for _ in range(draws))
    return means[draws // 40], means[-draws // 40]


def draw(rows: Sequence[Mapping[str, str]]) -> Any:
    """Draw the gain among cells of equal size and width, by the accuracy in range that a run needs to be counted."""
    from matplotlib.figure import Figure

    from lengen.plotting.style import BLACK, COLOURS

    matched = [row for row in rows if row["train_size"] == "matched"]
    figure = Figure(figsize=(3.3, 2.2), layout="constrained")
    axes = figure.subplots()
    gains = [float(row["gain"]) for row in matched]
    errors = [[abs(float(row[end]) - float(row["gain"])) for row in matched] for end in ("low", "high")]
    places = range(len(matched))
    axes.errorbar(places, gains, errors, fmt="o", color=COLOURS[0], capsize=3, label="equal size and width")
    axes.axhline(PRINTED_GAIN, color=BLACK, linestyle="--", linewidth=1, label="printed")
    axes.axhline(0, color=BLACK, linewidth=0.5)
    least = [float(row["least"]) for row in matched]
    which = [f"{100 * share:.0f} % or more" if share else "all" for share in least]
    names = [f"{least_share}\n{row['cells']} pairs" for least_share, row in zip(which, matched, strict=True)]
    axes.set_xticks(list(places), names)
    axes.set_xlim(-0.5, len(matched) - 0.5)
    axes.set_xlabel("Accuracy in the trained range of the counted runs")
    axes.set_ylabel("Gain at 8 digits (points)")
    axes.legend(frameon=False, loc="lower left")
    return figure


def main(source: str | None = None) -> None:
    """Derive the table if the author's file is given, then draw the picture."""
    if source:
        try:
            with open(source, newline="", encoding="utf-8") as file:
                derived = derive(list(csv.DictReader(file)))
        except (OSError, ValueError, KeyError) as error:
            raise SystemExit(f"{source}: expected the author's summary_final.csv ({error or 'it is empty'})") from None
        FINDING.write(derived)
    says = "Gain of sub-tasks at 8 digits: among runs that learned their trained range it cannot be told from zero"
    FINDING.picture(lambda: draw(FINDING.read()), says)


if __name__ == "__main__":
    main(*sys.argv[1:2])

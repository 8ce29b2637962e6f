"""Scored predictions as text: headline numbers, a line for every length, a picture."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lengen.benchmark.scoring import levels, measures, over_seeds
from lengen.results.records import Grid

OF_FROZEN = ("reach", "area")
"""Measures that only frozen problems have: others need not be of every length."""


def rows(grids: Mapping[int, Grid], size: int, frozen: bool = True) -> list[dict[str, Any]]:
    """Return the measures of each seed as data for JSON, which has no nan: None where nothing was measured."""
    found = []
    for seed, grid in grids.items():
        row = measures(grid, size)._asdict() | {"seed": seed} | ({} if frozen else dict.fromkeys(OF_FROZEN))
        found.append({name: _or_null(value) for name, value in row.items()})
    return found


def _or_null(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_or_null(part) for part in value]
    return None if value != value else value


def lines(
    grids: Mapping[int, Grid], size: int, frozen: bool = True, beside: tuple[str, Grid] | None = None
) -> Iterator[str]:
    """Yield the measures over seeds, and exact match at every length beside that of a named grid."""
    of_seeds = [measures(grid, size) for grid in grids.values()]
    for name in ("in_range", "reach", "area", "edits", "absent"):
        if frozen or name not in OF_FROZEN:
            values = [getattr(seed, name) for seed in of_seeds]
            yield f"{name.replace('_', ' '):<10}{over_seeds(values).text(0 if name in ('reach', 'absent') else 3)}"
    by_seed = [levels(grid) for grid in grids.values()]
    name, theirs = (beside[0], levels(beside[1])) if beside else ("", {})
    yield f"\n{'length':>6}{'problems':>10}  exact match" + (f"{'':14}{name}" if beside else "")
    for length in sorted({*by_seed[0], *theirs}):
        counts = [levels[length] for levels in by_seed if length in levels]
        rate = over_seeds([one.rate("correct") for one in counts]).text(3) if counts else "-"
        other = f"{theirs[length].rate('correct'):.3f}" if length in theirs else "-" if theirs else ""
        yield f"{length:>6}{int(counts[0]['n']) if counts else 0:>10}  {rate:<25}{other}".rstrip()


def absent(grids: Mapping[int, Grid], size: int) -> str:
    """Return a sentence on problems without a prediction; empty if there are none."""
    most = max(measures(grid, size).absent for grid in grids.values())
    where = " of a seed" if len(grids) > 1 else ""
    return f"{most} problems{where} have no prediction and count as wrong" if most else ""


def draw(path: Path, grids: Mapping[str, Grid]) -> None:
    """Draw named grids side by side; the ending of the file says as what."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(grids), figsize=(4.5 * len(grids), 3.5), squeeze=False, layout="constrained")
    for ax, (name, grid) in zip(axes[0], grids.items(), strict=True):
        grid.plot(ax)
        ax.set_title(name, fontsize="small")
    figure.savefig(path)

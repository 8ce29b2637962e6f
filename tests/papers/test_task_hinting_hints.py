"""Finding 8: its numbers are those of the stored models with and without hints."""

from pathlib import Path

from reproduce.store.locations import stores

ROOT = Path(__file__).parents[2]
TEXT = " ".join((ROOT / "docs/findings.md").read_text().partition("\n## 8.")[2].split())


def shares(name: str, *cell: int) -> list[float]:
    """Shares of right sequences in a cell, in percent, a value a training."""
    found = stores()[0].of(f"task_hinting/{name}", "night")
    return sorted(100 * run.grid.scores[cell]["teacher_forced"].rate("correct") for run in found)


def span(values: list[float]) -> str:
    low, high = (f"{value:.1f}" if 0 < value < 1 else f"{value:.0f}" for value in (values[0], values[-1]))
    return low if low == high else f"{low} to {high}"


def test_without_hints_models_sort_further_and_the_text_says_how_far():
    for length in (50, 100):
        without, hinted = shares("fig3.6/none", length, 1), shares("fig3.6/successor", length, 1)
        assert len(without) == len(hinted) == 5 and without[0] > hinted[-1]
        assert f"{span(without)} % of" in TEXT and span(hinted) in TEXT


def test_counting_costs_more_than_the_successor():
    counted = shares("fig3.11/count", 50)
    assert len(counted) == 5 and counted[-1] < shares("fig3.6/successor", 50, 1)[0]
    assert f"{span(counted)} % of 50 numbers" in TEXT

"""Finding 8: its numbers are those of the stored models with and without hints."""

from pathlib import Path

from reproduce.store.locations import stores

ROOT = Path(__file__).parents[2]
TEXT = " ".join((ROOT / "docs/findings.md").read_text().partition("\n## 8.")[2].split())


def shares(hint: str, length: int) -> list[float]:
    """Shares of right sequences of different numbers, in percent, a value a training."""
    found = stores()[0].of(f"task_hinting/fig3.6/{hint}", "night")
    return sorted(100 * run.grid.scores[length, 1]["teacher_forced"].rate("correct") for run in found)


def span(values: list[float]) -> str:
    low, high = (f"{value:.1f}" if 0 < value < 1 else f"{value:.0f}" for value in (values[0], values[-1]))
    return low if low == high else f"{low} to {high}"


def test_without_hints_models_sort_further_and_the_text_says_how_far():
    for length in (50, 100):
        without, hinted = shares("none", length), shares("successor", length)
        assert len(without) == len(hinted) == 5 and without[0] > hinted[-1]
        assert f"{span(without)} % of" in TEXT and span(hinted) in TEXT


def test_counting_costs_more_than_the_successor():
    counted = sorted(
        100 * run.grid.scores[50,]["teacher_forced"].rate("correct")
        for run in stores()[0].of("task_hinting/fig3.11/count", "night")
    )
    assert len(counted) == 5 and counted[-1] < shares("successor", 50)[0]
    assert f"{span(counted)} % of 50 numbers" in TEXT

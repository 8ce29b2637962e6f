"""Finding 7: its numbers are those of the stored models with and without hints."""

from pathlib import Path

from papers.task_hinting.profiles import SIZES
from reproduce.store.checkout import stores

ROOT = Path(__file__).parents[2]
TEXT = " ".join((ROOT / "docs/findings.md").read_text().partition("\n## 7.")[2].split())


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
        assert f"{span(without)} %" in TEXT and span(hinted) in TEXT


def test_depth_helps_and_the_text_says_how_much():
    deeper = [shares(f"fig3.3/depth-{depth}", 50) for depth in (4, 8, 12)]
    two = shares("fig3.2/1m", 50)
    four, eight, twelve = deeper
    assert two[-1] < four[0] and four[-1] < min(eight[0], twelve[0]) and min(map(len, deeper)) == 5
    assert all(f"{span(some)} %" in TEXT for some in (two, *deeper))
    assert f"twelve layers sort {span(shares('fig3.3/depth-12', 100))} %" in TEXT
    smaller, far = ([share for size in SIZES for share in shares(f"fig3.2/{size}", length)] for length in (50, 100))
    assert len(smaller) == 20 and f"{span(sorted(smaller))} % of 50 numbers" in TEXT
    assert set(far) == {0.0}


def test_counting_costs_more_than_the_successor():
    counted = shares("fig3.11/count", 50)
    assert len(counted) == 5 and counted[-1] < shares("fig3.6/successor", 50, 1)[0]
    assert f"{span(counted)} % of 50 numbers" in TEXT

"""Faults of storage: full and read-only disks, damaged files; shorter than in `make soak`."""

import pytest

from stress.faults import (
    CHAIN,
    DAMAGES,
    READING,
    damaged_files,
    damaged_leftovers,
    flipped,
    full_disk,
    truncated,
    why_no_disk,
)

pytestmark = pytest.mark.slow


def test_a_disk_that_is_full_or_read_only_ends_every_command_in_one_sentence(tmp_path):
    if missing := why_no_disk():
        pytest.skip(missing)
    found = full_disk(tmp_path, 3)
    assert set(found.tried) == {words[0] for words in CHAIN} and found.read_only == len(CHAIN)
    assert all(found.refused[name] for name in found.tried)


@pytest.mark.parametrize("words", READING[:4], ids=lambda words: words[0])
def test_a_damaged_file_is_named_and_nothing_else_is_touched(words, tmp_path):
    damages = [truncated, flipped] if words[0] == "run" else DAMAGES
    counted = damaged_files(tmp_path, 0, [words], damages)
    assert {"run.json", "scores.csv", "arrays.npz", "model.safetensors"} <= set(counted)
    assert all(number >= len(damages) for number in counted.values())


def test_what_an_unfinished_run_left_may_be_damaged(tmp_path):
    counted = damaged_leftovers(tmp_path, 0, 4)
    assert sum(counted.values()) == 4
    assert {"last.ckpt", "kernels.json", "metrics.csv", "scores.partial.csv"} == set(counted)

"""The short version of ``make soak``: a run killed twice leaves the bytes of one that nobody disturbed."""

from tests.reproduce.soak import COMMANDS, compared, soak


def test_a_run_that_is_killed_leaves_the_bytes_of_one_that_is_not(tmp_path):
    run = [*COMMANDS[0][:-4], "--seeds", "0", "--jobs", "1"]
    soaked = soak(1, 3, tmp_path, [run])
    assert soaked.differing == {} and soaked.files == 3 and set(soaked.by_command) <= {"run"}


def test_what_differs_is_named():
    assert compared({"a": "1", "b": "1"}, {"b": "2", "c": "1"}) == {
        "a": "missing",
        "b": "other bytes",
        "c": "too many",
    }

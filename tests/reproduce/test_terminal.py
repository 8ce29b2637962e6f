"""What the commands that read print."""

import pytest

from reproduce.cli import main
from reproduce.output import terminal
from reproduce.runs.catalogue import CATALOGUE


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_what_show_prints_of_a_field_sets_it(paper, capsys):
    """One experiment of every figure, at every profile: the value under a profile, given to --set, changes nothing."""
    firsts = {item.figure: item for item in reversed(CATALOGUE.experiments(paper))}.values()
    for item in firsts:
        for spec in item.specs.values():
            fields = terminal.fields("", [spec.to_dict()])
            assert {"data.task", "data.format", "model.encoding", "test.lengths"} <= {path for path, _ in fields}
            for path, value in fields:
                assert spec.override(f"{path}={value}") == spec, f"{item.name}: {path}={value}"


def test_a_list_is_shown_and_set_as_a_range(capsys):
    assert main(["show", "coupling/fig1/coupling-scratchpad"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["test.lengths", "[1,2,3]", "[1,2,3,4,5,6,7,9]", "[1,2,3,4,5,6,7,9]", "1..30"] in rows
    assert ["data.task", *["addition"] * 4] in rows
    assert main(["run", "coupling/fig1/coupling-scratchpad", "--dry-run", "--set", "test.lengths=1..4"]) == 0
    spec = CATALOGUE.select_one("coupling/fig1/coupling-scratchpad").specs["cpu"]
    assert spec.override("test.lengths=1..4").test.lengths == (1, 2, 3, 4)
    assert spec.override("test.lengths=5..20 by 5").test.lengths == (5, 10, 15, 20)


def test_profiles_whose_parts_differ_stand_side_by_side():
    rows = terminal.fields("model.tempered", [None, {"form": "fixed", "of": "position"}])
    assert rows == [
        ["model.tempered", "none", ""],
        ["model.tempered.form", "", "fixed"],
        ["model.tempered.of", "", "position"],
    ]

"""Figures 4.12 to 4.14 of paper 4: looked up in the axes, for projections that are known."""

import dataclasses

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from lengen import plotting
from papers.task_hinting.figures import projections
from tests.papers import made_task_hinting as made
from tests.papers.made import texts
from tests.papers.made_task_hinting import FIGURES, PAPER, draw, legend, run

PROJECTIONS = ("fig4_12", "fig4_13", "fig4_14")


def projected(inputs=made.INPUTS, alphabet=made.ALPHABET, seeds=1, **known) -> dict:
    return {
        f"{PAPER}/x/none": [
            run("x/none", seed, arrays=made.projections(inputs, alphabet, seed=seed, **known)) for seed in range(seeds)
        ]
    }


def markers(axes) -> dict[str, tuple[float, float]]:
    """Marker -> place, without the hollow ones of other inputs."""
    found = {}
    for line in axes.lines:
        if line.get_marker() not in ("None", "") and line.get_markerfacecolor() != "white":
            found[line.get_marker()] = (line.get_xdata()[0], line.get_ydata()[0])
    return found


@pytest.mark.parametrize(
    ("name", "position", "framed", "expected"),
    [
        ("fig4_12", 2, 0, {"o": (43, 5)}),
        ("fig4_13", 8, 6, {"o": (43, 7), "^": (78, 8)}),
        ("fig4_14", 5, 2, {"o": None, "D": (5, 6)}),
    ],
)
def test_projections_have_the_published_layout_and_mark_what_the_paper_reads(name, position, framed, expected):
    drawing = draw(name)
    assert len(drawing.axes) == 2 * 4
    titled = [axes.get_title().replace("\n", " ") for axes in drawing.axes[:4]]
    assert titled == [f"{b} basis, {s} the MLP" for b in ("Encoder", "Decoder") for s in ("before", "after")]
    assert [axes.get_ylabel() for axes in drawing.axes[::4]] == ["Layer 1\nDot product", "Layer 2\nDot product"]
    (run,) = next(iter(FIGURES[name].values()))
    vocabulary = list(run.arrays["probe0.vocabulary"])
    for number, axes in enumerate(drawing.axes):
        layer, basis, stage = number // 4, ("encoder", "decoder")[number // 2 % 2], number % 2
        values = run.arrays[f"probe0.{basis}"][layer, stage, position].astype(np.float32)
        stems = {x: y for (x, _), (_, y) in axes.collections[0].get_segments()}
        assert len(stems) == len(vocabulary)
        assert [stems[x] for x in range(1, 101)] == [values[vocabulary.index(str(x))] for x in range(1, 101)]
        assert stems[116] == values[vocabulary.index("⊥")]
        frame = axes.spines["left"].get_linewidth() > 1 and to_rgba(axes.spines["left"].get_edgecolor())
        assert frame == (to_rgba(plotting.BLACK) if number == framed else False)
    found = markers(drawing.axes[framed])
    assert set(found) == set(expected)
    assert all(found[marker] == pytest.approx(place) for marker, place in expected.items() if place)
    shown = texts(drawing).replace("\n", " ")
    assert f"at position {position} of 5 17 43 78 92 ⊥ 5 17 43 78 92." in shown and "Seed 0" in shown


def test_positions_are_found_in_the_tokens():
    inputs = ("9", "2", "7", "7", "3", "10", "1")
    runs = projected(inputs, alphabet=10)
    shown = {name: texts(draw(name, runs)).replace("\n", " ") for name in PROJECTIONS}
    text = "9 2 7 7 3 10 1 ⊥ 1 2 3 7 7 9 10"
    assert f"Token 7 at position 2 of {text}" in shown["fig4_12"]
    assert f"Token 7 at position 12 of {text}" in shown["fig4_13"]  # the last 7, after which its successor comes
    assert "9: its successor" in shown["fig4_13"] and "1: the minimum" in shown["fig4_14"]
    assert f"Token ⊥ at position 7 of {text}" in shown["fig4_14"]
    assert markers(draw("fig4_13", runs).axes[6]) == {"o": (7, 7), "^": (9, 8)}
    stems = draw("fig4_12", runs).axes[0].collections[0].get_segments()
    assert len({x for (x, _), _ in stems}) == 13  # no two symbols at one place in a small alphabet


@pytest.mark.parametrize("inputs", [("4",), ("1", "2", "8")])
def test_the_largest_number_has_no_successor(inputs):
    drawing = draw("fig4_13", projected(inputs, alphabet=10))
    assert set(markers(drawing.axes[6])) == {"o"} and "successor" not in " ".join(legend(drawing))


def test_other_depths_have_as_many_rows_and_the_frame_only_where_the_layer_is():
    runs = projected(layers=1)
    drawing = draw("fig4_13", runs)
    assert len(drawing.axes) == 4 and all(axes.spines["left"].get_linewidth() < 1 for axes in drawing.axes)


def test_the_first_seed_that_recorded_projections_is_drawn_and_named():
    runs = projected(seeds=3)
    (some,) = runs.values()
    some[0] = dataclasses.replace(some[0], arrays={})
    drawing = draw("fig4_12", runs)
    values = drawing.axes[0].collections[0].get_segments()
    expected = made.projections(seed=1)["probe0.encoder"][0, 0, 2]
    assert [y for _, (_, y) in values] == list(expected.astype(np.float32))
    assert "Seed 1, the first that was recorded" in texts(drawing).replace("\n", " ")


def test_a_probe_knows_its_tokens():
    probe = projections.probed(projected()[f"{PAPER}/x/none"][0])
    assert probe is not None and probe.length == 5 and probe.ordered == ["5", "17", "43", "78", "92"]
    assert (probe.written("43"), probe.successor("43"), probe.successor("92")) == (8, "78", "")

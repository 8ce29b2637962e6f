"""What the figures of this paper read from probes and runs, by hand: tokens, places, medians, the longest sorted."""

import numpy as np
import pytest

from papers.task_hinting import figures
from papers.task_hinting.figures import DELIMITER, LOOKS, Probe, View
from tests.papers.runs_task_hinting import run

TOKENS = ("92", "5", "43", "17", "78", DELIMITER, "5", "17", "43", "78", "92")
VOCABULARY = ("$", "5", "17", "43", "78", "92", DELIMITER)
ONE = Probe(TOKENS, VOCABULARY, {})
REPEATED = Probe(("3", "10", "3", "2", DELIMITER, "2", "3", "3", "10"), (), {})


def test_the_successor_is_the_next_larger_number_of_the_input():
    assert [ONE.successor(token) for token in ("5", "17", "43", "78", "92")] == ["17", "43", "78", "92", ""]
    assert [REPEATED.successor(token) for token in ("2", "3", "10")] == ["3", "10", ""]


def test_a_number_is_written_last_behind_the_delimiter_where_it_stands_in_order():
    assert (ONE.length, ONE.ordered) == (5, ["5", "17", "43", "78", "92"])
    assert [ONE.written(token) for token in ("5", "17", "43", "78", "92")] == [6, 7, 8, 9, 10]
    assert [TOKENS[ONE.written(token)] for token in ("5", "43", "92")] == ["5", "43", "92"]
    assert [REPEATED.written(token) for token in ("2", "3", "10")] == [5, 7, 8]


def test_three_positions_are_looked_at_and_what_is_marked_there():
    assert figures._input(ONE) == View(2, {"itself": "43"}, (0, 0))
    assert figures._output(ONE) == View(8, {"itself": "43", "its successor": "78"}, (1, 2))
    assert figures._delimiter(ONE) == View(5, {"itself": DELIMITER, "the minimum": "5"}, (0, 2))
    largest = Probe(("5", "92", DELIMITER, "5", "92"), (), {})
    assert figures._output(largest) == View(4, {"itself": "92"}, (1, 2)), "the last of a short input has no successor"


def probed() -> dict[str, np.ndarray]:
    """Arrays of a probe all of whose projections differ."""
    shape = (2, 2, len(TOKENS), len(VOCABULARY))
    encoder = np.arange(np.prod(shape)).reshape(shape)
    return {
        "probe0.tokens": np.array(TOKENS), "probe0.vocabulary": np.array(VOCABULARY),
        "probe0.encoder": encoder.astype(np.float16), "probe0.decoder": -encoder.astype(np.float16),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("draw", "framed", "word", "token", "layer", "stage", "position"),
    [
        (figures.input_token, 0, "itself", "43", 0, 0, 2),
        (figures.output_token, 6, "itself", "43", 1, 0, 8),
        (figures.output_token, 6, "its successor", "78", 1, 0, 8),
        (figures.delimiter, 2, "the minimum", "5", 0, 0, 5),
    ],
)
def test_a_marked_number_stands_at_its_projection(draw, framed, word, token, layer, stage, position):
    arrays = probed()
    drawing = draw(None, {"task_hinting/fig4.12/none": [run("fig4.12/none"), run("fig4.12/none", arrays=arrays)]}, {})
    axes = drawing.axes[framed]
    assert axes.spines["left"].get_linewidth() > 2
    (mark,) = (line for line in axes.lines if line.get_marker() == LOOKS[word][1] and line.get_markersize() == 5)
    basis = arrays["probe0.encoder" if framed == 0 else "probe0.decoder"]
    assert [*mark.get_xdata()] == [int(token)]
    assert [*mark.get_ydata()] == [basis[layer, stage, position, VOCABULARY.index(token)]]


def test_a_run_without_every_array_of_a_probe_has_none():
    assert figures.probed(run("fig4.12/none", arrays=probed())).tokens == TOKENS
    for name in probed():
        assert figures.probed(run("fig4.12/none", arrays={k: v for k, v in probed().items() if k != name})) is None


def test_symbols_that_are_no_numbers_stand_behind_a_gap():
    places, ticks = figures._across(("PAD", *map(str, range(1, 11)), DELIMITER))
    assert places.tolist() == [13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    assert ticks == {5: "5", 10: "10", 12: DELIMITER}


def test_a_table_has_the_median_and_the_range_of_its_seeds_in_per_cent():
    """Of 400 sequences of 20 numbers two seeds have 200 and 199 right, and a third, which reaches further, 298."""
    short = {"lengths": (5, 20)}
    runs = {
        "task_hinting/table1/standard": [
            run("table1/standard", seed, reach=r, **short) for seed, r in enumerate((30, 30, 50))
        ],
        "task_hinting/table1/tempered": [],
        "task_hinting/table1/hinting": [run("table1/hinting", counts=(1, 2), **short)],
    }
    assert figures.table_csv(runs).splitlines() == [
        "variant,length,median_percent,lowest_percent,highest_percent,seeds",
        "standard,5,99.750,99.500,100.000,3",
        "standard,20,50.000,49.750,74.500,3",
        "hinting,5,100.000,100.000,100.000,1",
        "hinting,20,50.000,50.000,50.000,1",
    ]


def test_the_longest_sorted_length_has_99_of_100_right_in_some_run():
    assert figures.longest_sorted([run("thm5.1/x", reach=510)]) == 15, "at 15 exactly 99 %, at 20 98 %"
    assert figures.longest_sorted([run("thm5.1/x", 4)]) == 10 and figures.longest_sorted([run("thm5.1/x", 5)]) == 0
    assert figures.longest_sorted([run("thm5.1/x", 4), run("thm5.1/x", reach=510), run("thm5.1/x", 5)]) == 15
    assert figures.longest_sorted([]) == 0


def test_a_construction_stands_at_its_bits_and_its_longest_sorted_length_below_the_bound():
    runs = {"thm5.1/x": [run("thm5.1/x", reach=510)], "thm5.1/y": [run("thm5.1/y", 5)], "thm5.1/z": []}
    (axes,) = figures.formats(None, runs, {}).axes
    lines = {line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines}
    assert lines == {"bound": ([8, 24, 53], [32, 724, 16_777_216]), "numbers 1 to 100": ([24], [15])}
    del runs["thm5.1/x"]
    assert [text.get_text() for text in figures.formats(None, runs, {}).axes[0].texts] == ["no runs"]

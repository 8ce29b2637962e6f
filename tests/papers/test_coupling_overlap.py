"""What the construction predicts about attention: its pattern in closed form; overlap with other heads as a number."""

import csv
import dataclasses
import io

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

from lengen import plotting
from lengen.callbacks.attention_maps import measure_attention
from lengen.metrics.measures import Missing
from lengen.results.records import AttentionMap
from papers.coupling import figures, measures
from papers.coupling.experiments import EXPERIMENTS, FIGURES
from papers.coupling.measures import MEASURES
from papers.coupling.theorem import Sizes
from tests.fixtures.drawings import run
from tests.papers.theorem import ADDITION, P_1, P_2, TOKENS, VOCAB, constructed, writer

NAMES = {experiment.name: experiment for experiment in EXPERIMENTS}


def test_coordinates_are_the_ids_of_table_4():
    """But for the offsets 4 and 2, and '$'."""
    place, number = measures.coordinates(TOKENS)
    assert [int(value) + 4 for value in place[1:]] == list(P_1[1:])
    assert [int(value) + 2 for value in number[1:]] == list(P_2[1:])
    assert place[0] == number[0] == -1


@given(st.integers(2, 7), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_closed_form_is_what_the_constructed_model_attends_to(operands, digits):
    sizes = Sizes(operands=operands, digits=digits)
    batch = writer(sizes).write(ADDITION.test(1, digits, operands, torch.Generator().manual_seed(0)))
    tokens = [VOCAB.decode([token]) for token in batch.tokens[0, :-1]]
    mean, _, _ = measure_attention(constructed(sizes, 20.0), batch)
    np.testing.assert_allclose(mean[0].detach().numpy(), measures.predicted(tokens), atol=1e-5)


def test_the_last_arrow_reads_6_and_5_as_the_text_says():
    """D.5.1: BOS, 6 and 5 for the digit to come; D.5: PRE_ARROW is 1 after the last digit and 1/5 before it."""
    pattern = measures.predicted(TOKENS)
    arrow = max(i for i, token in enumerate(TOKENS) if token == ">")
    read = {TOKENS[i]: value for i, value in enumerate(pattern[0, arrow]) if value}
    assert read == pytest.approx({"$": 1 / 3, "6": 1 / 3, "5": 1 / 3})
    end = TOKENS.index(">5")  # the arrow after 750
    assert pattern[2, end - 1, 0] == 1
    assert pattern[2, end - 2, 0] == pytest.approx(1 / 5)


def test_overlap_of_rows_by_hand():
    trained = np.array([[[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]]])
    pattern = np.array([[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]])
    assert measures.overlaps(trained, pattern, slice(None)).tolist() == [[pytest.approx((0.7 + 0.5) / 2)]]
    # Without the first token: rows (1, 0) against (1, 0); the second row of the pattern has nothing else.
    assert measures.overlaps(trained, pattern, slice(None), start=False).tolist() == [[pytest.approx(1.0)]]
    # Where no row has anything else there is no overlap to speak of.
    assert np.isnan(measures.overlaps(trained[:, 1:], pattern[:, 1:], slice(None), start=False)).all()


def test_overlap_is_between_0_and_1_and_1_for_the_construction_itself():
    tokens = tuple(TOKENS)
    record = AttentionMap(tokens, measures.predicted(tokens)[None].astype(np.float32), 1)
    for start in (True, False):
        found = measures.of_map(record, start)
        assert found.shape == (1, 4, 4)
        assert bool(((found >= 0) & (found <= 1 + 1e-6)).all())
        np.testing.assert_allclose(found[0].diagonal(), 1, atol=1e-6)
        assert bool((measures.uniform(record, start) < 0.3).all())
    assert measures.digit_heads(record) == pytest.approx(1)
    assert measures.nearest(measures.of_map(record)) == [(0, 0), (0, 1), (0, 2), (0, 3)]


def test_nearest_takes_different_heads_for_the_largest_sum():
    found = np.zeros((1, 5, 4))
    found[0, 0] = [0.9, 0.8, 0.0, 0.0]  # best for both, used once
    found[0, 1] = [0.7, 0.1, 0.0, 0.0]
    found[0, 2, 2] = found[0, 4, 3] = 0.5
    assert measures.nearest(found) == [(0, 1), (0, 0), (0, 2), (0, 4)]
    deep = np.zeros((6, 8, 4))
    for one, place in enumerate([(5, 7), (0, 1), (3, 3), (2, 6)]):
        deep[place][one] = 0.6
    assert measures.nearest(deep) == [(5, 7), (0, 1), (3, 3), (2, 6)]


# ------------------------------------------------------------------ the picture and its numbers

ATTENTION = next(figure for figure in FIGURES if figure.name == "thm4.1-attention")


def runs(*with_map: str, rate=0.5):
    """Runs of the figure; maps are the construction's pattern, the heads in another order for trained models."""
    pattern = measures.predicted(TOKENS).astype(np.float32)
    made = {}
    for name in ATTENTION.reads:
        order = [0, 1, 2, 3] if "thm4.1" in name else [1, 0, 3, 2]
        record = AttentionMap(tuple(TOKENS), pattern[order][None], 3)
        made[name] = [run(name, NAMES[name].specs["cpu"], rate=rate, attention=record)] if name in with_map else []
    return made


def test_the_csv_holds_every_pair_of_heads():
    rows = list(csv.DictReader(io.StringIO(figures.overlap_csv(runs(*ATTENTION.reads[:2])))))
    assert len(rows) == 2 * 4 * 4
    for row in rows[16:]:
        expected = int(row["head"]) == [2, 1, 4, 3][int(row["constructed_head"]) - 1]
        assert (float(row["overlap"]) > 0.999) == expected
        assert float(row["even_overlap"]) < 0.3


def test_the_picture_shows_the_trained_heads_that_are_nearest():
    with plotting.style():
        drawing = ATTENTION.draw(runs(*ATTENTION.reads, rate=1.0))
    titles = [axes.get_title() for axes in drawing.findobj(Axes) if axes.images]
    assert titles[:4] == [*measures.HEADS]
    assert titles[4:8] == [f"layer 1, head {head}" for head in (2, 1, 4, 3)]


def test_the_measure_of_claims_reads_the_recorded_map():
    made = runs(*ATTENTION.reads)
    trained = made["coupling/fig7/coupling-scratchpad"][0]
    value = MEASURES["construction_overlap"].value
    assert value(trained) == (pytest.approx(1), 1)
    with pytest.raises(Missing, match="recorded no attention"):
        value(run("x", NAMES["coupling/fig7/coupling-scratchpad"].specs["cpu"]))


def test_an_answer_without_a_scratchpad_has_no_overlap():
    """The construction reads the number written before; where there is none, no number comes of it, not even nan."""
    tokens = tuple("$012+345=753")
    weights = np.full((1, 2, len(tokens), len(tokens)), 1 / len(tokens), np.float32)
    plain = dataclasses.replace(
        runs(*ATTENTION.reads)["coupling/fig7/coupling-scratchpad"][0], attention=AttentionMap(tokens, weights, 1)
    )
    with pytest.raises(Missing, match="fig7/coupling-scratchpad has no row that this is measured on"):
        MEASURES["construction_overlap"].value(plain)
    assert MEASURES["operands_read"].value(plain)[1] == 1


def test_operands_read_by_a_loop_over_heads_steps_and_places():
    tokens = tuple("$012+345+067=424")
    weights = np.random.default_rng(0).dirichlet(np.full(16, 0.05), (2, 3, 16)).astype(np.float32)
    operands = [{1: 3, 2: 2, 3: 1}, {1: 7, 2: 6, 3: 5}, {1: 11, 2: 10, 3: 9}]
    found = []
    for head in weights.reshape(6, 16, 16):
        counts = [
            max(sum(head[step, keys[place]] >= 1 / 6 for keys in operands) for place in (1, 2, 3))
            for step in (12, 13, 14)  # before 4, 2 and 4
        ]
        found.append(sum(counts) / len(counts) / 3)
    assert measures.operands_read(AttentionMap(tokens, weights, 1)) == pytest.approx(max(found))
    assert max(found) > 0


def test_one_line_per_operand_is_all_of_them_and_even_attention_is_none():
    tokens = tuple("$012+345+067=424")
    lines = np.zeros((1, 1, 16, 16), np.float32)
    for step, keys in ((12, (3, 7, 11)), (13, (2, 6, 10)), (14, (1, 5, 9))):
        lines[0, 0, step, keys] = 1 / 3
    assert measures.operands_read(AttentionMap(tokens, lines, 1)) == 1
    assert measures.operands_read(AttentionMap(tokens, np.full((1, 1, 16, 16), 1 / 16, np.float32), 1)) == 0


@pytest.mark.parametrize("operands", [2, 5])
def test_heads_of_the_construction_that_add_read_one_operand_at_a_time_and_its_head_for_arrows_all(operands):
    """So a scratchpad does not keep every head from reading them all, and no claim says so."""
    tokens = ("$", *"+".join(["01"] * operands), "=", *">".join(["00"] * (operands + 1)))
    heads = measures.predicted(tokens)[None].astype(np.float32)
    adding, arrows = (measures.operands_read(AttentionMap(tokens, heads[:, some], 1)) for some in ([0, 1], [2]))
    assert adding <= 1 / operands < arrows

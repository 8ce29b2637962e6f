"""Experiments of coupling, and attention beside that of its construction."""

import csv
import dataclasses
import io
from math import comb
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

from lengen import Addition, NoEncoding, plotting
from lengen.callbacks.attention_maps_and_probes import measure_attention
from lengen.metrics.run_measures import Missing
from lengen.results.records import AttentionMap
from lengen.settings.changes import overlay
from lengen.solve import encode
from papers.coupling import measures, special_plots
from papers.coupling import parity_by_ones as ones
from papers.coupling import sums_by_start_id as start_ids
from papers.coupling.experiments import EXPERIMENTS, FIGURES
from papers.coupling.measures import MEASURES
from papers.coupling.sums_by_start_id import PUBLISHED, SHORTER
from papers.coupling.theorem_spec import Sizes
from reproduce.catalogue import CATALOGUE
from reproduce.commands.run import suite
from reproduce.comparison.published_values import values
from tests.fixtures.drawings import run
from tests.fixtures.refusals import refused
from tests.papers.theorem import ADDITION, P_1, P_2, TOKENS, VOCAB, constructed, writer

NAMES = {experiment.name: experiment for experiment in EXPERIMENTS}
ATTENTION = next(figure for figure in FIGURES if figure.name == "thm4.1-attention")
SCORES = Path(__file__).parents[2] / "results/reference"
BOTH = pytest.mark.parametrize("model", [PUBLISHED, SHORTER], ids=lambda model: model.table.name)
ROWS = ones.FINDING.counts()


def test_every_published_figure_has_its_experiments_and_multiples_of_the_trained_range() -> None:
    assert len(NAMES) == len(EXPERIMENTS)
    figures = {experiment.figure for experiment in EXPERIMENTS}
    assert figures == {f"fig{n}" for n in (1, 3, 5, 6, 7, *range(9, 22))} | {
        "fig1-10x10", "fig9-10x10", "thm4.1", "published",
    }  # fmt: skip
    rows = {f"fig{n}" for n in range(16, 22)}  # one picture shows them all
    assert {figure.name for figure in FIGURES} == figures - rows | {"fig16_21", "thm4.1-formats", "thm4.1-attention"}
    assert {name for figure in FIGURES for name in figure.reads} == set(NAMES)
    times = {"fig1": 3, "fig3": 5, "fig5": 3, "fig9": 3}
    for experiment in EXPERIMENTS:
        for profile in {"cpu", "night", "paper"} & {*experiment.specs}:
            spec = experiment.specs[profile]
            if experiment.figure in times and experiment.variant not in ("trained-7", "trained-13"):
                assert max(spec.test.lengths) == times[experiment.figure] * spec.data.task.longest
                assert max(spec.test.counts) in (1, times[experiment.figure] * spec.data.task.most)


def test_the_published_grids_and_sizes_are_those_of_the_tables_and_methods_share_them() -> None:
    addition, parity, product = (
        NAMES[f"coupling/{name}/coupling-scratchpad"].specs["paper"] for name in ("fig1", "fig3", "fig9")
    )
    assert (len(addition.test.lengths), len(addition.test.counts), addition.test.examples) == (30, 29, 1000)
    assert (addition.data.task, addition.data.examples) == (Addition(digits=10, operands=10), 500_000)
    assert (parity.test.lengths, parity.test.examples, parity.data.examples) == (
        tuple(range(5, 101, 5)), 10_000, 10_000,
    )  # fmt: skip
    assert (len(product.test.lengths), len(product.test.counts)) == (30, 30)
    assert [spec.data.position_ids.sizes for spec in (parity, addition, product)] == [(101,), (40, 40), (64, 32, 64)]
    for figure in ("fig1", "fig3", "fig9"):
        for profile in ("cpu", "night", "paper"):
            models = {
                overlay(item.specs[profile], {"model.encoding": NoEncoding()}).model
                for item in EXPERIMENTS
                if item.figure == figure
            }
            assert len(models) == 1


def test_encode_prints_figures_2_4_and_8b() -> None:
    parity = encode(NAMES["coupling/fig3/coupling-scratchpad"].specs["paper"], ["0101"])
    assert ("".join(parity["tokens"]), parity["position_ids"]) == ("$0101=0110$", [[0, 2, 3, 4, 5, 1, 2, 3, 4, 5, 0]])
    addition = encode(NAMES["coupling/fig1/coupling-scratchpad"].specs["paper"], ["57", "48", "96"])
    assert "".join(addition["tokens"]) == "$057+048+096=000>750>501>102$"
    assert sum(addition["loss"]) == len("000>750>501>102$")
    product = encode(NAMES["coupling/fig9/coupling-scratchpad"].specs["paper"], ["37", "925"])
    assert "".join(product["tokens"]) == "$37*925=581+470+333=58100>52900>52243$"
    printed = "000000123423453456123456123456123456"  # PosID3 of Figure 8b
    assert "".join(map(str, product["position_ids"][2])) == f"0{printed}0"


def test_a_scratchpad_may_start_with_the_first_operand_and_ids_are_those_of_table_4() -> None:
    """Footnote 2; numbers of the response keep the order of the operands that they come from."""
    written = encode(NAMES["coupling/fig6/first-operand"].specs["paper"], ["57", "48", "96"])
    assert "".join(written["tokens"]) == "$057+048+096=750>501>102$"
    assert "".join(map(str, written["position_ids"][1])) == "0111122223331111222233330"
    place, number = measures.coordinates(TOKENS)
    assert [int(value) + 4 for value in place[1:]] == list(P_1[1:])
    assert [int(value) + 2 for value in number[1:]] == list(P_2[1:])
    assert place[0] == number[0] == -1
    pattern = measures.predicted(TOKENS)
    arrow = max(i for i, token in enumerate(TOKENS) if token == ">")
    read = {TOKENS[i]: value for i, value in enumerate(pattern[0, arrow]) if value}
    assert read == pytest.approx({"$": 1 / 3, "6": 1 / 3, "5": 1 / 3})
    end = TOKENS.index(">5")  # the arrow after 750
    assert pattern[2, end - 1, 0] == 1
    assert pattern[2, end - 2, 0] == pytest.approx(1 / 5)


@given(st.lists(st.integers(0, 999), min_size=2, max_size=6))
@settings(max_examples=25, deadline=None)
def test_a_scratchpad_from_the_first_operand_is_that_from_zeros_without_its_first_number(operands: list[int]) -> None:
    written = [str(operand) for operand in operands]
    spec = NAMES["coupling/fig6/first-operand"].specs["night"]
    assert overlay(spec, {"data.task.from_zero": True}) == NAMES["coupling/fig6/padding"].specs["night"]
    first, zeros = (
        "".join(encode(one, written)["tokens"]) for one in (spec, overlay(spec, {"data.task.from_zero": True}))
    )
    query, _, response = zeros.partition("=")
    assert first == f"{query}={response.partition('>')[2]}"
    length, count = max(map(len, written)), len(written)
    assert sum(spec.data.tokens(length, count)) == len(first)


def test_the_best_published_number_is_of_two_layers_with_two_heads() -> None:
    entries = {value.id: value for value in values("coupling")}
    for name, layers, heads in (("addition-90", 2, 2), ("addition-67.8", 6, 8)):
        (experiment,) = entries[name].experiments
        model = NAMES[experiment].specs["paper"].model
        assert (model.layers, model.heads, NAMES[experiment].seeds) == (layers, heads, 6)
    assert entries["addition-90"].published == 90 and entries["addition-67.8"].published == 67.8
    shown = NAMES["coupling/fig1/coupling-scratchpad"]
    assert (shown.specs["paper"].model.layers, shown.specs["paper"].model.heads, shown.seeds) == (6, 8, 4)


def test_a_run_of_the_whole_paper_leaves_out_what_is_extra_there_and_naming_it_runs_it() -> None:
    chosen = CATALOGUE.select("coupling")
    kept, left_out = suite(chosen, "coupling", "cpu")
    assert "coupling/fig1/coupling-scratchpad" in [item.name for item in kept]
    assert "coupling/fig13/20k" in [item.name for item in left_out]
    assert suite(chosen, "coupling", "smoke") == (list(chosen), [])
    named = CATALOGUE.select("coupling/fig13")
    assert suite(named, "coupling/fig13", "cpu") == (list(named), [])
    both = CATALOGUE.select("coupling task_hinting/fig3.3")
    assert suite(both, "coupling task_hinting/fig3.3", "cpu")[0] == [*kept, *CATALOGUE.select("task_hinting/fig3.3")]


@given(st.integers(2, 7), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_closed_form_is_what_the_constructed_model_attends_to(operands, digits):
    sizes = Sizes(operands=operands, digits=digits)
    batch = writer(sizes).write(ADDITION.test(1, digits, operands, torch.Generator().manual_seed(0)))
    tokens = [VOCAB.decode([token]) for token in batch.tokens[0, :-1]]
    mean, _, _ = measure_attention(constructed(sizes, 20.0), batch)
    np.testing.assert_allclose(mean[0].detach().numpy(), measures.predicted(tokens), atol=1e-5)


def test_overlap_and_operands_read_by_hand():
    trained = np.array([[[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]]])
    pattern = np.array([[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]])
    assert measures.overlaps(trained, pattern, slice(None)).tolist() == [[pytest.approx((0.7 + 0.5) / 2)]]
    # Without the first token: rows (1, 0) against (1, 0); the second row of the pattern has nothing else.
    assert measures.overlaps(trained, pattern, slice(None), start=False).tolist() == [[pytest.approx(1.0)]]
    # Where no row has anything else there is no overlap to speak of.
    assert np.isnan(measures.overlaps(trained[:, 1:], pattern[:, 1:], slice(None), start=False)).all()
    tokens = tuple("$012+345+067=424")
    lines = np.zeros((1, 1, 16, 16), np.float32)
    for step, keys in ((12, (3, 7, 11)), (13, (2, 6, 10)), (14, (1, 5, 9))):
        lines[0, 0, step, keys] = 1 / 3
    assert measures.operands_read(AttentionMap(tokens, lines, 1)) == 1
    assert measures.operands_read(AttentionMap(tokens, np.full((1, 1, 16, 16), 1 / 16, np.float32), 1)) == 0


def test_overlap_is_between_0_and_1_and_nearest_takes_different_heads():
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
    found = np.zeros((1, 5, 4))
    found[0, 0] = [0.9, 0.8, 0.0, 0.0]  # best for both, used once
    found[0, 1] = [0.7, 0.1, 0.0, 0.0]
    found[0, 2, 2] = found[0, 4, 3] = 0.5
    assert measures.nearest(found) == [(0, 1), (0, 0), (0, 2), (0, 4)]
    deep = np.zeros((6, 8, 4))
    for one, place in enumerate([(5, 7), (0, 1), (3, 3), (2, 6)]):
        deep[place][one] = 0.6
    assert measures.nearest(deep) == [(5, 7), (0, 1), (3, 3), (2, 6)]


def runs(*with_map: str, rate=0.5):
    """Runs of the figure; maps are the construction's pattern, the heads in another order for trained models."""
    pattern = measures.predicted(TOKENS).astype(np.float32)
    made = {}
    for name in ATTENTION.reads:
        order = [0, 1, 2, 3] if "thm4.1" in name else [1, 0, 3, 2]
        record = AttentionMap(tuple(TOKENS), pattern[order][None], 3)
        made[name] = [run(name, NAMES[name].specs["cpu"], rate=rate, attention=record)] if name in with_map else []
    return made


def test_the_picture_the_csv_and_the_measure_of_claims_hold_the_overlap():
    with plotting.style():
        drawing = ATTENTION.draw(runs(*ATTENTION.reads, rate=1.0))
    titles = [axes.get_title() for axes in drawing.findobj(Axes) if axes.images]
    assert titles[:4] == [*measures.HEADS]
    assert titles[4:8] == [f"layer 1, head {head}" for head in (2, 1, 4, 3)]
    rows = list(csv.DictReader(io.StringIO(special_plots.overlap_csv(runs(*ATTENTION.reads[:2])))))
    assert len(rows) == 2 * 4 * 4
    for row in rows[16:]:
        expected = int(row["head"]) == [2, 1, 4, 3][int(row["constructed_head"]) - 1]
        assert (float(row["overlap"]) > 0.999) == expected
        assert float(row["even_overlap"]) < 0.3
    made = runs(*ATTENTION.reads)
    trained = made["coupling/fig7/coupling-scratchpad"][0]
    value = MEASURES["construction_overlap"].value
    assert value(trained) == (pytest.approx(1), 1)
    refused(Missing, "recorded no attention", value, run("x", NAMES["coupling/fig7/coupling-scratchpad"].specs["cpu"]))


def test_operands_read_are_those_of_a_loop_and_without_a_scratchpad_nothing_overlaps():
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
    tokens = tuple("$012+345=753")
    weights = np.full((1, 2, len(tokens), len(tokens)), 1 / len(tokens), np.float32)
    plain = dataclasses.replace(
        runs(*ATTENTION.reads)["coupling/fig7/coupling-scratchpad"][0], attention=AttentionMap(tokens, weights, 1)
    )
    with pytest.raises(Missing, match="fig7/coupling-scratchpad has no row that this is measured on"):
        MEASURES["construction_overlap"].value(plain)
    assert MEASURES["operands_read"].value(plain)[1] == 1


@pytest.mark.parametrize("operands", [2, 5])
def test_heads_of_the_construction_that_add_read_one_operand_at_a_time_and_its_head_for_arrows_all(operands):
    """So a scratchpad does not keep every head from reading them all, and no claim says so."""
    tokens = ("$", *"+".join(["01"] * operands), "=", *">".join(["00"] * (operands + 1)))
    heads = measures.predicted(tokens)[None].astype(np.float32)
    adding, arrows = (measures.operands_read(AttentionMap(tokens, heads[:, some], 1)) for some in ([0, 1], [2]))
    assert adding <= 1 / operands < arrows


@BOTH
def test_the_trained_range_is_right_at_every_start_id_and_no_length_beyond_it_is(model):
    rows = model.table.counts()
    for length in model.lengths:
        rates = [row["correct"] / row["n"] for row in rows if row["length"] == length]
        assert (min(rates) >= 0.98) if length <= model.trained else (max(rates) - min(rates) > 0.3)
    assert {row["length"] for row in rows} == set(model.lengths)


@pytest.mark.slow
def test_lengths_beyond_the_range_are_lost_or_solved_by_the_start_id_in_the_stored_model_too():
    for length in (length for length in PUBLISHED.lengths if length > PUBLISHED.trained):
        rates = [row["correct"] / row["n"] for row in PUBLISHED.table.counts() if row["length"] == length]
        assert min(rates) < 0.1 and max(rates) > 0.7
    rows = start_ids.measure(PUBLISHED._replace(examples=2))
    few = {(row["length"], row["start"]): row["correct"] / row["n"] for row in rows}
    assert len(few) == len(PUBLISHED.table.counts())
    assert few[10, 1] == few[10, 17] == 1
    assert few[12, 1] == 0 and few[12, 14] == 1


@BOTH
def test_start_id_1_has_the_counts_of_the_figure(model):
    paper, figure, variant = model.experiment.split("/")
    with (SCORES / paper / figure / "scores.csv").open(encoding="utf-8") as file:
        wanted = {"variant": variant, "profile": "night", "seed": "0", "count": str(model.operands)}
        stored = {
            int(row["length"]): (int(row["n"]), int(row["correct"]))
            for row in csv.DictReader(file)
            if wanted.items() <= row.items() and row["mode"] == "teacher_forced"
        }
    ours = {row["length"]: (row["n"], row["correct"]) for row in model.table.counts() if row["start"] == 1}
    assert set(ours) - set(stored) == ({8} if model is SHORTER else set()), "the figure does not test eight digits"
    assert all(stored[length] == counts for length, counts in ours.items() if length in stored)


@pytest.mark.parametrize(("length", "number"), [(5, 0), (5, 2), (20, 10), (50, 50)])
def test_strings_have_so_many_ones_and_differ(length, number):
    found = ones.strings(length, number)
    assert len(set(found)) == len(found) == min(ones.EXAMPLES, comb(length, number))
    assert all(len(one) == length and one.count("1") == number for one in found)


def test_the_number_of_ones_tells_which_long_strings_are_right():
    assert [(row["length"], row["ones"]) for row in ROWS] == [(n, k) for n in ones.LENGTHS for k in range(n + 1)]
    assert all(row["n"] == min(ones.EXAMPLES, comb(row["length"], row["ones"])) for row in ROWS)
    few = [row for row in ROWS if row["ones"] <= 14]
    assert len(few) == 116 and sum(row["correct"] == row["n"] for row in few) == 112
    assert not any(row["correct"] for row in ROWS if row["ones"] == 16)
    for length, least in {25: 0.99, 30: 0.97, 40: 0.79, 60: 0.6, 80: 0.6, 100: 0.6}.items():
        right, decided = ones.shares_of(ROWS, length)
        assert decided > least and (length < 40 or 0.45 < right < 0.55)
    assert ones.shares_of(ROWS, 20).right > 0.99
    rows = [{"length": 2, "ones": k, "n": 4, "correct": right} for k, right in enumerate((4, 0, 2))]
    assert ones.shares_of(rows, 2) == (0.375, 0.875)
    found = {
        (row["experiment"].split("/")[-1], int(row["seed"]), int(row["length"])): row for row in ones.MODELS.read()
    }
    assert {length for *_, length in found} == {*ones.LENGTHS} and len(found) == 6 * len(ones.LENGTHS)
    for model in (("nope-plain", 1), ("nope-plain", 2), ("fire-plain", 0)):
        assert all(float(found[(*model, length)]["decided"]) == 100 for length in (40, 60, 80, 100))
    for length in ones.LENGTHS:
        assert abs(float(found["nope-plain", 0, length]["right"]) - 100 * ones.shares_of(ROWS, length).right) < 4


@pytest.mark.slow
def test_the_stored_model_tells_the_same_numbers_of_ones_apart():
    few = {(row["length"], row["ones"]): row["correct"] / row["n"] for row in ones.measure(examples=1)}
    assert few[20, 5] == few[60, 7] == few[100, 10] == 1
    assert few[20, 16] == few[40, 16] == few[100, 16] == 0

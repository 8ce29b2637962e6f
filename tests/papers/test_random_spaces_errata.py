"""Errata of the thesis on integer addition: what follows from the print, and what this code does instead."""

import collections
import math

import numpy as np
import pytest
import torch

from lengen import DigitSteps, Linear, ModelSpec, RandomSpaces, TaskData, TwoOperandAddition
from lengen.digits import Problems, generator
from lengen.encodings.alibi_rope_and_keys import ALiBi
from lengen.formats.base import PAD
from lengen.metrics.run_measures import LEARNED
from lengen.models import Record
from lengen.models.blocks import Attention, Context
from lengen.settings.changes import overlay
from papers.random_spaces.experiments import EXPERIMENTS, WIDTHS
from papers.random_spaces.measurements import PARTS, score_parts
from papers.random_spaces.profiles import BASE, up_to
from reproduce.comparison.published_values import values

NUMBERS = {value.id: round(value.published / 100, 9) for value in values("random_spaces")}
SPECS = {item.name.removeprefix("random_spaces/"): item.specs["paper"] for item in EXPERIMENTS}
DATA_SIZES = ("10k", "100k", "1m", "10m")


def two_operands(longest: int, **fields: object) -> TaskData:
    """Problems of 1 to ``longest`` digits as the thesis writes them, with other ``fields`` of the data."""
    data = {"task": TwoOperandAddition(up_to(longest)), "examples": 0, **fields}
    return TaskData(overlay(BASE["smoke"], {"data": data, "test.lengths": (longest,)}), 0)


def tokens(data: TaskData, operands: list[str], copies: int = 1) -> torch.Tensor:
    """Problems as trained on, with spaces where the specification has them."""
    given = data.task.parse(operands)
    given = Problems(given.operands.expand(copies, -1, -1), given.lengths.expand(copies, -1))
    return data.writer.write(given, generator("errata")).tokens


def text(data: TaskData, operands: list[str]) -> str:
    return data.vocab.decode(tokens(data, operands)[0])


def test_a_sum_may_be_a_digit_longer_than_the_padding():
    data = two_operands(5, format=Linear(pad_to=5))
    assert text(data, ["123", "456"]) == "$00123+00456=00579$"
    assert text(data, ["99999", "1"]) == "$99999+00001=100000$", "not of one length"


def test_padding_stands_on_the_side_of_the_most_significant_digit_also_when_reversed():
    assert (
        text(two_operands(5, format=Linear(pad_to=5, reverse_response=True)), ["123", "456"]) == "$00123+00456=97500$"
    )


def test_the_printed_spaces_are_one_more_than_half_of_the_operands():
    """rho = 0.5 and 123+456: three by the tokens of the operands, four with the "=", as in the printed example."""
    printed = "1 23 +4 5 6"
    assert int(0.5 * len(printed.replace(" ", ""))) == 3 < printed.count(" ") == int(0.5 * len("123+456="))
    data = two_operands(3, spaces=RandomSpaces(ratio=0.5))
    written = (tokens(data, ["123", "456"], 500) == data.vocab.id(" ")).sum(dim=1)
    assert set(written.tolist()) == {0, 1, 2, 3, 4}


def test_no_position_of_25_digits_is_untrained_beside_spaces():
    """Tokens of $a+b=c$: 62 with 19 digits, 80 with 25; spaces lengthen the former beyond the latter."""
    data = two_operands(19, spaces=RandomSpaces(ratio=0.5))
    widths = (tokens(data, ["9" * 19] * 2, 400) != PAD).sum(dim=1)
    longer = 1 + 25 + 1 + 25 + 1 + 26 + 1
    assert int(widths.min()) == 62 and int(widths.max()) >= 62 + int(0.5 * len("9" * 19 + "+" + "9" * 19)) > longer
    answer = longer - 26 - 1
    assert 62 - answer == 9 and int((widths > answer + 16).sum()) > 100, "neither spaces nor none end at place 16"


def test_ten_to_twelve_digits_lie_within_the_padding_of_figure_4_5_and_fail():
    padded = SPECS["fig4.5/zero-pad"]
    span, lengths = padded.data.trained, np.array(padded.test.lengths)
    inside = [int(n) for n in lengths if span.length < n < 13]
    assert inside == [10, 11, 12] and padded.data.format.pad_to == 13
    printed = [NUMBERS[f"fig4.5-accuracy-zero-pad-{place}"] for place in ("gap", "next", "11", "12")]
    assert printed[0] > 0.9 and max(printed[1:]) <= 0.05


def test_most_wrong_answers_of_figure_4_6_have_right_partial_results():
    """At 18 digits, of 1,000: 435 answers wrong, and of those at most 12 because of their partial results."""
    wrong = round(1000 * (1 - NUMBERS["fig4.6-answer-right-18"]))
    wrong_partials = round(1000 * (1 - NUMBERS["fig4.6-implied-right-18"]))
    assert (wrong, wrong_partials, wrong - wrong_partials) == (435, 12, 423)
    true = "8 1 + 5;c=0,8+5+0=3,c=1;1+0+1=2,c=0|23$"
    scores = score_parts([true.replace("|23", "|32")], [true])
    hits = {name: int(scores[f"hits.part.{name}"][0]) for name in PARTS}
    assert hits["partials_imply_answer"] == 1, "what the caption calls the answer with respect to the scratchpad"
    assert hits["answer_of_partials"] == hits["answer"] == 0, "and yet the answer was read off wrongly"


def test_the_scratchpad_of_figure_4_6_has_random_spaces_and_that_of_figure_4_5_none():
    parts, formats = SPECS["fig4.6/scratchpad"].data, SPECS["fig4.5/scratchpad"].data
    assert parts.format == formats.format == DigitSteps()
    assert parts.spaces == RandomSpaces(ratio=0.5) and formats.spaces is None
    assert NUMBERS["fig4.6-answer-right-20"] > 0.9 and NUMBERS["fig4.5-accuracy-scratchpad-next"] == 0.0


def gains(region: str) -> list[float]:
    means = [[NUMBERS[f"table4.3-{size}-{kind}-mean-{region}"] for kind in ("add", "mix")] for size in DATA_SIZES]
    return [round(100 * (mix - add), 1) for add, mix in means]


def test_small_data_do_not_gain_most_in_table_4_3():
    assert gains("gap") == [28.4, 20.3, 23.4, 18.7], "not falling: 1M gains more than 100K"
    assert gains("next") == [2.4, 1.0, 1.5, 3.1], "and at 10 digits the largest data gain most"


def test_every_cell_of_table_4_3_has_the_same_widths_and_none_below_64():
    cells = collections.defaultdict(set)
    for name, made in SPECS.items():
        if name.startswith("table4.3/"):
            cells[name.rpartition("-w")[0]].add(made.model.width)
    assert len(cells) == 8 and all(widths == set(WIDTHS) for widths in cells.values())
    assert (min(WIDTHS), max(WIDTHS)) == (64, 1536)


def test_table_4_3_is_measured_by_sampling_and_greedily():
    for name, made in SPECS.items():
        assert (made.test.sampled == 100) == name.startswith(("table4.3/", "fig4.9/"))
    assert NUMBERS["table4.3-10k-mix-mean-gap"] == pytest.approx(0.354)


def test_one_way_of_training_has_two_published_results_at_ten_digits():
    """100,000 problems of 1 to 7 and 9 digits with random spaces: Figure 4.5 and Table 4.3, addition only."""
    one, other = SPECS["fig4.5/spaces"].data, SPECS["table4.3/100k-add-w128"].data
    assert (one.task, one.examples, one.spaces) == (other.task, other.examples, other.spaces)
    assert NUMBERS["fig4.5-accuracy-spaces-next"] == 0.75
    assert NUMBERS["table4.3-100k-add-mean-next"] == NUMBERS["table4.3-100k-add-deviation-next"] == 0.0


def test_scores_are_divided_by_the_root_of_the_head_dimension_before_a_bias_is_added():
    """Neither by the root of the width, as Attention is defined there, nor not at all, as in the line on ALiBi."""
    torch.manual_seed(0)
    model = ModelSpec(layers=1, heads=2, width=16, head_dim=8, ff_width=32, scale_attention=True)
    attention, ids, encoding = Attention(model).double(), torch.arange(5)[None, None], ALiBi(model.heads)
    bias = encoding.bias(ids, ids).double()
    x = 3 * torch.randn(2, 5, model.width).double()
    context = Context(encoding, ids, ids, bias, None)
    products = attention._queries(attention.query(x), context) @ attention.memory(x, encoding, ids).keys.mT
    above = torch.ones(5, 5).triu(1).bool()

    def weights(divisor: float) -> torch.Tensor:
        return (products / divisor + bias).masked_fill(above, -math.inf).softmax(dim=-1)

    record = Record("attention")
    attention(x, context, record=record)
    found = record.attention[0]["self"].double()
    assert torch.allclose(found, weights(math.sqrt(model.head_dim)), atol=1e-6)
    for printed in (math.sqrt(model.width), 1.0):
        assert not torch.allclose(found, weights(printed), atol=1e-2)


def test_the_middle_of_figure_4_1_had_not_learned_its_longest_length():
    """E23: the published accuracy at the trained lengths, beside that of the models of Figure 4.5."""
    assert NUMBERS["fig4.1-1-7-ape-7"] == 0.39 < NUMBERS["fig4.1-1-7-ape-6"] == 0.72 < LEARNED
    assert NUMBERS["fig4.2-1-7-ut-7"] == 0.87 < LEARNED
    assert NUMBERS["fig4.5-accuracy-ape-in_range"] == 1.0 and NUMBERS["fig4.5-accuracy-ape-gap"] == 0.0

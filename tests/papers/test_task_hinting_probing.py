"""Bases, projections and both mechanisms against literal loops, and on models whose residual stream is known."""

import math

import numpy as np
import pytest
import torch

from lengen.config.spec import SpecError
from lengen.data.datamodule import ArithmeticData
from lengen.tasks import Problems
from lengen.training.build import build_model
from lengen.vocab import FIRST
from papers.task_hinting.experiments import EXPERIMENTS
from papers.task_hinting.probing import Bases, bases, mechanisms, orthogonality, probe, projections
from papers.task_hinting.spec import ProbedSpec

NAMES = {item.name.removeprefix("task_hinting/"): item for item in EXPERIMENTS}


def spec() -> ProbedSpec:
    return NAMES["fig3.6/none"].specs["smoke"]


def literal_top(values: list[float], k: int) -> set[int]:
    return set(sorted(range(len(values)), key=lambda i: -values[i])[:k])


@pytest.mark.parametrize("length", [2, 3, 7])
def test_mechanisms_against_a_literal_loop(length):
    chosen = spec()
    model, data = build_model(chosen, 3), ArithmeticData(chosen, 0)
    problems = data.test(length, 1, 40)
    minimum, both = mechanisms(model, data, problems)
    hits, pairs = [], []
    decoder = model.head.weight.detach()
    for row in range(40):
        one = problems.select(torch.tensor([row]))
        numbers = one.operands[0, 0].tolist()
        stream = model.residuals(data.writer.write(one))
        at_delimiter = [float(stream[0][0][0, length].detach() @ decoder[FIRST + k]) for k in range(10)]
        hits.append(literal_top(at_delimiter, 1) == {min(numbers) - 1})
        for place, number in enumerate(sorted(numbers)):
            larger = [other for other in numbers if other > number]
            if larger:
                shown = [float(stream[1][0][0, length + 1 + place].detach() @ decoder[FIRST + k]) for k in range(10)]
                pairs.append(literal_top(shown, 2) == {number - 1, min(larger) - 1})
    assert minimum.tolist() == hits
    assert both.tolist() == pairs


class Known:
    """A model whose residual stream is written down: every token shows what the mechanisms ask for."""

    def __init__(self, data: ArithmeticData, minimum: int, shown: dict[int, set[int]]) -> None:
        self.head = torch.nn.Linear(10, len(data.vocab), bias=False)
        self.head.weight.data.zero_()
        self.head.weight.data[FIRST : FIRST + 10] = torch.eye(10)
        self.embedding = torch.nn.Embedding(len(data.vocab), 10)
        self.device = torch.device("cpu")
        self.minimum, self.shown = minimum, shown

    def residuals(self, batch):
        tokens = batch.tokens[0].tolist()
        first, second = torch.zeros(1, len(tokens), 10), torch.zeros(1, len(tokens), 10)
        for place, token in enumerate(tokens):
            first[0, place, self.minimum - 1] = 1.0
            for number in self.shown.get(token - FIRST + 1, ()):
                second[0, place, number - 1] = 2.0
        return [(first, first), (second, second)]


def test_mechanisms_see_what_a_residual_stream_shows():
    data = ArithmeticData(spec(), 0)
    problems = Problems(torch.tensor([[[5, 3, 3, 9]]]), torch.tensor([[4]]))
    shows = {3: {3, 5}, 5: {5, 9}}
    minimum, both = mechanisms(Known(data, 3, shows), data, problems)
    assert minimum.tolist() == [True]
    assert both.tolist() == [True, True, True], "3, 3 and 5 have a larger number; 9 is left out"
    minimum, both = mechanisms(Known(data, 5, {3: {3, 9}, 5: {5, 9}}), data, problems)
    assert minimum.tolist() == [False]
    assert both.tolist() == [False, False, True]


def test_bases_are_the_embedding_and_the_columns_of_the_head():
    model = build_model(spec(), 0)
    found = bases(model)
    assert torch.equal(found.encoder, model.embedding.weight)
    assert torch.equal(found.decoder, model.head.weight)
    assert found.decoder.shape == (13, 16), "one column of W for each of 10 numbers, the delimiter, $ and PAD"


def test_orthogonality_of_known_bases():
    eye = torch.zeros(FIRST + 4, 8)
    eye[FIRST:, :4] = torch.eye(4)
    other = torch.zeros(FIRST + 4, 8)
    other[FIRST:, 4:] = 3 * torch.eye(4)
    values = orthogonality(Bases(eye, other), 4)
    assert set(values) == {
        "encoder_cosine",
        "decoder_cosine",
        "between_cosine",
        "encoder_norm_spread",
        "decoder_norm_spread",
    }
    assert all(value == 0 for value in values.values())
    same = orthogonality(Bases(torch.ones(6, 8), eye), 4)
    assert same["encoder_cosine"] == pytest.approx(1)
    assert same["between_cosine"] == pytest.approx(1 / math.sqrt(8))
    stretched = eye.clone()
    stretched[FIRST] *= 3
    assert orthogonality(Bases(stretched, eye), 4)["encoder_norm_spread"] == pytest.approx(
        np.std([3, 1, 1, 1]) / 1.5, rel=1e-6
    )


def test_projections_are_dot_products_of_every_layer_stage_and_position():
    chosen = spec()
    model, data = build_model(chosen, 1), ArithmeticData(chosen, 0)
    batch = data.writer.write(data.test(4, 1, 3))
    found = projections(model, batch)
    stream = model.residuals(batch)
    assert found["encoder"].shape == found["decoder"].shape == (2, 2, 3, 9, 13)
    for layer in (0, 1):
        for stage in (0, 1):
            for name, basis in (("encoder", model.embedding.weight), ("decoder", model.head.weight)):
                expected = torch.einsum("btc,vc->btv", stream[layer][stage], basis)
                assert torch.allclose(found[name][layer, stage], expected, atol=1e-5)


def test_a_probe_names_tokens_and_vocabulary():
    chosen = spec()
    model, data = build_model(chosen, 1), ArithmeticData(chosen, 0)
    found = probe(model, data, ["9", "2", "2"])
    assert found["tokens"].tolist() == ["9", "2", "2", "⊥", "2", "2", "9"]
    assert found["vocabulary"].tolist() == ["PAD", "$", *map(str, range(1, 11)), "⊥"]
    assert found["encoder"].shape == found["decoder"].shape == (2, 2, 7, 13)
    assert found["encoder"].dtype == np.float16


def test_a_run_keeps_what_it_probed(tmp_path):
    chosen = spec()
    outcome = chosen.run(0, tmp_path, lambda progress: None)
    for length in chosen.test.lengths:
        assert outcome.arrays[f"hits.minimum.{length}"].shape == (8,)
        hits = outcome.arrays[f"hits.identity_successor.{length}"]
        assert 0 < len(hits) < 8 * length
        assert set(hits.tolist()) <= {0, 1}
    assert outcome.arrays["probe0.tokens"].tolist() == ["1", "2", "4", "8", "9", "⊥", "1", "2", "4", "8", "9"]
    assert 0 < outcome.info["scalars"]["encoder_cosine"] < 1
    assert "val_exact_match" in outcome.info["scalars"]


def test_a_run_without_probes_keeps_none(tmp_path):
    outcome = NAMES["table3/standard"].specs["smoke"].run(0, tmp_path, lambda progress: None)
    assert outcome.arrays == {}
    assert "encoder_cosine" not in outcome.info["scalars"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("probe.examples=-1", "expected int >= 0"),
        ("model.layers=1", "take two layers"),
        ("data.task=next_larger", "models that sort"),
        ("data.task.alphabet=8", "1 to 8"),
        ('probe.sequences=[["1", "x"]]', "1 x is no sequence"),
    ],
)
def test_probes_that_make_no_sense_are_refused(override, words):
    with pytest.raises(SpecError, match=words) as caught:
        spec().override(override)
    assert "\n" not in str(caught.value)

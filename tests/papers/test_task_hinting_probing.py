"""Probes of models that sort, and the specification of the constructed one."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from lengen import ArithmeticData, SettingError, build_model, from_dict, validate
from lengen.digits import Problems
from lengen.formats.base import FIRST
from lengen.model_probing import Bases, bases, orthogonality, probe, projections
from lengen.solve import solve
from lengen.training.dispatch import run_setting
from papers.task_hinting.experiments import EXPERIMENTS
from papers.task_hinting.mechanisms import Hits, mechanisms
from papers.task_hinting.profiles import ProbedSpec, ProbeSpec
from papers.task_hinting.theorem_spec import TheoremSpec, gain, largest_alphabet, largest_length, sharpness, theorem
from tests.fixtures.refusals import refused

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
    found = mechanisms(model, data, problems)
    expected = {name: [] for name in Hits._fields}
    encoder, decoder = model.embedding.weight.detach(), model.head.weight.detach()

    def onto(basis, half, place: int) -> list[float]:
        return [float(half[0, place].detach() @ basis[FIRST + k]) for k in range(10)]

    for row in range(40):
        one = problems.select(torch.tensor([row]))
        numbers = one.operands[0, 0].tolist()
        stream = model.residuals(data.writer.write(one))
        for place, number in enumerate(numbers):
            shown = [literal_top(onto(encoder, half, place), 1) == {number - 1} for layer in stream for half in layer]
            expected["copy"].append(shown[0])
            expected["copy_throughout"].append(all(shown))
        expected["minimum"].append(literal_top(onto(decoder, stream[0][0], length), 1) == {min(numbers) - 1})
        expected["guessed"].append(1 in numbers)
        ordered = sorted(numbers)
        for place, number in enumerate(ordered):
            larger = [other for other in numbers if other > number]
            if not larger:
                continue
            before, after = (onto(decoder, half, length + 1 + place) for half in stream[1])
            expected["identity_successor"].append(literal_top(before, 2) == {number - 1, min(larger) - 1})
            if ordered[place + 1] > number:
                leaves = literal_top(after, 1) == {min(larger) - 1}
                expected["denoiser"].append(after[number - 1] < before[number - 1] and leaves)
    assert {name: hits.tolist() for name, hits in found._asdict().items()} == expected


class Known:
    """A model whose residual stream is written down: every token shows what the mechanisms ask for."""

    def __init__(self, data: ArithmeticData, minimum: int, shown: dict[int, set[int]], left: float) -> None:
        self.head = torch.nn.Linear(20, len(data.vocab), bias=False)
        self.embedding = torch.nn.Embedding(len(data.vocab), 20)
        for weight, shift in ((self.head.weight.data, 0), (self.embedding.weight.data, 10)):
            weight.zero_()
            weight[FIRST : FIRST + 10, shift : shift + 10] = torch.eye(10)
        self.device = torch.device("cpu")
        self.minimum, self.shown, self.left = minimum, shown, left

    def residuals(self, batch):
        tokens = batch.tokens[0].tolist()
        first, second, last = torch.zeros(3, 1, len(tokens), 20)
        for place, token in enumerate(tokens):
            number = token - FIRST + 1
            first[0, place, self.minimum - 1] = 1.0
            if number <= 10:
                first[0, place, 10 + number - 1] = last[0, place, 10 + number - 1] = 1.0
                second[0, place, 10 + (number - 1 if number != 9 else 0)] = 1.0
            for other in self.shown.get(number, ()):
                second[0, place, other - 1] = 2.0
                last[0, place, other - 1] = self.left if other == number else 2.0
        return [(first, first), (second, last)]


def test_a_probe_names_tokens_and_mechanisms_are_seen_in_known_streams():
    chosen = spec()
    model, data = build_model(chosen, 1), ArithmeticData(chosen, 0)
    found = probe(model, data, ["9", "2", "2"])
    assert found["tokens"].tolist() == ["9", "2", "2", "⊥", "2", "2", "9"]
    assert found["vocabulary"].tolist() == ["PAD", "$", *map(str, range(1, 11)), "⊥"]
    assert found["encoder"].shape == found["decoder"].shape == (2, 2, 7, 13)
    assert found["encoder"].dtype == np.float16
    problems = Problems(torch.tensor([[[5, 3, 3, 9]]]), torch.tensor([[4]]))
    hits = mechanisms(Known(data, 3, {3: {3, 5}, 5: {5, 9}}, left=0.5), data, problems)
    assert hits.copy.tolist() == [True] * 4
    assert hits.copy_throughout.tolist() == [True, True, True, False], "9 shows 1 after the second attention"
    assert (hits.minimum.tolist(), hits.guessed.tolist()) == ([True], [False])
    assert hits.identity_successor.tolist() == [True, True, True], "3, 3 and 5 have a larger number; 9 is left out"
    assert hits.denoiser.tolist() == [True, True], "the last 3, and 5"
    hits = mechanisms(Known(data, 5, {3: {3, 9}, 5: {5, 9}}, left=2.5), data, problems)
    assert hits.minimum.tolist() == [False]
    assert hits.identity_successor.tolist() == [False, False, True]
    assert hits.denoiser.tolist() == [False, False], "the token itself stays largest"
    eye = torch.zeros(FIRST + 4, 8)
    eye[FIRST:, :4] = torch.eye(4)
    other = torch.zeros(FIRST + 4, 8)
    other[FIRST:, 4:] = 3 * torch.eye(4)
    values = orthogonality(Bases(eye, other), 4)
    cosines = {f"{basis}_cosine" for basis in ("encoder", "decoder", "between")}
    assert set(values) == cosines | {"encoder_norm_spread", "decoder_norm_spread"}
    assert all(value == 0 for value in values.values())
    same = orthogonality(Bases(torch.ones(6, 8), eye), 4)
    assert same["encoder_cosine"] == pytest.approx(1)
    assert same["between_cosine"] == pytest.approx(1 / math.sqrt(8))
    stretched = eye.clone()
    stretched[FIRST] *= 3
    assert orthogonality(Bases(stretched, eye), 4)["encoder_norm_spread"] == pytest.approx(
        np.std([3, 1, 1, 1]) / 1.5, rel=1e-6
    )
    batch = data.writer.write(data.test(4, 1, 3))
    found = projections(model, batch)
    stream = model.residuals(batch)
    assert found["encoder"].shape == found["decoder"].shape == (2, 2, 3, 9, 13)
    for layer in (0, 1):
        for stage in (0, 1):
            for name, basis in (("encoder", model.embedding.weight), ("decoder", model.head.weight)):
                expected = torch.einsum("btc,vc->btv", stream[layer][stage], basis)
                assert torch.allclose(found[name][layer, stage], expected, atol=1e-5)


def test_a_run_keeps_what_it_probed(tmp_path):
    chosen = spec()
    outcome = run_setting(chosen, 0, tmp_path, lambda progress: None)
    for length in chosen.test.lengths:
        kept = {name: outcome.arrays[f"hits.{name}.{length}"] for name in Hits._fields}
        assert all(set(hits.tolist()) <= {0, 1} for hits in kept.values())
        sizes = {name: len(hits) for name, hits in kept.items()}
        start = outcome.arrays[f"hits.start_copy.{length}"]
        assert len(start) == sizes["copy"] and start.mean() > 0.9, "the untrained start copies as well"
        assert sizes["minimum"] == sizes["guessed"] == 8
        assert sizes["copy"] == sizes["copy_throughout"] == 8 * length
        assert 0 < sizes["denoiser"] <= sizes["identity_successor"] < 8 * length
    assert outcome.arrays["probe0.tokens"].tolist() == ["1", "2", "4", "8", "9", "⊥", "1", "2", "4", "8", "9"]
    scalars = outcome.info["scalars"]
    assert 0 < scalars["encoder_cosine"] < 1
    untrained = orthogonality(bases(build_model(chosen, 0)), chosen.data.task.alphabet)
    assert {f"start_{name}": value for name, value in untrained.items()}.items() <= scalars.items()
    assert "val_exact_match" in outcome.info["scalars"]


def test_a_run_without_probes_keeps_none(tmp_path):
    outcome = run_setting(NAMES["table3/standard"].specs["smoke"], 0, tmp_path, lambda progress: None)
    assert outcome.arrays == {}
    assert "encoder_cosine" not in outcome.info["scalars"]


@pytest.mark.parametrize(("overrides", "words"), [
    (["probe.examples=-1"], "expected int >= 0"), (["model.layers=1"], "take two layers"),
    (["data.task=next_larger", "test.counts=1"], "models that sort"), (["data.task.alphabet=8"], "1 to 8"),
    (['probe.sequences=[["1", "x"]]'], "1 x is no sequence"),
])  # fmt: skip
def test_probes_that_make_no_sense_are_refused(overrides, words):
    refused(SettingError, words, spec().override, *overrides)


@pytest.mark.parametrize(("override", "words"), [
    ("theorem.variant=literal", "expected one of repaired, printed"),
    ("theorem.variant=printed", "set model.ff_width=15"), ("data.task.alphabet=6", "set model.width=42"),
    ("model.width=12", "set model.width=36"), ("model.heads=4", "set model.heads=2"),
    ("model.head_dim=9", "set model.head_dim=18"), ("model.ff_width=4", "set model.ff_width=5"),
    ("model.layers=3", "set model.layers=2"), ("model.linear_bias=false", "set model.linear_bias=true"),
    ("model.tied=true", "set model.tied=false"), ("model.norm=layernorm", "set model.norm=none"),
    ("model.activation=gelu", "set model.activation=relu"),
    ("model.scale_attention=true", "set model.scale_attention=false"),
    ("model.tempered=none", 'set model.tempered={"form": "log", "of": "prompt", "start": 3.0, '),
    ("model.tempered.of=position", '"of": "position".* set model.tempered={"form": "log", "of": "prompt"'),
    ("model.tempered.start=1", '"start": 1.0.* set model.tempered={.*"start": 3.0, '),
    ("model.encoding=learned", "model.encoding=none"), ("data.task=next_larger", "set data.task=sorting"),
    ("data.hints=next_larger", "set data.hints=\\[\\]"),
    ("data.format.begin=true", 'set data.format={.*"begin": false'), ("test.lengths=5,9", "made for at most 8"),
    ("train.precision=bf16-mixed", "set train.precision=32-true"),
    ("data.task.longest=725", "at most 724 numbers exactly"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(override, words):
    spec = theorem(5, 8)
    refused(SettingError, words, spec.override, override)


@pytest.mark.parametrize(("alphabet", "longest", "precision"),
    [(33, 8, "bf16-true"), (5, 33, "bf16-true"), (5, 725, "32-true"), (5, 1 << 25, "64-true")])  # fmt: skip
def test_sizes_beyond_a_precision_are_refused(alphabet, longest, precision):
    with pytest.raises(
        SettingError, match=r"lower data\.task\.(alphabet|longest) or set train\.precision=64-true"
    ) as caught:
        validate(theorem(alphabet, longest, precision=precision))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("precision", ["32-true", "64-true", "bf16-true"])
def test_sizes_at_the_edge_of_a_precision_are_taken(precision):
    longest = largest_length(precision)
    spec = theorem(min(largest_alphabet(precision), 250), longest, precision=precision)
    assert spec.override(f"data.task.longest={longest}") == spec, "what is overridden is checked"


@pytest.mark.parametrize("longest", [*range(1, 100), 1000, 10**6])
def test_kappa_and_gain_keep_a_finished_symbol_below_a_sixteenth(longest):
    """(W + 2) n e^(-kappa tau) with tau = 3 ln(n + 1), for inputs in which another symbol can compete."""
    for n in {2, 3, 4, longest // 2, longest} & set(range(2, longest + 1)):
        assert (gain(longest) + 2) * n * (n + 1.0) ** (-3 * sharpness(longest)) < 1 / 16
    assert gain(longest) / (2 * longest - 1) > 1


def test_it_reads_back_from_json_and_longer_sequences_and_wrong_probes_are_refused():
    spec = theorem(4, 6, (2, 6), variant="printed", probe=ProbeSpec(sequences=(("1", "3"),)))
    assert from_dict(spec.to_dict(), TheoremSpec) == spec
    spec = theorem(5, 3)
    spec.admit((1,))
    spec.admit((3,))
    assert solve(spec, None, ["3", "1", "3"])["correct"]
    with pytest.raises(SettingError, match=r"a sequence of 4 numbers: .* at most 3 .*give fewer"):
        solve(spec, None, ["3", "1", "3", "2"])
    refused(SettingError, "1 to 4", validate, theorem(4, 6, probe=ProbeSpec(sequences=(("1", "5"),))))


def test_a_run_trains_nothing_and_measures_all(tmp_path):
    spec = theorem(5, 10, (1, 2, 5, 10), examples=20, probe=ProbeSpec(examples=20, sequences=(("3", "1", "2"),)))
    outcome = run_setting(spec, 0, tmp_path, lambda progress: None)
    for length in (1, 2, 5, 10):
        assert {score["correct"] for score in outcome.grid.scores[(length,)].values()} == {20}
        assert outcome.arrays[f"hits.minimum.{length}"].all()
        assert outcome.arrays[f"hits.identity_successor.{length}"].all()
    scalars = outcome.info["scalars"]
    assert scalars["between_cosine"] == scalars["encoder_cosine"] == scalars["decoder_norm_spread"] == 0
    assert outcome.info["seconds_training"] == 0


def test_it_is_planned_without_torch():
    code = "import sys, papers.task_hinting.theorem_spec as t; t.theorem(5, 8).check(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"

"""The specification of Theorem 5.1: what it refuses, and that a run of it trains nothing and measures all."""

import subprocess
import sys

import pytest

from lengen import SettingError, from_dict, validate
from lengen.solve import solve
from lengen.training.procedure import run_setting
from papers.task_hinting.profiles import ProbeSpec
from papers.task_hinting.theorem import (
    TheoremSpec,
    gain,
    largest_alphabet,
    largest_length,
    sharpness,
    theorem,
)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("theorem.variant=literal", "expected one of repaired, printed"),
        ("theorem.variant=printed", "set model.ff_width=15"),
        ("data.task.alphabet=6", "set model.width=42"),
        ("model.width=12", "set model.width=36"),
        ("model.heads=4", "set model.heads=2"),
        ("model.head_dim=9", "set model.head_dim=18"),
        ("model.ff_width=4", "set model.ff_width=5"),
        ("model.layers=3", "set model.layers=2"),
        ("model.linear_bias=false", "set model.linear_bias=true"),
        ("model.tied=true", "set model.tied=false"),
        ("model.norm=layernorm", "set model.norm=none"),
        ("model.activation=gelu", "set model.activation=relu"),
        ("model.scale_attention=true", "set model.scale_attention=false"),
        ("model.tempered=none", 'set model.tempered={"form": "log", "of": "prompt", "start": 3.0, '),
        ("model.tempered.of=position", '"of": "position".* set model.tempered={"form": "log", "of": "prompt"'),
        ("model.tempered.start=1", '"start": 1.0.* set model.tempered={.*"start": 3.0, '),
        ("model.encoding=learned", "model.encoding=none"),
        ("data.task=next_larger", "set data.task=sorting"),
        ("data.hints=next_larger", "set data.hints=\\[\\]"),
        ("data.format.begin=true", 'set data.format={.*"begin": false'),
        ("test.lengths=5,9", "made for at most 8"),
        ("train.precision=bf16-mixed", "set train.precision=32-true"),
        ("data.task.longest=725", "at most 724 numbers exactly"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(override, words):
    spec = theorem(5, 8)
    with pytest.raises(SettingError, match=words) as caught:
        spec.override(override)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("alphabet", "longest", "precision"),
    [(33, 8, "bf16-true"), (5, 33, "bf16-true"), (5, 725, "32-true"), (5, 1 << 25, "64-true")],
)
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


def test_longer_sequences_are_not_admitted():
    spec = theorem(5, 3)
    spec.admit((1,))
    spec.admit((3,))
    assert solve(spec, None, ["3", "1", "3"])["correct"]
    with pytest.raises(SettingError, match=r"a sequence of 4 numbers: .* at most 3 .*give fewer"):
        solve(spec, None, ["3", "1", "3", "2"])


def test_it_reads_back_from_json():
    spec = theorem(4, 6, (2, 6), variant="printed", probe=ProbeSpec(sequences=(("1", "3"),)))
    assert from_dict(spec.to_dict(), TheoremSpec) == spec


def test_probes_are_checked_as_in_any_other_run():
    with pytest.raises(SettingError, match="1 to 4"):
        validate(theorem(4, 6, probe=ProbeSpec(sequences=(("1", "5"),))))


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
    code = "import sys, papers.task_hinting.theorem as t; t.theorem(5, 8).check(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"

"""The specification of a run of three steps: its hash, its overrides, its two trainings, and what it refuses."""

import json

import pytest

from lengen import SettingError, from_dict, validate
from lengen.tasks.arithmetic import PairAddition
from papers.bias_calibration.profiles import profile
from papers.bias_calibration.settings import calibrated
from papers.bias_calibration.spec import CalibratedSpec

SPEC = calibrated(profile("smoke", PairAddition))


def test_the_hash_depends_on_both_sections():
    specs = [
        SPEC,
        SPEC.override("interpolation.steps=9"),
        SPEC.override("calibration.line=mean"),
        SPEC.override("calibration.slopes_self=1,0"),
        SPEC.retrained(),
    ]
    assert len({spec.hash() for spec in specs}) == len(specs)
    assert from_dict(json.loads(json.dumps(SPEC.to_dict())), CalibratedSpec) == SPEC
    assert from_dict(SPEC.to_dict()) == SPEC.retrained()


def test_overrides_reach_both_sections():
    spec = SPEC.override("calibration.sigma_cross=3.0", "interpolation.steps=5", "calibration.slopes_cross=0,-1")
    assert (spec.calibration.sigma_cross, spec.calibration.slopes_cross) == (3.0, (0, -1))
    first, second = spec.trainings()
    assert (first.train.steps, second.train.steps) == (5, SPEC.train.steps)
    for text in ("calibration.sigma_cross=high", "interpolation.steps=1.5", "calibration.sigma=2", "interpolate.lr=1"):
        with pytest.raises(SettingError, match=f"--set {text.partition('=')[0]}") as caught:
            SPEC.override(text)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "calibration.attention=logits", "calibration.line=median", "calibration.rows=7", "calibration.rows=0",
        "calibration.examples=0", "calibration.sigma_cross=nan", "calibration.slopes_self=[]", "interpolation.steps=0",
        "train.steps=0", "model.architecture.attention_bias=none", "data.task.limit=9",
    ],
)  # fmt: skip
def test_values_that_mean_nothing_are_refused_in_one_sentence_before_anything_runs(text):
    with pytest.raises(SettingError, match=text.partition("=")[0]) as caught:
        SPEC.override(text)
    assert "\n" not in str(caught.value) and "expected" in str(caught.value)


def test_the_first_model_is_judged_by_validation_and_tested_on_one_problem():
    validate(SPEC.override("test.lengths=4").first())
    assert SPEC.first().test.lengths == (SPEC.data.task.longest,) and SPEC.first().test.examples == 1

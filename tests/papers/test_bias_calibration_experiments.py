"""Experiments of attention bias calibration: their specifications, and carries of the committed models."""

import json

import pytest

import lengen
from lengen import Aligned, NByOne, PairAddition, SettingError, Spec, Successor, TaskData, build_model, from_dict
from lengen.solve import encode
from papers.bias_calibration import settings
from papers.bias_calibration.calibrated_spec import CalibratedSpec, RelativeSpec
from papers.bias_calibration.experiments import EXPERIMENTS, FIGURES
from papers.bias_calibration.profiles import profile
from papers.bias_calibration.settings import calibrated
from tests.fixtures.refusals import refused

NAMES = {experiment.name.partition("/")[2]: experiment for experiment in EXPERIMENTS}
TASKS = ("successor", "addition", "n-by-one")
SPEC = calibrated(profile("smoke", PairAddition))


def test_the_published_model_has_the_layers_that_are_printed():
    """Section 3.3: one encoder layer, six decoder layers, width 128, feed-forward 512; counted by hand."""
    width, hidden, tokens = 128, 512, 13
    attention, norm = 4 * (width + 1) * width, 2 * width
    feed_forward = (width + 1) * hidden + (hidden + 1) * width
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    expected = encoder + 6 * decoder + tokens * width + norm + (width + 1) * tokens
    model = build_model(NAMES["table1/addition-vanilla"].specs["paper"], 0)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


def test_aligned_input_is_for_binary_tasks_vocabularies_are_counted_and_carries_stop():
    aligned = {name for name, experiment in NAMES.items() if isinstance(experiment.specs["paper"].data.format, Aligned)}
    binary = {f"table3/{t}-{kind}" for t in TASKS[1:] for kind in settings.CONFIGURATIONS}
    assert aligned == binary | {name for name in NAMES if name.startswith(("bases/", "varied/"))}
    shown = encode(NAMES["table3/addition-cyclic"].specs["cpu"], ["123", "748"])
    assert "".join(shown["source"]["tokens"]) == "$+" + "00" * 20 + "172438$"
    assert "".join(shown["target"]["tokens"]) == "$178" + "0" * 20 + "$"
    sizes = [len(TaskData(settings.plain(profile("cpu", task)), 0).vocab) for task in (Successor, PairAddition, NByOne)]
    assert sizes == [12, 13, 13]
    assert reads("successor-abc", 199) == 200
    assert (reads("successor-abc", 1999), reads("successor-abc", 199_999)) == (1_900, 190_000)
    assert all(reads("addition-abc", number, 1) == number + 1 for number in (1_999, 10**20 - 1))


def test_figures_read_their_own_experiments_and_runs_say_which_function_makes_them():
    assert {figure.name for figure in FIGURES} == {name.partition("/")[0] for name in NAMES} | {"fig10_11"}
    for figure in FIGURES:
        read = {name.partition("/")[2] for name in figure.reads}
        own = {name for name in NAMES if name.startswith(f"{figure.name}/")}
        abc = {"table1/successor-abc", "table1/addition-abc"}
        beside = {"calibration": abc}.get(figure.name, set())
        assert read == own | beside
    for name, experiment in NAMES.items():
        for size, spec in experiment.specs.items():
            calibrated = name.endswith("abc") or name.startswith(("calibration/", "ladder-abc/", "fig4/", "fig5/"))
            kind = CalibratedSpec if calibrated else RelativeSpec if name.endswith("rpe") else Spec
            assert type(spec) is kind, f"{name} at {size}"
            assert kind is not CalibratedSpec or spec.calibration.rows == spec.data.task.digits
    for task, operands in settings.PROBES.items():
        specs = NAMES[f"table1/{'successor' if task is Successor else 'addition'}-vanilla"].specs
        assert specs["cpu"].test.probes == specs["night"].test.probes == specs["paper"].test.probes == operands
        for spec in (specs["cpu"], specs["night"]):
            assert spec.data.format.width > max(len(text) for problem in spec.test.probes for text in problem)


def test_hash_and_overrides_depend_on_both_sections_and_the_first_model_is_validated():
    specs = [
        SPEC, SPEC.override("interpolation.steps=9"), SPEC.override("calibration.line=mean"),
        SPEC.override("calibration.slopes_self=1,0"), SPEC.retrained(),
    ]  # fmt: skip
    assert len({spec.hash() for spec in specs}) == len(specs)
    assert from_dict(json.loads(json.dumps(SPEC.to_dict())), CalibratedSpec) == SPEC
    assert from_dict(SPEC.to_dict()) == SPEC.retrained()
    spec = SPEC.override("calibration.sigma_cross=3.0", "interpolation.steps=5", "calibration.slopes_cross=0,-1")
    assert (spec.calibration.sigma_cross, spec.calibration.slopes_cross) == (3.0, (0, -1))
    first, second = spec.trainings()
    assert (first.train.steps, second.train.steps) == (5, SPEC.train.steps)
    for text in ("calibration.sigma_cross=high", "interpolation.steps=1.5", "calibration.sigma=2", "interpolate.lr=1"):
        refused(SettingError, f"--set {text.partition('=')[0]}", SPEC.override, text)
    lengen.validate(SPEC.override("test.lengths=4").first())
    assert SPEC.first().test.lengths == (SPEC.data.task.longest,) and SPEC.first().test.examples == 1


@pytest.mark.parametrize(
    "text",
    [
        "calibration.attention=logits", "calibration.line=median", "calibration.rows=7", "calibration.rows=0",
        "calibration.examples=0", "calibration.sigma_cross=nan", "calibration.slopes_self=[]", "interpolation.steps=0",
        "train.steps=0", "model.architecture.attention_bias=none", "data.task.limit=9",
    ],
)  # fmt: skip
def test_values_that_mean_nothing_are_refused_in_one_sentence_before_anything_runs(text):
    caught = refused(SettingError, text.partition("=")[0], SPEC.override, text)
    assert "expected" in caught


def reads(variant: str, *numbers: int) -> int:
    return int(lengen.load(f"bias_calibration/table1/{variant}").solve(list(numbers))["read"])

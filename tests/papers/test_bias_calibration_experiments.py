"""Every experiment of attention bias calibration: declared whole, shared as promised, built, and stepped twice."""

import pytest

from lengen import Spec, TaskData, build_model
from lengen.experiment import PROFILES
from lengen.formats.aligned import Aligned
from lengen.solve import encode
from lengen.tasks.arithmetic import NByOne, PairAddition, Successor
from papers.bias_calibration import settings
from papers.bias_calibration.experiments import EXPERIMENTS, FIGURES
from papers.bias_calibration.profiles import profile
from papers.bias_calibration.spec import CalibratedSpec, RelativeSpec
from reproduce.catalogue import CATALOGUE

NAMES = {experiment.name.partition("/")[2]: experiment for experiment in EXPERIMENTS}
TASKS = ("successor", "addition", "n-by-one")
SHARED = {name: f"table1/{name[5:]}" for name in NAMES if name.startswith(("fig1/", "fig7/"))} | {
    "table2/successor": "table1/successor-vanilla",
    "table2/addition": "table1/addition-vanilla",
    "table2/n-by-one": "table1/n-by-one-vanilla",
    "fig2/successor": "table1/successor-vanilla",
    "fig2/addition": "table1/addition-vanilla",
    "fig8/successor": "table1/successor-vanilla",
    "fig9/addition": "table1/addition-vanilla",
    "fig4/addition": "table1/addition-abc",
    "fig5/n-by-one": "table1/n-by-one-abc",
    "fig6/abc": "table1/addition-abc",
    "fig6/rpe": "table1/addition-rpe",
}
"""Experiment -> the one that is its run at every profile."""
DEPTH = {"table3/successor-vanilla": "table1/successor-vanilla", "table3/parity-vanilla": "table2/parity"}
"""Where scaffolded models are as deep as the others: not at the cpu profile."""
WINDOW = {"varied/addition-w1": "table3/addition-cyclic"}
"""Where windows are varied on as many digits as in Table 3: not on two cores."""
LADDER = {name: "table3/successor-window" for name in NAMES if name.startswith("ladder/")}
"""At a night alone its rungs differ."""
UNDROPPED, DROPPED = ({"table3/parity-window": f"dropout/parity-{rate}"} for rate in ("0", "0.3"))
ALSO = {
    "smoke": {f"calibration/{task}-sinusoidal": f"table1/{task}-abc" for task in TASKS[:2]}
    | (DEPTH | WINDOW | LADDER | UNDROPPED),
    "cpu": {"table3/parity-vanilla": "table2/parity"} | LADDER | UNDROPPED,
    "night": {"table3/parity-vanilla": "table2/parity"} | DROPPED,
    "paper": {f"calibration/{task}-text": f"table1/{task}-abc" for task in TASKS[:2]}
    | (DEPTH | WINDOW | LADDER | DROPPED),
}


@pytest.mark.parametrize("size", PROFILES)
def test_equal_specifications_are_one_run_under_the_first_name(size):
    expected = {name: name for name in NAMES} | SHARED | ALSO[size]
    there = {name: experiment for name, experiment in NAMES.items() if size in experiment.specs}
    homes = {name: CATALOGUE.home(experiment, size).name for name, experiment in there.items()}
    assert homes == {name: f"bias_calibration/{home}" for name, home in expected.items() if name in there}


def test_the_published_model_has_the_layers_that_are_printed():
    """Section 3.3: one encoder layer, six decoder layers, width 128, feed-forward 512; counted by hand."""
    width, hidden, tokens = 128, 512, 13
    attention, norm = 4 * (width + 1) * width, 2 * width
    feed_forward = (width + 1) * hidden + (hidden + 1) * width
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    expected = encoder + 6 * decoder + tokens * width + norm + (width + 1) * tokens
    model = build_model(NAMES["table1/addition-vanilla"].specs["paper"], 0)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


def test_vocabularies_are_those_that_deviation_4_counts():
    sizes = [len(TaskData(settings.plain(profile("cpu", task)), 0).vocab) for task in (Successor, PairAddition, NByOne)]
    assert sizes == [12, 13, 13]


def test_runs_that_record_something_of_their_own_say_which_function_makes_them():
    for name, experiment in NAMES.items():
        for size, spec in experiment.specs.items():
            kind = CalibratedSpec if name.endswith("abc") or name in ("fig4/addition", "fig5/n-by-one") else Spec
            kind = CalibratedSpec if name.startswith("calibration/") else RelativeSpec if name.endswith("rpe") else kind
            assert type(spec) is kind, f"{name} at {size}"
            assert kind is not CalibratedSpec or spec.calibration.rows == spec.data.task.digits
    for task, operands in settings.PROBES.items():
        specs = NAMES[f"table1/{'successor' if task is Successor else 'addition'}-vanilla"].specs
        assert specs["cpu"].test.probes == specs["night"].test.probes == specs["paper"].test.probes == operands
        for spec in (specs["cpu"], specs["night"]):
            assert spec.data.format.width > max(len(text) for problem in spec.test.probes for text in problem)


def test_aligned_input_is_for_scaffolded_binary_tasks_only():
    aligned = {name for name, experiment in NAMES.items() if isinstance(experiment.specs["paper"].data.format, Aligned)}
    binary = {f"table3/{t}-{kind}" for t in TASKS[1:] for kind in settings.CONFIGURATIONS}
    assert aligned == binary | {name for name in NAMES if name.startswith(("bases/", "varied/"))}
    shown = encode(NAMES["table3/addition-cyclic"].specs["cpu"], ["123", "748"])
    assert "".join(shown["source"]["tokens"]) == "$+" + "00" * 20 + "172438$"
    assert "".join(shown["target"]["tokens"]) == "$178" + "0" * 20 + "$"


# ------------------------------------------------------------------ figures and published entries


def test_figures_read_their_own_experiments_and_have_a_function():
    assert {figure.name for figure in FIGURES} == {name.partition("/")[0] for name in NAMES} | {"fig10_11"}
    for figure in FIGURES:
        read = {name.partition("/")[2] for name in figure.reads}
        own = {name for name in NAMES if name.startswith(f"{figure.name}/")}
        abc = {"table1/successor-abc", "table1/addition-abc"}
        beside = {"calibration": abc}.get(figure.name, set())
        assert read == own | beside

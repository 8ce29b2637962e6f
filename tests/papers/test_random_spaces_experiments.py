"""Every experiment of the thesis: declared whole, equal specifications one run, written as Table 4.1 prints."""

import itertools
import json
from types import SimpleNamespace

import pytest
from safetensors.torch import save_model

import lengen
from lengen import SUBTASKS, ArithmeticData, Consecutive, EncoderDecoder, RandomSpaces, Sinusoidal, build_model
from lengen.experiment import PROFILES
from lengen.results.records import Run
from lengen.solve import encode
from lengen.training.run import WEIGHTS
from papers.random_spaces.experiments import EXPERIMENTS, FIGURES, SIZES
from reproduce.catalogue import CATALOGUE, SelectorError
from reproduce.cli import main
from reproduce.commands import solve as problems
from tests.fixtures.refusals import refused

PAPER = "random_spaces"
NAMES = {experiment.name.removeprefix(f"{PAPER}/"): experiment for experiment in EXPERIMENTS}
SWEEP = {name for name in NAMES if name.startswith("table4.3/")}
SMALL = {f"table4.3/{size}-{kind}-w{w}" for size in ("10k", "100k") for kind in ("add", "mix") for w in (64, 128)}
AT_CPU = {name for name in SMALL if "/10k" in name}


def test_every_experiment_is_there_and_both_sides_of_a_comparison_have_one_size():
    assert len(EXPERIMENTS) == len(NAMES) and len(SWEEP) == 4 * 2 * 6, "sizes, with and without sub-tasks, widths"
    for name, experiment in NAMES.items():
        without = {"cpu", "night"} if name in SMALL - AT_CPU or name.startswith("looped/") else set()
        without |= {"smoke", "cpu", "night"} if name in SWEEP - SMALL else set()
        assert set(experiment.specs) == set(PROFILES) - without, name
        assert experiment.seeds == (3 if name.startswith(("fig4.5/", "table4.3/", "asserted/")) else 1)
        assert not experiment.ours, "the thesis speaks of every one of them"
    for profile, group in itertools.product(("cpu", "night"), ("fig4.5/", "asserted/")):
        specs = {name: NAMES[name].specs[profile] for name in NAMES if name.startswith(group)}
        assert len({(spec.model.width, spec.model.layers) for spec in specs.values()}) == 1
        assert group == "fig4.5/" or len({spec.train for spec in specs.values()}) == 1
        for name, spec in specs.items():
            longest = max(length for length in spec.test.lengths)
            if "pad" not in name:
                assert 9 * longest == 12 * spec.data.task.longest
    for width in (64, 128):
        add, mix = (NAMES[f"table4.3/10k-{kind}-w{width}"].specs["night"] for kind in ("add", "mix"))
        assert (add.model, add.train, add.test, add.data.examples) == (mix.model, mix.train, mix.test, 30_000)


def test_a_night_has_five_seeds_of_main_statements_and_the_whole_paper_leaves_out_what_takes_minutes():
    five = {"fig4.1/1-3_digit", "table4.3/10k-add-w64", "table4.3/10k-mix-w64"}
    five |= {name for name in NAMES if name.startswith(("fig4.5/", "published/", "ablation/"))}
    for name, experiment in NAMES.items():
        if "night" in experiment.specs:
            home = CATALOGUE.home(experiment, "night").name.removeprefix(f"{PAPER}/")
            seeds = 5 if home in five and not name.startswith("figB.1/") else 3
            assert len(experiment.default_seeds("night")) == seeds, name
    extra = {name for name, experiment in NAMES.items() if "cpu" in experiment.extra}
    assert extra & AT_CPU == AT_CPU
    beyond = {name for name, experiment in NAMES.items() if "night" in experiment.extra}
    asserted = {name for name in NAMES if name.startswith(("asserted/", "published/", "ablation/"))}
    assert beyond == {"table4.3/10k-add-w128", "table4.3/10k-mix-w128"} | asserted
    assert not extra & {"fig4.5/ape", "fig4.5/spaces", "fig4.5/abacus", "fig4.1/1-3_digit"}, "headline claims"
    assert all("cpu" in NAMES[name].specs for name in extra), "what has no size cannot be left out"


def test_every_setting_tests_longer_lengths_and_smaller_profiles_keep_their_shape():
    """Section 4.2.1."""
    for name, experiment in NAMES.items():
        for spec in experiment.specs.values():
            assert set(spec.data.task.lengths) <= set(spec.test.lengths) and spec.test.counts == (2,)
            assert max(spec.test.lengths) > spec.data.task.longest and len(spec.data.vocab) == 100
            assert isinstance(spec.model.architecture, EncoderDecoder) == name.startswith("fig4.2/")
    for name in ("fig4.5/ape", "fig4.1/generalize_to_longer", "fig4.1/1-7_digit", "fig4.1/1-3_digit"):
        below = []
        for profile in ("paper", "cpu"):
            task, tested = NAMES[name].specs[profile].data.task, NAMES[name].specs[profile].test.lengths
            gaps = set(range(1, task.longest)) - set(task.lengths)
            assert gaps <= set(tested)
            below.append(sorted(task.longest - gap for gap in gaps))
        assert below[0] == below[1], "the gap is as far below the longest trained length"
    for profile in PROFILES:
        padded = NAMES["fig4.5/zero-pad"].specs[profile]
        assert padded.data.task.longest < padded.data.format.pad_to and padded.data.format.pad_to in padded.test.lengths


def test_settings_of_the_paper_profile_are_those_of_chapter_4():
    """Sections 4.2.2 to 4.2.4; the range of each data set with its gap and what is tested beyond."""
    spec = NAMES["fig4.5/ape"].specs["paper"]
    assert (spec.data.task.lengths, spec.data.examples) == ((1, 2, 3, 4, 5, 6, 7, 9), 100_000)
    assert {8, 10, 11, 12} <= set(spec.test.lengths) and spec.test.examples == 1000
    train, model = spec.train, spec.model
    assert (train.betas, train.weight_decay, train.lr, train.warmup_steps) == ((0.9, 0.999), 0.1, 3e-4, 100)
    assert (train.final_lr, train.loss, model.ff_width, model.layers) == (0.1, "response", 4 * model.width, 3)
    assert model.encoding == Sinusoidal() and spec.data.position_ids == Consecutive()
    longer, large = NAMES["fig4.1/generalize_to_longer"].specs["paper"], NAMES["fig4.1/1-3_digit"].specs["paper"]
    assert longer.data.task.lengths == (*range(1, 18), 19) and longer.data.examples == 1_000_000
    assert {18, 20} <= set(longer.test.lengths) and large.data.task.lengths == (1, 3) and large.data.examples == 10_000
    assert all((s.model.layers, s.model.width, s.model.heads) == (6, 768, 4) for s in (longer, large))
    universal = NAMES["fig4.2/1-7_digit"].specs["paper"]
    assert (universal.model.width, universal.model.heads, universal.data.task.lengths) == (384, 6, tuple(range(1, 8)))
    assert (universal.model.layers, universal.model.encoder_layers, universal.model.shared) == (3, 3, True)
    assert len(list(build_model(NAMES["fig4.2/1-7_digit"].specs["smoke"], 0).encoder)) == 1, "one block, three times"
    for size, examples in SIZES.items():
        for kind in ("add", "mix"):
            swept = NAMES[f"table4.3/{size}-{kind}-w512"].specs["paper"]
            assert (swept.data.examples, swept.model.width) == (examples, 512)
            assert swept.data.spaces == RandomSpaces(ratio=0.5)
            assert (swept.data.format == lengen.Subtasks(names=SUBTASKS)) == (kind == "mix")
            assert swept.test.sampled == 100
    assert NAMES["fig4.5/abacus"].specs["paper"].data.position_ids.max_offset == 30
    entropy = NAMES["fig4.3/spaces"].specs["paper"]
    assert entropy.measure.prompts == 100 and set(entropy.measure.uncertainty) <= set(entropy.test.lengths)


@pytest.mark.parametrize("name", SUBTASKS)
def test_solve_asks_a_shared_run_what_its_experiment_looks_at(name, reproduce, monkeypatch, tmp_path):
    """One stored run answers five experiments, each with its own prefix; digits are read as they are written."""
    experiment = NAMES[f"fig4.9/{name}"]
    spec = experiment.specs["smoke"]
    home = CATALOGUE.home(experiment, "smoke").name
    save_model(build_model(spec, 0), str(tmp_path / WEIGHTS))
    run = Run(home, "smoke", 0, 1, "local", {"spec": spec.to_dict(), "overrides": []}, None)
    store = SimpleNamespace(whole=lambda run, name: tmp_path / name)
    monkeypatch.setattr(problems, "newest", lambda *asked, **more: (run, store))
    expected = {"add": "10656", "rev": "1505+5065", "ali": "5+5,0+6,5+0,1+5", "mad": "0656", "car": "c---"}[name]
    command = ["solve", f"{PAPER}/fig4.9/{name}", "5051", "5605", "--json"]
    solved = json.loads(reproduce(command).out)
    assert (solved["prompt"], solved["answer"]) == (f"{name}$5051+5605=", expected)
    vocab = ArithmeticData(spec, 0).vocab
    for text in (expected, expected.lstrip("0"), f"0{expected}"):
        monkeypatch.setattr("lengen.solve.generate", lambda *_, choose, text=text: vocab.encode(f"{text}$")[None])
        solved = json.loads(reproduce(command).out)
        assert solved["read"] == text and solved["correct"] == (text == expected), "a leading zero is a digit here"


def test_selectors_and_figures_read_experiments_and_encode_shows_both_sides_of_them(capsys):
    for figure in ("fig4.7", "fig4.8"):
        found = {item.name.removeprefix(f"{PAPER}/") for item in CATALOGUE.select(f"{PAPER}/{figure}")}
        assert found == SWEEP
    own = {item.name.removeprefix(f"{PAPER}/") for item in CATALOGUE.select(f"{PAPER}/fig4.9")}
    assert own == {f"fig4.9/{name}" for name in SUBTASKS}
    refused(SelectorError, r"there is no figure or table 'fig4\.10'", CATALOGUE.select, f"{PAPER}/fig4.10")
    reads = {figure.name: {name.removeprefix(f"{PAPER}/") for name in figure.reads} for figure in FIGURES}
    prefixes = {name.partition("/")[0] for name in NAMES}
    assert set(reads) == prefixes | {"fig4.7", "fig4.8", "fig4.9-steps"}
    for name, read in reads.items():
        assert read <= set(NAMES) and (
            name not in prefixes - {"fig4.9"} or read == {n for n in NAMES if n.startswith(f"{name}/")}
        )
    assert reads["fig4.9"] == reads["fig4.9-steps"] == {name for name in SWEEP if "-mix-" in name}
    assert reads["fig4.7"] == reads["fig4.8"] == reads["table4.3"] == SWEEP
    assert main(["encode", f"{PAPER}/fig4.1/1-7_digit", "123", "456", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["loss"] == [0] + [1] * 12
    sides = encode(NAMES["fig4.2/1-3_digit"].specs["paper"], ["123", "456"])
    assert ["".join(sides[side]["tokens"]) for side in ("source", "target")] == ["$123+456", "=975$"]

"""The shipped file loads and names only what exists; a mistake in such a file is one sentence."""

import fnmatch
from pathlib import Path

import numpy as np
import pytest

import papers
from lengen.config.experiment import PROFILES
from lengen.measures import Trained
from reproduce import comparison
from reproduce.comparison.measures import Vocabulary, paper_measures
from reproduce.comparison.numbers import Setting
from reproduce.comparison.published import WILDCARDS, PublishedError, load, parse
from reproduce.runs.catalogue import CATALOGUE
from tests.reproduce.made import EVERY

SHIPPED = sorted(Path(next(iter(papers.__path__))).glob("*/published.toml"))
CLAIM = {
    "id": "c",
    "place": "p",
    "statement": "s",
    "check": "level",
    "relation": ">=",
    "left": ["a/b/c"],
    "threshold": 0.5,
}
NUMBER = {"id": "n", "place": "p", "statement": "s", "relation": "=", "value": 1.0, "experiments": ["a/b/c"]}


@pytest.fixture(params=SHIPPED, ids=lambda path: path.parent.name)
def shipped(request):
    return request.param.parent.name, load(request.param)


def test_there_is_something_shipped():
    assert SHIPPED


def test_every_experiment_named_in_it_exists(shipped):
    paper, published = shipped
    known = [item.name for item in CATALOGUE.experiments(paper)]
    assert {name for number in published.numbers for name in number.names if not fnmatch.filter(known, name)} == set()
    assert {name for claim in published.claims for name in (*claim.names, *claim.beside)} <= set(known)


def test_every_side_names_its_experiments_one_by_one(shipped):
    _, published = shipped
    for claim in published.claims:
        assert not any(WILDCARDS & {*name} for name in claim.names)
        for side in (claim.left, getattr(claim, "right", ())):
            assert len(side) == len({*side})


def test_every_measure_and_region_is_known(shipped):
    _, published = shipped
    for claim in published.claims:
        for side in (claim.one, claim.other):
            assert published.vocabulary.measure(side.measure) and published.vocabulary.regions[side.region]


def test_every_deviation_named_in_it_is_listed(shipped):
    paper, published = shipped
    used = {name for entry in (*published.numbers, *published.claims) for name in entry.deviations}
    used |= {name for names in published.deviations.values() for name in names}
    assert used <= set(CATALOGUE.deviations(paper))
    assert set(published.deviations) <= set(PROFILES)


def test_every_setting_can_be_read_from_the_specifications(shipped):
    paper, published = shipped
    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}
    for number in (entry for entry in published.numbers if isinstance(entry, Setting)):
        names = [name for pattern in number.experiments for name in fnmatch.filter(experiments, pattern)]
        verdict, _, _ = number.find([experiments[name] for name in names if "paper" in experiments[name].specs])
        assert verdict in ("reproduced", "differs"), number.id


def test_statements_are_one_line_with_a_place(shipped):
    _, published = shipped
    for entry in (*published.numbers, *published.claims):
        assert entry.statement.strip() and "\n" not in entry.statement and entry.place.strip()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"claims": []}, "there is no table 'claims'; nearest: claim"),
        ({"claim": {}}, r"'claim' is not a list of tables; write \[\[claim\]\] above each entry"),
        (
            {"claim": [CLAIM | {"threshhold": 1}]},
            r"claim 1 \('c'\): .* key of a level claim 'threshhold'; nearest: threshold",
        ),
        ({"claim": [{k: v for k, v in CLAIM.items() if k != "left"}]}, "'left' is missing; every level claim needs it"),
        ({"claim": [CLAIM | {"check": "compair"}]}, "check 'compair' is unknown; nearest: compare"),
        ({"claim": [CLAIM | {"measure": "exakt"}]}, "measure 'exakt' is unknown; nearest: exact"),
        ({"claim": [CLAIM | {"region": "outsid"}]}, "region 'outsid' is unknown; nearest: outside"),
        ({"claim": [CLAIM | {"mode": "free"}]}, "mode 'free' is unknown"),
        ({"claim": [CLAIM | {"relation": "=>"}]}, "relation '=>' is unknown"),
        ({"claim": [CLAIM | {"relation": "~"}]}, "relation '~' needs the band 'low' and 'high'"),
        ({"claim": [CLAIM | {"left": "a/b/c"}]}, "'left' is 'a/b/c'; expected list"),
        ({"claim": [CLAIM | {"threshold": "0.5"}]}, "'threshold' is '0.5'; expected float"),
        (
            {"claim": [CLAIM | {"check": "compare", "relation": ">"}]},
            "'right' is missing; every compare claim",
        ),
        ({"claim": [CLAIM | {"check": "ordered"}]}, "'by' is missing; every ordered claim needs it"),
        ({"claim": [CLAIM | {"by": "model.width"}]}, "there is no key of a level claim 'by'"),
        ({"claim": [CLAIM | {"check": "compare", "right": ["a/b/d"]}]}, "relation '>=' is unknown"),
        ({"claim": [CLAIM | {"left": ["a/b/*"]}]}, r"'left' has the wildcard 'a/b/\*'; name every experiment"),
        (
            {"claim": [CLAIM | {"check": "compare", "relation": ">", "right": ["a/[bc]/d"]}]},
            r"'right' has the wildcard 'a/\[bc\]/d'; name every experiment",
        ),
        (
            {"claim": [{name: value for name, value in CLAIM.items() if name != "check"}]},
            "'check' is missing; every claim",
        ),
        ({"claim": [CLAIM | {"check": "ordered", "by": "model.widht"}]}, "nearest: model.width"),
        ({"claim": [CLAIM | {"lengths": [3]}]}, "'lengths' is .3.; expected list of length 2"),
        ({"claim": [CLAIM, CLAIM]}, "the id 'c' stands twice"),
        ({"claim": [CLAIM], "number": [NUMBER | {"id": "c"}]}, "the id 'c' stands twice"),
        ({"number": [{k: v for k, v in NUMBER.items() if k != "value"}]}, "'value' is missing; every measured number"),
        ({"number": [NUMBER | {"value": "much"}]}, "'value' is 'much'; expected int | float | null"),
        ({"number": [NUMBER | {"kind": "setting"}]}, "'field' is missing; every setting number"),
        (
            {"number": [{k: v for k, v in NUMBER.items() if k != "experiments"} | {"kind": "remark"}]},
            "'remark' is missing; every remark number",
        ),
        ({"settings": [{"place": "p", "rows": [["a", "b"]]}]}, "is not .id, statement, field, value."),
        ({"table": [{"row": []}]}, "there is no key 'row'; nearest: rows"),
        ({"table": [{"place": "p", "rows": [["a", "b", "a/b/c"]]}]}, "is not .id, statement, experiment, values."),
        (
            {"table": [{"place": "p", "lengths": [6], "rows": [["a", "b", "a/b/c", []]]}]},
            "'a' has 0 values; expected 1",
        ),
        (
            {"table": [{"place": "p", "lengths": ["6"], "rows": [["a", "b", "a/b/c", [1.0]]]}]},
            "'lengths' is .'6', '6'.; expected int",
        ),
        ({"claim": [CLAIM | {"measure": "hit.early_end"}]}, "measure 'hit.early_end' is unknown; nearest: hits"),
        ({"claim": [CLAIM | {"measure": "hits"}]}, "measure 'hits' is unknown"),
        ({"claim": [CLAIM | {"measure": "uncertainty.allowed.ent"}]}, "measure 'uncertainty.allowed.ent' is unknown"),
        ({"claim": [CLAIM | {"check": "varied"}]}, "'right' is missing; every varied claim"),
        (
            {"claim": [CLAIM | {"check": "gain", "right": ["a/b/d"], "relation": ">"}]},
            "'by' is missing; every gain claim",
        ),
        ({"number": [NUMBER | {"across": "median"}]}, "across 'median' is unknown"),
        ({"table": [{"lengths": [6], "regions": ["gap"], "rows": []}]}, "expected 'lengths' or 'regions', not both"),
        (
            {"table": [{"place": "p", "regions": ["gapp"], "rows": [["a", "b", "a/b/c", [1.0]]]}]},
            "region 'gapp' is unknown; nearest: gap",
        ),
        ({"deviations": {"cpuu": ["D1"]}}, "there is no profile 'cpuu'; nearest: cpu"),
    ],
)
def test_a_mistake_gets_one_sentence_that_names_the_entry(table, message):
    with pytest.raises(PublishedError, match=message) as error:
        parse(table, "published.toml", EVERY)
    assert str(error.value).startswith("published.toml: ") and "\n" not in str(error.value)


@pytest.mark.parametrize(("content", "message"), [(b"[[claim]\n", "expected TOML"), (b"\xff\xfe", "expected TOML")])
def test_a_file_that_is_no_toml_gets_one_sentence(tmp_path, content, message):
    path = tmp_path / "published.toml"
    path.write_bytes(content)
    with pytest.raises(PublishedError, match=message) as error:
        load(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_not_there_gets_one_sentence(tmp_path):
    with pytest.raises(PublishedError, match="cannot be read"):
        load(tmp_path / "published.toml")


def test_table_rows_become_numbers_one_per_length_that_has_a_value():
    rows = [["x", "ours", "a/b/c", [99.35, "N/A"]], ["y", "theirs", "a/b/d", [0, 6.0], 0.05]]
    group = {"prefix": "t3", "place": "Table 3", "lengths": [6, 50], "tolerance": 0.005, "rows": rows}
    numbers = parse({"table": [group]}, "made").numbers
    assert [(n.id, n.value, n.lengths, n.tolerance, n.experiments) for n in numbers] == [
        ("t3-x-6", 0.9935, (6, 6), 0.005, ("a/b/c",)),
        ("t3-y-6", 0.0, (6, 6), 0.05, ("a/b/d",)),
        ("t3-y-50", 0.06, (50, 50), 0.05, ("a/b/d",)),
    ]
    assert numbers[0].statement == "ours, 6 digits" and numbers[0].kind == "measured"


def test_a_table_by_region_hands_its_keys_to_every_number():
    group = {"prefix": "t4", "place": "Table 4", "regions": ["gap", "next"], "rows": [["x", "ours", "a/b/*", [7.0, 0]]]}
    group |= {
        "mode": "sampled",
        "across": "deviation",
        "measure": "hits.early_end",
        "aggregation": "deviation over runs",
    }
    gap, beyond = parse({"table": [group]}, "made").numbers
    assert (gap.id, gap.region, gap.value, gap.lengths) == ("t4-x-gap", "gap", 0.07, None)
    assert (beyond.mode, beyond.across, beyond.measure) == ("sampled", "deviation", "hits.early_end")
    assert beyond.statement == "ours, at the shortest length beyond the longest trained"


def test_settings_rows_become_numbers():
    group = {"prefix": "t1", "place": "Table 1", "experiments": ["a/b/c"], "rows": [["lr", "rate", "train.lr", 3e-5]]}
    (number,) = parse({"settings": [group]}, "made").numbers
    assert (number.id, number.kind, number.field, number.value) == ("t1-lr", "setting", "train.lr", 3e-5)


def test_the_comparison_knows_no_paper_by_its_name():
    for path in Path(comparison.__file__).parent.glob("*.py"):
        assert not [paper for paper in CATALOGUE.papers() if paper in path.read_text()], path.name


def test_measures_and_regions_of_a_paper_are_its_own():
    coupling, general = paper_measures("coupling"), Vocabulary()
    assert "keys_growth" in coupling.names() and "keys_growth" not in general.names()
    assert "one_short" in coupling.regions and not {"one_short", "just_beyond"} & {*general.regions}
    assert "just_beyond" not in coupling.regions
    slightly = coupling.regions["slightly_beyond"].mask(Trained(4, 4), np.arange(3, 10), np.full(7, 2))
    assert slightly.tolist() == [False, False, True, True, True, False, False], "up to 7 of 4"

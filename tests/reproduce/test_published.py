"""The shipped file loads and names only what exists; a mistake in such a file is one sentence."""

import fnmatch
from pathlib import Path

import pytest

import papers
from lengen.config.experiment import PROFILES
from reproduce.comparison import checks as claims
from reproduce.comparison import numbers
from reproduce.comparison.compare import experiment_names
from reproduce.comparison.entries import CHECKS
from reproduce.comparison.families import measure_of
from reproduce.comparison.published import PublishedError, load, parse
from reproduce.comparison.regions import REGIONS
from reproduce.runs.catalogue import CATALOGUE

SHIPPED = sorted(Path(next(iter(papers.__path__))).glob("*/published.toml"))
CLAIM = {"id": "c", "place": "p", "statement": "s", "check": "level", "relation": ">=", "left": ["a/b/c"]}
NUMBER = {"id": "n", "place": "p", "statement": "s", "relation": "=", "value": 1.0, "experiments": ["a/b/c"]}


@pytest.fixture(params=SHIPPED, ids=lambda path: path.parent.name)
def shipped(request):
    return request.param.parent.name, load(request.param)


def test_there_is_something_shipped():
    assert SHIPPED


def test_every_experiment_named_in_it_exists(shipped):
    paper, published = shipped
    known = [item.name for item in CATALOGUE.experiments(paper)]
    assert {name for name in experiment_names(published) if not fnmatch.filter(known, name)} == set()


def test_every_check_measure_and_region_is_known(shipped):
    _, published = shipped
    for claim in published.claims:
        assert claim.check in CHECKS and claim.check in claims._CHECKS
        assert measure_of(claim.measure) and measure_of(claim.right_measure or claim.measure)
        assert {claim.region, claim.right_region or claim.region} <= set(REGIONS)


def test_every_deviation_named_in_it_is_listed(shipped):
    paper, published = shipped
    used = {name for entry in (*published.numbers, *published.claims) for name in entry.deviations}
    used |= {name for names in published.deviations.values() for name in names}
    assert used <= set(CATALOGUE.deviations(paper))
    assert set(published.deviations) <= set(PROFILES)


def test_every_setting_can_be_read_from_the_specifications(shipped):
    paper, published = shipped
    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}
    for number in (entry for entry in published.numbers if entry.kind == "setting"):
        names = [name for pattern in number.experiments for name in fnmatch.filter(experiments, pattern)]
        with_paper = [name for name in names if "paper" in experiments[name].specs]
        verdict, _, _ = numbers.setting(number, experiments, with_paper)
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
        ({"claim": [CLAIM | {"threshhold": 1}]}, r"claim 1 \('c'\): there is no key 'threshhold'; nearest: threshold"),
        ({"claim": [{k: v for k, v in CLAIM.items() if k != "left"}]}, "'left' is missing; every claim needs it"),
        ({"claim": [CLAIM | {"check": "compair"}]}, "check 'compair' is unknown; nearest: compare"),
        ({"claim": [CLAIM | {"measure": "exakt"}]}, "measure 'exakt' is unknown; nearest: exact"),
        ({"claim": [CLAIM | {"region": "outsid"}]}, "region 'outsid' is unknown; nearest: outside"),
        ({"claim": [CLAIM | {"mode": "free"}]}, "mode 'free' is unknown"),
        ({"claim": [CLAIM | {"relation": "=>"}]}, "relation '=>' is unknown"),
        ({"claim": [CLAIM | {"relation": "~"}]}, "relation '~' needs the band 'low' and 'high'"),
        ({"claim": [CLAIM | {"left": "a/b/c"}]}, "'left' is 'a/b/c'; expected list"),
        ({"claim": [CLAIM | {"threshold": "0.5"}]}, "'threshold' is '0.5'; expected float"),
        ({"claim": [CLAIM | {"check": "compare", "relation": ">"}]}, "check 'compare' needs 'right'"),
        ({"claim": [CLAIM | {"check": "ordered"}]}, "check 'ordered' needs 'by'"),
        ({"claim": [CLAIM | {"check": "ordered", "by": "model.widht"}]}, "nearest: model.width"),
        ({"claim": [CLAIM | {"lengths": [3]}]}, "'lengths' needs a smallest and a largest value"),
        ({"claim": [CLAIM, CLAIM]}, "the id 'c' stands twice"),
        ({"claim": [CLAIM], "number": [NUMBER | {"id": "c"}]}, "the id 'c' stands twice"),
        ({"number": [{k: v for k, v in NUMBER.items() if k != "value"}]}, "needs 'value' and 'experiments'"),
        ({"number": [NUMBER | {"value": "much"}]}, "'value' is 'much'; expected a number"),
        ({"number": [NUMBER | {"kind": "setting"}]}, "a setting needs 'field'"),
        ({"number": [NUMBER | {"kind": "remark"}]}, "a remark needs 'remark'"),
        ({"settings": [{"place": "p", "rows": [["a", "b"]]}]}, "is not .id, statement, field, value."),
        ({"table": [{"row": []}]}, "there is no key 'row'; nearest: rows"),
        ({"table": [{"place": "p", "rows": [["a", "b", "a/b/c"]]}]}, "is not .id, statement, experiment, values."),
        (
            {"table": [{"place": "p", "lengths": [6], "rows": [["a", "b", "a/b/c", []]]}]},
            "'a' has 0 values; expected 1",
        ),
        (
            {"table": [{"place": "p", "lengths": ["6"], "rows": [["a", "b", "a/b/c", [1.0]]]}]},
            "'lengths' is .'6', '6'.",
        ),
        ({"claim": [CLAIM | {"measure": "hit.early_end"}]}, "measure 'hit.early_end' is unknown; nearest: hits"),
        ({"claim": [CLAIM | {"measure": "hits"}]}, "measure 'hits' is unknown"),
        ({"claim": [CLAIM | {"measure": "uncertainty.allowed.ent"}]}, "measure 'uncertainty.allowed.ent' is unknown"),
        ({"claim": [CLAIM | {"check": "varied"}]}, "check 'varied' needs 'right' and the relation"),
        (
            {"claim": [CLAIM | {"check": "gain", "right": ["a/b/d"], "relation": ">"}]},
            "check 'gain' needs 'by', the specification field",
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
        parse(table, "published.toml")
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
    assert (gap.id, gap.region, gap.value, gap.lengths) == ("t4-x-gap", "gap", 0.07, ())
    assert (beyond.mode, beyond.across, beyond.measure) == ("sampled", "deviation", "hits.early_end")
    assert beyond.statement == "ours, at the shortest length beyond the longest trained"


def test_settings_rows_become_numbers():
    group = {"prefix": "t1", "place": "Table 1", "experiments": ["a/b/c"], "rows": [["lr", "rate", "train.lr", 3e-5]]}
    (number,) = parse({"settings": [group]}, "made").numbers
    assert (number.id, number.kind, number.field, number.value) == ("t1-lr", "setting", "train.lr", 3e-5)

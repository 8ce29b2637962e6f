"""Everything that is not of size is as published, or a named exception."""

import fnmatch

import pytest

from lengen.settings.spec import replace
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.distance import differences, in_words, of_size
from reproduce.comparison.published import exceptions
from tests.papers.test_published_tables import PAPERS

SIZES = ("cpu", "night")


def others(paper):
    """Fields that are not of size and differ, by experiment and profile."""
    for experiment in CATALOGUE.experiments(paper):
        for size in SIZES:
            if size in experiment.specs and "paper" in experiment.specs:
                for field in differences(experiment.specs[size], experiment.specs["paper"]):
                    if not of_size(field):
                        yield experiment.name.partition("/")[2], size, field


@pytest.mark.parametrize("paper", PAPERS)
def test_what_differs_from_the_paper_is_size_or_a_named_exception(paper):
    named = [(field, pattern) for one in exceptions(paper) for field in one.fields for pattern in one.experiments]
    for name, size, field in others(paper):
        assert any(field == known and fnmatch.fnmatch(name, pattern) for known, pattern in named), (name, size, field)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_exception_is_needed_and_its_ablation_declared(paper):
    there, known = set(others(paper)), [item.name for item in CATALOGUE.experiments(paper)]
    for one in exceptions(paper):
        for field in one.fields:
            assert any(field == found and any(fnmatch.fnmatch(name, pattern) for pattern in one.experiments)
                       for name, _, found in there), field  # fmt: skip
        for pattern in one.ablation:
            assert fnmatch.filter(known, pattern), pattern


def test_differences_are_told_by_name_with_the_published_value():
    spec = CATALOGUE.select_one("coupling/fig1/coupling-scratchpad").specs["paper"]
    other = replace(spec, model={"layers": 1}, test={"examples": 7})
    assert dict(differences(other, spec)) == {"model.layers": (1, spec.model.layers)}
    assert in_words([differences(other, spec)]) == f"layers 1 ({spec.model.layers})"

"""Measurements that papers declare work on the device that trained the model."""

import pytest

from lengen.training.run import measurements
from reproduce.catalogue import CATALOGUE
from tests.fixtures.devices import check_there

pytestmark = pytest.mark.slow


def distinct():
    """The first experiment of each paper with each of its own measurements, as it is at profile smoke."""
    found = {}
    for paper in CATALOGUE.papers():
        for item in CATALOGUE.experiments(paper):
            spec = item.specs.get("smoke")
            own = () if spec is None else measurements(spec)
            if own:
                asked = [getattr(getattr(each, "asked", None), "__name__", "") for each in own]
                kind = (paper, *map(type, own), *asked, type(spec.data.format))
                found.setdefault(kind, pytest.param(spec, id=item.name))
    return list(found.values())


@pytest.mark.parametrize("spec", distinct())
def test_own_measurements_work_there(spec):
    check_there(spec)

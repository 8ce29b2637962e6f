"""Sizes that are tried, the law of memory, and points that are measured apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduce.bench import limits, scaling, speed
from reproduce.bench.limits import edge, fitting


@pytest.mark.parametrize("axis", scaling.AXES)
def test_an_axis_changes_its_own_size_and_its_problems_can_be_written(axis):
    size = scaling.AXES[axis][-1]
    spec = scaling.setting(axis, size)
    found = {
        "digits": spec.data.task.longest,
        "operands": spec.data.task.most,
        "width": spec.model.width,
        "depth": spec.model.layers,
        "batch": spec.train.batch,
    }
    own = {"digits": 5, "operands": 5, "width": 128, "depth": 1, "batch": 64}
    assert found == {**own, axis: size}
    data = speed.ArithmeticData(spec, 0)
    assert len(data.writer.write(data.test(found["digits"], found["operands"], 2)).tokens) == 2


def test_a_point_is_measured_apart_within_its_memory():
    spec = speed.SPEC.override("model.width=16", "train.batch=2")
    point = scaling.apart(spec, 3)
    assert len(point.seconds) == 2 and min(point.seconds) > 0
    assert point.tokens == 2 * 78 and 0 < point.memory < 2**30
    with pytest.raises((RuntimeError, MemoryError)):
        scaling.apart(speed.SPEC.override("train.batch=4096"), 1, limit=2**29)


@given(st.lists(st.floats(0.5, 1e4), min_size=3, max_size=3), st.integers(300, 5000))
def test_the_largest_size_is_the_root_of_the_law_of_memory(law, answer):
    sizes = [16, 64, 128, 256]
    memory = np.polyval(law, sizes)
    budget = float(np.polyval(law, answer + 0.5))
    assert abs(fitting(sizes, memory, 2, budget) - answer) <= 1 + answer / 1000
    assert fitting(sizes, memory, 2, budget, 8) % 8 == 0


def test_what_does_not_fit_at_all_has_size_zero():
    assert fitting([1, 2], [11, 12], 1, 5) == 0
    assert edge(100, 1, lambda size: False) == edge(0, 8, lambda size: False) == 0


@given(st.integers(1, 600), st.integers(8, 5000), st.sampled_from([1, 8]))
def test_the_edge_is_found_from_both_sides_and_fits(start, most, multiple):
    tried = []
    found = edge(start * multiple, multiple, lambda size: tried.append(size) or size <= most)
    assert all(size % multiple == 0 for size in tried) and len(set(tried)) == len(tried)
    assert found <= most and found in tried
    assert any(found < size <= max(found * (1 + limits.STEP), found + multiple) for size in tried if size > most)
    assert len(tried) < 24


def test_limits_are_those_of_the_law_where_nothing_may_be_tried(monkeypatch):
    def point(spec, steps):
        tokens = spec.train.batch * spec.data.task.longest * 10
        return scaling.Point(tokens, spec.model.width**2, 100_000 * tokens + spec.model.width**2, (1.0,))

    monkeypatch.setattr(limits, "apart", point)
    found = {entry.name: entry for entry in limits.limits(speed.TINY)}
    assert set(found) == {f"{name}/{gib}" for name in ("longest_sequence", "largest_model") for gib in (24, 80)}
    tokens = found["longest_sequence/80"].value * speed.SPEC.train.batch
    assert 100_000 * tokens + 256**2 == pytest.approx(80 * 2**30, rel=1e-3)
    tried = []

    def within(spec, limit):
        tried.append(spec)
        return point(spec, 2) if point(spec, 2).memory < limit - 2**30 else None

    monkeypatch.setattr(limits, "within", within)
    for has, gib in ((128, 24), (20, 16)):
        pages = {"SC_PHYS_PAGES": has * 2**18, "SC_PAGE_SIZE": 2**12}
        monkeypatch.setattr(limits.os, "sysconf", pages.__getitem__)
        found = {entry.name: entry for entry in limits.limits(speed.FULL)}
        assert {spec.model.layers for spec in tried} == {6}
        assert {entry.against for entry in found.values() if entry.name.endswith(f"/{gib}")} == {"tried"}
        assert {entry.against for entry in found.values() if entry.name.endswith("/80")} == {"computed"}
        assert ("longest_sequence/24" in found) and (found["longest_sequence/24"].against == "tried") == (gib == 24)
        tokens = found[f"longest_sequence/{gib}"].value * speed.SPEC.train.batch
        assert 0.9 < tokens * 100_000 / ((gib - 1) * 2**30) <= 1

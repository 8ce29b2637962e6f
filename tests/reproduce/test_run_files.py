"""Records survive their files: whatever is written is read back equal."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lengen.results.records import (
    METRIC_COLUMNS,
    AttentionMap,
    ExampleMap,
    Grid,
    KeyCount,
    RecordError,
    to_table,
)
from reproduce.store.files import write_text
from reproduce.store.run_folder import arrays_from_bytes, arrays_to_bytes
from reproduce.store.store import LocalStore
from tests.fixtures.runs import counted
from tests.fixtures.toy_paper import SPEC

HASH = SPEC.hash()
INFO = {"spec": SPEC.to_dict(), "overrides": []}

scores = st.integers(0, 10**12).flatmap(
    lambda n: st.builds(counted, st.just(n), st.integers(0, n), st.integers(0, n), st.integers(0), st.integers(0))
)
modes = st.dictionaries(st.sampled_from(["teacher_forced", "free_running"]), scores, min_size=1)
cells = {width: st.tuples(*[st.integers(0, 200)] * width) for width in (1, 2)}
grids = st.sampled_from([("length",), ("length", "count")]).flatmap(
    lambda axes: st.builds(Grid, st.just(axes), st.dictionaries(cells[len(axes)], modes, min_size=1))
)
counts = st.lists(st.builds(KeyCount, *[st.integers(0, 10**9)] * 6))
text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=3)
maps = st.none() | st.tuples(
    st.integers(1, 3), st.lists(text, min_size=1, max_size=4), st.integers(1, 10**6), st.integers(0, 3)
)
numbers = st.lists(st.tuples(st.integers(0, 10**9), text, st.floats(allow_nan=False)), max_size=5)
kinds = hnp.floating_dtypes() | hnp.integer_dtypes() | hnp.unicode_string_dtypes(max_len=2) | hnp.boolean_dtypes()
named = st.dictionaries(
    st.from_regex(r"[a-z]{1,8}\d?(\.[a-z]{1,8})?", fullmatch=True), hnp.arrays(kinds, hnp.array_shapes(min_dims=0))
)


@settings(max_examples=40, deadline=None)
@given(grid=grids, keys=counts, drawn=maps, metrics=numbers, seed=st.integers(0, 2**31), arrays=named)
def test_records_survive_the_store(tmp_path_factory, grid, keys, drawn, metrics, seed, arrays):
    attention = None
    if drawn is not None:
        heads, tokens, n, kept = drawn
        weights = np.linspace(0, 1, heads * len(tokens) ** 2, dtype=np.float16).astype(np.float32)
        weights = weights.reshape(1, heads, len(tokens), len(tokens))
        steps = np.rint(255 * weights).astype(np.uint8)
        examples = tuple(ExampleMap((*tokens[:-1], str(number)), steps - number) for number in range(kept))
        attention = AttentionMap(tuple(tokens), weights, n, examples)
    store = LocalStore(tmp_path_factory.mktemp("results"))
    with store.workspace("toy/fig1/alpha", "cpu", seed, HASH) as space:
        write_text(space.folder / "metrics.csv", to_table(METRIC_COLUMNS, metrics))
        space.publish(INFO, SimpleNamespace(grid=grid, key_counts=keys, attention=attention, arrays=arrays, info={}))
    run = LocalStore(store.root).find("toy/fig1/alpha", "cpu", seed, HASH)
    assert run.grid == grid and list(run.key_counts) == sorted(keys) and list(run.metrics) == metrics
    assert_equal(run.arrays, arrays)
    if attention is None:
        assert run.attention is None
    else:
        assert run.attention.tokens == attention.tokens and run.attention.n == attention.n
        np.testing.assert_array_equal(run.attention.weights, attention.weights)
        for found, stored in zip(run.attention.examples, attention.examples, strict=True):
            assert found.tokens == stored.tokens
            np.testing.assert_array_equal(found.weights, stored.weights, strict=True)


def assert_equal(one, two):
    assert {name: array.dtype for name, array in one.items()} == {name: array.dtype for name, array in two.items()}
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], strict=True)


@given(arrays=named)
def test_arrays_survive_and_equal_ones_give_equal_bytes(arrays):
    content = arrays_to_bytes(arrays)
    assert_equal(arrays_from_bytes(content), arrays)
    other = {name: np.asfortranarray(arrays[name]) if arrays[name].ndim else arrays[name] for name in reversed(arrays)}
    assert arrays_to_bytes(other) == content


def test_arrays_of_objects_are_refused():
    with pytest.raises(RecordError, match="array 'a': expected numbers or text"):
        arrays_to_bytes({"a": np.array([{}])})

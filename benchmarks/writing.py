"""Speed of writing problems in every way in which the thesis writes them."""

import itertools

from benchmarks.speed import Sizes
from benchmarks.timing import Entry, entry, turns
from lengen.data.datamodule import ArithmeticData
from lengen.settings.changes import overlay
from lengen.settings.spec import Spec, replace
from papers.random_spaces import experiments as thesis

WRITTEN: dict[str, Spec] = {
    **{kind: thesis.written(kind)["paper"] for kind in thesis.KINDS},
    "scratchpad with spaces": overlay(thesis.written("scratchpad")["paper"], thesis.SPACES),
    "sub-tasks with spaces": thesis.swept("10k", "mix", 64)["paper"],
}


def writing(sizes: Sizes) -> list[Entry]:
    """The slowest way of writing two operands of 1 to 7 or 9 digits, in training batches of the published settings."""
    batch, rates = sizes.batch, {}
    for name, spec in WRITTEN.items():
        data = ArithmeticData(replace(spec, data={"examples": 0}, train={"batch": batch // 4, "bucket": 4}), 0)
        windows = itertools.count()
        turns([lambda data=data, windows=windows: data.batch(4 * next(windows))], sizes.repeats)  # type: ignore[misc]
        seconds = turns([lambda data=data, windows=windows: data.batch(4 * next(windows))], sizes.repeats)  # type: ignore[misc]
        rates[name] = batch / seconds
    slowest = min(rates, key=lambda name: rates[name].max())
    what = f"{slowest}, the slowest of {', '.join(rates)}: problems that are not tested, tokens, spaces, ids, mask"
    return [entry("data_examples_per_second_thesis", what, rates[slowest], "examples/s", "aim 50,000")]

"""Speed of writing problems in every way in which the thesis writes them."""

import itertools

from lengen.data.datamodule import ArithmeticData
from lengen.inspection.timing import Entry, entry, turns
from lengen.settings.changes import overlay
from lengen.settings.spec import Spec, replace
from papers.random_spaces import experiments as thesis

WRITTEN: dict[str, Spec] = {
    **{kind: specs["paper"] for kind, specs in thesis.WRITTEN.items()},
    "scratchpad with spaces": overlay(thesis.WRITTEN["scratchpad"]["paper"], thesis.SPACES),
    "sub-tasks with spaces": thesis.swept("10k", "mix", 64)["paper"],
}


def writing(tiny: bool) -> list[Entry]:
    """The slowest way of writing two operands of 1 to 7 or 9 digits, in training batches of the published settings."""
    batch, repeats = (8, 2) if tiny else (1024, 30)
    found = {}
    for name, spec in WRITTEN.items():
        data = ArithmeticData(replace(spec, data={"examples": 0}, train={"batch": batch // 4, "bucket": 4}), 0)
        windows = itertools.count()
        turns([lambda data=data, windows=windows: data.batch(4 * next(windows))], repeats)  # type: ignore[misc]
        seconds = turns([lambda data=data, windows=windows: data.batch(4 * next(windows))], repeats)  # type: ignore[misc]
        found[name] = batch / seconds
    slowest = min(found, key=lambda name: found[name].max())
    what = f"{slowest}, the slowest of {', '.join(found)}: problems that are not tested, tokens, spaces, ids, mask"
    return [entry("data_examples_per_second_thesis", what, found[slowest], "examples/s", "aim 50,000")]


BENCHMARKS = {"writing": writing}

"""What a paper published, as the values that its figures draw beside ours.

``papers/<paper>/published.toml`` enters, the measured numbers of every experiment leave with the sizes of the published
setting, so that a figure can put them at the same multiples of another one. Experiments that are the same at the paper
profile have the same values.
"""

import fnmatch
from functools import cache

from lengen.config.experiment import Experiment
from lengen.config.spec import Spec
from lengen.measures import trained_range
from lengen.plotting.published import NONE, Published, Value
from reproduce.comparison.measures import Vocabulary
from reproduce.comparison.numbers import Measured
from reproduce.comparison.published import load
from reproduce.comparison.regions import inside
from reproduce.runs.catalogue import CATALOGUE


@cache
def of(paper: str) -> Published:
    """Name of an experiment -> its published values; none where the paper has no such file, or is none of these."""
    if paper not in CATALOGUE.papers() or not CATALOGUE.paper(paper).published.exists():
        return NONE
    experiments = {item.name: item for item in CATALOGUE.experiments(paper) if "paper" in item.specs}
    published = load(CATALOGUE.paper(paper).published)
    found: dict[str, dict[Value, None]] = {}
    for number in published.numbers:
        if isinstance(number, Measured) and isinstance(number.value, int | float):
            for name in (name for pattern in number.experiments for name in fnmatch.filter(experiments, pattern)):
                spec = experiments[name].specs["paper"]
                found.setdefault(_home(experiments[name]), {})[value(number, spec, published.vocabulary)] = None
    return {name: tuple(found[home]) for name, item in experiments.items() if (home := _home(item)) in found}


def _home(experiment: Experiment) -> str:
    return CATALOGUE.home(experiment, "paper").name


def value(number: Measured, spec: Spec, vocabulary: Vocabulary) -> Value:
    """One number with the cells of the published setting that it is about: the first and the last on either axis."""
    span, tests = trained_range(spec.data), spec.test
    counts = tests.counts if span.second > 1 or len(tests.counts) > 1 else (1,)
    cells = [(length, count) for length in tests.lengths for count in counts]
    asked = inside(cells, span, vocabulary.regions[number.region], number.lengths, number.counts)
    lengths, seconds = ([cell[axis] for cell in asked] for axis in (0, 1))
    bounds = number.lengths or (span.length, span.length), number.counts or (1, 1)
    return Value(
        value=float(number.value or 0.0),
        relation=number.relation,
        lengths=(min(lengths), max(lengths)) if lengths else bounds[0],
        counts=(min(seconds), max(seconds)) if seconds else bounds[1],
        trained=(span.length, span.second),
        left_out=bool(lengths) and {*lengths} <= {*span.left_out},
        measure=number.measure,
        mode=number.mode,
        region=number.region,
        statistic=number.statistic,
        across=number.across,
        place=number.place,
    )

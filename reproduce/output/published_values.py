"""Published values that figures draw beside ours.

Published measurements enter, the values of every experiment leave with the lengths and counts of the published setting:
a figure draws them only at those. Experiments that are the same at a profile have the same values there.
"""

from functools import cache

from lengen.paper.experiment import Experiment
from lengen.plotting.published import NONE, Published, Value
from reproduce.comparison import values
from reproduce.runs.catalogue import CATALOGUE


@cache
def of(paper: str, profile: str) -> Published:
    """Map each experiment to its published values and to those of experiments that have the same runs at a profile.

    Empty if the paper has no published.toml or is unknown.
    """
    if paper not in CATALOGUE.papers():
        return NONE
    experiments = {item.name: item for item in CATALOGUE.experiments(paper) if "paper" in item.specs}
    homes = CATALOGUE.homes(paper, profile)
    found: dict[str, dict[Value, None]] = {}
    for published in values.values(paper, again=True):
        for name in published.experiments:
            found.setdefault(homes[name], {})[value(published, experiments[name])] = None
    return {name: tuple(found[homes[name]]) for name in experiments if homes[name] in found}


def value(published: values.Value, experiment: Experiment) -> Value:
    """One measurement with the cells of the published setting that it is about, a share between 0 and 1."""
    span = experiment.specs["paper"].data.trained
    lengths = published.lengths or (span.length,)
    return Value(
        value=published.published / 100 if published.unit == "%" else published.published,
        relation=published.relation,
        lengths=(min(lengths), max(lengths)),
        counts=(min(published.counts), max(published.counts)),
        trained=(span.length, span.second),
        measure=published.measure,
        mode=published.mode,
        region=published.region,
        across=published.across,
    )

"""The caption of a picture: what is drawn, how far each variant gets, and the seeds behind it."""

from collections.abc import Sequence
from statistics import fmean, median

from lengen.metrics.measures import trained
from lengen.paper.experiment import Experiment, Runs
from lengen.paper.experiment import Figure as Picture
from lengen.plotting.frames import rate
from lengen.plotting.learned import RULE, has_learned, learned
from lengen.plotting.measured import MEASURES
from lengen.plotting.published import Published, at_same_lengths
from lengen.plotting.sheet import label
from lengen.results.records import Run

MOST = 8
"""Most variants whose mean a caption names."""


def caption(picture: Picture, runs: Runs, published: Published, drawn: str) -> str:
    """Return the sentences below a picture. ``drawn``: the kind of drawing, such as ``grid``."""
    held = [(item, runs[item.name]) for item in picture.experiments if runs.get(item.name)]
    every = [run for _, some in held for run in some if not run.constructed]
    said = [picture.caption]
    names = picture.options.get("measures", ("exact",)) if drawn == "curves" else ("exact",)
    first = MEASURES[names[0] if MEASURES[names[0]].published else "exact"]
    if drawn in ("grid", "table") or (drawn == "curves" and MEASURES[names[0]].published):
        counts = drawn == "grid" or picture.options.get("panels") == "count"
        if told := _reached(held, first.metric, counts):
            measure = " ".join(first.label.lower().split())
            said.append(f"Mean {measure} beyond the trained range: {'; '.join(told)}.")
    if every:
        seeds = sorted({len(some) for _, some in held})
        profile = next(run.profile for run in every)
        many = f"{seeds[0]} seed{'s' * (seeds[0] > 1)}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} seeds"
        said.append(
            f"Median of {many}, {profile} profile." if seeds[-1] > 1 else f"{many.capitalize()}, {profile} profile."
        )
        if drawn in ("grid", "table"):
            said.append("Red: trained." + " Cells without a number: 0 or 100 %." * (drawn == "grid"))
        if drawn == "curves":
            said.append("Grey: trained lengths. Dots: seeds.")
        if any(not has_learned([run]) for run in every):
            how = "Hollow dots" if drawn == "curves" else "Grey maps" if drawn == "grid" else "Grey rows"
            said.append(f"{how}: not learned. {RULE}" if drawn in ("curves", "grid", "table") else RULE)
    kinds = [(MEASURES[name].published, MEASURES[name].mode) for name in names]
    values = [
        value
        for kind in kinds
        for item, some in held
        for value in at_same_lengths(published.get(item.name, ()), some[0], *kind)
    ]
    if values and drawn == "grid":
        said += [
            f"Dashed: published, {value.relation} {100 * value.value:.0f} %.".replace("= =", "=") for value in values
        ]
    elif values and drawn in ("curves", "table"):
        said.append("Published values stand at the same lengths.")
    elif any(published.get(item.name) for item, _ in held) and drawn in ("grid", "curves", "table"):
        said.append("Published values are of longer problems and are not drawn.")
    return " ".join(" ".join(filter(None, said)).split())


def _reached(held: Sequence[tuple[Experiment, Sequence[Run]]], metric: str, counts: bool) -> list[str]:
    """Return the mean share beyond the trained range of every variant that learned it, of many the best three."""
    reached = {label(item, some): beyond(some, metric, counts) for item, some in held if has_learned(learned(some))}
    known = {name: round(100 * share) for name, share in reached.items() if share == share}
    best = sorted(known, key=lambda name: -known[name])
    if len(known) <= MOST:
        return [f"{name} {share} %" for name, share in known.items()]
    rest = [known[name] for name in best[3:]]
    return [*(f"{name} {known[name]} %" for name in best[:3]), f"{len(rest)} others {rest[-1]} to {rest[0]} %"]


def beyond(runs: Sequence[Run], metric: str = "correct", counts: bool = True) -> float:
    """Return a mean share (exact match) over the tested cells outside the trained range, median over the seeds that
    learned it; nan if there are none. Without ``counts`` longer problems with the trained count alone."""
    rates = []
    for run in learned(runs):
        span = trained(run)
        outside = [cell for cell in run.grid.scores if not span.has(cell)]
        if not counts:
            outside = [cell for cell in outside if span.has((span.length, *cell[1:]))]
        found = [rate(run.grid.total([cell], "teacher_forced"), metric) for cell in outside]
        rates += [fmean(found)] if found else []  # `sum` rounds otherwise from Python 3.12 on
    return median(rates) if rates else float("nan")

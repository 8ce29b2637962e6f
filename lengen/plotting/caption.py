"""The caption of a picture: what is drawn, how far each variant gets, and the seeds behind it."""

from collections.abc import Sequence
from statistics import fmean, median

from lengen.experiment import Experiment, Runs
from lengen.experiment import Figure as Picture
from lengen.metrics.run_measures import LEARNED, has_learned, learned, most_have_learned
from lengen.plotting.frames import MEASURES, Published, at_same_lengths, of_measure, published_kinds, scores, values
from lengen.plotting.layout import label
from lengen.results.records import Run
from lengen.settings.sections import Trained

MOST = 8
"""Most variants whose mean a caption names."""
SOME = 4
"""Most variants of which a caption says how many seeds have not learned."""
MARKS = {"curves": "Hollow dots", "grid": "Grey maps", "table": "Grey rows"}
"""Marks of what has not learned, by drawing."""
RULE = f"Learned: the 95 % interval of exact match at the edge of the trained range reaches {100 * LEARNED:.0f} %."
"""The rule, for captions."""


def caption(picture: Picture, runs: Runs, published: Published, drawn: str) -> str:
    """Return the sentences below a picture. ``drawn``: the kind of drawing, such as ``grid``."""
    held = [(item, runs[item.name]) for item in picture.experiments if runs.get(item.name)]
    counted = [(item, group) for item, group in held if not group[0].constructed]
    every = [run for _, group in counted for run in group]
    sentences = [picture.caption]
    names = picture.options.get("measures", ("exact",)) if drawn == "curves" else ("exact",)
    if drawn in MARKS:
        of_counts = picture.options.get("panels") == "count"
        fewest = picture.options.get("fewest", 1) if of_counts else int(drawn == "grid")
        if reached := _reached(held, names[0], fewest):
            measure = " ".join(MEASURES[names[0]].label.lower().split())
            left_out = any(group[0].trained.lengths for _, group in counted)
            where = "outside the trained lengths" if left_out else "beyond the trained range"
            sentences.append(f"Mean {measure} {where}{_over(counted)}: {'; '.join(reached)}.")
    if every:
        seeds = sorted({len(group) for _, group in held})
        profile = next(run.profile for run in every)
        many = f"{seeds[0]} seed{'s' * (seeds[0] > 1)}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} seeds"
        lead = {"median": "Median of ", "one": "One of ", "each": ""}[picture.seeds] if seeds[-1] > 1 else ""
        sentences.append(f"{lead}{many}, {profile} profile.")
        if drawn in ("grid", "table"):
            sentences.append("Red: trained." + " Cells without a number: 0 or 100 %." * (drawn == "grid"))
        if drawn == "curves":
            sentences.append("Grey: trained lengths. Dots: seeds.")
    kinds = published_kinds(picture.options)
    beside = [(published.get(item.name, ()), group[0]) for item, group in held]
    theirs = [value for kind in kinds for values, run in beside for value in at_same_lengths(values, run, *kind)]
    sentences += _lacking(counted, drawn, bool(theirs)) if every else []
    if theirs and drawn == "grid":
        sentences += [f"Dashed: published, {value.printed}." for value in theirs]
    elif theirs and drawn in ("curves", "table"):
        around = len({(value.lengths, value.value) for value in theirs}) < len(theirs) and drawn == "curves"
        several = drawn == "curves" and any(value.lengths[0] < value.lengths[1] for value in theirs)
        sentences.append(
            f"Published values stand at the same lengths{', those of several lengths at the last' * several}"
            f"{', equal ones around each other' * around}."
        )
    elif drawn in MARKS and any(of_measure(published.get(item.name, ()), *kind) for kind in kinds for item, _ in held):
        sentences.append("Published values are of longer problems and are not drawn.")
    return " ".join(" ".join(filter(None, sentences)).split())


Held = Sequence[tuple[Experiment, Sequence[Run]]]


def _over(held: Held) -> str:
    """Return a word on the tested lengths where variants of one trained range have different ones."""
    tested: dict[Trained, set[frozenset[tuple[int, ...]]]] = {}
    for _, group in held:
        tested.setdefault(group[0].trained, set()).add(frozenset(group[0].grid.scores))
    return ", of each at its own tested lengths" if any(len(cells) > 1 for cells in tested.values()) else ""


def _lacking(held: Held, drawn: str, compared: bool) -> list[str]:
    """Return what marks a seed or a variant that has not learned, the seeds that medians leave out, and the rule."""
    pale = [label(item, group) for item, group in held if not most_have_learned(group)]
    lost = {
        label(item, group): f"{sum(not has_learned(run) for run in group)} of {len(group)}"
        for item, group in held
        if most_have_learned(group) and not all(map(has_learned, group))
    }
    marked = bool(pale) or (bool(lost) and drawn == "curves")
    sentences = [f"{MARKS[drawn]}: not learned."] if marked and drawn in MARKS else []
    if pale and drawn == "curves":
        sentences.append(f"Pale: most seeds have not learned{': ' + '; '.join(pale) if len(pale) <= SOME else ''}.")
    if lost and drawn in MARKS:
        which = f"of {len(lost)} variants"
        if len(lost) <= SOME:
            which = "; ".join(f"{name} {many}" for name, many in lost.items())
        but = "; the comparison with published values keeps them" * compared
        sentences.append(f"Medians leave out seeds that have not learned: {which}{but}.")
    return [*sentences, RULE] if sentences or (marked and drawn != "training") else []


def _reached(held: Held, name: str, fewest: int) -> list[str]:
    """Return `beyond` of every variant that learned its trained range, in words.

    Of many variants of the three best and the three worst.
    """
    share, means = MEASURES[name].share, {}
    for item, group in held:
        if most_have_learned(group) and (mean := beyond(learned(group), name, fewest)) == mean:
            means[label(item, group)] = mean
    texts = {variant: f"{100 * mean:.0f} %" if share else f"{mean:.2g}" for variant, mean in means.items()}
    if len(texts) <= MOST:
        return [f"{variant} ({mean})" for variant, mean in texts.items()]
    best = [f"{variant} ({texts[variant]})" for variant in sorted(texts, key=means.__getitem__, reverse=share)]
    return [*best[:3], f"{len(best) - 6} others", *best[-3:]]


def beyond(runs: Sequence[Run], name: str = "exact", fewest: int = 1) -> float:
    """Return the mean of a measure outside the trained range, median over seeds; nan if nothing was tested there.

    Over the cells from the count ``fewest`` on, as grids draw them; 0: over lengths, of the trained counts together, as
    curves and tables do.
    """
    span = runs[0].trained
    if fewest and len(runs[0].grid.axes) == 2:
        axes, measure = ["length", "count"], MEASURES[name]
        frame = scores(runs, measure.mode, measure.metric)
        frame = frame[frame["count"] >= fewest]
    else:
        axes, frame = ["length"], values(runs, name)
    outside = frame.loc[[not span.has(cell) for cell in frame[axes].itertuples(index=False)]]
    means = [fmean(accuracies) for _, accuracies in outside.groupby("run")["value"]]
    return median(means) if means else float("nan")

"""Theorem 5.1 beside trained models: exact match and the two operations of Section 4 by length."""

from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.config.sections import NUMBER_FORMATS
from lengen.plotting import Runs, first, setting
from lengen.records import Run
from papers.task_hinting.figures import mechanisms, panels, words
from papers.task_hinting.figures.panels import EXACT, Points
from papers.task_hinting.theorem import largest_length

MEASURED = (
    (EXACT, panels.exact),
    ("Copy of an input token\n(attention 1)", mechanisms.copy),
    ("Minimum at the delimiter\n(attention 1)", mechanisms.minimum),
    ("Identity and successor\n(attention 2)", mechanisms.identity_successor),
)


def thm5_1(runs: Runs) -> Figure:
    """Exact match, copy and minimum after the first attention, identity and successor after the second."""
    if not any(runs.values()):
        return plotting.empty(runs, panels.reason(runs), words.SLUGS)
    figure = Figure(figsize=(12.5, 3.6), layout="constrained")
    grid = figure.subplots(1, 4, sharey=True)
    for axes, (title, measure) in zip(grid, MEASURED, strict=True):
        points = {name: measure(some) for name, some in runs.items()}
        plotting.lines(axes, points, panels.method_looks(runs), _labels(runs), interval=False)
        axes.set_title(title, pad=14)
        if panels.lengths(points):
            _length_axis(runs, axes, points)
        else:
            axes.set(xticks=[], facecolor="0.97")
            axes.text(0.5, 0.5, "not recorded", ha="center", color="0.4", transform=axes.transAxes)
    plotting.percent(grid[0])
    grid[0].set_ylabel("Share of sequences, or of tokens")
    plotting.legend(figure, grid, wrap=32)
    trained = {name: some for name, some in runs.items() if some and not some[0].constructed}
    notes = ["Lengths on a logarithmic axis."]
    if trained:
        low, high = words.trained(first(trained))
        notes.append(f"Grey: trained lengths of the trained models, {low}–{high}; {words.model(trained)}.")
    notes += [plotting.seeds_note(runs), plotting.BESIDE_NOTE]
    plotting.found(figure, _found(runs))
    plotting.footnote(figure, " ".join(notes), *plotting.absent(runs, words.SLUGS))
    return figure


def _found(runs: Runs) -> str:
    """Up to which length the construction sorts, and what the printed one and the trained models do there."""
    points = {name: panels.exact(some) for name, some in runs.items() if some}
    made = next((name for name in points if words.method(runs[name][0]) == "constructed"), None)
    if made is None or points[made].empty:
        return ""
    least = points[made].groupby("length")["value"].min()
    right = least[least.eq(1).cummin()].index  # up to the first length at which some run errs
    others = {
        _label(runs[name][0]).partition(";")[0]: float(
            frame[frame["length"] == frame["length"].max()]["value"].median()
        )
        for name, frame in points.items()
        if name != made and len(frame) and (runs[name][0].constructed or plotting.has_learned(runs[name]))
    }
    told = f"The construction makes no mistake up to {right.max()} numbers" if len(right) else "The construction fails"
    told += f"; at their longest inputs {plotting.ranked(others)}" if others else ""
    return plotting.over_seeds(told, runs.values())


def thm5_1_formats(runs: Runs) -> Figure:
    """The longest input that the construction sorts, by the bits of its numbers, beside what its bound allows."""
    solved = {name: _longest(some) for name, some in runs.items() if some}
    if not any(solved.values()):
        return plotting.empty(runs, panels.reason(runs), words.SLUGS)
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.subplots()
    bits = {precision: held.bits for precision, held in NUMBER_FORMATS.items()}
    bound = sorted((bits[precision], largest_length(precision)) for precision in bits)
    axes.plot(*zip(*bound, strict=True), "--", color="0.4", marker="_", label="bound of the derivation")
    alphabets = dict.fromkeys(setting(runs[name][0], "alphabet") for name in solved)
    for number, alphabet in enumerate(alphabets):
        points = sorted(
            (bits[setting(runs[name][0], "precision")], longest)
            for name, longest in solved.items()
            if longest and setting(runs[name][0], "alphabet") == alphabet
        )
        where, reached = zip(*points, strict=True)
        axes.plot(
            where,
            reached,
            plotting.MARKERS[number],
            color=plotting.COLOURS[number],
            label=f"sorted; numbers 1 to {alphabet}",
        )
    axes.set_yscale("log", base=2)
    names = {held.bits: held.name for held in NUMBER_FORMATS.values()}
    axes.set_xticks(sorted(names), labels=[f"{value} ({names[value]})" for value in sorted(names)])
    axes.set(xlabel="Significant bits b", ylabel="Numbers sorted")
    plotting.legend(figure, [axes])
    plotting.found(figure, _within(runs, solved))
    note = (
        f"Points: the longest tested input at which {SOLVED:.0%} and more are sorted; longer ones are tested up to the "
        "bound where it is below a thousand."
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _within(runs: Runs, solved: Mapping[str, int]) -> str:
    """The longest input that is sorted in every number format."""
    reached: dict[str, int] = {}
    for name, longest in solved.items():
        held = NUMBER_FORMATS[setting(runs[name][0], "precision")].name
        reached[held] = max(longest, reached.get(held, 0))
    told = plotting.listed([f"{longest:,} numbers in {held}" for held, longest in reached.items()])
    tried = {name: max(int(length) for length in panels.exact(runs[name])["length"]) for name in solved}
    all_of_it = "all that was tried, " * (tried == {**solved})
    return f"The construction sorts {all_of_it}up to {told}"


SOLVED = 0.99
"""Exact match from which on a length counts as sorted."""


def _longest(runs: Sequence[Run]) -> int:
    """The longest tested length that is sorted; 0 where none is."""
    found = panels.exact(runs)
    return max((int(length) for length in found["length"][found["value"] >= SOLVED]), default=0)


def thm5_1_repeats(runs: Runs) -> Figure:
    """Exact match on rep(i, r), a panel an r: the construction, and a trained model."""
    repetitions = sorted({r for some in runs.values() for r in panels.counts(some)})
    points = {r: {name: panels.exact(some, r) for name, some in runs.items()} for r in repetitions}
    if not any(panels.lengths(known) for known in points.values()):
        return plotting.empty(runs, panels.reason(runs), words.SLUGS)
    figure = panels.by_repetition(runs, points, _labels(runs), EXACT, partial(_length_axis, runs), interval=True)
    note = f"{panels.REP}; r = 1: all drawn uniformly. {plotting.seeds_note(runs)} {plotting.BESIDE_NOTE}"
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _labels(runs: Runs) -> dict[str, str]:
    return {name: _label(some[0]) for name, some in runs.items() if some}


def _label(run: Run) -> str:
    """What an experiment is called in the legend."""
    numbers = f"numbers 1 to {setting(run, 'alphabet')}"
    if run.constructed:
        return f"{plotting.METHODS[words.method(run)].name}; {numbers}"
    return f"trained, {words.softmax(run)}{', repetitions' * bool(setting(run, 'repeats'))}; {numbers}"


def _length_axis(runs: Runs, axes: Axes, points: Points) -> None:
    """A logarithmic length axis with round ticks, and the trained lengths shaded."""
    axes.set_xscale("log")
    tested = panels.lengths(points)
    shown = [length for length in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tested and tested[0] <= length <= tested[-1]]
    axes.set_xticks(shown, labels=[str(length) for length in shown])
    axes.minorticks_off()
    axes.set_xlabel(plotting.length_axis(first(runs)))
    for run in [some[0] for some in runs.values() if some and not some[0].constructed][:1]:
        low, high = words.trained(run)
        plotting.trained_band(axes, (low, high))
        plotting.above(axes, (low * high) ** 0.5, "trained")

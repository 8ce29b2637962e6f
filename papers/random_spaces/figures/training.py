"""Figures 4.1, 4.2 and B.1: what is measured while a model trains.

A run's metrics hold ``exact_match.<length>`` and ``answer_loss.<length>`` (nats per answer token) of every tested
length, and ``digit_loss.<place>`` (place 1 is the units) at the longest trained one, each at every evaluation.
"""

import contextlib
from collections.abc import Mapping, Sequence
from statistics import median

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.measures import Missing
from lengen.plotting import BLACK, COLOURS, MARKERS, NONE, Look, Published, Runs, first, setting
from lengen.records import Run
from papers.random_spaces import lengths
from papers.random_spaces.figures import beside, words
from papers.random_spaces.measures import digit_order

UNTRAINED = (COLOURS[3], BLACK, COLOURS[4], COLOURS[1], COLOURS[5])
"""Colours of lengths that were not trained, in their order; trained ones share a scale from dark to light."""
TRAINED = mpl.colormaps["YlGnBu_r"]
DIGITS = mpl.colormaps["viridis"]
NOT_RECORDED = "nothing recorded during training"


def fig4_1(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 4.1: exact match and answer loss by length over the training of a decoder, a column a trained range."""
    return _over_training(runs, published)


def fig4_2(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 4.2: the same for the Universal Transformer."""
    return _over_training(runs, published)


def _over_training(runs: Runs, published: Published) -> Figure:
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs, words=words.SLUGS)
    figure = Figure(figsize=(max(2.7 * len(shown) + 0.5, 4.5), 5.3), layout="constrained")
    grid = figure.subplots(2, len(shown), squeeze=False, sharex="col", sharey="row")
    drawn: list[beside.Pair] = []
    left: list[beside.Pair] = []
    for (above, below), (name, some) in zip(grid.T, shown.items(), strict=True):
        for axes, metric in ((above, "exact_match"), (below, "answer_loss")):
            _lines(axes, some, metric, _lengths(some[0]))
        _beside(above, some, plotting.published.of(published, name), drawn, left)
        above.set_title(
            "\n".join([lengths.trained_on(some[0]).capitalize(), plotting.size(some[0]), *_unlearned(some)])
        )
        plotting.percent(above)
        if below.lines:
            columns = 3 if len(below.lines) <= 12 else 4
            legend = below.legend(
                loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=columns, frameon=False, handlelength=2.4,
                columnspacing=1.0, title="Digits of an operand", title_fontsize=7,
            )  # fmt: skip
            legend.set_in_layout(True)
    grid[0, 0].set_ylabel("Exact match")
    grid[1, 0].set_ylabel("Answer loss\n(nats per token)")
    _logarithmic(grid[1], "answer_loss", shown)
    plotting.found(figure, _found(shown))
    hollow = f"Hollow, at the right: published at the end of the training, {beside.sizes(drawn)}. " if drawn else ""
    note = (
        "Solid: trained lengths. Dashed: lengths never trained, left out between trained ones or longer. "
        f"Loss on a logarithmic scale. {hollow}{beside.without(left)}{plotting.seeds_note(shown)}"
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _beside(
    axes: Axes,
    runs: Sequence[Run],
    values: Sequence[plotting.Value],
    drawn: list[beside.Pair],
    left: list[beside.Pair],
) -> None:
    """Published values at the end of the training, in the looks of the lengths here that they stand at; those that have
    a place go to ``drawn``, the others of one length to ``left``."""
    steps = [step for run in runs for step, *_ in run.metrics]
    looks = {float(length): look for length, (_, look) in _lengths(runs[0]).items()}
    taken: dict[float, int] = {}
    for value in values if steps else ():
        length = beside.place(runs[0], value)
        if length is not None and length in looks:
            place, last = round(value.value, 2), 1.03 * max(steps)
            plotting.published.mark(axes, last, last, value, looks[length], taken.get(place, 0))
            taken[place] = taken.get(place, 0) + 1
            drawn.append((runs[0], value))
        elif value.lengths[0] == value.lengths[1]:
            left.append((runs[0], value))


def _found(shown: Runs) -> str:
    """Exact match at the end on trained lengths, left-out ones and longer ones, of every panel; medians over seeds."""
    told = []
    for some in shown.values():
        ends: dict[str, list[float]] = {}
        for length in lengths.tested(some[0]):
            last = [found[-1][1] for run in some if (found := sorted(_values(run, f"exact_match.{length}")))]
            if last:
                ends.setdefault(lengths.ROLES[lengths.role(some[0], length)], []).append(median(last))
        if ends:
            means = ", ".join(f"{role} {plotting.share(sum(found) / len(found))}" for role, found in ends.items())
            told.append(f"{lengths.trained_on(some[0])}: {means}")
    return f"Mean exact match at the end of training: {'; '.join(told)}" if told else ""


def _unlearned(runs: Sequence[Run]) -> list[str]:
    """A line for the title of a panel whose models have not learned their longest trained length."""
    longest = lengths.trained(runs[0])[-1]
    ends = [found[-1][1] for run in runs if (found := sorted(_values(run, f"exact_match.{longest}")))]
    reached = median(ends) if ends else 1.0
    return [] if reached >= plotting.LEARNED else [f"not learned: {plotting.share(reached)} at {longest} digits"]


def _values(run: Run, metric: str) -> list[tuple[int, float]]:
    return [(step, value) for step, name, value in run.metrics if name == metric]


def _lengths(run: Run) -> dict[int, tuple[str, Look]]:
    """Label and look of every tested length, the trained ones first."""
    known = lengths.tested_trained(run)
    others = [length for length in lengths.tested(run) if length not in known]
    last = max(len(known) - 1, 1)
    found = {
        length: (str(length), Look(TRAINED(0.05 + 0.58 * k / last), MARKERS[k % len(MARKERS)]))
        for k, length in enumerate(known)
    }
    for number, length in enumerate(others):
        look = Look(UNTRAINED[number % len(UNTRAINED)], MARKERS[number % len(MARKERS)], "--")
        found[length] = (f"{length} ({lengths.ROLES[lengths.role(run, length)]})", look)
    return found


def _lines(axes: Axes, runs: Sequence[Run], metric: str, looks: Mapping[int, tuple[str, Look]]) -> None:
    for number, (key, (label, look)) in enumerate(looks.items()):
        points = plotting.metrics(runs, f"{metric}.{key}")
        if len(points):
            plotting.line(axes, points, look, label, interval=False, sparse=number)
    if not axes.lines:
        plotting.missing(axes, lengths.trained_on(runs[0]), NOT_RECORDED)


def _logarithmic(row: Sequence[Axes], metric: str, runs: Runs) -> None:
    """Steps below, losses on a logarithmic axis that the row shares."""
    every = [run for some in runs.values() for run in some]
    for axes in row:
        axes.set_xlabel("Optimizer steps")
        plotting.step_ticks(axes, 5)
    plotting.logarithmic(row[0], [value for run in every for _, name, value in run.metrics if name.startswith(metric)])


# -- Figure B.1 --------------------------------------------------------------------------------------------


def figB_1(runs: Runs) -> Figure:
    """Figure B.1: loss of every answer digit over training, plain and reversed answers side by side."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs, words=words.SLUGS)
    figure = Figure(figsize=(max(3.3 * len(shown) + 1.4, 4.8), 3.4), layout="constrained")
    grid = figure.subplots(1, len(shown), squeeze=False, sharey=True)[0]
    for axes, some in zip(grid, shown.values(), strict=True):
        _lines(axes, some, "digit_loss", _places(some))
        order = "least" if setting(some[0], "reverse_response") else "most"
        axes.set_title(f"{words.label(some[0])}\nwritten {order} significant digit first")
    grid[0].set_ylabel("Loss of the digit (nats)")
    _logarithmic(grid, "digit_loss", shown)
    lines = {str(line.get_label()): line for axes in grid for line in axes.lines}
    ordered = sorted(lines.values(), key=lambda line: -int(str(line.get_label()).split()[0]))
    plotting.legend(figure, ordered, "Place in the sum", columns=1 + (len(ordered) > 12))
    note = (
        f"Sums of two numbers of {lengths.trained(first(shown))[-1]} digits, the longest trained, given the true "
        f"digits before. Place 1 is the units. {plotting.seeds_note(shown)}"
    )
    plotting.found(figure, _order(shown))
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _order(shown: Runs) -> str:
    """Of how many pairs of places the more significant was learned first, in every panel."""
    told = []
    for some in shown.values():
        with contextlib.suppress(Missing):
            pairs = [ORDER.value(run) for run in some]
            right, of = (sum(pair[k] for pair in pairs) for k in (0, 1))
            order = "least" if setting(some[0], "reverse_response") else "most"
            told.append(f"{plotting.share(right / of)} of pairs where the {order} significant digit is written first")
    return f"The more significant of two digits is learned first in {'; '.join(told)}" if told else ""


ORDER = digit_order("digit_loss")
"""The measure of which place is learned first."""


def _places(runs: Sequence[Run]) -> dict[int, tuple[str, Look]]:
    """Label and look of every recorded place, the most significant first."""
    names = {name for run in runs for _, name, _ in run.metrics if name.startswith("digit_loss.")}
    places = sorted((int(name.rpartition(".")[2]) for name in names), reverse=True)
    last = max(len(places) - 1, 1)
    role = dict.fromkeys(places[:1], " (most significant)") | {1: " (units)"}
    return {
        place: (f"{place}{role.get(place, '')}", Look(DIGITS(0.92 * k / last), MARKERS[k % len(MARKERS)]))
        for k, place in enumerate(places)
    }

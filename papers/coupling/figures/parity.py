"""Figure 3: parity by length."""

from collections.abc import Mapping, Sequence
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.metrics import METRICS
from lengen.plotting import METHODS, NONE, Published, Runs, setting
from lengen.records import Run
from papers.coupling.figures import words

IN_PLACE = ("Answer in its place, teacher-forced\n(the published caption)", "teacher_forced", "answer_token")
"""What older runs did not count."""
PANELS = (
    ("Answer before the first end,\nteacher-forced", "teacher_forced", "answer_correct"),
    ("Answer before the first end,\nfree-running", "free_running", "answer_correct"),
    ("Written response,\nfree-running", "free_running", "edit"),
)
PUBLISHED = {"answer_token": "answer_token", "answer_correct": "answer"}
"""The measure of a published value by what a panel counts."""
OURS = "coupling/fig3/coupling-plain"
"""The eighth setting, which the published figure does not have."""


def fig3(runs: Runs, published: Published = NONE) -> Figure:
    """Parity by length: the answer token in its place and before the first end, and the distance of the text; settings
    with a scratchpad above, those without below."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs, words=words.SLUGS)
    kinds = (IN_PLACE, *PANELS) if any(_counts(run, IN_PLACE) for some in shown.values() for run in some) else PANELS
    halves = [{name: some for name, some in shown.items() if bool(setting(some[0], "scratchpad")) is pad}
              for pad in (True, False)]  # fmt: skip
    halves = [half for half in halves if half]
    figure = Figure(figsize=(2.9 * len(kinds) + 1.6, 2.5 * len(halves) + 1.0), layout="constrained")
    grid = figure.subplots(len(halves), len(kinds), squeeze=False, sharex=True, sharey="col")
    length = max(setting(some[0], "length") for some in shown.values())
    drawn, beyond = 0, 0.0
    for number, (row, half) in enumerate(zip(grid, halves, strict=True)):
        looks = {name: METHODS[plotting.position_scheme(some[0])].look for name, some in half.items()}
        labels = {name: _label(name, some) for name, some in half.items()}
        for axes, (title, mode, metric) in zip(row, kinds, strict=True):
            counted = {
                name: [run for run in some if _counts(run, (title, mode, metric))] for name, some in half.items()
            }
            _panel(axes, counted, looks, labels, mode, metric)
            if metric in PUBLISHED:
                some = plotting.published.on_curves(
                    axes, published, counted, looks, measure=PUBLISHED[metric], mode=mode
                )
                drawn, beyond = drawn + some[0], max(beyond, some[1])
            plotting.trained_band(axes, (1, length))
            if number == 0:
                axes.set_title(title, pad=14)
                plotting.published.times_axis(axes, length)
            if number == len(halves) - 1:
                tested = sorted({cell[0] for some in shown.values() for run in some for cell in run.grid.scores})
                plotting.lengths_axis(axes, plotting.LENGTHS["parity"], tested)
        _beside(row, words.scratchpad(next(iter(half.values()))[0]))
    plotting.found(figure, plotting.over_seeds(_found(shown, kinds[0], length), shown.values()))
    note = (
        f"Grey: trained lengths. Dotted: guessing. {plotting.seeds_note(runs, interval=True)} {plotting.BESIDE_NOTE} "
        f"{plotting.published.note(drawn, beyond, bounds=True)} {plotting.RULE}"
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _panel(
    axes: Axes,
    runs: Mapping[str, Sequence[Run]],
    looks: Mapping[str, plotting.Look],
    labels: Mapping[str, str],
    mode: str,
    metric: str,
) -> None:
    points = {name: plotting.scores([run.grid for run in some], mode, metric) for name, some in runs.items() if some}
    plotting.lines(axes, points, looks, labels, interval=metric != "edit")
    if metric == "edit":
        axes.set_ylim(bottom=0)
        axes.set_ylabel("Edit distance per token")
        return
    plotting.percent(axes)
    axes.axhline(0.5, color="0.5", linewidth=0.7, linestyle=":")


def _beside(row: Sequence[Axes], half: str) -> None:
    """What a row shows at its left, and what its lines are at its right."""
    row[0].set_ylabel(f"{half.capitalize()}\n\nAccuracy of the answer")
    first = next((axes for axes in row if axes.get_legend_handles_labels()[1]), row[-1])
    row[-1].legend(*first.get_legend_handles_labels(), loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)


def _label(name: str, some: Sequence[Run]) -> str:
    said = f"{words.method(some[0])}, {plotting.seeds(len(some))}{' (ours)' if name == OURS else ''}"
    return "\n".join(filter(None, [said, _unlearned(some)]))


def _unlearned(some: Sequence[Run]) -> str:
    """As `plotting.unlearned`, of the answer token in its place where that was counted."""
    rates = []
    for run in some:
        inside = [cell for cell in run.grid.scores if cell[0] <= setting(run, "length")]
        counts = run.grid.total([max(inside)], "teacher_forced") if inside else {}
        top = METRICS["answer_token"].numerator if _counts(run, IN_PLACE) else "correct"
        if counts.get("n"):
            rates.append(counts[top] / counts["n"])
    reached = median(rates) if rates else 1.0
    return "" if reached >= plotting.LEARNED else f"not learned: {plotting.share(reached)} at the longest trained"


def _found(shown: Mapping[str, Sequence[Run]], kind: tuple[str, str, str], length: int) -> str:
    """The lowest accuracy at any tested length of every setting that has learned its range, as the paper counts it."""
    _, mode, metric = kind
    reached, longest = {}, 0
    for some in shown.values():
        points = plotting.scores([run.grid for run in some if _counts(run, kind)], mode, metric)
        if len(points) and not _unlearned(some):
            longest = max(longest, int(points["length"].max()))
            reached[words.setting_name(some[0])] = float(points.groupby("length")["value"].median().min())
    if not reached:
        return ""
    span = f"up to {longest / length:.3g} times the trained one"
    return f"Lowest accuracy of parity at any length {span}, where guessing gives 50 %: {plotting.ranked(reached)}"


def _counts(run: Run, panel: tuple[str, str, str]) -> bool:
    """Whether a run counted what a panel shows."""
    _, mode, metric = panel
    top = METRICS[metric].numerator if metric in METRICS else metric
    return any(top in modes.get(mode, ()) for modes in run.grid.scores.values())

"""Figure 3: parity by length."""

from matplotlib.figure import Figure

from lengen import plotting
from lengen.metrics import METRICS
from lengen.plotting import METHODS, Runs, setting
from lengen.records import Run
from papers.coupling.figures import words

IN_PLACE = ("Answer in its place, teacher-forced\n(the published caption)", "teacher_forced", "answer_token")
"""What older runs did not count."""
PANELS = (
    ("Answer before the first end,\nteacher-forced", "teacher_forced", "answer_correct"),
    ("Answer before the first end,\nfree-running", "free_running", "answer_correct"),
    ("Written response,\nfree-running", "free_running", "edit"),
)
OURS = "coupling/fig3/coupling-plain"
"""The eighth setting, which the published figure does not have."""


def fig3(runs: Runs) -> Figure:
    """Parity by length: the answer token in its place and before the first end, and the distance of the text."""
    shown = {name: some for name, some in runs.items() if some}
    kinds = (IN_PLACE, *PANELS) if any(_counts(run, IN_PLACE) for some in shown.values() for run in some) else PANELS
    figure = Figure(figsize=(3.8 * len(kinds), 3.7), layout="constrained")
    panels = figure.subplots(1, len(kinds))
    labels, looks = {}, {}
    for name, some in shown.items():
        labels[name] = f"{words.method(some[0])}\n{words.scratchpad(some[0])}, {plotting.seeds(len(some))}"
        labels[name] += " (ours)" if name == OURS else ""
        look = METHODS[plotting.position_scheme(some[0])].look
        looks[name] = look if setting(some[0], "scratchpad") else look._replace(line="--")
    for axes, (title, mode, metric) in zip(panels, kinds, strict=True):
        counted = {
            name: [run.grid for run in some if _counts(run, (title, mode, metric))] for name, some in shown.items()
        }
        points = {name: plotting.scores(grids, mode, metric) for name, grids in counted.items() if grids}
        plotting.lines(axes, points, looks, labels, interval=metric != "edit")
        axes.set(title=title, xlabel=plotting.LENGTHS["parity"])
        if shown:
            plotting.trained_band(axes, (1, max(setting(some[0], "length") for some in shown.values())))
    for axes in panels[:-1]:
        plotting.percent(axes)
        axes.axhline(0.5, color="0.5", linewidth=0.7, linestyle=":")
        axes.set_ylabel("Accuracy of the answer")
    panels[-1].set_ylim(bottom=0)
    panels[-1].set_ylabel("Edit distance per token")
    plotting.legend(figure, panels[:1])
    note = f"Grey: trained lengths. Dotted: guessing. {plotting.seeds_note(runs, interval=True)} {plotting.BESIDE_NOTE}"
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def _counts(run: Run, panel: tuple[str, str, str]) -> bool:
    """Whether a run counted what a panel shows."""
    _, mode, metric = panel
    top = METRICS[metric].numerator if metric in METRICS else metric
    return any(top in modes.get(mode, ()) for modes in run.grid.scores.values())

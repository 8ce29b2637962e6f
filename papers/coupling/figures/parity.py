"""Figure 3: parity by length."""

from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import METHODS, Runs, setting
from papers.coupling.figures import words

PANELS = (
    ("Answer, teacher-forced (as published)", "teacher_forced", "answer_correct"),
    ("Answer, free-running", "free_running", "answer_correct"),
    ("Written response, free-running", "free_running", "edit"),
)


def fig3(runs: Runs) -> Figure:
    """Parity by length: the answer teacher-forced (as published), free-running, and the distance of the text."""
    figure = Figure(figsize=(11.4, 3.7), layout="constrained")
    panels = figure.subplots(1, 3)
    shown = {name: some for name, some in runs.items() if some}
    labels, looks = {}, {}
    for name, some in shown.items():
        labels[name] = f"{words.method(some[0])}\n{words.scratchpad(some[0])}, {plotting.seeds(len(some))}"
        look = METHODS[plotting.position_scheme(some[0])].look
        looks[name] = look if setting(some[0], "scratchpad") else look._replace(line="--")
    for axes, (title, mode, metric) in zip(panels, PANELS, strict=True):
        points = {name: plotting.scores([run.grid for run in some], mode, metric) for name, some in shown.items()}
        plotting.lines(axes, points, looks, labels, interval=metric != "edit")
        axes.set(title=title, xlabel=plotting.LENGTHS["parity"])
        if shown:
            plotting.trained_band(axes, (1, max(setting(some[0], "length") for some in shown.values())))
    for axes in panels[:2]:
        plotting.percent(axes)
        axes.axhline(0.5, color="0.5", linewidth=0.7, linestyle=":")
        axes.set_ylabel("Accuracy of the answer")
    panels[2].set_ylim(bottom=0)
    panels[2].set_ylabel("Edit distance per token")
    plotting.legend(figure, panels[:1])
    note = f"Grey: trained lengths. Dotted: guessing. {plotting.seeds_note(runs, interval=True)} {plotting.BESIDE_NOTE}"
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure

"""Blocks of two pages of each paper: REPORT.md, and the gallery of its pictures.

What is written by hand there names no answer and no measured number, so it stays true when runs are added.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from lengen.experiment import CURVES, GRID, TABLE, Figure
from lengen.metrics.run_measures import short
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.compare import Comparison
from reproduce.comparison.last_comparison import CONTRADICTED, MET
from reproduce.comparison.published_values import Line, Value, number, score
from reproduce.pages import sentences as say
from reproduce.pages.comparison import score_of, values_table
from reproduce.pages.overview_picture import Facts
from reproduce.pages.sentences import folded, grouped, table
from reproduce.runs import costs

# Committed SVG files and a comparison enter, Markdown leaves, for a page in docs/ and for the site.


def gallery(paper: str, facts: Facts) -> str:
    """Return a section for each figure that has a committed picture."""
    folder = facts.reference.path / paper / "figures"
    comparison = facts.compared[paper]
    sections = [
        section(path, f"../{path.relative_to(facts.repository).as_posix()}", figure, comparison, "###")
        for figure in CATALOGUE.figures(paper)
        for path in sorted(folder.glob(f"{figure.name}-*.svg"))
        if path.stem.rpartition("-")[0] == figure.name
    ]
    return "\n\n".join(sections)


def section(path: Path, link: str, figure: Figure, comparison: Comparison, level: str) -> str:
    """Return a picture under a heading, its caption, and the published values of what it draws beside ours."""
    title, shown, caption = picture(path, link)
    homes = CATALOGUE.homes(comparison.paper, path.stem.rpartition("-")[2])
    drawn = {homes[name] for name in figure.reads}
    there = [line for line in comparison.beside if {homes[name] for name in line.value.experiments} <= drawn]
    mine = [line for line in there if _draws(figure, line.value)]
    parts = [f"{level} {title}", shown, caption or "Nothing has run."]
    if mine:
        met = score(mine)
        summary = f"Published beside ours: {met.within_5} of {met.compared} within 5 points"
        parts.append(folded(summary, values(mine), "markdown"))
    return "\n\n".join(parts)


def picture(path: Path, link: str) -> tuple[str, str, str]:
    """Return the title of a drawn picture, the picture as Markdown and its caption."""
    from lengen.plotting import said

    title, _, caption = said(path.read_bytes()).partition(". ")
    sentences = [f"{sentence.removesuffix('.')}." for sentence in caption.split(". ")]
    mean = next((sentence for sentence in sentences if sentence.startswith("Mean exact match")), "")
    alternative = f"{title}. {mean}".strip().replace("[", "").replace("]", "")
    return title, f"![{alternative}]({link})", caption


def _draws(figure: Figure, value: Value) -> bool:
    """Return True if a figure shows the measure of a published value: exact match, or those of its curves."""
    from lengen.plotting.frames import published_kinds

    measures = {measure for measure, _ in published_kinds(figure.options)}
    if figure.how == CURVES:
        return value.measure in measures
    return bool(measures) and (figure.how in (GRID, TABLE) or "exact_match" in figure.options.get("shares", ()))


def values(lines: Sequence[Line]) -> str:
    """Return a row per experiment and place, and in it published and ours at each length."""
    rows = grouped(lines, lambda line: (", ".join(map(short, line.value.experiments)), line.value.place))
    head = ["experiment", "where", "length: published, ours (median of all seeds)"]
    return table(head, ([*names, "; ".join(map(_pair, some))] for names, some in rows.items()))


def _pair(line: Line) -> str:
    value = line.value
    return f"{value.at}: {value.printed}, {number(line.ours or 0)} {value.unit}".rstrip()


HOUR = 3600


def identity(paper: str, facts: Facts) -> str:
    """Return the reproduced paper and the reproducing suite."""
    known = CATALOGUE.paper(paper)
    comparison = facts.compared[paper]
    equal = sum(not setting.unequal for setting in comparison.settings)
    errata = (facts.repository / "papers" / paper / "ERRATA.md").read_text(encoding="utf-8")
    known_as = [f"*{known.title}*"]
    if known.arxiv:
        known_as.append(f"[arXiv:{known.arxiv}](https://arxiv.org/abs/{known.arxiv})")
    if known.openreview:
        known_as.append(f"[OpenReview {known.openreview}](https://openreview.net/forum?id={known.openreview})")
    others = len(comparison.lines) - comparison.score.printed
    measured = f"{comparison.score.printed} published accuracies" + f" and {others} other measurements" * bool(others)
    return (
        f"{', '.join(known_as)}; lengen {facts.version}.\n\n"
        f"- [published.toml](published.toml): {len(comparison.answers)} main statements, {measured}, "
        f"{len(comparison.settings)} hyper-parameters, of which {equal} are equal in the paper profile.\n"
        f"- {score_of(comparison) or 'No published value stands beside ours yet.'}\n"
        f"- [DEVIATIONS.md](DEVIATIONS.md): {len(CATALOGUE.deviations(paper))} numbered deviations.\n"
        f"- [ERRATA.md](ERRATA.md): {sum(line.startswith('## E') for line in errata.splitlines())} errata."
    )


def failed(paper: str, facts: Facts) -> str:
    """Return the statements and details that are contradicted, and the published values that are missed."""
    missed = [line for line in facts.compared[paper].lines if line.compared and line.apart > MET]
    details = [(answer.statement.id, detail) for answer in facts.compared[paper].answers for detail in answer.details]
    below = [
        f"- A detail of `{paper}/{id}`: {detail.part.words}: {say.outcome(detail)}; {say.measured(detail)}."
        for id, detail in details
        if detail.word == CONTRADICTED
    ]
    parts = [statements(paper, facts, CONTRADICTED), "\n".join(below)]
    if missed:
        parts += [f"Published values more than {MET} points apart:", values_table(missed)]
    return "\n\n".join(filter(None, parts))


def statements(paper: str, facts: Facts, *words: str) -> str:
    """Return the statements that have one of these answers, each with its reason and its numbers."""
    chosen = [answer for answer in facts.compared[paper].answers if answer.word in words]
    pairs = [(answer.statement, say.sentence(answer)) for answer in chosen]
    lines = [f"- `{paper}/{of.id}`: {of.words} ({of.place}). {sentence}." for of, sentence in pairs]
    return "\n".join(lines) or "No main statement so far."


def cost(paper: str, facts: Facts) -> str:
    """Return a table of runs, seeds and hours by profile and device."""
    groups = grouped(facts.runs[paper], lambda run: (run.profile, str(run.info["device"])))
    head = ("profile", "device", "experiments", "runs", "hours of training", "hours of measuring")
    lines = []
    for (profile, device), runs in sorted(groups.items()):
        unit = "core" if device == "cpu" else "device"
        hours = [sum(_hours(run, took) for run in runs) for took in (costs.training, costs.measuring)]
        cells = [f"{value:.1f} {unit}-hours" for value in hours]
        longest = f"{max(costs.training(run) + costs.measuring(run) for run in runs) / 60:.1f}"
        lines.append([profile, device, len({run.experiment for run in runs}), len(runs), *cells, longest])
    processors = sorted({str(run.info["processor"]) for run in facts.runs[paper] if run.info.get("processor")})
    named = ", ".join(processors) or "not recorded"
    note = f"Processors that run.json names: {named}. Hours of a processor are those of one core."
    return f"{table((*head, 'longest run, minutes'), lines)}\n\n{note}"


def _hours(run: Run, took: Callable[[Run], float]) -> float:
    """Return the hours of a core, or of another device; seeds trained as one program have each a part of its time."""
    return took(run) * (run.info.get("threads", 1) if run.info["device"] == "cpu" else 1) / HOUR


def adderboard(paper: str, facts: Facts) -> str:
    """Return the last full results of the community's check of ten-digit addition for this paper's models."""
    path = facts.repository / "results" / "adderboard.json"
    judged = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    head = ("model", "weights", "right, of 10 edge cases and 10,000 pairs", "parameters")
    lines = []
    for model in judged:
        if model["model"].startswith(f"{paper}/"):
            score = f"{model['edges'] + model['pairs']:,}, {'enough' if model['qualifies'] else 'not enough'}"
            lines.append((model["model"], model["weights"], score, f"{model['parameters']:,}"))
    return table(head, lines) if lines else "Not run yet."

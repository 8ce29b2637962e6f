"""The blocks of REPORT.md of each paper, which has the form of the ML Reproducibility Challenge.

What is written by hand there names no answer and no measured number, so it stays true when runs are added.
"""

import json
from collections.abc import Callable

from lengen.results.records import Run
from reproduce.comparison.recorded import FAILS, MET
from reproduce.pages import text
from reproduce.pages.comparison import score_of, values_table
from reproduce.pages.facts import Facts
from reproduce.pages.markdown import table
from reproduce.runs import run_cost
from reproduce.runs.catalogue import CATALOGUE

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
    return "\n".join(
        [
            f"{', '.join(known_as)}; lengen {facts.version}.",
            "",
            f"- [published.toml](published.toml): {len(comparison.answers)} main statements, {measured}, "
            f"{len(comparison.settings)} hyper-parameters, of which {equal} are equal in the paper profile.",
            f"- {score_of(comparison)}"
            if comparison.score.compared
            else "- No published value stands beside ours yet.",
            f"- [DEVIATIONS.md](DEVIATIONS.md): {len(CATALOGUE.deviations(paper))} numbered deviations.",
            f"- [ERRATA.md](ERRATA.md): {sum(line.startswith('## E') for line in errata.splitlines())} errata.",
        ]
    )


def failed(paper: str, facts: Facts) -> str:
    """Return the statements and details that do not hold, and the published values that are missed."""
    missed = [line for line in facts.compared[paper].lines if line.compared and line.apart > MET]
    below = [
        f"- A detail of `{paper}/{answer.statement.id}`: {detail.part.words}: {text.outcome(detail)}; "
        f"{text.measured(detail)}."
        for answer in facts.compared[paper].answers
        for detail in answer.details
        if detail.word == FAILS
    ]
    parts = [statements(paper, facts, FAILS), "\n".join(below)]
    if missed:
        parts += [f"Published values more than {MET} points apart:", values_table(missed)]
    return "\n\n".join(filter(None, parts))


def statements(paper: str, facts: Facts, *words: str) -> str:
    """Return the statements that have one of these answers, each with its reason and its numbers."""
    lines = []
    for answer in facts.compared[paper].answers:
        if answer.word in words:
            statement = f"`{paper}/{answer.statement.id}`: {answer.statement.words} ({answer.statement.place})"
            lines.append(f"- {statement}. {text.sentence(answer)}.")
    return "\n".join(lines) or "No main statement so far."


def cost(paper: str, facts: Facts) -> str:
    """Return a table of runs, seeds and hours by profile and device."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in facts.runs[paper]:
        groups.setdefault((run.profile, str(run.info["device"])), []).append(run)
    head = ("profile", "device", "experiments", "runs", "hours of training", "hours of measuring")
    lines = []
    for (profile, device), runs in sorted(groups.items()):
        unit = "core" if device == "cpu" else "device"
        hours = [sum(_hours(run, took) for run in runs) for took in (run_cost.training, run_cost.measuring)]
        cells = [f"{value:.1f} {unit}-hours" for value in hours]
        longest = f"{max(run_cost.training(run) + run_cost.measuring(run) for run in runs) / 60:.1f}"
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
    head = ("model", "weights", "right, of 10 edge cases and 10,000 pairs", "parameters", "work by code")
    lines = []
    for model in judged:
        if model["model"].startswith(f"{paper}/"):
            right = model["sums"]["edges"] + model["sums"]["pairs"]
            rule = model["rules"]["4 no work by code"].partition(":")[0]
            score = f"{right:,}, {'enough' if model['qualifies'] else 'not enough'}"
            lines.append((model["model"], model["weights"], score, f"{model['parameters']['unique']:,}", rule))
    return table(head, lines) if lines else "Not run yet."

"""The blocks of REPORT.md of each paper, which has the form of the ML Reproducibility Challenge.

What is written by hand there names no verdict and no measured number, so it stays true when runs are added.
"""

import json
from collections import Counter
from collections.abc import Callable

from lengen.records import Run
from reproduce.comparison import score_card
from reproduce.comparison.effects import asked_of, compared, interval, seeds
from reproduce.comparison.rows import DIFFERS, EQUAL, FLOOR, NOT_RUN, REPRODUCED, SETTING, UNDECIDED, UNTESTED
from reproduce.output.markdown import table
from reproduce.publication.facts import Facts
from reproduce.runs import spent
from reproduce.runs.catalogue import CATALOGUE

HOUR = 3600


def identity(paper: str, facts: Facts) -> str:
    """What is reproduced, and by what."""
    known = CATALOGUE.paper(paper)
    rows = facts.rows[paper]
    settings = [row for row in rows if row.aggregation == SETTING]
    equal = sum(row.verdict == EQUAL for row in settings)
    numbers = sum(row.kind == "number" for row in rows) - len(settings)
    claims, whole = len(score_card.decisive(rows)), score_card.score(rows).total()
    errata = (facts.repository / "papers" / paper / "ERRATA.md").read_text(encoding="utf-8")
    known_as = [f"*{known.title}*"]
    if known.arxiv:
        known_as.append(f"[arXiv:{known.arxiv}](https://arxiv.org/abs/{known.arxiv})")
    if known.openreview:
        known_as.append(f"[OpenReview {known.openreview}](https://openreview.net/forum?id={known.openreview})")
    return "\n".join(
        [
            f"{', '.join(known_as)}; lengen-suite {facts.version}.",
            "",
            f"- [published.toml](published.toml): {claims} claims ({whole} where parts of one count once), {numbers} "
            f"numbers, {len(settings)} hyper-parameters, of which {equal} are equal in the paper-profile settings.",
            f"- [deviations.py](deviations.py): {len(CATALOGUE.deviations(paper))} numbered deviations.",
            f"- [ERRATA.md](ERRATA.md): {sum(line.startswith('## E') for line in errata.splitlines())} errata.",
        ]
    )


def held(paper: str, facts: Facts) -> str:
    """Claims that are reproduced."""
    return _claims(paper, facts, REPRODUCED)


def failed(paper: str, facts: Facts) -> str:
    """Claims that differ."""
    return _claims(paper, facts, DIFFERS)


def _claims(paper: str, facts: Facts, verdict: str) -> str:
    claims, whole = score_card.decisive(facts.rows[paper]).values(), score_card.counted_as(facts.rows[paper])
    lines = []
    for row in (row for row in claims if row.verdict == verdict):
        trained = f", {seeds(row.seeds)}" if row.seeds else ""
        headline = " (headline)" if row.headline else ""
        lines.append(
            f"- `{paper}/{row.id}`{headline}: {row.statement} ({row.place}). Asked: {asked_of(row)}; measured: "
            f"{compared(row)}{interval(row)}, profile {row.profile}{trained}."
        )
        if whole[row.id] != verdict:
            lines[-1] += f" With the other parts of `{paper}/{row.counts_as}` it counts as {whole[row.id]}."
    return "\n".join(lines) or "None so far."


def undecided(paper: str, facts: Facts) -> str:
    """How many claims are open, and why; each part of a claim is one, as in the table that it points to."""
    counts = Counter(row.verdict for row in score_card.decisive(facts.rows[paper]).values())
    words = {
        UNTESTED: "untested: a model they rest on did not learn what it was trained on",
        UNDECIDED: "undecided: too few seeds, an interval that crosses what is asked, or a claim younger than its runs",
        FLOOR: "at the floor: both sides of a comparison are near zero",
        NOT_RUN: "not run at any size yet",
    }
    lines = [f"- {counts[verdict]} {said}" for verdict, said in words.items() if counts[verdict]]
    where = f"../../results/reference/{paper}/comparison.md"
    head = "Open claims (parts counted one by one):"
    last = f"What would decide each stands in [comparison.md]({where})."
    return "\n".join([head, "", *lines, "", last]) if lines else "Nothing."


def cost(paper: str, facts: Facts) -> str:
    """Runs, seeds and hours by profile and device."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in facts.runs[paper]:
        groups.setdefault((run.profile, str(run.info["device"])), []).append(run)
    head = ("profile", "device", "experiments", "runs", "hours of training", "hours of measuring")
    lines = []
    for (profile, device), runs in sorted(groups.items()):
        unit = "core" if device == "cpu" else "device"
        hours = [sum(_hours(run, took) for run in runs) for took in (spent.training, spent.measuring)]
        told = [f"{value:.1f} {unit}-hours" for value in hours]
        longest = f"{max(_minutes(run) for run in runs):.1f}"
        lines.append([profile, device, len({run.experiment for run in runs}), len(runs), *told, longest])
    processors = sorted({str(run.info["processor"]) for run in facts.runs[paper] if run.info.get("processor")})
    named = ", ".join(processors) or "not recorded"
    note = f"Processors that run.json names: {named}. Hours of a processor are those of one core."
    return f"{table((*head, 'longest run, minutes'), lines)}\n\n{note}"


def _minutes(run: Run) -> float:
    """Minutes from its first step to its last measurement."""
    return (spent.training(run) + spent.measuring(run)) / 60


def _hours(run: Run, took: Callable[[Run], float]) -> float:
    """Hours of a core, or of another device; seeds that were trained as one program have each a part of its time."""
    threads = run.info.get("threads", 1)
    assert isinstance(threads, int)
    return took(run) * (threads if run.info["device"] == "cpu" else 1) / HOUR


def adderboard(paper: str, facts: Facts) -> str:
    """What the community's check of ten-digit addition said of this paper's models, when it was last run in full."""
    path = facts.repository / "results" / "adderboard.json"
    judged = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    head = ("model", "weights", "right, of 10 edge cases and 10,000 pairs", "parameters", "work by code")
    lines = []
    for one in judged:
        if one["model"].startswith(f"{paper}/"):
            right = one["sums"]["edges"] + one["sums"]["pairs"]
            rule = one["rules"]["4 no work by code"].partition(":")[0]
            told = f"{right:,}, {'enough' if one['qualifies'] else 'not enough'}"
            lines.append((one["model"], one["weights"], told, f"{one['parameters']['unique']:,}", rule))
    return table(head, lines) if lines else "Not run yet."

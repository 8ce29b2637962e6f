"""A comparison: as comparison.md, one screen a paper with details folded below, as statements.csv, on a terminal.

Comparisons enter, text leaves.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lengen.metrics.run_measures import short
from lengen.results.records import to_table
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.compare import Comparison, compare
from reproduce.comparison.last_comparison import MET, WORDS
from reproduce.comparison.published_values import Line, hard, number, probability, score
from reproduce.comparison.statement_answers import Answer, Finding
from reproduce.pages import sentences as say
from reproduce.pages import terminal
from reproduce.pages.sentences import folded, grouped, table
from reproduce.pages.terminal import LOOKS
from reproduce.runs.costs import cost, in_words
from reproduce.store.files import update
from reproduce.store.store import Store

COLUMNS = (
    "statement", "paper", "arxiv", "openreview", "place", "words", "answer", "reason", "distance", "numbers", "p",
    "seeds", "problems", "after_runs", "command",
)  # fmt: skip
"""Columns of statements.csv."""
DETAILS = ("comparison", "outcome", "measured", "p", "seeds left out")
"""Columns of the comparisons that statements rest on."""
RULES = Path(__file__).with_name("rules.md").read_text(encoding="utf-8")


def page(comparison: Comparison) -> str:
    """Return comparison.md."""
    title = CATALOGUE.paper(comparison.paper).title
    parts = [f"# {title}: published and measured", score_of(comparison)]
    if comparison.answers:
        reasons = [(answer, say.reason(answer)) for answer in comparison.answers]
        lines = [f"- *{answer.statement.id}*, {answer.word}: {reason}." for answer, reason in reasons if reason]
        parts += ["## Main statements", statements_table(comparison.answers), "\n".join(lines)]
    if comparison.beside:
        values = f"{_scores(comparison.beside)}\n\n{values_table(comparison.beside)}"
        parts += [folded(f"Published beside ours: {len(comparison.beside)} values", values)]
    if comparison.answers:
        parts += [folded("Comparisons that each statement rests on", _details(comparison.answers))]
    if comparison.details:
        parts += [table(DETAILS, (_detail(finding, "") for finding in comparison.details))]
    parts += [lacking_table(comparison.lines), _settings(comparison), folded("How answers are given", RULES)]
    if deviations := CATALOGUE.deviations(comparison.paper):
        parts.append(folded("Deviations", "\n".join(f"- **{name}** {words}" for name, words in deviations.items())))
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def score_of(comparison: Comparison) -> str:
    """Return the score of published values that are met, and of those beyond the trained range not near 0."""
    beyond = hard(comparison.lines)
    if not comparison.score.compared:
        return ""
    rest = f" Beyond the trained range and above {MET} %: {beyond.within_5} of {beyond.compared}."
    return f"**{comparison.score}.**{rest if beyond.compared else ''}"


def statements_table(answers: Sequence[Answer]) -> str:
    """Return the statements with their answers."""
    rows = (
        [f"{answer.statement.words}{say.mark(answer)}", f"**{answer.word}**", answer.distance, say.evidence(answer)]
        for answer in answers
    )
    return table(["statement", "answer", "distance", "measured"], rows)


def _scores(lines: Sequence[Line]) -> str:
    """Return the score of each table or figure."""
    scores = ((place, score(some)) for place, some in grouped(lines, lambda line: line.value.place).items())
    rows = [[place, str(met.compared), str(met.within_5), str(met.within_2)] for place, met in scores if met.compared]
    return table(["place", "published values", "within 5 points", "within 2"], rows)


def values_table(lines: Iterable[Line]) -> str:
    """Return a table of published values, ours with every seed, points apart; one row for each value."""
    head = ["place", "experiment", "length", "published", "ours", "points apart", "every seed", "distance"]
    rows = [[line.value.place, *_of_line(line, ".4g"), line.distance] for line in lines]
    return table(head, rows)


def _of_line(line: Line, digits: str) -> list[str]:
    """Return the experiment, the lengths, the published value, ours, points apart and every seed."""
    seeds = " ".join(format(seed, digits) for seed in line.seeds)
    return [line.name, line.value.at, line.value.printed, number(line.ours), number(line.gap), seeds]


def _details(answers: Sequence[Answer]) -> str:
    parts = []
    for answer in answers:
        statement = answer.statement
        quote = f"> {statement.quote}\n\n" if statement.quote else ""
        rows = [_detail(finding, "") for finding in answer.findings]
        rows += [_detail(finding, "detail: ") for finding in answer.details]
        remark = f"\n\n{statement.remark}" if statement.remark else ""
        parts.append(f"**{statement.id}** ({statement.place})\n\n{quote}{table(DETAILS, rows)}{remark}")
    return "\n\n".join(parts)


def _detail(finding: Finding, kind: str) -> list[str]:
    sides = (*finding.left, *finding.right)
    counts = [(len(side.hollow), len(side.hollow) + len(side.seeds), short(side.experiment)) for side in sides]
    hollow = [f"{left_out} of {every} of {name}" for left_out, every, name in counts if left_out]
    words, numbers = f"{kind}{finding.part.words}", say.measured(finding)
    return [words, say.outcome(finding), numbers, probability(finding.p), ", ".join(hollow)]


def lacking_table(lines: Sequence[Line]) -> str:
    """Say which published measurements lack a value of ours, and what one training at their own setting would cost."""
    lacking = (line for line in lines if line.ours is None)
    groups = grouped(lacking, lambda line: (line.value.place, *line.value.experiments))
    if not groups:
        return ""
    rows = [
        [some[0].value.place, some[0].value.name, str(len(some)), _instead(some[0]), _cost(some[0].value.experiments)]
        for some in groups.values()
    ]
    head = ["place", "experiment", "values", "run here", "published setting, one training each on one GPU"]
    title = f"{sum(map(len, groups.values()))} published measurements have no value of ours beside them"
    note = "Times are estimates, at most so long where training ends by itself. results/published.csv lists the values."
    return folded(title, f"{table(head, rows)}\n\n{note}")


def _instead(line: Line) -> str:
    """Return the setting that was run in place of a published measurement."""
    if line.distance:
        return line.distance
    if line.trained:
        return "its lengths, not this one"
    return "not all of them" if len(line.value.experiments) > 1 else "nothing"


def _cost(experiments: Sequence[str]) -> str:
    """Return the time of a training of each experiment at the paper profile."""
    return in_words(sum(cost(CATALOGUE.select_one(name).specs["paper"], "paper").total for name in experiments))


def _settings(comparison: Comparison) -> str:
    wrong = [setting for setting in comparison.settings if setting.unequal]
    if not comparison.settings:
        return ""
    equal = f"{len(comparison.settings) - len(wrong)} of {len(comparison.settings)}"
    sentence = f"{equal} published hyper-parameters are equal in the paper profile."
    if not wrong:
        return sentence
    head = ["id", "place", "published", "ours", "deviations"]
    rows = [[s.id, s.place, s.published, _of_experiments(s.unequal), " ".join(s.deviations)] for s in wrong]
    return f"{sentence}\n\n{table(head, rows)}"


def _of_experiments(unequal: Mapping[str, object]) -> str:
    """Return every value once, with its experiment or their number.

    >>> _of_experiments({"a/b/c": 1, "a/b/d": 2, "a/b/e": 2})
    '1 (b/c); 2 (2 experiments)'
    """
    names = grouped(unequal, lambda name: str(unequal[name]))
    return "; ".join(
        f"{value} ({short(some[0]) if len(some) == 1 else f'{len(some)} experiments'})" for value, some in names.items()
    )


def statements_csv(comparisons: Iterable[Comparison]) -> str:
    """Return the statements of several papers as comma-separated values, under ids that stay: ``paper/statement``."""
    return to_table(COLUMNS, (row for comparison in comparisons for row in _rows(comparison)))


def _rows(comparison: Comparison) -> Iterable[list[object]]:
    paper = CATALOGUE.paper(comparison.paper)
    for answer in comparison.answers:
        statement = answer.statement
        p = max((finding.p for finding in answer.deciding if finding.p is not None), default=None)
        problems = min((finding.problems for finding in answer.findings if finding.problems), default=0)
        yield [
            f"{comparison.paper}/{statement.id}", comparison.paper, paper.arxiv, paper.openreview, statement.place,
            statement.words, answer.word, say.reason(answer), answer.distance, say.evidence(answer), probability(p),
            answer.seeds or "", problems or "", str(answer.younger).lower(), command(answer),
        ]  # fmt: skip


def command(answer: Answer) -> str:
    """Return the command that makes the runs of a statement again: whole figures where it needs several variants."""
    pairs = [(name, finding.profile or "night") for finding in answer.findings for name in finding.part.names]
    figures = grouped(dict.fromkeys(pairs), lambda pair: (pair[0].rsplit("/", 1)[0], pair[1]))
    made = ((some[0][0] if len(some) == 1 else figure, profile) for (figure, profile), some in figures.items())
    return " && ".join(f"python -m reproduce run {name} --profile {profile}" for name, profile in made)


def save(paper: str, stores: Sequence[Store]) -> tuple[list[Comparison], list[Path]]:
    """Write comparison.md below each store that has runs of the paper; the comparison of each store, and the files."""
    comparisons = [compare(paper, [store]) for store in stores]
    paths = []
    for store, mine in zip(stores, comparisons, strict=True):
        if not mine.measured and not store.headers(paper):
            continue
        paths.append(store.path / paper / "comparison.md")
        update(paths[-1], page(mine))
    return comparisons, paths


# ------------------------------------------------------------------ on a terminal


NOTE = f"{say.DAGGER} written or reworded after some of its runs."


MANY = 24
"""Values of which only those apart are printed."""


def whole(reference: Comparison, yours: Comparison | None, every: bool = False) -> list[RenderableType]:
    """Return the score, the values beside ours and the statements of one paper.

    Of many values those are left out that are met, by stored and by local runs, unless ``every`` one is asked for.
    """
    shown = reference.beside or (yours.beside if yours else [])
    missed = {line.value.id for line in (*reference.beside, *(yours.beside if yours else ())) if line.apart > MET}
    apart = shown if every or len(shown) <= MANY else [line for line in shown if line.value.id in missed]
    parts: list[RenderableType] = [score_in_words(reference, yours, len(apart) < len(shown))]
    if shown:
        parts += [Text(), _values(apart, yours)]
    for answer in reference.answers:
        parts += [Text(), *_shown_answer(answer, "")]
        other = next((one for one in yours.answers if one.statement.id == answer.statement.id), None) if yours else None
        if other is not None and other.distance:
            parts += _shown_answer(other, "yours: ")
    for detail in reference.details:
        outcome = Text("; ".join(filter(None, (say.outcome(detail), say.measured(detail), detail.distance))), "dim")
        parts += [Text(), Text(f"detail: {detail.part.words}"), Padding(outcome, (0, 0, 0, 2))]
    if not reference.answers and not reference.lines and not reference.details:
        parts.append(Text("Nothing is compared there."))
    return [*parts, Text(NOTE, "dim")] if any(answer.younger for answer in reference.answers) else parts


def score_in_words(reference: Comparison, yours: Comparison | None = None, left_out: bool = False) -> Text:
    """Return the score in words: published values that are met, and statements by answer."""
    met = reference.score
    words = Text(f"{met}", "bold") if met.compared else Text("no published value beside ours yet")
    if yours is not None and yours.score.compared:
        words.append(f"; yours: {yours.score}")
    if left_out:
        words.append("; --all prints them")
    if reference.answers:
        words.append("\n").append(answers_in_words(reference.counts))
        words.append(f" of {len(reference.answers)} statement{'s' * (len(reference.answers) != 1)}")
    return words


def _values(shown: Sequence[Line], yours: Comparison | None) -> Table:
    """Return a line for each value: published, ours, points apart and every seed; with yours if there are any."""
    mine = {line.value.id: line for line in (yours.beside if yours else ())}
    heads = ["length", "published", "ours", *(["yours"] if mine else []), "points"]
    rows = terminal.table("experiment", *((head, "right") for head in heads), "every seed")
    rows.columns[0].no_wrap, rows.columns[-1].no_wrap = True, False  # the seeds give way, not the names
    for line in shown:
        *cells, points, seeds = _of_line(line, ".3g")
        if mine:
            cells.append(number(mine[line.value.id].ours) if line.value.id in mine else "")
        style = "yellow" if line.apart > MET else ""
        rows.add_row(*(Text(cell, style) for cell in (*cells, points, seeds)))
    return rows


def _shown_answer(answer: Answer, whose: str) -> list[RenderableType]:
    words = Text(whose).append(answer.word, LOOKS[answer.word].colour)
    if not whose:
        words.append(f"  {answer.statement.words}{say.mark(answer)}")
    below = "; ".join(filter(None, (say.sentence(answer), "" if whose else f"id {answer.statement.id}")))
    return [words, Padding(Text(below, "dim"), (0, 0, 0, 2))] if below else [words]


def answers_in_words(counts: Counter[str]) -> Text:
    """Return the number of statements by answer in words; an answer that none has is left out.

    >>> from reproduce.pages.terminal import NO_BREAK
    >>> answers_in_words(Counter({"holds": 1, "open": 3})).plain.replace(NO_BREAK, " ")
    '1 holds, 3 open'
    """
    answers = ((f"{counts[word]} {word}", LOOKS[word].colour) for word in WORDS if counts[word])
    return Text(", ").join(Text(terminal.unbroken(words), colour) for words, colour in answers)

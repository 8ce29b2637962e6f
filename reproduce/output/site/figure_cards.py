"""Card of one figure: its picture at the largest profile that fills it, its statements, its runs.

Sheets (`reproduce.output.figures`) and statement cards enter, figure cards leave.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lengen.metrics.measures import short
from lengen.paper.experiment import CURVES, Figure
from lengen.results.records import Run
from reproduce.output.figures import Sheet, published_name
from reproduce.output.site.statement_cards import StatementCard, run_page, slug


class Drawn(NamedTuple):
    """A sheet that was drawn, and its picture as a file of the site."""

    store: str
    sheet: Sheet
    file: str
    """Its file, seen from the page of its paper."""
    width: int
    height: int
    """Pixels, so that the page keeps its place while pictures come in."""
    says: str = ""
    """Title and caption of the picture."""

    @property
    def title(self) -> str:
        """Name and title of the figure."""
        return f"{published_name(self.sheet.figure.name)}{self.sheet.figure.title}"

    @property
    def alt(self) -> str:
        """Content of the picture, in words."""
        return f"{self.says.rstrip('.') or self.title}."

    @property
    def caption(self) -> str:
        """Its caption."""
        return self.says.partition(". ")[2]


class FigureCard(NamedTuple):
    """One figure; the first picture is shown, the others on demand."""

    name: str
    title: str
    pictures: Sequence[Drawn]
    found: str
    """Answers to the statements that the first picture shows, in words."""
    statements: Sequence[StatementCard]
    """Those that have their place here."""
    others: Sequence[StatementCard]
    """Those that it draws all runs of too, and that have their place at another figure."""
    keys: Sequence[tuple[str, str, str]]
    """Experiments whose counts can be looked at: `key_of` them, and label and colour of the line in the picture."""
    metric: str
    """Counted metric that the picture shows, exact match if it shows none."""
    measure: str
    """The same in words."""
    share: bool
    """It lies between 0 and 1; an edit distance does not."""
    runs: Sequence[tuple[str, str]]
    command: str

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"figure-{slug(self.name)}"


def homes(figures: Sequence[Figure], cards: Sequence[StatementCard]) -> dict[str, str]:
    """Statement -> the figure it has its place at: one that draws all its experiments, best the one its text names;
    else the one that draws most of them. A statement on experiments that no figure draws is left out."""
    found = {}
    for card in cards:
        statement = card.statement
        names = set(statement.names)
        drawn = {figure.name: len(names & set(figure.reads)) for figure in figures if names & set(figure.reads)}
        if not drawn:
            continue
        best = [name for name, count in drawn.items() if count == max(drawn.values())]
        named = [name for name in best if (word := published_name(name)) and word.rstrip(": ") in statement.place]
        found[statement.id] = (named or best)[0]
    return found


def figure_card(
    figure: Figure, sheets: Sequence[Drawn], cards: Sequence[StatementCard], home: Mapping[str, str]
) -> FigureCard | None:
    """The card of a figure; None where it was not drawn."""
    if not sheets:
        return None
    shown, *further = sorted(sheets, key=lambda item: (item.store != "reference", item.sheet.lacks))
    sheet = shown.sheet
    statements = [card for card in cards if home.get(card.statement.id) == figure.name]
    others = [
        card
        for card in cards
        if home.get(card.statement.id) != figure.name and set(card.statement.names) <= set(figure.reads)
    ]
    found = "; ".join(f"{card.statement.words}: {card.answer.word}" for card in (statements or others)[:4])
    metric, measure, share, lines = _shown(figure, sheet)
    selector = f"{figure.reads[0].split('/')[0]}/{figure.name}" if figure.reads else figure.name
    return FigureCard(
        name=figure.name,
        title=shown.title,
        pictures=[shown, *further],
        found=f"Found: {found}." if found else "No statement rests on it.",
        statements=statements,
        others=others,
        keys=[
            (key_of(shown.store, name, sheet.profile, metric), *lines.get(name, ("", "")))
            for name, some in sheet.runs.items()
            if some
        ],
        metric=metric,
        measure=measure,
        share=share,
        runs=_links([run for some in sheet.runs.values() for run in some]),
        command=f"python -m reproduce run {selector} --profile {sheet.profile}",
    )


def _shown(figure: Figure, sheet: Sheet) -> tuple[str, str, bool, Mapping[str, tuple[str, str]]]:
    """Metric of the counts that a figure shows, its words, whether it is a share, and label and colour of its lines."""
    if figure.how == CURVES:
        from lengen.plotting import MEASURES
        from lengen.plotting.curves import lines_of

        counted = [MEASURES[name] for name in figure.options.get("measures", ()) if "hits." not in name]
        first = next((one for one in counted if one.share), counted[0] if counted else MEASURES["exact"])
        return first.metric, " ".join(first.label.split()), first.share, lines_of(figure, sheet.runs)
    metric = figure.options.get("metric", "correct")
    return metric, "Exact match" if metric == "correct" else "Final answer", True, {}


def key_of(store: str, experiment: str, profile: str, metric: str) -> str:
    """Under which name the page holds the counts of an experiment."""
    return f"{store} {experiment} {profile} {metric}"


def _links(runs: Sequence[Run]) -> list[tuple[str, str]]:
    found = {}
    for run in runs:
        looked = " (attention)" if run.attention is not None else ""
        found[run_page(run)] = f"{short(run.experiment)} seed {run.seed}{looked}"
    return [(words, page) for page, words in found.items()]

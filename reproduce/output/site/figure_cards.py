"""Card of one figure: its picture at the largest profile that fills it, its statements, its runs.

Sheets (`reproduce.output.figures`) and statement cards enter, figure cards leave.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lengen.paper.experiment import CURVES, Figure
from lengen.results.records import Run
from reproduce.output.figures import Sheet, fullest, missing, profile_of, published_name
from reproduce.output.site.statement_cards import StatementCard, run_page, slug


class Picture(NamedTuple):
    store: str
    profile: str
    file: str
    """Its file, seen from the page of its paper."""
    width: int
    height: int
    """Pixels, so that the page keeps its place while pictures come in."""
    missing: int
    """Experiments of the figure that have this size and no run of it."""
    alt: str
    """Content of the picture, in words."""
    said: str = ""
    """Its caption."""


class Drawn(NamedTuple):
    """A sheet that was drawn, and its picture as a file of the site."""

    store: str
    sheet: Sheet
    file: str
    width: int
    height: int
    says: str = ""
    """Finding and caption of the picture."""


class FigureCard(NamedTuple):
    """One figure; the first picture is shown, the others on demand."""

    name: str
    title: str
    pictures: Sequence[Picture]
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
        names = set(card.names)
        drawn = {figure.name: len(names & set(figure.reads)) for figure in figures if names & set(figure.reads)}
        if not drawn:
            continue
        best = [name for name, count in drawn.items() if count == max(drawn.values())]
        named = [name for name in best if (word := published_name(name)) and word.rstrip(": ") in card.place]
        found[card.id] = (named or best)[0]
    return found


def figure_card(
    figure: Figure, sheets: Sequence[Drawn], cards: Sequence[StatementCard], home: Mapping[str, str]
) -> FigureCard | None:
    """The card of a figure; None where it was not drawn."""
    title = f"{published_name(figure.name)}{figure.title}"
    drawn: list[tuple[Picture, Sheet]] = []
    for store, sheet, file, width, height, says in sheets:
        alt = f"{says.rstrip('.') or title}."
        said = says.partition(". ")[2]
        drawn.append((Picture(store, profile_of(sheet), file, width, height, missing(sheet), alt, said), sheet))
    if not drawn:
        return None
    drawn.sort(key=lambda item: (item[0].store != "reference", fullest(item[1])))
    statements = [card for card in cards if home.get(card.id) == figure.name]
    others = [card for card in cards if home.get(card.id) != figure.name and set(card.names) <= set(figure.reads)]
    found = "; ".join(f"{card.words}: {card.standings[0].word}" for card in (statements or others)[:4])
    (shown, sheet), *further = drawn
    shown = shown._replace(alt=f"{shown.alt} {'Found: ' + found if found else 'No statement rests on it'}.")
    metric, measure, lines = _shown(figure, sheet)
    runs: list[Run] = [run for some in sheet.runs.values() for run in some]
    return FigureCard(
        name=figure.name,
        title=title,
        pictures=[shown, *(picture for picture, _ in further)],
        statements=statements,
        others=others,
        keys=[
            (key_of(shown.store, name, shown.profile, metric), *lines.get(name, ("", "")))
            for name, some in sheet.runs.items()
            if some
        ],
        metric=metric,
        measure=measure,
        runs=_links(runs),
        command=f"python -m reproduce run {sheet_selector(figure)} --profile {shown.profile}",
    )


def _shown(figure: Figure, sheet: Sheet) -> tuple[str, str, Mapping[str, tuple[str, str]]]:
    """Metric of the counts that a figure shows, its words, and label and colour of its lines."""
    if figure.how == CURVES:
        from lengen.plotting import MEASURES
        from lengen.plotting.curves import lines_of

        counted = (MEASURES[name] for name in figure.options.get("measures", ()) if "hits." not in name)
        first = next((one for one in counted if one.share), MEASURES["exact"])
        return first.metric, " ".join(first.label.split()), lines_of(figure, sheet.runs)
    metric = figure.options.get("metric", "correct")
    return metric, "Exact match" if metric == "correct" else "Final answer", {}


def key_of(store: str, experiment: str, profile: str, metric: str) -> str:
    """Under which name the page holds the counts of an experiment."""
    return f"{store} {experiment} {profile} {metric}"


def sheet_selector(figure: Figure) -> str:
    """Return the selector of the runs of a figure for the command line."""
    return f"{figure.reads[0].split('/')[0]}/{figure.name}" if figure.reads else figure.name


def _links(runs: Sequence[Run]) -> list[tuple[str, str]]:
    found = {
        run_page(run): f"{run.experiment.split('/', 1)[1]} seed {run.seed}"
        + (" (attention)" if run.attention is not None else "")
        for run in runs
    }
    return [(words, page) for page, words in found.items()]

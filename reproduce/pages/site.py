"""The report as pages of a site: an index, a page per paper, a page per figure with its runs.

Papers and their stores enter; Markdown and the same as HTML leave, below ``<root>/local/report``, which git ignores.
The documentation takes the Markdown in (docs/repository_links.py); the HTML opens from the disk and asks for no
network. What runs say is escaped, and no script runs but the site's own. A file whose content is the same is not
written again.
"""

import base64
import functools
import hashlib
import html
import itertools
import json
import os
import string
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from lengen.experiment import CURVES, Figure
from lengen.metrics.run_measures import short
from lengen.results.records import Run
from reproduce import figures
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.compare import Comparison, compare
from reproduce.comparison.published_statements import Statement, naming
from reproduce.pages import comparison, overview_picture, paper_blocks, site_data
from reproduce.pages import sentences as say
from reproduce.pages.generated_blocks import scores
from reproduce.pages.sentences import folded, grouped, table
from reproduce.runs import costs
from reproduce.runs.costs import accuracies
from reproduce.store.files import update
from reproduce.store.store import Store

HERE = Path(__file__).resolve().parent
SCRIPTS, STYLES = ("tables.js", "charts.js"), ("site.css", "charts.css")
TITLE = "Do arithmetic transformers really length-generalize?"
RUNS_HEAD = (
    "experiment", "size", "seed", "exact match, trained", "beyond", "updates", "minutes", "parameters", "device",
    "commit", "folder",
)  # fmt: skip
Tell = Callable[[int, int], None]


class Held(NamedTuple):
    """Comparisons, pictures and runs of a paper."""

    paper: str
    compared: Mapping[str, Comparison]
    """Store -> comparison, the reference first."""
    sheets: Mapping[str, Sequence[tuple[str, figures.Sheet]]]
    """Figure -> store and sheet; the first fills it best."""
    runs: Mapping[str, Sequence[Run]]
    """Experiment -> its runs in all stores."""

    @property
    def names(self) -> list[str]:
        """Figures that were drawn, and second parts of names of what was run without one."""
        figured = [figure.name for figure in CATALOGUE.figures(self.paper) if self.sheets.get(figure.name)]
        return list(dict.fromkeys([*figured, *(name.split("/")[1] for name in self.runs)]))


def write(
    papers: Sequence[str], stores: Callable[[str], Sequence[Store]], root: Path, tell: Callable[[str], Tell]
) -> Path:
    """Write the pages of these papers and the index of all; returns the path of the index.

    Args:
        stores: the stores of a paper, the reference first.
        tell: gets what is counted, and gives what is told how many of how many are done.
    """
    site = root / "local" / "report"
    compared = {
        paper: {store.name: compare(paper, [store]) for store in stores(paper)}
        for paper in CATALOGUE.papers()
        if paper in papers or CATALOGUE.paper(paper).published.exists()
    }
    for paper in papers:
        held = gather(paper, stores(paper), compared[paper], root, tell(f"figures of {paper} drawn"))
        pages = {Path(f"{paper}.md"): paper_page(held)}
        pages |= {
            Path(f"{paper}-{store}.md"): _comparison(comparison)
            for store, comparison in itertools.islice(compared[paper].items(), 1, None)
        }
        count = tell(f"pages of {paper} written")
        for done, name in enumerate(held.names, 1):
            pages[Path(paper) / f"{name}.md"] = figure_page(name, held, site / paper)
            count(done, len(held.names))
        _save(pages, site)
        current = {site / path.with_suffix(kind) for path in pages for kind in (".md", ".html")}
        for path in {*(site / paper).glob("*.*"), *site.glob(f"{paper}-*.*")} - current:
            path.unlink()
    if shown := overview_picture.shown({paper: next(iter(some.values())) for paper, some in compared.items()}):
        update(site / overview_picture.FILE, overview_picture.picture(shown))
    _save({Path("index.md"): index_page(compared, shown, site)}, site)
    return site / "index.html"


def gather(paper: str, stores: Sequence[Store], compared: Mapping[str, Comparison], root: Path, tell: Tell) -> Held:
    """Read the runs of a paper and draw its pictures; a committed picture is shown as it is."""
    drawn = [(store.name, sheet) for store in stores for sheet in figures.sheets(paper, store)]
    sheets = grouped(drawn, lambda pair: pair[1].figure.name)
    for some in sheets.values():
        some.sort(key=lambda pair: (pair[0] != "reference", pair[1].lacks))
    every = [pair for some in sheets.values() for pair in some]
    todo = [sheet for store, sheet in every if store != "reference" or not sheet.file("svg").is_file()]
    figures.write(todo, root, tell, left=[])
    runs = (store.load(header) for store in stores for header in store.headers(paper))
    return Held(paper, compared, sheets, grouped(runs, lambda run: run.experiment))


# ------------------------------------------------------------------ pages


def index_page(compared: Mapping[str, Mapping[str, Comparison]], shown: Sequence[Comparison], site: Path) -> str:
    """Return the first page, with the answers to all statements."""
    first = {paper: next(iter(some.values())) for paper, some in compared.items()}
    picture = f"![{overview_picture.alternative_text(shown)}]({overview_picture.FILE})" if shown else ""
    parts = [f"# {TITLE}", picture, scores([*first.values()])]
    for paper, some in compared.items():
        known = CATALOGUE.paper(paper)
        title = f"{known.number}. {known.title}" if known.alias else known.title
        there = (site / f"{paper}.md").is_file()
        parts.append(f"## [{title}]({paper}.md)" if there else f"## {title}")
        parts.append("\n".join(_answers(some, [answer.statement for answer in first[paper].answers])))
        parts.append("" if there else f"Its page: `python -m reproduce report {paper}`")
    return "\n\n".join(filter(None, parts)) + "\n"


def _answers(compared: Mapping[str, Comparison], statements: Sequence[Statement]) -> list[str]:
    """Return a line for each of these statements, with its answer by the runs of the first store.

    Below it are the answers below it those by the runs of others.
    """
    (_, first), *others = compared.items()
    lines = []
    for place, answer in enumerate(first.answers):
        if answer.statement in statements:
            lines.append(f"- **{answer.word}**: {answer.statement.words}{say.mark(answer)}{say.clause(answer)}")
            further = [(store, comparison.answers[place]) for store, comparison in others]
            lines += [f"    - {store} runs: **{one.word}**{say.clause(one)}" for store, one in further if one.distance]
    return lines


def paper_page(held: Held) -> str:
    """Return the comparison of a paper, links to the pages of its figures, and a line for every experiment."""
    (_, first), *others = held.compared.items()
    paper = held.paper
    parts = [_comparison(first)]
    parts[1:] = [f"The same with {store} runs: [{paper}-{store}]({paper}-{store}.md)" for store, _ in others]
    links = [f"- [{_title(name, held)}]({paper}/{name}.md)" for name in held.names]
    parts += ["## Figures", "\n".join(links) or "No run has been drawn.", "## Experiments"]
    rows = site_data.experiments(CATALOGUE.experiments(paper), held.runs)
    linked = [[f"[{row[0]}]({paper}/{row[0]}.md)" if row[0] in held.names else row[0], *row[1:]] for row in rows]
    return "\n\n".join([*parts, folded(f"{len(rows)} experiments", table(site_data.HEAD, linked), "markdown")]) + "\n"


def _comparison(read: Comparison) -> str:
    """Return comparison.md as a page of the site."""
    return comparison.page(read).replace("<details>", "<details markdown>").strip()


def _title(name: str, held: Held) -> str:
    figure = _figure(name, held)
    return f"{figures.published_name(name)}{figure.title}" if figure else name


def _figure(name: str, held: Held) -> Figure | None:
    return next((figure for figure in CATALOGUE.figures(held.paper) if figure.name == name), None)


def figure_page(name: str, held: Held, place: Path) -> str:
    """Return the page of a figure: pictures, exact counts, statements, training, attention, and every run.

    Args:
        place: the folder of the page, from which its pictures are named.
    """
    figure, sheets = _figure(name, held), held.sheets.get(name, ())
    comparison = next(iter(held.compared.values()))
    mine = {item: runs for item, runs in held.runs.items() if item.split("/")[1] == name}
    parts = [*_pictures(figure, sheets, comparison, place)] if figure and sheets else [f"# {_title(name, held)}"]
    parts += exact_counts(figure, sheets, mine)
    behind = [item for item in CATALOGUE.experiments(held.paper) if item.name in (figure.reads if figure else mine)]
    if lines := _answers(held.compared, naming([answer.statement for answer in comparison.answers], behind)):
        parts += ["## Statements that rest on these runs", "\n".join(lines)]
    parts += sections(mine)
    if mine:
        again = f"Make them again: `python -m reproduce run {held.paper}/{name} --profile SIZE`; "
        parts.append(f"{again}a setting: `python -m reproduce show EXPERIMENT`.")
    others = dict.fromkeys(item.name.split("/")[1] for item in behind if item.name in held.runs and item.figure != name)
    if others:
        parts.append("Runs of other figures: " + ", ".join(f"[{other}]({other}.md)" for other in others))
    return "\n\n".join(parts) + "\n"


def exact_counts(
    figure: Figure | None, sheets: Sequence[tuple[str, figures.Sheet]], mine: Mapping[str, Sequence[Run]]
) -> list[str]:
    """Return the exact counts of what a figure draws, without a picture of the runs that are named after it."""
    drawn = sheets[0][1].runs if sheets else {item: site_data.largest(runs) for item, runs in mine.items()}
    drawn = {item: runs for item, runs in drawn.items() if runs and runs[0].grid.scores}
    if not drawn:
        return []
    metric, measure, share, looks = _shown(figure, sheets[0][1]) if figure and sheets else EXACT
    counts = {item: site_data.counts(short(item), runs, metric) for item, runs in drawn.items()}
    keys = html.escape(json.dumps([[item, *looks.get(item, ("", ""))] for item in counts]))
    mean = "" if share else ' data-mean="yes"'
    attributes = f'data-measure="{measure}"{mean} data-keys="{keys}"'
    return ["## Exact counts and every seed", f'<div class="explorer" {attributes}></div>', _data("counts", counts)]


def sections(mine: Mapping[str, Sequence[Run]]) -> list[str]:
    """Return training, attention and a row for every run."""
    parts: list[str] = []
    trainings = {short(item): site_data.curves(site_data.largest(runs)) for item, runs in mine.items()}
    if curves := {item: some for item, some in trainings.items() if some}:
        parts += ["## Training", '<div id="training-curves"></div>', _data("curves", curves)]
    looked = [(run, maps) for runs in mine.values() for run in runs if (maps := site_data.attention(run)) is not None]
    if looked:
        named = {f"{short(run.experiment)}, {run.profile}, seed {run.seed}, {run.store}": maps for run, maps in looked}
        parts += ["## Attention", ATTENTION, '<div id="attention-viewer"></div>', _data("attention-maps", named)]
    if mine:
        parts += ["## Runs", table(RUNS_HEAD, [_run(run) for runs in mine.values() for run in runs])]
    return parts


ATTENTION = (
    "The average over examples of one test cell, and the first of them each by itself. Beside the average stand the "
    "characters of the first example. Colours as in the pictures: a square root, black below 0.01."
)


def _pictures(
    figure: Figure, sheets: Sequence[tuple[str, figures.Sheet]], comparison: Comparison, place: Path
) -> list[str]:
    shown = [(sheet.file("svg"), _size(store, sheet)) for store, sheet in sheets]
    linked = [(file, quote(Path(os.path.relpath(file, place)).as_posix()), size) for file, size in shown]
    (first, link, size), *others = linked
    parts = [paper_blocks.section(first, link, figure, comparison, "#"), size]
    if others:
        further = []
        for file, link, size in others:
            _, picture, caption = paper_blocks.picture(file, link)
            further.append(f"{picture.replace('![', f'![{size} ', 1)}\n\n{caption} {size}")
        summary = f"The same at other sizes or of other runs: {len(others)}"
        parts.append(folded(summary, "\n\n".join(further), "markdown"))
    return parts


def _size(store: str, sheet: figures.Sheet) -> str:
    missing = f"; {sheet.missing} of its experiments not run" if sheet.missing else ""
    return f"Size {sheet.profile}, {store} runs{missing}."


EXACT: tuple[str, str, bool, Mapping[str, tuple[str, str]]] = ("correct", "Exact match", True, {})


def _shown(figure: Figure, sheet: figures.Sheet) -> tuple[str, str, bool, Mapping[str, tuple[str, str]]]:
    """Return the metric that a figure shows.

    With it come its words, whether it is a share, and label and colour of its lines.
    """
    if figure.how == CURVES:
        from lengen.plotting import MEASURES
        from lengen.plotting.curves import lines_of

        counted = [MEASURES[name] for name in figure.options.get("measures", ()) if "hits." not in name]
        first = next((one for one in counted if one.share), counted[0] if counted else MEASURES["exact"])
        return first.metric, " ".join(first.label.split()), first.share, lines_of(figure, sheet.runs)
    metric = figure.options.get("metric", "correct")
    return metric, "Exact match" if metric == "correct" else "Final answer", True, {}


def _run(run: Run) -> list[object]:
    """Return the row of a run."""
    steps = f"{run.metrics[-1][0]:,}" if run.metrics else ""
    minutes = f"{costs.whole(run) / 60:.1f}" if costs.whole(run) else ""
    parameters = f"{costs.number(run, 'parameters'):,.0f}" if costs.number(run, "parameters") else ""
    commit = f"{str(run.info.get('commit', ''))[:7]}{' (changed)' if run.info.get('dirty') else ''}"
    named = [escaped(part) for part in (run.info.get("device", ""), commit, place_of(run))]
    return [escaped(short(run.experiment)), run.profile, run.seed, *accuracies(run), steps, minutes, parameters, *named]


def place_of(run: Run) -> str:
    """Return the folder that holds a run: its own, or the tables of its figure."""
    if run.store == "reference":
        return f"results/reference/{run.experiment.rpartition('/')[0]}"
    return f"results/{run.store}/{run.experiment}/{run.profile}/seed-{run.seed}/v{run.version}"


def escaped(words: object) -> str:
    """Return words of a run in a page, of which nothing becomes markup."""
    return "".join(letter if letter.isalnum() or letter in " -/.:,%" else f"&#{ord(letter)};" for letter in str(words))


def _data(name: str, content: object) -> str:
    """Return data for the script of a page; nothing in it ends the element."""
    text = json.dumps(content, separators=(",", ":"), sort_keys=name != "curves").replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


# ------------------------------------------------------------------ files


def _save(pages: Mapping[Path, str], site: Path) -> None:
    for path, markdown in pages.items():
        update(site / path, markdown)
        update(site / path.with_suffix(".html"), rendered(markdown, _above(path)))


def _above(path: Path) -> list[tuple[str, str]]:
    """Return the pages above a page, for its first line."""
    home = "../" * (len(path.parts) - 1)
    parts = path.parts[:1] if len(path.parts) > 1 else ()
    return [("All papers", f"{home}index.html"), *((part, f"{home}{part}.html") for part in parts)]


def rendered(markdown: str, above: Sequence[tuple[str, str]] = ()) -> str:
    """Return a page as HTML that needs nothing else."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = reader.parse(markdown)
    for part in (part for token in tokens for part in token.children or ()):
        if part.type == "link_open" and (page := str(part.attrs["href"])).endswith(".md"):
            part.attrs["href"] = f"{page.removesuffix('.md')}.html"
    body = reader.renderer.render(tokens, reader.options, {})
    body = body.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    script = _joined(SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    title = next(token.content for token in tokens if token.type == "inline")
    links = " ".join(f'<a href="{html.escape(link)}">{html.escape(words)}</a>' for words, link in above)
    return string.Template(_joined(("site.html",))).substitute(
        title=html.escape(title), above=links, content=body, style=_joined(STYLES), script=script, digest=digest
    )


@functools.cache
def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((HERE / name).read_text(encoding="utf-8").strip() for name in names)

"""The report as one site: an index, a page per paper, a page per run, with the pictures beside them.

Papers and their stores enter, files below ``<root>/local/report`` leave, which git ignores. All of it opens from the
disk and asks for no network; what comes from files is escaped, and no script runs but the site's own. A file whose
content is the same is not written again.
"""

import base64
import functools
import hashlib
import itertools
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengen.part import SettingError, build
from lengen.results.records import Run
from reproduce.comparison.compare import Comparison, compare
from reproduce.comparison.pages import command, mark
from reproduce.comparison.statements import WORDS
from reproduce.comparison.values import number, probability
from reproduce.output import figures, overview
from reproduce.output.description import fields
from reproduce.output.site.experiment_lines import lines
from reproduce.output.site.figure_cards import Drawn, figure_card, homes, key_of
from reproduce.output.site.run_records import attention, counts, curves
from reproduce.output.site.statement_cards import beyond, dots, run_links, run_page, slug, statement_cards
from reproduce.runs import run_cost
from reproduce.runs.accuracy import accuracies
from reproduce.runs.catalogue import CATALOGUE, SelectorError
from reproduce.store.atomic_files import update
from reproduce.store.store import Store

if TYPE_CHECKING:
    import jinja2

HERE = Path(__file__).resolve().parent
SCRIPTS = {
    "index.html": ("tables.js",),
    "paper.html": ("charts.js", "tables.js"),
    "run.html": ("charts.js", "run.js"),
}
"""The parts of the one script of a page."""
Tell = Callable[[int, int], None]
Page = Mapping[str, Any]
"""Content of the page of a paper, as its template names it."""


def folder(root: Path) -> Path:
    """Return the folder of the site."""
    return root / "local" / "report"


def write(
    papers: Sequence[str], stores: Callable[[str], Sequence[Store]], root: Path, tell: Callable[[str], Tell]
) -> Path:
    """Write the pages of these papers and the index of all; the path of the index.

    Args:
        stores: the stores of a paper, the reference first; each speaks for itself.
        tell: gets what is counted, and gives what is told how many of how many are done.
    """
    site = folder(root)
    found = {
        paper: {store.name: compare(paper, [store]) for store in stores(paper)}
        for paper in CATALOGUE.papers()
        if paper in papers or CATALOGUE.paper(paper).published.exists()
    }
    for paper in papers:
        _write_paper(paper, stores(paper), found[paper], site, tell)
    cards = []
    for paper, compared in found.items():
        name = f"{slug(paper)}.html"
        cards.append(index_card(paper, CATALOGUE.paper(paper).title, compared, name if (site / name).exists() else ""))
    path = site / "index.html"
    shown = overview.shown({paper: next(iter(compared.values())) for paper, compared in found.items()})
    picture = f"figures/{overview.FILE}" if shown else ""
    if shown:
        update(site / picture, overview.picture(shown))
    title = "Do arithmetic transformers really length-generalize?"
    update(path, render("index.html", cards=cards, title=title, picture=picture, said=overview.said(shown)))
    return path


def index_card(paper: str, title: str, compared: Mapping[str, Comparison], file: str) -> dict[str, Any]:
    """Return the card of a paper on the index: published values that are met and its statements; ``file`` is empty
    without a page."""
    return {
        "paper": paper,
        "number": CATALOGUE.paper(paper).number if paper in CATALOGUE.papers() else "",
        "title": title,
        "file": file,
        "scores": compared.items(),
        "statements": [(card, f"{file}#{card.anchor}" if file else "") for card in statement_cards(compared)],
    }


def page_of(paper: str, stores: Sequence[Store], compared: Mapping[str, Comparison], drawn: Sequence[Drawn]) -> Page:
    """Return everything on the page of a paper: published values are those with ours beside them. Statements on
    experiments that no drawn figure shows are a list of their own."""
    cards = statement_cards(compared)
    declared = list(CATALOGUE.figures(paper))
    home = homes(declared, cards)
    found = []
    for figure in declared:
        mine = [item for item in drawn if item.sheet.figure.name == figure.name]
        if (card := figure_card(figure, mine, cards, home)) is not None:
            found.append(card)
    placed = {card.statement.id for figure in found for card in figure.statements}
    keys = {key for figure in found for key, *_ in figure.keys}
    metrics = {figure.metric for figure in found}
    held: dict[str, object] = {}
    made: dict[str, dict[tuple[str, str], Sequence[Run]]] = {}
    for store, sheet, *_ in drawn:
        for name, runs in sheet.runs.items():
            made.setdefault(name, {})[store, sheet.profile] = runs
            for metric in metrics:
                key = key_of(store, name, sheet.profile, metric)
                if runs and key in keys and key not in held:
                    held[key] = counts(name.split("/", 1)[1], runs, metric)
    first = next(iter(compared.values()))
    return {
        "title": CATALOGUE.paper(paper).title,
        "file": f"{slug(paper)}.html",
        "compared": compared,
        "statements": cards,
        "figures": found,
        "homeless": [card for card in cards if card.statement.id not in placed],
        "counts": held,
        "deviations": CATALOGUE.deviations(paper),
        "values": first.beside,
        "experiments": lines(CATALOGUE.experiments(paper), made, CATALOGUE.paper(paper).tokens or run_cost.tokens),
        "runs": [
            (run.experiment, f"{run.profile}, seed {run.seed}, {run.store}", run_page(run))
            for store in stores
            for run in store.headers(paper)
        ],
    }


def _write_paper(
    paper: str, stores: Sequence[Store], compared: Mapping[str, Comparison], site: Path, tell: Callable[[str], Tell]
) -> None:
    from lengen.plotting import said

    wanted = [(store.name, sheet) for store in stores for sheet in figures.sheets(paper, store)]
    told = tell(f"figures of {paper} drawn")
    made = figures.write([sheet for _, sheet in wanted], site.parents[1], told, left=[])
    drawn = []
    for (store, sheet), (svg, *_) in zip(wanted, made, strict=True):
        file = f"figures/{slug(paper)}/{slug(store)}.{slug(svg.stem)}.svg"
        content = svg.read_bytes()
        update(site / file, content)
        drawn.append(Drawn(store, sheet, file, *_size(content), said(content)))
    page = page_of(paper, stores, compared, drawn)
    update(site / page["file"], render("paper.html", page=page, title=page["title"], up="index.html"))
    headers = [(store, run) for store in stores for run in store.headers(paper)]
    told, done = tell(f"run pages of {paper} written"), itertools.count(1)
    settings: dict[tuple[str, str, str], list[tuple[Store, Run]]] = {}
    for source, run in headers:
        settings.setdefault((source.name, run.experiment, run.profile), []).append((source, run))
    for some in settings.values():
        seeds = [source.load(header) for source, header in some]
        for run in seeds:
            update(site / run_page(run), render_run(run, page, [other for other in seeds if other is not run]))
            told(next(done), len(headers))
    _sweep(site / "figures" / slug(paper), {site / item.file for item in drawn})
    _sweep(site / "runs", {site / run_page(run) for _, run in headers}, f"{slug(paper)}.")


def _size(svg: bytes) -> tuple[int, int]:
    """Width and height in pixels of a picture whose size is in points, as matplotlib writes it."""
    found = re.search(rb'<svg[^>]*?height="([\d.]+)pt"', svg), re.search(rb'<svg[^>]*?width="([\d.]+)pt"', svg)
    height, width = (round(float(match[1]) * 4 / 3) if match else 0 for match in found)
    return width, height


def _place(run: Run) -> str:
    """The folder that holds a run: its own, or the tables of its figure."""
    if run.store == "reference":
        return f"results/reference/{run.experiment.rpartition('/')[0]}"
    return f"results/{run.store}/{run.experiment}/{run.profile}/seed-{run.seed}/v{run.version}"


def render_run(run: Run, page: Page, others: Sequence[Run] = ()) -> str:
    """The page of one run, beside the other seeds of its setting."""
    info = run.info
    file = run_page(run)
    inside, outside = accuracies(run)
    provenance = {
        "command": info.get("command"),
        "finished": info.get("finished"),
        "commit": f"{str(info.get('commit', ''))[:12]}{' (changed)' if info.get('dirty') else ''}",
        "device": info.get("device"),
        "platform": info.get("platform"),
        "precision": info.get("dtype"),
        "parameters": info.get("parameters"),
        "seconds of all trainings": round(run_cost.training(run), 1),
        "seconds of measuring": round(run_cost.measuring(run), 1),
        "hash of the setting": info.get("spec_hash"),
        "set by hand": " ".join(map(str, info.get("overrides") or [])),
        "versions": ", ".join(f"{name} {number}" for name, number in dict(info.get("versions") or {}).items()),
        "notes": "; ".join(map(str, info.get("notes") or [])),
        "folder": _place(run),
    }
    changed = fields("", [_changed(run)])
    resting = [
        (answer.word, card.statement.words, f"../{page['file']}#{card.anchor}")
        for card in page["statements"]
        for _, answer in card.standings
        if file in run_links(answer)
    ]
    return render(
        "run.html",
        title=f"{run.experiment}, {run.profile}, seed {run.seed}",
        up=f"../{page['file']}",
        run=run,
        paper=page["title"],
        inside=inside,
        outside=outside,
        provenance={name: value for name, value in provenance.items() if value not in (None, "")},
        scalars=dict(info.get("scalars") or {}),
        changed=changed,
        rest=[field for field in fields("", [info.get("spec", {})]) if field not in changed],
        others=[(f"seed {other.seed}", Path(run_page(other)).name) for other in others],
        resting=resting,
        counts={"run": counts(run.experiment.split("/", 1)[1], [run])} if run.grid.scores else {},
        curves=curves(run, others),
        attention=attention(run),
    )


def _changed(run: Run) -> object:
    """The fields of its setting that are not at their default; all of them for a setting that no paper declares."""
    setting = run.info.get("spec", {})
    try:
        sort = type(next(iter(CATALOGUE.select_one(run.experiment).specs.values())))
        return build(setting, sort).changed()
    except (SelectorError, SettingError, StopIteration):
        return setting


def render(template: str, **values: Any) -> str:
    """A page as text."""
    script, digest = _script(template)
    return _environment().get_template(template).render(script=script, script_sum=f"sha256-{digest}", **values)


@functools.cache
def _script(template: str) -> tuple[str, str]:
    """The script of a page and its sum, by which the page allows it."""
    script = "\n".join(_packed(name) for name in SCRIPTS[template])
    return script, base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _packed(name: str) -> str:
    """Lines of a file without what is for its authors: it stands in every page."""
    lines = map(str.strip, (HERE / name).read_text(encoding="utf-8").splitlines())
    text = "\n".join(line for line in lines if not line.startswith("//"))
    return re.sub(r" ?([{};:,]) ", r"\1", text) if name.endswith(".css") else text


@functools.cache
def _environment() -> "jinja2.Environment":
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": True}
    environment.globals.update(
        style=_packed("style.css"), answers=WORDS, up="", slug=slug, number=number, probability=probability,
        beyond=beyond, dots_of=dots, command=command, mark=mark, run_links=run_links,
    )  # fmt: skip
    return environment


def _sweep(place: Path, kept: set[Path], begin: str = "") -> None:
    """Remove what an earlier report left here."""
    for path in place.glob("*") if place.is_dir() else ():
        if path not in kept and path.name.startswith(begin):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

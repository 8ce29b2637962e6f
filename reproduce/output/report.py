"""One HTML page per paper: comparison rows, figures and runs go in, a self-contained file leaves.

The page opens without a network: pictures are inside it, the script only filters and sorts. Everything that
comes from files is escaped, and pictures are embedded as images, in which nothing can run.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lengen.records import Run
from reproduce.comparison import compare, score_card
from reproduce.comparison.rows import SETTING, Row
from reproduce.comparison.tables import asked_of, show
from reproduce.output import figures
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store import atomic_files as files
from reproduce.store.store import Store


class Picture(NamedTuple):
    title: str
    store: str
    svg: bytes


class Line(NamedTuple):
    """A comparison row as the page shows it: text only."""

    store: str
    kind: str
    id: str
    place: str
    statement: str
    published: str
    ours: str
    size: str
    profile: str
    verdict: str
    remarks: str
    command: str
    headline: bool
    frozen: str


def write(paper: str, stores: Sequence[Store], tell: Callable[[int, int], None] | None = None) -> Path:
    """Draw, compare and write ``<root>/local/<paper>/report.html``, which git ignores; its path.

    Each store speaks for itself; rows that a store other than the first has no run for are left out. ``tell`` gets how
    many figures of how many are drawn.
    """
    rows = {item.name: compare.compare(paper, [item]) for item in stores}
    pictures = _pictures(paper, stores, tell)
    runs = [run for item in stores for run in item.headers(paper)]
    path = stores[0].root / "local" / paper / "report.html"
    about = CATALOGUE.paper(paper)
    files.write_text(path, render(paper, rows, pictures, runs, about.deviations(), about.title))
    return path


def render(
    paper: str,
    rows: Mapping[str, Sequence[Row]],
    pictures: Sequence[Picture],
    runs: Sequence[Run],
    deviations: Mapping[str, str],
    about: str = "",
) -> str:
    """The page as text; ``rows`` maps the name of a store to its comparison, the reference first.

    ``about`` is the title of the publication.
    """
    import jinja2

    folder = Path(__file__).resolve().parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    first = next(iter(rows), "")
    lines = [
        _line(name, row) for name, some in rows.items() for row in some if name == first or row.verdict != "not run"
    ]
    return environment.get_template("report.html").render(
        paper=paper,
        about=about,
        lines=lines,
        verdicts=sorted({line.verdict for line in lines}),
        kinds=sorted({line.kind for line in lines}),  # "claim" comes first and is chosen
        tally=[(name, [score_card.line(*counted) for counted in score_card.card(some)]) for name, some in rows.items()],
        pictures=[(item.title, item.store, _data_url(item.svg)) for item in pictures],
        runs=[_run(run) for run in runs],
        deviations=deviations,
    )


def _line(name: str, row: Row) -> Line:
    interval = f" [{show(row.ci_low)}, {show(row.ci_high)}]" if row.ci_low is not None else ""
    size = f"n {row.n}, seeds {row.seeds}" if row.seeds else ""
    return Line(
        store=name,
        kind=SETTING if row.aggregation == SETTING else row.kind,
        id=row.id,
        place=row.place,
        statement=row.statement,
        published=asked_of(row),
        ours=f"{show(row.ours)}{interval}",
        size=size,
        profile=row.profile,
        verdict=row.verdict,
        remarks="; ".join(filter(None, [row.why, row.deviations])),
        headline=row.headline,
        frozen=row.frozen,
        command=row.command,
    )


def _pictures(paper: str, stores: Sequence[Store], tell: Callable[[int, int], None] | None) -> list[Picture]:
    """The figures of each store in the order of declaration; of the pictures those that the page shows are drawn."""
    order = [figure.name for figure in CATALOGUE.figures(paper)]
    names = [item.name for item in stores]
    wanted = [(item.name, sheet) for item in stores for sheet in figures.sheets(paper, item)]
    drawn = figures.write([sheet for _, sheet in wanted], stores[0].root, ("svg",), tell)
    found: dict[tuple[int, int, str], Picture] = {}
    for (store, sheet), (svg, *_) in zip(wanted, drawn, strict=True):
        title = f"{sheet.figure.name}: {sheet.figure.title} ({svg.stem.rpartition('-')[2]} profile)"
        found[names.index(store), order.index(sheet.figure.name), svg.name] = Picture(title, store, svg.read_bytes())
    return [found[place] for place in sorted(found)]


def _data_url(svg: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")


def _run(run: Run) -> dict[str, str]:
    info = run.info
    commit = str(info.get("commit", ""))[:12] + (" (changed)" if info.get("dirty") else "")
    seconds = [info.get(f"seconds_{part}") for part in ("training", "measuring")]
    return {
        "name": f"{run.experiment} {run.profile} seed {run.seed} v{run.version}",
        "store": run.store,
        "commit": commit,
        "device": str(info.get("device", "")),
        "seconds": " + ".join(f"{value:.0f} s" for value in seconds if isinstance(value, int | float)),
        "finished": str(info.get("finished", "")),
        "command": str(info.get("command", "")),
        "spec": json.dumps(info.get("spec", {}), indent=1),
    }

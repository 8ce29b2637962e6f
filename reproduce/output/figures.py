"""Draw every published figure from a store: finished runs go in, SVG and PNG files leave, and CSV where declared.

Drawing reads the store and nothing else and needs no torch. The same runs give the same bytes on every machine with the
locked versions (`lengen.plotting.style`), and what was drawn from them already is not drawn again.
"""

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lengen.paper.experiment import PROFILES, Figure
from lengen.results.records import Run
from reproduce.output.drawing_pool import each
from reproduce.output.picture_cache import LIBRARIES, Drawn, sum_of
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store import atomic_files as files
from reproduce.store.locked import others
from reproduce.store.provenance import checkout
from reproduce.store.store import Store

NUMBER = r"(?:[A-Z]\.)?\d[^\W_]*(?:\.\d[^\W_]*)?"
"""Numbers of figures in papers: 1, 7a, 4.1 or B.1."""
KINDS = ("svg", "png")
"""Kinds of pictures."""
DRAWN = re.compile(rf"(.+?)-(?:{'|'.join(PROFILES)})(?:-with-.+)?\.(?:{'|'.join(KINDS)}|csv)")
"""Names that a drawn file has; a file with another name is not touched."""


class Sheet(NamedTuple):
    """A figure at one profile of one store: what is drawn, and where its files go."""

    stem: Path
    figure: Figure
    runs: Mapping[str, Sequence[Run]]

    @property
    def profile(self) -> str:
        """The profile of its runs."""
        return self.stem.name.rpartition("-")[2]

    @property
    def missing(self) -> int:
        """Number of experiments of its profile that are without a run."""
        return sum(not runs and self.profile in CATALOGUE.select_one(name).specs for name, runs in self.runs.items())

    @property
    def lacks(self) -> tuple[int, int]:
        """Sorts sheets of a figure by what they lack, then by profile, the largest first."""
        return self.missing, -PROFILES.index(self.profile)

    def file(self, kind: str) -> Path:
        """Its file of one kind."""
        return self.stem.with_name(f"{self.stem.name}.{kind}")

    def files(self) -> list[Path]:
        """All files that it has."""
        return [self.file(kind) for kind in (*kept(self.stem), *(["csv"] if self.figure.table else []))]


def draw(
    paper: str,
    source: Store,
    names: Collection[str] | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Draw a paper's figures (all, or those named) for each profile of the store that has runs; paths, sorted."""
    return sorted(itertools.chain(*write(sheets(paper, source, names), source.root, tell=tell)))


def sheets(paper: str, source: Store, names: Collection[str] | None = None) -> list[Sheet]:
    """List the sheets that `draw` draws.

    Figures without a run of their own (`_own`) at a profile are skipped, and so is the smoke profile where another one
    has runs: its training is too short to show anything. A figure that reads no experiment is drawn for every profile
    that is drawn at all, each time the same. Among committed results a figure has one picture, at the largest profile
    that fills it.
    """
    chosen = [figure for figure in CATALOGUE.figures(paper) if names is None or figure.name in names]
    experiments = CATALOGUE.experiments(paper)
    found = {
        profile: {item.name: CATALOGUE.declared_runs(source, item, profile) for item in experiments}
        for profile in PROFILES
    }
    profiles = [profile for profile in PROFILES if profile != "smoke" and any(found[profile].values())]
    wanted = []
    for figure in chosen:
        drawn = []
        for profile in profiles or ["smoke"] * any(found["smoke"].values()):
            runs = {name: found[profile].get(name, []) for name in figure.reads}
            if any(runs[name] for name in _own(figure)) or not runs:
                drawn.append(Sheet(source.path / paper / "figures" / f"{figure.name}-{profile}", figure, runs))
        wanted += [min(drawn, key=lambda sheet: sheet.lacks)] if drawn and source.name == "reference" else drawn
    return wanted


def sweep(paper: str, source: Store, drawn: Iterable[Path]) -> list[Path]:
    """Delete a paper's pictures that no run of the store is behind any more: all but the ``drawn`` ones and those of
    its runs now; their paths. Files that are called as none of its figures stay, and so does what is being written,
    under a hidden name.

    Another process may draw meanwhile: of what it has drawn before this looks, the runs are here when this looks.
    """
    found = sorted((source.path / paper / "figures").glob("[!.]*.*"))
    supported = {path.with_suffix("") for path in drawn} | {sheet.stem for sheet in sheets(paper, source)}
    names = {figure.name for figure in CATALOGUE.figures(paper)}
    ours = [path for path in found if (match := DRAWN.fullmatch(path.name)) and match[1] in names]
    left = [path for path in ours if path.with_suffix("") not in supported]
    for path in left:
        path.unlink(missing_ok=True)
    return left


def kept(stem: Path) -> tuple[str, ...]:
    """The kinds of pictures that are kept of a figure: among committed results PNG only if a page of this checkout
    shows it, whatever folder holds the results, or without a checkout if there is one."""
    paper, store, repository = stem.parent.parent, stem.parent.parent.parent, checkout()
    if store.name != "reference":
        return KINDS
    if repository is None:
        return KINDS if stem.with_name(f"{stem.name}.png").is_file() else KINDS[:1]
    place = f"{paper.name}/figures/{stem.name}.png".encode()
    return KINDS if place in _pages(repository) else KINDS[:1]


@functools.cache
def _pages(repository: Path) -> bytes:
    """Every page of a repository that can show a picture, in whatever encoding: it may be a stranger's."""
    found = itertools.chain.from_iterable(repository.glob(some) for some in ("*.md", "docs/**/*.md", "papers/*/*.md"))
    return b"\n".join(path.read_bytes() for path in sorted(found) if path.is_file())


def committed(path: Path) -> bool:
    """Return True if a file is one of the committed results of this checkout."""
    repository = checkout()
    return repository is not None and path.is_relative_to(repository / "results" / "reference") and path.is_file()


def write(
    wanted: Sequence[Sheet],
    root: Path,
    tell: Callable[[int, int], None] | None = None,
    left: list[Path] | None = None,
) -> list[list[Path]]:
    """Draw what is not drawn yet, on all cores, and write it; the files of each sheet, changed or not.

    Other versions of the libraries that draw give other bytes of the same picture.

    Args:
        root: the results folder, whose notes say what is drawn already (`reproduce.output.picture_cache`); pictures
            that are not `kept` are deleted if they are as they were drawn here.
        tell: gets how many of how many are drawn.
        left: gets the committed files that would become different and are left as they are, because the versions are
            not the locked ones (`reproduce.store.locked.others`); None: they are written all the same.
    """
    notes = Drawn(root)
    sums = [sum_of(sheet.figure, sheet.runs) for sheet in wanted]
    todo = [
        (sheet, made_of)
        for sheet, made_of in zip(wanted, sums, strict=True)
        if not all(notes.is_current(path, made_of) for path in sheet.files())
    ]
    if todo:
        from lengen import plotting  # noqa: F401  (once, before processes part)

    other = left is not None and others(LIBRARIES)
    for done, (at, found) in enumerate(each(_drawn, [sheet for sheet, _ in todo]), start=1):
        sheet, made_of = todo[at]
        for kind, content in found.items():
            path = sheet.file(kind)
            if not (path.exists() and path.read_bytes() == content):
                if left is not None and other and committed(path):
                    left.append(path)
                    continue
                files.write_bytes(path, content)
            notes.note(path, made_of, content)
        if tell is not None:
            tell(done, len(todo))
    for sheet in wanted:
        for kind in set(KINDS) - {*kept(sheet.stem)}:
            if notes.holds(sheet.file(kind)):  # nothing is deleted that this program did not write
                sheet.file(kind).unlink()
    notes.save()
    return [sheet.files() for sheet in wanted]


def _drawn(sheet: Sheet) -> dict[str, bytes]:
    return render(sheet.figure, sheet.runs, kept(sheet.stem))


def render(figure: Figure, runs: Mapping[str, Sequence[Run]], kinds: Sequence[str] = KINDS) -> dict[str, bytes]:
    """One figure as ``{"svg": ..., "png": ...}``; ``runs`` maps every experiment it reads to its runs.

    A figure with a table has it under ``csv``. The title is short; the caption is in the SVG, for pages and for those
    who cannot see it.
    """
    from lengen import plotting
    from reproduce.output import published_values

    table = {"csv": figure.table(runs).encode()} if figure.table else {}
    profile = next((run.profile for some in runs.values() for run in some), "paper")
    published = published_values.of(next(iter(figure.reads), "").partition("/")[0], profile)
    title = f"{published_name(figure.name)}{figure.title}"
    with plotting.style():
        drawing = plotting.titled(figure.draw(runs, published), title)
        said = plotting.caption(figure, runs, published, figure.how.rpartition(":")[2])
        return {**plotting.pictures(drawing, kinds, f"{title}. {said}"), **table}


def published_name(name: str) -> str:
    """Return a figure's name in the paper: fig1 is Figure 1, table4.3 Table 4.3, figB.1 Figure B.1, fig10_11 Figures 10
    and 11, fig16_21 Figures 16 to 21; else nothing."""
    match = re.fullmatch(rf"(fig|table)({NUMBER})(?:_({NUMBER}))?", name)
    if match is None:
        return ""
    word, first, second = {"fig": "Figure", "table": "Table"}[match[1]], match[2], match[3]
    if not second:
        return f"{word} {first}: "
    far = first.isdigit() and second.isdigit() and int(second) > int(first) + 1
    return f"{word}s {first} {'to' if far else 'and'} {second}: "


def _own(figure: Figure) -> Sequence[str]:
    """The experiments without which there is nothing to draw: those named after a figure, beside which it shows others;
    all that it reads where none is."""
    return [name for name in figure.reads if name.split("/")[1] == figure.name] or figure.reads

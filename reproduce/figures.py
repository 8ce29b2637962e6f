"""Draw every published figure from a store: finished runs go in, SVG and PNG files leave, and CSV where declared.

Drawing reads the store and nothing else and needs no torch. The same runs give the same bytes on every machine with the
locked versions (`lengen.plotting.style`), and what was drawn from them already is not drawn again (`Drawn`).
"""

import contextlib
import functools
import hashlib
import itertools
import json
import os
import platform
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lengen.clone import CODE
from lengen.experiment import PROFILES, Experiment, Figure
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.published_values import Value as Published
from reproduce.comparison.published_values import values
from reproduce.store.checkout import checkout, code_digest, others
from reproduce.store.files import StoreError, write_bytes
from reproduce.store.store import Store

if TYPE_CHECKING:
    from lengen.plotting.frames import Point

NUMBER = r"(?:[A-Z]\.)?\d[^\W_]*(?:\.\d[^\W_]*)?"
"""Numbers of figures in papers: 1, 7a, 4.1 or B.1."""
KINDS = ("svg", "png")
"""Kinds of pictures."""
DRAWN = re.compile(rf"(.+?)-(?:{'|'.join(PROFILES)})(?:-with-.+)?\.(?:{'|'.join(KINDS)}|csv)")
"""Names that a drawn file has; a file with another name is not touched."""
LIBRARIES = ("matplotlib", "seaborn", "numpy", "pandas", "pillow", "kiwisolver", "pyparsing", "contourpy")
"""Whose version can change the bytes of a picture, or the numbers in it."""


class Sheet(NamedTuple):
    """A figure at one profile of one store: what is drawn, and where its files go."""

    stem: Path
    figure: Figure
    runs: Mapping[str, Sequence[Run]]
    to: tuple[str, ...] = ()
    """Kinds of pictures, where they were named."""
    behind: Mapping[str, Sequence[Run]] = MappingProxyType({})
    """Runs whose lines are drawn behind those of ``runs``, in grey."""

    @property
    def profile(self) -> str:
        """The profile of its runs."""
        return self.stem.name.rpartition("-")[2]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of pictures that it has: among committed results PNG only if the figure says so."""
        all_kinds = self.figure.png or self.stem.parents[2].name != "reference"
        return self.to or (KINDS if all_kinds else KINDS[:1])

    @property
    def missing(self) -> int:
        """Number of experiments of its profile that are without a run."""
        return sum(not runs and self.profile in CATALOGUE.select_one(name).specs for name, runs in self.runs.items())

    @property
    def lacks(self) -> tuple[int, int]:
        """Sorts sheets of a figure by what they lack, then by profile, the largest first."""
        return self.missing, -PROFILES.index(self.profile)

    def file(self, kind: str) -> Path:
        """Return its file of one kind."""
        return self.stem.with_name(f"{self.stem.name}.{kind}")

    def files(self) -> list[Path]:
        """Return all files that it has."""
        return [self.file(kind) for kind in (*self.kinds, *(["csv"] if self.figure.table else []))]


def draw(
    paper: str, source: Store, names: Collection[str] | None = None, tell: Callable[[int, int], None] | None = None
) -> list[Path]:
    """Draw a paper's figures (all, or those named) for each profile with runs in the store; returns sorted paths."""
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
    runs_at = {
        profile: {item.name: CATALOGUE.declared_runs(source, item, profile) for item in experiments}
        for profile in PROFILES
    }
    profiles = [profile for profile in PROFILES if profile != "smoke" and any(runs_at[profile].values())]
    wanted = []
    for figure in chosen:
        drawn = []
        for profile in profiles or ["smoke"] * any(runs_at["smoke"].values()):
            runs = {name: runs_at[profile].get(name, []) for name in figure.reads}
            if any(runs[name] for name in _own(figure)) or not runs:
                drawn.append(Sheet(source.path / paper / "figures" / f"{figure.name}-{profile}", figure, runs))
        wanted += [min(drawn, key=lambda sheet: sheet.lacks)] if drawn and source.name == "reference" else drawn
    return wanted


def over_committed(paper: str, reference: Store, local: Store, names: Collection[str] | None = None) -> list[Sheet]:
    """List sheets of one's own runs, whatever their settings, over the committed ones, for each of their profiles."""
    below = {sheet.figure.name: sheet.runs for sheet in sheets(paper, reference, names)}
    mine = []
    for sheet in (sheet for sheet in sheets(paper, local, names) if sheet.runs):
        behind = below.get(sheet.figure.name, {})
        runs = {name: some or behind.get(name, []) for name, some in sheet.runs.items()}
        stem = sheet.stem.with_name(f"{sheet.figure.name}-mine-{sheet.profile}")
        mine.append(sheet._replace(stem=stem, runs=runs, behind=behind))
    return mine


def drawn_to(sheet: Sheet, kinds: tuple[str, ...], local: Store) -> Sheet:
    """Return a sheet that becomes pictures of these kinds, those of committed results among the local ones."""
    paper = sheet.stem.parents[1]
    if paper.parent.name == "reference":
        stem = local.path / paper.name / "figures" / f"{sheet.figure.name}-committed-{sheet.profile}"
        sheet = sheet._replace(stem=stem)
    return sheet._replace(to=kinds)


def sweep(paper: str, source: Store, drawn: Iterable[Path]) -> list[Path]:
    """Delete a paper's pictures that no run of the store is behind any more; returns their paths.

    All but the ``drawn`` ones and those of its runs now. Files that are called as none of its figures stay, and so does
    what is being written, under a hidden name.

    Another process may draw meanwhile: of what it has drawn before this looks, the runs are here when this looks.
    """
    files = sorted((source.path / paper / "figures").glob("[!.]*.*"))
    supported = {path.with_suffix("") for path in drawn} | {sheet.stem for sheet in sheets(paper, source)}
    names = {figure.name for figure in CATALOGUE.figures(paper)}
    ours = [path for path in files if (match := DRAWN.fullmatch(path.name)) and match[1] in names]
    left = [path for path in ours if path.with_suffix("") not in supported]
    for path in left:
        path.unlink(missing_ok=True)
    return left


def committed(path: Path) -> bool:
    """Return True if a file is one of the committed results of this checkout."""
    repository = checkout()
    return repository is not None and path.is_relative_to(repository / "results" / "reference") and path.is_file()


def write(
    wanted: Sequence[Sheet], root: Path, tell: Callable[[int, int], None] | None = None, left: list[Path] | None = None
) -> list[list[Path]]:
    """Draw what is not drawn yet, and write it; returns the files of each sheet, changed or not.

    Other versions of the libraries that draw give other bytes of the same picture.

    Args:
        root: the results folder, whose notes say what is drawn already (`Drawn`).
        tell: gets how many of how many are drawn.
        left: gets the committed files that would become different and are left as they are, because the versions are
            not the locked ones (`reproduce.store.checkout.others`); None: they are written all the same.
    """
    notes = Drawn(root)
    sums = [
        sum_of(sheet.figure, {**sheet.runs, **{f"behind {name}": some for name, some in sheet.behind.items()}})
        for sheet in wanted
    ]
    todo = [
        (sheet, made_of)
        for sheet, made_of in zip(wanted, sums, strict=True)
        if not all(notes.is_current(path, made_of) for path in sheet.files())
    ]
    other = left is not None and others(LIBRARIES)
    for done, (sheet, made_of) in enumerate(todo, start=1):
        for kind, content in render(sheet.figure, sheet.runs, sheet.kinds, sheet.behind).items():
            path = sheet.file(kind)
            if not (path.exists() and path.read_bytes() == content):
                if left is not None and other and committed(path):
                    left.append(path)
                    continue
                write_bytes(path, content)
            notes.note(path, made_of, content)
        if tell is not None:
            tell(done, len(todo))
    notes.save()
    return [sheet.files() for sheet in wanted]


def render(
    figure: Figure, runs: Mapping[str, Sequence[Run]], kinds: Sequence[str] = KINDS,
    behind: Mapping[str, Sequence[Run]] = MappingProxyType({}),
) -> dict[str, bytes]:  # fmt: skip
    """Return one figure as ``{"svg": ..., "png": ...}``; ``runs`` maps every experiment it reads to its runs.

    A figure with a table has it under ``csv``. The title is short; the caption is in the SVG, for pages and for those
    who cannot see it.
    """
    from lengen import plotting

    table = {"csv": figure.table(runs).encode()} if figure.table else {}
    profile = next((run.profile for some in runs.values() for run in some), "paper")
    values = published(next(iter(figure.reads), "").partition("/")[0], profile)
    title = f"{published_name(figure.name)}{figure.title}"
    with plotting.style():
        drawing = figure.draw(runs, values)
        if behind:
            _put_behind(drawing, figure.draw(behind, values))
            title += ", yours (the committed in grey)"
        drawing = plotting.titled(drawing, title)
        caption = plotting.caption(figure, runs, values, figure.how.rpartition(":")[2])
        return {**plotting.pictures(drawing, kinds, f"{title}. {caption}"), **table}


def _put_behind(drawing: Any, other: Any) -> None:
    """Draw the lines of another drawing in grey behind those of this one, in the panels of the same place."""
    panels = {_place(axes): axes for axes in other.axes}
    for axes in drawing.axes:
        known = {line.get_xydata().tobytes() for line in axes.lines}
        for line in panels[_place(axes)].lines if _place(axes) in panels else ():
            if line.get_linestyle() != "None" and line.get_xydata().tobytes() not in known:
                axes.plot(*line.get_data(), color="0.7", marker=line.get_marker(), linestyle="--", zorder=0)


def _place(axes: Any) -> Any:
    spec = axes.get_subplotspec()
    return spec and (spec.rowspan.start, spec.colspan.start)


def published_name(name: str) -> str:
    """Return a figure's name in the paper.

    fig1 is Figure 1, table4.3 Table 4.3, figB.1 Figure B.1, fig10_11 Figures 10 and 11, fig16_21 Figures 16 to 21; else
    nothing.
    """
    match = re.fullmatch(rf"(fig|table)({NUMBER})(?:_({NUMBER}))?", name)
    if match is None:
        return ""
    word, first, second = {"fig": "Figure", "table": "Table"}[match[1]], match[2], match[3]
    if not second:
        return f"{word} {first}: "
    far = first.isdigit() and second.isdigit() and int(second) > int(first) + 1
    return f"{word}s {first} {'to' if far else 'and'} {second}: "


def _own(figure: Figure) -> Sequence[str]:
    """Return the experiments without which there is nothing to draw.

    Those are the ones named after a figure, beside which it shows others; all that it reads where none is.
    """
    return [name for name in figure.reads if name.split("/")[1] == figure.name] or figure.reads


# ------------------------------------------------------------------ published values that figures draw beside ours


@functools.cache
def published(paper: str, profile: str) -> "Mapping[str, Sequence[Point]]":
    """Map each experiment to its published values and to those of experiments that have the same runs at a profile.

    Empty if the paper has no published.toml or is unknown.
    """
    if paper not in CATALOGUE.papers():
        return {}
    experiments = {item.name: item for item in CATALOGUE.experiments(paper) if "paper" in item.specs}
    homes = CATALOGUE.homes(paper, profile)
    by_home: dict[str, dict[Point, None]] = {}
    for value in values(paper, again=True):
        for name in value.experiments:
            by_home.setdefault(homes[name], {})[_drawn_value(value, experiments[name])] = None
    return {name: tuple(by_home[homes[name]]) for name in experiments if homes[name] in by_home}


def _drawn_value(published: Published, experiment: Experiment) -> "Point":
    """Return one measurement with the cells of the published setting that it is about, a share between 0 and 1."""
    from lengen.plotting.frames import Point

    span = experiment.specs["paper"].data.trained
    lengths = published.lengths or (span.length,)
    return Point(
        value=published.published / 100 if published.unit == "%" else published.published,
        relation=published.relation,
        lengths=(min(lengths), max(lengths)),
        counts=(min(published.counts), max(published.counts)),
        trained=(span.length, span.second),
        measure=published.measure,
        mode=published.mode,
        region=published.region,
        across=published.across,
    )


# ------------------------------------------------------------------ what needs no new drawing


def sum_of(figure: Figure, runs: Mapping[str, Sequence[Run]]) -> str | None:
    """Return a digest of all that a picture is made of.

    That is the program, the versions of what draws, every file of every run; None if something of it is not known to be
    in a file, so that it is drawn anew.
    """
    known = all(place.partition(".")[0] in CODE for place in (figure.how, figure.csv) if place)
    # a finished run holds the sha256 of its files or rows, which were compared when it was read
    if not known or not all(run.info.get("files") or run.info.get("rows") for some in runs.values() for run in some):
        return None
    read = [
        [name, [[[run.experiment, run.profile, run.seed, run.version, run.store], run.info] for run in some]]
        for name, some in runs.items()
    ]
    parts = [figure.name, figure.title, list(figure.reads), bool(figure.csv), read]
    return hashlib.sha256((_program() + json.dumps(parts, sort_keys=True)).encode()).hexdigest()


@functools.cache
def _program() -> str:
    """Return a digest of the program and of what it draws with.

    It is read once by a process, which does not change while it runs.
    """
    versions = [platform.python_version(), platform.machine(), *(f"{name} {version(name)}" for name in LIBRARIES)]
    return json.dumps([code_digest(), *versions])


class Drawn:
    """The notes of one results folder: file -> the sum of what it was made of, and the digest of its bytes.

    They lie in ``<root>/local/drawn.json``, which git ignores; without that file everything is drawn.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._path = root, root / "local" / "drawn.json"
        try:
            notes = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            notes = {}
        self._notes: dict[str, object] = notes if isinstance(notes, dict) else {}

    def is_current(self, path: Path, made_of: str | None) -> bool:
        """Return True if a file was drawn from exactly this and is as it was written."""
        note = self._notes.get(self._name(path))
        return made_of is not None and path.is_file() and note == [made_of, _digest(path.read_bytes())]

    def note(self, path: Path, made_of: str | None, content: bytes) -> None:
        """Note that a file was drawn from this."""
        if made_of is not None:
            self._notes[self._name(path)] = [made_of, _digest(content)]

    def save(self) -> None:
        """Write the notes where they are not those on the disk."""
        content = (json.dumps(self._notes, indent=0, sort_keys=True) + "\n").encode()
        if self._notes and not (self._path.is_file() and self._path.read_bytes() == content):
            with contextlib.suppress(StoreError):  # in a checkout that cannot be written all is drawn again
                write_bytes(self._path, content)

    def _name(self, path: Path) -> str:
        # committed pictures may lie in another folder than the local results
        return Path(os.path.relpath(path, self._root)).as_posix()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

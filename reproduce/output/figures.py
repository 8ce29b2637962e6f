"""Draw every published figure from a store: finished runs go in, SVG and PNG files leave, and CSV where declared.

Drawing reads the store and nothing else and needs no torch. The same runs give the same bytes on every machine with the
locked versions (`lengen.plotting.style`).
"""

import itertools
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.config.experiment import PROFILES, Figure
from lengen.config.spec import nearest
from lengen.records import Run
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store import atomic_files as files
from reproduce.store.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

NUMBER = r"(?:[A-Z]\.)?\d[^\W_]*(?:\.\d[^\W_]*)?"
"""How papers number figures: 1, 7a, 4.1 or B.1."""


class FigureError(ValueError):
    """A figure that does not exist; one sentence for the user."""


def draw(paper: str, source: Store, names: Collection[str] | None = None) -> list[Path]:
    """Draw a paper's figures (all, or those named) for each profile of the store that has runs; paths, sorted.

    A file is written only when its bytes changed. Figures without any run at a profile are skipped, and so is
    the smoke profile where another one has runs: its training is too short to show anything. A figure that reads
    no experiment is drawn for every profile that is drawn at all, each time the same.
    """
    chosen = _chosen(paper, names)
    found = {profile: _runs(paper, source, profile) for profile in PROFILES}
    profiles = [profile for profile in PROFILES if profile != "smoke" and any(found[profile].values())]
    paths = []
    for profile in profiles or ["smoke"] * any(found["smoke"].values()):
        for figure in chosen:
            runs = {name: found[profile].get(name, []) for name in figure.reads}
            if any(runs.values()) or not runs:
                paths += _write(source.path / paper / "figures" / f"{figure.name}-{profile}", figure, runs)
    return sorted(paths)


def draw_overridden(paper: str, source: Store, names: Collection[str] | None = None) -> list[Path]:
    """Draw figures once more for every setting that runs were made in with ``--set``, beside the declared ones; paths.

    Experiments with such runs show them, and the title says what was set; the others show their declared runs.
    """
    paths = []
    headers = source.headers(paper)
    for figure, profile in itertools.product(_chosen(paper, names), PROFILES):
        made: dict[tuple[str, ...], dict[str, list[Run]]] = {}
        for experiment in CATALOGUE.experiments(paper):
            for run in headers if experiment.name in figure.reads else ():
                if CATALOGUE.overridden(run, experiment, profile):
                    overrides = tuple(str(item) for item in run.info["overrides"])  # type: ignore[attr-defined]
                    made.setdefault(overrides, {}).setdefault(experiment.name, []).append(source.load(run))
        for overrides, changed in made.items():
            declared = _runs(paper, source, profile)
            runs = {name: changed.get(name, declared.get(name, [])) for name in figure.reads}
            slug = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(overrides)).strip("-")[:80]
            variants = ", ".join(name.partition("/")[2] for name in changed)
            remark = f"; {variants} with {' '.join(f'--set {item}' for item in overrides)}"
            stem = source.path / paper / "figures" / f"{figure.name}-{profile}-with-{slug}"
            paths += _write(stem, figure, runs, remark)
    return sorted(paths)


def render(figure: Figure, runs: Mapping[str, Sequence[Run]], remark: str = "") -> dict[str, bytes]:
    """One figure as ``{"svg": ..., "png": ...}``; ``runs`` maps every experiment it reads to its runs.

    A figure with a table has it under ``csv``. The title is the published caption in one line with the profile,
    because profiles differ in size, and the ``remark``; without the profile where no run is read.
    """
    from lengen import plotting

    table = {"csv": figure.table(runs).encode()} if figure.table else {}
    profile = next((f" ({run.profile} profile{remark})" for some in runs.values() for run in some), "")
    with plotting.style():
        drawing: Drawing = figure.draw(runs)
        title = f"{_published(figure.name)}{figure.title}{profile}"
        lines = -(-len(title) // int(drawing.get_figwidth() * 12))  # characters that fit a line
        drawing.suptitle(textwrap.fill(title, len(title) // lines + 8))
        return {**plotting.pictures(drawing), **table}


def _published(name: str) -> str:
    """How the paper calls a figure: fig1 is Figure 1, table4.3 Table 4.3, figB.1 Figure B.1, fig10_11 Figures 10 and
    11; else nothing."""
    match = re.fullmatch(rf"(fig|table)({NUMBER})(?:_({NUMBER}))?", name)
    if match is None:
        return ""
    word, first, second = {"fig": "Figure", "table": "Table"}[match[1]], match[2], match[3]
    return f"{word}s {first} and {second}: " if second else f"{word} {first}: "


def _write(stem: Path, figure: Figure, runs: Mapping[str, Sequence[Run]], remark: str = "") -> list[Path]:
    paths = []
    for kind, content in render(figure, runs, remark).items():
        path = stem.with_name(f"{stem.name}.{kind}")
        if not path.exists() or path.read_bytes() != content:
            files.write_bytes(path, content)
        paths.append(path)
    return paths


def _runs(paper: str, source: Store, profile: str) -> dict[str, list[Run]]:
    return {item.name: CATALOGUE.declared_runs(source, item, profile) for item in CATALOGUE.experiments(paper)}


def _chosen(paper: str, names: Collection[str] | None) -> list[Figure]:
    figures = list(CATALOGUE.figures(paper))
    known = [figure.name for figure in figures]
    for name in names or ():
        if name not in known:
            raise FigureError(f"there is no figure '{name}' in paper '{paper}'{nearest(name, known)}")
    return [figure for figure in figures if names is None or figure.name in names]

"""Draw every published figure from a store: finished runs go in, SVG and PNG files leave, and CSV where declared.

Drawing reads the store and nothing else and needs no torch. The same runs give the same bytes on every machine with the
locked versions (`lengen.plotting.style`).
"""

import importlib
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.config.experiment import PROFILES, Figure
from lengen.config.spec import nearest
from lengen.records import Run
from reproduce.runs import catalogue as registry
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
                paths += _write(source.path / paper / "figures" / f"{figure.name}-{profile}", paper, figure, runs)
    return sorted(paths)


def render(paper: str, figure: Figure, runs: Mapping[str, Sequence[Run]]) -> dict[str, bytes]:
    """One figure as ``{"svg": ..., "png": ...}``; ``runs`` maps every experiment it reads to its runs.

    A figure with a table has it under ``csv``. The title is the published caption in one line with the profile,
    because profiles differ in size; without the profile where no run is read.
    """
    from lengen import plotting

    module = importlib.import_module(f"papers.{paper}.figures")
    function = getattr(module, figure.draw)
    table = {"csv": getattr(module, figure.table)(runs).encode()} if figure.table else {}
    profile = next((f" ({run.profile} profile)" for some in runs.values() for run in some), "")
    with plotting.style():
        drawing: Drawing = function(runs)
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


def _write(stem: Path, paper: str, figure: Figure, runs: Mapping[str, Sequence[Run]]) -> list[Path]:
    paths = []
    for kind, content in render(paper, figure, runs).items():
        path = stem.with_name(f"{stem.name}.{kind}")
        if not path.exists() or path.read_bytes() != content:
            files.write_bytes(path, content)
        paths.append(path)
    return paths


def _runs(paper: str, source: Store, profile: str) -> dict[str, list[Run]]:
    experiments = registry.experiments(paper)
    return {experiment.name: registry.declared_runs(source, experiment, profile) for experiment in experiments}


def _chosen(paper: str, names: Collection[str] | None) -> list[Figure]:
    figures = list(registry.figures(paper))
    known = [figure.name for figure in figures]
    for name in names or ():
        if name not in known:
            raise FigureError(f"there is no figure '{name}' in paper '{paper}'{nearest(name, known)}")
    return [figure for figure in figures if names is None or figure.name in names]

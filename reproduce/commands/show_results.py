"""The commands that show what is declared and stored: list, show, figures, report.

Parsed options enter; text on stdout and an exit code leave. Only what draws imports matplotlib.
"""

import argparse
import fnmatch
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.experiment import Experiment
from reproduce.catalogue import CATALOGUE, SelectorError, hash_of
from reproduce.comparison.last_comparison import Recorded, recorded
from reproduce.pages import listing, terminal
from reproduce.runs.costs import usable_cores
from reproduce.store.checkout import mine, results_root, stores, with_runs
from reproduce.store.files import readable

if TYPE_CHECKING:
    from reproduce.comparison.published_statements import Statement
    from reproduce.comparison.published_values import Value


def list_command(options: argparse.Namespace) -> int:
    """List papers; of a paper its figures; of a figure its variants. Reads the committed tables, no records."""
    selector = options.selector or "*"
    chosen = CATALOGUE.select(selector)
    names = list(dict.fromkeys(item.paper for item in chosen))
    where = stores()
    if "/" in selector.strip("/"):
        terminal.show(listing.variants(chosen, where))
        return 0
    known = {name: recorded(name, where[0].path.parent) for name in names}
    if options.selector is None:
        papers = [CATALOGUE.paper(name) for name in names]
        terminal.show(listing.papers(papers, where, known, usable_cores()), "", listing.LEGEND)
        return 0
    from reproduce.comparison.published_statements import naming, statements

    for number, name in enumerate(names):
        all_statements = statements(name)
        groups = listing.groups(name)
        resting = {
            figure: known[name].counts([statement.id for statement in naming(all_statements, CATALOGUE.behind(figure))])
            for figure in groups
        }
        rows = listing.figures(groups, CATALOGUE.figures(name), where, resting)
        terminal.show(*[""] * bool(number), CATALOGUE.paper(name).title, "")
        if known[name].answers:
            terminal.show(listing.answered(known[name].counts()), "")
        terminal.show(rows)
    return 0


def show_command(options: argparse.Namespace) -> int:
    """Show the settings that differ from the defaults, or all of them; published entries, commands."""
    from reproduce.comparison.published_statements import statements
    from reproduce.comparison.published_values import values

    chosen, where = CATALOGUE.select(options.selector), stores()
    known = {
        paper: (values(paper), statements(paper), recorded(paper, where[0].path.parent))
        for paper in dict.fromkeys(experiment.paper for experiment in chosen)
    }
    for number, experiment in enumerate(chosen):
        published = _published(experiment, *known[experiment.paper])
        terminal.show(*[""] * bool(number), *listing.description(experiment, published, options.full))
        homes: dict[str, list[str]] = {}
        for profile, spec in experiment.specs.items():
            homes.setdefault(CATALOGUE.home(experiment, profile).name, []).append(profile)
            made = [run for store in where for run in store.made(experiment.name, profile)]
            alike = [run for run in made if run.info["spec_hash"] == hash_of(spec)]
            if sentence := listing.different_kernels(alike):
                terminal.show(f"stored runs at {profile}: {sentence}")
        for home, profiles in homes.items():
            if home != experiment.name:
                terminal.show(f"its runs at {', '.join(profiles)} are those of {home}, which has the same setting")
    return 0


def _published(
    experiment: Experiment, values: "Sequence[Value]", statements: "Sequence[Statement]", last: Recorded
) -> list[listing.Entry]:
    """Return the published values and statements that name an experiment."""
    from reproduce.comparison.published_values import span

    entries = [
        listing.Entry(
            value.id,
            last.beside.get(value.id, ""),
            f"{value.words}, {span(value.lengths)}: {value.relation} {value.published:g} {value.unit}",
        )
        for value in values
        if experiment.name in value.experiments
    ]
    for statement in statements:
        if experiment.name in statement.names:
            answer = last.answers.get(statement.id, "") if experiment.name in statement.counted else "in a detail"
            entries.append(listing.Entry(statement.id, answer, f"{statement.words}, {statement.place}"))
    return entries


def figures_command(options: argparse.Namespace) -> int:
    """Draw the committed runs' figures, and those of local runs where there are any; print the files."""
    from reproduce import figures
    from reproduce.runs.display import counter
    from reproduce.store.checkout import others

    reference, local = stores()
    if options.mine:
        newest = mine()
        groups = [figures.over_committed(paper, reference, newest, names) for paper, names in _drawn(options.selector)]
    else:
        groups = [
            figures.sheets(paper, store, names)
            for paper, names in _drawn(options.selector) for store in with_runs(paper)
        ]  # fmt: skip
    if options.to:
        groups = [[figures.drawn_to(sheet, options.to, local) for sheet in group] for group in groups]
    tell = counter("figures drawn", sys.stderr)
    left: list[Path] | None = None if options.any_versions else []
    written = iter(figures.write(list(itertools.chain(*groups)), results_root(), tell=tell, left=left))
    paths = [sorted(itertools.chain(*itertools.islice(written, len(group)))) for group in groups]
    drawn = [readable(path) for group in paths for path in group]
    if not drawn:
        which, selector = "local" if options.mine else "stored", options.selector or "SELECTOR"
        print(f"no {which} run is drawn: reproduce run {selector} makes some", file=sys.stderr)
    if options.format == "json":
        print(json.dumps(drawn))
    else:
        for line in {"csv": ["path", *drawn], "md": [f"- {path}" for path in drawn]}.get(options.format, drawn):
            print(line)
    if left:
        message = f"{len(left)} committed files, such as {readable(left[0])}, would change and stay as they are"
        versions = f"drawn here with {others(figures.LIBRARIES)}"
        print(f"{message}: {versions}; make setup installs the locked ones, --any-versions writes", file=sys.stderr)
    return 0


def report_command(options: argparse.Namespace) -> int:
    """Write one site: an index, a page per paper, a page per run."""
    selector = options.selector or "*"
    if "/" in selector.strip("/"):
        raise SelectorError(f"selector '{selector}': a report covers whole papers; name a paper, or nothing for all")
    print(readable(write_report(list(dict.fromkeys(item.paper for item in CATALOGUE.select(selector))))))
    return 0


def write_report(papers: Sequence[str]) -> Path:
    """Write the pages of these papers and the index of all, saying how far it is; returns the index's path."""
    from reproduce.pages import site
    from reproduce.runs.display import counter

    return site.write(papers, with_runs, results_root(), lambda what: counter(what, sys.stderr))


def _drawn(selector: str | None) -> list[tuple[str, list[str] | None]]:
    """Return the papers that a selector names, each with the figures to draw that it names (None for all)."""
    paper, _, rest = (selector or "*").strip("/").partition("/")
    chosen = list(dict.fromkeys(item.paper for item in CATALOGUE.select(paper)))
    if not rest:
        return [(name, None) for name in chosen]
    figure, _, variant = rest.partition("/")
    if variant:
        raise SelectorError(f"selector '{selector}': a figure is drawn whole; expected paper or paper/figure")
    names = {name: [item.name for item in CATALOGUE.figures(name)] for name in chosen}
    drawn = {
        name: [candidate for candidate in known if fnmatch.fnmatchcase(candidate.casefold(), figure.casefold())]
        for name, known in names.items()
    }
    if not any(drawn.values()):
        CATALOGUE.select(f"{paper}/{figure}")  # names the nearest where there is none
        raise SelectorError(f"selector '{selector}': {figure} is not drawn")
    return [(name, names) for name, names in drawn.items() if names]

"""The commands that read: list, show, figures, compare, report; and promote, which copies.

What enters are parsed options; what leaves is text on stdout and an exit code. Only what draws imports matplotlib. The
commands that put a problem to a model stand in `reproduce.commands.problem`.
"""

import argparse
import csv
import fnmatch
import io
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from lengen.paper.experiment import Experiment
from lengen.results.records import Run
from reproduce.comparison.distance import CHECKED
from reproduce.comparison.recorded import recorded
from reproduce.output import listing, terminal
from reproduce.output.markdown import table
from reproduce.runs.catalogue import CATALOGUE, SelectorError, hash_of
from reproduce.runs.estimate import usable_cores
from reproduce.store.atomic_files import readable
from reproduce.store.locations import results_root, stores
from reproduce.store.provenance import checkout
from reproduce.store.store import Store, StoreError

MOST = 8
"""Seeds that are promoted unless others are named; settings are tried on those beyond."""

if TYPE_CHECKING:
    from reproduce.comparison.compare import Comparison
    from reproduce.comparison.statements import Statement
    from reproduce.output.description import Entry


def list_command(options: argparse.Namespace) -> int:
    """Papers; of a paper its figures; of a figure its variants. Reads the committed tables, no records."""
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
    from reproduce.comparison.statements import naming, statements

    for number, name in enumerate(names):
        said = statements(name)
        groups = listing.groups(name)
        resting = {
            figure: known[name].counts([one.id for one in naming(said, CATALOGUE.behind(figure))]) for figure in groups
        }
        found = listing.figures(groups, CATALOGUE.figures(name), where, resting)
        terminal.show(*[""] * bool(number), CATALOGUE.paper(name).title, "")
        if known[name].answers:
            terminal.show(listing.answered(known[name].counts()), "")
        terminal.show(found)
    return 0


def show_command(options: argparse.Namespace) -> int:
    """Show the settings that differ from the defaults, or all of them; published entries, commands."""
    from reproduce.output.description import description
    from reproduce.output.kernels import different_kernels

    chosen, where = CATALOGUE.select(options.selector), stores()
    naming = {paper: _naming(paper) for paper in dict.fromkeys(experiment.paper for experiment in chosen)}
    for number, experiment in enumerate(chosen):
        terminal.show(
            *[""] * bool(number), *description(experiment, naming[experiment.paper](experiment), options.full)
        )
        for profile, spec in experiment.specs.items():
            made = [run for store in where for run in store.made(experiment.name, profile)]
            alike = [run for run in made if run.info["spec_hash"] == hash_of(spec)]
            if sentence := different_kernels(alike):
                terminal.show(f"stored runs at {profile}: {sentence}")
    return 0


def _naming(paper: str) -> "Callable[[Experiment], list[Entry]]":
    """A function of an experiment: the published values and statements that name it, with their last answers."""
    from reproduce.comparison.numbers import span
    from reproduce.comparison.statements import naming, statements
    from reproduce.comparison.values import values
    from reproduce.output.description import Entry

    answers = recorded(paper, stores()[0].path.parent).answers
    said, printed = statements(paper), values(paper)

    def entries(experiment: Experiment) -> "list[Entry]":
        found = [
            Entry(
                value.id, "", f"{value.words}, {span(value.lengths)}: {value.relation} {value.published:g} {value.unit}"
            )
            for value in printed
            if experiment.name in value.experiments
        ]
        named = naming(said, [experiment])
        return found + [Entry(one.id, answers.get(one.id, ""), f"{one.words}, {one.place}") for one in named]

    return entries


def figures_command(options: argparse.Namespace) -> int:
    """Draw the committed runs' figures, and those of local runs where there are any; print the files."""
    from reproduce.output import figures
    from reproduce.output.picture_cache import other_versions
    from reproduce.runs.display import counter

    groups = []
    for paper, names in _drawn(options.selector):
        for store in _with_runs(paper):
            groups.append(figures.sheets(paper, store, names))
    tell = counter("figures drawn", sys.stderr)
    left: list[Path] | None = None if options.any_versions else []
    found = iter(figures.write(list(itertools.chain(*groups)), results_root(), tell=tell, left=left))
    paths = [sorted(itertools.chain(*itertools.islice(found, len(group)))) for group in groups]
    drawn = [readable(path) for group in paths for path in group]
    if options.format == "json":
        print(json.dumps(drawn))
    else:
        print("\n".join({"csv": ["path", *drawn], "md": [f"- {path}" for path in drawn]}.get(options.format, drawn)))
    if left:
        said = f"{len(left)} committed files, such as {readable(left[0])}, would change and stay as they are"
        versions = f"drawn here with {other_versions()}"
        print(f"{said}: {versions}; make setup installs the locked ones, --any-versions writes", file=sys.stderr)
    return 0


def compare_command(options: argparse.Namespace) -> int:
    """Write comparison.md and print the comparison: published values beside ours, then the main statements.

    CSV holds the published values of all papers, JSON those and the statements. Runs made with ``--set`` are listed
    below it where asked for; they are in no file and decide nothing.
    """
    if options.with_overrides and options.format in ("csv", "json"):
        raise SelectorError(
            f"--with-overrides --format {options.format}: what was made with --set is listed apart from what is "
            "compared; choose --format table or md"
        )
    selector = options.selector or "*"
    statement = _statement(selector)
    chosen = CATALOGUE.behind(selector) if statement is None else _resting(selector, statement)
    papers = [name for name in CATALOGUE.papers() if any(item.paper == name for item in chosen)]
    for_programs = options.format in ("csv", "json")
    found: list[Comparison] = []
    for number, paper in enumerate(papers):
        items = [item for item in chosen if item.paper == paper]
        reference, yours, written = write_comparison(paper, _with_runs(paper))
        if "/" in selector.strip("/"):
            name = statement.id if statement else ""
            reference, yours = reference.of(items, name), yours.of(items, name) if yours else None
        if for_programs:  # all papers are one table
            found.append(yours or reference)
        else:
            print("\n" * bool(number), end="")
            print_comparison(reference, yours, options.format)
        if options.format == "table" and written:
            print(f"every comparison, with quotes and reasons:\n{readable(written[-1])}")
        if options.with_overrides:
            print_beside(_beside(paper, items), options.format)
    if for_programs:
        print(for_program(found, options.format), end="")
    return _check_history(papers, sys.stderr if for_programs else sys.stdout) if options.check_history else 0


def _statement(selector: str) -> "Statement | None":
    """Return the statement that a selector names as ``paper/id``; None if it names none."""
    paper, _, name = selector.strip("/").partition("/")
    if paper not in CATALOGUE.papers() or not name:
        return None
    from reproduce.comparison.statements import statements

    return next((one for one in statements(paper) if one.id == name), None)


def _resting(selector: str, statement: "Statement") -> tuple[Experiment, ...]:
    """Return the experiments of a paper that a statement rests on."""
    paper = selector.strip("/").partition("/")[0]
    return tuple(item for item in CATALOGUE.experiments(paper) if item.name in statement.names)


def for_program(found: "Sequence[Comparison]", form: str) -> str:
    """The published values of several papers as CSV; as JSON with the statements."""
    from reproduce.comparison import lines, pages

    values = lines.to_csv(line for one in found for line in one.lines)
    if form == "csv":
        return values
    tables = {"published": values, "statements": pages.statements_csv(found)}
    read = {name: list(csv.DictReader(io.StringIO(text))) for name, text in tables.items()}
    return json.dumps(read, indent=1, ensure_ascii=False) + "\n"


def _check_history(papers: Sequence[str], output: TextIO) -> int:
    """Hold what the committed runs recorded of statements against git: 1 if one stands otherwise, 3 if some cannot be
    looked up, as in a shallow clone or an unpacked archive."""
    from reproduce.comparison.history import AS_NOW, CODES, OTHERWISE, UNKNOWN, history

    runs = [run for paper in papers for run in stores()[0].headers(paper)]
    counts, told = history(runs, checkout())
    told.append(f"{counts.total()} of {len(runs)} runs recorded what they are for: "
                + ", ".join(f"{counts[word]} {word}" for word in (AS_NOW, OTHERWISE, UNKNOWN)))  # fmt: skip
    if counts[UNKNOWN]:
        told.append("fetch the whole history (git fetch --unshallow) to look the others up")
    print("\n".join(told), file=output)
    return CODES[next((word for word in (OTHERWISE, UNKNOWN) if counts[word]), AS_NOW)]


def _beside(paper: str, chosen: Sequence[Experiment]) -> list[tuple[str, ...]]:
    """Experiment, profile, seed, what it was made with, exact match in and outside the trained range: a row for each
    run of these experiments made with ``--set``, after those of the declared setting."""
    from reproduce.runs.accuracy import accuracies

    places = [(item, profile) for item in chosen for profile in item.specs]
    rows: list[tuple[str, ...]] = []
    for store in _with_runs(paper):
        headers = store.headers(paper)
        for item, profile in places:
            changed = [run for run in headers if CATALOGUE.overridden(run, item, profile)]
            declared = CATALOGUE.declared_runs(store, item, profile) if changed else []
            for run in (*declared, *(store.load(header) for header in changed)):
                made = " ".join(f"--set {override}" for override in run.info["overrides"])  # type: ignore[attr-defined]
                rows.append((item.name, profile, str(run.seed), made or "as declared", *accuracies(run)))
    return rows


def write_comparison(paper: str, where: Sequence[Store]) -> "tuple[Comparison, Comparison | None, list[Path]]":
    """The comparison of the reference store, of the local one (None where it is not in ``where``), files written."""
    from reproduce.comparison import pages

    (reference, *others), paths = pages.save(paper, where)
    return reference, others[0] if others else None, paths


def print_comparison(reference: "Comparison", yours: "Comparison | None", form: str) -> None:
    """Published beside ours and the statements, as a table or as a page of Markdown."""
    if form == "table":
        from reproduce.output.comparison_table import whole

        terminal.show(CATALOGUE.paper(reference.paper).title, "", *whole(reference, yours))
    else:
        from reproduce.comparison.pages import page

        print(page(yours or reference), end="")


def print_score(reference: "Comparison", yours: "Comparison | None") -> None:
    """Print the summary of a paper: its title, the score, values beside yours, and its main statements."""
    from reproduce.output.comparison_table import whole

    title = CATALOGUE.paper(reference.paper).title
    terminal.show(title, "", *whole(reference, yours, values=bool(yours and yours.score.compared)))


def print_beside(rows: Sequence[tuple[str, ...]], form: str) -> None:
    """Runs made with ``--set`` and the declared ones, as a table or, where ``form`` is md, as one of Markdown."""
    from reproduce.output.comparison_table import BESIDE, beside

    if not rows:
        print("no run was made with --set")
    elif form == "table":
        terminal.show("", BESIDE, "", beside(rows))
    else:
        names = ("experiment", "profile", "seed", "made with", "in the trained range", "outside")
        print("\n".join([BESIDE, "", table(names, rows)]))


def report_command(options: argparse.Namespace) -> int:
    """One site: an index, a page per paper, a page per run."""
    selector = options.selector or "*"
    if "/" in selector.strip("/"):
        raise SelectorError(f"selector '{selector}': a report is of whole papers; expected one, or none for all")
    print(readable(write_report(list(dict.fromkeys(item.paper for item in CATALOGUE.select(selector))))))
    return 0


def write_report(papers: Sequence[str]) -> Path:
    """Write the pages of these papers and the index of all, saying how far it is; the path of the index."""
    from reproduce.output.site import pages
    from reproduce.runs.display import counter

    return pages.write(papers, _with_runs, results_root(), lambda what: counter(what, sys.stderr))


def _with_runs(paper: str) -> list[Store]:
    """The reference store, and the local one where it has runs of this paper."""
    reference, local = stores()
    return [reference, local] if local.headers(paper) else [reference]


def _drawn(selector: str | None) -> list[tuple[str, list[str] | None]]:
    """Papers that a selector names, each with the figures to draw that it names (None for all)."""
    paper, _, rest = (selector or "*").strip("/").partition("/")
    chosen = list(dict.fromkeys(item.paper for item in CATALOGUE.select(paper)))
    if not rest:
        return [(name, None) for name in chosen]
    figure, _, variant = rest.partition("/")
    if variant:
        raise SelectorError(f"selector '{selector}': a figure is drawn whole; expected paper or paper/figure")
    drawn = {name: [f.name for f in CATALOGUE.figures(name) if fnmatch.fnmatchcase(f.name, figure)] for name in chosen}
    if not any(drawn.values()):
        CATALOGUE.select(f"{paper}/{figure}")  # names the nearest where there is none
        raise SelectorError(f"selector '{selector}': {figure} is not drawn")
    return [(name, names) for name, names in drawn.items() if names]


def bench_command(options: argparse.Namespace) -> int:
    """Measure speed; the options are those of `reproduce.bench`."""
    from reproduce.bench import __main__ as bench

    return bench.main(options.arguments[1:])


def promote_command(options: argparse.Namespace) -> int:
    """Add finished local runs of settings as they are declared now to the committed tables. Seeds from `MOST` on, on
    which settings are tried, stay behind unless named: they would be evidence chosen by its outcome."""
    reference, local = stores()
    if options.source is not None:
        local = _local(Path(options.source))
    profiles = (options.profile,) if options.profile else CHECKED
    runs: list[Run] = []
    chosen = CATALOGUE.select(options.selector)
    for profile in profiles:
        homes = {
            home.name: home for item in chosen if profile in item.specs for home in [CATALOGUE.home(item, profile)]
        }
        for name, home in homes.items():
            declared = hash_of(home.specs[profile])
            for run in local.of(name, profile):
                if run.info["spec_hash"] == declared and not run.info["overrides"]:
                    runs.append(run)
                elif not run.info["overrides"]:
                    print(f"{readable(local.folder(run))}: of an earlier setting, not promoted", file=sys.stderr)
    if options.seeds is not None:
        there: dict[tuple[str, str], set[int]] = {}
        for run in runs:
            there.setdefault((run.experiment, run.profile), set()).add(run.seed)
        for (name, profile), seeds in there.items():
            if lacking := [seed for seed in options.seeds if seed not in seeds]:
                told = ", ".join(map(str, lacking))
                print(f"{name} {profile}: no finished run of seed {told}, not promoted", file=sys.stderr)
        runs = [run for run in runs if run.seed in options.seeds]
    else:
        for run in (run for run in runs if run.seed >= MOST):
            said = f"seed {run.seed} is for trying settings (statements have seeds 0 to {MOST - 1}), not promoted"
            print(f"{readable(local.folder(run))}: {said}; --seeds {run.seed} would", file=sys.stderr)
        runs = [run for run in runs if run.seed < MOST]
    if not runs:
        raise StoreError(
            f"{readable(local.path)} has no finished run of {options.selector} at profile {' or '.join(profiles)}: "
            f"make one with python -m reproduce run {options.selector}"
        )
    adopted = reference.adopt(runs, local, options.weights, lambda said: print(said, file=sys.stderr))
    for run in adopted:
        print(f"{run.experiment} {run.profile} seed {run.seed}")
        if run.info.get("dirty"):
            said = "made from a checkout with changes, which no commit holds: nobody else can make it again"
            print(f"{run.experiment} seed {run.seed}: {said}", file=sys.stderr)
    if already := len(runs) - len(adopted):
        print(f"{already} run{'s' * (already != 1)} already there")
    for paper in dict.fromkeys(run.experiment.split("/")[0] for run in runs):
        _refresh_reference(paper, reference)
    _refresh_pages(reference)
    return 0


def _local(folder: Path) -> Store:
    """The local store in another results folder, or the folder of local runs itself."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise StoreError(f"--from {readable(folder)}: there is no such folder; expected results/local of a checkout")
    return Store(folder, "local") if (folder / "local").is_dir() else Store(folder.parent, folder.name)


def _refresh_reference(paper: str, reference: Store) -> None:
    """Figures and comparison of a paper follow the promoted runs."""
    from reproduce.comparison import pages
    from reproduce.output import figures
    from reproduce.runs.display import counter

    _, paths = pages.save(paper, [reference])
    drawn = figures.draw(paper, reference, tell=counter("figures drawn", sys.stderr))
    for path in (*drawn, *paths):
        print(readable(path))
    for path in figures.sweep(paper, reference, drawn):
        print(f"{readable(path)}: deleted, no run is behind it any more or a larger profile shows the figure")


def _refresh_pages(reference: Store) -> None:
    """Update the claims on the pages of a checkout from its reference runs, whichever were promoted."""
    from reproduce import publication

    repository = checkout()
    if repository is not None and reference.path.parent == repository / "results":
        for path in publication.write(repository):
            print(readable(path))

"""The command compare: published values beside ours, then the main statements; and the age of statements by git.

Parsed options enter; comparison.md, text on stdout and an exit code leave.
"""

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from typing import TextIO

from reproduce.catalogue import CATALOGUE
from reproduce.comparison import published_values
from reproduce.comparison.compare import Comparison, compare
from reproduce.comparison.published_statements import AS_NOW, CODES, OTHERWISE, UNKNOWN, history, statements
from reproduce.pages import comparison, terminal
from reproduce.store.checkout import checkout, mine, missing_commits, stores, with_runs
from reproduce.store.files import readable

MINE = "yours: the newest run of each seed, also of those made with --set or --lengths, which change the question"
NONE_MINE = "no run of yours is about these values: figures --mine draws what was tested at other lengths"


def compare_command(options: argparse.Namespace) -> int:
    """Write comparison.md and print the comparison: published values beside ours, then the main statements.

    CSV holds the published values of all papers, JSON those and the statements.
    """
    selector = options.selector or "*"
    first, _, rest = selector.strip("/").partition("/")
    known = statements(first) if rest and first in CATALOGUE.papers() else ()
    statement = next((each for each in known if each.id == rest), None)
    if statement is None:
        chosen = CATALOGUE.behind(selector)
    else:
        chosen = tuple(item for item in CATALOGUE.experiments(first) if item.name in statement.names)
    papers = [name for name in CATALOGUE.papers() if any(item.paper == name for item in chosen)]
    for_programs = options.format in ("csv", "json")
    tables: list[Comparison] = []
    for number, paper in enumerate(papers):
        (reference, *local), written = comparison.save(paper, with_runs(paper)[: 1 if options.mine else None])
        yours = compare(paper, [mine()]) if options.mine else next(iter(local), None)
        if rest:
            items = [item for item in chosen if item.paper == paper]
            name = statement.id if statement else ""
            reference, yours = reference.of(items, name), yours.of(items, name) if yours else None
        printed = yours if yours is not None and yours.measured else reference
        if for_programs:  # all papers are one table
            tables.append(printed)
            continue
        print("\n" * bool(number), end="")
        if options.format == "md":
            print(comparison.page(printed), end="")
            continue
        terminal.show(CATALOGUE.paper(paper).title, "", *comparison.whole(reference, yours, options.all))
        if written:
            print(f"quotes and reasons: {readable(written[-1 if printed is yours else 0])}")
        if options.mine:
            terminal.tell(MINE if yours is not None and yours.measured else NONE_MINE)
    if for_programs:
        print(for_program(tables, options.format), end="")
    return _check_history(papers, sys.stderr if for_programs else sys.stdout) if options.check_history else 0


def for_program(comparisons: Sequence[Comparison], form: str) -> str:
    """Return the published values of several papers as CSV; as JSON with the statements."""
    published = published_values.to_csv(line for one in comparisons for line in one.lines)
    if form == "csv":
        return published
    tables = {"published": published, "statements": comparison.statements_csv(comparisons)}
    read = {name: list(csv.DictReader(io.StringIO(text))) for name, text in tables.items()}
    return json.dumps(read, indent=1, ensure_ascii=False) + "\n"


def _check_history(papers: Sequence[str], output: TextIO) -> int:
    """Hold what the committed runs recorded of statements against git.

    Returns 1 if one stands otherwise, 3 if some cannot be looked up, as in a shallow clone or an unpacked archive.
    """
    runs = [run for paper in papers for run in stores()[0].headers(paper)]
    counts, lines = history(runs, checkout())
    lines.append(f"{counts.total()} of {len(runs)} runs recorded what they are for: "
                + ", ".join(f"{counts[word]} {word}" for word in (AS_NOW, OTHERWISE, UNKNOWN)))  # fmt: skip
    if counts[UNKNOWN]:
        lines.append(missing_commits())
    print("\n".join(lines), file=output)
    return CODES[next((word for word in (OTHERWISE, UNKNOWN) if counts[word]), AS_NOW)]

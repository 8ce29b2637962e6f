"""Files that make the suite citable, written by ``promote``: tables, crate, pages, model cards and a badge.

The committed runs and their comparison enter; files leave, the same bytes from the same runs. In pages with prose
numbers stand between marks alone, so they are never older than the runs.

    README.md, papers/*/*.md, docs  prose by hand, facts between marks             pages.generated_blocks
    results/published.csv           every published measurement beside ours        comparison.published_values
    results/statements.csv          every main statement under a stable id         pages.comparison
    results/overview.svg            main statements as squares, a table beside ours  pages.overview_picture
    results/badges/claims.svg       published values that are met, in one line     badge, here
    results/reference/**/README.md  a model card where weights are committed       pages.cards
    ro-crate-metadata.json          which program made which results, and when     pages.crate
"""

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from reproduce.comparison.published_values import Line, hard, to_csv
from reproduce.pages import cards, comparison, crate, overview_picture
from reproduce.pages import generated_blocks as blocks
from reproduce.pages.overview_picture import gather
from reproduce.store.checkout import checkout
from reproduce.store.files import readable, update

HEIGHT, EDGE, LETTER = 20, 6, 6.6
"""Pixels: of a badge, left and right of its text, of a letter on average."""
LEFT, OPEN, GOOD = "#555555", "#6b6b6b", "#22763b"
"""Colours of the left side, and of the right one without and with values: dark enough for white text."""
BADGE = Path(__file__).with_name("badge.svg")
"""A badge, with names in braces for what differs."""


def claims(lines: Sequence[Line]) -> str:
    """Return the badge of the published values beyond the trained range that are met."""
    score = hard(lines)
    words = f"{score.within_5} of {score.compared} within 5 points"
    return badge("published values beyond the range", words, GOOD if score.compared else OPEN)


def badge(left: str, right: str, colour: str) -> str:
    """Return two words on two colours, with a title for those who do not see them."""
    widths = [round(len(text) * LETTER) + 2 * EDGE for text in (left, right)]
    title, left, right = (escape(text, quote=True) for text in (f"{left}: {right}", left, right))
    start, rooms = widths[0] + EDGE, [width - 2 * EDGE for width in widths]
    return BADGE.read_text("utf-8").format(
        title=title, left=left, right=right, widths=widths, whole=sum(widths), rooms=rooms, start=start, edge=EDGE,
        height=HEIGHT, colours=(LEFT, colour),
    )  # fmt: skip


def files(repository: Path) -> dict[Path, str]:
    """Return the text of all generated files of a checkout by path; writes nothing."""
    facts = gather(repository)
    results = repository / "results"
    lines = [line for compared in facts.compared.values() for line in compared.lines]
    texts = {
        results / "published.csv": to_csv(lines),
        results / "statements.csv": comparison.statements_csv(facts.compared.values()),
        results / "badges" / "claims.svg": claims(lines),
        results / overview_picture.FILE: overview_picture.picture(overview_picture.shown(facts.compared)),
        repository / "ro-crate-metadata.json": crate.crate(facts),
    }
    texts |= {page: blocks.filled(page.read_text(encoding="utf-8"), facts) for page in blocks.pages(repository)}
    return texts | cards.cards(facts)


def write(repository: Path) -> list[Path]:
    """Write those that are not as they should be, delete cards of models that left, and say which."""
    wanted = files(repository)
    changed = [path for path, text in wanted.items() if update(path, text)]
    left = [path for path in cards.written(repository / "results" / "reference") if path not in wanted]
    for path in left:
        path.unlink()
    return [*changed, *left]


def main() -> int:
    """Write the files that are not as they should be, and print them."""
    repository = checkout()
    if repository is None:
        print("python -m reproduce.generated_files needs a checkout: run it in a clone", file=sys.stderr)
        return 2
    for path in write(repository):
        print(readable(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())

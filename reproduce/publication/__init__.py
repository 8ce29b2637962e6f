"""Files that make the suite citable, written by ``promote``: tables, crate, pages, model cards and a badge.

The committed runs and their comparison enter; files leave, the same bytes from the same runs. In pages with prose
numbers stand between marks alone, so they are never older than the runs.

    README.md, papers/*/*.md, docs  prose by hand, facts between marks             pages.readme
    results/published.csv           every published measurement beside ours        comparison.values
    results/statements.csv          every main statement under a stable id         pages.comparison
    results/overview.svg            main statements as squares, a table beside ours  pages.overview
    results/badges/claims.svg       published values that are met, in one line     badges
    results/reference/**/README.md  a model card where weights are committed       cards
    ro-crate-metadata.json          which program made which results, and when     crate
"""

from pathlib import Path

from reproduce.comparison import values
from reproduce.pages import comparison, overview, readme
from reproduce.pages.facts import gather
from reproduce.publication import badges, cards, crate
from reproduce.store.files import update


def files(repository: Path) -> dict[Path, str]:
    """Return the text of all generated files of a checkout by path; writes nothing."""
    facts = gather(repository)
    results = repository / "results"
    compared = facts.compared.values()
    texts = {
        results / "published.csv": values.to_csv(line for one in compared for line in one.lines),
        results / "statements.csv": comparison.statements_csv(compared),
    }
    texts[results / "badges" / "claims.svg"] = badges.claims(facts)
    texts |= {page: readme.filled(page.read_text(encoding="utf-8"), facts) for page in readme.pages(repository)}
    texts[results / overview.FILE] = overview.picture(overview.shown(facts.compared))
    texts |= cards.cards(facts)
    texts[repository / "ro-crate-metadata.json"] = crate.crate(facts)
    return texts


def write(repository: Path) -> list[Path]:
    """Write those that are not as they should be, delete cards of models that left, and say which."""
    wanted = files(repository)
    changed = [path for path, text in wanted.items() if update(path, text)]
    left = [path for path in cards.written(repository / "results" / "reference") if path not in wanted]
    for path in left:
        path.unlink()
    return [*changed, *left]

"""What makes the suite citable: claims, data package, crate, pages, model cards and badges, written by ``promote``.

The committed runs and verdicts enter; files leave, the same bytes from the same runs. In pages with prose numbers stand
between marks alone, so they are never older than the runs.

    README.md, papers/*/*.md, docs  prose by hand, facts between marks             blocks, front_page, report
    results/published.csv           every published measurement beside ours        comparison.lines
    results/claims.csv              every claim under a stable id                  claims
    results/datapackage.json        every CSV file and what its columns mean       datapackage
    results/schemas/*.json          the columns
    results/badges/*.svg            verdicts in one line                           badges
    results/reference/**/README.md  a model card where weights are committed       cards
    ro-crate-metadata.json          which program made which results, and when     crate
"""

from pathlib import Path

from reproduce.comparison import lines
from reproduce.publication import badges, blocks, cards, claims, crate, datapackage
from reproduce.publication.facts import gather
from reproduce.store.atomic_files import write_text


def pages(repository: Path) -> dict[Path, str]:
    """Path -> text of all generated files of a checkout; writes nothing."""
    facts = gather(repository)
    results = repository / "results"
    found = {results / "claims.csv": claims.to_csv(facts)}
    found[results / "published.csv"] = lines.to_csv(lines.published([facts.reference]))
    found |= {results / "badges" / name: text for name, text in badges.badges(facts).items()}
    found |= {page: blocks.filled(page.read_text(encoding="utf-8"), facts) for page in blocks.pages(repository)}
    found |= cards.cards(facts)
    found |= {results / "schemas" / name: text for name, text in datapackage.schemas().items()}
    found[results / "datapackage.json"] = datapackage.package(facts)
    found[repository / "ro-crate-metadata.json"] = crate.crate(facts)
    return found


def write(repository: Path) -> list[Path]:
    """Write those that are not as they should be, delete cards of models that left, and say which."""
    wanted = pages(repository)
    changed = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        write_text(path, wanted[path])
    left = [path for path in cards.written(repository / "results" / "reference") if path not in wanted]
    for path in left:
        path.unlink()
    return [*changed, *left]

"""Published against measured: every number and claim of a paper with its verdict, from the results stores alone.

``papers/<paper>/published.toml`` and finished runs enter, `Row` objects leave, and comparison.csv and comparison.md.
No torch, no training: what is not there is "not run". The rules:

- reproduced: the inequality holds with the 95 % Wilson intervals over pooled examples apart *and* every seed on its
  side; differs: the opposite holds in the same sense; undecided: neither.
- A number is compared only with runs of exactly the declared paper-profile specification; runs of another profile or
  specification show as "not comparable". A setting is compared with that specification itself.
- A claim is checked at the cpu profile, and at the paper profile where all its runs exist; smoke never counts.
- A comparison outside the trained range says which experiments did not learn within it (deviations column).
- Teacher-forced is compared with teacher-forced, free-running with free-running: the mode belongs to the entry.
"""

import fnmatch
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from lengen.measures import Missing, OfRun, Scored
from lengen.records import Run
from reproduce.comparison.checks import Claim, EntryError, Measured, Number, Remark, Setting, Varied, judge
from reproduce.comparison.evidence import ACROSS, Evidence, Finding, Side, Tested
from reproduce.comparison.measures import Vocabulary
from reproduce.comparison.published import Published, PublishedError, load
from reproduce.comparison.tables import COLUMNS, SETTING, Row, to_csv, to_json, to_markdown
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store, write_text

__all__ = ["COLUMNS", "Row", "compare", "rows", "save", "to_csv", "to_json", "to_markdown"]

NOT_RUN, NOT_COMPARABLE = "not run", "not comparable"


def compare(paper: str, stores: Sequence[Store]) -> list[Row]:
    """One row per number and per claim and profile, in the order of published.toml.

    Of several stores the first one that holds runs of an experiment speaks for it.
    """
    published = _published(paper)
    entries: list[Number | Claim] = [*published.numbers, *published.claims]
    used = {name for entry in entries for name in entry.deviations}
    used |= {name for names in published.deviations.values() for name in names}
    unknown = used - set(CATALOGUE.deviations(paper))
    if unknown:
        raise PublishedError(f"papers/{paper}/published.toml: there is no deviation {sorted(unknown)[0]}")

    @cache
    def declared(name: str, profile: str) -> Sequence[Run]:
        experiment = experiments[name]
        found = (CATALOGUE.declared_runs(store, experiment, profile) for store in stores)
        return next((runs for runs in found if runs), [])

    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}
    return rows(
        published,
        {
            profile: Evidence(profile, experiments, lambda e, p: declared(e.name, p), published.vocabulary)
            for profile in ("cpu", "paper")
        },
    )


def save(paper: str, stores: Sequence[Store]) -> tuple[list[list[Row]], list[Path]]:
    """Write comparison.csv and comparison.md below each store; the rows of each and the files, equal ones left alone.

    The first store is the reference: the others' comparison.md shows published | reference | yours.
    """
    paths = []
    found = [compare(paper, [store]) for store in stores]
    for store, mine in zip(stores, found, strict=True):
        others = mine if store is not stores[0] else []
        text = to_markdown(paper, found[0], others, CATALOGUE.deviations(paper))
        for name, content in (("comparison.csv", to_csv(mine)), ("comparison.md", text)):
            path = store.path / paper / name
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                write_text(path, content)
            paths.append(path)
    return found, paths


def rows(published: Published, evidence: Mapping[str, Evidence]) -> list[Row]:
    """Rows from the entries and the runs at the cpu and the paper profile."""
    found = [_number(number, evidence, published) for number in published.numbers]
    for claim in published.claims:
        found += _claim(claim, evidence, published)
    return found


@cache
def _published(paper: str) -> Published:
    return load(CATALOGUE.paper(paper).published)


def _number(number: Number, evidence: Mapping[str, Evidence], published: Published) -> Row:
    paper = evidence["paper"]
    match number:
        case Remark():
            return _row(number, published, "paper", NOT_COMPARABLE, notes=[number.remark])
        case Setting():
            return _setting(number, paper, published)
    reasons = []
    for profile, at in (("paper", paper), ("cpu", evidence["cpu"])):
        try:
            tested = at.tested(_expand(number, at))
            runs = [run for each in tested for run in each.runs]
        except Missing as missing:
            reasons.append(str(missing))
            continue
        published_setting = profile == "paper" and all(each.as_declared for each in tested)
        try:
            finding = number.find(tested)
        except Missing as missing:
            verdict = NOT_RUN if published_setting else NOT_COMPARABLE
            return _row(number, published, profile, verdict, notes=[str(missing)], tested=tested)
        if published_setting:
            return _row(number, published, profile, finding.verdict, finding, tested=tested)
        remark = f"not the published setting: {profile} size, {len(runs)} run{'s' if len(runs) > 1 else ''}"
        finding = finding._replace(notes=(remark, *finding.notes))
        return _row(number, published, profile, NOT_COMPARABLE, finding, tested=tested)
    try:
        tested = paper.tested(_expand(number, paper))
    except Missing:
        tested = []
    return _row(number, published, "paper", NOT_RUN, notes=reasons[:1], tested=tested)


def _setting(number: Setting, paper: Evidence, published: Published) -> Row:
    try:
        tested = paper.tested(_expand(number, paper))
    except Missing as missing:
        return _row(number, published, "paper", NOT_RUN, notes=[str(missing)])
    try:
        verdict, ours, notes = number.find([paper.experiments[each.name] for each in tested])
    except EntryError as error:
        raise PublishedError(f"published.toml: number '{number.id}': {error}") from None
    return _row(number, published, "paper", verdict, ours=ours, notes=notes, tested=tested)


def _expand(number: Measured | Setting, at: Evidence) -> list[str]:
    """Names of the experiments that the wildcards of a number stand for."""
    found: list[str] = []
    for pattern in number.experiments:
        if not (matches := fnmatch.filter(at.experiments, pattern)):
            raise Missing(f"there is no experiment {pattern}", absent=True)
        found += matches
    return found


def _claim(claim: Claim, evidence: Mapping[str, Evidence], published: Published) -> list[Row]:
    found: list[Row] = []
    lacking: list[tuple[Missing, str, list[Tested]]] = []
    for profile, at in evidence.items():
        tested: list[Tested] = []
        try:
            sides = claim.sides(at)
            tested = sides.all()
            finding = judge(claim, sides)
        except Missing as missing:
            lacking.append((missing, profile, tested))
            continue
        if not all(each.as_declared for each in tested):
            finding = finding._replace(notes=(*finding.notes, "measured with an earlier specification"))
        found.append(_row(claim, published, profile, finding.verdict, finding, tested=tested))
    # A claim that can be run at cpu size but was not says so; one that cannot is asked of the paper profile.
    possible = [item for item in lacking if not item[0].absent]
    wanted = [item for item in possible if item[1] == "cpu"] or ([] if found else possible)
    if not found and not wanted:
        wanted = lacking[-1:]
    for lack, profile, tested in wanted[:1]:
        found.insert(0, _row(claim, published, profile, NOT_RUN, notes=[str(lack)], tested=tested))
    return found


def _row(
    entry: Number | Claim,
    published: Published,
    profile: str,
    verdict: str,
    finding: Finding | None = None,
    *,
    ours: object = None,
    notes: Sequence[str] = (),
    tested: Sequence[Tested] = (),
) -> Row:
    # deviations of training concern what was measured on a model that was trained
    trained = not tested or any(not each.spec.constructed for each in tested)
    shared = published.deviations.get(profile, ()) if trained and not isinstance(entry, Setting | Remark) else ()
    numbered = dict.fromkeys((*shared, *entry.deviations))
    remarks = [*(finding.notes if finding else ()), *notes]
    verb, options = ("show", "") if isinstance(entry, Setting) else ("run", f" --profile {profile}")
    return Row(
        kind="number" if isinstance(entry, Number) else "claim",
        id=entry.id,
        place=entry.place,
        statement=entry.statement,
        relation=entry.relation,
        published=_target(entry),
        aggregation=_aggregation(entry, published.vocabulary),
        ours=finding.ours if finding else ours,
        ci_low=finding.interval.low if finding else None,
        ci_high=finding.interval.high if finding else None,
        n=finding.n if finding else None,
        seeds=finding.seeds if finding else None,
        profile=profile,
        verdict=verdict,
        deviations="; ".join(filter(None, [" ".join(numbered), *remarks])),
        command=_command(verb, [each.name for each in tested], options),
    )


def _target(entry: Number | Claim) -> object:
    low, high = getattr(entry, "low", None), getattr(entry, "high", None)
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    return entry.value if isinstance(entry, Number) else entry.threshold


def _aggregation(entry: Number | Claim, vocabulary: Vocabulary) -> str:
    match entry:
        case Setting():
            return SETTING
        case Remark():
            return entry.aggregation
        case Measured():
            words = f"{entry.statistic} over cells of the median over {entry.seeds} seeds"
            if entry.across:
                words = f"{ACROSS[entry.across].words} over runs of all experiments"
            return f"{entry.aggregation or words} ({entry.how_read})"
    words = _side(entry.one, vocabulary)
    if entry.other != entry.one:
        words += f" against {_side(entry.other, vocabulary)}"
    over = "over runs" if isinstance(entry, Varied) else "pooled over examples and seeds"
    return f"{entry.kind}: {words}, {over}"


def _side(side: Side, vocabulary: Vocabulary) -> str:
    measure = vocabulary.measure(side.measure)
    if isinstance(measure, OfRun):
        return measure.words
    mode = f", {side.mode.replace('_', '-')}" if isinstance(measure, Scored) else ""
    return f"{measure.words}{mode}, {vocabulary.regions[side.region].words}"


def _command(verb: str, names: Sequence[str], options: str) -> str:
    """The commands that make the runs: whole figures where several variants of one are needed."""
    figures: dict[str, list[str]] = {}
    for name in names:
        figures.setdefault(name.rsplit("/", 1)[0], []).append(name)
    selectors = [some[0] if len(some) == 1 else figure for figure, some in figures.items()]
    return " && ".join(f"python -m reproduce {verb} {selector}{options}" for selector in selectors)
